"""Kernels over coded ratings."""

from __future__ import annotations

from typing import Any

import numpy as np

from voirdire.stats._jit import njit

_HASH_BOUND = 0x7FFFFFFF


@njit(nogil=True)
def integer_span(x: Any) -> Any:
    """Least and greatest value, and whether all are whole numbers."""
    low, high = np.inf, -np.inf
    for i in range(x.size):
        value = x[i]
        if value != value:  # noqa: PLR0124 - only NaN differs from itself
            continue
        if value != np.floor(value):
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
        if value == last or value != value:  # noqa: PLR0124 - only NaN differs from itself
            continue
        last = value
        known = False
        for j in range(count):
            if values[j] == value:
                known = True
                break
        if not known:
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


def _table_in_numpy(codes: Any, table: Any) -> None:
    a, b = codes[(codes[:, :2] >= 0).all(axis=1), :2].T.astype(np.int64)
    table += np.bincount(a * len(table) + b, minlength=table.size).reshape(table.shape)


@njit(nogil=True, stand_in=_table_in_numpy)
def cross_table(codes: Any, table: Any) -> None:
    """Count pairs of codes of which both are there."""
    for i in range(codes.shape[0]):
        a, b = codes[i, 0], codes[i, 1]
        if a >= 0 and b >= 0:
            table[a, b] += 1


@njit(nogil=True)
def _sorted_line(codes: Any, item: Any, line: Any) -> Any:
    """Write the item's ratings in order, and give how many there are."""
    size = 0
    for j in range(codes.shape[1]):
        code = codes[item, j]
        if code < 0:
            continue
        k = size
        while k > 0 and line[k - 1] > code:
            line[k] = line[k - 1]
            k -= 1
        line[k] = code
        size += 1
    return size


@njit(nogil=True)
def collapse_rows(codes: Any, table: Any, rows: Any, sizes: Any, counts: Any) -> Any:
    """Fill in distinct unordered rows, their sizes and multiplicities; return how many.

    Open addressing in `table` (a power of two long, all -1) on a hash of the sorted codes;
    equality is checked, so collisions cost time and never correctness.
    """
    line = np.empty(codes.shape[1], np.int64)
    found = 0
    for i in range(codes.shape[0]):
        size = _sorted_line(codes, i, line)
        mixed = size
        for k in range(size):
            mixed = (mixed * 1000003 + line[k] + 1) & _HASH_BOUND
        slot = (mixed ^ (mixed >> 15)) & (table.size - 1)
        while table[slot] >= 0:
            pattern = table[slot]
            same = sizes[pattern] == size
            k = 0
            while same and k < size:
                same = rows[pattern, k] == line[k]
                k += 1
            if same:
                break
            slot = (slot + 1) & (table.size - 1)
        if table[slot] < 0:
            table[slot] = found
            sizes[found] = size
            for k in range(size):
                rows[found, k] = line[k]
            found += 1
        counts[table[slot]] += 1
    return found


def _keys_in_numpy(codes: Any, power: Any, _: Any, keys: Any, first: Any, counts: Any) -> int:
    of_item = power[codes + 1].sum(axis=1)
    found, at, n = np.unique(of_item, return_index=True, return_counts=True)
    order = np.argsort(at)
    for out, values in ((keys, found), (first, at), (counts, n)):
        out[: len(order)] = values[order]
    return len(order)


@njit(nogil=True, stand_in=_keys_in_numpy)
def collapse_keys(codes: Any, power: Any, table: Any, keys: Any, first: Any, counts: Any) -> Any:
    """Fill in distinct count vectors as keys, an item of each, and multiplicities; return how many.

    `power[code + 1]` is what a rating adds to its item's key: counts stand side by side in the
    bits of one integer, so that equal keys are equal count vectors whatever the order of ratings.
    """
    found = 0
    for i in range(codes.shape[0]):
        key = np.int64(0)
        for j in range(codes.shape[1]):
            key += power[codes[i, j] + 1]
        mixed = ((key ^ (key >> 27)) & _HASH_BOUND) * 1000003
        slot = (mixed ^ (mixed >> 15)) & (table.size - 1)
        while table[slot] >= 0 and keys[table[slot]] != key:
            slot = (slot + 1) & (table.size - 1)
        if table[slot] < 0:
            table[slot] = found
            keys[found] = key
            first[found] = i
            found += 1
        counts[table[slot]] += 1
    return found
