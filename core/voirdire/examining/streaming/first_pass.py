"""The first pass over a stream: what is there, counted part by part, and what adds it up."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.examining.streaming.parts import RowTally, read_part, starts_of, system_in
from voirdire.stats.rating_patterns import UNASKED, RatingPatterns, count_patterns

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.streaming.parts import Place, RatedRows
    from voirdire.tables.partitioned import StreamPart

    Ints = NDArray[np.int64]

#: Responses of each attribute that the study is drafted from.
SAMPLED = 4_000
#: Different cells up to which they are counted by place, and not by sorting.
_MOST_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class Taken:
    """How scores are taken as they are read.

    Attributes
    ----------
    gate : float
        Where scores on no grid begin to pass.
    low, high : float
        Scores below and above count as missing.
    """

    gate: float = -math.inf
    low: float = -math.inf
    high: float = math.inf

    def read(self, part: StreamPart) -> tuple[RatedRows, Counter[tuple[str, str]]]:
        """The part, and how many scores of each rater were off the scale."""
        rated = read_part(part)
        # Most scales are read as they are: comparing every score to infinity would cost a pass.
        if math.isinf(self.low) and math.isinf(self.high):
            return rated, Counter()
        with np.errstate(invalid="ignore"):
            off = (rated.scores < self.low) | (rated.scores > self.high)
        if not off.any():
            return rated, Counter()
        statuses: Counter[tuple[str, str]] = Counter()
        for (rater, _), n in zip(rated.columns, off.sum(axis=0).tolist(), strict=True):
            statuses[part.attribute, rater] += n
        # The unary plus drops raters with none.
        return replace(rated, scores=np.where(off, np.nan, rated.scores)), +statuses


@dataclass(frozen=True, slots=True, eq=False)
class FirstSums:
    """What is there in one or several parts: `a + b`.

    Attributes
    ----------
    patterns : mapping
        Attribute -> its rows of ratings, counted.
    clusters, largest : mapping
        Attribute -> how many clusters, and responses of the largest.
    clustered : bool
        Whether clusters are declared somewhere.
    statuses : RowTally
        Of (attribute, rater, status): rows.
    rows, items : mapping
        Attribute -> how many.
    responses : RowTally
        Of (attribute, system, raters, raters of the item): responses that just these have rated.
    raters : RowTally
        Of (attribute, raters): items that just these have rated.
    off_scale : Counter
        (attribute, rater) -> scores that were taken as missing while they were read.
    sample : DataFrame
        Of parts with scores on no grid: some responses of each attribute, those whose ``_key``, a
        hash of cluster and place, is least.
    """

    patterns: Mapping[str, RatingPatterns]
    clusters: Counter[str]
    largest: Mapping[str, int]
    clustered: bool
    statuses: RowTally
    rows: Counter[str]
    items: Counter[str]
    responses: RowTally
    raters: RowTally
    off_scale: Counter[tuple[str, str]]
    sample: pl.DataFrame

    def __add__(self, other: FirstSums) -> FirstSums:
        """The sums of both; parts hold whole clusters, so that these are not counted twice."""
        patterns = dict(self.patterns)
        for attribute, more in other.patterns.items():
            # Parts hold whole clusters, so that clusters, items and rows of two parts add up and
            # are not counted twice.
            patterns[attribute] = patterns[attribute] + more if attribute in patterns else more
        largest = dict(self.largest)
        for attribute, size in other.largest.items():
            largest[attribute] = max(size, largest.get(attribute, 0))
        return FirstSums(
            patterns,
            self.clusters + other.clusters,
            largest,
            self.clustered or other.clustered,
            self.statuses + other.statuses,
            self.rows + other.rows,
            self.items + other.items,
            self.responses + other.responses,
            self.raters + other.raters,
            self.off_scale + other.off_scale,
            _least(pl.concat([self.sample, other.sample])),
        )


def first_sums(part: StreamPart, taken: Taken = Taken()) -> FirstSums:
    """What one part holds."""
    (rated, off), attribute = taken.read(part), part.attribute
    patterns, code = count_patterns(
        rated.scores, rated.columns, rated.system, rated.systems, rated.asked, gate=taken.gate
    )
    responses, raters = answered(rated, patterns, code)
    sizes = np.bincount(rated.cluster, minlength=1)
    return FirstSums(
        {attribute: patterns},
        Counter({attribute: len(rated.clusters)}),
        {attribute: int(sizes.max(initial=0))},
        rated.clustered,
        rated.statuses.under(attribute),
        Counter({attribute: part.rows}),
        Counter({attribute: int(rated.item[-1]) + 1 if len(rated.item) else 0}),
        responses.under(attribute),
        raters.under(attribute),
        off,
        _sample(rated, attribute) if patterns.loose else _SAMPLE.to_frame(),
    )


_SAMPLE = pl.Schema(
    {
        "_key": pl.UInt64(),
        "item": pl.String(),
        "system": pl.String(),
        "rater": pl.String(),
        "run": pl.Int32(),
        "attribute": pl.String(),
        "score": pl.Float64(),
    }
)


def _sample(rated: RatedRows, attribute: str) -> pl.DataFrame:
    """Some responses as tidy rows: the same ones however the data are cut into parts."""
    place = np.arange(len(rated.cluster))
    starts = starts_of(rated.cluster)
    place -= np.repeat(starts, np.diff(starts, append=len(place)))
    # The hash of a cluster's name is mixed already; an odd factor keeps its places apart.
    # Place within the cluster, counted from 0, times an odd constant: 2^64 over the golden ratio,
    # which spreads neighbours far apart (Knuth, section 6.4).
    key = rated.names[rated.cluster] + place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    rows = np.argsort(key, kind="stable")[:SAMPLED]
    systems = [system_in(rated.systems[at]) or None for at in rated.system[rows]]
    frames = [
        pl.DataFrame(
            {
                "_key": key[rows],
                "item": pl.Series(key[rows]).cast(pl.String),
                "system": systems,
                "rater": rater,
                "run": run,
                "attribute": attribute,
                "score": pl.Series(rated.scores[rows, at]).fill_nan(None),
            },
            schema=_SAMPLE,
        ).filter(pl.Series(rated.asked[rows, at]))
        for at, (rater, run) in enumerate(rated.columns)
    ]
    return pl.concat(frames)


def _least(sample: pl.DataFrame) -> pl.DataFrame:
    """Of the responses of each attribute those with the least keys."""
    rank = pl.col("_key").rank("dense").over("attribute")
    # The least keys of all parts are the least of each part's least: so the sample adds up.
    return sample.filter(rank <= SAMPLED) if sample.height > SAMPLED else sample


def answered(rated: RatedRows, patterns: RatingPatterns, code: Ints) -> tuple[RowTally, RowTally]:
    """Responses by (system, their raters, all raters of their item), and items by (raters,).

    Raters are those with a row, be its score there or missing. Of each thing the first place is
    kept. `code` (N,) says which of the `patterns` each response shows.
    """
    if not len(code):
        return RowTally(), RowTally()
    starts = starts_of(rated.item)
    # The commonest file, and the cheapest: no sets of raters have to be told apart.
    if rated.asked.all():
        return _all_by_all(rated, patterns, len(starts))
    sets, of = _sets(np.asarray(patterns.steps != UNASKED), patterns.columns)
    # Of each response: its system and its raters as one number; beside it the raters of its item.
    own = (patterns.system * len(sets) + of)[code]
    groups, group = sets, own % len(sets)
    # Several systems answer an item: its raters are those of any of them.
    if len(starts) < len(rated.item):
        asked = np.logical_or.reduceat(rated.asked, starts, axis=0)
        groups, of_item = _sets(asked, rated.columns)
        group = of_item[rated.item - rated.item[0]]

    def responses() -> Iterator[tuple[Hashable, int, Sequence[Place]]]:
        size = len(sets) * len(groups)
        for cell, n, first in _cells(own * len(groups) + group, len(patterns.systems) * size):
            mine, beside = divmod(cell % size, len(groups))
            key = (rated.system_of(first), sets[mine], groups[beside])
            yield key, n, [rated.place(first)]

    of_items = RowTally.of(
        ((groups[at],), n, [rated.place(int(starts[first]))])
        for at, n, first in _cells(group[starts], len(groups))
    )
    return RowTally.of(responses()), of_items


def _all_by_all(
    rated: RatedRows, patterns: RatingPatterns, items: int
) -> tuple[RowTally, RowTally]:
    """Where every rater has a row of every response, the counts of the patterns say all."""
    everyone = frozenset(rater for rater, _ in rated.columns)
    sizes = np.zeros(len(patterns.systems), np.int64)
    np.add.at(sizes, patterns.system, patterns.counts)
    firsts = [int(np.argmax(rated.system == at)) for at in range(len(sizes))]
    responses = RowTally.of(
        ((rated.system_of(first), everyone, everyone), n, [rated.place(first)])
        for n, first in zip(sizes.tolist(), firsts, strict=True)
        if n
    )
    return responses, RowTally.of([((everyone,), items, [rated.place(0)])])


def _sets(
    asked: NDArray[np.bool_], columns: Sequence[tuple[str, int]]
) -> tuple[list[frozenset[str]], Ints]:
    """The different sets of raters among rows of (M, C) flags, and (M,) which each row shows."""
    # Rows of bits as bytes: these sort many times faster than rows of an array.
    packed = np.ascontiguousarray(np.packbits(asked, axis=1))
    width = packed.shape[1]
    keys: NDArray[Any] = packed.ravel() if width == 1 else packed.view(f"V{width}").ravel()
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    sets = [
        frozenset(columns[at][0] for at in np.flatnonzero(row).tolist()) for row in asked[first]
    ]
    return sets, np.asarray(back.ravel(), np.int64)


def _cells(cells: Ints, most: int) -> Iterator[tuple[int, int, int]]:
    """Each different number below `most`, how often it stands, and where first."""
    if most > _MOST_CELLS:
        different, first, counts = np.unique(cells, return_index=True, return_counts=True)
        yield from zip(different.tolist(), counts.tolist(), first.tolist(), strict=True)
        return
    counts = np.bincount(cells, minlength=most)
    first = np.zeros(most, np.int64)
    # Of a place that is set several times the last one stays.
    first[cells[::-1]] = np.arange(len(cells) - 1, -1, -1)
    for cell in np.flatnonzero(counts).tolist():
        yield cell, int(counts[cell]), int(first[cell])
