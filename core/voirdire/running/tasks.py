"""One task, from its requests to its final replies: steps, re-asking, and what became of it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voirdire._errors import SessionError, VoirdireError
from voirdire.running._stop import StoppedError
from voirdire.schema import Parsed, Reply
from voirdire.store import (
    Call,
    Finish,
    Revival,
    Slot,
    checked_requests,
    count_finished,
    for_run,
    iterate_tasks,
    make_call,
    read_replies,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire._errors import ModelError
    from voirdire.running.workers import Worker
    from voirdire.schema import Request, Status
    from voirdire.store import Stored, Task
    from voirdire.study import Study


#: Steps that a judge may take at most, so that none goes on for ever.
STEPS = 16
_OF_TEXT: dict[str, Status] = {
    "stop": "ok", "length": "ok", "refusal": "refused", "content_filter": "filtered",
    "empty": "blank", "error": "failed",
}  # fmt: skip


@dataclass
class Step:
    """One call of a task: its latest request, and its latest reply or fault."""

    call: Call
    request: Request
    reply: Reply | None = None
    fault: ModelError | None = None
    replies: int = 0
    finished: bool = False

    def as_reply(self) -> Reply:
        """The reply, knowing its request; a fault as a reply that says so."""
        if self.reply is None:
            return Reply("", "error", error=str(self.fault or "no reply"), request=self.request)
        return replace(self.reply, request=self.request)


def first_steps(worker: Worker, names: tuple[str, str, str], run: int, task: Any) -> list[Step]:
    """The first calls of a task, with what the store holds of them."""
    requests = checked_requests(worker.asker.rater.requests(task))
    return [_step(worker, names, run, step, request) for step, request in enumerate(requests)]


def is_finished(worker: Worker, steps: Sequence[Step]) -> bool:
    """Whether a task needs no further call, by what the store holds.

    A rater that takes several steps is asked itself: only it knows whether there are more.
    """
    if hasattr(worker.asker.rater, "follow_up"):
        return False
    return bool(steps) and all(step.finished for step in steps)


async def finish_task(
    worker: Worker, names: tuple[str, str, str], run: int, steps: list[Step]
) -> None:
    """Ask what is missing, take further steps, re-ask what is bad, and mark the task as through."""
    try:
        parsed = await _answer(worker, names, run, steps)
    except StoppedError:
        return  # what has come is kept; the task stays open
    keys = tuple(step.call.key for step in steps)
    failed = tuple(step.call.key for step in steps if step.reply is None)
    fault = next((step.fault.kind for step in steps if step.fault and not step.reply), "")
    status = "failed" if failed else parsed.status
    worker.session.put(Finish(keys, status, failed, fault, Slot(worker.asker.id, *names, run)))


async def _answer(
    worker: Worker, names: tuple[str, str, str], run: int, steps: list[Step]
) -> Parsed:
    await _ask(worker, [step for step in steps if step.reply is None])
    while True:
        await _further_steps(worker, names, run, steps)
        parsed = read(worker, names[0], steps)
        bad = _to_ask_again(worker, steps, parsed.status)
        if not bad:
            return parsed
        for step in bad:
            step.request = _roomier(step, worker)
        await _ask(worker, bad)


async def _further_steps(
    worker: Worker, names: tuple[str, str, str], run: int, steps: list[Step]
) -> None:
    follow_up = getattr(worker.asker.rater, "follow_up", None)
    while follow_up and len(steps) < STEPS and all(step.reply for step in steps):
        more = checked_requests(follow_up([step.as_reply() for step in steps]) or ())
        if not more:
            return
        at = len(steps)
        added = [_step(worker, names, run, at + i, request) for i, request in enumerate(more)]
        steps += added
        await _ask(worker, [step for step in added if step.reply is None])


async def _ask(worker: Worker, steps: Sequence[Step]) -> None:
    if len(steps) == 1:
        await _ask_one(worker, steps[0])
    elif steps:  # each is waited for, so that no paid reply is cut off by another's end
        asked = (_ask_one(worker, step) for step in steps)
        for ended in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended


async def _ask_one(worker: Worker, step: Step) -> None:
    outcome = await worker.ask(step.call, step.request)
    step.replies += 1
    if isinstance(outcome, Reply):
        step.reply = outcome
    else:
        step.fault = outcome


def read(worker: Worker, item: str, steps: Sequence[Step]) -> Parsed:
    """What the replies say; for a generator, whether there is a text."""
    replies = [step.as_reply() for step in steps]
    if worker.asker.id.stage != "generate":
        return read_replies(worker.asker, replies)
    if not replies:
        return Parsed({}, "blank")
    status = _OF_TEXT[replies[-1].finish_reason]
    text = read_text(worker.asker.rater, replies, item)
    if text is None:
        return Parsed({}, "unparsable")
    return Parsed({}, "blank" if status == "ok" and not text.strip() else status)


def _to_ask_again(worker: Worker, steps: Sequence[Step], status: Status) -> list[Step]:
    """The bad replies that the study still allows to be asked again."""
    spec = worker.spec
    if status not in spec.reask_on:
        return []
    here = steps[-1:] if hasattr(worker.asker.rater, "follow_up") else steps
    cut = [step for step in here if step.reply and step.reply.finish_reason in ("length", "empty")]
    return [
        step for step in cut or here if step.reply and not step.fault and step.replies <= spec.reask
    ]


def _roomier(step: Step, worker: Worker) -> Request:
    """The request again; after a reply that was cut, with a larger cap."""
    cap = step.request.max_tokens
    if cap is None or step.reply is None or step.reply.finish_reason != "length":
        return step.request
    return replace(step.request, max_tokens=math.ceil(cap * worker.spec.reask_tokens))


def _step(
    worker: Worker, names: tuple[str, str, str], run: int, step: int, request: Request
) -> Step:
    request = for_run(request, run)
    call = make_call(Slot(worker.asker.id, *names, run, step), request)
    stored: Stored | None = worker.session.lookup(call.key) if worker.session.resumed else None
    if stored is None or not stored.replies:
        return Step(call, request)
    if not stored.current:
        worker.session.put(Revival(call))
    return Step(call, request, stored.replies[-1], None, len(stored.replies), stored.finished)


#: Tasks looked at before others get a turn; tasks opened beyond those that the limiter bears, so
#: that a place that comes free is taken at once.
TURN, WAITING = 64, 4
#: Tasks that have all their replies and wait for the commit: so many may be open besides.
COMMITTING = 20


async def work(worker: Worker, study: Study) -> None:
    """Settle every task of a rater that is not settled yet, until it is parked or told to stop."""
    connection, asker = worker.session.connection, worker.asker
    worker.tally.tasks = count_finished(connection, asker, study.comparisons).tasks
    seen = 0
    for run in range(1, asker.runs + 1):
        for names, task in iterate_tasks(connection, asker.task, study.comparisons):
            if worker.stop.reason or worker.breaker.reason:
                break
            steps = _lines(worker, names, run, task)
            if steps is not None and not is_finished(worker, steps):
                await _room(worker)
                _start(worker, names, run, steps)
            seen += 1
            if seen % TURN == 0:
                await asyncio.sleep(0)
    await _finish(worker)


def _lines(worker: Worker, names: tuple[str, str, str], run: int, task: Task) -> list[Step] | None:
    """The calls of a task; a rater that cannot say what to ask is parked."""
    try:
        return first_steps(worker, names, run, task)
    except SessionError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's rater may raise anything at all
        worker.park(f"it cannot ask about item {names[0]!r}: {_said(error)}")
        return None


async def _room(worker: Worker) -> None:
    """Wait until one more task may be open: as many as the limiter bears now, and a few in step.

    A task is open until the store has it, so that a kill loses no more than the open tasks; one
    that waits to try again is open too, so that a failing model is not met with ever more.
    """
    while len(worker.open) - min(worker.committing, COMMITTING) >= worker.limiter.limit + WAITING:
        worker.freed.clear()
        await worker.freed.wait()


def _start(worker: Worker, names: tuple[str, str, str], run: int, steps: list[Step]) -> None:
    task = asyncio.create_task(_through(worker, names, run, steps))
    worker.open.add(task)

    def ended(task: asyncio.Task[None]) -> None:
        worker.open.discard(task)
        worker.freed.set()
        error = None if task.cancelled() else task.exception()
        if isinstance(error, SessionError):  # nothing can be kept any more: all must end
            worker.broken = worker.broken or error
            worker.stop.set("error")
        elif error is not None:
            worker.park(f"it broke on item {names[0]!r}: {_said(error)}")

    task.add_done_callback(ended)


async def _through(
    worker: Worker, names: tuple[str, str, str], run: int, steps: list[Step]
) -> None:
    """Settle a task, and keep its place until what came of it is committed."""
    await finish_task(worker, names, run, steps)
    worker.committing += 1
    worker.freed.set()
    try:
        await worker.commits.reached(worker.session.given)
    finally:
        worker.committing -= 1
    worker.session.check()


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, VoirdireError) else f"{type(error).__name__}: {error}"


async def _finish(worker: Worker) -> None:
    """Wait for the open tasks; of a parked rater only calls under way are left among them."""
    while worker.open:
        await asyncio.wait(worker.open)
    if worker.broken is not None:
        raise worker.broken
