"""Cells (one response by one rater in one run) as places."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

#: So many may be put into words; a run of them is one place.
_MOST = 5_000
CELL = ("item", "system", "rater", "run")


def cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The distinct cells of some ratings, in their order."""
    return frame.select(CELL).unique(maintain_order=True)


def places(frame: pl.DataFrame) -> list[str]:
    """The first few thousand cells in words."""
    found = []
    for item, system, _, run in frame.select(CELL).head(_MOST).iter_rows():
        of = f", {system}" if system is not None else ""
        again = f", run {run}" if run != 1 else ""
        found.append(f"item {item}{of}{again}")
    return found
