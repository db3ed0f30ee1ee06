"""A time limit on each of many calls at once, for the price of one timer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Deadlines:
    """Limits on how long calls may take, the same for each, on one event loop.

    `asyncio.timeout` sets up a timer of the loop for every call, which nearly always is cancelled.
    Where all calls have the same limit, those begun first are due first: one timer, for the oldest,
    is enough.

    Parameters
    ----------
    seconds : float
        How long a call may take.

    Examples
    --------
    >>> async def asked() -> str:
    ...     deadlines = Deadlines(0.01)
    ...     try:
    ...         with deadlines.limit():
    ...             await asyncio.sleep(3600)
    ...     except TimeoutError:
    ...         return "too late"
    ...     return "in time"
    >>> asyncio.run(asked())
    'too late'
    """

    def __init__(self, seconds: float) -> None:
        self.loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._open: dict[Limit, float] = {}  # in the order in which they were begun
        self._timer: asyncio.TimerHandle | None = None

    def limit(self) -> Limit:
        """A limit on what the running task awaits in a `with` block; it raises `TimeoutError`."""
        return Limit(self)

    def begin(self, limit: Limit) -> None:
        """Count a limit's seconds from now on."""
        due = self._open[limit] = self.loop.time() + self._seconds
        if self._timer is None:
            self._timer = self.loop.call_at(due, self._end)

    def through(self, limit: Limit) -> None:
        """What the limit was set on has come to its end in time."""
        self._open.pop(limit, None)

    def _end(self) -> None:
        """End the calls that are due, and wait for the next one that will be."""
        now = self.loop.time()
        self._timer = None
        for limit, due in list(self._open.items()):
            if due > now:
                self._timer = self.loop.call_at(due, self._end)
                return
            del self._open[limit]
            limit.end()


class Limit:
    """The limit on one call, as a context manager inside the task that awaits it."""

    __slots__ = ("_deadlines", "_ended", "_requests", "_task")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines, self._ended = deadlines, False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit is set inside a task")
        self._task, self._requests = task, task.cancelling()
        self._deadlines.begin(self)
        return self

    def end(self) -> None:
        """The time is up: what the task awaits is cancelled."""
        self._ended = True
        self._task.cancel()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._ended:
            self._deadlines.through(self)
            return
        # As `asyncio.timeout` does: a cancellation by anybody else goes on as what it is.
        if self._task.uncancel() <= self._requests and kind is asyncio.CancelledError:
            raise TimeoutError from error
