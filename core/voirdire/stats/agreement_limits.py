"""Bland and Altman's limits of agreement, with intervals of their own."""

from __future__ import annotations

import math
from typing import Any

from voirdire.late import dataclass
from voirdire.stats._arrays import check_level
from voirdire.stats._pairs import Pairs, mean_interval, pairs, standard_error
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.intervals import normal_quantile
from voirdire.stats.sums import quantile


@dataclass(frozen=True, slots=True, eq=False)
class LimitsOfAgreement(Result):
    """Bias and the limits between which most differences (judge - reference) lie.

    Attributes
    ----------
    bias, low, high : Estimate
        Mean difference and the two limits, each with its t interval.
    sd : float
        Standard deviation of the differences (over n - 1).
    coverage : float
        Share of differences that the limits are to hold (0.95: bias ± 1.96 sd).
    """

    bias: Estimate
    low: Estimate
    high: Estimate
    sd: float
    coverage: float

    def __str__(self) -> str:
        """Bias and limits, a line each."""
        return f"{self.bias}\n{self.low}\n{self.high}"


def bland_altman(
    judge: Any, reference: Any, *, coverage: float = 0.95, level: float = 0.95
) -> LimitsOfAgreement:
    """Limits of agreement ``bias ± z sd`` and how well n pairs know them.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    coverage : float
        Share of differences that the limits are to hold under normality.
    level : float
        Nominal coverage of each interval. A limit's standard error is
        ``sd sqrt(1/n + z² / (2 (n - 1)))``, its quantile Student's t with n - 1.

    Returns
    -------
    LimitsOfAgreement
        Reasons: no_data, too_few_items (one pair has a bias but no limits).

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import bland_altman
    >>> limits = bland_altman([4, 5, 3, 4, 2], [3, 5, 2, 4, 3])
    >>> print(limits.low)
    lower limit of agreement = -1.440, 95% CI [-3.356, 0.476] (t), n = 5, k = 2

    References
    ----------
    Bland and Altman (1986), Lancet 327, 307-310; (1999), Stat. Methods Med. Res. 8, 135-160, 2.1.
    """
    check_level(level)
    z = normal_quantile(0.5 + check_level(coverage) / 2)
    paired = pairs(judge, reference)
    differences = paired.differences
    mean = float(differences.mean()) if paired.n else math.nan
    # By way of the error of the mean, so that one place decides what is round-off.
    sd = standard_error(differences)[0] * math.sqrt(paired.n)
    centre = Estimate(
        "bias",
        mean,
        (mean_interval(differences, level),),
        paired.n,
        2,
        paired.left_out,
        None if paired.n else "no_data",
    )
    low, high = (_limit(name, mean + sign * z * sd, sd, z, paired, level) for name, sign in _SIDES)
    return LimitsOfAgreement(centre, low, high, sd, coverage)


_SIDES = (("lower limit of agreement", -1), ("upper limit of agreement", 1))


def _limit(name: str, value: float, sd: float, z: float, pairs: Pairs, level: float) -> Estimate:
    n = pairs.n
    if n < 2:
        empty = Interval("t", level, math.nan, math.nan)
        reason = "too_few_items" if n else "no_data"
        return Estimate(name, math.nan, (empty,), n, 2, pairs.left_out, reason)
    # Variance of a mean, sd² / n, and of z times a standard deviation, z² sd² / (2 (n - 1)).
    half = quantile(0.5 + level / 2, n - 1) * sd * math.sqrt(1 / n + z**2 / (2 * (n - 1)))
    interval = Interval("t", level, value - half, value + half)
    return Estimate(name, value, (interval,), n, 2, pairs.left_out)
