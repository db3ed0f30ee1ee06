"""Cells (one response by one rater in one run) as places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables._tables import plural

if TYPE_CHECKING:
    from voirdire.study import Study
    from voirdire.tables._tables import Tables

#: So many may be put into words; a run of them is one place.
_MOST = 5_000
CELL = ("item", "system", "rater", "run")
#: A place among counted ratings: its cluster or item, which it is sorted by first, and the cell.
PLACE = pl.Struct({"of": pl.String, "item": pl.String, "system": pl.String, "run": pl.Int64})


def ratings(frame: pl.DataFrame) -> int:
    """How many ratings rows stand for: one each, or `n`, where a stream has counted them."""
    return int(frame["n"].sum()) if "n" in frame.columns else frame.height


def n_ratings(frame: pl.DataFrame, kept: pl.Expr | None = None) -> pl.Expr:
    """The same within groups; of the rows `kept` alone."""
    n = pl.col("n") if "n" in frame.columns else pl.lit(1)
    return (
        n.sum()
        if kept is None and "n" in frame.columns
        else (pl.len() if kept is None else pl.when(kept).then(n).otherwise(0).sum())
    )


def cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The distinct cells of some ratings, in their order; as they are where they were counted."""
    if "n" in frame.columns:
        return frame
    return frame.select(CELL).unique(maintain_order=True)


def in_cells(frame: pl.DataFrame, one: str, many: str = "") -> str:
    """In how many cells ratings are; nothing where attributes were counted one by one."""
    if "n" in frame.columns and frame["attribute"].n_unique() > 1:
        return ""
    return f" in {plural(ratings(cells(frame)), one, many)}"


def places(frame: pl.DataFrame) -> list[str]:
    """The first few thousand cells in words; of counted ones those that a stream has kept."""
    if "n" in frame.columns:
        kept = frame["first"].explode().drop_nulls().unique().struct.unnest()
        rows = kept.sort("of", "item", "system", "run").select("item", "system", "run").rows()
        return [place(*row) for row in rows]
    where = frame.select("item", "system", "run").head(_MOST)
    return [place(*row) for row in where.iter_rows()]


def place(item: str, system: str | None = None, run: int = 1) -> str:
    """A cell in words."""
    of = f", {system}" if system else ""
    return f"item {item}{of}{f', run {run}' if run != 1 else ''}"


def divided(tables: Tables, study: Study) -> int:
    """How many responses the people of the reference rated, where they divided the work; else 0.

    They did where each response has as many of them as any other, and fewer than there are.
    """
    people = study.data.reference
    by_people = tables.rated.filter(pl.col("rater").is_in(people))
    counts = by_people.group_by("item", "system").agg(pl.col("rater").n_unique())["rater"]
    equal = counts.n_unique() == 1 and counts[0] < by_people["rater"].n_unique()
    return len(counts) if equal else 0
