"""What was tried to make a judgement cheaper, each beside the runner as it is, in turns.

    python benchmarks/pairs.py                        # writes results/pairs.md
    python benchmarks/pairs.py --count 2000 --rounds 3 --out /tmp/pairs.md

Each measurement is a process of its own against the server of the tests (50 ms latency, 256 calls
at once, one call at once where it says so). A pair is one run as it is and one changed run right
after it; the ratio is the middle one of the pairs. `uvloop` is measured where it is installed, and
eager tasks from Python 3.12 on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from _timing import machine, table, versions

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "pairs.md"
AT_ONCE = 256


def as_it_is() -> None:
    """Nothing is changed."""


def uvloop() -> None:
    """Another event loop."""
    import uvloop as other

    asyncio.set_event_loop_policy(other.EventLoopPolicy())


def eager_tasks() -> None:
    """Tasks begin at once, and one that awaits nothing never meets the loop."""

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self):
            loop = super().new_event_loop()
            loop.set_task_factory(asyncio.eager_task_factory)
            return loop

    asyncio.set_event_loop_policy(Policy())


def larger_commits() -> None:
    """Four times as many records a commit, five times as long to gather them."""
    from voirdire.store import _writer

    _writer.GROUP, _writer.GATHER = 4 * _writer.GROUP, 5 * _writer.GATHER


def requests_once() -> None:
    """What asking costs at most: the requests lie ready, whatever the task is."""
    from voirdire_judges.rubric import RubricJudge

    made, plain = {}, RubricJudge.requests

    def ready(self, task):
        key = task.item.id
        if key not in made:
            made[key] = plain(self, task)
        return made[key]

    RubricJudge.requests = ready


#: What is changed, by name; whether it is there.
CHANGES = {
    "as it is": as_it_is,
    "uvloop": uvloop,
    "eager tasks": eager_tasks,
    "larger commits": larger_commits,
    "requests built before": requests_once,
}


def present(name: str) -> bool:
    """Whether a change can be made here."""
    if name == "uvloop":
        return find_spec("uvloop") is not None
    return name != "eager tasks" or hasattr(asyncio, "eager_task_factory")


def child(name: str, url: str, count: int, at_once: int, folder: str) -> None:
    """One run after a warm-up, with one change; its figures as JSON."""
    from throughput import cpu, run_compatible, write_inputs

    CHANGES[name]()
    warm = Path(folder) / "warm"
    warm.mkdir()
    write_inputs(warm, 8)
    run_compatible(url, 8, 8, warm)
    write_inputs(Path(folder), count)
    if name == "requests built before":
        ask_all(Path(folder), url, count)
    begun, began = cpu(), time.perf_counter()
    good = run_compatible(url, count, at_once, Path(folder))
    spent = {"good": good, "cpu": (cpu() - begun) / count * 1000}
    print(json.dumps(spent | {"rate": count / (time.perf_counter() - began)}))


def ask_all(folder: Path, url: str, count: int) -> None:
    """Have every request made, as the run will ask for it."""
    import polars as pl
    from limits import study_of

    from voirdire._manager import plugins
    from voirdire.schema import Item, Rating, Response
    from voirdire.store.raters import participants

    rater = participants(study_of(folder, url), plugins())[0].rater
    items = pl.read_parquet(folder / "items.parquet").rows()
    responses = pl.read_parquet(folder / "responses.parquet").rows()
    for (item, asked), (_, system, said) in zip(items[:count], responses, strict=False):
        rater.requests(Rating(Item(item, asked), Response(item, system, said)))


def measured(name: str, url: str, count: int, at_once: int) -> dict[str, float]:
    """One run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        words = (name, url, str(count), str(at_once), folder)
        done = subprocess.run(
            [sys.executable, __file__, "--child", *words],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    figures = json.loads(done.stdout.splitlines()[-1])
    if figures["good"] != count:
        raise SystemExit(f"{name}: {figures['good']} of {count} judgements are right")
    return figures


def in_turns(name: str, url: str, count: int, at_once: int, rounds: int) -> list[str]:
    """A row: the change beside the runner as it is."""
    pairs = [
        [measured(which, url, count, at_once) for which in ("as it is", name)]
        for _ in range(rounds)
    ]
    ratio = {
        key: statistics.median(changed[key] / plain[key] for plain, changed in pairs)
        for key in ("cpu", "rate")
    }
    least = [min(pair[side]["cpu"] for pair in pairs) for side in (0, 1)]
    each = ", ".join(f"{changed['cpu'] / plain['cpu']:.2f}" for plain, changed in pairs)
    return [
        f"{name}, {at_once} at once",
        f"{least[0]:.2f}",
        f"{least[1]:.2f}",
        f"{ratio['cpu']:.2f} ({each})",
        f"{ratio['rate']:.2f}",
    ]


def two_at_once(url: str, count: int, rounds: int) -> list[str]:
    """Two processes, each with its loop and half of the calls at once, on half of the tasks."""

    def halves() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            words = (url, str(count // 2), str(AT_ONCE // 2))
            both = [
                subprocess.Popen(
                    [sys.executable, __file__, "--child", "as it is", *words, folder],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for folder in (one, two)
            ]
            told = [json.loads(each.communicate()[0].splitlines()[-1]) for each in both]
        # Each began after its own imports and warm-up, so that their rates add up.
        return {
            "cpu": statistics.mean(each["cpu"] for each in told),
            "rate": sum(each["rate"] for each in told),
        }

    pairs = [[measured("as it is", url, count, AT_ONCE), halves()] for _ in range(rounds)]
    cpu, rate = (
        statistics.median(changed[key] / plain[key] for plain, changed in pairs)
        for key in ("cpu", "rate")
    )
    least = [min(pair[side]["cpu"] for pair in pairs) for side in (0, 1)]
    return [
        "two processes, each with its loop",
        f"{least[0]:.2f}",
        f"{least[1]:.2f}",
        f"{cpu:.2f}",
        f"{rate:.2f}",
    ]


def handing_over() -> str:
    """Processor time of giving records to another process, beside that of writing them here."""
    from limits import a_reply

    from voirdire.schema import Message, Reply, Request, Usage
    from voirdire.store._schema import TABLES
    from voirdire.store._writer import RowWriter, connect
    from voirdire.store.records import Attempt, Finish, RaterId, Slot, make_call

    rater, count = RaterId("judge", "gpt", "gpt-4o", "p"), 4000
    system = Message("system", "You judge answers. " * 60)
    records = []
    for at in range(count):
        slot = Slot(rater, f"i{at}", "x")
        request = Request((system, Message("user", f"Answer {at}: {'It helps to rest. ' * 18}")))
        call = make_call(slot, request)
        reply = Reply(a_reply(), usage=Usage(100, 20), latency=0.05, model="gpt-4o")
        records += [Attempt(call, time.time(), reply), Finish((call.key,), "ok", slot=slot)]

    def spent(work) -> float:
        taken = []
        for _ in range(3):
            begun = time.process_time()
            work()
            taken.append((time.process_time() - begun) / count * 1000)
        return min(taken)

    groups = [records[at : at + 512] for at in range(0, len(records), 512)]
    sent = [pickle.dumps(group, pickle.HIGHEST_PROTOCOL) for group in groups]
    giving = spent(lambda: [pickle.dumps(group, pickle.HIGHEST_PROTOCOL) for group in groups])
    taking = spent(lambda: [pickle.loads(group) for group in sent])

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "replies.sqlite"
            connection = connect(path)
            connection.executescript(TABLES)
            rows = RowWriter(connection, fresh=True)
            for group in groups:
                connection.execute("BEGIN")
                for record in group:
                    rows.write(record)
                connection.execute("COMMIT")
            connection.close()

    return (
        f"A writer in a process of its own: writing takes {spent(write):.3f} CPU-s per 1,000 "
        f"judgements in its thread here; giving the records away takes {giving:.3f} in this "
        f"process and {taking:.3f} in the other."
    )


def main() -> None:
    """Measure every pair and write the table."""
    if sys.argv[1:2] == ["--child"]:
        name, url, count, at_once, folder = sys.argv[2:]
        child(name, url, int(count), int(at_once), folder)
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    sys.path.append(str(ROOT / "tests"))
    from wire_server import WireProcess

    lines = []
    with WireProcess(latency=0.05) as server:
        for name in CHANGES:
            if name != "as it is" and present(name):
                lines.append(in_turns(name, server.openai, given.count, AT_ONCE, given.rounds))
                print(lines[-1], flush=True)
        one = max(given.count // 20, 20)
        lines += [
            in_turns(name, server.openai, one, 1, given.rounds)
            for name in ("uvloop", "eager tasks")
            if present(name)
        ]
        lines.append(two_at_once(server.openai, given.count, given.rounds))
    head = (
        f"`python benchmarks/pairs.py --count {given.count} --rounds {given.rounds}`, {machine()}, "
        f"{versions('aiohttp', 'orjson')}. CPU-s per 1,000 judgements, the least of all rounds; "
        "ratios are the middle of pairs, each in parentheses. The load average was "
        f"{os.getloadavg()[0]:.1f} at the end."
    )
    columns = ["changed", "as it is", "changed", "processor time", "rate"]
    text = f"# Pairs\n\n{head}\n\n{table(columns, lines)}\n\n{handing_over()}\n"
    given.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
