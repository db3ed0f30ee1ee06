"""Three of our numbers beside what somebody who knows NumPy would write: time and memory.

    python benchmarks/peers.py                # writes results/peers.md

Each peer is one product of matrices or one draw of counts: no loop over resamples, no labels drawn
one by one. Processor time of all threads, in turns, the best of five; each measure repeats its work
until it takes a fifth of a second. Memory is what is allocated at most (tracemalloc), by a run of
its own. That both find the same is checked first, within what chance allows.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _timing import machine, table, versions

from voirdire.stats import icc_batch, icc_systems_batch, simulate_random_f1

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).resolve().parent / "results" / "peers.md"
PAIRS, SYSTEMS, ITEMS, RESAMPLES, ROUNDS = 28, 9, 1000, 1000, 5
#: Sharma et al., Table 8, GPT-4 at 0.5, ranked prompt: ten distortions and No Distortion.
SUPPORT = np.array([103, 959, 218, 53, 274, 8, 211, 159, 656, 45, 708])


def icc_of(x: Any, y: Any, xx: Any, yy: Any, xy: Any, n: Any) -> tuple[Any, Any]:
    """ICC(C,1) and ICC(A,1) of two raters from sums."""
    total, n = x + y, np.asarray(n, dtype=float)
    rows = (xx + yy + 2 * xy) / 2 - total**2 / (2 * n)
    columns = (x**2 + y**2) / n - total**2 / (2 * n)
    error = xx + yy - total**2 / (2 * n) - rows - columns
    r, c, e = rows / (n - 1), columns, error / (n - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (r - e) / (r + e), (r - e) / (r + e + 2 * (c - e) / n)


def matrices() -> np.ndarray:
    """28 times nine systems and two raters."""
    rng = np.random.default_rng(1)
    quality = rng.normal(4, 0.5, (PAIRS, SYSTEMS, 1))
    return quality + rng.normal(0, 0.2, (PAIRS, SYSTEMS, 2))


def counts_times_products(means: np.ndarray) -> np.ndarray:
    """Percentile bounds of all pairs: counts of resampled systems times products, in one matmul."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(SYSTEMS, np.full(SYSTEMS, 1 / SYSTEMS), RESAMPLES).astype(float)
    x, y = means[..., 0], means[..., 1]
    features = np.stack([x, y, x * x, y * y, x * y]).transpose(2, 0, 1)
    sums = (counts @ features.reshape(SYSTEMS, -1)).reshape(RESAMPLES, 5, -1)
    values = np.stack(icc_of(*sums.transpose(1, 0, 2), SYSTEMS))
    return np.nanquantile(values, [0.025, 0.975], axis=1)


def item_scores() -> list[np.ndarray]:
    """28 arrays of 1,000 items x 9 systems x 2 raters on 1..5, half a per cent missing."""
    rng = np.random.default_rng(2)
    level = np.linspace(2.5, 4.5, SYSTEMS)[:, None]
    shape = (ITEMS, SYSTEMS, 2)
    scores = []
    for _ in range(PAIRS):
        noisy = level + rng.normal(0, 0.7, (*shape[:2], 1)) + rng.normal(0, 0.5, shape)
        kept = rng.random(shape) > 0.005
        scores.append(np.where(kept, np.clip(np.round(noisy), 1, 5), np.nan))
    return scores


def items_by_matmul(scores: list[np.ndarray]) -> np.ndarray:
    """The bootstrap over items: counts of items times sums of systems, in one matmul."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), RESAMPLES).astype(float)
    every = np.stack(scores, axis=1)
    complete = ~np.isnan(every).any(axis=3, keepdims=True)
    parts = np.concatenate([np.where(complete, every, 0.0), complete], axis=3)
    sums = (counts @ parts.reshape(ITEMS, -1)).reshape(RESAMPLES, PAIRS, SYSTEMS, 3)
    x, y = (sums[..., side] / sums[..., 2] for side in (0, 1))
    products = [part.sum(axis=2) for part in (x, y, x * x, y * y, x * y)]
    return np.nanquantile(np.stack(icc_of(*products, SYSTEMS)), [0.025, 0.975], axis=1)


def multinomial_rows(support: np.ndarray) -> np.ndarray:
    """Weighted F1 of 1,000 random predictors: a row of the confusion matrix is one draw."""
    rng = np.random.default_rng(0)
    shares, n = support / support.sum(), support.sum()
    matrix = np.stack([rng.multinomial(row, shares, RESAMPLES) for row in support], axis=1)
    right, said = np.diagonal(matrix, axis1=1, axis2=2), matrix.sum(axis=1)
    return (2 * right / (said + support) * support).sum(axis=1) / n


def check(means: np.ndarray, scores: list[np.ndarray], support: np.ndarray) -> None:
    """Both sides find the same, within what 1,000 resamples allow."""
    for ours, theirs in (
        (icc_batch(means, ci="percentile"), counts_times_products(means)),
        (icc_systems_batch(scores), items_by_matmul(scores)),
    ):
        bounds = np.array(
            [[(one.intervals[-1].low, one.intervals[-1].high) for one in row] for row in ours]
        )  # type: ignore[attr-defined]
        gap = np.abs(np.moveaxis(bounds, 2, 0) - theirs.transpose(0, 2, 1)).mean()
        if gap > 0.05:
            raise SystemExit(f"bounds of resamples differ by {gap:.3f} on average")
    drawn = multinomial_rows(support)
    gap = abs(simulate_random_f1(support).value - drawn.mean())
    if gap > 5 * drawn.std() / RESAMPLES**0.5:
        raise SystemExit(f"random F1 differs by {gap:.5f}")


def repeated(work: Callable[[], Any]) -> int:
    """How often a work fits into a fifth of a second; it is warm then."""
    work()
    begun = time.process_time()
    work()
    return max(1, round(0.2 / max(time.process_time() - begun, 1e-4)))


def in_turns(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float]:
    """The least processor time of each, in turns."""
    works = [(work, repeated(work)) for work in (ours, peer)]
    taken: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for (work, times), into in zip(works, taken, strict=True):
            begun = time.process_time()
            for _ in range(times):
                work()
            into.append((time.process_time() - begun) / times)
    return min(taken[0]), min(taken[1])


def allocated(work: Callable[[], Any]) -> float:
    """MiB at most of a run."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def rows() -> list[list[str]]:
    """A line a work: both times, the ratio, both peaks."""
    means, scores = matrices(), item_scores()
    support = np.round(SUPPORT * 100_000 / SUPPORT.sum()).astype(np.int64)
    check(means, scores, support)
    works = (
        ("28 ICC pairs (9 x 2), C and A, 1,000 resamples", "counts times products in one matmul",
         lambda: icc_batch(means, ci="percentile"), lambda: counts_times_products(means)),
        ("bootstrap over 1,000 items, 28 pairs, 1,000 resamples", "counts of items in one matmul",
         lambda: icc_systems_batch(scores), lambda: items_by_matmul(scores)),
        ("random weighted F1, 1,000 runs, N = 100,000, 11 classes", "multinomial rows",
         lambda: simulate_random_f1(support), lambda: multinomial_rows(support)),
    )  # fmt: skip
    lines = []
    for work, name, ours, peer in works:
        mine, theirs = in_turns(ours, peer)
        lines.append(
            [
                work,
                name,
                f"{mine * 1e3:.2f} ms",
                f"{theirs * 1e3:.2f} ms",
                f"{theirs / mine:.1f}x",
                f"{allocated(ours):.1f}",
                f"{allocated(peer):.1f}",
            ]
        )
    return lines


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    head = ["work", "peer", "voirdire", "peer takes", "ratio", "MiB", "peer's MiB"]
    text = (
        f"# Beside peers at their best\n\n`python benchmarks/peers.py`, {machine()}, "
        f"{versions('numpy', 'numba')}. Processor time, in turns, the best of {ROUNDS}.\n\n"
        f"{table(head, rows())}\n"
    )
    given.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
