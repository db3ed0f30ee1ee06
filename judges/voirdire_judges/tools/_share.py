"""What all closed rooms of a user may take together: memory, held by locks that die with who waits.

Each call of the tool takes its share before it begins, and waits while others hold too much, in
this process or in another one, as under ``--workers``. Where there is a control group for it, a
call gets one of its own besides.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Megabytes that one lock stands for, and seconds between looks at whether enough are free.
UNIT, LOOK = 64, 0.02
_GROUPS = Path("/sys/fs/cgroup")
_numbers = count()


@contextmanager
def share(memory: int, together: int, patience: float) -> Iterator[None]:
    """Hold so many megabytes of those that all calls may take together.

    Parameters
    ----------
    memory, together : int
        Of this call; of all calls of this user at once, other processes' included.
    patience : float
        Seconds to wait for others to end.

    Raises
    ------
    OSError
        Others hold too much for that long, or the folder of the locks is not this user's.
    """
    needed, ends = _units(memory), time.monotonic() + patience
    folder = _folder()
    held: list[int] = []
    try:
        # One gathers at a time: two that each held half of what they need would wait for ever.
        gate = _wait_for(folder / "gate", ends)
        if gate is not None:
            held = _gather(folder, needed, max(_units(together), needed), ends)
            os.close(gate)
        if not held:
            raise OSError(
                f"other calls held the memory for {patience:g} s: all together may take "
                f"{together:,} megabytes, and this one needs {memory:,}"
            )
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)


def _units(megabytes: int) -> int:
    return -(-megabytes // UNIT)


def _gather(folder: Path, needed: int, there: int, ends: float) -> list[int]:
    """So many locks, all or none of them."""
    held: list[int] = []
    while True:
        for number in range(there):
            if len(held) < needed and (lock := _taken(folder / str(number))) is not None:
                held.append(lock)
        if len(held) == needed:
            return held
        for lock in held:
            os.close(lock)
        held = []
        if time.monotonic() > ends:
            return []
        time.sleep(LOOK)


def _wait_for(path: Path, ends: float) -> int | None:
    while (lock := _taken(path)) is None and time.monotonic() < ends:
        time.sleep(LOOK)
    return lock


def _folder() -> Path:
    """Where the locks of this user lie; a folder that somebody else has put there is refused."""
    folder = Path(tempfile.gettempdir()) / f"voirdire-rooms-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise OSError(f"{folder} is no folder of this user alone: remove it")
    return folder


def why_no_group() -> str:
    """Why a call gets no control group of its own; empty where it gets one."""
    own = _own_group()
    if own is None:
        return "this process is in none of version 2"
    try:
        given = (own / "cgroup.subtree_control").read_text("ascii").split()
    except OSError as error:
        return f"{own} cannot be read ({error.strerror})"
    if "memory" not in given:
        return f"{own} hands no memory controller on to groups in it"
    return "" if os.access(own, os.W_OK) else f"{own} may not be written"


@contextmanager
def group(memory: int) -> Iterator[str]:
    """A control group that holds so many megabytes, or an empty name where none can be made."""
    own = _own_group()
    if own is None or why_no_group():
        yield ""
        return
    made = own / f"voirdire-room-{os.getpid()}-{next(_numbers)}"
    made.mkdir()
    try:
        # The interpreter that closes the doors is in it too.
        (made / "memory.max").write_text(f"{(memory + UNIT) << 20}", "ascii")
        for name, most in (("memory.swap.max", "0"), ("pids.max", "16")):
            if (made / name).exists():
                (made / name).write_text(most, "ascii")
        yield str(made)
    finally:
        _remove(made)


def _remove(made: Path) -> None:
    with suppress(OSError):
        (made / "cgroup.kill").write_text("1", "ascii")
    # Busy until the last process in it is gone.
    for _ in range(100):
        try:
            made.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(LOOK)
        else:
            return


def _own_group() -> Path | None:
    """The control group of version 2 that this process is in."""
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return None
    name = next((line[3:] for line in lines if line.startswith("0::")), None)
    # Beside groups of version 1 the tree of version 2 is mounted in a folder of its own.
    roots = (_GROUPS, _GROUPS / "unified")
    root = next((one for one in roots if (one / "cgroup.controllers").exists()), None)
    return None if name is None or root is None else root / name.lstrip("/")


if sys.platform == "win32":

    def _taken(path: Path) -> int | None:
        raise OSError(f"{path}: there is no closed room on this system")
else:
    import fcntl

    def _taken(path: Path) -> int | None:
        """The lock of a file; None while somebody holds it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor
