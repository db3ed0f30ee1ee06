"""Rows of ratings and how often each occurs: what a stream of parts can count, exactly.

A response is a row of ratings, one a rater. Scores on no grid have no rows that recur: of these
raters a pattern keeps moments (`voirdire.stats.loose`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._pattern_kernels import LAST, MISSING, STEPS, grid_of, pattern_keys, whole_steps
from voirdire.stats._results import Result
from voirdire.stats.loose import Nodes, PatternMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

    Ints = NDArray[np.int64]

#: What stands among whole steps for a score that was not asked for.
UNASKED = MISSING + 1
#: A score on no grid, below the gate and above it.
LOOSE = (MISSING + 2, LAST)
#: Patterns that are counted at most; beyond, a rater's scores are summed as if on no grid.
MOST_PATTERNS = 400_000


@dataclass(frozen=True, slots=True, eq=False)
class RatingPatterns(Result):
    """How often each row of ratings occurs; tables of two parts of the data add up: ``a + b``.

    Attributes
    ----------
    columns : tuple of tuple of (str, int)
        Rater and run of each column, sorted.
    systems : tuple of str
        Sorted; one empty name where there are none.
    steps : (P, C) int32
        Ratings in 20ths of a point, so that sums are whole numbers; `MISSING` is missing, `UNASKED`
        has no row in the table, and `LOOSE` lies on no grid.
    system : (P,) int64
        Position in `systems`.
    counts : (P,) int64
        Responses that show the row. Their sum is checked against 2^63.
    moments : PatternMoments or None
        The moments of the columns on no grid, where there are any.
    gate : float
        Scores of these columns at or above it pass; they are told apart.
    """

    columns: tuple[tuple[str, int], ...]
    systems: tuple[str, ...]
    steps: NDArray[np.int32]
    system: Ints
    counts: Ints
    moments: PatternMoments | None = None
    gate: float = -math.inf

    @property
    def loose(self) -> tuple[tuple[str, int], ...]:
        """The columns whose scores lie on no grid."""
        return () if self.moments is None else self.moments.columns

    @property
    def n(self) -> int:
        """Responses."""
        return sum(self.counts.tolist())

    def __str__(self) -> str:
        """How much is counted."""
        return f"{len(self.counts):,} patterns of {len(self.columns)} ratings, {self.n:,} responses"

    def __add__(self, other: RatingPatterns) -> RatingPatterns:
        """The counts of both parts; a column or system may be in one of them alone."""
        columns = tuple(sorted({*self.columns, *other.columns}))
        systems = tuple(sorted({*self.systems, *other.systems}))
        loose = tuple(sorted({*self.loose, *other.loose}))
        a, b = (part.on_columns(columns, systems).loosened(loose) for part in (self, other))
        made = replace(
            a,
            steps=np.concatenate([a.steps, b.steps]),
            system=np.concatenate([a.system, b.system]),
            counts=np.concatenate([a.counts, b.counts]),
            moments=None if a.moments is None or b.moments is None else a.moments + b.moments,
        ).distinct()
        # The rater with most levels makes most patterns; moments of it are exact too, and need one.
        while len(made.counts) > MOST_PATTERNS and len(made.loose) < len(columns):
            rater = most_levels(made.steps, columns)
            more = (column for column in columns if column[0] == rater)
            made = made.loosened(tuple(sorted({*made.loose, *more})))
        return made

    def on_columns(
        self, columns: tuple[tuple[str, int], ...], systems: tuple[str, ...]
    ) -> RatingPatterns:
        """The same counts over more columns and systems; the new ones are unasked."""
        if columns == self.columns and systems == self.systems:
            return self
        steps = np.full((len(self.counts), len(columns)), UNASKED, np.int32)
        steps[:, [columns.index(column) for column in self.columns]] = self.steps
        place = np.array([systems.index(system) for system in self.systems], np.int64)
        return replace(
            self, columns=columns, systems=systems, steps=steps, system=place[self.system]
        )

    def loosened(self, loose: tuple[tuple[str, int], ...]) -> RatingPatterns:
        """The same, moments being kept of these columns instead of levels; `loose` has its own."""
        if loose == self.loose:
            return self
        place = [self.columns.index(column) for column in loose]
        own = self.steps[:, place]
        there = own > LOOSE[1]
        # All responses of a pattern have this score, so their spread is 0.
        mean = np.where(there, own / STEPS, 0.0)
        low, high = np.full((2, len(loose), 2), np.inf)
        above = mean >= self.gate
        for side in (0, 1):
            here = there & (above == bool(side))
            low[:, side] = np.where(here, mean, np.inf).min(axis=0, initial=np.inf)
            high[:, side] = np.where(here, mean, -np.inf).max(axis=0, initial=-np.inf)
        none = np.zeros((len(self.counts), 0))
        moments = self.moments or PatternMoments((), none, none[:, :, None], *np.zeros((2, 0, 2)))
        steps = self.steps.copy()
        steps[:, place] = np.where(there, np.where(above, LOOSE[1], LOOSE[0]), own)
        moments = moments.widened(loose, mean, low, high)
        return replace(self, steps=steps, moments=moments).distinct()

    def distinct(self) -> RatingPatterns:
        """Each row once."""
        # Sorted, so that parts in any order give the same table.
        rows, back = np.unique(_keys(self.steps, self.system), axis=0, return_inverse=True)
        # Python's whole numbers: NumPy's sum would wrap around before it was compared.
        if sum(self.counts.tolist()) >= 2**62:
            raise StatisticsError("more responses than a whole number of 63 bits can count")
        total = np.zeros(len(rows), np.int64)
        np.add.at(total, back.ravel(), self.counts)
        moments = self.moments and self.moments.merged(back.ravel(), len(rows), self.counts)
        return replace(
            self,
            steps=rows[:, 1:].astype(np.int32),
            system=rows[:, 0],
            counts=total,
            moments=moments,
        )

    def rows(self) -> PatternRows:
        """The patterns as rows of scores, those with scores on no grid as their nodes."""
        asked = np.asarray(self.steps != UNASKED)
        scores = np.where(self.steps <= LOOSE[1], np.nan, self.steps / STEPS)
        if self.moments is None:
            return PatternRows(self, scores, asked, self.system, self.counts, None)
        place = [self.columns.index(column) for column in self.moments.columns]
        own = self.steps[:, place]
        there, above = (own == LOOSE[0]) | (own == LOOSE[1]), (own == LOOSE[1]) * 1
        nodes = Nodes.of(self.moments)
        k = nodes.count
        scores = np.repeat(scores, k, axis=0)
        loose = np.where(there[:, None, :], nodes.scores(above), np.nan)
        scores[:, place] = loose.reshape(-1, len(place))
        counts = nodes.counts(self.moments, self.counts, above, there * 1.0).ravel()
        return PatternRows(
            self, scores, np.repeat(asked, k, axis=0), np.repeat(self.system, k), counts, nodes
        )

    def place_of(self, other: RatingPatterns) -> Ints:
        """(Q,) for each pattern of `other`, a part of these, its position here."""
        there = other.on_columns(self.columns, self.systems)
        rows = np.concatenate([_keys(self.steps, self.system), _keys(there.steps, there.system)])
        _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return np.asarray(first[back.ravel()[len(self.counts) :]])


@dataclass(frozen=True, slots=True, eq=False)
class PatternRows(Result):
    """Patterns as rows of scores: one each, or one a node where scores lie on no grid.

    Attributes
    ----------
    patterns : RatingPatterns
        Of which these are the rows: the K of the first pattern, then those of the second.
    scores : (N, C) float64
        Ratings in points, NaN where missing.
    asked : (N, C) bool
        Where there is a row in the table, be its score there or missing.
    system : (N,) int64
        Position in the patterns' systems.
    counts : (N,) int64 or float64
        Responses that show the row. Weights of nodes are no whole numbers, and may lie below 0;
        those of a pattern sum to its responses.
    nodes : Nodes or None
        None where each row is a pattern.
    """

    patterns: RatingPatterns
    scores: Floats
    asked: NDArray[np.bool_]
    system: Ints
    counts: NDArray[Any]
    nodes: Nodes | None

    @property
    def each(self) -> int:
        """Rows of a pattern."""
        return 1 if self.nodes is None else self.nodes.count

    def __str__(self) -> str:
        """How many."""
        return f"{len(self.counts):,} rows of {self.patterns}"

    def by_rater(self, raters: Sequence[str]) -> Floats:
        """(N, R) each rater's mean over the runs present, NaN where missing."""
        values = np.full((len(self.counts), len(raters)), np.nan)
        for place, rater in enumerate(raters):
            columns = [at for at, (name, _) in enumerate(self.patterns.columns) if name == rater]
            own = self.scores[:, columns]
            n = (~np.isnan(own)).sum(axis=1)
            np.divide(np.nansum(own, axis=1), n, out=values[:, place], where=n > 0)
        return values

    def shares(self, scores: Floats, columns: Sequence[tuple[str, int]]) -> Floats | None:
        """(N, K) how much of each node responses with these scores (N, C) are; None without any."""
        if self.nodes is None:
            return None
        values = np.full((len(scores), len(self.patterns.loose)), np.nan)
        for place, column in enumerate(self.patterns.loose):
            if column in columns:
                values[:, place] = scores[:, columns.index(column)]
        above = (values >= self.patterns.gate) * 1
        return self.nodes.shares(self.nodes.steps(values, above))


def most_levels(steps: NDArray[np.int32], columns: Sequence[tuple[str, int]]) -> str:
    """The rater who uses most different levels."""
    used = [len(np.unique(own[own > LOOSE[1]])) for own in steps.T]
    return columns[int(np.argmax(used))][0]


def count_patterns(
    scores: Any,
    columns: Sequence[tuple[str, int]],
    system: Any = None,
    systems: Sequence[str] = ("",),
    asked: Any = None,
    *,
    loose: Sequence[tuple[str, int]] = (),
    gate: float = -math.inf,
) -> tuple[RatingPatterns, Ints]:
    """Count the distinct rows of ratings, and say which row each response shows.

    Of raters with scores on no grid, and of those with most levels where there are too many
    different rows, moments are kept instead.

    Parameters
    ----------
    scores : (N, C) float64
        NaN is missing.
    columns : sequence of (rater, run)
        What each column is.
    system : (N,) int, optional
        Position in `systems`.
    asked : (N, C) bool, optional
        Where there is a row; by default everywhere.
    loose : sequence of (rater, run)
        Columns of which moments are kept in any case.
    gate : float
        Where scores on no grid begin to pass.

    Returns
    -------
    (RatingPatterns, (N,) int64)

    Examples
    --------
    >>> patterns, code = count_patterns([[1, 2], [1, 2], [3, np.nan]], [("a", 1), ("b", 1)])
    >>> patterns.counts.tolist(), code.tolist()
    ([2, 1], [0, 0, 1])
    """
    given = np.ascontiguousarray(scores, dtype=np.float64)
    of = np.zeros(len(given), np.int64) if system is None else np.asarray(system, np.int64)
    steps, kept = _whole_steps(given, columns, {one for one in loose if one in set(columns)})
    if asked is not None:
        steps[~asked] = UNASKED
    counted = None
    while counted is None:
        for place in (place for place, column in enumerate(columns) if column in kept):
            own = given[:, place]
            marked = np.where(own >= gate, LOOSE[1], LOOSE[0])
            # What is missing, or was not asked for, is told apart as before.
            steps[:, place] = np.where(np.isnan(own), steps[:, place], marked)
        counted = _rows_of(steps, of, len(systems))
        if counted is None and len(kept) == len(columns):
            raise StatisticsError(f"{len(columns)} raters and {len(systems)} systems are too many")
        if counted is None:
            rater = most_levels(steps, columns)
            kept |= {column for column in columns if column[0] == rater}
    first, code = counted
    order = _order(columns, systems)
    counts = np.bincount(code, minlength=len(first)).astype(np.int64)
    made = RatingPatterns(
        tuple(columns), tuple(systems), steps[first], of[first], counts, gate=gate
    ).on_columns(*order)
    sort = np.lexsort(_keys(made.steps, made.system).T[::-1])
    back = np.empty(len(sort), np.int64)
    back[sort] = np.arange(len(sort))
    code = back[code]
    moments = None
    if kept:
        named = tuple(sorted(kept))
        values = given[:, [columns.index(column) for column in named]]
        moments = PatternMoments.of(named, values, code, counts[sort], gate)
    return replace(
        made,
        steps=made.steps[sort],
        system=made.system[sort],
        counts=made.counts[sort],
        moments=moments,
    ), code


def _whole_steps(
    given: Floats, columns: Sequence[tuple[str, int]], loose: set[tuple[str, int]]
) -> tuple[NDArray[np.int32], set[tuple[str, int]]]:
    """(N, C) whole steps, MISSING where NaN, and the columns that have none."""
    steps = np.empty(given.shape, np.int32)
    if not loose and whole_steps(given.reshape(-1), steps.reshape(-1)):
        return steps, loose
    whole = set(loose)
    for place, column in enumerate(columns):
        own, out = np.ascontiguousarray(given[:, place]), np.empty(len(given), np.int32)
        if column in loose or not whole_steps(own, out):
            whole.add(column)
            out = np.where(np.isnan(own), np.int32(MISSING), np.int32(LOOSE[0]))
        steps[:, place] = out
    return steps, whole


def _rows_of(
    steps: NDArray[np.int32], system: Ints, systems: int
) -> tuple[NDArray[Any], Ints] | None:
    """Where each distinct row stands first, and which each response shows; None for too many."""
    unit, low, high = grid_of(steps.reshape(-1))
    # One digit for each level, and four for what has none.
    base = (high - low) // unit + 5
    # As floats: the product itself might overflow before the comparison.
    if systems * float(base) ** steps.shape[1] >= 2.0**62:
        return None
    keys = np.empty(len(steps), np.int64)
    pattern_keys(steps, system, unit, low, base, keys)
    first, code = _first_of(keys, systems * base ** steps.shape[1])
    return None if len(first) > MOST_PATTERNS else (first, code)


def _order(
    columns: Sequence[tuple[str, int]], systems: Sequence[str]
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    return tuple(sorted(columns)), tuple(sorted(systems))


def _first_of(keys: Ints, space: int) -> tuple[Ints, Ints]:
    """Where each distinct key stands first, and which key each row has; by counting if few."""
    # A table of all possible keys is filled in one pass where it is not much longer than the data.
    if space <= max(4 * len(keys), 1 << 16):
        first = np.full(space, -1, np.int64)
        # Backwards: of equal keys the last write, the first row, stays.
        first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
        there = np.flatnonzero(first >= 0)
        number = np.empty(space, np.int64)
        number[there] = np.arange(len(there))
        return first[there], number[keys]
    _, first, code = np.unique(keys, return_index=True, return_inverse=True)
    return first, code


def _keys(steps: NDArray[np.int32], system: Ints) -> NDArray[np.int64]:
    return np.concatenate([system[:, None], steps.astype(np.int64)], axis=1)
