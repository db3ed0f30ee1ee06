"""Arrays as the statistics take them: float64, NaN for missing, nothing infinite."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voirdire.errors import StatisticsError

Floats = NDArray[np.float64]

#: The largest magnitude of which fourth powers (variances of squares) can be summed, and the
#: smallest that those powers leave above zero.
_LARGEST, _SMALLEST = 1e70, 1e-70
#: As many are sorted in less time than loading `numpy.ma` takes.
_FEW = 100_000
#: Whole numbers are counted where they span at most so many times their number.
_GAPS = 4
#: Types of the missing values of pandas, which is not imported for them.
_MISSING_TYPES = ("NAType", "NaTType")


def absent(cell: Any) -> bool:
    """Whether a cell of an object array is missing: None, NaN, or what pandas puts there."""
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return cell is None or type(cell).__name__ in _MISSING_TYPES


def masked(values: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Data as NumPy holds them, and the mask where there is one.

    A list that mixes words with None or NaN stays a list of objects: NumPy would spell NaN "nan".

    Raises
    ------
    StatisticsError
        For rows of unequal length.
    """
    # Nobody made a masked array where the module that has them was never loaded.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):
        return np.ma.getdata(values), np.ma.getmaskarray(values)
    try:
        data = np.asarray(values)
        if data.dtype.kind == "U" and not hasattr(values, "dtype"):
            data = np.asarray(values, dtype=object)
    except ValueError as error:
        raise StatisticsError(f"{name} must form a rectangular array: {error}") from error
    # NumPy's strings of any length (kind T) are objects to all that follows.
    return (data.astype(object) if data.dtype.kind == "T" else data), None


def numbers(values: Any, name: str) -> Floats:
    """`values` as float64 of any shape; None, NaN, pandas' NA and masked cells are missing.

    Raises
    ------
    StatisticsError
        For anything that is no real number: text, complex numbers, dates.
    """
    data, mask = masked(values, name)
    if data.dtype.kind == "O":
        data = _from_objects(data, name)
    if data.dtype.kind not in "biuf":
        raise StatisticsError(f"{name} must hold numbers or NaN only, got dtype {data.dtype}")
    floats = np.asarray(data, dtype=np.float64)
    return floats if mask is None else np.where(mask, np.nan, floats)


def _from_objects(data: NDArray[Any], name: str) -> Floats:
    text = next((cell for cell in data.flat if isinstance(cell, str | bytes)), None)
    if text is not None:
        raise StatisticsError(f"{name} must hold numbers or NaN only, got {text!r}")
    try:
        cells = [np.nan if absent(cell) else float(cell) for cell in data.flat]
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{name} must hold numbers or NaN only: {error}") from error
    return np.array(cells, dtype=np.float64).reshape(data.shape)


def floats(values: Any, name: str, ndim: int) -> Floats:
    """`numbers` of `ndim` dimensions whose fourth powers are finite.

    Raises
    ------
    StatisticsError
        As `numbers`; for infinite values, those whose fourth power would be, and any other number
        of dimensions.
    """
    given = numbers(values, name)
    if given.ndim != ndim:
        raise StatisticsError(f"{name} must have {ndim} dimension(s), got shape {given.shape}")
    unfit = np.abs(given) > _LARGEST
    if unfit.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(unfit))
        what = "infinite" if np.isinf(given[where]) else f"{given[where]:g}"
        raise StatisticsError(
            f"{name} is {what} at {where}; missing values are NaN, others at most {_LARGEST:g}"
        )
    return given


def magnified(values: Floats) -> tuple[Floats, int]:
    """Values whose squares would vanish, times 2^e that brings them near one, and e.

    Everything else comes back as it is, with e = 0.
    """
    # fmax passes over NaN, which max would return.
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if not 0 < largest < _SMALLEST:
        return values, 0
    # By a power of two, which changes no digit.
    exponent = -int(np.frexp(largest)[1])
    return np.ldexp(values, exponent), exponent


def occurring(values: Floats) -> Floats:
    """The values that occur, each once, from the smallest; NaN is none.

    >>> occurring(np.array([[3.0, np.nan], [1.0, 3.0]])).tolist()
    [1.0, 3.0]
    """
    present = values[~np.isnan(values)]
    # Points of a scale are few and whole: counting them is a tenth of sorting.
    if len(present) and present.max() - present.min() < len(present):
        low = present.min()
        place = (present - low).astype(np.intp)
        if (place + low == present).all():
            return np.asarray(np.flatnonzero(np.bincount(place)) + low)
    # `np.unique` is faster on many, and loads NumPy's masked arrays, which costs more than a few.
    if len(present) > _FEW:
        return np.unique(present)
    present.sort()
    first = np.ones(len(present), np.bool_)
    first[1:] = present[1:] != present[:-1]
    return present[first]


def median(values: Floats) -> float:
    """The middle value, or the mean of both; NaN of none. `np.median` loads NumPy's masked arrays.

    >>> median(np.array([3.0, 1.0, 2.0, 5.0]))
    2.5
    """
    ordered = np.sort(values)
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return float(middle.mean()) if len(middle) else math.nan


def coded(names: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The names that occur, sorted, and the place of each row among them.

    As `np.unique` finds them; whole numbers that lie close together are counted, not sorted.

    >>> [part.tolist() for part in coded(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    if names.dtype.kind in "iu" and len(names):
        low = names.min()
        if int(names.max()) - int(low) < _GAPS * len(names):
            place = (names - low).astype(np.intp)
            there = np.bincount(place) > 0
            found = np.flatnonzero(there)
            codes = place if len(found) == len(there) else (np.cumsum(there) - 1)[place]
            return found.astype(names.dtype) + low, codes
    found, codes = np.unique(names, return_inverse=True)
    return found, codes.astype(np.intp)


def row_names(values: Any, n: int, name: str) -> NDArray[Any]:
    """One sortable name a row: items, clusters, systems. A row without one belongs nowhere.

    Raises
    ------
    StatisticsError
        For another shape than (n,), and for a missing name.
    """
    data, mask = masked(values, name)
    if data.shape != (n,):
        raise StatisticsError(f"{name} must hold one entry a row ({n}), got shape {data.shape}")
    gaps = np.zeros(n, np.bool_) if mask is None else mask
    # Whole numbers and text have no missing value, and to look at each would cost a pass.
    if data.dtype.kind in "Of":
        gaps = gaps | np.array([absent(cell) for cell in data], dtype=np.bool_)
    if gaps.any():
        raise StatisticsError(f"{name} of row {int(np.flatnonzero(gaps)[0])} is missing")
    # Names of mixed types have no order of their own, and np.unique sorts.
    return data.astype(str) if data.dtype.kind == "O" else data


def yes_or_no(values: Any, n: int, name: str) -> NDArray[np.bool_]:
    """One True or False (1 or 0) a row.

    Raises
    ------
    StatisticsError
        For another shape than (n,), and anything else, missing included.
    """
    given = numbers(values, name)
    if given.shape != (n,):
        raise StatisticsError(f"{name} must hold one entry a row ({n}), got shape {given.shape}")
    if not np.isin(given, (0, 1)).all():
        row = int(np.flatnonzero(~np.isin(given, (0, 1)))[0])
        raise StatisticsError(f"{name} must be True or False, got {given[row]:g} in row {row}")
    return given.astype(np.bool_)


def ratings_matrix(Y: Any, name: str = "Y") -> Floats:
    """(n subjects, k raters) as float64."""
    return floats(Y, name, 2)


def complete_rows(Y: Floats) -> Floats:
    """The rows without a missing value."""
    return Y[~np.isnan(Y).any(axis=1)]


def check_level(level: float) -> float:
    """A nominal coverage in (0, 1)."""
    if not 0 < level < 1:
        raise StatisticsError(f"level must lie strictly between 0 and 1, got {level!r}")
    return float(level)


def check_draws(n_resamples: int, seed: int = 0) -> None:
    """A positive number of resamples and a seed that NumPy takes."""
    if _whole(n_resamples, "n_resamples") < 1:
        raise StatisticsError(f"n_resamples must be at least 1, got {n_resamples!r}")
    if _whole(seed, "seed") < 0:
        raise StatisticsError(f"seed must be at least 0, got {seed!r}")


def generator(seed: int) -> np.random.Generator:
    """NumPy's generator of that seed; the same seed gives the same stream on any machine."""
    check_draws(1, seed)
    return np.random.default_rng(seed)


def _whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise StatisticsError(f"{name} must be a whole number, got {value!r}") from None
