"""Bounds read off a bootstrap distribution, drawn or enumerated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._resampling import bca_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats


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
    known = ~np.isnan(position)
    below = np.where(known, position, 0).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(kept - 1, 0))
    ordered = np.sort(values, axis=1)
    low, high = (np.take_along_axis(ordered, at, axis=1) for at in (below, above))
    return np.where(known & (kept > 0), low + (position - below) * (high - low), np.nan)


def _enumerated_quantiles(values: Floats, weights: NDArray[np.int64], levels: Floats) -> Floats:
    from voirdire.stats._kernels_icc import weighted_quantiles  # noqa: PLC0415 - loads numba

    out = np.full(levels.shape, np.nan)
    totals = ~np.isnan(values) @ weights
    known = np.isfinite(levels).all(axis=1)
    # (1 - 0.95) / 2 is a little above 0.025: do not step over a value that reaches it exactly.
    targets = np.ascontiguousarray(levels[known] * totals[known, None] * (1 - 1e-12))
    filled = np.empty_like(targets)
    weighted_quantiles(np.ascontiguousarray(values[known]), weights.copy(), targets, filled)
    out[known] = filled
    return out
