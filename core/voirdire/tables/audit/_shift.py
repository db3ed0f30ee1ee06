"""Blocks of rows whose texts are those of the rows before or after in another table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FARTHEST = 5
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `first`..`last` (inclusive) where row i of the other table is row i + `offset` here."""

    first: int
    last: int
    offset: int


def shifted_blocks(
    here: NDArray[np.uint64],
    other: NDArray[np.uint64],
    *,
    farthest: int = _FARTHEST,
    shortest: int = _SHORTEST,
) -> tuple[Block, ...]:
    """Blocks of at least `shortest` rows shifted by 1..`farthest` rows; linear in the rows.

    Parameters
    ----------
    here, other : (n,) uint64
        Hashes of the texts of two tables in the same order of ids; 0 where there is none.

    Notes
    -----
    A row counts as shifted where the texts of its own id differ and the other table's text stands
    `offset` rows further on. A block also takes in up to ``abs(offset)`` rows at either end whose
    texts differ and stand nowhere near: an inserted or dropped row orphans as many.

    Examples
    --------
    >>> here = np.array([1, 1, 2, 3, 4, 6], dtype=np.uint64)
    >>> other = np.array([1, 2, 3, 4, 5, 6], dtype=np.uint64)
    >>> shifted_blocks(here, other)
    (Block(first=1, last=4, offset=1),)
    """
    differ = (here != other) & (here != 0) & (other != 0)
    if not differ.any():
        return ()
    blocks: list[Block] = []
    taken = np.zeros(len(here), dtype=bool)
    for size in range(1, farthest + 1):
        for offset in (size, -size):
            follows = differ & ~taken & (other == _moved(here, offset))
            for first, last in _runs(follows, shortest):
                block = _widened(first, last, offset, differ & ~taken & ~follows)
                taken[block.first : block.last + 1] = True
                blocks.append(block)
    return tuple(sorted(blocks, key=lambda block: block.first))


def _moved(values: NDArray[np.uint64], offset: int) -> NDArray[np.uint64]:
    """Row i holds what row i + offset held; 0 beyond the ends."""
    moved = np.zeros_like(values)
    if abs(offset) >= len(values):
        return moved
    if offset > 0:
        moved[:-offset] = values[offset:]
    else:
        moved[-offset:] = values[:offset]
    return moved


def _runs(flags: NDArray[np.bool_], shortest: int) -> list[tuple[int, int]]:
    """First and last index of each run of True of at least that length."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= shortest
    return [(int(a), int(b) - 1) for a, b in zip(starts[long], ends[long], strict=True)]


def _widened(first: int, last: int, offset: int, orphans: NDArray[np.bool_]) -> Block:
    """The block with the rows that the shift orphaned at its ends."""
    for _ in range(abs(offset)):
        if last + 1 < len(orphans) and orphans[last + 1]:
            last += 1
        if first > 0 and orphans[first - 1]:
            first -= 1
    return Block(first, last, offset)
