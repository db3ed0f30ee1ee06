"""The second pass over a stream: spread over clusters, and what verdicts ask of it besides."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import TableError
from voirdire.examining.streaming.first_pass import Taken
from voirdire.examining.streaming.parts import starts_of
from voirdire.stats.rating_patterns import PatternRows, RatingPatterns, count_patterns
from voirdire.stats.sums import ClusterMoments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from voirdire.examining.streaming.parts import RatedRows
    from voirdire.stats.sums import Linear
    from voirdire.tables.partitioned import StreamPart

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

#: Whole steps of a point: means of up to 8 scores in 20ths are exact.
FINE = 64 * 16_800.0
#: Rounds in which effects of systems and items are removed, as `voirdire.stats.within` does.
_ROUNDS = 3
#: A missing score among whole steps.
MISSING = -(2**31)
#: Bits of columns whose sums are multiplied.
LEVEL_BITS = 12
#: Responses on no grid that are looked at at a time; each has values of its own.
_BLOCK = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Where the responses of a part stand among the rows of all parts.

    Attributes
    ----------
    item, cluster : (N,) int64
        As in `RatedRows`; those of a cluster side by side.
    code : (N,) int64
        The pattern of each.
    shares : (N, K) float64 or None
        How much of each node of its pattern a response is, where scores lie on no grid.
    """

    item: Ints
    cluster: Ints
    code: Ints
    shares: Floats | None = None

    @property
    def row(self) -> Ints:
        """(N,) the row of each response, its pattern's first where this has several."""
        return self.code if self.shares is None else self.code * self.shares.shape[1]

    def blocks(self) -> Iterator[Standing]:
        """Whole clusters at a time, where each response has values of its own."""
        if self.shares is None or not len(self.code):
            yield self
            return
        first = 0
        for end in (*starts_of(self.cluster)[1:].tolist(), len(self.code)):
            # A cluster is never cut: its sum must be squared as a whole.
            if end - first >= _BLOCK or end == len(self.code):
                own = slice(first, end)
                yield Standing(self.item[own], self.cluster[own], self.code[own], self.shares[own])
                first = end

    def values(self, rows: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
        """Values by row, and the row of each response; values of its own where it has shares.

        rows : (P, F) of all rows; those of whole numbers stay so.
        """
        if self.shares is None:
            return self.code, rows
        table = np.zeros((len(self.code), rows.shape[1]))
        for node in range(self.shares.shape[1]):
            table += self.shares[:, node, None] * rows[self.row + node]
        # Shares of whole numbers are no longer whole; rounding keeps sums exact in any order of
        # parts.
        if np.issubdtype(rows.dtype, np.integer):
            table = np.rint(table).astype(rows.dtype)
            # Missing in one node of a pattern is missing in all: the pattern says who answered.
            table[rows[self.row] == MISSING] = MISSING
        return np.arange(len(table)), table


@dataclass(frozen=True, slots=True, eq=False)
class SumsRequest:
    """Sums that a pass is to find.

    Attributes
    ----------
    kind : str
        "sums" of columns by cluster; "products" of two columns' sums; "items", how many have a
        row that is present; "effects" and "reading" of items crossed with systems.
    values : array
        (P, F) whole numbers, for "reading" (2, P, 1 + K) floats.
    bits : (F,) int64
        Units of 2^-bits of what is summed.
    present : (P,) bool
        Rows that make a cluster, or an item, count.
    system : (P,) int64
        For "effects".
    where : int
        A column whose sum must be above 0; -1: none.
    """

    kind: Literal["sums", "products", "items", "effects", "reading"]
    values: NDArray[Any]
    bits: Ints
    present: NDArray[np.bool_]
    system: Ints
    where: int = -1


def answer(request: SumsRequest, standing: Standing, systems: int) -> Any:
    """What one part adds."""
    return reduce(add, (_answer(request, block, systems) for block in standing.blocks()))


def _answer(request: SumsRequest, standing: Standing, systems: int) -> Any:
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    if request.kind == "items":
        return len(np.unique(standing.item[request.present[standing.row]]))
    if standing.shares is not None:
        own = standing.row
        request = replace(
            request,
            present=request.present[own],
            system=request.system[own] if len(request.system) else request.system,
        )
    if request.kind == "effects":
        code, values = standing.values(request.values)
        shift = np.zeros((values.shape[1], systems + 1, systems), np.int64)
        share = np.zeros((values.shape[1], systems + 1, systems, systems), np.int64)
        kernels.item_effects(code, standing.item, request.system, values, shift, share)
        return Effects(shift, share)
    width = len(request.bits)
    # Powers of two: scaling by them loses no bit.
    unit = np.ldexp(1.0, request.bits.astype(np.intc))
    fine = np.zeros((width, 2), np.int64)
    out = (*np.zeros((2, width), np.int64), *np.zeros((2, width, width), np.int64), fine)
    if request.kind == "reading":
        (code, rest), (_, less) = map(standing.values, request.values)
        units = kernels.crossed_moments(
            code, standing.item, standing.cluster, rest, less, unit, out
        )
    else:
        scale = np.zeros(0)
        if request.kind == "products":
            # A product of two columns of LEVEL_BITS each carries twice these bits.
            scale = unit * 2.0 ** (-2 * LEVEL_BITS)
        code, values = standing.values(request.values)
        units = kernels.cluster_moments(
            code, standing.cluster, values, request.present, request.where, scale, out
        )
    total, seen, high, low, fine = out
    # Python's whole numbers: squares summed over a billion responses pass 64 bits.
    exact = fine[:, 0].astype(object) * (1 << 32) + fine[:, 1].astype(object)
    return ClusterMoments(units, total.astype(object), _whole(high, low), request.bits, seen, exact)


def _whole(high: Ints, low: Ints) -> NDArray[Any]:
    """(F, F) symmetric, as Python's whole numbers."""
    # The kernel fills the lower triangle alone; the diagonal would be added twice.
    lower = high.astype(object) * (1 << 32) + low.astype(object)
    return np.asarray(lower + lower.T - np.diag(np.diag(lower)))


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """Sums behind effects of crossed systems and items: see `item_effects`; ``a + b``."""

    shift: Ints
    share: Ints

    def __add__(self, other: Effects) -> Effects:
        """Those of both parts."""
        return Effects(self.shift + other.shift, self.share + other.share)

    def of_systems(self, start: Floats) -> tuple[Floats, Floats]:
        """(V, S) effects after the last round, and after the last but one, from those at first."""
        # Index k of the sums is an item with k systems present: its mean takes 1 / k of each.
        k, own = np.maximum(np.arange(self.shift.shape[1]), 1) * 1.0, start.shape[1]
        shift = (self.shift[..., :own] / FINE / k[None, :, None]).sum(axis=1)
        share = (self.share[..., :own, :own] / k[None, :, None, None]).sum(axis=1)
        n = np.maximum(share.sum(axis=2), 1)
        now = before = start
        for _ in range(_ROUNDS):
            before = now
            # Backfitting: each system's mean of what is left when the items' effects are taken out,
            # in turn.
            now = now + (shift - n * now + np.einsum("vst,vt->vs", share, now)) / n
        return now, before


@dataclass(frozen=True, slots=True, eq=False)
class AskedSums:
    """What the second pass is to find out of one attribute.

    Attributes
    ----------
    rows : PatternRows
        The rows of the patterns of all parts.
    linear : Linear or None
        None where each response is a cluster: then the counts of the patterns say all.
    replicates, seed : int
        How many resamples the Poisson bootstrap draws, and from which seed.
    requests : mapping
        What verdicts ask for, by a name of their own.
    taken : Taken
        As in the first pass.
    apart : (P, M) float64
        Differences of two raters whose scores lie on no grid, NaN where one is missing: how large
        they are is no sum of squares.
    """

    rows: PatternRows
    linear: Linear | None
    replicates: int
    seed: int
    requests: Mapping[str, SumsRequest] = field(default_factory=dict)
    taken: Taken = field(default_factory=Taken)
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


def second_sums(asked: Mapping[str, AskedSums], part: StreamPart) -> SecondSums:
    """What the clusters of one part add."""
    attribute, want = part.attribute, asked[part.attribute]
    rated, _ = want.taken.read(part)
    own, code = count_patterns(
        rated.scores,
        rated.columns,
        rated.system,
        rated.systems,
        rated.asked,
        loose=want.patterns.loose,
        gate=want.patterns.gate,
    )
    # A score off the grid that the first pass did not see: the file was written to in between.
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
        starts = starts_of(block.cluster)
        size = np.add.reduceat(np.nan_to_num(np.abs(off)), starts)
        n = np.add.reduceat((~np.isnan(off)) * 1.0, starts)
        sums += [part.sum(axis=0) for part in (size, n, size**2, n**2, size * n)]
    return sums


def _squares(linear: Linear | None, standing: Standing, part: StreamPart) -> tuple[Ints, Ints]:
    """Halves of the sums of squares of cluster sums."""
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    if linear is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    high, low = np.zeros((2, linear.whole.shape[1]), np.int64)
    for block in standing.blocks():
        code, values = block.values(linear.whole)
        # Linear keeps sums of the largest cluster below 2^31; a larger one would overflow unseen.
        if kernels.squares(code, block.cluster, values, high, low) >= 2**31:
            raise TableError(f"{part.path}: a cluster is larger than the first pass saw")
    return high, low


def _drawn(
    want: AskedSums, rated: RatedRows, standing: Standing, place: Ints, code: Ints
) -> NDArray[Any]:
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
    # Counted by the part's own patterns, of which there are few, and added to all of them once.
    here = np.zeros((len(place), want.replicates), np.int32)
    kernels.resampled_patterns(code, rated.cluster, rated.names, want.seed, here)
    weights[place] = here
    return weights
