"""Items collapsed to unordered count vectors: all that agreement statistics depend on."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, generator
from voirdire.stats._jit import njit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    #: Rows, sizes and multiplicities.
    Parts = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]


#: Bits of a key that holds a count vector.
_KEY_BITS = 62
#: Cells of one block of resampled counts.
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class DistinctRows:
    """Distinct unordered rows of ratings with their multiplicities.

    Attributes
    ----------
    rows : (p, m) int32
        Sorted codes of each pattern, -1 after the last rating.
    sizes : (p,) int64
        Ratings in each pattern.
    counts : (p,) int64
        Items that show the pattern.
    """

    rows: NDArray[np.int32]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Items."""
        return int(self.counts.sum())

    def keep(self, least: int) -> DistinctRows:
        """Only patterns of at least so many ratings."""
        kept = self.sizes >= least
        if kept.all():
            return self
        return DistinctRows(self.rows[kept], self.sizes[kept], self.counts[kept])

    def table(self, q: int) -> NDArray[np.float64]:
        """Ratings of each pattern in each of q categories, shape (p, q)."""
        p, m = self.rows.shape
        flat = (
            np.bincount(
                (self.rows + 1 + (q + 1) * np.arange(p)[:, None]).ravel(), minlength=p * (q + 1)
            )
            if m
            else np.zeros(p * (q + 1))
        )
        return flat.reshape(p, q + 1)[:, 1:].astype(np.float64)


def collapse(codes: NDArray[np.int32], q: int) -> DistinctRows:
    """Collapse the rows of (n, m) codes of q levels, in an order that no permutation changes."""
    _n, m = codes.shape
    bits = m.bit_length()
    # m ratings may all fall on one level: each count needs the bits of m.
    packed = q * bits <= _KEY_BITS
    rows, sizes, counts = _by_keys(codes, q, bits) if packed else _by_rows(codes)
    # A hash table holds them in the order of the data; sorted, permuted items give the same sums
    # and the same draws of a seed.
    order = np.lexsort(rows.T[::-1]) if rows.size else np.arange(len(rows))
    return DistinctRows(rows[order], sizes[order], counts[order])


def _by_keys(codes: NDArray[np.int32], q: int, bits: int) -> Parts:
    """Few levels: a count vector fits into the bits of one integer, and nothing is sorted."""
    n, m = codes.shape
    # So many different count vectors of at most m ratings there are.
    most = min(n, comb(m + q, q))
    power = np.zeros(q + 1, np.int64)
    power[1:] = 1 << (bits * np.arange(q))
    keys, first, counts = (np.zeros(most, np.int64) for _ in range(3))
    distinct = collapse_keys(np.ascontiguousarray(codes), power, _table(most), keys, first, counts)
    kept = codes[first[:distinct]]
    # What is missing sorts behind every level.
    last = np.iinfo(np.int32).max
    rows = np.sort(np.where(kept < 0, last, kept), axis=1)
    return np.where(rows == last, -1, rows), (kept >= 0).sum(axis=1), counts[:distinct]


def _by_rows(codes: NDArray[np.int32]) -> Parts:
    """Many levels: rows are sorted and compared."""
    n = len(codes)
    rows = np.full(codes.shape, -1, np.int32)
    sizes, counts = np.zeros(n, np.int64), np.zeros(n, np.int64)
    distinct = collapse_rows(np.ascontiguousarray(codes), _table(n), rows, sizes, counts)
    return rows[:distinct], sizes[:distinct], counts[:distinct]


def _table(most: int) -> NDArray[np.int64]:
    """An empty hash table, half full at most."""
    return np.full(1 << max(4, (2 * most).bit_length()), -1, np.int64)


def uncollapsed(codes: NDArray[np.int32]) -> DistinctRows:
    """Every row its own pattern, ratings first and -1 after them."""
    missing = codes < 0
    sizes, counts = codes.shape[1] - missing.sum(axis=1), np.ones(len(codes), np.int64)
    if missing.any():
        order = np.argsort(missing, axis=1, kind="stable")
        codes = np.take_along_axis(codes, order, axis=1)
    return DistinctRows(codes, sizes, counts)


def resampled_counts(
    counts: NDArray[np.int64], n_resamples: int, seed: int
) -> Iterator[NDArray[np.int64]]:
    """Multiplicities of a bootstrap over items, in blocks of shape (b, p).

    Drawing n items with replacement is one multinomial over the distinct patterns. NumPy draws
    row after row, so the stream does not depend on the size of the blocks.
    """
    rng = generator(seed)
    n = int(counts.sum())
    block = max(1, _BLOCK // max(1, len(counts)))
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        # Exactly the law of the counts when n items are drawn one by one, at a cost by patterns.
        yield rng.multinomial(n, counts / n, size=size)


def of_counts(
    statistic: Callable[[Floats], Floats], features: Floats, blocks: Iterable[NDArray[np.int64]]
) -> Floats:
    """A statistic of features (p, f) summed with each row of multiplicities (b, p) in turn."""
    return np.concatenate([statistic(counts.astype(np.float64) @ features) for counts in blocks])


def one_item_less(counts: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Multiplicities without one item of each pattern in turn, in blocks of shape (b, p)."""
    block = max(1, _BLOCK // max(1, len(counts)))
    for start in range(0, len(counts), block):
        places = np.arange(start, min(start + block, len(counts)))
        left = np.tile(counts, (len(places), 1))
        left[np.arange(len(places)), places] -= 1
        yield left


#: Hashes are cut to so many bits, so that no product of them overflows.
_HASH_BOUND = 0x7FFFFFFF


@njit(nogil=True)
def _sorted_line(codes: Any, item: Any, line: Any) -> Any:
    """Write the item's ratings in order, and give how many there are."""
    size = 0
    for j in range(codes.shape[1]):
        code = codes[item, j]
        if code < 0:
            continue
        k = size
        # By insertion: a row is a handful of ratings.
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
    distinct = 0
    for i in range(codes.shape[0]):
        size = _sorted_line(codes, i, line)
        # Any odd factor will do: equality is checked.
        mixed = size
        for k in range(size):
            mixed = (mixed * 1000003 + line[k] + 1) & _HASH_BOUND
        # The low bits choose the slot, and the high ones must have a say in them.
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
            table[slot] = distinct
            sizes[distinct] = size
            for k in range(size):
                rows[distinct, k] = line[k]
            distinct += 1
        counts[table[slot]] += 1
    return distinct


def _keys_in_numpy(codes: Any, power: Any, _: Any, keys: Any, first: Any, counts: Any) -> int:
    of_item = power[codes + 1].sum(axis=1)
    different, at, n = np.unique(of_item, return_index=True, return_counts=True)
    # np.unique sorts keys; the loop has them in the order of their first item.
    order = np.argsort(at)
    for out, values in ((keys, different), (first, at), (counts, n)):
        out[: len(order)] = values[order]
    return len(order)


@njit(nogil=True, stand_in=_keys_in_numpy)
def collapse_keys(codes: Any, power: Any, table: Any, keys: Any, first: Any, counts: Any) -> Any:
    """Fill in distinct count vectors as keys, an item of each, and multiplicities; return how many.

    `power[code + 1]` is what a rating adds to its item's key: counts stand side by side in the
    bits of one integer, so that equal keys are equal count vectors whatever the order of ratings.
    """
    distinct = 0
    for i in range(codes.shape[0]):
        key = np.int64(0)
        for j in range(codes.shape[1]):
            key += power[codes[i, j] + 1]
        # Counts of the last levels stand in the high bits of the key: fold them onto the low ones.
        mixed = ((key ^ (key >> 27)) & _HASH_BOUND) * 1000003
        slot = (mixed ^ (mixed >> 15)) & (table.size - 1)
        while table[slot] >= 0 and keys[table[slot]] != key:
            slot = (slot + 1) & (table.size - 1)
        if table[slot] < 0:
            table[slot] = distinct
            keys[distinct] = key
            first[distinct] = i
            distinct += 1
        counts[table[slot]] += 1
    return distinct
