"""`python`: a model's code, run where it can reach nothing; Linux only, and only where it is named.

The code runs in a process in namespaces of its own (user, network, processes, mounts), under
Landlock and a filter of system calls, in an empty folder in memory, with an empty environment and
limits on time, memory and output. Where the system lacks one of these the tool cannot be made;
what it lacks beyond them is named, and a study can require it.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError, not_one_of
from voirdire.schema import Finding
from voirdire.tools import SHOWN, AgentTool
from voirdire_judges.tools._share import group, share, why_no_group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROGRAM = Path(__file__).with_name("_sandboxed.py")
#: Where its folder in memory is mounted, for itself alone: everybody reaches this one on every
#: Linux, and whoever it runs as may not get to the one for temporary files.
_MOUNT = "/proc"
#: Characters of code, and bytes of output that are read before the code is ended.
LONGEST, FLOOD = 10_000, 16 * SHOWN
#: Seconds in which Python starts and closes its doors, also on a machine with much to do, and that
#: a call waits for others to give memory back.
START, PATIENCE = 20.0, 300.0
#: Megabytes that all calls of this user may take together.
TOGETHER = 4_096
#: What bounds the code further where the system has it, by the names that `require` takes.
FURTHER = {
    "cgroup": "a control group that holds the memory of a call, whatever it is",
    "landlock-network": "Landlock of version 4, which forbids TCP beside the network namespace",
    "landlock-devices": "Landlock of version 5, which forbids orders to devices",
    "landlock-signals": "Landlock of version 6, which forbids signals to processes outside",
}


@dataclass(frozen=True, slots=True)
class _Ran:
    """What became of a program.

    `ended` is the code's own exit code, None where its time was up or it was ended for its output,
    which `cut` says. `refused` says which door the system lacks; then nothing was run.
    """

    output: bytes
    cut: bool
    ended: int | None
    refused: str
    lacks: tuple[str, ...]


def run_python(
    code: str,
    *,
    seconds: float = 5.0,
    memory: int = 512,
    files: int = 16,
    together: int = TOGETHER,
) -> str:
    """What code prints, the value of a last expression included, or how it failed.

    Parameters
    ----------
    code : str
        Python; the standard library's modules for numbers, texts and dates can be imported.
    seconds : float
        Of the clock.
    memory, files : int
        Megabytes that the process may take, and that its files may.
    together : int
        Megabytes that all calls of this user may take at once; a call waits for its share.

    Raises
    ------
    ValueError
        The code is too long.
    OSError
        The system lacks what keeps the code in, or others hold all memory for minutes: nothing was
        run.
    """
    if len(code) > LONGEST:
        raise ValueError(f"code may have {LONGEST:,} characters, got {len(code):,}")
    limits = {"seconds": seconds, "memory": memory << 20, "files": files << 20}
    # Files lie in memory too.
    with share(memory + files, together, PATIENCE), group(memory + files) as own:
        ran = _run(code, {**limits, "cgroup": own})
    shown = ran.output.decode("utf-8", "replace").rstrip("\n")
    if ran.refused:
        raise OSError(f"it cannot be kept in here: {ran.refused[:300]}")
    if ran.cut:
        return f"{shown}\n(ended: more than {FLOOD:,} bytes of output)"
    if ran.ended is None:
        return f"{shown}\n(ended after {seconds:g} seconds)".lstrip()
    return shown or (
        "(no output)" if not ran.ended else f"(ended with code {ran.ended}, no output)"
    )


def _run(code: str, limits: Mapping[str, float | str]) -> _Ran:
    """Run the program, and end it and all that it began."""
    # What became of it comes by a pipe of its own, which the code never sees: its exit code and its
    # output may be anything.
    told, tells = os.pipe()
    with open(told, "rb") as news:  # noqa: PTH123 - a descriptor
        try:
            # Isolated, without site packages, and without writing byte code: nothing of this
            # machine's Python but its standard library.
            command = [sys.executable, "-I", "-S", "-B", str(_PROGRAM), _MOUNT]
            process = subprocess.Popen(  # noqa: S603 - our own program; the code is its input
                [*command, json.dumps(dict(limits)), str(tells)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={},
                # A group of its own, so that all it began can be ended at once.
                start_new_session=True,
                pass_fds=(tells,),
            )
        finally:
            os.close(tells)
        output, cut = b"", False
        try:
            with process:
                try:
                    output, cut = _read(process, code, START + float(limits["seconds"]))
                    if not cut:
                        process.wait(timeout=START)
                finally:
                    _end(process)
        except subprocess.TimeoutExpired:
            pass
        said: dict[str, Any] = {}
        for line in news:
            said |= json.loads(line)
    if not said and not cut:  # it died before it could say a word, such as for lack of memory
        shown = output.decode("utf-8", "replace").strip()
        said["refused"] = shown or f"the program ended with code {process.returncode}"
    return _Ran(
        output, cut, said.get("ended"), said.get("refused", ""), tuple(said.get("lacks", ()))
    )


def _read(process: subprocess.Popen[bytes], code: str, seconds: float) -> tuple[bytes, bool]:
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise OSError("the program has no pipes")
    with suppress(BrokenPipeError), stdin:  # it may have refused before it read
        stdin.write(code.encode("utf-8", "surrogatepass"))
    output, ends = b"", time.monotonic() + seconds
    with selectors.DefaultSelector() as ready:
        ready.register(stdout, selectors.EVENT_READ)
        while len(output) <= FLOOD and ready.select(max(0.0, ends - time.monotonic())):
            more = os.read(stdout.fileno(), 65_536)
            if not more:
                return output, False
            output += more
    return output[:FLOOD], len(output) > FLOOD


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program, which ends the code and all its processes; its group goes in any case."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@cache
def _first_try() -> _Ran | str:
    """What a first program came to, or why none can be run here."""
    if not sys.platform.startswith("linux"):
        return f"it needs Linux, and this is {sys.platform}"
    try:
        limits = {"seconds": 5.0, "memory": 512 << 20, "files": 16 << 20}
        with share(512, TOGETHER, PATIENCE), group(512) as own:
            return _run("6 * 7", {**limits, "cgroup": own})
    except OSError as error:
        return str(error)


def why_not() -> str:
    """Why code cannot be kept in on this system; empty where it can."""
    ran = _first_try()
    if isinstance(ran, str):
        return ran
    if ran.refused:
        return f"it cannot be kept in here: {ran.refused[:300]}"
    return "" if ran.output == b"42\n" else f"a first try said {ran.output[:200]!r}"


def lacks() -> dict[str, str]:
    """What would bound the code further and is not there: each of `FURTHER`, with the reason."""
    ran = _first_try()
    found = {} if isinstance(ran, str) else {name: f"{FURTHER[name]}" for name in ran.lacks}
    reason = why_no_group()
    return {**({"cgroup": f"{FURTHER['cgroup']}: {reason}"} if reason else {}), **found}


def make(
    *,
    seconds: float = 5.0,
    memory: int = 512,
    files: int = 16,
    together: int | None = None,
    require: Sequence[str] = (),
) -> AgentTool:
    """The tool (`tools = ["python"]`).

    Parameters
    ----------
    seconds, memory, files, together
        As `run_python` takes them.
    require : sequence of str
        What this system must have besides, of `FURTHER`: ``["cgroup"]``.

    Raises
    ------
    InputError
        A limit that is none, a system other than Linux, one without user and network namespaces,
        Landlock (version 3, Linux 6.2) or seccomp, or without what is required.
    """
    for name, value, most in (
        ("seconds", seconds, 60),
        ("memory", memory, 8192),
        ("files", files, 1024),
        ("together", memory if together is None else together, 1 << 20),
    ):
        if not 1 <= value <= most:
            raise InputError(f"tool 'python': {name} must be from 1 to {most}, got {value!r}")
    for name in require:
        if name not in FURTHER:
            raise not_one_of("require", name, tuple(FURTHER), "tool 'python'", InputError)
    if why := why_not():
        raise InputError(f"tool 'python' cannot be used on this system: {why}")
    missing = lacks()
    for name in require:
        if name in missing:
            raise InputError(
                f"tool 'python' requires {name}, which is not here: {missing[name]}; leave it out "
                "of `require`, or run the study where it is"
            )
    # The larger of both: a call that may take more alone than all together could never begin.
    most = max(TOGETHER if together is None else together, memory + files)

    def run(code: str) -> str:
        return run_python(code, seconds=seconds, memory=memory, files=files, together=most)

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "a whole program"}},
        "required": ["code"],
    }
    purpose = (
        "Run Python and get what it prints. Each call starts anew, without files or network, with "
        f"the standard library alone, for {seconds:g} seconds at most."
    )
    findings = tuple(
        Finding(
            "room_lacks",
            "note",
            "python",
            1,
            (),
            f"The closed room of the tool 'python' does without {reason}.",
            "Namespaces, Landlock, a filter of system calls and limits on the process hold the "
            f"code all the same; require = [{name!r}] among its options refuses such a system.",
        )
        for name, reason in missing.items()
    )
    waits = seconds + 2 * START + PATIENCE
    return AgentTool("python", purpose, schema, run, timeout=waits, findings=findings)
