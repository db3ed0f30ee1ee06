"""A rater works through its tasks: streamed, a bounded number open at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from voirdire._errors import SessionError, VoirdireError
from voirdire.running._settle import is_settled, lines_of, settle
from voirdire.store import count_settled, iterate_tasks

if TYPE_CHECKING:
    from voirdire.running._desk import Desk
    from voirdire.running._settle import Line
    from voirdire.store import Task
    from voirdire.study import Study

#: Tasks looked at before others get a turn; tasks opened beyond those that the lane bears, so that
#: a place that comes free is taken at once.
TURN, IN_LINE = 64, 4
#: Tasks that have all their replies and wait for the commit: so many may be open besides.
BEING_KEPT = 20


async def work(desk: Desk, study: Study) -> None:
    """Settle every task of a rater that is not settled yet, until it is parked or told to stop."""
    connection, asker = desk.session.connection, desk.asker
    desk.tally.tasks = count_settled(connection, asker, study.comparisons).tasks
    seen = 0
    for run in range(1, asker.runs + 1):
        for names, task in iterate_tasks(connection, asker.task, study.comparisons):
            if desk.stop.reason or desk.breaker.reason:
                break
            lines = _lines(desk, names, run, task)
            if lines is not None and not is_settled(desk, lines):
                await _room(desk)
                _start(desk, names, run, lines)
            seen += 1
            if seen % TURN == 0:
                await asyncio.sleep(0)
    await _finish(desk)


def _lines(desk: Desk, names: tuple[str, str, str], run: int, task: Task) -> list[Line] | None:
    """The calls of a task; a rater that cannot say what to ask is parked."""
    try:
        return lines_of(desk, names, run, task)
    except SessionError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's rater may raise anything at all
        desk.park(f"it cannot ask about item {names[0]!r}: {_said(error)}")
        return None


async def _room(desk: Desk) -> None:
    """Wait until one more task may be open: as many as the lane bears now, and a few in line.

    A task is open until the store has it, so that a kill loses no more than the open tasks; one
    that waits to try again is open too, so that a failing model is not met with ever more.
    """
    while len(desk.open) - min(desk.being_kept, BEING_KEPT) >= desk.lane.limit + IN_LINE:
        desk.freed.clear()
        await desk.freed.wait()


def _start(desk: Desk, names: tuple[str, str, str], run: int, lines: list[Line]) -> None:
    task = asyncio.create_task(_through(desk, names, run, lines))
    desk.open.add(task)

    def ended(task: asyncio.Task[None]) -> None:
        desk.open.discard(task)
        desk.freed.set()
        error = None if task.cancelled() else task.exception()
        if isinstance(error, SessionError):  # nothing can be kept any more: all must end
            desk.broken = desk.broken or error
            desk.stop.set("error")
        elif error is not None:
            desk.park(f"it broke on item {names[0]!r}: {_said(error)}")

    task.add_done_callback(ended)


async def _through(desk: Desk, names: tuple[str, str, str], run: int, lines: list[Line]) -> None:
    """Settle a task, and keep its place until what came of it is committed."""
    await settle(desk, names, run, lines)
    desk.being_kept += 1
    desk.freed.set()
    try:
        await desk.commits.reached(desk.session.given)
    finally:
        desk.being_kept -= 1
    desk.session.check()


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, VoirdireError) else f"{type(error).__name__}: {error}"


async def _finish(desk: Desk) -> None:
    """Wait for the open tasks; of a parked rater only calls under way are left among them."""
    while desk.open:
        await asyncio.wait(desk.open)
    if desk.broken is not None:
        raise desk.broken
