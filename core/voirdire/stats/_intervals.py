"""Intervals that agreement statistics share."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from voirdire._errors import StatisticsError
from voirdire.stats._results import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Below this many units a percentile interval is known to cover too seldom.
FEW_UNITS = 20


def methods(ci: str | Sequence[str] | None, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The asked interval methods, checked against those that a statistic offers."""
    asked = () if ci is None else (ci,) if isinstance(ci, str) else tuple(ci)
    for method in asked:
        if method not in allowed:
            raise StatisticsError(f"ci must be None or among {allowed}, got {method!r}")
    return asked


def check_level(level: float, n_resamples: int) -> None:
    """Refuse levels outside (0, 1) and resample numbers below one."""
    if not 0 < level < 1:
        raise StatisticsError(f"level must lie in (0, 1), got {level!r}")
    if n_resamples < 1:
        raise StatisticsError(f"n_resamples must be at least 1, got {n_resamples!r}")


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


def student_interval(value: float, se: float, df: int, level: float, method: str = "t") -> Interval:
    """The value -+ t(df) * se; undefined without degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    reach = float(stdtrit(df, (1 + level) / 2)) * se if df > 0 else math.nan
    return Interval(method, level, value - reach, value + reach)


def outside(value: float) -> tuple[str, ...]:
    """The flag of a value that cannot be read as reliability."""
    return ("outside_range",) if abs(value) > 1 + 1e-12 else ()
