"""Correlations of a judge with the reference: of ranks, of distances, of the scores as they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.stats._arrays import Floats, check_level, magnified
from voirdire.stats._pairs import Pairs, centred, pairs, round_off
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intervals import fisher_interval


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
    # Below four pairs there is no variance, and `_estimate` leaves the interval out.
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
    # The root of each by itself: the product of two sums of squares may overflow where neither
    # does.
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
    # The mean of the places that equal values take up.
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
    # Fisher's z has n - 3 (tau: n - 4) below its variance.
    usable = variance if pairs.n >= fewest else math.nan
    interval = fisher_interval(value, usable, level)
    return Estimate(name, value, (interval,), pairs.n, 2, pairs.left_out, reason)


def ccc(judge: Any, reference: Any, *, level: float = 0.95) -> Estimate:
    """Lin's concordance: how near the pairs lie to the line of identity.

    ``CCC = 2 s_xy / (s_x² + s_y² + (mean x - mean y)²)`` with moments over n, not n - 1 (Lin's
    own choice, epiR's and DescTools'). It equals quadratic-weighted kappa on the same pairs.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    level : float
        Nominal coverage of the interval (Fisher's z, Lin's asymptotic variance).

    Returns
    -------
    Estimate
        Within [-1, 1]. `details`: pearson, scale_shift (s_judge / s_reference), location_shift,
        bias_correction (CCC / pearson), se. Reasons: too_few_items, zero_variance (both constant
        and equal). One constant side gives 0 and an undefined interval.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import ccc
    >>> print(ccc([1, 2, 3, 4, 5, 6], [2, 2, 3, 5, 5, 7]))
    CCC = 0.923, 95% CI [0.622, 0.986] (fisher_z), n = 6, k = 2

    References
    ----------
    Lin (1989), Biometrics 45, 255-268; variance as corrected in Lin (2000), Biometrics 56, 324.
    """
    check_level(level)
    paired = pairs(judge, reference)
    empty = Interval("fisher_z", level, math.nan, math.nan)
    if paired.n < 2:
        return _no_ccc(paired, empty, "too_few_items")
    judge, reference = magnified(np.stack([paired.judge, paired.reference]))[0]
    x, y = centred(judge), centred(reference)
    xx, yy, xy = float(x @ x) / paired.n, float(y @ y) / paired.n, float(x @ y) / paired.n
    shift = float((judge - reference).mean())
    # Two constants that differ by round-off agree: 0 / 0, and no CCC of 0.
    if abs(shift) <= round_off(judge, reference):
        shift = 0.0
    if xx + yy + shift**2 == 0:
        return _no_ccc(paired, empty, "zero_variance")
    value = 2 * xy / (xx + yy + shift**2)
    details, interval = _ccc_details(value, xx, yy, xy, shift), empty
    if not math.isnan(details["pearson"]):
        details["se"] = _ccc_error(value, details, paired.n)
        interval = _ccc_interval(value, details["se"], level)
    return Estimate("CCC", value, (interval,), paired.n, 2, paired.left_out, details=details)


def _ccc_details(value: float, xx: float, yy: float, xy: float, shift: float) -> dict[str, float]:
    if xx == 0 or yy == 0:
        return dict.fromkeys(("pearson", "location_shift", "bias_correction", "se"), math.nan) | {
            "scale_shift": math.sqrt(xx / yy) if yy > 0 else math.nan
        }
    pearson = xy / math.sqrt(xx * yy)
    return {
        "pearson": pearson,
        "scale_shift": math.sqrt(xx / yy),
        "location_shift": shift / (xx * yy) ** 0.25,
        "bias_correction": value / pearson if pearson else math.nan,
    }


def _ccc_error(p: float, details: dict[str, float], n: int) -> float:
    r, u = details["pearson"], details["location_shift"]
    if n < 3 or r == 0:
        return math.nan
    # Lin (1989), 2.9, as corrected in 2000: u is the shift of location in units of both spreads.
    variance = (
        (1 - r**2) * p**2 * (1 - p**2) / r**2
        + 2 * p**3 * (1 - p) * u**2 / r
        - p**4 * u**4 / (2 * r**2)
    )
    return math.sqrt(max(variance, 0.0) / (n - 2))


def _ccc_interval(p: float, se: float, level: float) -> Interval:
    if abs(p) >= 1:
        # All pairs on the line: z is infinite, and so the interval is the point.
        return Interval("fisher_z", level, p, p)
    return fisher_interval(p, (se / (1 - p**2)) ** 2, level)


def _no_ccc(pairs: Pairs, interval: Interval, reason: str) -> Estimate:
    return Estimate("CCC", math.nan, (interval,), pairs.n, 2, pairs.left_out, reason)
