"""Executors: sums over parts here, in processes and on a real dask cluster of this machine."""

import contextlib
import itertools
import os
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import executor_work as work
import pytest

from voirdire import executors, plugins
from voirdire.errors import InputError, WorkerError
from voirdire.executors import open_executor
from voirdire.protocols import Executor

TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process, as docs/scale.md starts them."""
    pytest.importorskip("distributed")
    env = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONWARNINGS": "ignore"}
    run = partial(subprocess.Popen, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    dask = [sys.executable, "-m", "dask"]
    here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    scheduler = run([*dask, "scheduler", *here, "--port", "0"], env=env)
    at = next(filter(None, (re.search(r"tcp://(\S+)", line) for line in scheduler.stderr)))[1]
    workers = [
        run([*dask, "worker", f"tcp://{at}", *here, "--nthreads", "1"], env=env) for _ in range(2)
    ]
    for worker in workers:
        next(line for line in worker.stderr if "Registered to" in line)
    yield f"dask://{at}", scheduler, workers
    for process in (*workers, scheduler):
        process.terminate()
        process.stderr.read()
        process.stderr.close()
        process.wait(120)


def listening(pids):
    """Addresses on which processes listen, in hexadecimal as the kernel writes them."""
    sockets = set()
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            for handle in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):
                    sockets.add(handle.readlink().name)
    found = set()
    for table in ("tcp", "tcp6"):
        path = Path(f"/proc/net/{table}")
        rows = path.read_text().splitlines()[1:] if path.exists() else ()
        ours = (cells for cells in map(str.split, rows) if f"socket:[{cells[9]}]" in sockets)
        found |= {cells[1].partition(":")[0] for cells in ours if cells[3] == "0A"}
    return found


def family(pid):
    """A process and all that it started."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found = [pid]
    for one in found:
        found += children.get(one, ())
    return found


@pytest.mark.parametrize("workers", [None, 1, "threads", "threads://2", "2"])
def test_parts_are_added_in_their_order(workers):
    with open_executor(workers) as executor:
        assert isinstance(executor, Executor)
        assert executor.map_reduce(work.square, range(10)) == sum(v * v for v in range(10))
        assert executor.map_reduce(work.slow_first, range(5)) == "0,1,2,3,4,"
        assert executor.map_reduce(work.square, [3, 2], max) == 9


def test_parts_are_taken_as_they_are_needed():
    """No more than twice the workers are held: an endless list of parts can be summed in part."""
    taken = []

    def parts():
        for value in itertools.count():
            taken.append(value)
            yield value

    def stop(total, value):
        if value > 100:
            raise StopAsyncIteration
        return total + value

    with open_executor("2") as executor, pytest.raises(StopAsyncIteration):
        executor.map_reduce(work.square, parts(), stop)
    assert len(taken) <= 11 + 4


def test_a_process_that_dies_costs_its_part_alone(tmp_path):
    with open_executor("2") as executor:
        total = executor.map_reduce(partial(work.dies_once, str(tmp_path)), range(8))
        assert total == sum(range(8))
        assert (tmp_path / "killed").exists()
        with pytest.raises(WorkerError, match="died 4 times at 7 or a part beside it"):
            executor.map_reduce(work.dies, [7])


def test_no_part_is_an_error():
    with open_executor(None) as executor, pytest.raises(InputError, match="no part"):
        executor.map_reduce(work.square, [])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("0", "at least 1 is needed"),
        ("spark://here:1", "spark"),
        ("processes://many", "write a number of processes"),
        ("dask://127.0.0.1", "write dask://HOST:PORT"),
        ("dask://127.0.0.1:port", "write dask://HOST:PORT"),
        ("dask://10.1.2.3:8786", "10.1.2.3 is another machine.*dask.tls.*--insecure"),
        ("dask://scheduler.example:8786", "another machine"),
    ],
)
def test_what_cannot_be_an_executor_says_why(address, message):
    with pytest.raises(InputError, match=message), open_executor(address):
        pass


def test_addresses_are_written_as_dask_writes_them():
    assert executors._scheduler("dask+tls://far.example:8786", insecure=False).startswith("tls://")
    assert executors._scheduler("dask://10.1.2.3:1", insecure=True) == "tcp://10.1.2.3:1"
    assert executors._scheduler("dask://[::1]:8786", insecure=False).startswith("tcp://")


@pytest.mark.slow
def test_dask_sums_in_order_and_survives_kills(cluster, tmp_path):
    address, _, workers = cluster
    with open_executor(address) as executor:
        assert isinstance(executor, Executor)
        assert executor.workers == 2
        assert executor.map_reduce(work.slow_first, range(6)) == "0,1,2,3,4,5,"
        # The same part twice counts twice.
        assert executor.map_reduce(work.square, [3, 3]) == 18
        total = executor.map_reduce(partial(work.dies_once, str(tmp_path)), range(8))
        assert total == sum(range(8))
        assert (tmp_path / "killed").exists()
    assert all(worker.poll() is None for worker in workers)


@pytest.mark.slow
def test_dask_listens_on_this_machine_alone(cluster):
    """--no-dashboard would leave a server on 0.0.0.0 all the same: its address is given."""
    address, scheduler, workers = cluster
    with open_executor(address) as executor:
        executor.map_reduce(work.square, range(4))
        theirs = listening([p for one in (scheduler, *workers) for p in family(one.pid)])
        ours = listening([os.getpid()])
    assert theirs == {"0100007F"}
    assert not ours


@pytest.mark.slow
def test_a_cluster_of_our_own_listens_on_this_machine_alone_and_ends():
    pytest.importorskip("distributed")
    code = (
        "import os, sys\n"
        "from voirdire.executors import open_executor\n"
        "if __name__ == '__main__':\n"
        "    with open_executor('dask') as executor:\n"
        "        print(executor.map_reduce(abs, [-1, 2]), flush=True)\n"
        "        sys.stdin.readline()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "3\n"
        pids = family(process.pid)
        assert listening(pids) == {"0100007F"}
        process.communicate("\n", timeout=120)
    assert process.returncode == 0
    end = time.monotonic() + 10
    while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in pids):
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_executors_are_plugins():
    assert {"here", "threads", "processes", "dask", "dask+tls"} <= set(plugins().names("executor"))
