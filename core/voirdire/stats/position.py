"""Does the response shown first win because it is shown first?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._arrays import Floats, row_names, yes_or_no
from voirdire.stats._clusters import GroupedScores, comparisons, resampled
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intervals import AskedIntervals, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def position_effect(
    scores: ArrayLike,
    a_first: ArrayLike,
    items: ArrayLike,
    *,
    pairs: ArrayLike | None = None,
    ci: str | Sequence[str] | None = "percentile",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""How much a response gains by being shown first.

    With both orders of a comparison asked, and each score turned so that above 0 prefers what was
    shown first,

    .. math:: \mathrm{effect} = (s_{AB} + s_{BA}) / 2

    which the systems' own merits leave untouched; the mean over comparisons is reported. Two
    orders that disagree on the winner are *inconsistent*, not a tie: they are counted, not
    averaged away.

    With one order of each comparison only, the effect is the slope of the scores on the order
    (+1 where a is first, -1 where b is): half the difference of the two groups' means. It leans on
    the order having been drawn at random, and inconsistent pairs are not estimable.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Above 0 prefers system a, whichever was shown first. NaN is missing.
    a_first : array_like of bool, shape (n,)
        Whether system a was shown first.
    items : array_like, shape (n,)
        The item of each comparison: what the bootstrap draws.
    pairs : array_like, shape (n,), optional
        The comparison that two orders belong to (item, systems, rater, run and attribute in one
        key); the item itself where there is nothing else.
    ci : {None, "percentile"}
        Bootstrap of whole items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        Above 0 favours the first place. Details: ``design`` ("both orders" or "one order"),
        ``pairs`` with both orders, and of these ``consistent`` (same winner, or a tie twice),
        ``inconsistent`` (opposite winners) and ``tied_once``; None where not estimable. With both
        orders asked of some comparisons, the others are left out. NaN with ``not_estimable`` where
        all show the same system first, or ``no_data``.

    Raises
    ------
    StatisticsError
        For other shapes, or orders other than True and False.

    Examples
    --------
    >>> scores = [2, -1, 1, 0, 1, 1]  # item x: a wins when first, loses when second
    >>> a_first = [True, False, True, False, True, False]
    >>> effect = position_effect(scores, a_first, list("xxyyzz"), ci=None)
    >>> print(effect)
    position effect = 0.667, n = 6, k = 2
    >>> effect.details["inconsistent"], effect.details["tied_once"], effect.details["consistent"]
    (1, 1, 1)

    References
    ----------
    Zheng et al. (2023), Judging LLM-as-a-Judge, NeurIPS 36 (both orders asked).
    Hills and Armitage (1979), British Journal of Clinical Pharmacology 8, 7-20: period effect of a
    crossover.
    """
    asked = AskedIntervals.of(ci, ("percentile",), level, n_resamples, seed)
    given = comparisons(scores, items, math.inf)
    first = yes_or_no(a_first, len(given.kept), "a_first")[given.kept]
    keys = items if pairs is None else pairs
    pair = np.unique(row_names(keys, len(given.kept), "pairs")[given.kept], return_inverse=True)[1]
    both = _both_orders(pair, first)
    # One pair asked both ways says more than all single orders, which lean on chance having dealt
    # them.
    if both.any():
        return _from_both(given, first, pair, both, asked)
    return _from_one(given, first, asked)


def _both_orders(pair: NDArray[np.int64], first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which comparisons belong to a pair that was asked in both orders."""
    if not len(pair):
        return np.zeros(0, np.bool_)
    forward = np.bincount(pair, weights=first)
    backward = np.bincount(pair, weights=~first)
    both: NDArray[np.bool_] = ((forward > 0) & (backward > 0))[pair]
    return both


def _from_both(
    given: GroupedScores,
    first: NDArray[np.bool_],
    pair: NDArray[np.int64],
    both: NDArray[np.bool_],
    asked: AskedIntervals,
) -> Estimate:
    names, lead, place = np.unique(pair[both], return_index=True, return_inverse=True)
    scores, forward = given.scores[both], first[both]
    with_a = np.bincount(place, scores * forward) / np.bincount(place, forward)
    with_b = np.bincount(place, scores * ~forward) / np.bincount(place, ~forward)
    effect = (with_a - with_b) / 2  # scores prefer a: the second order is turned by the minus
    group = given.group[both][lead]
    sums = np.zeros((given.groups, 2))
    np.add.at(sums, group, np.column_stack([effect, np.ones(len(names))]))
    # Items of which one order alone was asked carry no pair.
    sums = sums[sums[:, 1] > 0]
    # Both prefer what was first shown, or both what was second: the signs for system a differ.
    product = np.sign(with_a) * np.sign(with_b)
    inconsistent = int((product < 0).sum())
    tied_once = int(((with_a == 0) != (with_b == 0)).sum())
    details = {
        "design": "both orders",
        "pairs": len(names),
        "consistent": len(names) - inconsistent - tied_once,
        "inconsistent": inconsistent,
        "tied_once": tied_once,
        "items": len(sums),
    }
    intervals: list[Interval] = []
    if asked:
        drawn = resampled(
            sums, lambda total: total[:, 0] / total[:, 1], asked.n_resamples, asked.seed
        )
        intervals.append(percentile_interval(drawn, asked.level, len(sums)))
    left_out = given.left_out + int((~both).sum())
    value = float(effect.mean())
    return Estimate(_NAME, value, tuple(intervals), int(both.sum()), 2, left_out, details=details)


def _from_one(
    given: GroupedScores,
    first: NDArray[np.bool_],
    asked: AskedIntervals,
) -> Estimate:
    forward = first.astype(np.float64)
    columns = [given.scores * forward, forward, given.scores * ~first, (~first).astype(np.float64)]
    sums = given.sums(np.column_stack(columns))
    value = float(_slope(sums.sum(axis=0)[None])[0])
    reason = "no_data" if not given.n else "not_estimable" if math.isnan(value) else None
    intervals: list[Interval] = []
    if asked:
        drawn = np.array([]) if reason else resampled(sums, _slope, asked.n_resamples, asked.seed)
        intervals.append(percentile_interval(drawn, asked.level, given.groups))
    details = {
        "design": "one order",
        "pairs": 0,
        "consistent": None,
        "inconsistent": None,
        "tied_once": None,
        "items": given.groups,
    }
    return Estimate(
        _NAME,
        value,
        tuple(intervals),
        given.n,
        2,
        given.left_out,
        reason,
        details=details,
    )


_NAME = "position effect"


def _slope(sums: Floats) -> Floats:
    """Least squares of scores on order, +1 and -1; NaN where only one order occurs."""
    parts = np.full((2, len(sums)), np.nan)
    for side in range(2):
        total, n = sums[:, 2 * side], sums[:, 2 * side + 1]
        np.divide(total, n, out=parts[side], where=n > 0)
    slope: Floats = (parts[0] - parts[1]) / 2
    return slope
