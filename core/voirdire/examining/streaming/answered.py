"""Who rated what in a part, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.streaming.parts import Tally
from voirdire.stats.rating_patterns import UNASKED

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.streaming.parts import Place, Rated
    from voirdire.stats.rating_patterns import RatingPatterns

    Ints = NDArray[np.int64]

#: Different cells up to which they are counted by place, and not by sorting.
_MOST_CELLS = 1 << 20


def answered(rated: Rated, patterns: RatingPatterns, code: Ints) -> tuple[Tally, Tally]:
    """Responses by (system, their raters, all raters of their item), and items by (raters,).

    Raters are those with a row, be its score there or missing. Of each thing the first place is
    kept. `code` (N,) says which of the `patterns` each response shows.
    """
    if not len(code):
        return Tally(), Tally()
    starts = np.flatnonzero(np.append(True, rated.item[1:] != rated.item[:-1]))
    if rated.asked.all():
        return _all_by_all(rated, patterns, len(starts))
    sets, of = _sets(np.asarray(patterns.steps != UNASKED), patterns.columns)
    own = (patterns.system * len(sets) + of)[code]
    groups, group = sets, own % len(sets)
    if len(starts) < len(rated.item):
        asked = np.logical_or.reduceat(rated.asked, starts, axis=0)
        groups, of_item = _sets(asked, rated.columns)
        group = of_item[rated.item - rated.item[0]]

    def responses() -> Iterator[tuple[Hashable, int, Sequence[Place]]]:
        size = len(sets) * len(groups)
        for cell, n, first in _cells(own * len(groups) + group, len(patterns.systems) * size):
            mine, beside = divmod(cell % size, len(groups))
            key = (rated.system_of(first), sets[mine], groups[beside])
            yield key, n, [rated.place(first)]

    of_items = Tally.of(
        ((groups[at],), n, [rated.place(int(starts[first]))])
        for at, n, first in _cells(group[starts], len(groups))
    )
    return Tally.of(responses()), of_items


def _all_by_all(rated: Rated, patterns: RatingPatterns, items: int) -> tuple[Tally, Tally]:
    """Where every rater has a row of every response, the counts of the patterns say all."""
    everyone = frozenset(rater for rater, _ in rated.columns)
    sizes = np.zeros(len(patterns.systems), np.int64)
    np.add.at(sizes, patterns.system, patterns.counts)
    firsts = [int(np.argmax(rated.system == at)) for at in range(len(sizes))]
    responses = Tally.of(
        ((rated.system_of(first), everyone, everyone), n, [rated.place(first)])
        for n, first in zip(sizes.tolist(), firsts, strict=True)
        if n
    )
    return responses, Tally.of([((everyone,), items, [rated.place(0)])])


def _sets(
    asked: NDArray[np.bool_], columns: Sequence[tuple[str, int]]
) -> tuple[list[frozenset[str]], Ints]:
    """The different sets of raters among rows of (M, C) flags, and (M,) which each row shows."""
    # Rows of bits as bytes: these sort many times faster than rows of an array.
    packed = np.ascontiguousarray(np.packbits(asked, axis=1))
    width = packed.shape[1]
    keys: NDArray[Any] = packed.ravel() if width == 1 else packed.view(f"V{width}").ravel()
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    sets = [
        frozenset(columns[at][0] for at in np.flatnonzero(row).tolist()) for row in asked[first]
    ]
    return sets, np.asarray(back.ravel(), np.int64)


def _cells(cells: Ints, most: int) -> Iterator[tuple[int, int, int]]:
    """Each different number below `most`, how often it stands, and where first."""
    if most > _MOST_CELLS:
        found, first, counts = np.unique(cells, return_index=True, return_counts=True)
        yield from zip(found.tolist(), counts.tolist(), first.tolist(), strict=True)
        return
    counts = np.bincount(cells, minlength=most)
    first = np.zeros(most, np.int64)
    # Of a place that is set several times the last one stays.
    first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)
    for cell in np.flatnonzero(counts).tolist():
        yield cell, int(counts[cell]), int(first[cell])
