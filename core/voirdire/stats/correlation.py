"""Correlations of a judge with the reference: they see the order, not the level."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats._arrays import magnified
from voirdire.stats._pairs import centred, fisher_interval, pairs
from voirdire.stats._results import Estimate

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats
    from voirdire.stats._pairs import Pairs


def pearson(judge: Any, reference: Any, *, level: float = 0.95) -> Estimate:
    """Pearson's r, with Fisher's z interval (variance 1 / (n - 3)).

    ``r = sum(dx dy) / sqrt(sum(dx²) sum(dy²))`` with dx, dy the deviations from the means.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Reasons: too_few_items, zero_variance (a constant side has no correlation, not one of 0).

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import pearson
    >>> print(pearson([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]))
    Pearson r = 0.800, 95% CI [-0.280, 0.986] (fisher_z), n = 5, k = 2

    References
    ----------
    Fisher (1921), Metron 1, 3-32.
    """
    paired = pairs(judge, reference)
    value, reason = _product_moment(paired.judge, paired.reference)
    return _estimate("Pearson r", value, paired, reason, 1 / max(paired.n - 3, 1e-300), level, 4)


def spearman(judge: Any, reference: Any, *, level: float = 0.95) -> Estimate:
    """Spearman's rho: Pearson's r of average ranks.

    Parameters, missing data, reasons and errors are those of `pearson`. The interval is on
    Fisher's z scale with variance (1 + rho² / 2) / (n - 3).

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Reasons: too_few_items, zero_variance.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import spearman
    >>> spearman([1, 2, 2, 4], [10, 20, 30, 40]).value
    0.9486832980505138

    References
    ----------
    Bonett and Wright (2000), Psychometrika 65, 23-28, eq. 6.
    """
    paired = pairs(judge, reference)
    value, reason = _product_moment(_ranks(paired.judge), _ranks(paired.reference))
    variance = (1 + value**2 / 2) / max(paired.n - 3, 1e-300)
    return _estimate("Spearman rho", value, paired, reason, variance, level, 4)


def kendall(judge: Any, reference: Any, *, level: float = 0.95) -> Estimate:
    """Kendall's tau-b, which corrects for ties.

    Parameters, missing data, reasons and errors are those of `pearson`. The interval is on
    Fisher's z scale with variance 0.437 / (n - 4).

    ``(concordant - discordant) / sqrt((pairs - ties in judge) (pairs - ties in reference))``

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Reasons: too_few_items, zero_variance.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import kendall
    >>> round(kendall([1, 2, 2, 4], [10, 20, 30, 40]).value, 4)
    0.9129

    References
    ----------
    Kendall (1945), Biometrika 33, 239-251. Fieller, Hartley and Pearson (1957), Biometrika 44,
    470-481.
    """
    paired = pairs(judge, reference)
    value, reason = _product_moment(paired.judge, paired.reference)
    if reason is None:
        from scipy.stats import kendalltau  # noqa: PLC0415 - slow to import

        value = _unit(float(kendalltau(paired.judge, paired.reference).statistic))
    return _estimate(
        "Kendall tau-b", value, paired, reason, 0.437 / max(paired.n - 4, 1e-300), level, 5
    )


def _product_moment(x: Floats, y: Floats) -> tuple[float, str | None]:
    if len(x) < 2:
        return math.nan, "too_few_items"
    dx, dy = (centred(magnified(values)[0]) for values in (x, y))
    below = math.sqrt(float(dx @ dx)) * math.sqrt(float(dy @ dy))
    if below == 0:
        return math.nan, "zero_variance"
    r = float(dx @ dy) / below
    return _unit(r), None


def _unit(r: float) -> float:
    """What misses ±1 by round-off is ±1."""
    return math.copysign(1.0, r) if abs(r) > 1 - 1e-15 else r


def _ranks(values: Floats) -> Floats:
    """Average ranks."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[codes], dtype=np.float64)


def _estimate(
    name: str,
    value: float,
    pairs: Pairs,
    reason: str | None,
    variance: float,
    level: float,
    fewest: int,
) -> Estimate:
    known = variance if pairs.n >= fewest else math.nan
    interval = fisher_interval(value, known, level)
    return Estimate(name, value, (interval,), pairs.n, 2, pairs.left_out, reason)
