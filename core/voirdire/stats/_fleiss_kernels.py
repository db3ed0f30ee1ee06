"""Kernels of Fleiss' kappa per label."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.stats._jit import njit


@njit(nogil=True)
def to_cells(x: Any, out: Any) -> Any:
    """Codes 1, 0 and -1 (NaN); returns where any other value stands, or -1."""
    for i in range(x.size):
        value = x[i]
        if value == 0.0:
            out[i] = 0
        elif value == 1.0:
            out[i] = 1
        elif value != value:  # noqa: PLR0124 - only NaN differs from itself
            out[i] = -1
        else:
            return i
    return -1


@njit(nogil=True)
def tally(X: Any, runs: Any, labels: Any, tallies: Any) -> Any:
    """Count, for each label, items by (ratings present, ratings 1).

    X is flat over (items, runs, labels); `tallies` is flat over (labels, (runs + 1) squared).
    A cell adds runs + 1 where a rating is present and 1 more where it is 1, so that the sum over
    runs is itself the place to count at.
    """
    step = runs + 1
    size = step * step
    place = np.empty(labels, np.int64)
    at = 0
    for _ in range(X.size // (runs * labels)):
        for c in range(labels):
            place[c] = 0
        for _ in range(runs):
            for c in range(labels):
                cell = np.int64(X[at + c])
                place[c] += (step + cell) * (cell >= 0)
            at += labels
        for c in range(labels):
            tallies[c * size + place[c]] += 1
    return tallies


@njit(nogil=True)
def place_items(X: Any, runs: Any, labels: Any, places: Any) -> Any:
    """The place of each item and label as `tally` counts it, into (items * labels,)."""
    step = runs + 1
    at = 0
    for i in range(X.size // (runs * labels)):
        for _ in range(runs):
            for c in range(labels):
                cell = np.int64(X[at + c])
                places[i * labels + c] += (step + cell) * (cell >= 0)
            at += labels
    return places
