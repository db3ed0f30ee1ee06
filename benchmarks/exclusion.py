"""Self-exclusion and bias at 100,000 responses: the kernel beside NumPy, in one run.

    python benchmarks/exclusion.py        # prints the figures and writes results/exclusion.md

Four judges, seven attributes and ten systems, each judge under three rules: every system, without
its own, without its family. The sides are

- *pair by pair*: what `examine` did before: every judge and attribute is paired and summed by
  system with `bincount`, and `self_exclusion` computes ICC and bias under each rule;
- *NumPy at once*: one `bincount` over judges x attributes x systems for each sum, the mean squares
  as array expressions (the fastest NumPy that we know);
- *kernel*: `system_sums` and `under`, over the whole array, and over ten parts that are added up.

A second table is about random F1, which stays in NumPy: a compiled loop is slower there.
"""

from __future__ import annotations

import os
from pathlib import Path

import numba
import numpy as np
from _help import help_asked
from _timing import machine, median_seconds, seconds, table, versions

from voirdire import stats
from voirdire.stats import bias, icc, self_exclusion, system_sums

RESULTS = Path(__file__).resolve().parent / "results" / "exclusion.md"
JUDGES, ATTRIBUTES, SYSTEMS = 4, 7, 10


def panel(responses: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores that follow a quality, with gaps; reference (A, N), judges (J, A, N), systems (N,)."""
    rng = np.random.default_rng(7)
    system = np.arange(responses) % SYSTEMS
    quality = rng.normal(3.5, 0.8, (ATTRIBUTES, responses))
    judges = np.clip(np.round(quality + rng.normal(0.2, 0.6, (JUDGES, *quality.shape))), 1, 5)
    reference = np.clip(np.round(quality), 1, 5)
    judges[rng.random(judges.shape) < 0.002] = np.nan
    return judges, reference, system


#: Systems that each rule leaves out for each judge.
RULES = (
    [[] for _ in range(JUDGES)],
    [[str(j)] for j in range(JUDGES)],
    [[str(j), str(j + JUDGES)] for j in range(JUDGES)],
)


def pair_by_pair(judges: np.ndarray, reference: np.ndarray, system: np.ndarray) -> np.ndarray:
    """(rules, judges, attributes, 3): ICC(C,1), ICC(A,1) and bias."""
    out = np.empty((len(RULES), JUDGES, ATTRIBUTES, 3))
    names = np.arange(SYSTEMS).astype(str)
    for j in range(JUDGES):
        for a in range(ATTRIBUTES):
            both = ~np.isnan(judges[j, a]) & ~np.isnan(reference[a])
            counts = np.bincount(system[both], minlength=SYSTEMS)
            sums = [
                np.bincount(system[both], weights=side[both], minlength=SYSTEMS)
                for side in (reference[a], judges[j, a])
            ]
            means = np.stack(sums, axis=1) / counts[:, None]
            for q, rule in enumerate(RULES):
                options = {"systems": names, "excludes": rule[j]}
                for f, form in enumerate(("C,1", "A,1")):
                    excluded = self_exclusion(icc, means, form=form, ci=None, **options)
                    out[q, j, a, f] = excluded.after.value
                excluded = self_exclusion(bias, means[:, 1], means[:, 0], **options)
                out[q, j, a, 2] = excluded.after.value
    return out


def numpy_at_once(judges: np.ndarray, reference: np.ndarray, system: np.ndarray) -> np.ndarray:
    """The same from seven `bincount`s over all judges and attributes."""
    present = ~np.isnan(judges) & ~np.isnan(reference)
    code = (np.arange(JUDGES * ATTRIBUTES).reshape(JUDGES, ATTRIBUTES, 1) * SYSTEMS + system)[
        present
    ]
    x, y = np.broadcast_to(reference, judges.shape)[present], judges[present]
    columns = (None, x, y, x * x, y * y, x * y, (y - x) ** 2)
    shape = (JUDGES, ATTRIBUTES, SYSTEMS)
    sums = [np.bincount(code, weights=c, minlength=np.prod(shape)).reshape(shape) for c in columns]
    means = np.stack(sums[1:3], axis=-1) / sums[0][..., None]
    kept = [[[str(s) not in left_out for s in range(SYSTEMS)] for left_out in r] for r in RULES]
    weight = np.array(kept, dtype=float)[:, :, None, :, None]
    n = weight.sum(axis=3)[..., 0]
    grand = (weight * means).sum(axis=(3, 4)) / (2 * n)
    rows = means.mean(axis=-1) - grand[..., None]
    columns_of = (weight * means).sum(axis=3) / n[..., None] - grand[..., None]
    rest = means - grand[..., None, None] - rows[..., None] - columns_of[..., None, :]
    msr = 2 * (weight[..., 0] * rows**2).sum(axis=-1) / (n - 1)
    msc = n * (columns_of**2).sum(axis=-1)
    mse = (weight * rest**2).sum(axis=(3, 4)) / (n - 1)
    shift = columns_of[..., 1] - columns_of[..., 0]
    ratios = [(msr - mse) / (msr + mse), (msr - mse) / (msr + mse + 2 * (msc - mse) / n)]
    return np.stack([*ratios, shift], axis=-1)


def kernel(
    judges: np.ndarray, reference: np.ndarray, system: np.ndarray, parts: int = 1
) -> np.ndarray:
    """The same by `system_sums`, over parts that are added up."""
    names = [str(s) for s in range(SYSTEMS)]
    whole = None
    for part in np.array_split(np.arange(len(system)), parts):
        at = slice(part[0], part[-1] + 1)
        sums = system_sums(judges[..., at], reference[:, at], system[at], names=names)
        whole = sums if whole is None else whole + sums
    agreement = whole.under([whole.keeping(rule) for rule in RULES])
    return np.stack([agreement.icc_c1, agreement.icc_a1, agreement.bias], axis=-1)


@numba.njit(cache=False)
def _confusion(
    rng: np.random.Generator, truth: np.ndarray, shares: np.ndarray, runs: int, out: np.ndarray
) -> None:
    """out[r]: the confusion counts of a predictor that draws a label for every item."""
    edges = np.cumsum(shares)
    for r in range(runs):
        for label in truth:
            out[r, label, min(np.searchsorted(edges, rng.random()), len(shares) - 1)] += 1


def in_numpy() -> list[list[str]]:
    """Rows of work, NumPy's time and a compiled loop's."""
    rng = np.random.default_rng(0)
    counts = np.array([4100, 37900, 8600, 2100, 10800, 300, 8300, 6300, 25900, 1800, 27900])
    truth = np.repeat(np.arange(len(counts)), counts)
    runs, drawn = 20, np.zeros((20, len(counts), len(counts)))
    loop = median_seconds(lambda: _confusion(rng, truth, counts / counts.sum(), runs, drawn), 3)
    random_f1 = median_seconds(lambda: stats.simulate_random_f1(counts), 5)
    work = "random F1, 1,000 runs of {:,} items, 11 labels"
    return [
        [work.format(len(truth)), seconds(random_f1), seconds(loop * 1000 / runs)],
    ]


def main() -> None:
    """Measure the four sides, check that they agree, print and write the figures."""
    rows = []
    for responses in (1_000, 10_000, 100_000):
        data = panel(responses)
        sides = {
            "pair by pair": lambda data=data: pair_by_pair(*data),
            "NumPy at once": lambda data=data: numpy_at_once(*data),
            "kernel": lambda data=data: kernel(*data),
            "kernel, ten parts": lambda data=data: kernel(*data, parts=10),
        }
        expected = pair_by_pair(*data)
        gap = max(float(np.abs(side() - expected).max()) for side in sides.values())
        times = {name: median_seconds(side) for name, side in sides.items()}
        rows += [
            [f"{responses:,}", name, seconds(time), f"{time / times['kernel']:.1f}", f"{gap:.0e}"]
            for name, time in times.items()
        ]
    head = ("responses", "side", "time", "times the kernel", "largest difference")
    text = (
        "# Self-exclusion and bias: one kernel beside NumPy\n\n"
        f"`python benchmarks/exclusion.py`, {machine()}, {versions('numpy', 'numba')}. "
        f"{JUDGES} judges, {ATTRIBUTES} attributes, {SYSTEMS} systems, {len(RULES)} rules. "
        "Medians of 7 in one run; the differences are over both ICCs and the bias. "
        f"The load average was {os.getloadavg()[0]:.1f}.\n\n{table(head, rows)}\n\n"
        "## Where NumPy is faster\n\n"
        "Random F1 draws the counts of a confusion row instead of labels, so a loop over items has "
        "more to do (its time is that of 20 runs, times 50).\n\n"
        f"{table(('work', 'NumPy', 'compiled loop'), in_numpy())}\n"
    )
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    main()
