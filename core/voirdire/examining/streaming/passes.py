"""Partial sums of a stream's parts, and what adds them up: first what is there, then its spread."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from voirdire.errors import TableError
from voirdire.examining.streaming.answered import answered
from voirdire.examining.streaming.parts import read_part, system_in
from voirdire.examining.streaming.requests import Standing, answer
from voirdire.stats.rating_patterns import RatingPatterns, Rows, count_patterns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from voirdire.examining.streaming.parts import Rated, Tally
    from voirdire.examining.streaming.requests import Request
    from voirdire.stats.sums import Linear
    from voirdire.tables.partitioned import Part

    Ints = NDArray[np.int64]

#: Responses of each attribute that the study is drafted from.
SAMPLED = 4_000


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

    def read(self, part: Part) -> tuple[Rated, Counter[tuple[str, str]]]:
        """The part, and how many scores of each rater were off the scale."""
        rated = read_part(part)
        if math.isinf(self.low) and math.isinf(self.high):
            return rated, Counter()
        with np.errstate(invalid="ignore"):
            off = (rated.scores < self.low) | (rated.scores > self.high)
        if not off.any():
            return rated, Counter()
        statuses: Counter[tuple[str, str]] = Counter()
        for (rater, _), n in zip(rated.columns, off.sum(axis=0).tolist(), strict=True):
            statuses[part.attribute, rater] += n
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
    statuses : Tally
        Of (attribute, rater, status): rows.
    rows, items : mapping
        Attribute -> how many.
    responses : Tally
        Of (attribute, system, raters, raters of the item): responses that just these have rated.
    raters : Tally
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
    statuses: Tally
    rows: Counter[str]
    items: Counter[str]
    responses: Tally
    raters: Tally
    off_scale: Counter[tuple[str, str]]
    sample: pl.DataFrame

    def __add__(self, other: FirstSums) -> FirstSums:
        """The sums of both; parts hold whole clusters, so that these are not counted twice."""
        patterns = dict(self.patterns)
        for attribute, found in other.patterns.items():
            patterns[attribute] = patterns[attribute] + found if attribute in patterns else found
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


def first_sums(part: Part, taken: Taken = Taken()) -> FirstSums:
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
        "_key": pl.UInt64(), "item": pl.String(), "system": pl.String(), "rater": pl.String(),
        "run": pl.Int32(), "attribute": pl.String(), "score": pl.Float64(),
    }
)  # fmt: skip


def _sample(rated: Rated, attribute: str) -> pl.DataFrame:
    """Some responses as tidy rows: the same ones however the data are cut into parts."""
    place = np.arange(len(rated.cluster))
    starts = np.flatnonzero(np.diff(rated.cluster, prepend=-1))
    place -= np.repeat(starts, np.diff(starts, append=len(place)))
    # The hash of a cluster's name is mixed already; an odd factor keeps its places apart.
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
    return sample.filter(rank <= SAMPLED) if sample.height > SAMPLED else sample


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What the second pass is to find out of one attribute.

    Attributes
    ----------
    rows : Rows
        Of the patterns of all parts.
    linear : Linear or None
        None where each response is a cluster: then the counts of the patterns say all.
    replicates, seed : int
        Of the Poisson bootstrap.
    requests : mapping
        What verdicts ask for, by a name of their own.
    taken : Taken
        As in the first pass.
    apart : (P, M) float64
        Differences of two raters whose scores lie on no grid, NaN where one is missing: how large
        they are is no sum of squares.
    """

    rows: Rows
    linear: Linear | None
    replicates: int
    seed: int
    requests: Mapping[str, Request] = field(default_factory=dict)
    taken: Taken = Taken()
    apart: NDArray[np.float64] | None = None

    @property
    def patterns(self) -> RatingPatterns:
        """Those of all parts."""
        return self.rows.patterns


@dataclass(frozen=True, slots=True, eq=False)
class SecondSums:
    """Spread over clusters, exact: `a + b`.

    Attributes
    ----------
    high, low : mapping
        Attribute -> (M,) halves of the sums of squares.
    drawn : mapping
        Attribute -> (P, B) how often each replicate draws each pattern.
    answers : mapping
        Attribute -> what was found for each request.
    apart : mapping
        Attribute -> (5, M): sums of the differences' sizes, their number, and over clusters the
        squares of both and their product.
    """

    high: Mapping[str, Ints] = field(default_factory=dict)
    low: Mapping[str, Ints] = field(default_factory=dict)
    drawn: Mapping[str, Ints] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    apart: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def __add__(self, other: SecondSums) -> SecondSums:
        """The sums of both."""
        return SecondSums(
            _added(self.high, other.high),
            _added(self.low, other.low),
            _added(self.drawn, other.drawn),
            _added_each(self.answers, other.answers),
            _added(self.apart, other.apart),
        )._carried()

    def _carried(self) -> SecondSums:
        """The low halves kept below 2^32."""
        high = {name: self.high[name] + (low >> 32) for name, low in self.low.items()}
        return replace(self, high=high, low={n: low & 0xFFFFFFFF for n, low in self.low.items()})


def _added(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    total = dict(a)
    for name, values in b.items():
        total[name] = total[name] + values if name in total else values
    return total


def _added_each(
    a: Mapping[str, Mapping[str, Any]], b: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    return {name: _added(a.get(name, {}), b.get(name, {})) for name in {*a, *b}}


def second_sums(asked: Mapping[str, Asked], part: Part) -> SecondSums:
    """What the clusters of one part add."""
    attribute, want = part.attribute, asked[part.attribute]
    rated, _ = want.taken.read(part)
    own, code = count_patterns(
        rated.scores, rated.columns, rated.system, rated.systems, rated.asked,
        loose=want.patterns.loose, gate=want.patterns.gate,
    )  # fmt: skip
    if set(own.loose) - set(want.patterns.loose):
        raise TableError(f"{part.path}: changed while it was read")
    place = want.patterns.place_of(own)
    standing = Standing(
        rated.item, rated.cluster, place[code], want.rows.shares(rated.scores, rated.columns)
    )
    high, low = _squares(want.linear, standing, part)
    systems = len(want.patterns.systems)
    answers = {name: answer(request, standing, systems) for name, request in want.requests.items()}
    return SecondSums(
        {attribute: high},
        {attribute: low},
        {attribute: _drawn(want, rated, standing, place, code)},
        {attribute: answers},
        {} if want.apart is None else {attribute: _sizes(want.apart, standing)},
    )


def _sizes(apart: NDArray[np.float64], standing: Standing) -> NDArray[np.float64]:
    """(5, M) of `SecondSums.apart`."""
    sums = np.zeros((5, apart.shape[1]))
    for block in standing.blocks():
        _, off = block.values(apart)
        starts = np.flatnonzero(np.append(True, block.cluster[1:] != block.cluster[:-1]))
        size = np.add.reduceat(np.nan_to_num(np.abs(off)), starts)
        n = np.add.reduceat((~np.isnan(off)) * 1.0, starts)
        sums += [part.sum(axis=0) for part in (size, n, size**2, n**2, size * n)]
    return sums


def _squares(linear: Linear | None, standing: Standing, part: Part) -> tuple[Ints, Ints]:
    """Halves of the sums of squares of cluster sums."""
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    if linear is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    high, low = np.zeros((2, linear.whole.shape[1]), np.int64)
    for block in standing.blocks():
        code, values = block.values(linear.whole)
        if kernels.squares(code, block.cluster, values, high, low) >= 2**31:
            raise TableError(f"{part.path}: a cluster is larger than the first pass saw")
    return high, low


def _drawn(want: Asked, rated: Rated, standing: Standing, place: Ints, code: Ints) -> NDArray[Any]:
    """(P, B) how often each replicate draws each row.

    `code` (N,) is the pattern of each response in this part, and `place` where that stands in all.
    """
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    weights = np.zeros((len(want.rows.counts), want.replicates), want.rows.counts.dtype)
    if not want.replicates:
        return weights
    if standing.shares is not None:
        kernels.resampled_nodes(
            standing.code, standing.shares, rated.cluster, rated.names, want.seed, weights
        )
        return weights
    here = np.zeros((len(place), want.replicates), np.int32)
    kernels.resampled_patterns(code, rated.cluster, rated.names, want.seed, here)
    weights[place] = here
    return weights
