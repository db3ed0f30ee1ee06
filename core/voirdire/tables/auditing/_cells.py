"""Cells (one response by one rater in one run) as places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from voirdire.study import Study
    from voirdire.tables._tables import Tables

#: So many may be put into words; a run of them is one place.
_MOST = 5_000
CELL = ("item", "system", "rater", "run")


def ratings(frame: pl.DataFrame) -> int:
    """How many ratings rows stand for: one each, or `n`, where a stream has counted them."""
    return int(frame["n"].sum()) if "n" in frame.columns else frame.height


def n_ratings(frame: pl.DataFrame, kept: pl.Expr | None = None) -> pl.Expr:
    """The same within groups; of the rows `kept` alone."""
    n = pl.col("n") if "n" in frame.columns else pl.lit(1)
    return n.sum() if kept is None and "n" in frame.columns else (
        pl.len() if kept is None else pl.when(kept).then(n).otherwise(0).sum()
    )  # fmt: skip


def cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The distinct cells of some ratings, in their order; as they are where they were counted."""
    if "n" in frame.columns:
        return frame
    return frame.select(CELL).unique(maintain_order=True)


def places(frame: pl.DataFrame) -> list[str]:
    """The first few thousand cells in words; none where a stream has counted them."""
    names: list[str] = []
    if "n" in frame.columns:
        return names
    for item, system, _, run in frame.select(CELL).head(_MOST).iter_rows():
        of = f", {system}" if system is not None else ""
        again = f", run {run}" if run != 1 else ""
        names.append(f"item {item}{of}{again}")
    return names


def divided(tables: Tables, study: Study) -> int:
    """How many responses the people of the reference rated, where they divided the work; else 0.

    They did where each response has as many of them as any other, and fewer than there are.
    """
    people = study.data.reference
    by_people = tables.rated.filter(pl.col("rater").is_in(people))
    counts = by_people.group_by("item", "system").agg(pl.col("rater").n_unique())["rater"]
    equal = counts.n_unique() == 1 and counts[0] < by_people["rater"].n_unique()
    return len(counts) if equal else 0
