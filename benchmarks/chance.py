"""The random predictor's weighted F1: confusion rows against drawn labels, in one run.

    python benchmarks/chance.py             # prints the tables and writes results/chance.md

The peer is what the paper did: np.random.choice for the labels, scikit-learn's f1_score for the
score, 1,000 times over (timed on a few runs and multiplied).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _help import help_asked
from _timing import machine, median_seconds, seconds, table, versions
from sklearn.metrics import f1_score

from voirdire import stats

RESULTS = Path(__file__).resolve().parent / "results" / "chance.md"
# Sharma et al., Table 8, GPT-4 at 0.5, ranked prompt: ten distortions and No Distortion.
TABLE_8 = np.array([103, 959, 218, 53, 274, 8, 211, 159, 656, 45, 708])
SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)


def support(n, classes=TABLE_8):
    """The shares of Table 8 at n items."""
    return np.round(classes * n / classes.sum()).astype(np.int64)


def peer_run(counts, rng):
    """One random predictor: labels drawn one by one."""
    truth = np.repeat(np.arange(len(counts)), counts)
    predicted = rng.choice(len(counts), len(truth), p=counts / counts.sum())
    return f1_score(truth, predicted, average="weighted", zero_division=0)


def against_peer():
    counts, rng = support(100_000), np.random.default_rng(0)
    ours = median_seconds(lambda: stats.simulate_random_f1(counts), 15)
    one = median_seconds(lambda: peer_run(counts, rng), 15)
    runs = np.array([peer_run(counts, rng) for _ in range(30)])
    simulated = stats.simulate_random_f1(counts)
    gap = abs(simulated.value - runs.mean()) / (runs.std(ddof=1) / np.sqrt(len(runs)))
    if gap > 4:
        raise RuntimeError(f"the simulations disagree by {gap:.1f} standard errors")
    ratio = f"{1000 * one / ours:,.0f}x"
    row = ["1,000 runs, N = 100,000, 11 classes", seconds(ours), seconds(1000 * one), ratio]
    return table(["work", "voirdire", "np.random.choice + f1_score", "ratio"], [row])


def against_size():
    rows = []
    labels = np.array([380, 947, 555, 73, 298, 31, 312, 217, 713, 80, 812])
    sets = (np.random.default_rng(1).random((2448, 11)) < labels / 2448).astype(np.int8)
    work = {
        "multi-class, 11": lambda n: stats.simulate_random_f1(support(n)),
        "multi-class, permuted": lambda n: stats.simulate_random_f1(support(n), draws="permuted"),
        "multi-label, separately": lambda n: stats.simulate_random_f1(
            np.round(labels * n / 2448).astype(int), n
        ),
        "theory, independent draws": lambda n: stats.random_f1(support(n), draws="independent"),
    }
    for name, call in work.items():
        rows.append([name, *(seconds(median_seconds(lambda n=n, c=call: c(n), 9)) for n in SIZES)])
    once = seconds(median_seconds(lambda: stats.simulate_random_f1_sets(sets), 3))
    return table(["1,000 runs", *(f"N = 10^{int(np.log10(n))}" for n in SIZES)], rows), once


def main():
    sizes, once = against_size()
    parts = [
        "# Chance baselines",
        (
            f"`python benchmarks/chance.py`, {machine()}, {versions('numpy', 'scikit-learn')}. "
            "Medians, warm, one thread; asked are 1,000x."
        ),
        against_peer(),
        "## Time against the number of items",
        sizes,
        f"Whole label sets of 2,448 items x 11 labels, 1,000 runs: {once}.",
    ]
    text = "\n\n".join(parts) + "\n"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    help_asked(__doc__)
    main()
