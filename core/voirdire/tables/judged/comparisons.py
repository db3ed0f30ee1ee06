"""Comparisons as a tidy table, whatever shape they were read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError
from voirdire.tables._names import find
from voirdire.tables.judged.frames import ReadJudgements
from voirdire.tables.judged.order import shown_first
from voirdire.tables.judged.people import people_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable


def all_numbers(column: pl.Series) -> bool:
    """Whether each cell is a number: yes and no are numbers elsewhere."""
    values = column.cast(pl.Float64, strict=False)
    return values.null_count() == column.null_count() < len(column)


def rater_column(raw: RawTable, read: TableKeys, says: Sequence[str] = ()) -> str | None:
    """The column that names who compares, which is none of those that say who is better."""
    named = read.rater if read.rater in raw.frame.columns else None
    return find(
        "rater", [c for c in raw.frame.columns if c not in says or c == named], named, raw.name
    )


def ready(
    table: pl.DataFrame,
    raw: RawTable,
    read: TableKeys,
    reference: Sequence[str],
    reason: str,
    column: str | None,
    *,
    shows_order: bool = True,
    order: str | None = None,
) -> ReadJudgements:
    """The comparisons; of some shapes nobody is shown one of two before the other. `order` is the
    column that says who was.
    """
    raters = table["rater"].drop_nulls().unique(maintain_order=True).to_list()
    same = table.filter(pl.col("system_a") == pl.col("system_b"))
    if same.height:
        row = same.row(0, named=True)
        raise TableError(
            f"{raw.name}: item {row['item']!r} compares {row['system_a']!r} with itself"
        )
    names = [
        "item",
        "system_a",
        "system_b",
        "shown_first",
        "rater",
        "run",
        "attribute",
        "score",
        "length",
        "cluster",
    ]
    people = people_of(raters, reference, raw.name, column)
    kept = table.filter(pl.col("item").is_not_null() & pl.col("rater").is_not_null())
    # Who compares a pair in both directions was asked in both orders: a row names the first first.
    pair = [pl.min_horizontal("system_a", "system_b"), pl.max_horizontal("system_a", "system_b")]
    both = pl.col("system_a").n_unique().over("item", "rater", "run", "attribute", *pair) > 1
    shown = pl.when(both).then("system_a")
    declared = shown_first(read) if shows_order else pl.lit(None, pl.String)
    first = pl.coalesce("shown_first", declared, shown).alias("shown_first")
    kept = kept.with_columns(first)
    return ReadJudgements(
        people,
        preferences=kept.select(names),
        reason=reason,
        order=(read.first or "") if shows_order else "drawn",
        parts={} if order is None else {order: "order shown"},
    )
