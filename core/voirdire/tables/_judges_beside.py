"""A judge's column beside a column of raters: each item's score of it is a rating of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.tables._judging import (
    follows,
    joined_names,
    may_judge,
    on_scale,
    scale_of,
    span_of,
    speaks_of_else,
    speaks_of_models,
)
from voirdire.tables._names import kind_of, names_rater
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable
    from voirdire.tables._role import NamedRaters


def with_judges_beside(raw: RawTable, source: Source, asked: NamedRaters) -> RawTable:
    """The table with a row for each judgement of a judge whose scores stand in a column beside
    that of the raters, and say the same in all rows of a unit: crowd workers' ratings, a row each,
    with the score of a model for each text.

    `source` says which columns hold the items, the raters and their scores.

    Raises
    ------
    QuestionError
        No judge is among the raters, and a column may be one's that is not called so.
    """
    item, rater, score = source.item, source.rater, _score(source)
    frame = raw.frame
    if item is None or score is None or rater not in frame.columns or source.attribute:
        return raw
    unit = [item, source.system] if source.system else [item]
    known = (*unit, rater, score, *source.ignore)
    scale = scale_of(raw, [score])
    if scale is None or frame.select(unit).n_unique() == frame.height:
        return raw
    able = [
        c
        for c in frame.columns
        if c not in known
        and c not in (source.run, source.cluster, source.subgroup)
        and may_judge(raw, c)
        and frame[c].n_unique() > 1
        and follows(frame, c, unit)
        and on_scale(raw, c, scale)
    ]
    judges = [c for c in able if c in asked.judges]
    if not asked.judges:
        judges = [c for c in able if _speaks(c)]
        there = [str(name) for name in frame[rater].unique()]
        alone = set(there) <= set(asked.reference) or all(kind_of(n) == "human" for n in there)
        able = [c for c in able if not speaks_of_else(c)]
        if able and not judges and alone and not source.assume:
            _ask(raw, able, rater)
    return _with_rows(raw, judges, unit, rater, score) if judges else raw


def _speaks(column: str) -> bool:
    named = kind_of(column) == "judge" or names_rater(column) or speaks_of_models(column)
    return named and not speaks_of_else(column)


def _score(source: Source) -> str | None:
    """The only column of scores."""
    if source.score is None and len(source.columns) == 1:
        return next(iter(source.columns))
    return source.score


def _ask(raw: RawTable, able: Sequence[str], rater: str) -> None:
    spans = ", ".join(f"{c!r} ({span_of(raw, c)})" for c in able)
    raise QuestionError(
        f"{raw.name}: {rater!r} names no judge beside the reference, and "
        f"{plural(len(able), 'column')} may hold one's scores, the same in all rows of an item: "
        f"{spans}.",
        "judge",
        (joined_names(able[:1]),),
        f"judge = {json.dumps(able[:1])}",
        likely=False,
    )


def _with_rows(
    raw: RawTable, judges: Sequence[str], unit: Sequence[str], rater: str, score: str
) -> RawTable:
    frame = raw.frame
    numbers = raw.numbers()
    first = frame.select(pl.struct(unit).is_first_distinct()).to_series()
    kind, names = frame[score].dtype, frame[rater].dtype
    # What was measured of a person's work is nothing of the judge's.
    own = [c for c in frame.columns if c not in (rater, score, *judges)]
    told = [c for c in own if c in unit or follows(frame, c, unit)]
    rows = frame.filter(first)
    blocks = []
    for judge in judges:
        if judge in frame[rater].cast(pl.String):
            raise TableError(f"{raw.name}: {judge!r} is a rater in {rater!r}, and a column as well")
        blocks.append(
            rows.select(
                *told, pl.lit(judge).cast(names).alias(rater), pl.col(judge).cast(kind).alias(score)
            ).filter(pl.col(score).is_not_null())
        )
    made = pl.concat([frame.drop(judges), *blocks], how="diagonal_relaxed").select(
        c for c in frame.columns if c not in judges
    )
    at = [numbers.filter(first & frame[judge].is_not_null()) for judge in judges]
    more = made.height - frame.height
    note = finding(
        "judge_beside_raters",
        "note",
        raw.name,
        list(judges),
        f"{listed(judges)} {'hold' if len(judges) > 1 else 'holds'} a score for each of "
        f"{rows.height:,} units: {plural(more, 'rating')} of "
        f"{'judges' if len(judges) > 1 else 'a judge'} beside the rows of raters.",
        f"If it is none, say --ignore {judges[0]!r}.",
    )
    return replace(
        raw,
        frame=made,
        lines=pl.concat([numbers, *at]),
        rows=raw.rows + more,
        headers={c: h for c, h in raw.headers.items() if c not in judges},
    ).noted(note)
