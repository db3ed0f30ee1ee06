"""How near each work is to its limit: ours beside a peer at its best, in turns, best of five.

    python benchmarks/limits.py                       # every row; writes results/limits.md
    python benchmarks/limits.py large judging --rounds 2 --out /tmp/limits.md
    python benchmarks/limits.py --small               # sizes a tenth, to see that all rows run

Every measurement is a process of its own: processor time of user and system, children included,
and the largest resident set are what the system says of it (`wait4`), imports included where the
row is a whole command. Where a row says *inner*, the process times its work alone after a warm-up.
A peer is what a person who knows the library would write by hand. Files are invented, and made
beforehand. Times on a busy machine are up to four times those of a quiet one.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _timing import machine, table, versions

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "limits.md"
VOIRDIRE = (sys.executable, "-m", "voirdire")
#: Both sides have as many threads: those of BLAS that wait for work count as work done.
THREADS = str(min(os.cpu_count() or 1, 2))
for _name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, THREADS)


@dataclass(frozen=True)
class Spent:
    """What one process took: processor and wall seconds, MiB at most, and what it printed."""

    cpu: float
    wall: float
    peak: float
    said: dict[str, Any]


def spent(*words: str, environment: dict[str, str] | None = None) -> Spent:
    """Run a command to its end; its last line may be JSON."""
    begun = time.perf_counter()
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **(environment or {})},
        ) as process,
    ):
        text = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{words}: exit {process.returncode}\n{errors.read()[-2000:]}")
    last = text.splitlines()[-1] if text.splitlines() else ""
    said = json.loads(last) if last.startswith("{") and last.endswith("}") else {}
    wall, cpu = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
    return Spent(cpu, wall, usage.ru_maxrss / 1024, said)


def job(name: str, *arguments: object) -> Spent:
    """One of the jobs below, in a process of its own."""
    return spent(sys.executable, __file__, "--job", name, *map(str, arguments))


def used() -> float:
    """Processor seconds of this process, its ended children included."""
    mine, theirs = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime


def exponent(sizes: list[float], costs: list[float]) -> float:
    """The power of the size by which the cost grows, least squares of logarithms."""
    x, y = ([math.log(value) for value in values] for values in (sizes, costs))
    return statistics.linear_regression(x, y).slope


@dataclass
class Bench:
    """How often and how large; the files that are made beforehand."""

    folder: Path
    rounds: int = 5
    small: bool = False
    lines: list[list[str]] = field(default_factory=list)

    def size(self, number: int) -> int:
        """A size, or a tenth of it."""
        return max(number // 10, 1) if self.small else number

    def turns(self, *works: Callable[[], Spent], rounds: int | None = None) -> list[list[Spent]]:
        """Each of the works in turn, so many rounds: all measurements of each."""
        taken: list[list[Spent]] = [[] for _ in works]
        for _ in range(rounds or self.rounds):
            for work, into in zip(works, taken, strict=True):
                into.append(work())
        return taken

    def say(self, work: str, measured: str, wanted: str, held: bool | None) -> None:
        """One line of the table, shown as soon as it is known."""
        word = {True: "yes", False: "no", None: ""}[held]
        self.lines.append([work, measured, wanted, word])
        print(f"{work}: {measured} (wanted: {wanted}) {word}", flush=True)


def best(taken: list[Spent], key: str = "cpu") -> float:
    """The least of them: what the work takes where nothing disturbs it."""
    return min(one.said[key] if key in one.said else getattr(one, key) for one in taken)


# --- rows


def large(bench: Bench) -> None:
    """3.5 million ratings in Parquet, from the file to the verdicts, by the command."""
    path = str(bench.folder / "large.parquet")
    ours = (*VOIRDIRE, "examine", path, "--reference", "human")
    command, reading, peer = bench.turns(
        lambda: spent(*ours),
        lambda: job("read", path),
        lambda: job("polars", path),
    )
    ratio, read = best(command) / best(peer), best(reading) / best(peer)
    bench.say(
        "3.5 million ratings, Parquet, to verdicts, the whole command",
        f"{best(command):.2f} CPU-s, {best(command, 'wall'):.2f} s, "
        f"{best(command, 'peak'):,.0f} MiB; Polars {best(peer):.2f} CPU-s: {ratio:.1f} times",
        "6 times, 1,229 MiB",
        ratio <= 6 and best(command, "peak") <= 1229,
    )
    bench.say(
        "the same: reading and auditing alone, imports included",
        f"{best(reading):.2f} CPU-s: {read:.1f} times",
        "3 times",
        read <= 3,
    )


def tidy(bench: Bench) -> None:
    """3.5 million ratings, from the file to tidy frames, Parquet and CSV, imports aside."""
    for file in ("large.parquet", "large.csv"):
        path = bench.folder / file
        ours, peer = bench.turns(
            lambda at=path: job("tidy", at), lambda at=path: job("grouped", at)
        )
        cpu = best(ours) / best(peer)
        memory = best(ours, "peak") / best(peer, "peak")
        bench.say(
            f"3.5 million ratings, {path.suffix[1:]}, to tidy frames",
            f"{best(ours):.2f} CPU-s, {best(ours, 'peak'):,.0f} MiB; Polars {best(peer):.2f} "
            f"CPU-s, {best(peer, 'peak'):,.0f} MiB: {cpu:.1f} times, {memory:.1f} times the memory",
            "3 times, 1.5 times the memory",
            cpu <= 3 and memory <= 1.5,
        )


def verdicts(bench: Bench) -> None:
    """28 pairs of judge and attribute on 10,000 responses, every component."""
    (taken,) = bench.turns(lambda: job("verdicts"))
    least = best(taken, "inner")
    bench.say(
        "verdicts, 28 x 10,000, all components (inner)", f"{least:.2f} s", "1.2 s", least < 1.2
    )


def systems(bench: Bench) -> None:
    """One case of many systems, and the command on many systems of ten items."""
    sizes = [bench.size(size) for size in (250, 500, 1000)]
    taken = [bench.turns(lambda size=size: job("case", size, 20, 3), rounds=3)[0] for size in sizes]  # type: ignore[misc]
    costs = [best(of, "inner") for of in taken]
    power, peak = exponent(list(map(float, sizes)), costs), best(taken[-1], "peak")
    bench.say(
        f"{sizes[-1]:,} systems x 20 items, one case (inner)",
        f"{costs[-1]:.2f} s, exponent {power:.2f}, {peak:,.0f} MiB",
        "exponent 1.3, bounded",
        power <= 1.3,
    )
    sizes = [bench.size(size) for size in (60, 120, 180)]
    paths = [bench.folder / f"systems{size}.csv" for size in sizes]
    for path, size in zip(paths, sizes, strict=True):
        job("systems_file", path, size)
    rounds = bench.turns(
        *(
            lambda path=path: spent(*VOIRDIRE, "examine", str(path), "--reference", "human")  # type: ignore[misc]
            for path in paths
        ),
        rounds=3,
    )
    costs = [best(of) for of in rounds]
    power = exponent(list(map(float, sizes)), costs)
    bench.say(
        "`examine`, 60, 120 and 180 systems x 10 items",
        ", ".join(f"{cost:.2f}" for cost in costs) + f" CPU-s, exponent {power:.2f}",
        "exponent 1.3",
        power <= 1.3,
    )


def humans(bench: Bench) -> None:
    """One case of 10 systems x 200 items, rated by 12 to 50 people."""
    sizes = [12, 25, 50]
    taken = [
        bench.turns(lambda size=size: job("case", 10, 200, size), rounds=3)[0] for size in sizes
    ]  # type: ignore[misc]
    costs = [best(of, "inner") for of in taken]
    power = exponent(list(map(float, sizes)), costs)
    bench.say(
        "50 humans, 10 systems x 200 items, one case (inner)",
        ", ".join(f"{cost:.2f}" for cost in costs) + f" s, exponent {power:.2f}",
        "exponent 1.2",
        power <= 1.2,
    )


def judging(bench: Bench) -> None:
    """Judgements at 256 and one at once, stored, beside a raw client, and their parts alone."""
    from throughput import measure  # needs the server of the tests

    sys.path.append(str(ROOT / "tests"))
    from wire_server import WireProcess

    count = bench.size(8000)
    with (
        WireProcess(latency=0.05) as server,
        WireProcess(latency=0.05, form="text") as texts,
    ):
        raw, ours, text, parts, single, one = [], [], [], [], [], []
        for _ in range(bench.rounds):
            raw.append(measure("aiohttp", count, 256, server))
            ours.append(measure("compatible", count, 256, server))
            text.append(measure("compatible", count, 256, texts))
            parts.append(job("parts", bench.size(5000)).said)
            single.append(measure("aiohttp", bench.size(300), 1, server))
            one.append(measure("compatible", bench.size(300), 1, server))
    cost = {
        name: min(row["cpu"] for row in rows)
        for name, rows in (
            ("raw", raw), ("ours", ours), ("text", text), ("one", one), ("single", single)
        )
    }  # fmt: skip
    piece = {key: min(row[key] for row in parts) for key in parts[0]}
    alone = cost["raw"] + sum(piece.values())
    rate = max(row["rate"] for row in ours) / max(row["rate"] for row in raw)
    named = ", ".join(f"{name} {value:.2f}" for name, value in piece.items())
    bench.say(
        "judging at 256, stored, JSON replies",
        f"{cost['ours']:.2f} CPU-s per 1,000; raw aiohttp {cost['raw']:.2f}, {named}: "
        f"{cost['ours'] / alone:.2f} of its parts; rate {rate:.2f} of raw",
        "1.3 of its parts, rate .75",
        cost["ours"] <= 1.3 * alone and rate >= 0.75,
    )
    ratio = cost["text"] / cost["ours"]
    bench.say(
        "the same, text replies",
        f"{cost['text']:.2f} CPU-s per 1,000: {ratio:.2f} times JSON",
        "1.5 times",
        ratio <= 1.5,
    )
    bench.say(
        "one call at once, 50 ms",
        f"{cost['one']:.2f} CPU-s per 1,000 (raw {cost['single']:.2f})",
        "2",
        cost["one"] <= 2,
    )


def faults(bench: Bench) -> None:
    """The rate where 6 % of the calls end in a plain 500."""
    from throughput import measure

    sys.path.append(str(ROOT / "tests"))
    from wire_server import WireProcess

    count, clean, faulty = bench.size(8000), [], []
    for _ in range(bench.rounds):
        with WireProcess(latency=0.05) as server:
            clean.append(measure("compatible", count, 256, server)["rate"])
            server.fault("server", times=None, every=17)
            faulty.append(measure("compatible", count, 256, server)["rate"])
    ratio = max(faulty) / max(clean)
    bench.say(
        "at 6 % plain 500s",
        f"{max(faulty):,.0f} a second beside {max(clean):,.0f}: {ratio:.2f}",
        ".8",
        ratio >= 0.8,
    )


def resume(bench: Bench) -> None:
    """A finished session is opened again, and nothing is left to ask."""
    sys.path.append(str(ROOT / "tests"))
    from wire_server import WireProcess

    with WireProcess(latency=0.0) as server:
        (taken,) = bench.turns(
            lambda: job("resume", server.openai, bench.size(20_000)), rounds=min(bench.rounds, 3)
        )
    run, again = best(taken, "run"), best(taken, "again")
    bench.say(
        "resume of a finished session of 20,000",
        f"{again:.2f} CPU-s of a run of {run:.2f}: {again / run:.2f}",
        ".1 of the run",
        again <= 0.1 * run,
    )
    (taken,) = bench.turns(lambda: job("again", bench.folder / "million"), rounds=2)
    bench.say(
        f"resume of {bench.size(1_000_000):,} finished tasks",
        f"{best(taken, 'again'):.2f} CPU-s, {best(taken, 'peak'):,.0f} MiB",
        "5 CPU-s",
        best(taken, "again") <= 5,
    )


def distinct(bench: Bench) -> None:
    """Judgements that are all different, as a layout of parts: 10 and 100 million."""
    rows = []
    for part in ("ten", "hundred"):
        ours = (*VOIRDIRE, "examine", str(bench.folder / part), "--reference", "human1")
        rows.append(
            bench.turns(
                lambda ours=ours: spent(*ours, "--reference", "human2", "--reference", "human3"),  # type: ignore[misc]
                rounds=2,
            )[0]
        )
    ten, hundred = (best(of) for of in rows)
    peak = best(rows[1], "peak")
    bench.say(
        f"{bench.size(100)} million judgements, distinct",
        f"{hundred:.1f} CPU-s, {best(rows[1], 'wall'):.1f} s, {peak:,.0f} MiB; a tenth: "
        f"{ten:.1f} CPU-s: {hundred / ten:.1f} times",
        "linear, 512 MiB",
        hundred <= 11 * ten and peak <= 512,
    )


def dask(bench: Bench) -> None:
    """Two workers of a cluster on this machine beside one process."""
    if not importlib.util.find_spec("distributed"):
        print("dask: not installed")
        return
    ours = (*VOIRDIRE, "examine", str(bench.folder / "ten"), "--reference", "human1,human2,human3")
    alone, both = bench.turns(
        lambda: spent(*ours, "--workers", "1"),
        lambda: job("dask", *ours),
        rounds=3,
    )
    ratio = best(both, "inner") / best(alone)
    bench.say(
        "two dask workers, scheduler and workers counted",
        f"{best(both, 'inner'):.1f} CPU-s in all, one process {best(alone):.1f}: {ratio:.2f} times",
        "1.3 times",
        ratio <= 1.3,
    )


def look(bench: Bench) -> None:
    """The page over a million ratings with texts: memory, and what each page takes."""
    path = str(bench.folder / "look.parquet")
    (taken,) = bench.turns(lambda: job("look", path), rounds=2)
    slow = max(best(taken, "matrix"), best(taken, "search"), best(taken, "grid"))
    bench.say(
        "`look`, a million ratings with texts",
        f"{best(taken, 'peak'):,.0f} MiB at most; grid {best(taken, 'grid'):.2f}, matrix "
        f"{best(taken, 'matrix'):.2f}, search {best(taken, 'search'):.2f} CPU-s; opening "
        f"{best(taken, 'opening'):.1f}",
        "300 MiB, .5 s",
        best(taken, "peak") <= 300 and slow <= 0.5,
    )


def user(bench: Bench) -> None:
    """A user's own input: a CSV of 100,000 ratings through the command line."""
    path = str(bench.folder / "own.csv")
    ours, peer, imports = bench.turns(
        lambda: spent(*VOIRDIRE, "examine", path, "--reference", "human"),
        lambda: job("pandas" if importlib.util.find_spec("pandas") else "polars_csv", path),
        lambda: spent(sys.executable, "-c", "import numpy, polars"),
    )
    bench.say(
        "100,000 ratings in a CSV, to verdicts, the whole command",
        f"{best(ours):.2f} CPU-s, {best(ours, 'peak'):,.0f} MiB; reading and means by group alone "
        f"{best(peer):.2f}; importing NumPy and Polars {best(imports):.2f}",
        "",
        None,
    )


ROWS: dict[str, tuple[Callable[[Bench], None], tuple[str, ...]]] = {
    "large": (large, ("large",)),
    "tidy": (tidy, ("large", "large_csv")),
    "verdicts": (verdicts, ()),
    "systems": (systems, ()),
    "humans": (humans, ()),
    "judging": (judging, ()),
    "faults": (faults, ()),
    "resume": (resume, ("million",)),
    "distinct": (distinct, ("ten", "hundred")),
    "dask": (dask, ("ten",)),
    "look": (look, ("look",)),
    "user": (user, ("own",)),
}


# --- jobs: each runs in a process of its own, and prints what it found


def job_read(path: str) -> dict[str, Any]:
    """Read and audit, no more."""
    from voirdire.examining.source import inputs_of, open_source

    inputs = inputs_of(open_source(path, reference=["human"]))
    return {"ratings": inputs.ratings.height}


def job_tidy(path: str) -> dict[str, Any]:
    """Read into tidy frames, no more."""
    from voirdire.tables import read_file

    begun = used()
    _, rated = read_file(path, reference=["human"])
    return {"ratings": rated.ratings.height, "cpu": used() - begun}


def job_grouped(path: str) -> dict[str, Any]:
    """The peer: read either kind of file, and group by response."""
    import polars as pl

    begun = used()
    frame = pl.read_csv(path) if path.endswith(".csv") else pl.read_parquet(path)
    means = frame.group_by("item", "system", "attribute").agg(pl.col("score").mean())
    return {"groups": means.height, "cpu": used() - begun}


def job_large_csv(path: str) -> dict[str, Any]:
    """The same ratings as text."""
    import polars as pl
    from large import write_ratings

    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "large.parquet"
        write_ratings(whole)
        pl.read_parquet(whole).write_csv(path)
    return {}


def job_polars(path: str) -> dict[str, Any]:
    """The peer: read, and group by response."""
    import polars as pl

    frame = pl.read_parquet(path)
    means = frame.group_by("item", "system", "attribute").agg(pl.col("score").mean())
    return {"groups": means.height}


def job_polars_csv(path: str) -> dict[str, Any]:
    """The peer: read a CSV, and means by rater and system."""
    import polars as pl

    return {"groups": pl.read_csv(path).group_by("rater", "system").agg(pl.mean("score")).height}


def job_pandas(path: str) -> dict[str, Any]:
    """The peer: read a CSV, and means by rater and system."""
    import pandas as pd

    return {"groups": len(pd.read_csv(path).groupby(["rater", "system"])["score"].mean())}


def scores_of(shape: tuple[int, int], raters: int, seed: int = 0) -> Any:
    """Scores on 1 to 5 of so many raters on systems x items: (raters, systems x items)."""
    import numpy as np

    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 0.4, (shape[0], 1)) + rng.normal(0, 0.8, shape)
    noise = rng.normal(0, 0.7, (raters, *shape))
    return np.clip(np.rint(quality + noise), 1, 5).reshape(raters, -1)


def case_of(systems: int, items: int, people: int, seed: int = 0) -> Any:
    """One judge beside so many humans."""
    import numpy as np

    from voirdire.examining.spec.scores.case import Case, GateRule

    scores = scores_of((systems, items), people + 1, seed)
    system, item = (part.ravel() for part in np.indices((systems, items)))
    names = tuple(f"human{number}" for number in range(people))
    return Case(
        "judge",
        "quality",
        names,
        scores[:1],
        scores[1:],
        item,
        4.0,
        systems=system,
        gate=GateRule(4.0),
    )


def timed_cases(cases: list[Any], rounds: int) -> dict[str, float]:
    """The least processor time of all components of these cases, after one that is not counted."""
    from voirdire.examining.spec import COMPONENTS
    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.study import Margins

    if len(ScoreGround(case_of(10, 50, 3), Margins()).all()) < 10 or not COMPONENTS:
        raise SystemExit("no component is there to be timed")
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        for case in cases:
            ScoreGround(case, Margins()).all()
        taken.append(time.process_time() - begun)
    return {"inner": min(taken)}


def job_verdicts() -> dict[str, Any]:
    """28 pairs on 10,000 responses."""
    return timed_cases([case_of(10, 1000, 1, seed) for seed in range(28)], 3)


def job_case(systems: str, items: str, people: str) -> dict[str, Any]:
    """One case."""
    return timed_cases([case_of(int(systems), int(items), int(people))], 1)


def job_systems_file(path: str, systems: str) -> dict[str, Any]:
    """A table of a judge and a human on so many systems of ten items."""
    import numpy as np
    import polars as pl

    scores = scores_of((int(systems), 10), 2)
    system, item = (part.ravel() for part in np.indices((int(systems), 10)))
    frame = pl.DataFrame({"item": item, "system": system, "judge": scores[0], "human": scores[1]})
    frame.with_columns(
        pl.format("i{}", "item").alias("item"), pl.format("s{}", "system").alias("system")
    ).write_csv(path)
    return {}


def a_reply() -> str:
    """A judge's reply on the built-in rubric."""
    return json.dumps({
        "Guidance": 4, "Informativeness": 3, "Relevance": 4, "Safety": 5, "Empathy": 4,
        "Helpfulness": 4, "Understanding": 3, "Overall": 4, "Explanation": "A warm answer.",
    })  # fmt: skip


def job_parts(count: str) -> dict[str, Any]:
    """Processor seconds per 1,000 of each part of a judgement but the call."""
    import threading

    from store import STUDY

    from voirdire._manager import plugins
    from voirdire.schema import Item, Rating, Reply, Response, Usage
    from voirdire.store.raters import participants
    from voirdire.store.records import Attempt, Finish, Slot, make_call
    from voirdire.store.session import open_session
    from voirdire.store.tasks import take_items, take_responses
    from voirdire.study import build_study, study_to_toml

    number = int(count)
    said = a_reply()
    study = build_study({**STUDY, "panel": STUDY["panel"][:1]})  # type: ignore[index]
    participant = participants(study, plugins())[0]
    tasks = [
        Rating(
            Item(f"i{n}", f"I have slept badly for {n} nights and worry about work."),
            Response(f"i{n}", "x", f"That sounds tiring. Keep a fixed bedtime for {n} days. " * 4),
        )
        for n in range(number)
    ]
    spent: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        begun = time.process_time()
        value = work()
        spent[name] = (time.process_time() - begun) / number * 1000
        return value

    participant.rater.requests(tasks[0])
    requests = timed("asking", lambda: [participant.rater.requests(task)[0] for task in tasks])
    reply = Reply(said, usage=Usage(100, 20), latency=0.05, model="m", params={"model": "m"})
    participant.rater.parse([reply])
    timed("reading", lambda: [participant.rater.parse([reply]) for _ in tasks])
    with tempfile.TemporaryDirectory() as folder:
        done, written = threading.Event(), [0]

        def committed(group: Any) -> None:
            written[0] += len(group)
            if written[0] >= 2 * number:
                done.set()

        with open_session(Path(folder) / "s", study, study_to_toml(study)) as session:
            take_items(session.connection, ((task.item, "") for task in tasks))
            take_responses(session.connection, (task.response for task in tasks), "file")

            def store() -> None:
                session.start(committed)
                for at, (task, request) in enumerate(zip(tasks, requests, strict=True)):
                    slot = Slot(participant.id, task.item.id, "x")
                    call = make_call(slot, request)
                    session.put(Attempt(call, time.time(), reply))
                    session.put(Finish((call.key,), "ok", slot=slot))
                    while at % 250 == 0 and session.given - written[0] > 1_000:
                        time.sleep(0.001)
                done.wait(60)

            timed("storing", store)
            session.stop()
    return spent


def job_resume(url: str, count: str) -> dict[str, Any]:
    """A run of so many judgements, then the same again, in one process."""
    from throughput import run_compatible, write_inputs

    from voirdire.running import run

    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        warm = folder / "warm"
        warm.mkdir()
        run_compatible(url, 8, 8, warm)
        write_inputs(folder, int(count))
        begun = used()
        run_compatible(url, int(count), 256, folder)
        ran, begun = used() - begun, used()
        result = run(study_of(folder, url), folder / "session", resume=True, quiet=True)
        left = sum(rater.calls for rater in result.raters)
        return {"run": ran, "again": used() - begun, "calls": left}


def job_again(folder: str) -> dict[str, Any]:
    """A finished session opened again by the function that runs a study."""
    from voirdire.running import run

    begun = used()
    result = run(study_of(Path(folder)), Path(folder) / "session", resume=True, quiet=True)
    if not result.complete:
        raise SystemExit("something was left to ask")
    return {"again": used() - begun}


def job_million(folder: str, count: str) -> dict[str, Any]:
    """A finished session of so many tasks, without a server: every task has a reply on file."""
    import threading

    from throughput import write_inputs

    from voirdire._manager import plugins
    from voirdire.running._prepare import RunOptions, chosen, priced_panel, take_inputs
    from voirdire.schema import Reply, Usage
    from voirdire.store.records import Attempt, Finish, Slot, make_call
    from voirdire.store.session import open_session
    from voirdire.store.tasks import iterate_tasks
    from voirdire.study import study_to_toml

    at, room = Path(folder), threading.Semaphore(5_000)
    at.mkdir()
    write_inputs(at, int(count))
    study = study_of(at)
    panel = priced_panel(study, at / "session", plugins())
    asking, options = chosen(panel, None), RunOptions(quiet=True)
    usage = Usage(100, 20)
    said = a_reply()

    def committed(group: Any) -> None:
        room.release(len(group))

    with open_session(
        at / "session",
        study,
        study_to_toml(study),
        take=lambda connection: take_inputs(connection, study, asking, options, at / "session"),
    ) as session:
        session.start(committed)
        for about, task in iterate_tasks(session.connection, "rating", study.comparisons):
            slot = Slot(asking[0].id, *about[:3], unit=about.unit)
            call = make_call(slot, asking[0].rater.requests(task)[0])
            room.acquire()
            session.put(Attempt(call, time.time(), Reply(said, usage=usage, model="gpt-4o")))
            room.acquire()
            session.put(Finish((call.key,), "ok", slot=slot))
        session.stop()
    job_again(folder)  # derives the tables, and leaves the seal
    return {"tasks": int(count)}


def study_of(folder: Path, url: str = "http://127.0.0.1:9/v1") -> Any:
    """The study that `throughput` runs."""
    from voirdire.study import build_study

    judge = {
        "name": "gpt", "use": "rubric", "model": "compatible:gpt-4o",
        "model_options": {"base_url": url, "structured": False},
    }  # fmt: skip
    raw = {
        "name": "throughput", "panel": [judge], "rubric": {"use": "mentalalign"},
        "items": {"path": "items.parquet"}, "responses": {"path": "responses.parquet"},
        "run": {"concurrency": 256, "start_concurrency": 256},
    }  # fmt: skip
    return build_study(raw, folder=str(folder))


def job_large(path: str) -> dict[str, Any]:
    """The file of 3.5 million ratings."""
    from large import write_ratings

    write_ratings(Path(path))
    return {}


def job_ten(path: str, millions: str) -> dict[str, Any]:
    """A layout of parts, no two ratings the same."""
    from stream import write

    write(Path(path), int(millions), int(millions), "items")
    return {}


def job_look(path: str) -> dict[str, Any]:
    """Open the page on the file, and ask for its pages as a browser would."""
    import re
    from html import unescape
    from urllib.request import Request, urlopen

    with subprocess.Popen(
        [*VOIRDIRE, "look", path, "--reference", "human", "--with-text", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        line = next(line for line in server.stdout or () if "http://" in line)
        address = "http://" + line.partition("http://")[2].split()[0]
        base, _, token = address.partition("/?token=")
        cookie = {"Cookie": f"voirdire-look-{base.rpartition(':')[2]}={token}"}
        spent = {"opening": cpu_of(server.pid)}
        page = ""
        try:
            for name in ("grid", "matrix", "search"):
                begun = cpu_of(server.pid)
                with urlopen(Request(base + (page or "/"), headers=cookie), timeout=300) as answer:
                    text = answer.read().decode()
                spent[name] = cpu_of(server.pid) - begun
                if name == "grid":
                    page = unescape(re.search(r'"(/matrix\?[^"]+)"', text)[1])  # type: ignore[index]
                else:
                    page = page.replace("/matrix", "/list") + "&q=kind+answer"
            spent["peak"] = peak_of_process(server.pid)
        finally:
            server.terminate()
    return spent


def cpu_of(process: int) -> float:
    """Processor seconds of a running process."""
    parts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def peak_of_process(process: int) -> float:
    """MiB at most so far of a running process."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def job_look_file(path: str, ratings: str) -> dict[str, Any]:
    """A judge and a human on half as many responses, with question, answer and reason."""
    import numpy as np
    import polars as pl

    words = np.array(["alpha", "beta", "gamma", "delta", "slept", "badly", "kind", "answer"])
    drawn, responses = np.random.default_rng(0), int(ratings) // 2
    system = np.arange(responses) % 5
    human = np.clip(np.rint(3 + 0.1 * system + drawn.normal(0, 1, responses)), 1, 5)
    judge = np.clip(human + np.rint(drawn.normal(0, 0.6, responses)) - 2 * (system == 2), 1, 5)

    def texts(count: int, long: int) -> list[str]:
        return [" ".join(row) for row in words[drawn.integers(0, len(words), (count, long))]]

    item = np.arange(responses) // 5
    questions = pl.Series(texts(responses // 5 + 1, 30))
    pl.DataFrame({
        "item": [f"i{at}" for at in item], "system": [f"s{at}" for at in system],
        "judge": judge, "human": human, "question": questions[item],
        "answer": texts(responses, 30), "judge_reason": texts(responses, 15),
    }).write_parquet(path)  # fmt: skip
    return {}


def job_own(path: str, ratings: str) -> dict[str, Any]:
    """A long CSV: five raters, ten systems."""
    import numpy as np
    import polars as pl

    items = int(ratings) // 50
    scores = scores_of((10, items), 5)
    rater, system, item = (part.ravel() for part in np.indices((5, 10, items)))
    names = np.array(["human", "judge1", "judge2", "judge3", "judge4"])
    pl.DataFrame({
        "item": [f"i{at}" for at in item], "system": [f"s{at}" for at in system],
        "rater": names[rater], "score": scores.ravel(),
    }).write_csv(path)  # fmt: skip
    return {}


def job_dask(*command: str) -> dict[str, Any]:
    """The command on a cluster of two workers that is started for it; all of it is counted."""
    begun = used()
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    common = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "scheduler.json"
        words += [*common, "--port", "0", "--scheduler-file", str(place)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = subprocess.Popen(words, **quiet)  # type: ignore[call-overload]
        workers = []
        try:
            until = time.monotonic() + 120
            while not place.exists() and time.monotonic() < until:
                time.sleep(0.05)
            address = json.loads(place.read_text(encoding="utf-8"))["address"]
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, *common]
            worker += ["--nthreads", "1", "--no-nanny"]
            workers = [subprocess.Popen(worker, **quiet) for _ in range(2)]  # type: ignore[call-overload]
            time.sleep(5)
            subprocess.run(
                [*command, "--workers", f"dask://{address.partition('://')[2]}"],
                check=True,
                **quiet,
            )  # type: ignore[call-overload]
        finally:
            for process in (*workers, scheduler):
                process.terminate()
            for process in (*workers, scheduler):
                process.wait()
    return {"inner": used() - begun}


# --- running


def run_job(name: str, *arguments: str) -> None:
    """Print what a job finds as one line of JSON."""
    print(json.dumps(globals()[f"job_{name}"](*arguments)))


#: The files that rows need: the job that makes each, and its arguments after the path.
FILES: dict[str, tuple[str, str, Callable[[Bench], tuple[int, ...]]]] = {
    "large": ("large", "large.parquet", lambda bench: ()),
    "large_csv": ("large_csv", "large.csv", lambda bench: ()),
    "million": ("million", "million", lambda bench: (bench.size(1_000_000),)),
    "ten": ("ten", "ten", lambda bench: (bench.size(10),)),
    "hundred": ("ten", "hundred", lambda bench: (bench.size(100),)),
    "look": ("look_file", "look.parquet", lambda bench: (bench.size(1_000_000),)),
    "own": ("own", "own.csv", lambda bench: (bench.size(100_000),)),
}


def prepared(bench: Bench, rows: list[str], at_once: int) -> None:
    """Make the files, several at once; nothing is measured meanwhile."""
    wanted = {name for row in rows for name in ROWS[row][1]}

    def made(name: str) -> None:
        kind, file, sizes = FILES[name]
        if not (bench.folder / file).exists():
            job(kind, bench.folder / file, *sizes(bench))

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(made, sorted(wanted)))


def report(bench: Bench) -> str:
    """The table as Markdown."""
    load = os.getloadavg()[0]
    head = (
        f"`python benchmarks/limits.py`, {machine()}, {versions('numpy', 'polars', 'numba')}. "
        f"{THREADS} threads on each side. Each process alone, in turns with its peer, the best of "
        f"{bench.rounds} (of 2 or 3 where it takes long). The load average was {load:.1f} at the "
        "end."
    )
    columns = ["work", "measured", "wanted", "held"]
    return f"# Limits\n\n{head}\n\n{table(columns, bench.lines)}\n"


def main() -> None:
    """Measure the rows asked for, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[[], *ROWS], default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="sizes a tenth")
    parser.add_argument("--folder", type=Path, help="where the files lie, and stay")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=4, help="files made at once")
    given = parser.parse_args()
    rows = given.rows or list(ROWS)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.folder or Path(folder), given.rounds, given.small)
        bench.folder.mkdir(exist_ok=True, parents=True)
        prepared(bench, rows, given.jobs)
        for row in rows:
            try:
                ROWS[row][0](bench)
            except Exception:  # noqa: BLE001 - one row that cannot be measured costs no other
                traceback.print_exc()
                bench.say(row, "could not be measured", "", None)
            given.out.write_text(report(bench), encoding="utf-8")
    print(given.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        run_job(sys.argv[2], *sys.argv[3:])
    else:
        main()
