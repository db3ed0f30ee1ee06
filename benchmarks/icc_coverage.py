"""How often the 95 % intervals of ICC hold the truth, at the nine systems of the published study.

    python benchmarks/icc_coverage.py          # prints the table and writes results/coverage.md

Seeded. n = 9 subjects, k = 2 raters, true ICC(C,1) of 0.3, 0.7 and 0.9. Subjects are normal, or
piled up under a ceiling (exponentially below it, same variance); each with an unbiased judge and
with one that is 1.5 error SDs too lenient (true ICC(A,1) lower, σ²r the variance of the two rater
effects).

(A file named coverage.py beside it would hide the package of that name from numba.)
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats import icc_batch

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).resolve().parent / "results" / "coverage.md"
N, K, BLOCK = 9, 2, 50
METHODS = ("f", "percentile", "bca", "exact", "exact_bca")
FORMS = ("C,1", "A,1")
LENIENT = 1.5


READING = (
    "Reading: the F interval holds its level for normal subjects and errs on the safe side for "
    "ICC(A,1) with a biased judge; every bootstrap over nine subjects, enumerated or drawn, covers "
    "too seldom, and BCa mends nothing at this size. Under a ceiling the F interval covers too "
    "seldom as well, though no less than the bootstraps that drop nothing. Dropping values outside "
    "[0, 1] narrows the interval, and where its coverage rises it is because 0 became its floor. "
    "Lead with F, and look at the subjects' distribution."
)


def normal(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Subjects as the F interval supposes them."""
    return rng.normal(size=size)


def under_a_ceiling(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Most subjects just under the ceiling, a few far below: mean 0, variance 1, skewness -2."""
    return 1 - rng.exponential(size=size)


WORLDS: dict[str, tuple[Callable, float]] = {
    "normal": (normal, 0.0),
    "normal, lenient judge": (normal, LENIENT),
    "under a ceiling": (under_a_ceiling, 0.0),
    "under a ceiling, lenient judge": (under_a_ceiling, LENIENT),
}


def simulate(
    world: str, rho: float, studies: int, seed: int
) -> tuple[np.ndarray, dict[str, float]]:
    """(studies, n, k) ratings and the true value of each form."""
    subjects, shift = WORLDS[world]
    rng = np.random.default_rng(seed)
    sd_error = np.sqrt(1 - rho)
    Y = np.sqrt(rho) * subjects(rng, (studies, N, 1)) + rng.normal(0, sd_error, (studies, N, K))
    Y[:, :, 1] += shift * sd_error
    var_raters = (shift * sd_error) ** 2 / 2
    return Y, {"C,1": rho, "A,1": rho / (1 + var_raters)}


def covered(Y: np.ndarray, truth: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """(forms, methods + 1): coverage and mean width; last with what is outside [0, 1] dropped."""
    hits, widths = (np.zeros((len(Y), len(FORMS), len(METHODS) + 1)) for _ in range(2))
    for start in range(0, len(Y), BLOCK):
        block = Y[start : start + BLOCK]
        plain = icc_batch(block, FORMS, ci=METHODS)
        compat = icc_batch(block, FORMS, ci="percentile", compat="badawi2025")
        for at, (row, dropped) in enumerate(zip(plain, compat, strict=True), start):
            for f, form in enumerate(FORMS):
                intervals = [*row[f].intervals, *dropped[f].intervals]
                hits[at, f] = [i.low <= truth[form] <= i.high for i in intervals]
                widths[at, f] = [i.width for i in intervals]
    return hits.mean(axis=0), np.nanmean(widths, axis=0)


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--studies", type=int, default=2000)
    studies = parser.parse_args().studies
    head = [*METHODS, "badawi2025"]
    error = np.sqrt(0.95 * 0.05 / studies)
    lines = [
        "# Coverage of the 95 % intervals of ICC",
        "",
        (
            f"`python benchmarks/icc_coverage.py`: {studies:,} simulated studies a row, n = {N}, "
            f"k = {K}, 1,000 resamples; the standard error of a coverage of 0.95 is {error:.3f}. "
            "In brackets the mean width."
        ),
        "",
        "| subjects | form | true value | " + " | ".join(head) + " |",
        "|---" * (3 + len(head)) + "|",
    ]
    for number, world in enumerate(WORLDS):
        for step, rho in enumerate((0.3, 0.7, 0.9)):
            Y, truth = simulate(world, rho, studies, seed=10 * number + step)
            hits, widths = covered(Y, truth)
            for form, coverage, width in zip(FORMS, hits, widths, strict=True):
                cells = [f"{c:.3f} ({w:.2f})" for c, w in zip(coverage, width, strict=True)]
                lines.append(
                    f"| {world} | ICC({form}) | {truth[form]:.2f} | " + " | ".join(cells) + " |"
                )
                print(lines[-1], flush=True)
    text = "\n".join([*lines, "", READING]) + "\n"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
