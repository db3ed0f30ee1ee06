"""Intervals that agreement statistics share."""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import check_draws
from voirdire.stats._results import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Below this many units a percentile interval is known to cover too seldom.
FEW_UNITS = 20

#: Changes of a statistic below this are rounding.
_STILL = 1e-12

#: Below these degrees of freedom an interval rests on a handful of items.
_FEW_DEGREES = 6


def methods(ci: str | Sequence[str] | None, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The asked interval methods, checked against those that a statistic offers."""
    asked = () if ci is None else (ci,) if isinstance(ci, str) else tuple(ci)
    for method in asked:
        if method not in allowed:
            raise not_one_of("ci", method, allowed, error=StatisticsError)
    return asked


def check_level(level: float, n_resamples: int) -> None:
    """Refuse levels outside (0, 1) and resample numbers below one."""
    if not 0 < level < 1:
        raise StatisticsError(f"level must lie in (0, 1), got {level!r}")
    check_draws(n_resamples, 0)


def percentile_interval(values: NDArray[np.float64], level: float, n: int) -> Interval:
    """Percentiles of the resampled values that are defined; the others are counted."""
    defined = values[~np.isnan(values)]
    low = high = math.nan
    if defined.size:
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(
        "percentile",
        level,
        low,
        high,
        n_resamples=len(values),
        n_undefined=int(len(values) - defined.size),
        flags=("unreliable_interval",) if n < FEW_UNITS else (),
    )


def normal_interval(value: float, se: float, level: float, method: str = "wald") -> Interval:
    """The value -+ z * se."""
    reach = NormalDist().inv_cdf((1 + level) / 2) * se
    return Interval(method, level, value - reach, value + reach)


def student_interval(
    value: float, se: float, df: float, level: float, method: str = "t"
) -> Interval:
    """The value -+ t(df) * se; undefined without degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    reach = float(stdtrit(df, (1 + level) / 2)) * se if df > 0 else math.nan
    return Interval(method, level, value - reach, value + reach)


def jackknife_error(left: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    r"""Standard error of a statistic by leaving out one item, and its degrees of freedom.

    .. math:: se^2 = \frac{n - 1}{n} \sum_i d_i^2, \quad
              df = \frac{2 n}{(\sum_i d_i^4 / n) / (\sum_i d_i^2 / n)^2 - 1} \le n - 1

    with d the deviations of the leave-one-out values from their mean. A variance that rests on a
    few of many items is itself uncertain, and has as few degrees of freedom (Satterthwaite 1946).

    Parameters
    ----------
    left : (p,) float64
        The statistic without one item of each pattern; NaN where it is undefined then.
    counts : (p,) int64
        Items that show the pattern.

    Returns
    -------
    tuple of float
        NaN where leaving out some item leaves nothing, and where no item moves the statistic.
    """
    n = int(counts.sum())
    deviations = left - float(counts @ left) / max(n, 1)
    squares, fourths = float(counts @ deviations**2), float(counts @ deviations**4)
    if not squares > n * _STILL**2:
        return math.nan, math.nan
    spread = n * fourths / squares**2 - 1
    df = min(max(2 * n / spread, 1.0), n - 1.0) if spread > 0 else n - 1.0
    return math.sqrt((n - 1) / n * squares), df


def jackknife_interval(
    value: float,
    left: NDArray[np.float64],
    counts: NDArray[np.int64],
    level: float,
    worst: float,
) -> Interval:
    """The value -+ t(df) times its jackknife error; NaN where that is (see `jackknife_error`).

    Items that all agree have no spread, and still do not say that the next one would: there the
    lower bound is exact, 1 - u `worst`, with u Clopper and Pearson's (1934) upper bound of the
    share of items that could disagree and `worst` the fall of the value if all of them did.
    """
    if value == 1:
        share = 1 - ((1 - level) / 2) ** (1 / int(counts.sum()))
        return Interval("clopper_pearson", level, 1 - share * worst, 1.0)
    se, df = jackknife_error(left, counts)
    interval = student_interval(value, se, df, level, "jackknife")
    flags = ("few_informative_items",) if df < _FEW_DEGREES else ()
    return dataclasses.replace(interval, flags=flags)


def outside(value: float) -> tuple[str, ...]:
    """The flag of a value that cannot be read as reliability."""
    return ("outside_range",) if abs(value) > 1 + 1e-12 else ()
