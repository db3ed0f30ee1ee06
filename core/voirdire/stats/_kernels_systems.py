"""Compiled loops over systems: their sums in one pass, and ICC of their means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


@njit("void(f8[:,:,::1], f8[::1], f8[::1], f8[::1], i8, f8[:])", nogil=True, error_model="numpy")
def _squares(
    means: Floats, rows: Floats, columns: Floats, rests: Floats, b: int, out: Floats
) -> None:
    """out: MSR, MSC, MSE of the n by k means[:, :, b]; NaN where a mean is missing.

    Two passes over deviations, with what lies below the round-off of the means set to zero.
    """
    n, k, _ = means.shape
    grand, zero = _effects(means, b, rows, columns)
    if np.isnan(grand):
        out[:] = np.nan
        return
    for i in range(n):
        for j in range(k):
            rests[i * k + j] = means[i, j, b] - grand - rows[i] - columns[j]
    out[0] = k * _sum_of_squares(rows, zero) / (n - 1)
    out[1] = n * _sum_of_squares(columns, zero) / (k - 1)
    out[2] = _sum_of_squares(rests, zero) / ((n - 1) * (k - 1))


@njit("void(f8[:,:,::1], f8[:,::1])", nogil=True, error_model="numpy")
def mean_squares_of(means: Floats, out: Floats) -> None:
    """out[:, b]: MSR, MSC, MSE of the n by k means[:, :, b]; NaN where a mean is missing."""
    n, k, resamples = means.shape
    rows, columns, rests = np.empty(n), np.empty(k), np.empty(n * k)
    for b in range(resamples):
        _squares(means, rows, columns, rests, b, out[:, b])


@njit("void(f8[:,:,::1], f8[:,::1], i8[::1], f8[:,:,:,::1])", nogil=True, error_model="numpy")
def add_pairs(judges: Floats, reference: Floats, system: NDArray[np.int64], out: Floats) -> None:
    """Add every pair of judges[j, a, i] and reference[a, i] to out[j, a, system[i]].

    The seven sums: pairs, reference, judge, their squares, their product, the squared difference
    (which the other sums give only less what cancels). A pair with a NaN is passed over.
    """
    for j in range(judges.shape[0]):
        for a in range(judges.shape[1]):
            for i in range(judges.shape[2]):
                x, y = reference[a, i], judges[j, a, i]
                if np.isnan(x) or np.isnan(y):
                    continue
                sums = out[j, a, system[i]]
                sums[0] += 1.0
                sums[1] += x
                sums[2] += y
                sums[3] += x * x
                sums[4] += y * y
                sums[5] += x * y
                sums[6] += (y - x) * (y - x)


@njit("void(f8[:,:,:,::1], b1[:,:,::1], f8[:,:,:,::1])", nogil=True, error_model="numpy")
def squares_under(means: Floats, kept: NDArray[np.bool_], out: Floats) -> None:
    """out[q, j, a]: systems, bias, MSR, MSC, MSE of means[j, a, s] where kept[q, j, s].

    The means are those of reference and judge, NaN where a system has no pair. Of fewer than two
    systems there are no mean squares, of none no bias.
    """
    left = np.empty((means.shape[2], 2, 1))
    rows, columns = np.empty(means.shape[2]), np.empty(2)
    rests = np.empty(2 * means.shape[2])
    for q in range(kept.shape[0]):
        for j in range(means.shape[0]):
            for a in range(means.shape[1]):
                n = 0
                bias = 0.0
                for s in range(means.shape[2]):
                    if kept[q, j, s] and not np.isnan(means[j, a, s, 0]):
                        left[n, 0, 0] = means[j, a, s, 0]
                        left[n, 1, 0] = means[j, a, s, 1]
                        bias += means[j, a, s, 1] - means[j, a, s, 0]
                        n += 1
                result = out[q, j, a]
                result[:] = np.nan
                result[0] = n
                if n > 0:
                    result[1] = bias / n
                if n > 1:
                    _squares(left[:n], rows[:n], columns, rests[: 2 * n], 0, result[2:])
