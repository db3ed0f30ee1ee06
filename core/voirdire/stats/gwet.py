"""Gwet's AC1/AC2 and Brennan-Prediger: agreement that high prevalence does not pull to zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.stats._chance_corrected import AC, BRENNAN_PREDIGER
from voirdire.stats._coefficient import coefficient
from voirdire.stats._ratings import encode
from voirdire.stats._weights import weights_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from voirdire.stats._results import Estimate
    from voirdire.stats._weights import Weights


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
    interval = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    return coefficient(encode(R, levels), AC, name, weights, interval)


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
    interval = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    return coefficient(encode(R, levels), BRENNAN_PREDIGER, name, weights, interval)
