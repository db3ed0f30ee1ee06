"""The column that names the same things in several files, where numbers count rows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._ids import canonical_ids
from voirdire.tables._keys import identifies, is_counter, is_kept
from voirdire.tables._names import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.tables._files import RawTable

#: So many of a column's values must stand in the other files for it to name the same things there.
_SHARED = 0.5


def item_of_all(raws: Sequence[RawTable]) -> str | None:
    """The column that names the same things in several files, where a column of numbers that is
    called an id merely counts the rows of each.

    None where no column does, or no counter contradicts it: then names decide.
    """
    frames = [raw.frame for raw in raws]
    if len(frames) < 2:
        return None
    common = [c for c in frames[0].columns if all(c in frame.columns for frame in frames[1:])]
    counters = [c for c in common if all(is_counter(frame[c]) for frame in frames)]
    if not counters:
        return None
    others = [
        c
        for c in common
        if c not in counters and not is_kept(c, frames[0][c]) and _names_the_same(frames, c)
    ]
    named = find("item", others, None, "")
    for other in others if named is None else [named, *others]:
        if any(_contradict(frames, counter, other) for counter in counters):
            return other
    return None


def _names_the_same(frames: Sequence[pl.DataFrame], column: str) -> bool:
    """Whether a column tells the rows of each file apart, and its values are those of all files."""
    if not all(identifies(frame, column) for frame in frames):
        return False
    first, *rest = [canonical_ids(frame[column]) for frame in frames]
    return all(
        int(first.is_in(ids.implode()).sum()) >= _SHARED * min(len(first), len(ids)) for ids in rest
    )


def _contradict(frames: Sequence[pl.DataFrame], counter: str, other: str) -> bool:
    """Whether a number of the counter stands next to different values of the other column."""
    pairs = [
        pl.DataFrame({"n": frame[counter].cast(pl.Float64), "id": canonical_ids(frame[other])})
        for frame in frames
    ]
    several = pl.concat(pairs).unique().group_by("n").len()
    return bool((several["len"] > 1).any())
