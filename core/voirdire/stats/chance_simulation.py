"""Weighted F1 of a random predictor by simulation, at a cost that does not grow with the items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import check_draws, check_level, generator, numbers
from voirdire.stats._results import Estimate
from voirdire.stats.chance import Support, class_support
from voirdire.stats.intervals import percentile_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]


def simulate_random_f1(
    support: ArrayLike,
    n: int | None = None,
    *,
    draws: Literal["independent", "permuted"] = "independent",
    runs: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Weighted F1 of a random predictor, simulated: its mean, and how far single runs stray.

    Not labels but rows of the confusion matrix are drawn: the predictions of the items of one
    class are one multinomial (permuted: hypergeometric). The distribution is the same, and the
    cost does not depend on the number of items.

    Parameters
    ----------
    support, n
        As for `random_f1`. With `n` (multi-label) each label is drawn separately; for whole sets
        of labels see `simulate_random_f1_sets`: the same mean, another spread.
    draws : {"independent", "permuted"}
        Whether each prediction is drawn anew, or the true labels are permuted.
    runs : int
        Simulated predictors.
    level : float
        Coverage of the interval of single runs.
    seed : int
        Seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        The mean over runs. The interval (``"percentile"``) is that of single runs, not of the
        mean; details hold ``sd`` of runs, ``se`` of the mean, ``drawn`` and ``draws``.

    Raises
    ------
    StatisticsError
        For unfit supports, or permuted draws of more items than the hypergeometric bears (10^9).

    References
    ----------
    Sharma et al., appendix J.1 (1,000 runs of ``np.random.choice``).

    Examples
    --------
    >>> chance = simulate_random_f1([60, 30, 10])
    >>> print(f"{chance.value:.3f} {chance.details['sd']:.3f}")
    0.456 0.044
    """
    if draws not in {"independent", "permuted"}:
        raise StatisticsError(f"draws must be 'independent' or 'permuted', got {draws!r}")
    check_level(level)
    check_draws(runs)
    given = class_support(support, n)
    rng = generator(seed)
    name = f"random weighted F1 (simulated, {draws})"
    if not given.total:
        return Estimate(name, math.nan, k=given.k, left_out=given.n, reason="no_data")
    if given.multilabel:
        hits, predicted = _separate(given, draws, runs, rng)
    elif draws == "independent":
        hits, predicted = _independent(given, runs, rng)
    else:
        hits, predicted = _permuted(given, runs, rng)
    drawn = "labels, separately" if given.multilabel else "labels"
    return _summary(name, given, weighted_f1(given, hits, predicted), level, drawn, draws)


def simulate_random_f1_sets(
    Y: ArrayLike, *, runs: int = 1000, level: float = 0.95, seed: int = 0
) -> Estimate:
    """Weighted F1 of a predictor that draws whole sets of labels as they occur, simulated.

    Labels that go together stay together. The mean is that of separate draws, the spread is not.

    Parameters
    ----------
    Y : array_like, shape (n items, q labels)
        1 where an item has a label, 0 where not.
    runs, level, seed
        As for `simulate_random_f1`.

    Returns
    -------
    Estimate
        As from `simulate_random_f1`, with ``drawn`` = "sets".

    Raises
    ------
    StatisticsError
        For values other than 0 and 1.

    References
    ----------
    Sharma et al., appendix J.1.

    Examples
    --------
    >>> Y = [[1, 1, 0]] * 20 + [[0, 0, 1]] * 30 + [[1, 0, 0]] * 50
    >>> chance = simulate_random_f1_sets(Y, seed=1)
    >>> print(f"{chance.value:.3f} {chance.details['sd']:.3f}")
    0.516 0.039
    """
    check_level(level)
    check_draws(runs)
    labels = numbers(Y, "Y")
    if labels.ndim != 2 or not np.isin(labels, (0, 1)).all():
        raise StatisticsError("Y must be an (items, labels) array of 0 and 1")
    sets, counts = np.unique(labels.astype(np.int64), axis=0, return_counts=True)
    given = class_support(counts @ sets if len(labels) else np.zeros(labels.shape[1]), len(labels))
    name = "random weighted F1 (simulated, independent)"
    if not given.total:
        return Estimate(name, math.nan, k=given.k, left_out=given.n, reason="no_data")
    rng = generator(seed)
    # Rows cost the square of the different sets in each run, copies the items: the cheaper way.
    few = len(sets) ** 2 <= len(labels)
    draw = _sets_by_rows if few else _sets_by_items
    hits, predicted = draw(sets, counts, runs, rng)
    f1 = weighted_f1(given, hits, predicted)
    return _summary(name, given, f1, level, "sets", "independent")


def _sets_by_rows(
    sets: Counts, counts: Counts, runs: int, rng: np.random.Generator
) -> tuple[Counts, Counts]:
    """Few different sets: the items of one true set are one multinomial over predicted sets."""
    hits = np.zeros((runs, sets.shape[1]), np.int64)
    predicted = np.zeros_like(hits)
    for truth, size in zip(sets, counts, strict=True):
        named = rng.multinomial(size, counts / counts.sum(), size=runs) @ sets
        predicted += named
        hits += named * truth
    return hits, predicted


def _sets_by_items(
    sets: Counts, counts: Counts, runs: int, rng: np.random.Generator
) -> tuple[Counts, Counts]:
    """Nearly as many sets as items: each run copies the set of an item drawn for each item."""
    # Bytes: a million items of forty labels are drawn a thousand times over.
    labels = np.repeat(sets.astype(np.uint8), counts, axis=0)
    hits = np.zeros((runs, sets.shape[1]), np.int64)
    predicted = np.zeros_like(hits)
    for run in range(runs):
        named = labels[rng.integers(0, len(labels), len(labels))]
        predicted[run] = named.sum(axis=0, dtype=np.int64)
        hits[run] = (named & labels).sum(axis=0, dtype=np.int64)
    return hits, predicted


def weighted_f1(given: Support, hits: Counts, predicted: Counts) -> NDArray[np.float64]:
    """Weighted F1 of each run from hits and predictions (runs, classes)."""
    whole = given.counts + predicted
    f1 = np.divide(2.0 * hits, whole, out=np.zeros(hits.shape), where=whole > 0)
    weighted: NDArray[np.float64] = f1 @ given.weights
    return weighted


def _independent(given: Support, runs: int, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Each class's items are one multinomial over the predicted classes."""
    hits = np.zeros((runs, given.k), np.int64)
    predicted = np.zeros_like(hits)
    # A class that no item has is never drawn.
    used = np.flatnonzero(given.counts)
    for c in used:
        row = rng.multinomial(given.counts[c], given.shares[used], size=runs)
        predicted[:, used] += row
        hits[:, c] = row[:, np.searchsorted(used, c)]
    return hits, predicted


def _permuted(given: Support, runs: int, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Rows of a confusion matrix with both margins fixed, cell by cell."""
    _bearable(given)
    hits = np.zeros((runs, given.k), np.int64)
    left = np.tile(given.counts, (runs, 1))
    for c in range(given.k):
        row = np.full(runs, given.counts[c])
        rest = left.sum(axis=1)
        for j in range(given.k):
            # Each cell, given what its row and the columns after it still have to place, is
            # hypergeometric.
            rest -= left[:, j]
            cell = rng.hypergeometric(left[:, j], rest, row)
            left[:, j] -= cell
            row -= cell
            if j == c:
                hits[:, c] = cell
    return hits, np.tile(given.counts, (runs, 1))


def _separate(
    given: Support, draws: str, runs: int, rng: np.random.Generator
) -> tuple[Counts, Counts]:
    """Each label on its own: hits among the items that have it, false alarms among the others."""
    if draws == "permuted":
        _bearable(given)
        shape = (runs, given.k)
        hits = rng.hypergeometric(given.counts, given.n - given.counts, given.counts, size=shape)
        return hits, np.tile(given.counts, (runs, 1))
    hits = rng.binomial(given.counts, given.shares, size=(runs, given.k))
    alarms = rng.binomial(given.n - given.counts, given.shares, size=(runs, given.k))
    return hits, hits + alarms


def _bearable(given: Support) -> None:
    if given.n >= 10**9:
        raise StatisticsError(f"permuted draws bear fewer than 10^9 items, got {given.n}")


def _summary(
    name: str, given: Support, f1: NDArray[np.float64], level: float, drawn: str, draws: str
) -> Estimate:
    sd = float(f1.std(ddof=1)) if len(f1) > 1 else math.nan
    details: dict[str, Any] = {
        "sd": sd,
        "se": sd / math.sqrt(len(f1)),
        "runs": len(f1),
        "drawn": drawn,
        "draws": draws,
        "multilabel": given.multilabel,
    }
    # The units of this interval are runs, of which there are enough: no warning of few items.
    interval = percentile_interval(f1, level, max(given.n, 20))
    return Estimate(name, float(f1.mean()), (interval,), n=given.n, k=given.k, details=details)
