"""Records of each layout as tidy ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.schema import STATUSES
from voirdire.tables._numbers import to_scores
from voirdire.tables._tables import FACTS, RATINGS, REPLIES, STATUS
from voirdire.tables._words import told, unread_finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Finding, Scale
    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import Plan

_BASE = ("item", "system", "rater", "run")


def shape_scores(
    raw: RawTable, plan: Plan, frame: pl.DataFrame, scale: Scale, source: Source
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """Ratings of the layouts that hold numbers, and a finding on texts that count as missing.

    Raises
    ------
    QuestionError
        A text where a score should stand, and nobody said what it stands for.
    """
    read = {
        column: to_scores(frame[f"={column}"], decimal_comma=raw.decimal_comma, scale=scale)
        for column in plan.values
    }
    note = unread_finding(raw, source, frame, read)
    # A struct of a number and, where a word says it, what became of it.
    frame = frame.with_columns(
        pl.DataFrame([scores.alias("score"), told(bad, fates).alias("#fate")]).to_struct(f"={c}")
        for c, (scores, bad, fates) in read.items()
    )
    if plan.kind == "long":
        column = next(iter(plan.values))
        long = frame.rename({f"={column}": "score"})
    elif plan.kind == "grid":
        long = _unpivot(plan, frame.drop("attribute", "rater"), "attribute", plan.raters)
    else:
        into = "rater" if plan.kind == "raters" else "attribute"
        long = _unpivot(plan, frame.drop(into), into)
    return _finish(long, scale), () if note is None else (note,)


def _unpivot(
    plan: Plan, frame: pl.DataFrame, into: str, raters: Mapping[str, str] | None = None
) -> pl.DataFrame:
    values = [f"={column}" for column in plan.values]
    index = [column for column in frame.columns if column not in values]
    names = {f"={column}": meaning for column, meaning in plan.values.items()}
    long = frame.unpivot(values, index=index, variable_name=into, value_name="score")
    if raters:
        of = {f"={column}": rater for column, rater in raters.items()}
        long = long.with_columns(pl.col(into).replace(of).alias("rater"))
    return long.with_columns(pl.col(into).replace(names))


def _finish(long: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """Status, rank and the standard order of columns."""
    long = long.unnest("score")
    fate = pl.col("#fate")
    status = pl.when(fate.is_null()).then(status_of(scale)).otherwise(fate)
    if "#status" in long.columns:
        given = pl.col("#status").fill_null("")  # a blank says nothing of its row
        fate = given.is_in(list(STATUSES)) & ~given.is_in(["ok", "repaired"])
        on = status.is_in(["ok", "blank"])
        long = long.with_columns(pl.when(~(fate & on)).then("score").alias("score"))
        bare = pl.col("score").is_null() & given.is_in(list(STATUSES)) & (given != "ok")
        status = pl.when(bare).then(given.cast(STATUS, strict=False)).otherwise(status)
    rank = (
        pl.col("#rank").cast(pl.Int32, strict=False)
        if "#rank" in long.columns
        else pl.lit(None, dtype=pl.Int32)
    )
    facts = [name for name in FACTS if name in long.columns]
    return long.select(
        *_BASE, "attribute", "score", rank.alias("rank"), status.alias("status"), *facts
    ).cast({"run": pl.Int32})


def status_of(scale: Scale) -> pl.Expr:
    """``ok``, ``blank`` (no score) or ``out_of_scale``, of the column ``score``."""
    score = pl.col("score")
    off = (score < scale.low) | (score > scale.high)
    return (
        pl.when(score.is_null())
        .then(pl.lit("blank", dtype=STATUS))
        .when(off)
        .then(pl.lit("out_of_scale", dtype=STATUS))
        .otherwise(pl.lit("ok", dtype=STATUS))
    )


def stack_replies(plan: Plan, frame: pl.DataFrame) -> pl.DataFrame:
    """Reply cells one below another: ``item, system, rater, run, reply``, column by column."""
    blocks = []
    for column, system in plan.values.items():
        of = pl.lit(system) if system else pl.col("system")
        by = pl.lit(plan.raters[column]) if column in plan.raters else pl.col("rater")
        blocks.append(
            frame.select(
                "item",
                of.alias("system"),
                by.alias("rater"),
                "run",
                pl.col(f"={column}").cast(pl.String).alias("reply"),
                *(name for name in FACTS if name in frame.columns),
            )
        )
    return pl.concat(blocks)


def shape_replies(
    cells: pl.DataFrame,
    scores: dict[str, pl.Series],
    statuses: dict[str, pl.Series],
    status: pl.Series,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ratings and replies of parsed cells; the series are aligned with `cells`."""
    facts = [name for name in FACTS if name in cells.columns]
    base = cells.select(*_BASE, *facts)
    blocks = [
        base.with_columns(
            pl.lit(attribute).alias("attribute"),
            scores[attribute].alias("score"),
            pl.lit(None, dtype=pl.Int32).alias("rank"),
            statuses[attribute].cast(STATUS).alias("status"),
        ).select(*RATINGS, *facts)
        for attribute in scores
    ]
    ratings = pl.concat(blocks) if blocks else RATINGS.to_frame()
    return ratings, cells.with_columns(status.cast(STATUS).alias("status")).select(list(REPLIES))
