"""Partial sums of a stream's parts, and what adds them up: first what is there, then its spread."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import NotSummableError, TableError
from voirdire.examining.streaming.parts import read_part
from voirdire.examining.streaming.requests import answer
from voirdire.stats.rating_sums import RatingPatterns, count_patterns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from voirdire.examining.streaming.requests import Request
    from voirdire.stats.sums import Linear
    from voirdire.tables.partitioned import Part

    Ints = NDArray[np.int64]


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
    statuses : Counter
        (attribute, rater, status) -> rows.
    rows, items : mapping
        Attribute -> how many.
    """

    patterns: Mapping[str, RatingPatterns]
    clusters: Counter[str]
    largest: Mapping[str, int]
    clustered: bool
    statuses: Counter[tuple[str, str, str]]
    rows: Counter[str]
    items: Counter[str]

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
        )


def first_sums(part: Part) -> FirstSums:
    """What one part holds.

    Raises
    ------
    TableError
        Its scores lie on no grid, or show too many different rows.
    """
    rated, attribute = read_part(part), part.attribute
    found = count_patterns(rated.scores, rated.columns, rated.system, rated.systems, rated.asked)
    if found is None:
        raise NotSummableError(
            f"{part.path}: the scores on {attribute!r} lie on no grid of 20ths of a point, or show "
            "too many different rows, so that they cannot be counted; without --streaming, files "
            "of ratings are read whole"
        )
    sizes = np.bincount(rated.cluster, minlength=1)
    return FirstSums(
        {attribute: found[0]},
        Counter({attribute: len(rated.names)}),
        {attribute: int(sizes.max(initial=0))},
        rated.clustered,
        Counter({(attribute, *key): n for key, n in rated.statuses.items()}),
        Counter({attribute: part.rows}),
        Counter({attribute: int(rated.item[-1]) + 1 if len(rated.item) else 0}),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What the second pass is to find out of one attribute.

    Attributes
    ----------
    patterns : RatingPatterns
        Those of all parts.
    linear : Linear or None
        None where each response is a cluster: then the counts of the patterns say all.
    replicates, seed : int
        Of the Poisson bootstrap.
    requests : mapping
        What verdicts ask for, by a name of their own.
    """

    patterns: RatingPatterns
    linear: Linear | None
    replicates: int
    seed: int
    requests: Mapping[str, Request] = field(default_factory=dict)


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
    """

    high: Mapping[str, Ints] = field(default_factory=dict)
    low: Mapping[str, Ints] = field(default_factory=dict)
    drawn: Mapping[str, Ints] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __add__(self, other: SecondSums) -> SecondSums:
        """The sums of both."""
        return SecondSums(
            _added(self.high, other.high),
            _added(self.low, other.low),
            _added(self.drawn, other.drawn),
            _added_each(self.answers, other.answers),
        )._carried()

    def _carried(self) -> SecondSums:
        """The low halves kept below 2^32."""
        high = {name: self.high[name] + (low >> 32) for name, low in self.low.items()}
        return replace(self, high=high, low={n: low & 0xFFFFFFFF for n, low in self.low.items()})


def _added(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(a)
    for name, values in b.items():
        found[name] = found[name] + values if name in found else values
    return found


def _added_each(
    a: Mapping[str, Mapping[str, Any]], b: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    return {name: _added(a.get(name, {}), b.get(name, {})) for name in {*a, *b}}


def second_sums(asked: Mapping[str, Asked], part: Part) -> SecondSums:
    """What the clusters of one part add."""
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    rated, attribute = read_part(part), part.attribute
    want = asked[attribute]
    counted = count_patterns(rated.scores, rated.columns, rated.system, rated.systems, rated.asked)
    if counted is None:
        raise TableError(f"{part.path}: changed while it was read")
    own, code = counted
    place = want.patterns.place_of(own)
    everywhere = place[code]
    high = low = np.zeros(0, np.int64)
    if want.linear is not None:
        high, low = np.zeros((2, want.linear.whole.shape[1]), np.int64)
        most = kernels.squares(everywhere, rated.cluster, want.linear.whole, high, low)
        if most >= 2**31:
            raise TableError(f"{part.path}: a cluster is larger than the first pass saw")
    drawn = np.zeros((len(want.patterns.counts), want.replicates), np.int64)
    if want.replicates:
        here = np.zeros((len(own.counts), want.replicates), np.int32)
        kernels.resampled_patterns(code, rated.cluster, rated.names, want.seed, here)
        drawn[place] = here
    systems = len(want.patterns.systems)
    answers = {
        name: answer(request, rated, everywhere, systems) for name, request in want.requests.items()
    }
    return SecondSums({attribute: high}, {attribute: low}, {attribute: drawn}, {attribute: answers})
