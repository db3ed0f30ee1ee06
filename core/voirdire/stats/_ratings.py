"""Ratings as codes on declared levels; missing is -1 and stays missing.

Every coefficient on levels reads its data here, so all agree on what they are handed: text that
spells a number is that number ("1", 1 and 1.0 are one level, and "10" stands above "2"), unless
some rating or level is a word; then all are words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.late import dataclass
from voirdire.stats._arrays import absent, masked, numbers, occurring
from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

#: How text spells a number. "007", "1e3" and "+1" are names: read as numbers they would be one
#: with others that are spelled otherwise.
_NUMERAL = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
#: Above this many distinct values levels are looked up by sorting, not by scanning.
_FEW = 64
#: Whole numbers over at most so wide a span are looked up in a table.
_WIDE = 4096
#: Up to here float64 holds every whole number.
_EXACT = 2**53


@dataclass(frozen=True, slots=True)
class Ratings:
    """Coded ratings.

    Attributes
    ----------
    codes : (n, m) int32
        Position of each rating in `levels`; -1 where it is missing.
    levels : (q,) array
        The declared levels in their declared order, or those that occur, sorted.
    coded : bool
        False where every cell stands for a level of its own (see `as_is`).
    """

    codes: NDArray[np.int32]
    levels: NDArray[Any]
    coded: bool = True

    @property
    def n(self) -> int:
        """Items."""
        return int(self.codes.shape[0])

    @property
    def m(self) -> int:
        """Raters."""
        return int(self.codes.shape[1])

    def values(self, purpose: str) -> NDArray[np.float64]:
        """The levels as numbers; an error that names the purpose where they are words."""
        if self.levels.dtype.kind in "biuf":
            return self.levels.astype(np.float64)
        raise StatisticsError(
            f"{purpose} needs numeric levels, got {self.levels.tolist()!r}; "
            "nominal and ordinal work on any levels"
        )


def encode(R: ArrayLike, levels: Sequence[Any] | None = None) -> Ratings:
    """Code an (items, raters) array of numbers or words; NaN, None and masked cells are missing."""
    data, mask = _split(R)
    # An empty list is a table without items.
    if data.ndim == 1 and data.size == 0:
        data, mask = data.reshape(0, 0), mask.reshape(0, 0)
    if data.ndim != 2:
        raise StatisticsError(
            f"ratings must have shape (items, raters), got an array of shape {data.shape}"
        )
    return _encode(data, mask, levels)


def as_is(R: ArrayLike) -> Ratings | None:
    """Continuous ratings without a search for levels: each cell is its own; None where few occur.

    Time and memory stay linear in the number of ratings.
    """
    data, mask = _split(R)
    if data.dtype.kind != "f" or data.ndim != 2:
        return None
    x = floats(data, mask)
    # Few different values are levels, and patterns of levels are cheaper.
    if few_values(x.ravel(), _FEW)[1] >= 0:
        return None
    if np.isinf(x).any():
        raise StatisticsError("a rating is infinite; ratings must be finite or missing (NaN)")
    codes = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    codes[np.isnan(x)] = -1
    return Ratings(codes, x.ravel(), coded=False)


def encode_pair(a: ArrayLike, b: ArrayLike, levels: Sequence[Any] | None = None) -> Ratings:
    """Code two raters' ratings of the same items as two columns."""
    (x, x_mask), (y, y_mask) = _split(a), _split(b)
    if x.ndim != 1 or x.shape != y.shape:
        raise StatisticsError(
            f"two raters' ratings must be two arrays of one length, got shapes {x.shape} "
            f"and {y.shape}"
        )
    # Stacked with words, NumPy would spell the other rater's 1.0 as '1.0'.
    if not {x.dtype.kind, y.dtype.kind} <= set("biuf"):
        x, y = x.astype(object), y.astype(object)
    return _encode(np.stack([x, y], axis=1), np.stack([x_mask, y_mask], axis=1), levels)


def _encode(data: NDArray[Any], mask: NDArray[np.bool_], levels: Sequence[Any] | None) -> Ratings:
    # As words: text tells 2^53 from 2^53 + 1, and float64 does not.
    if _wide(data):
        return _encode_words(data, mask, np.unique(data[~mask]) if levels is None else levels)
    declared = None if levels is None else _declared(levels)
    numeric = data.dtype.kind in "biuf"
    x = floats(data, mask) if numeric else _spelled_numbers(data, mask)
    values = declared if declared is None else _numeric(declared)
    # One word among ratings or levels, and all are words: '1' and 1 are then two names.
    if x is None or (declared is not None and values is None):
        return _encode_words(data, mask, levels)
    if values is None and not numeric:
        values = distinct(x.ravel())
        # Whole numbers stay whole, so that a level is printed as it was written.
        values = values.astype(np.int64) if (values % 1 == 0).all() else values
    return _encode_numbers(x, values)


def spelled(cell: Any) -> str:
    """A label as text, whole numbers without a fraction: 1 and 1.0 are "1"."""
    whole = isinstance(cell, float | np.floating) and float(cell).is_integer()
    return str(int(cell)) if whole else str(cell)


def _spelled_numbers(data: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Cells as float64 where each is missing, a number or text that spells one; else None."""
    pairs = zip(data.ravel().tolist(), mask.flat, strict=True)
    cells = [None if hidden or absent(cell) else cell for cell, hidden in pairs]
    texts = {cell for cell in cells if isinstance(cell, str)}
    # Larger ones would be one with their neighbours as float64.
    if any(not _NUMERAL.fullmatch(text) or abs(float(text)) >= _EXACT for text in texts):
        return None
    return np.array([np.nan if c is None else float(c) for c in cells]).reshape(data.shape)


def _numeric(declared: NDArray[Any]) -> NDArray[Any] | None:
    """Declared levels as numbers; None where one of them is a word."""
    if declared.dtype.kind in "biuf":
        return declared
    values = _spelled_numbers(declared, np.zeros(declared.shape, np.bool_))
    return None if values is None else _declared(values)


def _split(R: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Data and mask; an object array that holds only numbers and gaps becomes float64."""
    data, mask = masked(R, "ratings")
    if data.dtype.kind == "O" and not any(isinstance(cell, str) for cell in data.flat):
        try:
            data = numbers(data, "ratings")
        except StatisticsError as error:
            raise StatisticsError(f"ratings must be numbers or words: {error}") from error
    if data.dtype.kind not in "biufUO":
        raise StatisticsError(f"ratings must be numbers or words, got dtype {data.dtype}")
    return data, np.zeros(data.shape, np.bool_) if mask is None else mask


def _wide(data: NDArray[Any]) -> bool:
    """Whether float64 would take different whole numbers for one."""
    whole = data.dtype.kind in "iu" and data.size > 0
    return whole and max(-int(data.min()), int(data.max())) > _EXACT


def floats(data: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Contiguous float64 with NaN in masked cells."""
    out = np.ascontiguousarray(data, dtype=np.float64)
    if mask.any():
        out = np.where(mask, np.nan, out)
    return out


def _encode_numbers(x: NDArray[np.float64], declared: NDArray[Any] | None) -> Ratings:
    flat = x.reshape(-1)
    if declared is None:
        declared = distinct(flat)
    codes, bad = _codes(flat, declared.astype(np.float64))
    if bad >= 0:
        _undeclared(flat[bad].item(), bad, x.shape[1], declared)
    return Ratings(codes.reshape(x.shape), declared)


def _codes(flat: NDArray[np.float64], levels: NDArray[np.float64]) -> tuple[NDArray[np.int32], int]:
    """Places of the values among the levels, and where an undeclared value stands, or -1."""
    low = levels.min(initial=np.inf)
    codes = np.empty(flat.size, np.int32)
    # A table answers in one step. It needs whole levels over a span that stays in the cache.
    if len(levels) and (levels % 1 == 0).all() and _near(low, levels.max()):
        place = np.full(int(levels.max() - low) + 1, -1, np.int32)
        place[(levels - low).astype(np.int64)] = np.arange(len(levels))
        return codes, int(code_integers(flat, low, place, codes))
    order = np.argsort(levels)
    codes, bad = code_values(flat, levels[order])
    # Places among sorted levels become places in the declared order; -1 stays what is missing.
    return (codes if bad >= 0 else np.append(order, -1).astype(np.int32)[codes]), int(bad)


def _encode_words(x: NDArray[Any], mask: NDArray[np.bool_], levels: ArrayLike | None) -> Ratings:
    pairs = zip(x.ravel().tolist(), mask.flat, strict=True)
    cells = [None if hidden else cell for cell, hidden in pairs]
    present = [cell for cell in cells if not absent(cell)]
    declared = _declared(sorted({spelled(cell) for cell in present}) if levels is None else levels)
    place = {spelled(level): code for code, level in enumerate(declared.tolist())}
    codes = np.full(len(cells), -1, np.int32)
    for position, cell in enumerate(cells):
        if absent(cell):
            continue
        code = place.get(spelled(cell))
        if code is None:
            _undeclared(cell, position, x.shape[1], declared)
        codes[position] = code
    return Ratings(codes.reshape(x.shape), declared)


def _declared(levels: ArrayLike) -> NDArray[Any]:
    given, _ = masked(levels, "levels")
    if given.ndim != 1:
        raise StatisticsError(f"levels must be a flat sequence, got {levels!r}")
    if any(absent(level) for level in given.tolist()):
        raise StatisticsError(f"a level cannot be missing, got {given.tolist()!r}")
    declared = np.asarray(levels)
    if len({spelled(level) for level in declared.tolist()}) != len(declared):
        raise StatisticsError(f"levels must differ, got {declared.tolist()!r}")
    return declared


def _undeclared(value: Any, position: int, columns: int, declared: NDArray[Any]) -> NoReturn:
    row, column = divmod(position, columns)
    where = f"item {row}, rater {column}"
    raise not_one_of("rating", value, declared.tolist(), where, StatisticsError)


def _near(low: float, high: float) -> bool:
    """Whether a table can span two numbers; halves, since the span of huge ones overflows."""
    return bool(high / 2 - low / 2 < _WIDE / 2)


def distinct(flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """The finite values that occur, sorted; infinite ratings are an error."""
    low, high, whole = integer_span(flat)
    # Nothing but gaps.
    if whole and low > high:
        return np.zeros(0)
    if whole and _near(low, high):
        seen = np.zeros(int(high - low) + 1, np.bool_)
        mark_integers(flat, low, seen)
        return low + np.flatnonzero(seen)
    # To sort millions of ratings in order to see five levels would take longer than one pass.
    few, count = few_values(flat, _FEW)
    values = np.sort(few[:count]) if count >= 0 else occurring(flat)
    if len(values) and not np.isfinite(values[[0, -1]]).all():
        raise StatisticsError("a rating is infinite; ratings must be finite or missing (NaN)")
    return values


@njit(nogil=True)
def integer_span(x: Any) -> Any:
    """Least and greatest value, and whether all are whole numbers."""
    low, high = np.inf, -np.inf
    for i in range(x.size):
        value = x[i]
        if value != value:  # noqa: PLR0124 - only NaN differs from itself
            continue
        if value != np.floor(value):
            # One fraction is enough: no table of whole numbers will do.
            return low, high, False
        low = min(low, value)
        high = max(high, value)
    return low, high, True


@njit(nogil=True)
def mark_integers(x: Any, low: Any, seen: Any) -> None:
    """Mark which whole numbers from `low` on occur."""
    for i in range(x.size):
        value = x[i]
        if value == value:  # noqa: PLR0124
            seen[int(value - low)] = True


def _codes_in_numpy(x: Any, low: Any, place: Any, codes: Any) -> int:
    missing = np.isnan(x)
    step = np.where(missing, 0.0, x - low)
    inside = (step >= 0) & (step < place.size)
    at = np.where(inside, step, 0.0).astype(np.int64)
    codes[:] = np.where(missing, -1, place[at])
    bad = np.flatnonzero(~missing & ~(inside & (at == step) & (place[at] >= 0)))
    return int(bad[0]) if bad.size else -1


@njit(nogil=True, stand_in=_codes_in_numpy)
def code_integers(x: Any, low: Any, place: Any, codes: Any) -> Any:
    """Codes of whole numbers by a table from `low` on; where an undeclared value stands, or -1."""
    for i in range(x.size):
        value = x[i]
        if value != value:  # noqa: PLR0124
            codes[i] = -1
            continue
        step = value - low
        if not 0 <= step < place.size:
            return i
        at = int(step)
        # Between two whole levels, or a whole number that no level is.
        if at != step or place[at] < 0:
            return i
        codes[i] = place[at]
    return -1


@njit(nogil=True)
def few_values(x: Any, limit: int) -> Any:
    """Distinct values in order of appearance, and their count (-1: more than `limit`)."""
    values = np.empty(limit, np.float64)
    count = 0
    last = np.nan
    for i in range(x.size):
        value = x[i]
        # Ratings come in runs: most are the one before.
        if value == last or value != value:  # noqa: PLR0124 - only NaN differs from itself
            continue
        last = value
        seen = False
        for j in range(count):
            if values[j] == value:
                seen = True
                break
        if not seen:
            if count == limit:
                return values, -1
            values[count] = value
            count += 1
    return values, count


@njit(nogil=True)
def code_values(x: Any, levels: Any) -> Any:
    """Position of each value in sorted levels (-1: missing), and where an undeclared one stands."""
    codes = np.empty(x.size, np.int32)
    last = levels.size - 1
    for i in range(x.size):
        value = x[i]
        if value != value:  # noqa: PLR0124
            codes[i] = -1
            continue
        # Bisection; np.searchsorted would need a second pass to tell what is not declared.
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if levels[middle] < value:
                low = middle + 1
            else:
                high = middle
        if last < 0 or levels[low] != value:
            return codes, i
        codes[i] = low
    return codes, -1
