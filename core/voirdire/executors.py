"""Where partial results are computed: in this process, in several, or on a dask cluster.

A sum over parts is the one shape of work that leaves this process: `partial` turns a part into
something that adds up, and the executor adds it. What is added first does not depend on which
worker was faster, so that a sum of floats is the same on every run.
"""

from __future__ import annotations

import ipaddress
import operator
import os
import sys
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from voirdire._manager import plugins
from voirdire.errors import InputError, WorkerError, not_one_of
from voirdire.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import ProcessPoolExecutor

    from voirdire.protocols import Executor

Part = TypeVar("Part")
Sum = TypeVar("Sum")

#: How often a part is given out again after its worker died.
ATTEMPTS = 4
#: Seconds that a worker has to end what it does, once nobody waits for it.
ORPHANED = 10.0
#: Parts that wait for each worker: no worker is idle, and few results are held.
AHEAD = 2


@hookimpl
def voirdire_register_executors(register: Any) -> None:
    """Register the three that come with voirdire."""
    register("here", "voirdire.executors:here")
    register("threads", "voirdire.executors:threads")
    register("processes", "voirdire.executors:processes")
    register("dask", "voirdire.executors:dask")
    register("dask+tls", "voirdire.executors:dask")


@contextmanager
def open_executor(workers: str | int | None, *, insecure: bool = False) -> Iterator[Executor]:
    """The executor that ``--workers`` names; what it holds open is closed at the end.

    Parameters
    ----------
    workers : str, int or None
        None or 1 computes in this process, ``"threads"`` in threads of it; another number in as
        many processes of this machine;
        ``"dask"`` on a dask cluster that is started on 127.0.0.1 and ends with this process,
        ``"dask://HOST:PORT"`` on one that runs already, ``"dask+tls://HOST:PORT"`` on one that
        asks for certificates. Other names before ``://`` are those of plugins.
    insecure : bool
        Whether a scheduler on another machine may be used without TLS.

    Raises
    ------
    InputError
        No such executor, an address that cannot be read, or one that is not protected.
    MissingExtraError
        The executor needs a package that is not installed.

    Examples
    --------
    >>> with open_executor(None) as executor:
    ...     executor.map_reduce(abs, [-1, 2, -3])
    6
    """
    text = "1" if workers is None else str(workers)
    if text.isdecimal():
        if int(text) < 1:
            raise InputError(f"--workers {text}: at least 1 is needed")
        name = "here" if int(text) == 1 else "processes"
    else:
        name = text.partition("://")[0]
    names = plugins().names("executor")
    if name not in names:
        raise not_one_of("executor", name, ["a number of processes", *names], "--workers")
    executor: Executor = plugins().resolve("executor", name)(text, insecure=insecure)
    try:
        yield executor
    finally:
        executor.close()


class _Adds(ABC):
    """An executor that has results part by part: their sum is made in one way for all."""

    def map_reduce(
        self,
        partial: Callable[[Part], Sum],
        parts: Iterable[Part],
        add: Callable[[Sum, Sum], Sum] = operator.add,
    ) -> Sum:
        """The sum of ``partial(part)``; see `voirdire.protocols.Executor`."""
        results = self._results(partial, parts)
        # The first result is where the sum begins: what it is, only `partial` knows.
        for total in results:
            for result in results:
                total = add(total, result)  # noqa: PLW2901 - the sum so far
            return total
        raise InputError("there is no part to compute")

    @abstractmethod
    def _results(self, partial: Callable[[Part], Sum], parts: Iterable[Part]) -> Iterator[Sum]:
        """The results in the order of the parts."""

    def close(self) -> None:  # noqa: B027 - an executor that holds nothing open has nothing to do
        """Nothing is open between sums."""


class Here(_Adds):
    """In this process, one part after another."""

    workers = 1

    def _results(self, partial: Callable[[Part], Sum], parts: Iterable[Part]) -> Iterator[Sum]:
        return map(partial, parts)


def here(address: str, *, insecure: bool = False) -> Here:  # noqa: ARG001 - as all factories
    """Make the executor of this process."""
    return Here()


@dataclass
class Threads(_Adds):
    """In several threads of this process, for work that lets go of the interpreter."""

    workers: int

    def _results(self, partial: Callable[[Part], Sum], parts: Iterable[Part]) -> Iterator[Sum]:
        rest, futures = iter(parts), deque[Future[Sum]]()
        with ThreadPoolExecutor(self.workers) as pool:
            while True:
                # One part ahead: results and parts of threads share this process's memory.
                for part in islice(rest, self.workers + 1 - len(futures)):
                    futures.append(pool.submit(partial, part))
                if not futures:
                    return
                yield futures.popleft().result()


def threads(address: str, *, insecure: bool = False) -> Threads:  # noqa: ARG001 - as all factories
    """Make the executor of ``threads`` (one a core) or ``threads://2``."""
    return Threads(_count(address, "threads"))


@dataclass
class Processes(_Adds):
    """In several processes of this machine, each started afresh. A part that kills one is named."""

    workers: int

    def __post_init__(self) -> None:
        self._pool = self._started()

    def _results(self, partial: Callable[[Part], Sum], parts: Iterable[Part]) -> Iterator[Sum]:
        """Results in the order of the parts; those of a pool that broke are asked for again."""
        rest, waiting, broken = iter(parts), deque[Part](), 0
        futures: deque[Any] = deque()
        while True:
            try:  # a pool may break while it is given a part as well as while it works on one
                # Parts are kept until their result is out, to be given out again if the pool
                # breaks.
                waiting.extend(islice(rest, AHEAD * self.workers - len(waiting)))
                new = list(islice(waiting, len(futures), None))
                futures.extend(self._pool.submit(partial, part) for part in new)
                if not waiting:
                    return
                result = futures[0].result()
            except BrokenExecutor:
                broken += 1
                if broken == ATTEMPTS:
                    raise WorkerError(
                        f"a worker process died {ATTEMPTS} times at {_shown(waiting[0])} or a part "
                        "beside it: it may need more memory than there is"
                    ) from None
                self._pool.shutdown(wait=False)
                self._pool = self._started()
                futures.clear()
                continue
            # Only deaths in a row count: one part in a thousand may be unlucky.
            broken = 0
            futures.popleft()
            waiting.popleft()
            yield result

    def _started(self) -> ProcessPoolExecutor:
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to import
        from multiprocessing import get_context  # noqa: PLC0415 - the same

        # A fork would copy threads of polars in whatever state they are.
        return ProcessPoolExecutor(self.workers, get_context("spawn"), _alone, (self.workers,))

    def close(self) -> None:
        """End the processes: with the parts that they are at, or at once where that was asked."""
        if isinstance(sys.exception(), KeyboardInterrupt):
            # `kill_workers` of Python 3.14 does this.
            for process in list((getattr(self._pool, "_processes", None) or {}).values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


def processes(address: str, *, insecure: bool = False) -> Processes:  # noqa: ARG001 - as all
    """Make the executor of ``--workers 4`` or ``processes://4``."""
    return Processes(_count(address, "processes"))


def _count(address: str, name: str) -> int:
    """The number in ``4``, ``processes://4`` or ``processes``, which is one a core."""
    count = address.removeprefix(name).removeprefix("://") or str(os.cpu_count() or 1)
    if not count.isdecimal() or int(count) < 1:
        raise InputError(f"--workers {address!r}: write a number of {name}, such as 4")
    return int(count)


def _alone(workers: int) -> None:
    """Each process keeps to its share of the cores."""
    share = str(max((os.cpu_count() or 1) // workers, 1))
    for name in ("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, share)
    Thread(target=_end_with_parent, name="voirdire-parent", daemon=True).start()


def _end_with_parent() -> None:
    """End this process some seconds after the one that started it was killed.

    The pool's own way to hear of it is a pipe whose other end this process holds as well.
    """
    from multiprocessing import parent_process  # noqa: PLC0415 - slow to import

    parent = parent_process()
    if parent is not None:
        parent.join()
        sleep(ORPHANED)
        # At once: the pool's own threads would wait for the parent for ever.
        os._exit(1)


@dataclass
class Dask(_Adds):
    """On a dask cluster: `client` is a `distributed.Client`, `owned` what ends with it."""

    client: Any
    owned: tuple[Any, ...] = ()

    @property
    def workers(self) -> int:
        """Threads of all workers now."""
        threads: dict[str, int] = self.client.nthreads()
        return max(sum(threads.values()), 1)

    def _results(self, partial: Callable[[Part], Sum], parts: Iterable[Part]) -> Iterator[Sum]:
        rest, waiting = iter(parts), deque[tuple[Part, Any]]()
        while True:
            for part in islice(rest, max(AHEAD * self.workers - len(waiting), 0)):
                # Not pure: two equal parts are two parts, and a part may write a session.
                waiting.append((part, self._submitted(partial, part)))
            if not waiting:
                return
            part, future = waiting.popleft()
            yield self._result(partial, part, future)

    def _submitted(self, partial: Callable[[Part], Sum], part: Part) -> Any:
        return self.client.submit(partial, part, pure=False, retries=0)

    def _result(self, partial: Callable[[Part], Sum], part: Part, future: Any) -> Any:
        """What a part gives. Where its workers died, dask has tried it several times already."""
        from distributed.scheduler import KilledWorker  # noqa: PLC0415 - an extra

        for _ in range(ATTEMPTS - 1):
            try:
                return future.result()
            except KilledWorker:
                future = self._submitted(partial, part)
        try:
            return future.result()
        except KilledWorker as error:
            raise WorkerError(
                f"the workers that were given {_shown(part)} died again and again: it may need "
                f"more memory than they have ({error})"
            ) from None

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self.client.close()
        for owned in self.owned:
            owned.close()


def dask(address: str, *, insecure: bool = False) -> Dask:
    """Make the executor of ``dask``, ``dask://HOST:PORT`` or ``dask+tls://HOST:PORT``.

    Raises
    ------
    InputError
        The address cannot be read, nobody answers there, or it lies on another machine without
        TLS: dask runs whatever it is sent, so that who reaches the scheduler rules all workers.
    """
    at = _scheduler(address, insecure=insecure) if "://" in address else ""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra

    if not at:
        cluster = LocalCluster(host="127.0.0.1", dashboard_address=None, threads_per_worker=1)
        return Dask(Client(cluster), (cluster,))
    try:
        return Dask(Client(at, timeout="10s"))
    except OSError as error:
        cause = str(error).splitlines()[0]
        raise InputError(f"--workers {address}: no scheduler answers ({cause})") from None


def _scheduler(address: str, *, insecure: bool) -> str:
    """The address as dask writes it."""
    at = urlsplit(address)
    try:
        host, port = at.hostname, at.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise InputError(f"--workers {address!r}: write dask://HOST:PORT, such as 127.0.0.1:8786")
    if at.scheme == "dask+tls":
        return f"tls://{host}:{port}"
    if not (_loopback(host) or insecure):
        raise InputError(
            f"--workers {address}: {host} is another machine, and dask runs whatever it is sent. "
            f"Use dask+tls://{host}:{port} with certificates, or --insecure where nobody else "
            "reaches that network (docs/scale.md)"
        )
    return f"tcp://{host}:{port}"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(part: object) -> str:
    text = str(part)
    return text if len(text) <= 120 else f"{text[:117]}..."
