"""Ratings as a stream: time, memory and errors of `voirdire examine` on the partitioned layout.

    python benchmarks/stream.py --millions 100 --distinct 20
    python benchmarks/stream.py --millions 100 --distinct 20 --kind clustered
    python benchmarks/stream.py --file 3.5
    python benchmarks/stream.py --file 3.5 --shuffled
    python benchmarks/stream.py --file 3.5 --loose
    python benchmarks/stream.py --errors

Invented ratings: five raters (three humans, two judges) on 1 to 5, whole numbers or (`--loose`) on
no grid.
Where `--distinct` is below `--millions`, parts are read again under other names, as a folder of
that size would be: their clusters then repeat by name, which the Poisson bootstrap notices (its
interval is too wide by about the root of the repeats) and the delta method does not.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

RATERS = ("human1", "human2", "human3", "judge_a", "judge_b")
MEASURES = (
    "icc_1,icc_c1,icc_a1,icc_1k,icc_ck,icc_ak,alpha,alpha_nominal,alpha_interval,fleiss,ac1,ac2,"
    "bp,agreement,bias,mae,rmse,loa_low,loa_high,ccc,pearson,cohen,qwk,f1"
)
KINDS = {"items": (1, 0), "clustered": (1, 10), "systems": (5, 0)}


def ratings(number: int, kind: str, rows: int = 1_000_000) -> pl.DataFrame:
    """Ratings of one batch."""
    systems, per_cluster = KINDS[kind]
    rng = np.random.default_rng(number)
    n = rows // len(RATERS)
    item, system = np.arange(n) // systems, np.arange(n) % systems
    shared = rng.normal(size=n // systems + 1)[item]
    true = 0.7 * shared + 0.7 * rng.normal(size=n) + 0.2 * system
    scores = np.clip(np.rint(3 + true[:, None] + rng.normal(0, 0.8, (n, len(RATERS)))), 1, 5)
    names = pl.Series(item + number * n).cast(pl.String).str.zfill(10)
    frame = pl.DataFrame(
        {
            "item": ("item-" + names)[np.repeat(np.arange(n), len(RATERS))],
            "rater": np.tile(RATERS, n),
            "attribute": "quality",
            "score": scores.ravel(),
        }
    )
    if systems > 1:
        of = np.repeat([f"system{at}" for at in system], len(RATERS))
        frame = frame.with_columns(system=pl.Series(of))
    if per_cluster:
        of = pl.Series(np.repeat((item + number * n) // per_cluster, len(RATERS)))
        frame = frame.with_columns(cluster="dialogue-" + of.cast(pl.String))
    return frame


def write(folder: Path, distinct: int, millions: int, kind: str) -> None:
    """A layout of so many parts, some of which are links to others."""
    from voirdire.tables.partitioned import write_layout

    batches = (ratings(number, kind) for number in range(distinct))
    begun = time.process_time()
    write_layout(batches, folder, rows=distinct * 1_000_000)
    print(f"written: {(time.process_time() - begun) / distinct:.2f} CPU-s a million")
    files = sorted(folder.rglob("part-*.parquet"))
    for number in range(millions // distinct - 1):
        for file in files:
            (file.parent / f"again{number:03d}-{file.name}").symlink_to(file)


def write_file(path: Path, millions: float, kind: str, *, shuffled: bool, loose: bool) -> None:
    """One Parquet file of so many ratings, by item or in any order."""
    parts = [ratings(number, kind) for number in range(int(np.ceil(millions)))]
    frame = pl.concat(parts)[: round(millions * 1e6)]
    if loose:
        off = np.random.default_rng(0).uniform(-0.4, 0.4, frame.height)
        frame = frame.with_columns(score=(pl.col("score") + pl.Series(off)).clip(1, 5))
    (frame.sample(fraction=1, shuffle=True, seed=0) if shuffled else frame).write_parquet(path)


def measured(source: str, *options: str) -> None:
    """One run of the command, as a user runs it: wall, processor time and peak memory."""
    words = [sys.executable, "-m", "voirdire", "examine", source, "--measure", MEASURES]
    words += [word for name in RATERS[:3] for word in ("--reference", name)]
    begun = time.monotonic()
    with subprocess.Popen([*words, *options], stdout=subprocess.PIPE, text=True) as process:
        text = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    wall, cpu = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
    print(
        f"examine {source} {' '.join(options)}: {wall:.1f} s, {cpu:.1f} CPU-s, "
        f"{usage.ru_maxrss / 1024:.0f} MiB at most, exit {status}"
    )
    print("\n".join(text.splitlines()[:8]))


def errors() -> None:
    """The delta method beside the jackknife, by clusters."""
    from voirdire.examining.spec import COEFFICIENTS
    from voirdire.stats.rating_patterns import count_patterns

    print("clusters, largest relative difference of standard errors (coefficient)")
    rng = np.random.default_rng(0)
    for n in (1_000, 10_000, 100_000, 1_000_000):
        scores = np.clip(np.rint(3 + rng.normal(size=(n, 1)) + rng.normal(0, 0.8, (n, 5))), 1, 5)
        patterns, _ = count_patterns(scores, [(name, 1) for name in RATERS])
        rows, count, worst = patterns.rows().by_rater(RATERS), patterns.counts, (0.0, "")
        for name, spec in COEFFICIENTS.items():
            if spec.summed is None:
                continue
            chosen = rows if spec.of == "all" else rows[:, [0, 3]]
            one = spec.summed(chosen.shape[1], [1.0, 2, 3, 4, 5])
            columns = one.columns(chosen)
            sums = (count[:, None] * columns).sum(axis=0)
            delta = np.sqrt(n / (n - 1) * (count @ (columns @ one.slopes(sums)) ** 2))
            off = one.statistic(sums - columns) - one.value(sums)
            mean = (count @ off) / n
            jackknife = np.sqrt((n - 1) / n * (count @ (off - mean) ** 2))
            worst = max(worst, (abs(float(delta / jackknife) - 1), name))
        print(f"{n:,}: {worst[0]:.1e} ({worst[1]})")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=int, default=10)
    parser.add_argument("--distinct", type=int, default=5)
    parser.add_argument("--kind", choices=KINDS, default="items")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--file", type=float, help="one file of so many million ratings")
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--loose", action="store_true", help="scores on no grid, in one file")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("rest", nargs="*", help="further options of voirdire examine, after --")
    given = parser.parse_args()
    print(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
    if given.errors:
        errors()
        return
    folder = given.folder or Path(tempfile.mkdtemp(prefix="stream-"))
    if given.file:
        path = folder / "ratings.parquet"
        write_file(path, given.file, given.kind, shuffled=given.shuffled, loose=given.loose)
        measured(str(path), "--streaming", *given.rest)
        shutil.rmtree(folder)
        return
    try:
        write(folder / "ratings", given.distinct, given.millions, given.kind)
        measured(str(folder / "ratings" / "**" / "*.parquet"), *given.rest)
    finally:
        if given.folder is None:
            shutil.rmtree(folder)
    print(
        f"children at most {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB"
    )


if __name__ == "__main__":
    main()
