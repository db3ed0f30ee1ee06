"""Fleiss' kappa and Scott's pi: chance as the square of the shares of all raters together."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._chance_corrected import FLEISS
from voirdire.stats._coefficient import coefficient
from voirdire.stats._ratings import Ratings, encode, encode_pair
from voirdire.stats._weights import weights_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from voirdire.stats._results import Estimate
    from voirdire.stats._weights import Weights

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
    interval = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    pooled = unequal == "pooled"
    return coefficient(encode(R, levels), FLEISS, name, weights, interval, pooled=pooled)


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
    complete = Ratings(ratings.codes[(ratings.codes >= 0).all(axis=1)], ratings.levels)
    name = f"Scott's pi ({weights_name(weights)})"
    interval = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    estimate = coefficient(complete, FLEISS, name, weights, interval)
    left_out = ratings.n - complete.n
    reason = "no_pairable_item" if left_out and not complete.n else estimate.reason
    return dataclasses.replace(estimate, left_out=left_out, reason=reason)
