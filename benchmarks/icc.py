"""ICC bootstraps against pingouin in a loop, batched NumPy and plain loops, in one process.

    python benchmarks/icc.py           # prints the tables and writes results/icc.md

Peers: pip install pingouin. The 28 matrices are the published study's where ../shared (or
VOIRDIRE_SHARED) holds them, drawn ones of the same shape otherwise. Medians of processor time (all
threads together), which other work on the machine disturbs least; first calls in wall time. What is
extrapolated says so. Everything but products in BLAS runs on one thread.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from _help import help_asked

from voirdire.stats import icc_batch, icc_systems_batch

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "icc.md"
PAIRS, N, K, RESAMPLES, ITEMS = 28, 9, 2, 1000, 1000


def machine() -> str:
    """Processor, cores and versions, in one line."""
    import numba
    import scipy

    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return (
        f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}, scipy {scipy.__version__}"
    )


def median_of(work, repeats: int) -> float:
    """Median processor time, after one run to warm up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def the_28_matrices() -> np.ndarray:
    """System means of human and judge."""
    shared = Path(os.environ.get("VOIRDIRE_SHARED", ROOT.parent / "shared"))
    stored = shared / "reference" / "stats_reference.json"
    if stored.is_file():
        pairs = json.loads(stored.read_text())["real_28_pairs"]
        return np.array([pair["matrix"] for pair in pairs])
    rng = np.random.default_rng(1)
    return rng.normal(4, 0.5, (PAIRS, N, 1)) + rng.normal(0, 0.2, (PAIRS, N, K))


# Peers.


def pingouin_seconds(matrices: np.ndarray, calls: int = 60) -> float:
    """28 x 1,000 calls of pingouin.intraclass_corr, extrapolated from the median of some.

    One call gives every form; building its long table is not counted.
    """
    import warnings

    import pandas as pd
    import pingouin

    rng = np.random.default_rng(0)
    times = []
    for call in range(calls):
        Y = matrices[call % len(matrices)][rng.integers(0, N, N)]
        table = pd.DataFrame(
            {
                "subject": np.repeat(np.arange(N), K),
                "rater": np.tile(np.arange(K), N),
                "score": Y.ravel(),
            }
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            pingouin.intraclass_corr(table, "subject", "rater", "score")
            times.append(time.process_time() - start)
    return statistics.median(times) * PAIRS * RESAMPLES


def numpy_icc(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ICC(C,1) and ICC(A,1) of (B, n, k) in plain vectorised NumPy."""
    _, n, k = Y.shape
    grand = Y.mean(axis=(1, 2), keepdims=True)
    rows, columns = Y.mean(axis=2, keepdims=True), Y.mean(axis=1, keepdims=True)
    r = k * ((rows - grand) ** 2).sum(axis=(1, 2)) / (n - 1)
    c = n * ((columns - grand) ** 2).sum(axis=(1, 2)) / (k - 1)
    e = ((Y - rows - columns + grand) ** 2).sum(axis=(1, 2)) / ((n - 1) * (k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return (r - e) / (r + (k - 1) * e), (r - e) / (r + (k - 1) * e + k * (c - e) / n)


def numpy_percentile(matrices: np.ndarray) -> list:
    """Batched NumPy: all resamples of a matrix gathered at once."""
    rows = np.random.default_rng(0).integers(0, N, (RESAMPLES, N))
    return [np.nanquantile(numpy_icc(Y[rows]), [0.025, 0.975], axis=1) for Y in matrices]


def enumeration() -> tuple[np.ndarray, np.ndarray]:
    """Every multiset of N rows as row numbers, and its multinomial weight."""
    chosen = np.array(list(itertools.combinations_with_replacement(range(N), N)))
    counts = (chosen[:, :, None] == np.arange(N)).sum(axis=1)
    factorials = np.array([math.factorial(i) for i in range(N + 1)])
    return chosen, math.factorial(N) // factorials[counts].prod(axis=1)


def numpy_exact(matrices: np.ndarray, chosen: np.ndarray, weights: np.ndarray) -> list:
    """Batched NumPy enumeration with weighted quantiles by sorting."""
    bounds = []
    for Y in matrices:
        for values in numpy_icc(Y[chosen]):
            order = np.argsort(values)
            known = order[~np.isnan(values[order])]
            reached = np.cumsum(weights[known])
            at = np.searchsorted(reached, np.array([0.025, 0.975]) * reached[-1])
            bounds.append(values[known[at]])
    return bounds


def loop_systems(scores: list[np.ndarray], resamples: int) -> list:
    """Plain loop: draw items, average each system's complete responses, compute both ICCs."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(resamples):
        chosen = rng.integers(0, ITEMS, ITEMS)
        for one in scores:
            drawn = one[chosen]
            complete = ~np.isnan(drawn).any(axis=2, keepdims=True)
            sums = np.where(complete, drawn, 0.0).sum(axis=0)
            values.append(numpy_icc((sums / complete.sum(axis=0))[None]))
    return values


def item_scores() -> list[np.ndarray]:
    """28 arrays of 1,000 items x 9 systems x 2 raters on 1..5, half a per cent missing."""
    rng = np.random.default_rng(2)
    level = np.linspace(2.5, 4.5, N)[:, None]
    scores = []
    for _ in range(PAIRS):
        noisy = level + rng.normal(0, 0.7, (ITEMS, N, 1)) + rng.normal(0, 0.5, (ITEMS, N, K))
        kept = rng.random(noisy.shape) > 0.005
        scores.append(np.where(kept, np.clip(np.round(noisy), 1, 5), np.nan))
    return scores


# Tables.


def together(theirs, ours, repeats: int) -> tuple[float, float]:
    """Median processor times, taken in turns so that whatever else runs slows both."""
    times = ([], [])
    for turn in range(repeats + 1):
        for work, kept in zip((theirs, ours), times, strict=True):
            start = time.process_time()
            work()
            if turn:
                kept.append(time.process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def comparisons() -> list[tuple[str, str, float, float, float]]:
    """(work, peer, peer seconds, ours, the ratio that must be reached)."""
    matrices, scores, few = the_28_matrices(), item_scores(), 20
    chosen, weights = enumeration()

    def percentile():
        return icc_batch(matrices, ci="percentile")

    drawn = f"{PAIRS} pairs ({N}x{K}), C and A, {RESAMPLES:,} resamples"
    batched = together(lambda: numpy_percentile(matrices), percentile, 31)
    exact = together(
        lambda: numpy_exact(matrices, chosen, weights), lambda: icc_batch(matrices, ci="exact"), 7
    )
    looped, ours = together(lambda: loop_systems(scores, few), lambda: icc_systems_batch(scores), 7)
    return [
        (drawn, "pingouin, looped (extrapolated)", pingouin_seconds(matrices), batched[1], 50_000),
        (drawn, "batched NumPy", *batched, 8),
        (f"the same, exact ({len(weights):,} resamples)", "batched NumPy enumeration", *exact, 2),
        (
            f"cluster bootstrap, {ITEMS:,} items, {PAIRS} pairs, {RESAMPLES:,} resamples",
            "plain loop (extrapolated)",
            looped * RESAMPLES / few,
            ours,
            40,
        ),
    ]


def check() -> None:
    """The peers and we compute the same numbers."""
    matrices = the_28_matrices()
    chosen, weights = enumeration()
    ours = [one.interval() for row in icc_batch(matrices, ci="exact") for one in row]
    theirs = numpy_exact(matrices, chosen, weights)
    worst = max(abs(np.array([a.low, a.high]) - b).max() for a, b in zip(ours, theirs, strict=True))
    if worst > 1e-9:
        raise SystemExit(f"the exact bounds differ by {worst}")


def scaling() -> list[tuple[int, str, float, float]]:
    """(ratings, what, seconds, peak MiB allocated) for five raters on 1..5."""
    rows = []
    for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
        rng = np.random.default_rng(3)
        truth = rng.normal(3, 1, (size // 5, 1))
        Y = np.clip(np.round(truth + rng.normal(0, 0.7, (size // 5, 5))), 1, 5)
        for what, ci in (("F interval", "f"), ("percentile, 1,000 resamples", "percentile")):
            if ci == "percentile" and size > 1_000_000:
                continue
            seconds = median_of(lambda Y=Y, ci=ci: icc_batch([Y], ci=ci), 1 if size > 10**5 else 3)
            tracemalloc.start()
            icc_batch([Y], ci=ci)
            peak = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
            rows.append((size, what, seconds, peak))
    return rows


def bandwidth_floor() -> tuple[float, float]:
    """Seconds of the streaming kernel on counts of 100,000 x 160, and of copying its bytes."""
    from voirdire.stats._kernels_icc import weighted_sums

    counts = np.random.default_rng(0).integers(0, 3, (100_000, 160)).astype(np.float64)
    features = np.random.default_rng(1).normal(size=(1, 5, 100_000))
    out, target = np.empty((1, 5, 160)), np.empty_like(counts)
    kernel = median_of(lambda: weighted_sums(counts, features, out), 9)
    copied = median_of(lambda: np.copyto(target, counts), 9)
    return kernel, copied / 2  # a copy moves every byte twice, the kernel reads it once


def first_calls() -> list[tuple[str, float]]:
    """Wall time of the first call in a new process: nothing cached, then the cache warm."""
    code = (
        "import numpy as np, time; from voirdire.stats import icc_batch, icc_systems\n"
        "Y = np.arange(18.0).reshape(9, 2) ** 1.5 % 5; t = time.perf_counter()\n"
        "icc_batch([Y], ci=('f', 'percentile', 'exact', 'bca'))\n"
        "print(time.perf_counter() - t); t = time.perf_counter()\n"
        "icc_systems(np.repeat(Y[None], 30, 0)); print(time.perf_counter() - t)"
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for state in ("nothing cached", "cache warm"):
            done = subprocess.run(
                [sys.executable, "-c", code],
                check=True,
                capture_output=True,
                text=True,
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
            )
            batch, systems = map(float, done.stdout.split())
            rows += [
                (f"icc_batch with every bootstrap, {state}", batch),
                (f"icc_systems after it, {state}", systems),
            ]
    return rows


def main() -> None:
    """Print and write the tables."""
    check()
    lines = ["# ICC", "", f"`python benchmarks/icc.py` on {machine()}; processor time", ""]
    lines += ["| work | peer | peer | voirdire | ratio | at least |", "|---|---|---|---|---|---|"]
    for work, peer, theirs, ours, least in comparisons():
        lines.append(
            f"| {work} | {peer} | {readable(theirs)} | {readable(ours)} "
            f"| {theirs / ours:,.0f}x | {least:,}x |"
        )
    lines += ["", "| ratings (5 raters) | work | time | peak memory |", "|---|---|---|---|"]
    for size, what, seconds, peak in scaling():
        lines.append(f"| {size:,} | {what}, C and A | {readable(seconds)} | {peak:,.0f} MiB |")
    kernel, floor = bandwidth_floor()
    lines += [
        "",
        (
            f"Streaming kernel (5 sums of 100,000 rows in 160 resamples): {readable(kernel)}; "
            f"reading its bytes once at copy bandwidth: {readable(floor)} "
            f"({kernel / floor:.1f} times the floor, for five sums)."
        ),
        "",
        "| first call in a process | wall time |",
        "|---|---|",
    ]
    lines += [f"| {what} | {readable(seconds)} |" for what, seconds in first_calls()]
    text = "\n".join(lines) + "\n"
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text)


def readable(seconds: float) -> str:
    """Seconds with a unit."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:,.2f} s"


if __name__ == "__main__":
    help_asked(__doc__)
    main()
