"""A person's judgements that stand among what a tool's file says of its items."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.tables._numbers import is_numeric, to_scores
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.tables.readers import Reading


def with_people_of_items(reading: Reading, named: Sequence[str], where: str) -> Reading:
    """The reading with the ratings of those of `named` who are a field of its items, as a data set
    that was judged by people before a tool's grader saw it has them.

    Such a field is about each response of its item, and about the only attribute.

    Raises
    ------
    QuestionError
        Several attributes were rated, and nobody said which of them people rated.
    """
    raters = set(reading.raters["rater"])
    fields = [n for n in named if n not in raters and n in reading.items.columns]
    fields = [n for n in fields if is_numeric(reading.items[n])]
    if not fields or reading.preferences is not None:
        return reading
    attributes = reading.ratings["attribute"].cast(pl.String).unique(maintain_order=True).to_list()
    if len(attributes) > 1:
        raise QuestionError(
            f"{where}: {listed(fields)} stands in the items, beside ratings of "
            f"{listed(attributes)}; which of these is it about?",
            "only",
            tuple(attributes),
            f"only = {json.dumps(attributes[:1])}",
            likely=False,
        )
    units = reading.ratings.select("item", "system").unique(maintain_order=True)
    blocks = []
    for name in fields:
        said = reading.items.select("item", to_scores(reading.items[name]).values.alias("score"))
        rows = units.join(said.drop_nulls(), on="item", maintain_order="left")
        rows = rows.with_columns(
            pl.lit(name).alias("rater"),
            pl.lit(1).alias("run"),
            pl.lit("ok").alias("status"),
            pl.lit(attributes[0] if attributes else "score").alias("attribute"),
        )
        blocks.append(_with_columns(rows, reading.ratings.schema))
    people = _with_columns(
        pl.DataFrame({"rater": fields, "kind": ["human"] * len(fields)}), reading.raters.schema
    )
    note = finding(
        "people_of_items",
        "note",
        where,
        fields,
        f"{plural(sum(b.height for b in blocks), 'rating')} of {listed(fields)} were read from the "
        f"fields of the items.",
        "Each is about all responses of its item.",
    )
    return replace(
        reading,
        ratings=pl.concat([reading.ratings, *blocks]),
        raters=pl.concat([reading.raters, people]),
        findings=(*reading.findings, note),
    )


def _with_columns(table: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    missing = [pl.lit(None).alias(name) for name in schema if name not in table.columns]
    return table.with_columns(missing).select(pl.col(n).cast(kind) for n, kind in schema.items())
