"""The program in which `python` runs a model's code: run by itself, with the standard library only.

It closes its own doors before it runs anything: no network, no other process, no file but those in
its folder, no more time, memory and output than it is given. Where the system lacks one of the
doors it ends with the code `REFUSED` and runs nothing. The limits come as JSON in the arguments,
the code by standard input.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress

#: What the code may import: nothing can be read from the disk once the doors are closed.
MODULES = (
    "array", "base64", "bisect", "calendar", "cmath", "collections", "copy", "csv", "dataclasses",
    "datetime", "decimal", "difflib", "encodings.ascii", "encodings.cp1252", "encodings.idna",
    "encodings.latin_1", "enum", "fractions", "functools", "hashlib", "heapq", "html", "io",
    "itertools", "json", "locale", "math", "numbers", "operator", "os", "pathlib", "pprint",
    "queue", "random", "re", "socket", "statistics", "string", "struct", "subprocess", "tempfile",
    "textwrap", "threading", "time", "types", "typing", "unicodedata", "urllib.parse",
    "urllib.request", "uuid", "zlib",
)  # fmt: skip
REFUSED, TIMED_OUT = 97, 98
#: clone(2): a user namespace gives the right to make the others: network, processes, System V IPC,
#: mounts, host name.
_NAMESPACES = 0x10000000 | 0x40000000 | 0x20000000 | 0x08000000 | 0x00020000 | 0x04000000
#: Of linux/landlock.h: reading, writing, running, making, removing, linking (2), truncating (3),
#: ioctl on devices (5); below version 3 a file outside could be truncated.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_OLDEST = 3
_CREATE, _ADD, _RESTRICT = 444, 445, 446
#: keyctl(2), whose number differs, and its operation that begins a session keyring.
_KEYCTL = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine, -1)
_JOIN_SESSION_KEYRING = 1
_O_PATH = 0x200000
#: prctl: no new privileges; the parent's death kills; the process may be looked at by its user.
_NO_NEW_PRIVS, _PDEATHSIG, _DUMPABLE = 38, 1, 4
#: mount(2): recursive and private; no set-user-id and no devices.
_PRIVATE, _NOSUID_NODEV = 0x4000 | 0x40000, 0x2 | 0x4
_NOBODY = 65534

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class RefusedError(Exception):
    """The system lacks what keeps the code in."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def landlock_version() -> int:
    """The version of Landlock that the kernel has; 0 where it has none."""
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def _done(result: int, what: str) -> int:
    if result < 0:
        raise RefusedError(f"{what}: {os.strerror(ctypes.get_errno())}")
    return int(result)


def close_in() -> None:
    """Leave the keys, the network, the processes and the rights of this user behind."""
    # First: of the keyring that this session was begun with its user's keys can be read. Where the
    # kernel keeps no keys, or gives none to anybody in here, there is nothing to leave.
    _libc.syscall(_KEYCTL, _JOIN_SESSION_KEYRING, None)
    if os.getuid() == 0:  # root's rights over files outside would outlive a namespace
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        _libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # else /proc/self stays root's, and no map is written
    user, group = os.getuid(), os.getgid()
    _done(_libc.unshare(_NAMESPACES), "no user and network namespace can be made")
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")
    ):  # fmt: skip
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - no pathlib here
            file.write(text)


def lock_files(folder: str, size: int) -> None:
    """Make an empty folder in memory the only one that there is, by chroot and by Landlock.

    Landlock forbids reading and writing outside; it does not forbid asking whether a file exists,
    or changing its mode, for which there must be no outside.
    """
    _done(_libc.mount(None, b"/", None, _PRIVATE, None), "mounts cannot be made private")
    options = f"size={size},nr_inodes=256,mode=700".encode()
    mounted = _libc.mount(b"none", os.fsencode(folder), b"tmpfs", _NOSUID_NODEV, options)
    _done(mounted, "no folder in memory can be made")
    version = landlock_version()
    if version < _OLDEST:
        raise RefusedError(f"Landlock has version {version}, and {_OLDEST} or later is needed")
    rights = _RIGHTS[max(listed for listed in _RIGHTS if listed <= version)]
    net = 3 if version >= 4 else 0
    rules = _Ruleset(rights, net, 3 if version >= 6 else 0)
    # An older kernel refuses a longer structure than it knows.
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = _done(
        _libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0)),
        "Landlock gives no ruleset",
    )
    os.chroot(folder)
    os.chdir("/")
    inside = os.open("/", _O_PATH | os.O_CLOEXEC)
    beneath = _Beneath(rights & ~1, inside)  # all but running a file
    added = _libc.syscall(_ADD, ruleset, 1, ctypes.byref(beneath), ctypes.c_uint32(0))
    _done(added, "Landlock takes no rule")
    os.close(inside)
    _done(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "new privileges cannot be forbidden")
    _done(_libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)), "Landlock does not restrict")
    os.close(ruleset)


def drop_rights() -> None:
    """Give up what the namespace brought: without it there is no way back out of the chroot."""
    nothing = (ctypes.c_uint32 * 6)()
    _done(_libc.capset(ctypes.byref(_Header(0x20080522, 0)), nothing), "rights cannot be dropped")


def set_limits(seconds: float, memory: int, size: int) -> None:
    """Limits of the kernel's own, each of them hard."""
    for which, limit in (
        # Beside the clock that `watch` keeps: these hold even where the watcher is killed.
        (resource.RLIMIT_CPU, int(seconds) + 1), (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, size), (resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 4),
    ):  # fmt: skip
        resource.setrlimit(which, (limit, limit))


def run_code(code: str) -> int:
    """Run it as a program; the value of a last line that is an expression is printed."""
    space = {"__name__": "__main__"}
    try:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<code>", "exec"), space)  # noqa: S102 - what all of this is for
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<code>", "eval"), space)  # noqa: S307
            if value is not None:
                sys.stdout.write(f"{value!r}\n")
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:  # noqa: BLE001 - it is told, whatever it is
        trace = traceback.TracebackException.from_exception(error)
        for frame in list(trace.stack):
            if frame.filename != "<code>":  # lines of this program say nothing to a model
                trace.stack.remove(frame)
        sys.stdout.write("".join(trace.format()))
        return 1
    return 0


def inside(code: str, folder: str, limits: dict[str, float]) -> int:
    """The first process of the new namespace: closes the last doors, and runs the code."""
    # Outside its group and session: it can signal nobody but its own children.
    os.setsid()
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    lock_files(folder, int(limits["files"]))
    drop_rights()
    set_limits(limits["seconds"], int(limits["memory"]), int(limits["files"]))
    os.environ.clear()
    return run_code(code)


def watch(child: int, seconds: float) -> int:
    """Wait for the first process; its end, or that of its time, kills all others in there."""
    ends = time.monotonic() + seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TIMED_OUT))
    try:
        while time.monotonic() < ends:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                child = 0
                ended = os.waitstatus_to_exitcode(status)
                return ended if ended >= 0 else 128 - ended
            # Polled: a blocking wait could be ended by an alarm alone, which the code
            # could disarm.
            time.sleep(0.005)
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return TIMED_OUT


def main() -> int:
    """Read, import, close the doors, run."""
    folder, limits = sys.argv[1], json.loads(sys.argv[2])
    code = sys.stdin.buffer.read().decode("utf-8", "replace")
    for name in MODULES:
        with suppress(ImportError):  # a build of Python without one is no worse for that
            __import__(name)
    try:
        close_in()
        child = os.fork()
        if child:
            return watch(child, limits["seconds"])
        ended = inside(code, folder, limits)
    except (RefusedError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        ended = REFUSED
    sys.stdout.flush()
    os._exit(ended & 0xFF)  # the child's own cleanup would be the parent's


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    os._exit(ended)
