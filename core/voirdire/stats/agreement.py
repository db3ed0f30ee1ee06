"""Agreement of many raters on levels: as it is, and corrected for chance in four ways.

Fleiss and Scott take chance from the shares of all raters together, Gwet from how much they spread,
Brennan and Prediger from the number of levels.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._chance_corrected import (
    AC,
    BRENNAN_PREDIGER,
    FLEISS,
    INTERVALS,
    CountTable,
    coefficient,
    count_table,
    point,
    standard_error,
)
from voirdire.stats._patterns import resampled_counts
from voirdire.stats._ratings import Ratings, encode, encode_pair
from voirdire.stats._results import Estimate, Interval
from voirdire.stats._weights import weights_name
from voirdire.stats.intervals import (
    AskedIntervals,
    percentile_interval,
    student_interval,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from voirdire.stats._arrays import Floats
    from voirdire.stats._weights import Weights


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
    asked = AskedIntervals.of(ci, ("wilson", "t", "percentile"), level, n_resamples, seed)
    ratings = encode(R, levels)
    if "wilson" in asked and ratings.m != 2:
        raise StatisticsError(f"the Wilson interval needs two raters, got {ratings.m}")
    # Any of the chances would do: only counts of items with a pair are used.
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
            drawn = _resampled(table, own, asked) if table.n else np.array([])
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


def _own_agreement(table: CountTable) -> Floats:
    """Share of equal pairs in each count vector."""
    size = table.sizes
    equal = (table.ratings * (table.ratings - 1)).sum(axis=1)
    agreement: Floats = equal / (size * (size - 1))
    return agreement


def _resampled(table: CountTable, own: Floats, asked: AskedIntervals) -> Floats:
    blocks = resampled_counts(table.counts, asked.n_resamples, asked.seed)
    return np.concatenate([counts @ own / table.n for counts in blocks])


_UNEQUAL = ("gwet", "pooled")


def fleiss_kappa(
    R: ArrayLike,
    *,
    weights: Weights = None,
    levels: Sequence[Any] | None = None,
    unequal: Literal["gwet", "pooled"] = "gwet",
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Fleiss' kappa over categories, for any number of raters and of ratings an item.

    .. math:: \kappa = (P - P_e) / (1 - P_e), \quad P_e = \sum_{ck} w_{ck} \pi_c \pi_k

    with P the mean agreement of two ratings of one item and :math:`\pi` the share of each
    category. With unequal numbers of ratings there are two generalisations:

    ``"gwet"``
        every item counts once: P over items of two or more ratings, :math:`\pi` as the mean of
        each item's own shares, over items of one rating or more (Gwet 2014);
    ``"pooled"``
        every rating counts once, over items of two or more ratings; then alpha nominal is
        :math:`\kappa + (1 - \kappa)/N` with N ratings, as on complete data.

    Parameters
    ----------
    R : array_like, shape (n items, m raters)
        The raters' values (not counts per category): numbers or words; NaN, None and masked
        cells are missing.
    weights : {None, "linear", "quadratic"} or array_like (q, q)
        Distance between the *values* of numeric levels, places of words; a matrix holds
        disagreement weights, zero on the diagonal.
    levels : sequence, optional
        The declared levels; without them those that occur.
    unequal : {"gwet", "pooled"}
        See above; without missing ratings both are Fleiss (1971).
    ci : {None, "t", "jackknife", "percentile"} or several of them
        ``"t"``: value -+ t(n - 1) times the non-null standard error, linearised (Gwet 2014);
        ``"jackknife"``: value -+ t(df) times the standard error of leaving out one item after the
        other, df as few as the items that bear it (Satterthwaite 1946): for rare categories;
        ``"percentile"``: bootstrap over items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        Details: ``agreement`` P, ``expected_agreement``, ``se``, ``prevalence`` of each of
        ``levels``, ``pairable_items``. NaN with ``zero_expected_disagreement`` where one
        category holds all ratings, ``no_pairable_item``, or ``no_data``.

    Raises
    ------
    StatisticsError
        For a rating that is not declared, a wrong shape, or unfit weights.

    References
    ----------
    Fleiss, J. L. (1971). Psychological Bulletin 76, 378-382, eq. 7.
    Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th ed., chapters 2 and 5.

    Examples
    --------
    >>> R = [[2, 2, 2], [2, 2, 2], [1, 1, 4], [2, 2, 2]]
    >>> print(fleiss_kappa(R, levels=[1, 2, 3, 4]))
    Fleiss' kappa (unweighted) = 0.586, n = 4, k = 3
    """
    if unequal not in _UNEQUAL:
        raise not_one_of("unequal", unequal, _UNEQUAL, error=StatisticsError)
    name = f"Fleiss' kappa ({weights_name(weights)})"
    asked = AskedIntervals.of(ci, INTERVALS, level, n_resamples, seed)
    pooled = unequal == "pooled"
    found = coefficient(encode(R, levels), FLEISS, name, weights, asked, pooled=pooled)
    return (
        dataclasses.replace(found, flags=(*found.flags, "counts")) if _may_be_counts(R) else found
    )


def _may_be_counts(R: ArrayLike) -> bool:
    """Whether a matrix may hold how many raters chose each category, and not what each rater said.

    All rows of such a table have one sum, the number of raters, and rare categories a 0.
    """
    try:
        table = np.asarray(R, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    if table.ndim != 2 or table.shape[0] < 3 or table.shape[1] < 3:
        return False
    sums = table.sum(axis=1)
    whole = np.isfinite(table).all() and (table >= 0).all() and (table == np.round(table)).all()
    return bool(whole and (sums == sums[0]).all() and sums[0] > 1 and (table == 0).any())


def scott_pi(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: Weights = None,
    levels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Scott's pi of two raters: chance from the mean of both raters' shares.

    .. math:: \pi = (P - P_e) / (1 - P_e), \quad P_e = \sum_c ((p_{c.} + p_{.c}) / 2)^2

    It is Fleiss' kappa of two raters. Items that miss a rating are left out.

    Parameters
    ----------
    a, b : array_like, shape (n items,)
        Numbers or words; NaN, None and masked cells are missing.
    weights, levels, ci, level, n_resamples, seed
        As for `fleiss_kappa`.

    Returns
    -------
    Estimate
        As from `fleiss_kappa`.

    Raises
    ------
    StatisticsError
        For a rating that is not declared, arrays of different lengths, or unfit weights.

    References
    ----------
    Scott, W. A. (1955). Public Opinion Quarterly 19, 321-325.

    Examples
    --------
    >>> print(scott_pi([1, 2, 2, 3], [1, 2, 3, 3], levels=[1, 2, 3]))
    Scott's pi (unweighted) = 0.619, n = 4, k = 2
    """
    ratings = encode_pair(a, b, levels)
    # A single rating would count in Fleiss' shares; Scott's are those of pairs.
    complete = Ratings(ratings.codes[(ratings.codes >= 0).all(axis=1)], ratings.levels)
    name = f"Scott's pi ({weights_name(weights)})"
    asked = AskedIntervals.of(ci, INTERVALS, level, n_resamples, seed)
    estimate = coefficient(complete, FLEISS, name, weights, asked)
    left_out = ratings.n - complete.n
    # Ratings there are, but never two of one item: not the same as no data.
    reason = "no_pairable_item" if left_out and not complete.n else estimate.reason
    return dataclasses.replace(estimate, left_out=left_out, reason=reason)


def gwet_ac(
    R: ArrayLike,
    *,
    weights: Weights = None,
    levels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Gwet's AC1 (unweighted) and AC2 (weighted).

    .. math:: AC = (P - P_e)/(1 - P_e), \quad
              P_e = \frac{\sum_{ck} w_{ck}}{q (q - 1)} \sum_c \pi_c (1 - \pi_c)

    Read it beside Fleiss' kappa where one category is rare: kappa falls to zero there with few
    disagreements, AC does not. Neither is the truth; `details["prevalence"]` says why they part.

    Parameters
    ----------
    R : array_like, shape (n items, m raters)
        Numbers or words; NaN, None and masked cells are missing.
    weights : {None, "linear", "quadratic"} or array_like (q, q)
        Distance between the values of numeric levels, places of words; a matrix holds
        disagreement weights, zero on the diagonal.
    levels : sequence, optional
        The declared levels: q counts them all, used or not. Without them those that occur.
    ci : {None, "t", "jackknife", "percentile"} or several of them
        As in `fleiss_kappa`.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        Details as from `fleiss_kappa`. With two or more declared levels, ratings that all fall
        into one of them give 1; NaN with ``one_category_declared`` where q is 1.

    Raises
    ------
    StatisticsError
        For a rating that is not declared, a wrong shape, or unfit weights.

    References
    ----------
    Gwet, K. L. (2008). British Journal of Mathematical and Statistical Psychology 61, 29-48.
    Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th ed., chapters 4 and 5.

    Examples
    --------
    >>> R = [[1, 1]] * 18 + [[1, 2], [2, 1]]
    >>> print(gwet_ac(R, levels=[1, 2]))
    AC1 = 0.890, n = 20, k = 2
    """
    name = "AC1" if weights is None else f"AC2 ({weights_name(weights)})"
    asked = AskedIntervals.of(ci, INTERVALS, level, n_resamples, seed)
    return coefficient(encode(R, levels), AC, name, weights, asked)


def brennan_prediger(
    R: ArrayLike,
    *,
    weights: Weights = None,
    levels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Brennan and Prediger's kappa: chance as if all declared levels were equally likely.

    .. math:: \kappa_{BP} = (P - P_e)/(1 - P_e), \quad P_e = \sum_{ck} w_{ck} / q^2

    Parameters
    ----------
    R, weights, levels, ci, level, n_resamples, seed
        As for `gwet_ac`.

    Returns
    -------
    Estimate
        As from `gwet_ac`.

    Raises
    ------
    StatisticsError
        As from `gwet_ac`.

    References
    ----------
    Brennan, R. L. and Prediger, D. J. (1981). Educational and Psychological Measurement 41,
    687-699, eq. 13.

    Examples
    --------
    >>> R = [[1, 1]] * 18 + [[1, 2], [2, 1]]
    >>> print(brennan_prediger(R, levels=[1, 2]))
    Brennan-Prediger (unweighted) = 0.800, n = 20, k = 2
    """
    name = f"Brennan-Prediger ({weights_name(weights)})"
    asked = AskedIntervals.of(ci, INTERVALS, level, n_resamples, seed)
    return coefficient(encode(R, levels), BRENNAN_PREDIGER, name, weights, asked)
