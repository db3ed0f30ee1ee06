"""Kernel of Krippendorff's alpha over weighted patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.stats._jit import interpreted, njit

NOMINAL, ORDINAL, INTERVAL, RATIO, MATRIX = range(5)


@interpreted(error_model="numpy")
def _category_counts(rows: Any, sizes: Any, weights: Any, q: int) -> Any:
    counts = np.zeros(q, np.float64)
    for u in range(sizes.size):
        if weights[u] > 0:
            for j in range(sizes[u]):
                counts[rows[u, j]] += weights[u]
    return counts


@interpreted(error_model="numpy")
def _to_mid_ranks(counts: Any) -> None:
    """In place: the ordinal metric is the interval metric on mid-ranks."""
    below = 0.0
    for c in range(counts.size):
        here = counts[c]
        counts[c] = below + here / 2.0
        below += here


@njit(error_model="numpy")
def _difference(a: Any, b: Any, values: Any, matrix: Any, metric: Any) -> Any:
    """Squared difference of two categories under the ratio metric or a given matrix."""
    if metric == MATRIX:
        return matrix[a, b]
    total = values[a] + values[b]
    return 0.0 if total == 0.0 else ((values[a] - values[b]) / total) ** 2


@interpreted(error_model="numpy")
def _nominal(rows: Any, sizes: Any, weights: Any, counts: Any) -> Any:
    """Sums of disagreeing pairs, within items (each over m - 1) and overall."""
    within = 0.0
    for u in range(sizes.size):
        if weights[u] == 0:
            continue
        size = sizes[u]
        same, run = 0, 0
        for j in range(size):
            run = run + 1 if j > 0 and rows[u, j] == rows[u, j - 1] else 1
            same += 2 * (run - 1)
        within += weights[u] * ((size * (size - 1) - same) / (size - 1))
    total, squares = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c]
        squares += counts[c] * counts[c]
    return within, total * total - squares


@interpreted(error_model="numpy")
def _squared(rows: Any, sizes: Any, weights: Any, values: Any) -> Any:
    """Sums of squared differences of pairs in closed form: no loop over pairs of values."""
    total, mean = 0.0, 0.0
    for u in range(sizes.size):
        if weights[u] > 0:
            for j in range(sizes[u]):
                total += weights[u]
                mean += weights[u] * values[rows[u, j]]
    mean /= total
    within, overall = 0.0, 0.0
    for u in range(sizes.size):
        if weights[u] == 0:
            continue
        size, centre, spread = sizes[u], 0.0, 0.0
        for j in range(size):
            centre += values[rows[u, j]]
        centre /= size
        for j in range(size):
            value = values[rows[u, j]]
            spread += (value - centre) ** 2
            overall += weights[u] * (value - mean) ** 2
        within += weights[u] * (2.0 * size * spread / (size - 1))
    return within, 2.0 * total * overall


@njit(error_model="numpy")
def _paired(
    rows: Any, sizes: Any, weights: Any, counts: Any, values: Any, matrix: Any, metric: Any
) -> Any:
    """Sums of differences of pairs where no closed form exists."""
    within, overall = 0.0, 0.0
    for u in range(sizes.size):
        if weights[u] == 0:
            continue
        part = 0.0
        for i in range(sizes[u]):
            for j in range(i):
                part += 2.0 * _difference(rows[u, i], rows[u, j], values, matrix, metric)
        within += weights[u] * (part / (sizes[u] - 1))
    for a in range(counts.size):
        if counts[a] == 0:
            continue
        for b in range(a):
            if counts[b] > 0:
                delta = _difference(a, b, values, matrix, metric)
                overall += 2.0 * counts[a] * counts[b] * delta
    return within, overall


@interpreted(error_model="numpy")
def _varies(rows: Any, sizes: Any, weights: Any, values: Any) -> Any:
    """Whether two different values stand in patterns that were drawn."""
    first = np.nan
    for u in range(sizes.size):
        if weights[u] > 0:
            for j in range(sizes[u]):
                value = values[rows[u, j]]
                if first != first:  # noqa: PLR0124 - only NaN differs from itself
                    first = value
                elif value != first:
                    return True
    return False


@interpreted(error_model="numpy")
def _ratings(sizes: Any, weights: Any) -> Any:
    total = 0.0
    for u in range(sizes.size):
        total += weights[u] * sizes[u]
    return total


@interpreted(error_model="numpy")
def alpha_parts(rows: Any, sizes: Any, weights: Any, values: Any, metric: Any, out: Any) -> None:
    """For each row of weights over patterns: ratings, observed and expected disagreement.

    Nominal, ordinal and interval metrics, which have closed forms. Expected disagreement is
    exactly 0 where one value occurs, never a rounding error.
    """
    for b in range(weights.shape[0]):
        w = weights[b]
        total = _ratings(sizes, w)
        out[b, 0] = total
        if total == 0 or not _varies(rows, sizes, w, values):
            continue
        if metric == INTERVAL:
            within, overall = _squared(rows, sizes, w, values)
        else:
            counts = _category_counts(rows, sizes, w, values.size)
            if metric == NOMINAL:
                within, overall = _nominal(rows, sizes, w, counts)
            else:
                _to_mid_ranks(counts)
                within, overall = _squared(rows, sizes, w, counts)
        out[b, 1] = within / total
        out[b, 2] = overall / (total * (total - 1.0))


@njit(error_model="numpy")
def alpha_pairs(
    rows: Any, sizes: Any, weights: Any, values: Any, matrix: Any, metric: Any, out: Any
) -> None:
    """As `alpha_parts`, for the ratio metric and for a matrix of differences."""
    for b in range(weights.shape[0]):
        w = weights[b]
        total = _ratings(sizes, w)
        out[b, 0] = total
        if total == 0 or not _varies(rows, sizes, w, values):
            continue
        counts = _category_counts(rows, sizes, w, values.size)
        within, overall = _paired(rows, sizes, w, counts, values, matrix, metric)
        out[b, 1] = within / total
        out[b, 2] = overall / (total * (total - 1.0))
