"""Intervals and quantiles that statistics share."""

from __future__ import annotations

import dataclasses
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.late import dataclass
from voirdire.stats._arrays import check_draws, check_level
from voirdire.stats._results import Interval
from voirdire.stats.special import special
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


@dataclass(frozen=True, slots=True)
class AskedIntervals:
    """Which intervals a caller asks of a statistic, and how they are to be made; none by default.

    Attributes
    ----------
    methods : tuple of str
        In the order asked for.
    level : float
        Nominal coverage.
    n_resamples, seed : int
        How many resamples a bootstrap draws, and from which seed.
    """

    methods: tuple[str, ...] = ()
    level: float = 0.95
    n_resamples: int = 1
    seed: int = 0

    @classmethod
    def of(
        cls,
        ci: str | Sequence[str] | None,
        allowed: tuple[str, ...],
        level: float,
        n_resamples: int,
        seed: int,
    ) -> AskedIntervals:
        """Checked against the methods that a statistic offers."""
        check_level(level)
        check_draws(n_resamples)
        return cls(methods(ci, allowed), level, n_resamples, seed)

    def __iter__(self) -> Iterator[str]:
        """The methods."""
        return iter(self.methods)

    def __len__(self) -> int:
        """How many."""
        return len(self.methods)


def few_units(n: int) -> tuple[str, ...]:
    """The flag of a bootstrap interval that rests on few units."""
    return ("unreliable_interval",) if n < FEW_UNITS else ()


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
        flags=few_units(n),
    )


def normal_interval(value: float, se: float, level: float, method: str = "wald") -> Interval:
    """The value -+ z * se."""
    reach = _standard(level) * se
    return Interval(method, level, value - reach, value + reach)


@lru_cache
def _standard(level: float) -> float:
    """How far an interval of that level reaches, in standard errors of a normal distribution."""
    # From the standard library: kappa of a small file then loads no scipy.
    from statistics import NormalDist  # noqa: PLC0415 - few ask, and it loads fractions

    return NormalDist().inv_cdf((1 + level) / 2)


def student_interval(
    value: float, se: float, df: float, level: float, method: str = "t"
) -> Interval:
    """The value -+ t(df) * se; undefined without degrees of freedom."""
    reach = quantile((1 + level) / 2, df) * se
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
    # Every item of a pattern leaves the same value, so patterns count by their items.
    deviations = left - float(counts @ left) / max(n, 1)
    squares, fourths = float(counts @ deviations**2), float(counts @ deviations**4)
    # No item moves the statistic: how far the next would is unknown, and not 0.
    if not squares > n * _STILL**2:
        return math.nan, math.nan
    spread = n * fourths / squares**2 - 1
    # Satterthwaite's degrees of freedom from the kurtosis of the deviations; those of a few items
    # are noise themselves, hence the bounds.
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
        # The largest share of disagreeing items of which none in n is still likely.
        share = 1 - ((1 - level) / 2) ** (1 / int(counts.sum()))
        return Interval("clopper_pearson", level, 1 - share * worst, 1.0)
    se, df = jackknife_error(left, counts)
    interval = student_interval(value, se, df, level, "jackknife")
    flags = ("few_informative_items",) if df < _FEW_DEGREES else ()
    return dataclasses.replace(interval, flags=flags)


#: By how much a share that was computed may lie outside 0 to 1.
_ROUNDING = 1e-9


def wilson_interval(share: float, n: int, level: float) -> Interval:
    """Wilson's score interval of a share of n independent items.

    Parameters
    ----------
    share : float
        The share that was seen, from 0 to 1; NaN where it is undefined.
    n : int
        How many items it is a share of.
    level : float
        Nominal coverage, such as 0.95.

    Returns
    -------
    Interval
        Both ends NaN for n = 0 or an undefined share. It ends at 0 or 1 exactly where none or all
        were counted.

    Raises
    ------
    StatisticsError
        A share outside 0 to 1, a negative n, a level outside 0 to 1.

    Examples
    --------
    >>> from voirdire.stats import wilson_interval
    >>> interval = wilson_interval(0.9, 50, 0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.786, 0.957)

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22, 209-212.
    """
    check_level(level)
    if n < 0 or share < -_ROUNDING or share > 1 + _ROUNDING:
        raise StatisticsError(f"expected a share from 0 to 1 of n >= 0, got {share} of {n}")
    if n == 0 or math.isnan(share):
        return Interval("wilson", level, math.nan, math.nan)
    z = _standard(level)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # By algebra it ends exactly there where none or all are counted.
    low, high = (0.0 if share == 0 else centre - reach), (1.0 if share == 1 else centre + reach)
    return Interval("wilson", level, low, high)


def effective_size(value: float, se: float, df: float, n: int) -> float:
    """How many independent responses a share with that error corresponds to.

    ``value (1 - value) / se²``, at most n; where all or none are, there is no error and the
    clusters (df + 1) are what counts.
    """
    if se > 0 and 0 < value < 1:
        return min(float(n), value * (1 - value) / se**2)
    return float(min(n, df + 1))


def share_interval(value: float, se: float, df: float, n: int, level: float) -> Interval:
    """Wilson's interval of a share at its effective size, with t for z.

    Of a hundred simulated gates whose true share is the minimum, its one-sided 95 % bound licensed
    4.3 (mean over 60 to 300 responses), Clopper and Pearson's 3.8 and value - t se 7.2.

    Source: Wilson (1927), JASA 22, 209-212; at the effective size of clustered data Dean and
    Pagano (2015), Journal of Survey Statistics and Methodology 3, 484-503.

    >>> interval = share_interval(1.0, 0.0, 59, 60, 0.9)
    >>> print(f"{interval.low:.3f} {interval.high:.3f}")
    0.956 1.000
    """
    if not math.isfinite(value) or n < 1 or df < 1:
        return Interval("wilson", level, math.nan, math.nan)
    # Clusters hold fewer independent answers than responses; t, since their error is estimated.
    size, t = effective_size(value, se, df, n), quantile((1 + level) / 2, df)
    centre = value + t * t / (2 * size)
    reach = t * math.sqrt(value * (1 - value) / size + t * t / (4 * size * size))
    whole = 1 + t * t / size
    # The ends of a share of all or none are exact, but for rounding.
    low = 0.0 if value == 0 else (centre - reach) / whole
    high = 1.0 if value == 1 else (centre + reach) / whole
    return Interval("wilson", level, low, high)


@lru_cache(maxsize=64)
def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    return float(special().ndtri(probability))


def fisher_interval(r: float, variance: float, level: float) -> Interval:
    """Interval of a correlation on Fisher's z scale, where its variance is `variance`."""
    check_level(level)
    if not variance > 0 or math.isnan(r):
        return Interval("fisher_z", level, math.nan, math.nan)
    if abs(r) >= 1:
        return Interval("fisher_z", level, r, r)
    half = normal_quantile(0.5 + level / 2) * math.sqrt(variance)
    z = math.atanh(r)
    return Interval("fisher_z", level, math.tanh(z - half), math.tanh(z + half))


def outside(value: float) -> tuple[str, ...]:
    """The flag of a value that cannot be read as reliability."""
    return ("outside_range",) if abs(value) > 1 + 1e-12 else ()
