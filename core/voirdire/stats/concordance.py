"""Lin's concordance correlation coefficient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.stats._arrays import check_level, magnified
from voirdire.stats._pairs import Pairs, centred, fisher_interval, pairs, round_off
from voirdire.stats._results import Estimate, Interval


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
        return _undefined(paired, empty, "too_few_items")
    judge, reference = magnified(np.stack([paired.judge, paired.reference]))[0]
    x, y = centred(judge), centred(reference)
    xx, yy, xy = float(x @ x) / paired.n, float(y @ y) / paired.n, float(x @ y) / paired.n
    shift = float((judge - reference).mean())
    if abs(shift) <= round_off(judge, reference):
        shift = 0.0
    if xx + yy + shift**2 == 0:
        return _undefined(paired, empty, "zero_variance")
    value = 2 * xy / (xx + yy + shift**2)
    details, interval = _details(value, xx, yy, xy, shift), empty
    if not math.isnan(details["pearson"]):
        details["se"] = _standard_error(value, details, paired.n)
        interval = _interval(value, details["se"], level)
    return Estimate("CCC", value, (interval,), paired.n, 2, paired.left_out, details=details)


def _details(value: float, xx: float, yy: float, xy: float, shift: float) -> dict[str, float]:
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


def _standard_error(p: float, details: dict[str, float], n: int) -> float:
    r, u = details["pearson"], details["location_shift"]
    if n < 3 or r == 0:
        return math.nan
    variance = (
        (1 - r**2) * p**2 * (1 - p**2) / r**2
        + 2 * p**3 * (1 - p) * u**2 / r
        - p**4 * u**4 / (2 * r**2)
    )
    return math.sqrt(max(variance, 0.0) / (n - 2))


def _interval(p: float, se: float, level: float) -> Interval:
    if abs(p) >= 1:
        return Interval("fisher_z", level, p, p)
    return fisher_interval(p, (se / (1 - p**2)) ** 2, level)


def _undefined(pairs: Pairs, interval: Interval, reason: str) -> Estimate:
    return Estimate("CCC", math.nan, (interval,), pairs.n, 2, pairs.left_out, reason)
