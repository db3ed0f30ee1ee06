"""A slow parser of a stranger in a process of its own, where its processor time is bounded.

Our parsers are linear. A rater of somebody else's may parse for minutes, on the loop that serves
all calls. After its first slow reply a helper process parses for it. A reply that takes more than
`MOST` seconds of processor time there is given up, and the next one gets a new helper.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Reply

#: Processor seconds of one reply from which its rater's parser counts as slow.
SLOW = 1.0
#: Processor seconds that a reply may take in the helper.
MOST = 10.0
_OURS = ("voirdire", "voirdire_judges", "voirdire_plugins", "voirdire_retrieval")
#: Slow raters by their identity, each with its helper; None where it cannot be handed over.
_SLOW: dict[int, tuple[Any, _Helper | None]] = {}


def parse(rater: Any, replies: Sequence[Reply]) -> Any:
    """What a rater says of replies; where its parser has been slow before, from a helper process.

    Raises
    ------
    TimeoutError
        The helper took more than `MOST` seconds of processor time.
    """
    known = _SLOW.get(id(rater))
    if known is not None and known[1] is not None:
        return known[1].parse(replies)
    if known is not None or type(rater).__module__.partition(".")[0] in _OURS:
        return rater.parse(replies)
    start = time.thread_time()
    try:
        return rater.parse(replies)
    finally:
        if time.thread_time() - start > SLOW:
            _SLOW[id(rater)] = rater, _helper_for(rater)


def is_slow(rater: Any) -> bool:
    """Whether a helper parses for a rater, so that waiting for it holds up nothing else."""
    known = _SLOW.get(id(rater))
    return known is not None and known[1] is not None


def end_helpers() -> None:
    """End all helper processes; raters are parsed here again until they are slow."""
    for _, helper in _SLOW.values():
        if helper is not None:
            helper.end()
    _SLOW.clear()


def _helper_for(rater: Any) -> _Helper | None:
    """A helper, where the system can bound it and the rater can be handed over."""
    try:
        import resource  # noqa: F401, PLC0415 - only POSIX has it

        helper = _Helper(pickle.dumps(rater))
        helper.start()
    except Exception:  # noqa: BLE001 - a stranger's object raises what it likes
        return None
    if not _SLOW:
        atexit.register(end_helpers)
    return helper


class _Helper:
    def __init__(self, rater: bytes) -> None:
        self._rater = rater
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def parse(self, replies: Sequence[Reply]) -> Any:
        with self._lock:
            process = self._process or self.start()
            try:
                outcome = _answered(process, pickle.dumps(list(replies)))
            except (EOFError, OSError):
                self.end()
                raise TimeoutError(
                    f"its parser took more than {MOST:g} s of processor time, or ended its process"
                ) from None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def start(self) -> subprocess.Popen[bytes]:
        """A new process, once it has the rater.

        Raises
        ------
        EOFError
            It cannot make the rater: its module has no name there.
        """
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "voirdire.store.beside", str(MOST)]
        self._process = subprocess.Popen(  # noqa: S603 - this very module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        try:
            _answered(self._process, self._rater)
        except (EOFError, OSError):
            self.end()
            raise
        return self._process

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not read yet
                    pipe.close()
        self._process = None


def _answered(process: subprocess.Popen[bytes], question: bytes) -> Any:
    _send(_pipe(process.stdin), question)
    return pickle.loads(_received(_pipe(process.stdout)))  # noqa: S301 - our own child's


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise EOFError
    return stream


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(len(content).to_bytes(8, "little") + content)
    pipe.flush()


def _received(pipe: IO[bytes]) -> bytes:
    size = pipe.read(8)
    if len(size) < 8:
        raise EOFError
    return pipe.read(int.from_bytes(size, "little"))


def _serve() -> None:
    """The helper: a rater comes first, then its replies, and each answer goes back."""
    import resource  # noqa: PLC0415 - only POSIX has it

    # What the parser prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    questions, most = sys.stdin.buffer, float(sys.argv[1])
    rater: Any = pickle.loads(_received(questions))  # noqa: S301 - from our own parent
    _send(answers, pickle.dumps(None))  # it is here
    while True:
        try:
            replies = pickle.loads(_received(questions))  # noqa: S301 - the same
        except EOFError:
            return
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + most), hard))
        _send(answers, _outcome(rater, replies))


def _outcome(rater: Any, replies: Sequence[Reply]) -> bytes:
    try:
        return pickle.dumps(rater.parse(replies))
    except BaseException as error:  # noqa: BLE001 - whatever it raises is told
        try:
            # Some exceptions are pickled and cannot be made again.
            pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
        except Exception:  # noqa: BLE001 - the same
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return pickle.dumps(error)


if __name__ == "__main__":
    _serve()
