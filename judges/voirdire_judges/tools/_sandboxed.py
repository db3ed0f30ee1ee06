"""The program in which `python` runs a model's code: run by itself, with the standard library only.

It closes its own doors before it runs anything: no network, no other process, no key, no file but
those in its folder, no system call but those that plain Python needs, no more time, memory and
output than it is given. Where the system lacks one of the doors it says so and runs nothing. The
limits come as JSON in the arguments, the code by standard input; what became of it is written as
lines of JSON into a pipe that the code never sees.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import resource
import signal
import struct
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
#: clone(2): a user namespace gives the right to make the others: network, processes, System V IPC,
#: mounts, host name.
_NAMESPACES = 0x10000000 | 0x40000000 | 0x20000000 | 0x08000000 | 0x00020000 | 0x04000000
#: Of linux/landlock.h: reading, writing, running, making, removing, linking (2), truncating (3),
#: ioctl on devices (5); below version 3 a file outside could be truncated.
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_OLDEST = 3
#: What later versions bound besides, each of which namespaces bound too.
_LATER = ((4, "network"), (5, "devices"), (6, "signals"))
_CREATE, _ADD, _RESTRICT = 444, 445, 446
#: keyctl(2): begins a session keyring.
_JOIN_SESSION_KEYRING = 1
#: By machine: its name in linux/audit.h, its place in `CALLS`, and the numbers of seccomp(2) and
#: keyctl(2).
_MACHINES = {"x86_64": (0xC000003E, 0, 317, 250), "aarch64": (0xC00000B7, 1, 277, 219)}
#: The system calls that plain Python needs, by their numbers on x86_64 and aarch64 (asm/unistd_64.h
#: and asm-generic/unistd.h of Linux 6). What is not among them is not there: keys, io_uring,
#: userfaultfd, bpf, perf_event, shared memory, memfd, messages, mounts, watches, and all that later
#: kernels bring.
CALLS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "open": (2, None), "close": (3, 57), "stat": (4, None),
    "fstat": (5, 80), "lstat": (6, None), "poll": (7, None), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "pread64": (17, 67),
    "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66), "access": (21, None),
    "pipe": (22, None), "select": (23, None), "sched_yield": (24, 124), "mremap": (25, 216),
    "msync": (26, 227), "madvise": (28, 233), "dup": (32, 23), "dup2": (33, None),
    "pause": (34, None), "nanosleep": (35, 101), "getitimer": (36, 102), "alarm": (37, None),
    "setitimer": (38, 103), "getpid": (39, 172), "sendfile": (40, 71), "exit": (60, 93),
    "kill": (62, 129), "uname": (63, 160), "flock": (73, 32), "fsync": (74, 82),
    "fdatasync": (75, 83), "truncate": (76, 45), "ftruncate": (77, 46), "getdents": (78, None),
    "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, None),
    "mkdir": (83, None), "rmdir": (84, None), "creat": (85, None), "link": (86, None),
    "unlink": (87, None), "symlink": (88, None), "readlink": (89, None), "chmod": (90, None),
    "fchmod": (91, 52), "umask": (95, 166), "gettimeofday": (96, 169), "getrlimit": (97, 163),
    "getrusage": (98, 165), "sysinfo": (99, 179), "times": (100, 153), "getuid": (102, 174),
    "getgid": (104, 176), "geteuid": (107, 175), "getegid": (108, 177), "getppid": (110, 173),
    "getpgrp": (111, None), "getgroups": (115, 158), "getresuid": (118, 148),
    "getresgid": (120, 150), "getpgid": (121, 155), "getsid": (124, 156),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "sigaltstack": (131, 132),
    "utime": (132, None), "statfs": (137, 43), "fstatfs": (138, 44), "gettid": (186, 178),
    "time": (201, None), "futex": (202, 98), "sched_getaffinity": (204, 123),
    "getdents64": (217, 61), "set_tid_address": (218, 96), "restart_syscall": (219, 128),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "exit_group": (231, 94), "tgkill": (234, 131), "utimes": (235, None), "openat": (257, 56),
    "mkdirat": (258, 34), "newfstatat": (262, 79), "unlinkat": (263, 35), "renameat": (264, 38),
    "linkat": (265, 37), "symlinkat": (266, 36), "readlinkat": (267, 78), "fchmodat": (268, 53),
    "faccessat": (269, 48), "pselect6": (270, 72), "ppoll": (271, 73), "set_robust_list": (273, 99),
    "utimensat": (280, 88), "fallocate": (285, 47), "dup3": (292, 24), "pipe2": (293, 59),
    "preadv": (295, 69), "pwritev": (296, 70), "getcpu": (309, 168), "renameat2": (316, 276),
    "getrandom": (318, 278), "membarrier": (324, 283), "copy_file_range": (326, 285),
    "preadv2": (327, 286), "pwritev2": (328, 287), "statx": (332, 291), "rseq": (334, 293),
    "close_range": (436, 436), "faccessat2": (439, 439),
}  # fmt: skip
#: Calls that are let through by one argument, given by its place, and the values that it may have:
#: names of threads; descriptors and their locks, but no larger pipe, no seal and no signal; what a
#: terminal or pipe says of itself; limits of this process alone.
ARGUED: dict[str, tuple[tuple[int, int], int, tuple[int, ...]]] = {
    "prctl": ((157, 167), 0, (15, 16)),
    "fcntl": ((72, 25), 1, (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)),
    "ioctl": ((16, 29), 1, (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)),
    "prlimit64": ((302, 261), 0, (0,)),
}
#: Calls that are refused as not permitted, and not as unknown: what tries them shall say so.
BARRED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "socketpair": (53, 199), "fork": (57, None), "vfork": (58, None),
    "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117), "unshare": (272, 97),
    "chroot": (161, 51), "mount": (165, 40), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218),
}  # fmt: skip
#: clone(2), which also makes threads: those share memory, signal handlers and process, and nothing
#: of a namespace is new. clone3(2) hides its flags from a filter; libc asks clone where it is not
#: there.
_CLONE, _THREAD = (56, 220), 0x100 | 0x800 | 0x10000
_NOT_THREAD = 0x7E020000 | 0x02000000 | 0x4000 | 0x2000 | 0x1000
#: Of linux/bpf_common.h and linux/seccomp.h: load a word, compare, mask, return.
_LD, _JEQ, _AND, _RET = 0x20, 0x15, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
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


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class _CapHeader(ctypes.Structure):
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
    _libc.syscall(_machine()[3], _JOIN_SESSION_KEYRING, None)
    if os.getuid() == 0:  # root's rights over files outside would outlive a namespace
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        _libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # else /proc/self stays root's, and no map is written
    user, group = os.getuid(), os.getgid()
    _done(_libc.unshare(_NAMESPACES), "no user and network namespace can be made")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
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


def _machine() -> tuple[int, int, int, int]:
    """Of this machine: its name for the kernel, its place in the tables, seccomp and keyctl."""
    name = os.uname().machine
    # A program of 32 bits on a kernel of 64 has other numbers.
    if name not in _MACHINES or sys.maxsize < 2**32:
        known = ", ".join(_MACHINES)
        raise RefusedError(f"no table of system calls for {name} is there (there are: {known})")
    return _MACHINES[name]


def filter_of(machine: tuple[int, int, int, int]) -> bytes:
    """The filter of system calls, as the kernel's classic BPF."""
    arch, at, _, _ = machine
    refused = _RET, 0, 0, _ERRNO | _EPERM
    # Another word size or ABI has other numbers; those of x32 are none of these.
    steps = [(_LD, 0, 0, 4), (_JEQ, 1, 0, arch), (_RET, 0, 0, _KILL), (_LD, 0, 0, 0)]
    for numbers in CALLS.values():
        if (number := numbers[at]) is not None:
            steps += [(_JEQ, 0, 1, number), (_RET, 0, 0, _ALLOW)]
    for numbers in BARRED.values():
        if (number := numbers[at]) is not None:
            steps += [(_JEQ, 0, 1, number), refused]
    for both, place, values in ARGUED.values():
        # The lower word of an argument: the kernel takes these as 32 bits.
        asked = [(_LD, 0, 0, 16 + 8 * place)]
        for value in values:
            asked += [(_JEQ, 0, 1, value), (_RET, 0, 0, _ALLOW)]
        steps += [(_JEQ, 0, len(asked) + 1, both[at]), *asked, refused]
    thread = [(_LD, 0, 0, 16), (_AND, 0, 0, _THREAD | _NOT_THREAD), (_JEQ, 0, 1, _THREAD)]
    steps += [(_JEQ, 0, 5, _CLONE[at]), *thread, (_RET, 0, 0, _ALLOW), refused]
    # As a kernel without the call answers: libc then takes an older one.
    steps.append((_RET, 0, 0, _ERRNO | _ENOSYS))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def lock_calls() -> None:
    """Let only the system calls of `CALLS` through from here on; it cannot be undone."""
    machine = _machine()
    made = filter_of(machine)
    program = _FilterProgram(len(made) // 8, made)
    taken = _libc.syscall(machine[2], 1, ctypes.c_uint32(0), ctypes.byref(program))
    _done(taken, "no filter of system calls can be set (seccomp)")


def drop_rights() -> None:
    """Give up what the namespace brought: without it there is no way back out of the chroot."""
    nothing = (ctypes.c_uint32 * 6)()
    _done(
        _libc.capset(ctypes.byref(_CapHeader(0x20080522, 0)), nothing), "rights cannot be dropped"
    )


def set_limits(seconds: float, memory: int, size: int) -> None:
    """Limits of the kernel's own, each of them hard."""
    for which, limit in (
        # Beside the clock that `watch` keeps: these hold even where the watcher is killed.
        (resource.RLIMIT_CPU, int(seconds) + 1),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, size),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        # Threads; behind our own fork, which a user with many processes could not make.
        (resource.RLIMIT_NPROC, 8),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 8),
    ):
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


def lacking() -> list[str]:
    """What would bound the code further and this kernel does not have."""
    version = landlock_version()
    return [f"landlock-{name}" for least, name in _LATER if version < least]


def inside(code: str, folder: str, limits: dict[str, float], told: int) -> int:
    """The first process of the new namespace: closes the last doors, and runs the code."""
    # Outside its group and session: it can signal nobody but its own children.
    os.setsid()
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    lock_files(folder, int(limits["files"]))
    drop_rights()
    set_limits(limits["seconds"], int(limits["memory"]), int(limits["files"]))
    os.environ.clear()
    lacks = lacking()
    lock_calls()
    tell(told, {"lacks": lacks})
    os.close(told)
    return run_code(code)


def tell(told: int, what: dict[str, object]) -> None:
    """Say what became of it to who waits; the code's own output and exit code say nothing here."""
    os.write(told, json.dumps(what).encode() + b"\n")


def watch(child: int, seconds: float) -> int | None:
    """Wait for the first process, whose end kills all others in there: its code, or None in time.

    A signal counts as 128 and its number.
    """
    ends = time.monotonic() + seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
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
    return None


def main() -> int:
    """Read, import, close the doors, run."""
    folder, limits, told = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
    code = sys.stdin.buffer.read().decode("utf-8", "replace")
    for name in MODULES:
        with suppress(ImportError):  # a build of Python without one is no worse for that
            __import__(name)
    try:
        if group := limits.pop("cgroup", ""):  # before any door: it lies outside
            with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:  # noqa: PTH123
                file.write("0")
        close_in()
        child = os.fork()
        if child:
            ended = watch(child, limits["seconds"])
            tell(told, {"ended": ended})
            return 0
        ended = inside(code, folder, limits, told)
    except (RefusedError, OSError) as error:
        tell(told, {"refused": str(error)})
        return 1
    sys.stdout.flush()
    os._exit(ended & 0xFF)  # the child's own cleanup would be the parent's


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    os._exit(ended)
