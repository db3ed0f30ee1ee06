"""`python`: a model's code, run where it can reach nothing; Linux only, and only where it is named.

The code runs in a process in namespaces of its own (user, network, processes, mounts) and under
Landlock, in an empty folder in memory, with an empty environment and limits on time, memory and
output. Where the system lacks one of these the tool cannot be made.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.tools import SHOWN, AgentTool

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROGRAM = Path(__file__).with_name("_sandboxed.py")
#: Exit codes of the program: a door cannot be closed; time was up.
_REFUSED, _TIMED_OUT = 97, 98
#: Characters of code, and bytes of output that are read before the code is ended.
LONGEST, FLOOD = 10_000, 16 * SHOWN
#: Seconds in which Python starts and closes its doors, also on a machine with much to do.
START = 20.0


def run_python(code: str, *, seconds: float = 5.0, memory: int = 512, files: int = 16) -> str:
    """What code prints, the value of a last expression included, or how it failed.

    Parameters
    ----------
    code : str
        Python; the standard library's modules for numbers, texts and dates can be imported.
    seconds : float
        Of the clock.
    memory, files : int
        Megabytes that a process may take, and that its files may.

    Raises
    ------
    ValueError
        The code is too long.
    OSError
        The system lacks what keeps the code in: nothing was run.
    """
    if len(code) > LONGEST:
        raise ValueError(f"code may have {LONGEST:,} characters, got {len(code):,}")
    limits = {"seconds": seconds, "memory": memory << 20, "files": files << 20}
    ended, output, cut = _run(code, limits)
    shown = output.decode("utf-8", "replace").rstrip("\n")
    if ended == _REFUSED:
        raise OSError(f"it cannot be kept in here: {shown[:300]}")
    if cut:
        return f"{shown}\n(ended: more than {FLOOD:,} bytes of output)"
    if ended == _TIMED_OUT:
        return f"{shown}\n(ended after {seconds:g} seconds)".lstrip()
    return shown or ("(no output)" if ended == 0 else f"(ended with code {ended}, no output)")


def _run(code: str, limits: Mapping[str, float]) -> tuple[int, bytes, bool]:
    """Exit code, output, and whether that was cut; the program and all it began are ended."""
    # Isolated, without site packages, and without writing byte code: nothing of this machine's
    # Python but its standard library.
    command = [sys.executable, "-I", "-S", "-B", str(_PROGRAM), tempfile.gettempdir()]
    process = subprocess.Popen(  # noqa: S603 - our own program; the code is its input
        [*command, json.dumps(dict(limits))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={},
        # A group of its own, so that all it began can be ended at once.
        start_new_session=True,
    )
    try:
        with process:
            try:
                output, cut = _read(process, code, START + limits["seconds"])
                if not cut:
                    process.wait(timeout=START)
            finally:
                _end(process)
    except subprocess.TimeoutExpired:
        return _TIMED_OUT, output, False
    return process.returncode, output, cut


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
def why_not() -> str:
    """Why code cannot be kept in on this system; empty where it can."""
    if not sys.platform.startswith("linux"):
        return f"it needs Linux, and this is {sys.platform}"
    try:
        output = run_python("6 * 7")
    except OSError as error:
        return str(error)
    return "" if output == "42" else f"a first try said {output[:200]!r}"


def make(*, seconds: float = 5.0, memory: int = 512, files: int = 16) -> AgentTool:
    """The tool (`tools = ["python"]`).

    Parameters
    ----------
    seconds, memory, files
        As `run_python` takes them.

    Raises
    ------
    InputError
        A limit that is none, a system other than Linux, or one without user and network namespaces
        or Landlock (version 3, Linux 6.2).
    """
    for name, value, most in (
        ("seconds", seconds, 60), ("memory", memory, 8192), ("files", files, 1024)
    ):  # fmt: skip
        if not 1 <= value <= most:
            raise InputError(f"tool 'python': {name} must be from 1 to {most}, got {value!r}")
    if why := why_not():
        raise InputError(f"tool 'python' cannot be used on this system: {why}")

    def run(code: str) -> str:
        return run_python(code, seconds=seconds, memory=memory, files=files)

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "a whole program"}},
        "required": ["code"],
    }
    purpose = (
        "Run Python and get what it prints. Each call starts anew, without files or network, with "
        f"the standard library alone, for {seconds:g} seconds at most."
    )
    return AgentTool("python", purpose, schema, run, timeout=seconds + 2 * START)
