"""Labels over runs as 0, 1 and -1 (missing), and their sufficient counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import masked, numbers
from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class LabelCells:
    """Cells flat over (items, runs, labels): 1 named, 0 not named, -1 missing."""

    flat: NDArray[np.int8]
    items: int
    runs: int
    labels: int


def label_cells(X: ArrayLike) -> LabelCells:
    """Check shape and values, and copy only where the input is not 0/1 in one byte already."""
    data, mask = masked(X, "labels")
    if data.ndim != 3:
        raise StatisticsError(f"labels must have shape (items, runs, labels), got {data.shape}")
    # Whole numbers without a mask hold no gap, and are looked at where they lie.
    exact = data.dtype.kind in "iub" and mask is None
    flat = _whole(data) if exact else _with_gaps(numbers(X, "labels"))
    return LabelCells(flat, *data.shape)


def _whole(data: NDArray[Any]) -> NDArray[np.int8]:
    if data.size and data.dtype.kind != "b" and (data.min() < 0 or data.max() > 1):
        _refuse(data, int(np.flatnonzero((data != 0) & (data != 1))[0]))
    # Bytes of 0 and 1 mean the same with and without a sign: nothing is copied.
    plain = data.view(np.int8) if data.dtype.itemsize == 1 else data.astype(np.int8)
    return np.ascontiguousarray(plain).reshape(-1)


def _with_gaps(data: NDArray[np.float64]) -> NDArray[np.int8]:
    x = np.ascontiguousarray(data)
    flat = np.empty(x.size, np.int8)
    bad = to_cells(x.reshape(-1), flat)
    if bad >= 0:
        _refuse(x, int(bad))
    return flat


def _refuse(data: NDArray[Any], position: int) -> None:
    item, run, label = np.unravel_index(position, data.shape)
    raise StatisticsError(
        f"labels must be 0, 1 or missing, got {data.ravel()[position].item()!r} for item {item}, "
        f"run {run}, label {label}"
    )


def tallied(cells: LabelCells) -> NDArray[np.int64]:
    """Items by (ratings present, ratings 1) for each label, shape (labels, (runs + 1) ** 2)."""
    size = (cells.runs + 1) ** 2
    # Without a run there is nothing to divide the cells by.
    if not cells.flat.size:
        return np.zeros((cells.labels, size), np.int64)
    empty = np.zeros(cells.labels * size, np.int64)
    tallies: NDArray[np.int64] = tally(cells.flat, cells.runs, cells.labels, empty)
    return tallies.reshape(cells.labels, size)


def joint_cells(cells: LabelCells) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows of cells over all labels, (p, labels), and how many items show each."""
    empty = np.zeros(cells.items * cells.labels, np.int32)
    places = place_items(cells.flat, cells.runs, cells.labels, empty)
    rows = places.reshape(cells.items, cells.labels)
    # Each row as one value of bytes: np.unique compares these many times faster than rows.
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * cells.labels))).ravel()
    _, first, counts = np.unique(whole, return_index=True, return_counts=True)
    return rows[first].astype(np.int64), counts


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
                # A product in place of a branch: the compiler then takes several labels at a time.
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
