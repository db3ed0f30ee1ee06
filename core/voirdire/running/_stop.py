"""How a run is ended before its work is done."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from voirdire.errors import InputError, VoirdireError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator


Result = TypeVar("Result")
#: Seconds that calls under way are given to come back after an interruption.
#: Most calls end within it; more than that, and people press Ctrl-C again.
GRACE = 3.0
#: What ends a run cleanly; Windows has no SIGHUP.
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


#: A process beside the run, which a plugin that holds the interpreter cannot stop. Python writes
#: each signal that is handled into the pipe from within C; the pipe's end is the run's.
_SUPERVISOR = """
import os, select, signal, sys, time
pipe, process, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
ends = None
while True:
    left = None if ends is None else max(0.0, ends - time.monotonic())
    if not select.select([pipe], [], [], left)[0]:
        break
    heard = os.read(pipe, 64)
    if not heard:
        sys.exit()
    if ends is None and set(heard) & {int(number) for number in sys.argv[4:]}:
        ends = time.monotonic() + seconds
os.kill(process, signal.SIGKILL)
sys.stderr.write(
    f"voirdire: the run had not ended {seconds:g} s after it was told to, and was killed. "
    "Every reply that was committed is kept: go on with --resume\\n"
)
"""


@contextmanager
def supervised(seconds: float | None) -> Iterator[None]:
    """Have this process killed where it has not ended so many seconds after a signal to end.

    Python handles a signal between two instructions, and so not while a plugin's C code runs that
    never returns. A reply that was committed is on the disk whatever ends the process.

    Raises
    ------
    InputError
        The system is Windows, or this is no main thread: signals do not come here.
    """
    if seconds is None:
        yield
        return
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        raise InputError("end_within: signals come to the main thread alone, of a system of POSIX")
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    numbers = [str(int(number)) for number in SIGNALS]
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [
                sys.executable,
                "-I",
                "-S",
                "-c",
                _SUPERVISOR,
                str(reads),
                str(os.getpid()),
                f"{seconds:g}",
                *numbers,
            ],
            # Out of reach of the Ctrl-C that it watches for.
            start_new_session=True,
            pass_fds=(reads,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    finally:
        os.close(reads)
    before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writes)
        process.wait()


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
