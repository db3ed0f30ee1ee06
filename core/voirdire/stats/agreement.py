"""Joint probability of agreement: how often two ratings of one item are the same."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._chance_corrected import BRENNAN_PREDIGER, point, standard_error
from voirdire.stats._coefficient import count_table
from voirdire.stats._intervals import (
    check_level,
    methods,
    percentile_interval,
    student_interval,
)
from voirdire.stats._patterns import resampled_counts
from voirdire.stats._ratings import encode
from voirdire.stats._results import Estimate, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from voirdire.stats._chance_corrected import CountTable, Floats

#: By how much a share that was computed may lie outside 0 to 1.
_ROUNDING = 1e-9


def joint_agreement(
    R: ArrayLike,
    *,
    levels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Joint probability of agreement, not corrected for chance.

    ``P = mean over items of sum_c r_c (r_c - 1) / (r (r - 1))``, with r_c of an item's r ratings
    in category c.

    The mean over items of the share of equal pairs among an item's ratings; with two raters, the
    share of items that both rate alike. Not a reliability: two raters who guess agree too.

    Parameters
    ----------
    R : array_like, shape (n items, m raters)
        Numbers or words; NaN, None and masked cells are missing. Items with fewer than two
        ratings are left out.
    levels : sequence, optional
        The declared levels; a rating outside them is an error.
    ci : {None, "wilson", "t", "percentile"} or several of them
        ``"wilson"`` (two raters only), t over items, or bootstrap over items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        Details: ``unanimous``, the share of items on which all ratings are equal, ``prevalence``
        of each of ``levels``, and ``se``. NaN with ``no_pairable_item`` or ``no_data``.

    Raises
    ------
    StatisticsError
        For a rating that is not declared, a wrong shape, or ``"wilson"`` with other than two
        raters.

    References
    ----------
    Fleiss, J. L. (1971). Psychological Bulletin 76, 378-382, eq. 3.
    Wilson, E. B. (1927). Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> print(joint_agreement([["a", "a"], ["a", "b"], ["b", "b"], ["b", None]], ci="wilson"))
    joint agreement = 0.667, 95% CI [0.208, 0.939] (wilson), n = 3, k = 2
    """
    asked = methods(ci, ("wilson", "t", "percentile"))
    check_level(level, n_resamples)
    ratings = encode(R, levels)
    if "wilson" in asked and ratings.m != 2:
        raise StatisticsError(f"the Wilson interval needs two raters, got {ratings.m}")
    table = count_table(ratings, BRENNAN_PREDIGER, None, pooled=True)
    own = _own_agreement(table)
    value = float(table.counts @ own / table.n) if table.n else math.nan
    se = standard_error(own - value, table) if table.n else math.nan
    intervals: list[Interval] = []
    for method in asked:
        if method == "wilson":
            intervals.append(wilson_interval(value, table.n, level))
        elif method == "t":
            intervals.append(student_interval(value, se, table.n - 1, level))
        else:
            drawn = _resampled(table, own, n_resamples, seed) if table.n else np.array([])
            intervals.append(percentile_interval(drawn, level, table.n))
    empty = "no_data" if ratings.codes.size == 0 else "no_pairable_item"
    details = {
        "unanimous": float(table.counts @ (own == 1) / table.n) if table.n else math.nan,
        "prevalence": point(table)[2] if table.n else np.zeros(len(ratings.levels)),
        "se": se,
        "levels": ratings.levels,
    }
    return Estimate(
        "joint agreement",
        value,
        tuple(intervals),
        table.n,
        ratings.m,
        ratings.n - table.n,
        None if table.n else empty,
        details=details,
    )


def wilson_interval(share: float, n: int, level: float) -> Interval:
    """Wilson's score interval of a share of n independent items.

    Parameters
    ----------
    share : float
        The share that was seen, from 0 to 1; NaN where it is undefined.
    n : int
        How many items it is a share of.
    level : float
        Nominal coverage, such as 0.95.

    Returns
    -------
    Interval
        Both ends NaN for n = 0 or an undefined share. It ends at 0 or 1 exactly where none or all
        were counted.

    Raises
    ------
    StatisticsError
        A share outside 0 to 1, a negative n, a level outside 0 to 1.

    Examples
    --------
    >>> from voirdire.stats import wilson_interval
    >>> found = wilson_interval(0.9, 50, 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.786, 0.957)

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212.
    """
    check_level(level, 1)
    if n < 0 or share < -_ROUNDING or share > 1 + _ROUNDING:
        raise StatisticsError(f"expected a share from 0 to 1 of n >= 0, got {share} of {n}")
    if n == 0 or math.isnan(share):
        return Interval("wilson", level, math.nan, math.nan)
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # By algebra it ends exactly there where none or all are counted.
    low, high = (0.0 if share == 0 else centre - reach), (1.0 if share == 1 else centre + reach)
    return Interval("wilson", level, low, high)


def _own_agreement(table: CountTable) -> Floats:
    """Share of equal pairs in each count vector."""
    size = table.sizes
    equal = (table.ratings * (table.ratings - 1)).sum(axis=1)
    agreement: Floats = equal / (size * (size - 1))
    return agreement


def _resampled(table: CountTable, own: Floats, n_resamples: int, seed: int) -> Floats:
    blocks = resampled_counts(table.counts, n_resamples, seed)
    return np.concatenate([counts @ own / table.n for counts in blocks])
