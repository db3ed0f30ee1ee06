"""3.5 million ratings in Parquet, from the file to the verdicts, through `voirdire.examine`.

    python benchmarks/large.py            # prints the figures and writes results/large.md

100,000 responses x 7 attributes x 5 raters are read, audited, paired and examined in a process of
its own, whose wall time and peak memory, imports included, are those of a user's first call.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from _help import help_asked
from _timing import machine, peak_mib, peak_of, table, versions
from tables import ATTRIBUTES, ITEMS, RATERS, SYSTEMS, large_study

RESULTS = Path(__file__).resolve().parent / "results" / "large.md"
RUNS = 3


def write_ratings(path: Path) -> None:
    """Scores that follow a quality of system and response, a row a rating, shuffled, with gaps."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(20250)
    raters = ["human", *(f"judge{i}" for i in range(1, RATERS))]
    shape = (RATERS, ITEMS, SYSTEMS, len(ATTRIBUTES))
    quality = rng.normal(3.5, 0.8, shape[1:]) + rng.normal(0, 0.5, (SYSTEMS, len(ATTRIBUTES)))
    bias = rng.normal(0, 0.3, (RATERS, 1, 1, len(ATTRIBUTES)))
    scores = np.clip(np.round(quality + bias + rng.normal(0, 0.6, shape)), 1, 5)
    scores[rng.random(shape) < 0.002] = np.nan
    names = (
        raters,
        [f"c{i:05d}" for i in range(ITEMS)],
        [f"system{i}" for i in range(SYSTEMS)],
        list(ATTRIBUTES),
    )
    at = dict(
        zip(
            ("rater", "item", "system", "attribute"), np.indices(shape, dtype=np.int32), strict=True
        )
    )
    columns = {key: pl.Series(names[i])[codes.ravel()] for i, (key, codes) in enumerate(at.items())}
    frame = pl.DataFrame(columns).with_columns(
        run=pl.lit(1, dtype=pl.Int32), score=pl.Series(scores.ravel(), nan_to_null=True)
    )
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(path)


def job(path: str) -> None:
    """Examine the file; prints the figures as JSON."""
    start = time.perf_counter()
    from voirdire import examine
    from voirdire.examining.source import adjust

    study = adjust(large_study(Path(path)), {"analysis": {"measures": ("icc", "alpha")}})
    examination = examine(study)
    counts = {
        "ratings": examination.ratings.height,
        "findings": len(examination.findings),
        "pairs": len(examination.results),
        "measures": len(examination.rated.measures),
        "verdicts": len(examination.verdicts),
    }
    figures = {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time(),
        "peak": peak_mib(),
    }
    print(json.dumps(figures | counts))


def report(size: float, rows: list[dict[str, float]]) -> str:
    """The figures as Markdown: the median run, and the worst of all."""
    one = rows[0]
    what = (
        f"{one['ratings']:,.0f} ratings ({size:.0f} MiB of Parquet) give {one['findings']:.0f} "
        f"findings, {one['pairs']:.0f} pairs of judge and attribute with ICC, bias and all "
        f"bootstraps, {one['measures']:.0f} coefficients over the panel (ICC and alpha "
        f"of each attribute) and {one['verdicts']:.0f} verdicts."
    )
    body = [
        [name, f"{statistics.median(values):{form}}", f"{max(values):{form}}", asked]
        for name, key, form, asked in (
            ("wall time, s", "seconds", ".2f", "10"),
            ("processor time, s", "processor", ".2f", ""),
            ("peak memory, MiB", "peak", ",.0f", "2,048"),
        )
        for values in [[row[key] for row in rows]]
    ]
    head = (
        f"`python benchmarks/large.py`, {machine()}, {versions('numpy', 'polars', 'numba')}. "
        f"{len(rows)} runs, each in a new process; imports count, compiled kernels are cached. "
        f"The load average was {os.getloadavg()[0]:.1f} (other work ran where it is above 2)."
    )
    columns = ["", "median", "worst", "asked: below"]
    return f"# From file to verdict\n\n{head}\n\n{what}\n\n{table(columns, body)}\n"


def main() -> None:
    """Write the file, examine it, print and write the figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        write_ratings(path)
        peak_of(__file__, str(path))
        rows = [peak_of(__file__, str(path)) for _ in range(RUNS)]
        text = report(path.stat().st_size / 2**20, rows)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    job(sys.argv[1]) if len(sys.argv) > 1 else main()
