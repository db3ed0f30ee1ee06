"""Verdicts on a stream: their code runs on counted patterns, and asks for sums over clusters.

A verdict's components are functions of sums by cluster. Of patterns the sums themselves are known;
how they spread over clusters is asked of a `Board`. What it does not know yet it notes, answers for
now as if each response were a cluster, and the next pass over the parts finds it out. The code is
run again until nothing is left to ask: twice, or three times where items are crossed with systems.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.ratings.pairing import kept_responses
from voirdire.examining.streaming.second_pass import FINE, LEVEL_BITS, MISSING, SumsRequest
from voirdire.examining.verdict.gathering import case_of
from voirdire.stats.rating_patterns import UNASKED
from voirdire.stats.response_panel import AlikeUnits
from voirdire.stats.sums import ClusterMoments, ClusterSums, Linear

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from voirdire.examining.panel import Panel
    from voirdire.examining.spec.scores.case import Case
    from voirdire.examining.streaming.counted import Counted
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.study import Study

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass
class Board:
    """What is known, and what is still to be found, of one attribute.

    `each` is how many rows show a response, `reach` how much more than theirs a value of a response
    may be; both are 1 unless scores lie on no grid.
    """

    count: Floats
    systems: int
    clusters: int
    largest: int
    each: int = 1
    reach: float = 1.0
    known: dict[str, Any] = field(default_factory=dict)
    wanted: dict[str, SumsRequest] = field(default_factory=dict)

    @property
    def alone(self) -> bool:
        """Whether each row is a cluster, or many alike."""
        return self.largest <= 1 and self.each == 1

    @property
    def most(self) -> int:
        """Values of rows that a sum over a cluster comes to at most."""
        return math.ceil(self.largest * self.reach)

    def ask(self, request: SumsRequest, *context: Any) -> Any | None:
        """What was found, else None: the next pass will find it."""
        # By content: the code of verdicts asks for the same sums in several places, and again in
        # each round.
        digest = hashlib.sha256(repr((request.kind, request.where, context)).encode())
        for part in (request.values, request.bits, request.present, request.system):
            digest.update(np.ascontiguousarray(part).tobytes())
        key = digest.hexdigest()
        if key not in self.known:
            self.wanted[key] = request
        return self.known.get(key)


@dataclass(frozen=True, slots=True, eq=False)
class PatternCounts:
    """The `Counts` of a panel whose rows are patterns: `rows` (N,) are their places among all."""

    board: Board
    rows: NDArray[np.intp]

    @property
    def count(self) -> Floats:
        """(N,) responses of each row."""
        return self.board.count[self.rows]

    @property
    def exact(self) -> bool:
        """Whether each row is a pattern, and no node."""
        return self.board.each == 1

    @property
    def clusters(self) -> int:
        """Clusters with such a response."""
        return len(self.by_cluster(np.ones((len(self.rows), 1)), None, None))

    @property
    def items(self) -> int:
        """Items with such a response."""
        if self.board.alone:
            return self.size()
        items = self.board.ask(self._request("items", np.zeros((0, 0)), np.zeros(0, np.int64)))
        return self.size() if items is None else int(items)

    def shows(self, scores: Floats) -> bool:
        """Whether all nodes of a pattern have these scores, so that they were given."""
        if self.exact:
            return True
        # Nodes of one pattern follow each other: the first of them is compared with the rest.
        first = np.flatnonzero(self.rows % self.board.each == 0).repeat(self.board.each)
        return bool(np.array_equal(scores, scores[first], equal_nan=True))

    def only(self, kept: NDArray[np.bool_]) -> PatternCounts:
        """Of the rows kept alone."""
        return replace(self, rows=self.rows[kept])

    def size(self, kept: NDArray[np.bool_] | None = None) -> int:
        """Responses of the rows kept."""
        return AlikeUnits(self.count).size(kept)

    def by_cluster(
        self, columns: Floats, kept: NDArray[np.bool_] | None, where: int | None
    ) -> ClusterSums:
        """Sums by cluster."""
        # Left out is 0, not gone: the rows must keep their places among all patterns.
        there = columns if kept is None else np.where(kept[:, None], columns, 0.0)
        if not self.board.alone:
            linear = Linear.of(self._spread(there), self.board.most)
            asked = self._request("sums", linear.whole, linear.bits, -1 if where is None else where)
            moments: ClusterMoments | None = self.board.ask(asked)
            if moments is not None:
                return moments.sums(self._total(there))
        if not self.exact:
            return self._unspread(there)
        return AlikeUnits(self.count).by_cluster(there, None, where)

    def _unspread(self, columns: Floats) -> ClusterSums:
        """Until it is found out: clusters of two kinds, so that no column follows another."""
        n = max(self.board.clusters, 1)
        # Any fixed numbers would do that differ by column: with equal ones the covariance would be
        # singular, and the code take other branches than on the sums themselves.
        off = 0.5 * np.cos(np.arange(columns.shape[1]))
        table = self._total(columns) / n * np.stack([1 + off, 1 - off])
        return ClusterSums(np.arange(2), table, np.full(2, n / 2))

    def products(self, x: Floats, y: Floats, kept: NDArray[np.bool_]) -> ClusterSums:
        """Products of the sums of two columns, and their squares."""
        two = np.where(kept[:, None], np.concatenate([x[:, :1], y[:, :1]], axis=1), 0.0)
        most = max(float(np.abs(two).max(initial=0.0)), 1e-9) * self.board.most
        # As many bits as keep the product of the largest cluster's sums below 2^30.
        bits = np.full(3, int(np.floor(np.log2(2.0**30 / most**2))), np.int64)
        whole = np.rint(self._spread(two) * 2.0**LEVEL_BITS).astype(np.int32)
        moments: ClusterMoments | None = None
        if not self.board.alone:
            moments = self.board.ask(self._request("products", whole, bits))
        if moments is not None:
            return moments.sums(moments.fine_total)
        alike = AlikeUnits(self.count).products(two[:, :1], two[:, 1:], kept)
        return alike if self.exact else self._unspread(alike.table)

    def crossed_reading(self, panel: ResponsePanel) -> ClusterSums:
        """Reading sums, effects of systems and items removed in turn."""
        scores = np.concatenate([panel.mean_human[None], panel.judge]).T
        start = np.stack([_system_means(panel, column) for column in scores.T])
        whole = self._spread(np.rint(np.nan_to_num(scores) * FINE))
        whole[self._spread((np.isnan(scores)) * 1.0) > 0] = MISSING
        # Rows of other systems or raters count as missing: the kernel walks every response.
        absent = np.ones(len(self.board.count), np.bool_)
        absent[self.rows] = False
        whole[absent] = MISSING
        system = np.zeros(len(self.board.count), np.int64)
        system[self.rows] = panel.system
        asked = self._request("effects", whole.astype(np.int64), np.zeros(0, np.int64))
        effects = self.board.ask(replace(asked, system=system))
        rest, less = (start, start) if effects is None else effects.of_systems(start)
        values = np.full((2, len(self.board.count), scores.shape[1]), np.nan)
        for place, effect in enumerate((rest, less)):
            values[place, self.rows] = scores - effect[:, panel.system].T
        most = (
            max(float(np.nanmax(np.abs(values[0]), initial=0.0)) * 2 * self.board.reach, 1e-9) ** 2
        )
        bits = np.floor(np.log2(2.0**30 / (np.array([most] * 3 + [1.0]) * self.board.largest)))
        moments: ClusterMoments | None = None
        if effects is not None:
            moments = self.board.ask(self._request("reading", values, bits.astype(np.int64)))
        if moments is not None:
            return moments.sums(moments.fine_total)
        x = np.nan_to_num(values[0, self.rows])
        run = x[:, 1:].mean(axis=1)
        columns = [x[:, 0] * run, x[:, 0] ** 2, (x[:, 1:] ** 2).mean(axis=1), np.ones(len(x))]
        if not self.exact:
            return self._unspread(np.stack(columns, axis=1))
        return ClusterSums(np.arange(len(x)), np.stack(columns, axis=1), self.count)

    def _request(self, kind: Any, values: NDArray[Any], bits: Ints, where: int = -1) -> SumsRequest:
        present = np.zeros(len(self.board.count), np.bool_)
        present[self.rows] = True
        return SumsRequest(kind, values, bits, present, np.zeros(0, np.int64), where)

    def _spread(self, columns: Floats) -> Floats:
        """Columns of all patterns, 0 in those that are not of these."""
        products = np.zeros((len(self.board.count), columns.shape[1]))
        products[self.rows] = columns
        return products

    def _total(self, columns: Floats) -> Floats:
        total: Floats = (self.count[:, None] * columns).sum(axis=0)
        return total


def _system_means(panel: ResponsePanel, scores: Floats) -> Floats:
    there = ~np.isnan(scores)
    weight = np.where(there, panel.weight if panel.weight is not None else 1.0, 0.0)
    n = np.bincount(panel.system, weights=weight, minlength=len(panel.systems))
    total = np.bincount(
        panel.system, weights=weight * np.nan_to_num(scores), minlength=len(panel.systems)
    )
    return np.asarray(total / np.maximum(n, 1))


def pattern_cases(
    table: Counted, board: Board, panel: Panel, study: Study, *, clustered: bool
) -> Iterator[Case]:
    """The cases of one attribute, a row a pattern; see `gather_cases`."""
    cube, scores = table.cube, table.scores
    for judge in panel.judges:
        rows = np.flatnonzero(kept_responses(cube, judge.excluded))
        runs = [at for at, (rater, _) in enumerate(table.columns) if rater == judge.name]
        own = scores[:, runs] if runs else np.full((len(scores), 1), np.nan)
        for reference in panel.references:
            yield replace(
                case_of(cube, panel, study, judge, (0, reference), own.T),
                clusters=rows if clustered else None,
                subgroups=None if table.subgroups is None else table.subgroups[rows],
                asked=bool((table.rows.patterns.steps[:, runs] != UNASKED).any()),
                counted=PatternCounts(board, rows),
            )


def board_of(table: Counted, largest: int) -> Board:
    """The board of one attribute, whose largest cluster has so many responses."""
    nodes = table.rows.nodes
    return Board(
        table.counts.astype(np.float64),
        len(table.cube.systems),
        table.clusters,
        largest,
        table.rows.each,
        1.0 if nodes is None else nodes.reach,
    )


def found_out(boards: Mapping[str, Board], answers: Mapping[str, Mapping[str, Any]]) -> bool:
    """Note what a pass found; whether there was anything."""
    for name, answer in answers.items():
        boards[name].known.update(answer)
        boards[name].wanted.clear()
    return any(answers.values())
