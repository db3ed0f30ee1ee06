"""A process that draws: matplotlib takes long to load, and holds the interpreter while it draws."""

from __future__ import annotations

import gc
import importlib
import os
import signal
from contextlib import contextmanager
from pickle import PicklingError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from voirdire.examining.examination import Examination
    from voirdire.report.figures._style import Drawing

#: Loaded while there is nothing to draw yet; the last two are for reading what is handed over.
_NEEDED = (
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "polars",
    "voirdire.study",
)


class Painter:
    """Loads matplotlib in a process of its own while its owner examines, then draws beside it."""

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self._process, self._connection = process, connection

    def begin(self, examination: Examination, names: tuple[str, ...]) -> bool:
        """Hand over what is to be drawn; false where the process is gone, or it cannot be sent."""
        try:
            self._connection.send((examination, names))
        except (OSError, TypeError, AttributeError, PicklingError):
            return False
        return True

    def finish(self) -> dict[str, tuple[Drawing, ...]] | None:
        """The drawings by name; None where the process could not draw, and its owner must."""
        try:
            found: dict[str, tuple[Drawing, ...]] | None = self._connection.recv()
        except (EOFError, OSError):
            return None
        return found

    def leave(self) -> None:
        """End the process, whatever it is at."""
        self._connection.close()
        self._process.terminate()
        self._process.join()


@contextmanager
def painter(*, wanted: bool = True) -> Iterator[Painter | None]:
    """A painter for the length of the block; None without a second core, or where none starts.

    The process is a fresh interpreter, which imports the main module again: for command lines,
    whose main module does nothing when it is imported.
    """
    found = _start() if wanted and (os.cpu_count() or 1) > 1 else None
    try:
        yield found
    finally:
        if found is not None:
            found.leave()


def _start() -> Painter | None:
    from multiprocessing import get_context, parent_process  # noqa: PLC0415 - slow to import

    if parent_process() is not None:  # one of a pool may not have children
        return None
    context: Any = get_context("spawn")
    try:
        ours, theirs = context.Pipe()
        process = context.Process(target=_paint, args=(theirs,), daemon=True)
        with _deaf():
            process.start()
    except OSError:
        return None
    theirs.close()
    return Painter(process, ours)


@contextmanager
def _deaf() -> Iterator[None]:
    """A process begun here does not hear Ctrl-C from its first instant; its owner ends it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker  # noqa: PLC0415 - slow to import

    resource_tracker.ensure_running()  # it would unblock the signal while it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _paint(connection: Connection) -> None:
    """The life of the process: load, wait, draw, answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # it ends with its drawings
    for module in _NEEDED:
        importlib.import_module(module)
    from voirdire.report.figures import draw_named  # noqa: PLC0415 - that imports this module

    try:
        examination, names = connection.recv()
        connection.send(draw_named(examination, names))
    except EOFError:
        return
    except Exception:  # noqa: BLE001 - the owner draws itself, and there the error is seen
        connection.send(None)
