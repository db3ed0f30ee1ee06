"""A rater works through its tasks: steps, re-asking, and what became of each."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from voirdire.errors import BROKEN_PLUGIN, PluginError, SessionError, VoirdireError
from voirdire.running._models import without_keys
from voirdire.running._stop import StoppedError
from voirdire.schema import Item, Parsed, Reply
from voirdire.store.beside import is_slow
from voirdire.store.counts import count_finished
from voirdire.store.raters import broken_parser, checked_requests, read_replies, read_response
from voirdire.store.records import Call, Finish, Revival, Slot, for_run
from voirdire.store.tasks import iterate_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.errors import ModelError
    from voirdire.running.workers import Worker
    from voirdire.schema import Request, Status
    from voirdire.store.records import Stored
    from voirdire.store.tasks import Names, Task
    from voirdire.study import Study

#: Tasks looked at before others get a turn; tasks opened beyond those that the limiter bears, so
#: that a place that comes free is taken at once.
TURN, WAITING = 64, 4
#: Tasks that have all their replies and wait for the commit: so many may be open besides, and of a
#: limiter that bears many calls a share of those.
COMMITTING, SHARE = 20, 0.25


@dataclass
class TaskStep:
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
        # Nearly always; `replace` would copy the whole reply.
        if self.reply.request is self.request:
            return self.reply
        return replace(self.reply, request=self.request)


@dataclass(slots=True)
class Job:
    """One task of one worker in one run, with the steps taken so far.

    `cut` says that the rater had more to ask than its `max_steps` allow; `task` is kept of raters
    that hold a conversation.
    """

    worker: Worker
    names: Names
    run: int
    steps: list[TaskStep]
    cut: bool = False
    task: Task | None = None

    @property
    def slot(self) -> Slot:
        """Where its replies belong."""
        return Slot(self.worker.participant.id, *self.names[:3], self.run, unit=self.names.unit)


async def work(worker: Worker, study: Study) -> None:
    """Finish every task of a rater that is not finished, until it is suspended or told to stop."""
    connection, participant = worker.session.connection, worker.participant
    # Counted again: since the workers were made, generators have added responses to rate.
    worker.tally.tasks = count_finished(connection, participant, study.comparisons).tasks
    seen = 0
    # Runs outside: a study that is broken off has whole runs, of which each can be examined.
    for run in range(1, participant.runs + 1):
        for names, task in iterate_tasks(
            connection, participant.task, study.comparisons, participant.judged
        ):
            if worker.stop.reason or worker.suspended:
                break
            job = _job(worker, names, run, task)
            if job is not None and not _is_finished(job):
                await _room(worker)
                _start(job)
            seen += 1
            # Tasks that are finished await nothing: a resumed run would hold the loop for seconds.
            if seen % TURN == 0:
                await asyncio.sleep(0)
    await _wait_for_open(worker)


def first_steps(worker: Worker, study: Study) -> Iterator[TaskStep]:
    """The calls with which a rater's open tasks begin and that have no reply yet."""
    connection, participant = worker.session.connection, worker.participant
    for run in range(1, participant.runs + 1):
        for names, task in iterate_tasks(
            connection, participant.task, study.comparisons, participant.judged
        ):
            job = None if worker.suspended else _job(worker, names, run, task)
            yield from (step for step in (job.steps if job else ()) if step.reply is None)


def _job(worker: Worker, names: Names, run: int, task: Task) -> Job | None:
    """A task with its first calls; a rater that cannot say what to ask is suspended."""
    try:
        requests = checked_requests(worker.participant.rater.requests(task))
        steps = [_step(worker, names, run, at, request) for at, request in enumerate(requests)]
    # A store that fails is no fault of the rater, and must not be reported as one.
    except SessionError:
        raise
    except BROKEN_PLUGIN as error:
        worker.suspend(f"it cannot ask about item {names[0]!r}: {_sentence(error)}")
        return None
    return Job(worker, names, run, steps, task=task if worker.converses else None)


def _step(worker: Worker, names: Names, run: int, at: int, request: Request) -> TaskStep:
    """One call, with what the store holds of it."""
    request = for_run(request, run)
    slot = Slot(worker.participant.id, *names[:3], run, at, names.unit)
    call = worker.calls.make(slot, request)
    # A new session holds nothing: its calls are not looked up one by one.
    stored: Stored | None = worker.session.lookup(call.key) if worker.session.resumed else None
    if stored is None or not stored.replies:
        return TaskStep(call, request)
    # An edit of the study was undone: the reply of the earlier prompt counts again.
    if not stored.current:
        worker.session.put(Revival(call))
    return TaskStep(call, request, stored.replies[-1], None, len(stored.replies), stored.finished)


def _is_finished(job: Job) -> bool:
    """Whether a task needs no further call, by what the store holds.

    A rater that takes several steps is asked itself: only it knows whether there are more.
    """
    if job.worker.follow_up is not None:
        return False
    return bool(job.steps) and all(step.finished for step in job.steps)


async def _room(worker: Worker) -> None:
    """Wait until one more task may be open: as many as the limiter bears, and a few in line.

    A task is open until the store has it, so that a kill loses no more than the open tasks; one
    that waits to try again is open too, so that a failing model is not met with ever more.
    """
    while True:
        room = worker.room + WAITING
        late = max(worker.committing - max(COMMITTING, int(SHARE * worker.room)), 0)
        if len(worker.open) + late < room:
            return
        # Its tasks are through but for the commit, which would wait for more to come along.
        if late:
            worker.session.hurry()
        # Nothing is awaited between the count above and this line, so that no wake-up is missed.
        worker.freed.clear()
        await worker.freed.wait()


def _start(job: Job) -> None:
    # Tasks end in any order; a loop over them in turn would hold back the places of those behind.
    worker, task = job.worker, asyncio.create_task(_through(job))
    worker.open.add(task)

    def ended(task: asyncio.Task[None]) -> None:
        worker.open.discard(task)
        worker.freed.set()
        error = None if task.cancelled() else task.exception()
        if isinstance(error, SessionError):  # nothing can be kept any more: all must end
            worker.broken = worker.broken or error
            worker.stop.set("error")
        elif error is not None:
            worker.suspend(f"it broke on item {job.names[0]!r}: {_sentence(error)}")

    task.add_done_callback(ended)


async def _through(job: Job) -> None:
    """Finish a task; its place is kept until what came of it is committed."""
    worker = job.worker
    try:
        await finish_task(job)
    except SystemExit as error:  # asyncio would end the whole loop by it
        raise PluginError(f"SystemExit: {error}") from error
    worker.committing += 1
    worker.commits.then(worker.session.given, worker.committed)


def _sentence(error: BaseException) -> str:
    return str(error) if isinstance(error, VoirdireError) else f"{type(error).__name__}: {error}"


async def _wait_for_open(worker: Worker) -> None:
    """Wait for the open tasks; of a suspended rater only calls under way are left among them."""
    # Again and again: a task that is waited for may not be the last one that is open.
    while worker.open:
        await asyncio.wait(worker.open)
    if worker.broken is not None:
        raise worker.broken
    worker.session.hurry()
    await worker.commits.reached(worker.session.given)
    worker.session.check()


async def finish_task(job: Job) -> None:
    """Ask what is missing, take further steps, re-ask what is bad, and mark the task as through."""
    try:
        parsed = await _answer(job)
    except StoppedError:
        return  # what has come is kept; the task stays open
    keys = tuple(step.call.key for step in job.steps)
    failed = tuple(step.call.key for step in job.steps if step.reply is None)
    # A step may have failed once and been answered then: only what stayed without a reply counts.
    fault = next((step.fault.kind for step in job.steps if step.fault and not step.reply), "")
    status = "failed" if failed else parsed.status
    job.worker.finished(status)
    job.worker.session.put(Finish(keys, status, failed, fault, job.slot, cut=job.cut))


async def _answer(job: Job) -> Parsed:
    worker = job.worker
    await _ask(worker, [step for step in job.steps if step.reply is None])
    while True:
        await _further_steps(job)
        # A parser that is slow works in a process of its own, and the loop serves all other calls.
        slow = is_slow(worker.participant.rater)
        parsed = await asyncio.to_thread(_read, job) if slow else _read(job)
        broken = broken_parser(parsed)
        # A reply that never came is read as failed by every parser: that says nothing of this one.
        if not any(step.reply is None for step in job.steps):
            worker.parsed(broken)
        # A rater cut at its last step would only ask for more of them again.
        bad = [] if broken or job.cut else _to_ask_again(job, parsed.status)
        if not bad:
            return parsed
        for step in bad:
            step.request = _with_larger_cap(step, worker)
        await _ask(worker, bad)


async def _further_steps(job: Job) -> None:
    worker, steps = job.worker, job.steps
    # A step that failed ends the task: what follows would rest on a reply that is not there.
    while worker.follow_up is not None and all(step.reply for step in steps):
        replies = [step.as_reply() for step in steps]
        more = _made_before(job, replies)
        if more is None:
            ask = partial(worker.follow_up, job.task) if job.task else worker.follow_up
            # A search or a tool takes seconds, in which the loop must serve all other calls.
            asked = await asyncio.to_thread(ask, replies) if worker.slow else ask(replies)
            more = checked_requests(asked or ())
            worker.heard(more)
        if not more:
            return
        at, role = len(steps), steps[0].request.role
        # Only its own role: what its tools or members ask on the way is bounded by them.
        taken = sum(one.role == role for one in (*(step.request for step in steps), *more))
        if taken > worker.participant.max_steps:
            job.cut = True
            return
        added = [
            _step(worker, job.names, job.run, at + i, request) for i, request in enumerate(more)
        ]
        steps += added
        # Only what is on the disk is built upon: a kill costs the calls under way and no step more.
        if len(worker.open) < COMMITTING:  # of many tasks, others fill the commit meanwhile
            worker.session.hurry()
        await worker.commits.reached(worker.session.given)
        worker.session.check()
        await _ask(worker, [step for step in added if step.reply is None])


def _made_before(job: Job, replies: Sequence[Reply]) -> list[Request] | None:
    """The request that an earlier run made next, where the rater can tell that it follows.

    What it took to make it, such as calls of tools, is then not done again.
    """
    worker = job.worker
    if worker.replays is None or not worker.session.resumed:
        return None
    slot = replace(job.slot, step=len(job.steps))
    kept = worker.session.kept(slot)
    return [kept] if kept is not None and worker.replays(replies, kept) else None


async def _ask(worker: Worker, steps: Sequence[TaskStep]) -> None:
    if len(steps) == 1:
        await _ask_one(worker, steps[0])
    elif steps:  # each is waited for, so that no paid reply is cut off by another's end
        asked = (_ask_one(worker, step) for step in steps)
        for ended in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended


async def _ask_one(worker: Worker, step: TaskStep) -> None:
    outcome = await worker.ask(step.call, step.request)
    step.replies += 1
    if isinstance(outcome, Reply):
        step.reply = without_keys(outcome, worker.hide) if worker.hide else outcome
    else:
        step.fault = outcome


def _read(job: Job) -> Parsed:
    """What the replies say; for a generator, whether there is a text."""
    replies: list[Any] = [step.as_reply() for step in job.steps]
    if job.worker.participant.id.stage == "generate":
        task = job.task if isinstance(job.task, Item) else None
        return read_response(job.worker.participant, replies, job.names[0], task)[0]
    parsed = read_replies(job.worker.participant, replies)
    job.worker.participant.once.keep(replies, parsed)
    return parsed


def _to_ask_again(job: Job, status: Status) -> list[TaskStep]:
    """The bad replies that the study still allows to be asked again."""
    spec = job.worker.spec
    if status not in spec.reask_on:
        return []
    # Of several steps the last: those before it have been built upon.
    candidates = job.steps[-1:] if job.worker.follow_up is not None else job.steps
    # Where some were cut, the others are not at fault and are not paid for again.
    cut = [
        step
        for step in candidates
        if step.reply and step.reply.finish_reason in ("length", "empty")
    ]
    return [
        step
        for step in cut or candidates
        if step.reply and not step.fault and step.replies <= spec.reask
    ]


def _with_larger_cap(step: TaskStep, worker: Worker) -> Request:
    """The request again; after a reply that was cut, with a larger cap."""
    cap = step.request.max_tokens
    if cap is None or step.reply is None or step.reply.finish_reason != "length":
        return step.request
    return replace(step.request, max_tokens=math.ceil(cap * worker.spec.reask_tokens))
