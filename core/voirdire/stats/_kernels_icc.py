"""Loops behind the bootstrap of ICC: arrays in, arrays out, one signature each.

Sums run over subjects in order and no fast-math is used, so that a result does not depend on
threads, on the machine's vector width or on whether the JIT is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

#: Sums that are added to at once: more would not stay in the cache.
_AT_ONCE = 8192


def _sums_in_numpy(counts: Floats, features: Floats, out: Floats) -> None:
    n, resamples = counts.shape
    rows, sums = features.reshape(-1, n), out.reshape(-1, resamples)
    height = max(1, _AT_ONCE // max(resamples, 1))
    # Products go into the same room again and again: a new array for each costs as much as they do.
    room = np.empty((height, resamples))
    for start in range(0, len(rows), height):
        some = sums[start : start + height]
        part, some[:] = room[: len(some)], 0.0
        # Subject after subject, as the loop does: a matrix product adds in an order of its own,
        # which moves the last bit.
        for terms, drawn in zip(rows[start : start + height].T[:, :, None], counts, strict=True):
            some += np.multiply(terms, drawn, out=part)


@njit(
    "void(f8[:,::1], f8[:,:,::1], f8[:,:,::1])",
    stand_in=_sums_in_numpy,
    nogil=True,
    error_model="numpy",
)
def weighted_sums(counts: Floats, features: Floats, out: Floats) -> None:
    """out[p, f, b] = Σ_i counts[i, b] features[p, f, i].

    Tiles of subjects keep their counts in cache while every feature is summed over them, and the
    inner loop runs over resamples; each sum still adds its subjects in order.
    """
    n, resamples = counts.shape
    # 128 KiB of counts.
    tile = max(1, 16384 // max(resamples, 1))
    out[:] = 0.0
    for start in range(0, n, tile):
        for p in range(features.shape[0]):
            for f in range(features.shape[1]):
                for i in range(start, min(start + tile, n)):
                    x = features[p, f, i]
                    for b in range(resamples):
                        out[p, f, b] += counts[i, b] * x


@njit(
    "void(f8[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1])",
    nogil=True,
    error_model="numpy",
)
def _mean_squares(
    sums: Floats, sizes: Floats, columns: Floats, tolerances: Floats, out: Floats
) -> None:
    """out[:, b]: MSR, MSC, MSE from the summed features; what is round-off is zero."""
    k, resamples = len(columns), len(sizes)
    for b in range(resamples):
        # Σx² - (Σx)² / n loses few digits here: x are deviations from the whole sample's mean
        # already.
        out[0, b] = k * (sums[1, b] - sums[0, b] * sums[0, b] / sizes[b])
        out[1, b] = 0.0
        out[2, b] = sums[2, b]
    for j in range(k):
        for b in range(resamples):
            mean = sums[3 + j, b] / sizes[b]
            # Features hold what rows and raters leave; a rater's effect in the resample is its
            # effect in the sample and the mean of what was left.
            out[1, b] += sizes[b] * (mean + columns[j]) * (mean + columns[j])
            out[2, b] -= sizes[b] * mean * mean
    for b in range(resamples):
        # Tolerances are stated a subject. What lies below them is no variance, and 0 / 0 is seen as
        # such.
        n = sizes[b]
        out[0, b] = out[0, b] / (n - 1.0) if out[0, b] > n * tolerances[0] else 0.0
        out[1, b] = out[1, b] / (k - 1.0) if out[1, b] > n * tolerances[1] else 0.0
        out[2, b] = out[2, b] / ((n - 1.0) * (k - 1.0)) if out[2, b] > n * tolerances[2] else 0.0


@njit("void(f8[:,::1], f8[::1], f8[:,::1], f8[::1])", nogil=True, error_model="numpy")
def _line(line: Floats, sizes: Floats, squares: Floats, out: Floats) -> None:
    """out[b]: a combination of mean squares; what cancels up to round-off is zero."""
    for b in range(len(sizes)):
        a = (line[0, 0] + line[0, 1] / sizes[b]) * squares[0, b]
        c = (line[1, 0] + line[1, 1] / sizes[b]) * squares[1, b]
        e = (line[2, 0] + line[2, 1] / sizes[b]) * squares[2, b]
        # Equal mean squares leave a rounding error of their difference, which must not be divided
        # by.
        total = a + c + e
        out[b] = total if abs(total) > 1e-14 * (abs(a) + abs(c) + abs(e)) else 0.0


def _icc_in_numpy(
    sums: Floats,
    sizes: Floats,
    columns: Floats,
    tolerances: Floats,
    forms: Floats,
    out: Floats,
) -> None:
    k = columns.shape[1]
    rows, error = sums[:, 1] - sums[:, 0] * sums[:, 0] / sizes, sums[:, 2]
    raters = np.zeros_like(rows)
    for j in range(k):
        mean = sums[:, 3 + j] / sizes
        shifted = mean + columns[:, j, None]
        raters = raters + sizes * shifted * shifted
        error = error - sizes * mean * mean
    parts = [k * rows, raters, error]
    below = [sizes - 1.0, k - 1.0, (sizes - 1.0) * (k - 1.0)]
    squares = [
        np.where(part > sizes * tolerances[:, place, None], part / below[place], 0.0)
        for place, part in enumerate(parts)
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        for f, (above, under) in enumerate(forms):
            whole = _line_in_numpy(under, sizes, squares)
            quotient = _line_in_numpy(above, sizes, squares) / whole
            out[:, f] = np.where(whole != 0.0, quotient, np.nan)


def _line_in_numpy(line: Floats, sizes: Floats, squares: list[Floats]) -> Floats:
    a, c, e = (
        (one + each / sizes) * square for (one, each), square in zip(line, squares, strict=True)
    )
    total = a + c + e
    return np.where(np.abs(total) > 1e-14 * (np.abs(a) + np.abs(c) + np.abs(e)), total, 0.0)


@njit(
    "void(f8[:,:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,:,:,::1], f8[:,:,::1])",
    stand_in=_icc_in_numpy,
    nogil=True,
    error_model="numpy",
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
    resamples = len(sizes)
    squares = np.empty((3, resamples))
    below = np.empty(resamples)
    for p in range(sums.shape[0]):
        _mean_squares(sums[p], sizes, columns[p], tolerances[p], squares)
        for f in range(forms.shape[0]):
            _line(forms[f, 0], sizes, squares, out[p, f])
            _line(forms[f, 1], sizes, squares, below)
            for b in range(resamples):
                out[p, f, b] = out[p, f, b] / below[b] if below[b] != 0.0 else np.nan


@njit("f8(f8[::1], i8[::1], f8, i8[::1])", nogil=True, error_model="numpy")
def _smallest_reaching(
    values: Floats, weights: NDArray[np.int64], target: float, bins: NDArray[np.int64]
) -> float:
    low, high, below = np.inf, -np.inf, 0
    for v in values:
        if not np.isnan(v):
            low = min(low, v)
            high = max(high, v)
    # Each round keeps one bin of 1,024: a handful of passes, and the interval is a single value.
    while low < high:
        scale = (len(bins) - 1) / (high - low)
        bins[:] = 0
        for i in range(len(values)):
            if low <= values[i] <= high:
                bins[int((values[i] - low) * scale)] += weights[i]
        chosen = 0
        # The last bin takes whatever rounding of the target leaves over.
        while chosen < len(bins) - 1 and below + bins[chosen] < target:
            below += bins[chosen]
            chosen += 1
        first, last = np.inf, -np.inf
        for v in values:
            # The very expression that counted them, so that no value changes its bin.
            if low <= v <= high and int((v - low) * scale) == chosen:
                first = min(first, v)
                last = max(last, v)
        low, high = first, last
    return low if low < np.inf else np.nan


def _quantiles_in_numpy(
    values: Floats, weights: NDArray[np.int64], targets: Floats, out: Floats
) -> None:
    for p, row in enumerate(values):
        present = ~np.isnan(row)
        if not present.any():
            out[p] = np.nan
            continue
        kept, counts = row[present], weights[present]
        low, high = kept.min(), kept.max()
        bins = np.zeros(len(kept), np.int64)
        if high > low:
            # The loop's first round; what is in the chosen bin is then sorted.
            bins = ((kept - low) * (1023 / (high - low))).astype(np.int64)
        reached = np.cumsum(np.bincount(bins, counts, 1024))
        for q, target in enumerate(targets[p]):
            chosen = min(int(np.searchsorted(reached, target)), int(bins.max()))
            inside = bins == chosen
            below = reached[chosen - 1] if chosen else 0.0
            out[p, q] = _first_reaching(kept[inside], counts[inside], target - below)


def _first_reaching(values: Floats, weights: NDArray[np.int64], target: float) -> float:
    order = np.argsort(values)
    place = int(np.searchsorted(np.cumsum(weights[order]), target))
    return float(values[order[min(place, len(order) - 1)]])


@njit(
    "void(f8[:,::1], i8[::1], f8[:,::1], f8[:,::1])",
    stand_in=_quantiles_in_numpy,
    nogil=True,
    error_model="numpy",
)
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
