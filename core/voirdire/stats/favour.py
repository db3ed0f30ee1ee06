"""Does a judge favour the systems of its own family?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats._arrays import Floats, check_draws, check_level, row_names, yes_or_no
from voirdire.stats._bootstrap import drawn_in_chunks, drawn_interval
from voirdire.stats._kernels_icc import weighted_sums
from voirdire.stats._pairs import Pairs, pairs
from voirdire.stats._results import Estimate, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


def self_preference(
    judge: Any,
    reference: Any,
    own: Any,
    items: Any,
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Mean residual (judge - reference) on the judge's own family, less that on the others.

    Above 0 the judge scores its own family higher than its leniency towards all would explain.
    A family that the reference itself underrates looks the same: this is an estimate under the
    reference, not a proof of favour.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores of responses; a pair with NaN or None is left out and counted.
    own : array-like of bool, shape (n,)
        Whether the response came from the judge's own family.
    items : array-like, shape (n,)
        The item answered. Items are resampled, each with all its responses.
    level : float
        Nominal coverage of the percentile interval ("cluster").
    n_resamples, seed : int
        The same seed gives the same result on any machine.

    Returns
    -------
    Estimate
        `details`: own (mean residual), others, n_own, n_others, n_items. Reasons: no_data,
        not_applicable (no response of its own family, or of no other).

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import self_preference
    >>> favour = self_preference(
    ...     [5, 3, 5, 2, 4, 3], [4, 3, 4, 2, 4, 3], [1, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3])
    >>> round(favour.value, 3), favour.details["others"]
    (0.667, 0.0)

    References
    ----------
    Panickssery, Bowman and Feng (2024), LLM evaluators recognize and favor their own generations.
    """
    check_level(level)
    check_draws(n_resamples, seed)
    paired = pairs(judge, reference)
    mine = yes_or_no(own, len(paired.kept), "own")[paired.kept]
    labels = row_names(items, len(paired.kept), "items")[paired.kept]
    empty = Interval("cluster", level, math.nan, math.nan)
    n_own, n_items = int(mine.sum()), len(np.unique(labels))
    if not n_own or n_own == paired.n:
        reason = "not_applicable" if paired.n else "no_data"
        return _estimate(math.nan, empty, paired, reason, {"n_own": n_own, "n_items": n_items})
    means = [float(paired.differences[group].mean()) for group in (mine, ~mine)]
    details = {
        "own": means[0],
        "others": means[1],
        "n_own": n_own,
        "n_others": paired.n - n_own,
        "n_items": n_items,
    }
    terms = _by_item(paired.differences, mine, labels)
    interval = _interval(terms, level, n_resamples, seed)
    return _estimate(means[0] - means[1], interval, paired, None, details)


def _by_item(residuals: Floats, own: NDArray[np.bool_], labels: Any) -> Floats:
    """(4, items): sums and counts of the residuals of the own family and of the others."""
    codes = np.unique(labels, return_inverse=True)[1]
    # Both means are quotients of sums over items, so that drawing items is a product of counts and
    # sums.
    columns = [residuals * own, own, residuals * ~own, ~own]
    return np.stack([np.bincount(codes, weights=one.astype(np.float64)) for one in columns])


def _interval(terms: Floats, level: float, n_resamples: int, seed: int) -> Interval:
    drawn = []
    for counts in drawn_in_chunks(seed, terms.shape[1], n_resamples, n_resamples):
        sums = np.empty((1, 4, counts.shape[1]))
        weighted_sums(counts, np.ascontiguousarray(terms)[None], sums)
        own, n_own, others, n_others = sums[0]
        # A resample without a response of either family says nothing, and is counted as such.
        both = (n_own > 0) & (n_others > 0)
        safe = [np.where(both, one, 1.0) for one in (n_own, n_others)]
        drawn.append(np.where(both, own / safe[0] - others / safe[1], np.nan))
    return drawn_interval(np.concatenate(drawn), "cluster", level, terms.shape[1])


def _estimate(
    value: float, interval: Interval, pairs: Pairs, reason: str | None, details: dict[str, Any]
) -> Estimate:
    return Estimate(
        "self-preference", value, (interval,), pairs.n, 2, pairs.left_out, reason, details=details
    )
