"""The compiled loop behind ICC of system means, for every resample of items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats


@njit(
    "UniTuple(f8, 2)(f8[:,:,::1], i8, f8[::1], f8[::1])",
    nogil=True,
    error_model="numpy",
)
def _effects(means: Floats, b: int, rows: Floats, columns: Floats) -> tuple[float, float]:
    """Fill in row and column effects of means[:, :, b]; the grand mean, and what is round-off."""
    n, k, _ = means.shape
    grand, scale = 0.0, 0.0
    for i in range(n):
        for j in range(k):
            grand += means[i, j, b]
            scale = max(scale, abs(means[i, j, b]))
    grand /= n * k
    rows[:] = 0.0
    columns[:] = 0.0
    for i in range(n):
        for j in range(k):
            rows[i] += (means[i, j, b] - grand) / k
            columns[j] += (means[i, j, b] - grand) / n
    return grand, 64 * 2.220446049250313e-16 * scale


@njit("f8(f8[::1], f8)", nogil=True, error_model="numpy")
def _sum_of_squares(effects: Floats, zero: float) -> float:
    total = 0.0
    for effect in effects:
        if abs(effect) > zero:
            total += effect * effect
    return total


@njit("void(f8[:,:,::1], f8[:,::1])", nogil=True, error_model="numpy")
def mean_squares_of(means: Floats, out: Floats) -> None:
    """out[:, b]: MSR, MSC, MSE of the n by k means[:, :, b]; NaN where a mean is missing.

    Two passes over deviations, with what lies below the round-off of the means set to zero.
    """
    n, k, resamples = means.shape
    rows, columns, rests = np.empty(n), np.empty(k), np.empty(n * k)
    for b in range(resamples):
        grand, zero = _effects(means, b, rows, columns)
        if np.isnan(grand):
            out[:, b] = np.nan
            continue
        for i in range(n):
            for j in range(k):
                rests[i * k + j] = means[i, j, b] - grand - rows[i] - columns[j]
        out[0, b] = k * _sum_of_squares(rows, zero) / (n - 1)
        out[1, b] = n * _sum_of_squares(columns, zero) / (k - 1)
        out[2, b] = _sum_of_squares(rests, zero) / ((n - 1) * (k - 1))
