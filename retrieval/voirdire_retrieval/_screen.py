"""One item's candidates before the guard: which rows may serve, which may not and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire_retrieval._selection import Exclusion

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.schema import Item
    from voirdire_retrieval._guard import Guard


class Rows:
    """Rows of a pool as mappings, each read once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame, self._read = frame, dict[int, dict[str, Any]]()

    def __getitem__(self, row: int) -> Mapping[str, Any]:
        found = self._read.get(row)
        if found is None:
            found = self._read[row] = self._frame.row(row, named=True)
        return found


@dataclass(frozen=True, slots=True)
class Screened:
    """Candidates in the order they were offered.

    Attributes
    ----------
    rows, scores : ndarray, shape (m,)
        Those allowed.
    places : ndarray, shape (m,)
        Where among all offered each of them stood.
    kept_out : tuple of (int, Exclusion)
        The others, with their places.
    offered : int
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]
    places: NDArray[np.int64]
    kept_out: tuple[tuple[int, Exclusion], ...]
    offered: int

    def before(self, place: int) -> tuple[Exclusion, ...]:
        """What was kept out before a place."""
        return tuple(one for where, one in self.kept_out if where < place)


def screen(
    item: Item,
    offered: NDArray[np.int64],
    scores: NDArray[np.float32],
    guard: Guard,
    rows: Rows,
) -> Screened:
    """Hold each offered row against the guard; -1 stands for no row."""
    there = offered >= 0
    offered, scores = offered[there], scores[there]
    check = guard.check(item)
    reasons = [check(rows[row], score) for row, score in zip(offered.tolist(), scores, strict=True)]
    free = np.flatnonzero([reason is None for reason in reasons])
    kept_out = tuple(
        (place, Exclusion(rows[int(offered[place])]["id"], reason, float(scores[place])))
        for place, reason in enumerate(reasons)
        if reason is not None
    )
    return Screened(offered[free], scores[free], free, kept_out, len(offered))
