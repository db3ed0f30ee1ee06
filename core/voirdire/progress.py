"""What takes longer than two seconds says what it does: in terminals, notebooks, for programs.

The rooms that compute say what they begin by `stage`; somebody may listen by `told`. Nobody does so
in a process that imports voirdire, unless it is a notebook.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from voirdire.late import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds before the first word, and between two.
AFTER = 2.0
EVERY = 2.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What is being done, the how-manieth of how many steps it is (0 where that is not known)."""

    name: str
    at: int = 0
    of: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        """As a line for people.

        >>> str(Stage("ratings", 2, 9, 4.2))
        'ratings (2 of 9), 4 s'
        """
        steps = f" ({self.at} of {self.of})" if self.of else ""
        return f"{self.name}{steps}, {self.seconds:.0f} s"


class _Listening:
    """The stage that was begun last, for the thread that tells it."""

    def __init__(self) -> None:
        self.depth = 0
        self.now = Stage("")


_listening = _Listening()


def stage(name: str, at: int = 0, of: int = 0) -> None:
    """Say what is begun: cheap where nobody listens."""
    if _listening.depth:
        _listening.now = Stage(name, at, of)


@contextmanager
def told(
    say: Callable[[Stage], None], *, after: float = AFTER, every: float = EVERY
) -> Iterator[None]:
    """Whatever takes longer than `after` seconds within is said, and again every so often.

    Inside another `told` nothing is said twice.
    """
    if _listening.depth:
        yield
        return
    ended, begun = threading.Event(), time.monotonic()

    def tell() -> None:
        wait = after
        while not ended.wait(wait):
            wait, now = every, _listening.now
            if now.name:
                say(Stage(now.name, now.at, now.of, time.monotonic() - begun))

    thread = threading.Thread(target=tell, daemon=True, name="voirdire-progress")
    _listening.depth, _listening.now = 1, Stage("")
    thread.start()
    try:
        yield
    finally:
        _listening.depth = 0
        ended.set()
        thread.join()


@contextmanager
def on_terminal() -> Iterator[None]:
    """What takes long is said on standard error: one line, drawn anew where that is a terminal."""
    live, drawn = sys.stderr.isatty(), False

    def say(now: Stage) -> None:
        nonlocal drawn
        drawn = True
        sys.stderr.write(f"\r\x1b[K{now}" if live else f"voirdire: {now}\n")
        sys.stderr.flush()

    with told(say):
        yield
    if live and drawn:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


@contextmanager
def in_notebook() -> Iterator[None]:
    """As `on_terminal` where a notebook runs this process, else nothing."""
    kernel = sys.modules.get("ipykernel")
    if kernel is None:
        yield
        return
    with on_terminal():
        yield
