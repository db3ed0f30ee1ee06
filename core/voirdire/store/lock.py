"""One process a session folder: a lock of the operating system, gone when its holder dies.

The file says who holds the lock, and behind that what the holder tells of its work.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from voirdire.errors import SessionError
from voirdire.files import PRIVATE

if TYPE_CHECKING:
    from pathlib import Path

NAME = "session.lock"
#: Seconds after which what a holder told of its work says nothing any more.
FRESH = 10.0


def acquire(folder: Path, mode: int = PRIVATE) -> int:
    """Lock the folder and return the descriptor that holds the lock.

    A lock that is made has the permissions `mode`.

    Raises
    ------
    SessionError
        Another process works in the folder; the message says which.
    """
    # Never deleted: another process might hold the lock of a file that has no name any more.
    descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, mode)
    try:
        _lock(descriptor)
    except OSError:
        os.lseek(descriptor, 1, os.SEEK_SET)  # byte 0 is what Windows locks
        holder = os.read(descriptor, 32).decode("ascii", "replace").split("\n")[0].strip()
        os.close(descriptor)
        raise SessionError(
            f"session {folder}: process {holder or 'unknown'} works in it already; "
            "wait for it to end, or give another folder"
        ) from None
    # Only now, with the lock: the name of the holder before must be readable until then.
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, f" {os.getpid()}".encode())
    return descriptor


def tell(descriptor: int, text: str) -> None:
    """Leave word of what the holder does, for others to read while they wait."""
    content = f" {os.getpid()}\n{text}".encode()
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, content)
    # Shortened behind the writing: a file that is empty for a moment would say nothing.
    os.ftruncate(descriptor, len(content))


def told(folder: Path) -> str:
    """What the holder of a folder's lock told last; empty where that is old, or nobody works."""
    path = folder / NAME
    try:
        # By the time of the file, which a kill leaves behind: nothing is locked only to look.
        fresh = abs(time.time() - path.stat().st_mtime) < FRESH
        return path.read_text("utf-8").partition("\n")[2] if fresh else ""
    except (OSError, UnicodeDecodeError):
        return ""


def release(descriptor: int) -> None:
    """Give the lock back; the file stays, since removing it would open a race."""
    os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        # flock and not lockf: the latter is given up when any descriptor of the file is closed.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
