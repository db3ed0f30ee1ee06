"""Reading and auditing: the five published workbooks, and 3.5 million ratings in Parquet.

    python benchmarks/tables.py            # prints the figures and writes results/tables.md

Each job runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _help import help_asked

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "tables.md"
ATTRIBUTES = (
    "Guidance",
    "Informativeness",
    "Relevance",
    "Safety",
    "Empathy",
    "Helpfulness",
    "Understanding",
)
ITEMS, SYSTEMS, RATERS = 10_000, 10, 5


def shared_folder() -> Path:
    """Where the published workbooks lie."""
    return Path(os.environ.get("VOIRDIRE_SHARED", ROOT.parent / "shared"))


def write_large(path: Path) -> None:
    """100,000 responses x 7 attributes x 5 raters, a row a rating, shuffled, with blanks."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(20250)
    axes = [
        pl.DataFrame({"rater": ["human", *(f"judge{i}" for i in range(1, RATERS))]}),
        pl.DataFrame({"item": [f"c{i:05d}" for i in range(ITEMS)]}),
        pl.DataFrame({"system": [f"system{i}" for i in range(SYSTEMS)]}),
        pl.DataFrame({"attribute": list(ATTRIBUTES)}),
    ]
    grid = axes[0]
    for axis in axes[1:]:
        grid = grid.join(axis, how="cross")
    scores = rng.integers(1, 6, grid.height).astype(float)
    scores[rng.random(grid.height) < 0.001] = 0
    scores[rng.random(grid.height) < 0.002] = np.nan
    frame = grid.with_columns(
        run=pl.lit(1, dtype=pl.Int32), score=pl.Series(scores, nan_to_null=True)
    )
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(path)


def large_study(path: Path):
    """The study over that file."""
    from voirdire.study import build_study

    return build_study(
        {
            "name": "large",
            "data": {"sources": [{"path": str(path)}], "reference": ["human"]},
            "rubric": {"scale": [1, 5], "attributes": list(ATTRIBUTES)},
        }
    )


def workbooks_study():
    """The study over the five published workbooks."""
    from voirdire_plugins.mentalalign.benchmark import BENCHMARK

    return BENCHMARK.study(shared_folder() / "data" / "mentalalign70k")


def job(name: str, path: str) -> None:
    """One measured job; prints its figures as JSON."""
    from voirdire.tables import audit, read_tables

    study = large_study(Path(path)) if name == "large" else workbooks_study()
    if name == "workbooks":
        read_tables(study)
    start = time.perf_counter()
    tables = read_tables(study)
    read = time.perf_counter() - start
    findings = audit(tables, study)
    print(
        json.dumps(
            {
                "ratings": tables.ratings.height,
                "read": read,
                "audit": time.perf_counter() - start - read,
                "findings": len(findings),
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def measured(name: str, path: str = "") -> dict[str, float]:
    """A job in a fresh process."""
    command = [sys.executable, __file__, name, path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(rows: dict[str, dict[str, float]]) -> str:
    """The figures as Markdown."""
    how = (
        f"`python benchmarks/tables.py`, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}. Each job in a process of its own; peak memory is that "
        f"process's resident set, imports included. The workbooks are read once before (warm)."
    )
    lines = [
        "# Reading and auditing",
        "",
        how,
        "",
        "| job | ratings | read and parse (s) | audit (s) | together (s) | peak (MiB) |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        both = row["read"] + row["audit"]
        lines.append(
            f"| {name} | {row['ratings']:,} | {row['read']:.2f} | {row['audit']:.2f} | "
            f"{both:.2f} | {row['peak_mib']:,.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run both jobs, print and write the figures."""
    rows = {}
    if (shared_folder() / "data" / "mentalalign70k").is_dir():
        rows["five workbooks of raw replies"] = measured("workbooks")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        write_large(path)
        rows[f"long Parquet, {path.stat().st_size / 2**20:.0f} MiB"] = measured("large", str(path))
    text = report(rows)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    if len(sys.argv) > 1:
        job(sys.argv[1], sys.argv[2])
    else:
        main()
