"""One task, from its requests to its final replies: steps, re-asking, and what became of it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from voirdire.running._stop import StoppedError
from voirdire.schema import Parsed, Reply
from voirdire.store import (
    Call,
    Finish,
    Revival,
    Slot,
    checked_requests,
    for_run,
    make_call,
    read_replies,
    read_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire._errors import ModelError
    from voirdire.running._desk import Desk
    from voirdire.schema import Request, Status
    from voirdire.store import Stored

#: Steps that a judge may take at most, so that none goes on for ever.
STEPS = 16
_OF_TEXT: dict[str, Status] = {
    "stop": "ok", "length": "ok", "refusal": "refused", "content_filter": "filtered",
    "empty": "blank", "error": "failed",
}  # fmt: skip


@dataclass
class Line:
    """One call of a task: its latest request, and its latest reply or fault."""

    call: Call
    request: Request
    reply: Reply | None = None
    fault: ModelError | None = None
    replies: int = 0
    settled: bool = False

    def as_reply(self) -> Reply:
        """The reply, knowing its request; a fault as a reply that says so."""
        if self.reply is None:
            return Reply("", "error", error=str(self.fault or "no reply"), request=self.request)
        return replace(self.reply, request=self.request)


def lines_of(desk: Desk, names: tuple[str, str, str], run: int, task: Any) -> list[Line]:
    """The first calls of a task, with what the store holds of them."""
    requests = checked_requests(desk.asker.mind.requests(task))
    return [_line(desk, names, run, step, request) for step, request in enumerate(requests)]


def is_settled(desk: Desk, lines: Sequence[Line]) -> bool:
    """Whether a task needs no further call, by what the store holds.

    A rater that takes several steps is asked itself: only it knows whether there are more.
    """
    if hasattr(desk.asker.mind, "follow_up"):
        return False
    return bool(lines) and all(line.settled for line in lines)


async def settle(desk: Desk, names: tuple[str, str, str], run: int, lines: list[Line]) -> None:
    """Ask what is missing, take further steps, re-ask what is bad, and mark the task as through."""
    try:
        parsed = await _answer(desk, names, run, lines)
    except StoppedError:
        return  # what has come is kept; the task stays open
    keys = tuple(line.call.key for line in lines)
    failed = tuple(line.call.key for line in lines if line.reply is None)
    fault = next((line.fault.kind for line in lines if line.fault and not line.reply), "")
    status = "failed" if failed else parsed.status
    desk.session.put(Finish(keys, status, failed, fault, Slot(desk.asker.seat, *names, run)))


async def _answer(desk: Desk, names: tuple[str, str, str], run: int, lines: list[Line]) -> Parsed:
    await _ask(desk, [line for line in lines if line.reply is None])
    while True:
        await _further_steps(desk, names, run, lines)
        parsed = read(desk, names[0], lines)
        bad = _to_ask_again(desk, lines, parsed.status)
        if not bad:
            return parsed
        for line in bad:
            line.request = _roomier(line, desk)
        await _ask(desk, bad)


async def _further_steps(
    desk: Desk, names: tuple[str, str, str], run: int, lines: list[Line]
) -> None:
    follow_up = getattr(desk.asker.mind, "follow_up", None)
    while follow_up and len(lines) < STEPS and all(line.reply for line in lines):
        more = checked_requests(follow_up([line.as_reply() for line in lines]) or ())
        if not more:
            return
        at = len(lines)
        added = [_line(desk, names, run, at + i, request) for i, request in enumerate(more)]
        lines += added
        await _ask(desk, [line for line in added if line.reply is None])


async def _ask(desk: Desk, lines: Sequence[Line]) -> None:
    if len(lines) == 1:
        await _ask_one(desk, lines[0])
    elif lines:  # each is waited for, so that no paid reply is cut off by another's end
        asked = (_ask_one(desk, line) for line in lines)
        for ended in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(ended, BaseException):
                raise ended


async def _ask_one(desk: Desk, line: Line) -> None:
    outcome = await desk.ask(line.call, line.request)
    line.replies += 1
    if isinstance(outcome, Reply):
        line.reply = outcome
    else:
        line.fault = outcome


def read(desk: Desk, item: str, lines: Sequence[Line]) -> Parsed:
    """What the replies say; for a generator, whether there is a text."""
    replies = [line.as_reply() for line in lines]
    if desk.asker.seat.stage != "generate":
        return read_replies(desk.asker, replies)
    if not replies:
        return Parsed({}, "blank")
    status = _OF_TEXT[replies[-1].finish_reason]
    text = read_text(desk.asker.mind, replies, item)
    if text is None:
        return Parsed({}, "unparsable")
    return Parsed({}, "blank" if status == "ok" and not text.strip() else status)


def _to_ask_again(desk: Desk, lines: Sequence[Line], status: Status) -> list[Line]:
    """The bad replies that the study still allows to be asked again."""
    spec = desk.spec
    if status not in spec.reask_on:
        return []
    here = lines[-1:] if hasattr(desk.asker.mind, "follow_up") else lines
    cut = [line for line in here if line.reply and line.reply.finish_reason in ("length", "empty")]
    return [
        line for line in cut or here if line.reply and not line.fault and line.replies <= spec.reask
    ]


def _roomier(line: Line, desk: Desk) -> Request:
    """The request again; after a reply that was cut, with a larger cap."""
    cap = line.request.max_tokens
    if cap is None or line.reply is None or line.reply.finish_reason != "length":
        return line.request
    return replace(line.request, max_tokens=math.ceil(cap * desk.spec.reask_tokens))


def _line(desk: Desk, names: tuple[str, str, str], run: int, step: int, request: Request) -> Line:
    request = for_run(request, run)
    call = make_call(Slot(desk.asker.seat, *names, run, step), request)
    stored: Stored | None = desk.session.lookup(call.key) if desk.session.resumed else None
    if stored is None or not stored.replies:
        return Line(call, request)
    if not stored.current:
        desk.session.put(Revival(call))
    return Line(call, request, stored.replies[-1], None, len(stored.replies), stored.settled)
