"""How many more units would settle what is undecided, were the estimates to stay as they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.ratings.classes import bands_spanned
from voirdire.stats._forms import f_interval
from voirdire.stats._results import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.examining.examination import PairResult
    from voirdire.stats._results import Estimate

#: Beyond this many units an estimate lies at the threshold for all purposes.
MOST = 5000
#: Level of the tests in an alt-test.
ALPHA = 0.05


def units_for_icc(
    result: PairResult, form: str, threshold: float, level: float, bands: int | None = None
) -> int | None:
    """Smallest number of systems at which the F interval lies on one side of the threshold.

    The variance components stay as now: MSR and MSE keep their value, MSC grows with n. With
    `bands`, an interval above the threshold must span no more bands than that as well. None where
    no number up to `MOST` does, or there is nothing to go by.

    Source: McGraw and Wong (1996), table 7. At two raters an ICC(C,1) of 0.90 needs n = 18 to
    exceed 0.75.
    """
    squares = (result.ms_rows, result.ms_raters, result.ms_error)
    return _units(squares, result.n_units, 2, form, (threshold, level, bands))


def units_for_interval(
    value: float, interval: Interval | None, n_now: int, threshold: float, bands: int | None = None
) -> int | None:
    """The same for an interval whose ends come nearer to the value with the root of the units."""
    if interval is None or not math.isfinite(interval.width) or n_now < 2:
        return None

    def settled(n: int) -> bool:
        root = math.sqrt(n_now / n)
        low = value - (value - interval.low) * root
        return _settled(low, value + (interval.high - value) * root, threshold, bands)

    return smallest(settled)


def units_for_icc_of(found: Estimate, threshold: float) -> int | None:
    """The same for any ICC estimate that carries its mean squares."""
    squares = tuple(
        float(found.details.get(name, math.nan)) for name in ("ms_rows", "ms_raters", "ms_error")
    )
    interval = found.interval("f")
    if interval is None:
        return None
    form = found.statistic.removeprefix("ICC(").removesuffix(")")
    return _units(squares, found.n, found.k, form, (threshold, interval.level, None))


def _units(
    squares_now: tuple[float, ...],
    n_now: int,
    k: int,
    form: str,
    asked: tuple[float, float, int | None],
) -> int | None:
    rows, raters_now, error = squares_now
    threshold, level, bands = asked
    if not all(map(math.isfinite, squares_now)) or n_now < 2:
        return None
    shift = (raters_now - error) / n_now

    def settled(n: int) -> bool:
        squares = np.array([[rows], [max(error + n * shift, 0.0)], [error]])
        low, high = (float(bound[0]) for bound in f_interval(form, squares, n, k, level))
        return _settled(low, high, threshold, bands)

    return smallest(settled)


def _settled(low: float, high: float, threshold: float, bands: int | None) -> bool:
    """Whether an interval lies on one side of a threshold, and spans few bands if it is above."""
    narrow = bands is None or 0 < bands_spanned(Interval("", 0.0, low, high)) <= bands
    return high < threshold or (low >= threshold and narrow)


def units_for_bias(result: PairResult, margin: float, level: float) -> int | None:
    """Smallest n at which the t interval of the bias lies within, or outside, ±margin."""
    interval = result.bias_interval
    if interval is None or not math.isfinite(interval.width) or result.n_units < 2:
        return None
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    def quantile(n: int) -> float:
        return float(stdtrit(n - 1, 0.5 + level / 2))

    n_now = result.n_units
    sd = interval.width / 2 / quantile(n_now) * math.sqrt(n_now)

    def settled(n: int) -> bool:
        half = quantile(n) * sd / math.sqrt(n)
        size = abs(result.bias)
        return size + half <= margin or size - half > margin

    return smallest(settled)


def items_for_alt_test(found: Estimate, rate: float) -> int | None:
    """Shared responses at which enough humans are decided, were each difference to stay as it is.

    A human's z grows with the root of the responses, so n (z_needed / z)^2 decide that human;
    z_needed is that of the strictest of Benjamini and Yekutieli's levels.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import

    z = -ndtri(np.asarray(found.details["p_values"], float))
    k = len(z)
    strictest = ALPHA / (k * sum(1 / i for i in range(1, k + 1)))
    with np.errstate(divide="ignore"):
        needed = np.asarray(found.details["items"]) * (-ndtri(strictest) / np.abs(z)) ** 2
    wins = math.ceil(rate * k - 1e-9)
    winning = bool((z > 0).sum() >= wins)
    # Those who would be decided on the side that the estimates lean to, soonest first.
    soonest = np.sort(needed[z > 0] if winning else needed[z <= 0])
    units = float(soonest[(wins if winning else k - wins + 1) - 1])
    return math.ceil(units) if units <= 1000 * MOST else None


def runs_for_mean(single: float, threshold: float) -> int | None:
    """Runs whose mean reaches the threshold (Spearman 1910; Brown 1910).

    k = t (1 - r) / (r (1 - t)), with r the reliability of a single run.

    >>> runs_for_mean(0.5, 0.75)
    3
    """
    if not 0 < single < 1 or not 0 < threshold < 1:
        return 1 if single >= 1 else None
    runs = math.ceil(threshold * (1 - single) / (single * (1 - threshold)) - 1e-9)
    return max(runs, 1)


def smallest(settled: Callable[[int], bool]) -> int | None:
    """Smallest n from 3 for which a condition holds that, once true, stays true.

    >>> smallest(lambda n: n * n > 1000)
    32
    """
    low = high = 3
    while not settled(high):
        if high == MOST:
            return None
        low, high = high + 1, min(2 * high, MOST)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle) else (middle + 1, high)
    return low
