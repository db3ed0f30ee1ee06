"""Compiled loops behind the bootstrap of ICC: arrays in, arrays out, one signature each.

Sums run over subjects in order and no fast-math is used, so that a result does not depend on
threads, on the machine's vector width or on whether the JIT is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats


@njit("void(f8[:,::1], f8[:,:,::1], f8[:,:,::1])", cache=True, nogil=True)
def weighted_sums(counts: Floats, features: Floats, out: Floats) -> None:
    """out[p, f, b] = Σ_i counts[i, b] features[p, f, i]; the inner loop runs over resamples."""
    n, resamples = counts.shape
    for p in range(features.shape[0]):
        for f in range(features.shape[1]):
            for b in range(resamples):
                out[p, f, b] = 0.0
            for i in range(n):
                x = features[p, f, i]
                for b in range(resamples):
                    out[p, f, b] += counts[i, b] * x


@njit("f8(f8[:,::1], f8, f8, f8, f8)", cache=True, nogil=True)
def _line(line: Floats, n: float, rows: float, raters: float, error: float) -> float:
    a = (line[0, 0] + line[0, 1] / n) * rows
    c = (line[1, 0] + line[1, 1] / n) * raters
    e = (line[2, 0] + line[2, 1] / n) * error
    total = a + c + e
    return total if abs(total) > 1e-14 * (abs(a) + abs(c) + abs(e)) else 0.0


@njit("f8(f8[:,:,::1], f8, f8, f8, f8)", cache=True, nogil=True)
def _quotient(form: Floats, n: float, rows: float, raters: float, error: float) -> float:
    """Two lines in the mean squares, one over the other; what cancels to round-off is zero."""
    above = _line(form[0], n, rows, raters, error)
    below = _line(form[1], n, rows, raters, error)
    return above / below if below != 0.0 else np.nan


@njit(
    "void(f8[:,:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,:,:,::1], f8[:,:,::1])",
    cache=True,
    nogil=True,
)
def icc_from_sums(
    sums: Floats,
    sizes: Floats,
    columns: Floats,
    tolerances: Floats,
    forms: Floats,
    out: Floats,
) -> None:
    """out[p, f, b]: the ICC of form f in resample b of sizes[b] subjects; NaN for 0 / 0."""
    k = columns.shape[1]
    for b in range(sums.shape[2]):
        n = sizes[b]
        for p in range(sums.shape[0]):
            rows = k * (sums[p, 1, b] - sums[p, 0, b] * sums[p, 0, b] / n)
            raters = 0.0
            error = sums[p, 2, b]
            for j in range(k):
                mean = sums[p, 3 + j, b] / n
                error -= n * mean * mean
                raters += n * (mean + columns[p, j]) * (mean + columns[p, j])
            rows = rows / (n - 1.0) if rows > n * tolerances[p, 0] else 0.0
            raters = raters / (k - 1.0) if raters > n * tolerances[p, 1] else 0.0
            error = error / ((n - 1.0) * (k - 1.0)) if error > n * tolerances[p, 2] else 0.0
            for f in range(forms.shape[0]):
                out[p, f, b] = _quotient(forms[f], n, rows, raters, error)


@njit("f8(f8[::1], i8[::1], f8, i8[::1])", cache=True, nogil=True)
def _smallest_reaching(
    values: Floats, weights: NDArray[np.int64], target: float, bins: NDArray[np.int64]
) -> float:
    low, high, below = np.inf, -np.inf, 0
    for v in values:
        if not np.isnan(v):
            low = min(low, v)
            high = max(high, v)
    while low < high:
        scale = (len(bins) - 1) / (high - low)
        bins[:] = 0
        for i in range(len(values)):
            if low <= values[i] <= high:
                bins[int((values[i] - low) * scale)] += weights[i]
        chosen = 0
        while chosen < len(bins) - 1 and below + bins[chosen] < target:
            below += bins[chosen]
            chosen += 1
        first, last = np.inf, -np.inf
        for v in values:
            if low <= v <= high and int((v - low) * scale) == chosen:
                first = min(first, v)
                last = max(last, v)
        low, high = first, last
    return low if low < np.inf else np.nan


@njit("void(f8[:,::1], i8[::1], f8[:,::1], f8[:,::1])", cache=True, nogil=True)
def weighted_quantiles(
    values: Floats, weights: NDArray[np.int64], targets: Floats, out: Floats
) -> None:
    """out[p, q]: the smallest value whose cumulative integer weight reaches targets[p, q].

    Values are thrown into bins, and the bin with the quantile into bins again, so the cost is a
    few passes instead of a sort. NaN values are passed over.
    """
    bins = np.zeros(1024, np.int64)
    for p in range(values.shape[0]):
        for q in range(targets.shape[1]):
            out[p, q] = _smallest_reaching(values[p], weights, targets[p, q], bins)
