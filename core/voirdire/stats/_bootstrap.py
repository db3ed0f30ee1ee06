"""The bootstrap as counts of units in each resample, and bounds read off the values.

Counts are drawn by NumPy outside all kernels: the same seed gives the same result whatever the
number of threads, and with the JIT off.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, generator
from voirdire.stats._kernels_icc import weighted_quantiles
from voirdire.stats._results import Interval
from voirdire.stats.intervals import few_units
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

#: Subjects up to which every resample is enumerated: 12 would have 1.4 million.
EXACT_LIMIT = 10
#: Counts that are held at once: 32 MiB.
_CELLS = 1 << 22


def draw_counts(rng: np.random.Generator, units: int, resamples: int) -> Floats:
    """(units, resamples) counts; every column sums to `units`."""
    drawn = _draw(rng, units, resamples)
    # A range of codes for each resample, so that one bincount counts them all.
    drawn += np.arange(0, resamples * units, units)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * units)
    return np.ascontiguousarray(counts.reshape(resamples, units).T, dtype=np.float64)


def _draw(rng: np.random.Generator, units: int, resamples: int) -> NDArray[np.int64]:
    """(resamples, units) units drawn with replacement."""
    return rng.integers(0, units, size=(resamples, units))


def drawn_in_chunks(seed: int, units: int, resamples: int, widest: int) -> Iterator[Floats]:
    """Counts a few resamples at a time, so that memory stays bounded; the stream is one."""
    rng = generator(seed)
    width = max(1, min(widest, _CELLS // units))
    for start in range(0, resamples, width):
        yield draw_counts(rng, units, min(width, resamples - start))


@lru_cache(maxsize=4)
def multisets(units: int) -> tuple[Floats, NDArray[np.int64]]:
    """All C(2n-1, n) resamples of n units as counts (n, M), and how often each comes in n^n draws.

    Raises
    ------
    StatisticsError
        For more than 10 units (10 have 92,378 multisets; 12 would have 1,352,078).
    """
    if units > EXACT_LIMIT:
        raise StatisticsError(
            f"the exact bootstrap enumerates all resamples of at most {EXACT_LIMIT} subjects, "
            f"not {units}; use 'percentile'"
        )
    total = math.comb(2 * units - 1, units)
    # Stars and bars: n - 1 bars among 2n - 1 places part the n draws (stars) among the units.
    bars = np.fromiter(
        itertools.chain.from_iterable(itertools.combinations(range(2 * units - 1), units - 1)),
        dtype=np.int64,
        count=total * (units - 1),
    ).reshape(total, units - 1)
    edges = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, 2 * units - 1)))
    counts = np.diff(edges, axis=1) - 1
    factorials = np.array([math.factorial(i) for i in range(units + 1)])
    # The multinomial coefficient: in how many orders these draws come.
    weights = math.factorial(units) // factorials[counts].prod(axis=1)
    result = np.ascontiguousarray(counts.T, dtype=np.float64)
    # One copy is handed to every caller, so none may write into it.
    result.flags.writeable = weights.flags.writeable = False
    return result, weights


def drawn_multisets(seed: int, units: int, resamples: int) -> NDArray[np.intp]:
    """(resamples,) which of the `multisets` each resample of `drawn_in_chunks` is."""
    drawn, (keys, order) = _draw(generator(seed), units, resamples), _keys(units)
    return order[np.searchsorted(keys, _places(units)[drawn].sum(axis=1))]


def _places(units: int) -> NDArray[np.int64]:
    """What each unit adds to the key of a multiset: no count reaches the next unit's place."""
    return (units + 1) ** np.arange(units, dtype=np.int64)


@lru_cache(maxsize=4)
def _keys(units: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Keys of all multisets, sorted, and the place of each."""
    keys = _places(units) @ multisets(units)[0].astype(np.int64)
    order = np.argsort(keys)
    return keys[order], order


def bca_levels(
    values: Floats,
    point: float,
    jackknife: Floats,
    level: float,
    weights: NDArray[np.int64] | None = None,
) -> tuple[float, float]:
    """Probabilities at which BCa reads the bootstrap distribution (Efron 1987, eq. 2.3).

    Ties with the point estimate count one half; NaN where they are undefined.
    """
    kept = ~np.isnan(values)
    mass = kept.astype(np.float64) if weights is None else kept * weights
    # Ratings on few levels give many resamples the sample's own value. Half of these count as below
    # it: else the bias correction would take ties for bias.
    tied = np.abs(values - point) <= 1e-12 * max(1.0, abs(point))
    below = mass @ ((values < point) & ~tied) + 0.5 * (mass @ tied)
    deviations = np.mean(jackknife) - jackknife
    spread = float(np.sum(deviations**2))
    # With none or all of the resamples below the estimate the correction is infinite.
    if not mass.sum() or not spread > 0 or not 0 < below < mass.sum():
        return math.nan, math.nan
    z0 = special().ndtri(below / mass.sum())
    acceleration = float(np.sum(deviations**3)) / (6 * spread**1.5)
    shifted = z0 + special().ndtri(np.array([0.5 - level / 2, 0.5 + level / 2]))
    # 1 - a z may be 0: the bound is then the end of the distribution.
    with np.errstate(divide="ignore"):
        low, high = special().ndtr(z0 + shifted / (1 - acceleration * shifted))
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Values of a statistic over resamples, one row a statistic; NaN where left out.

    Attributes
    ----------
    values : (R, B)
        NaN where a resample is undefined or left out.
    unknown : (R, B)
        Where that is.
    weights : (B,) or None
        How often each enumerated resample comes; None when every resample counts once.
    """

    values: Floats
    unknown: NDArray[np.bool_]
    weights: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, values: Floats, weights: NDArray[np.int64] | None = None) -> Distribution:
        """The distribution of (R, B) values."""
        return cls(values, np.isnan(values), weights)

    @property
    def undefined(self) -> NDArray[np.int64]:
        """(R,) resamples without a value."""
        return np.count_nonzero(self.unknown, axis=1)

    def mass(self, where: NDArray[np.bool_]) -> Floats:
        """(R,) share of the defined resamples for which `where` (R, B) holds."""
        # NaN is neither below nor above anything, so `where` never holds it.
        total, inside = self._weigh(~self.unknown), self._weigh(where)
        return inside / np.where(total > 0, total, np.nan)

    def _weigh(self, where: NDArray[np.bool_]) -> Floats:
        """(R,) resamples for which `where` holds; whole numbers, so exact in any order."""
        if self.weights is None:
            return np.count_nonzero(where, axis=1).astype(np.float64)
        return np.asarray(where @ self.weights.astype(np.float64))

    def within(self, low: float, high: float) -> Distribution:
        """The same with values outside [low, high] left out."""
        outside = (self.values < low) | (self.values > high)
        return Distribution.of(np.where(outside, np.nan, self.values), self.weights)

    def quantiles(self, levels: Floats) -> Floats:
        """(R, 2) quantiles at (R, 2) probabilities.

        Drawn resamples: linear interpolation between order statistics (R's type 7, as the
        published study's NumPy). Enumerated resamples: the inverse of the distribution function.
        """
        if self.weights is None:
            return _drawn_quantiles(self.values, self.undefined, levels)
        return _enumerated_quantiles(self.values, self.weights, levels)


def drawn_interval(values: Floats, method: str, level: float, units: int | None) -> Interval:
    """The percentile interval of one statistic (B,), flagged where few `units` were drawn.

    NaN values are left out and counted. None: the number of units says nothing of this interval.
    """
    draws = Distribution.of(values[None])
    low, high = draws.quantiles(percentile_levels(level, 1))[0].tolist()
    flags = () if units is None else few_units(units)
    return Interval(method, level, low, high, len(values), int(draws.undefined[0]), flags=flags)


def percentile_levels(level: float, rows: int) -> Floats:
    """(R, 2) the two tails of a central interval."""
    return np.tile([0.5 - level / 2, 0.5 + level / 2], (rows, 1))


def bca(draws: Distribution, points: Floats, jackknife: Floats, level: float) -> Floats:
    """(R, 2) bias-corrected and accelerated bounds; `jackknife` is (R, n)."""
    levels = np.array(
        [
            bca_levels(values, float(point), left_out, level, draws.weights)
            for values, point, left_out in zip(draws.values, points, jackknife, strict=True)
        ]
    )
    return draws.quantiles(levels)


def _drawn_quantiles(values: Floats, undefined: NDArray[np.int64], levels: Floats) -> Floats:
    """NaN is sorted to the end, so that one sort serves every row whatever it leaves out."""
    kept = values.shape[1] - undefined[:, None]
    position = levels * np.maximum(kept - 1, 0)
    defined = ~np.isnan(position)
    below = np.where(defined, position, 0).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(kept - 1, 0))
    ordered = np.sort(values, axis=1)
    low, high = (np.take_along_axis(ordered, at, axis=1) for at in (below, above))
    return np.where(defined & (kept > 0), low + (position - below) * (high - low), np.nan)


def _enumerated_quantiles(values: Floats, weights: NDArray[np.int64], levels: Floats) -> Floats:
    out = np.full(levels.shape, np.nan)
    totals = ~np.isnan(values) @ weights
    finite = np.isfinite(levels).all(axis=1)
    # (1 - 0.95) / 2 is a little above 0.025: do not step over a value that reaches it exactly.
    targets = np.ascontiguousarray(levels[finite] * totals[finite, None] * (1 - 1e-12))
    filled = np.empty_like(targets)
    weighted_quantiles(np.ascontiguousarray(values[finite]), weights.copy(), targets, filled)
    out[finite] = filled
    return out
