"""How a run is ended before its work is done."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING, TypeVar

from voirdire.errors import VoirdireError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


Result = TypeVar("Result")
#: Seconds that calls under way are given to come back after an interruption.
#: Most calls end within it; more than that, and people press Ctrl-C again.
GRACE = 3.0
#: What ends a run cleanly; Windows has no SIGHUP.
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class StoppedError(VoirdireError):
    """Inside the runner: no further call is to be made."""


class Stop:
    """Set once, with the reason: ``interrupted``, ``budget`` or an error's text."""

    def __init__(self) -> None:
        self.reason = ""
        # `wait` is for those who sleep until then; `reason` for those who look in passing.
        self._event = asyncio.Event()
        self.hurry = asyncio.Event()

    def set(self, reason: str) -> None:
        """Make no further calls; a second time: do not wait for those under way."""
        # The first reason is the one that is reported.
        if self.reason:
            self.hurry.set()
        self.reason = self.reason or reason
        self._event.set()

    async def wait(self) -> None:
        """Until it is set."""
        await self._event.wait()

    def check(self) -> None:
        """Raise `StoppedError` once it is set."""
        if self.reason:
            raise StoppedError(self.reason)


async def interruptible(go: Callable[[Stop], Coroutine[None, None, Result]]) -> Result:
    """Run with signals setting the stop, where this thread may handle them."""
    stop, loop = Stop(), asyncio.get_running_loop()
    # Python hands signals to the main thread alone.
    if threading.current_thread() is not threading.main_thread():
        return await go(stop)
    # Who ignores a signal means it: nohup ignores SIGHUP, so that the run outlives its terminal.
    before = {
        number: handler
        for number in SIGNALS
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    unheard: list[int] = []

    def heard() -> None:
        unheard.clear()
        stop.set("interrupted")

    def interrupt(number: int, _: object) -> None:
        if unheard:  # something blocks the loop, which has not heard of the one before
            raise KeyboardInterrupt
        unheard.append(number)
        # A handler runs between any two instructions: it only leaves word,
        # and the loop acts on it.
        loop.call_soon_threadsafe(heard)

    for number in before:
        signal.signal(number, interrupt)
    try:
        return await go(stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
