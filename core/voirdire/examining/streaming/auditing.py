"""The audit of a stream: what follows from how often each rater gave each score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import TableError
from voirdire.examining.streaming.parts import system_in
from voirdire.stats.rating_patterns import LOOSE, STEPS, UNASKED
from voirdire.tables import RATINGS, audit_counts, status_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.examining.panel import Panel
    from voirdire.examining.streaming.passes import FirstSums
    from voirdire.schema import Finding
    from voirdire.stats.rating_patterns import RatingPatterns
    from voirdire.study import Study
    from voirdire.tables import Tables

#: Rater, run, attribute, system, score, status and how many such ratings there are.
_COUNTED: dict[str, Any] = {
    "rater": pl.String, "run": pl.Int32, "attribute": pl.String, "system": pl.String,
    "score": pl.Float64, "status": pl.String, "n": pl.Int64,
}  # fmt: skip


def audit_stream(sums: FirstSums, rated: Tables, panel: Panel, study: Study) -> tuple[Finding, ...]:
    """What is odd in a stream, as `voirdire.tables.audit` says it of a table.

    Not looked for is what needs single responses and texts: responses that one rater left out,
    divided work, contexts.

    Raises
    ------
    TableError
        A score is off the scale, and the study says that this is an error.
    """
    rows = [
        row
        for attribute in panel.attributes
        if attribute in sums.patterns
        for row in _of_patterns(sums.patterns[attribute], attribute)
    ]
    rows += [(*row, "out_of_scale", n) for row, n in _read_off(sums)]
    rows += [(*row, n) for row, n in _missing(sums)]
    counted = pl.DataFrame(rows, schema=_COUNTED, orient="row")
    counted = counted.filter(pl.col("attribute").is_in(list(panel.attributes)))
    known = pl.coalesce(pl.col("status"), status_of(panel.scale).cast(pl.String))
    ratings = counted.with_columns(status=known, item=pl.lit(None, pl.String), rank=None).select(
        *(pl.col(name).cast(kind) for name, kind in RATINGS.items() if name != "attribute"),
        pl.col("attribute").cast(pl.Enum(list(panel.attributes))),
        "n",
    )
    off = ratings.filter(pl.col("status") == "out_of_scale")
    if study.data.off_scale == "error" and off.height:
        row, scale = off.row(0, named=True), panel.scale
        raise TableError(
            f"{row['rater']} gave {row['score']:g} on {row['attribute']}, off the scale "
            f"{scale.low:g} to {scale.high:g}"
        )
    pairs = ratings.select("rater", "item", "system").unique(maintain_order=True)
    tables = replace(rated, ratings=ratings, rated=pairs, replies=rated.replies.clear())
    reference = [name for name in panel.names if name in study.data.reference] or panel.names[:1]
    return audit_counts(tables, study, _matched(sums, panel, reference), reference)


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
                yield (*head, float(patterns.moments.low[at, above]), None, 1)
                yield (*head, float(patterns.moments.high[at, above]), None, n - 1)


def _read_off(sums: FirstSums) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Scores that were taken as missing while they were read: their values are not known."""
    for (attribute, rater), n in sums.off_scale.items():
        yield (rater, 1, attribute, None, None), n


def _missing(sums: FirstSums) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Ratings without a score, by what became of them."""
    for (attribute, rater, status), n in sums.statuses.items():
        if status not in ("repaired", "out_of_scale"):
            yield (rater, 1, attribute, None, None, status or "blank"), n


def _matched(
    sums: FirstSums, panel: Panel, reference: Sequence[str]
) -> dict[str, tuple[int, int, int]]:
    """Rater -> items that it and the reference rated, the reference alone, and it alone.

    Of the attribute on which most are rated by one side alone.
    """
    counts: dict[str, tuple[int, int, int]] = {}
    for name in panel.names:
        if name in reference:
            continue
        for attribute in panel.attributes:
            both = left = right = 0
            for (of, raters), n in sums.raters.items():
                if of == attribute:
                    base, own = not raters.isdisjoint(reference), name in raters
                    both, left, right = (
                        both + n * (base and own),
                        left + n * (base and not own),
                        right + n * (own and not base),
                    )
            if both + min(left, right) and left + right >= sum(counts.get(name, (0, 0, 0))[1:]):
                counts[name] = (both, left, right)
    return counts
