"""The audit of a stream: what follows from how often each rater gave each score."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import TableError
from voirdire.examining.streaming.parts import MOST_PLACES, RowTally, read_part, system_in
from voirdire.stats._pattern_kernels import STEPS
from voirdire.stats.rating_patterns import LOOSE, UNASKED
from voirdire.tables import PLACE, RATINGS, Matched, RatedBy, audit_counts, status_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from voirdire.examining.panel import Panel
    from voirdire.examining.streaming.first_pass import FirstSums
    from voirdire.examining.streaming.parts import Place
    from voirdire.protocols import Executor
    from voirdire.schema import Finding
    from voirdire.stats.rating_patterns import RatingPatterns
    from voirdire.study import Study
    from voirdire.tables import Tables
    from voirdire.tables.partitioned import StreamPart

#: Rater, run, attribute, system, score, status and how many such ratings there are.
_COUNTED: dict[str, Any] = {
    "rater": pl.String,
    "run": pl.Int32,
    "attribute": pl.String,
    "system": pl.String,
    "score": pl.Float64,
    "status": pl.String,
    "n": pl.Int64,
}


def audit_stream(
    sums: FirstSums,
    rated: Tables,
    panel: Panel,
    study: Study,
    parts: Sequence[StreamPart],
    executor: Executor,
) -> tuple[Finding, ...]:
    """What is odd in a stream, as `voirdire.tables.audit` says it of a table, with first places.

    Of each thing that is odd the first places are kept, at most 20. Who rated a response is known
    by attribute: of several attributes that one is looked at which has most ratings. Not looked
    for is what needs texts, or rows of several attributes beside each other.

    The parts are read once more where a score is off the scale: where such scores stand is not
    known before the scale is.

    Raises
    ------
    TableError
        A score is off the scale, and the study says that this is an error.
    """
    ratings = _counted(sums, panel, {})
    # The scale is known only now, after the first pass: places are looked up in one more.
    off = ratings.filter(pl.col("status") == "out_of_scale")
    if off.height:
        ends = (panel.scale.low, panel.scale.high)
        if study.data.off_scale == "error":
            row = off.row(0, named=True)
            raise TableError(
                f"{row['rater']} gave {row['score']:g} on {row['attribute']}, off the scale "
                f"{ends[0]:g} to {ends[1]:g}"
            )
        loose = {name: frozenset(patterns.loose) for name, patterns in sums.patterns.items()}
        own = [part for part in parts if part.attribute in set(off["attribute"])]
        where = executor.map_reduce(partial(_off_scale, ends=ends, loose=loose), own)
        ratings = _counted(sums, panel, where.places)
    pairs = ratings.select("rater", "item", "system").unique(maintain_order=True)
    tables = replace(rated, ratings=ratings, rated=pairs, replies=rated.replies.clear())
    reference = [name for name in panel.names if name in study.data.reference] or panel.names[:1]
    return audit_counts(
        tables, study, _answered(sums, panel), _matched(sums, panel, reference), reference
    )


def _counted(
    sums: FirstSums, panel: Panel, off: Mapping[tuple[Any, ...], Sequence[Place]]
) -> pl.DataFrame:
    """Ratings, one row for so many that are alike; `off` holds places of scores off the scale."""
    rows = [
        (*row, off.get((attribute, row[0], row[4]), ()))
        for attribute in panel.attributes
        if attribute in sums.patterns
        for row in _of_patterns(sums.patterns[attribute], attribute)
    ]
    rows += [
        (*row, "out_of_scale", n, off.get((row[2], row[0], None), ())) for row, n in _read_off(sums)
    ]
    rows += list(_missing(sums))
    named = [field.name for field in PLACE.fields]
    words = [[dict(zip(named, one, strict=True)) for one in first] for *_, first in rows]
    counted = pl.DataFrame([row[:-1] for row in rows], schema=_COUNTED, orient="row")
    counted = counted.with_columns(pl.Series("first", words, dtype=pl.List(PLACE)))
    counted = counted.filter(pl.col("attribute").is_in(list(panel.attributes)))
    status = pl.coalesce(pl.col("status"), status_of(panel.scale).cast(pl.String))
    return counted.with_columns(status=status, item=pl.lit(None, pl.String), rank=None).select(
        *(pl.col(name).cast(kind) for name, kind in RATINGS.items() if name != "attribute"),
        pl.col("attribute").cast(pl.Enum(list(panel.attributes))),
        "n",
        "first",
    )


def _off_scale(
    part: StreamPart,
    *,
    ends: tuple[float, float],
    loose: Mapping[str, frozenset[tuple[str, int]]],
) -> RowTally:
    """Scores off the scale by attribute, rater and value, which of those on no grid is None."""
    rated, sought = read_part(part), loose.get(part.attribute, frozenset())
    with np.errstate(invalid="ignore"):
        off = (rated.scores < ends[0]) | (rated.scores > ends[1])

    def by_value() -> Iterator[tuple[tuple[str, str, float | None], int, Sequence[Place]]]:
        for at in np.flatnonzero(off.any(axis=0)).tolist():
            rater, run = rated.columns[at]
            rows = np.flatnonzero(off[:, at])
            values = rated.scores[rows, at]
            if rated.columns[at] in sought:
                values = np.full(len(rows), np.nan)
            for value in np.unique(values).tolist():
                own = rows if np.isnan(value) else rows[values == value]
                first = [rated.place(row, run) for row in own[:MOST_PLACES].tolist()]
                name = None if np.isnan(value) else value
                yield (part.attribute, rater, name), len(own), first

    return RowTally.of(by_value())


def _of_patterns(patterns: RatingPatterns, attribute: str) -> Iterator[tuple[Any, ...]]:
    """Scores by rater, run and system; of those on no grid the least and the greatest."""
    names = [system_in(name) or None for name in patterns.systems]
    for place, column in enumerate(patterns.columns):
        own = patterns.steps[:, place]
        there = own > UNASKED
        pairs = np.stack([patterns.system[there], own[there].astype(np.int64)], axis=1)
        kinds, back = np.unique(pairs, axis=0, return_inverse=True)
        counts = np.zeros(len(kinds), np.int64)
        np.add.at(counts, back.ravel(), patterns.counts[there])
        for (system, step), n in zip(kinds.tolist(), counts.tolist(), strict=True):
            head = (*column, attribute, names[system])
            if step > LOOSE[1]:
                yield (*head, step / STEPS, None, n)
            elif patterns.moments is not None:
                at, above = patterns.loose.index(column), LOOSE.index(step)
                # Of scores on no grid the ends alone are kept: one rating at each, the rest at the
                # upper.
                yield (*head, float(patterns.moments.low[at, above]), None, 1)
                yield (*head, float(patterns.moments.high[at, above]), None, n - 1)


def _read_off(sums: FirstSums) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Scores that were taken as missing while they were read: their values are not known."""
    for (attribute, rater), n in sums.off_scale.items():
        yield (rater, 1, attribute, None, None), n


def _missing(sums: FirstSums) -> Iterator[tuple[Any, ...]]:
    """Ratings without a score, by what became of them."""
    for (attribute, rater, status), n, where in sums.statuses.items():
        if status not in ("repaired", "out_of_scale"):
            yield rater, 1, attribute, None, None, status or "blank", n, where


def _answered(sums: FirstSums, panel: Panel) -> list[RatedBy]:
    """Responses by who rated them, of the attribute with most ratings."""
    by: dict[str, list[RatedBy]] = {name: [] for name in panel.attributes}
    for (attribute, system, raters, beside), n, where in sums.responses.items():
        if attribute in by:
            items = tuple(item for _, item, *_ in where[:1])
            by[attribute].append(RatedBy(system, raters, beside, n, items))
    # Attributes are parts of their own: rows of several cannot be set beside each other here.
    return max(by.values(), key=lambda own: sum(one.n * len(one.raters) for one in own))


def _matched(sums: FirstSums, panel: Panel, reference: Sequence[str]) -> dict[str, Matched]:
    """Rater -> items that it and the reference rated, and each alone.

    Of the attribute on which most are rated by one side alone.
    """
    matched: dict[str, Matched] = {}
    for name in panel.names:
        if name in reference:
            continue
        for attribute in panel.attributes:
            one = _matched_on(sums.raters, attribute, name, reference)
            most = matched.get(name, Matched(0, 0, 0))
            if one.both + min(one.left, one.right) and (
                one.left + one.right >= most.left + most.right
            ):
                matched[name] = one
    return matched


def _matched_on(items: RowTally, attribute: str, name: str, reference: Sequence[str]) -> Matched:
    counts: Counter[tuple[bool, bool]] = Counter()
    places: dict[tuple[bool, bool], list[Place]] = {}
    for (of, raters), n, where in items.items():
        if of == attribute:
            side = not raters.isdisjoint(reference), name in raters
            counts[side] += n
            places.setdefault(side, []).extend(where)
    left, right = (
        [item for _, item, *_ in sorted(places.get(side, ()))]
        for side in ((True, False), (False, True))
    )
    return Matched(counts[True, True], counts[True, False], counts[False, True], left, right)
