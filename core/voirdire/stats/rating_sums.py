"""Coefficients as functions of sums over responses: what a stream of parts can add up.

A response is a row of ratings, one a rater. `RatingPatterns` counts the distinct rows, exactly; a
`SummedCoefficient` turns rows into columns whose sums are all that it depends on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._forms import quotients
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats._weights import disagreement
from voirdire.stats.loose import Moments, Nodes
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

    Columns = Callable[[Floats], Floats]
    Statistic = Callable[[Floats], Floats]
    Ints = NDArray[np.int64]

#: Whole steps a point, in which scores on a grid are counted.
STEPS = 20
#: A missing score among whole steps, and one that was not asked for.
MISSING, UNASKED = -(2**31), -(2**31) + 1
#: A score on no grid, below the gate and above it.
LOOSE = (-(2**31) + 2, -(2**31) + 3)
#: Patterns that are counted at most; beyond, a rater's scores are summed as if on no grid.
MOST_PATTERNS = 400_000
#: Limits of agreement hold 95 % of differences.
_Z95 = 1.959963984540054
#: Levels of a scale whose agreement is counted level by level, at most.
MOST_LEVELS = 41


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
    moments : Moments or None
        Of the columns on no grid, where there are any.
    gate : float
        Scores of these columns at or above it pass; they are told apart.
    """

    columns: tuple[tuple[str, int], ...]
    systems: tuple[str, ...]
    steps: NDArray[np.int32]
    system: Ints
    counts: Ints
    moments: Moments | None = None
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
        while len(made.counts) > MOST_PATTERNS and len(made.loose) < len(columns):
            rater = most_levels(made.steps, columns)
            more = (column for column in columns if column[0] == rater)
            made = made.loosened(tuple(sorted({*made.loose, *more})))
        return made

    def on_columns(
        self, columns: tuple[tuple[str, int], ...], systems: tuple[str, ...]
    ) -> RatingPatterns:
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
        mean = np.where(there, own / STEPS, 0.0)
        low, high = np.full((2, len(loose), 2), np.inf)
        above = mean >= self.gate
        for side in (0, 1):
            here = there & (above == bool(side))
            low[:, side] = np.where(here, mean, np.inf).min(axis=0, initial=np.inf)
            high[:, side] = np.where(here, mean, -np.inf).max(axis=0, initial=-np.inf)
        none = np.zeros((len(self.counts), 0))
        moments = self.moments or Moments((), none, none[:, :, None], *np.zeros((2, 0, 2)))
        steps = self.steps.copy()
        steps[:, place] = np.where(there, np.where(above, LOOSE[1], LOOSE[0]), own)
        moments = moments.widened(loose, mean, low, high)
        return replace(self, steps=steps, moments=moments).distinct()

    def distinct(self) -> RatingPatterns:
        """Each row once."""
        rows, back = np.unique(_keys(self.steps, self.system), axis=0, return_inverse=True)
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

    def rows(self) -> Rows:
        """The patterns as rows of scores, those with scores on no grid as their nodes."""
        asked = np.asarray(self.steps != UNASKED)
        scores = np.where(self.steps <= LOOSE[1], np.nan, self.steps / STEPS)
        if self.moments is None:
            return Rows(self, scores, asked, self.system, self.counts, None)
        place = [self.columns.index(column) for column in self.moments.columns]
        own = self.steps[:, place]
        there, above = (own == LOOSE[0]) | (own == LOOSE[1]), (own == LOOSE[1]) * 1
        nodes = Nodes.of(self.moments)
        k = nodes.count
        scores = np.repeat(scores, k, axis=0)
        loose = np.where(there[:, None, :], nodes.scores(above), np.nan)
        scores[:, place] = loose.reshape(-1, len(place))
        counts = nodes.counts(self.moments, self.counts, above, there * 1.0).ravel()
        return Rows(
            self, scores, np.repeat(asked, k, axis=0), np.repeat(self.system, k), counts, nodes
        )

    def place_of(self, other: RatingPatterns) -> Ints:
        """(Q,) for each pattern of `other`, a part of these, its position here."""
        there = other.on_columns(self.columns, self.systems)
        rows = np.concatenate([_keys(self.steps, self.system), _keys(there.steps, there.system)])
        _, first, back = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return np.asarray(first[back.ravel()[len(self.counts) :]])


@dataclass(frozen=True, slots=True, eq=False)
class Rows(Result):
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
        found = np.full((len(self.counts), len(raters)), np.nan)
        for place, rater in enumerate(raters):
            columns = [at for at, (name, _) in enumerate(self.patterns.columns) if name == rater]
            own = self.scores[:, columns]
            n = (~np.isnan(own)).sum(axis=1)
            np.divide(np.nansum(own, axis=1), n, out=found[:, place], where=n > 0)
        return found

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
    >>> found, code = count_patterns([[1, 2], [1, 2], [3, np.nan]], [("a", 1), ("b", 1)])
    >>> found.counts.tolist(), code.tolist()
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
        moments = Moments.of(named, values, code, counts[sort], gate)
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
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    steps = np.empty(given.shape, np.int32)
    if not loose and kernels.whole_steps(given.reshape(-1), steps.reshape(-1)):
        return steps, loose
    found = set(loose)
    for place, column in enumerate(columns):
        own, out = np.ascontiguousarray(given[:, place]), np.empty(len(given), np.int32)
        if column in loose or not kernels.whole_steps(own, out):
            found.add(column)
            out = np.where(np.isnan(own), np.int32(MISSING), np.int32(LOOSE[0]))
        steps[:, place] = out
    return steps, found


def _rows_of(
    steps: NDArray[np.int32], system: Ints, systems: int
) -> tuple[NDArray[Any], Ints] | None:
    """Where each distinct row stands first, and which each response shows; None for too many."""
    from voirdire.stats import _pattern_kernels as kernels  # noqa: PLC0415 - slow to import

    unit, low, high = kernels.grid_of(steps.reshape(-1))
    base = (high - low) // unit + 5
    if systems * float(base) ** steps.shape[1] >= 2.0**62:
        return None
    keys = np.empty(len(steps), np.int64)
    kernels.pattern_keys(steps, system, unit, low, base, keys)
    first, code = _first_of(keys, systems * base ** steps.shape[1])
    return None if len(first) > MOST_PATTERNS else (first, code)


def _order(
    columns: Sequence[tuple[str, int]], systems: Sequence[str]
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    return tuple(sorted(columns)), tuple(sorted(systems))


def _first_of(keys: Ints, space: int) -> tuple[Ints, Ints]:
    """Where each distinct key stands first, and which key each row has; by counting if few."""
    if space <= max(4 * len(keys), 1 << 16):
        first = np.full(space, -1, np.int64)
        first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
        there = np.flatnonzero(first >= 0)
        number = np.empty(space, np.int64)
        number[there] = np.arange(len(there))
        return first[there], number[keys]
    _, found, code = np.unique(keys, return_index=True, return_inverse=True)
    return found, code


def _keys(steps: NDArray[np.int32], system: Ints) -> NDArray[np.int64]:
    return np.concatenate([system[:, None], steps.astype(np.int64)], axis=1)


# --- coefficients of sums


@dataclass(frozen=True, slots=True)
class SummedCoefficient:
    """A coefficient as a smooth function of summed columns.

    Attributes
    ----------
    name : str
        As the in-memory coefficient is called.
    columns : callable
        (n, R) ratings -> (n, F), rows that do not count being 0.
    statistic : callable
        (..., F) sums -> (...,) values, NaN where undefined.
    counted : callable
        Sums -> how many responses stand behind the value.
    reason : str
        Why it is undefined where it is.
    """

    name: str
    columns: Columns
    statistic: Statistic
    reason: str = "zero_variance"

    def value(self, sums: Floats) -> float:
        """The coefficient of all."""
        with np.errstate(all="ignore"):
            return float(self.statistic(sums))

    def slopes(self, sums: Floats) -> Floats:
        """(F,) how the coefficient moves with each sum, by central differences."""
        scale = max(float(np.abs(sums).max(initial=0.0)), 1.0)
        step = np.maximum(np.abs(sums), 1e-3 * scale) * 1e-5
        moved = np.diag(step)
        with np.errstate(all="ignore"):
            found = (self.statistic(sums + moved) - self.statistic(sums - moved)) / (2 * step)
        return np.where(np.isfinite(found), found, 0.0)


def summed_coefficient(name: str, raters: int, levels: Sequence[float] | None) -> SummedCoefficient:
    """The coefficient of that name, for so many raters.

    Parameters
    ----------
    name : str
        Over all raters: icc_1, icc_c1, icc_a1, icc_1k, icc_ck, icc_ak, alpha_nominal,
        alpha_ordinal, alpha_interval, alpha_ratio, fleiss, ac1, ac2, bp, agreement; of two: cohen,
        qwk, ccc, pearson, bias, loa_low, loa_high, mae, rmse, f1.
    levels : sequence of float or None
        The declared levels in their order; None where scores lie between them.

    Raises
    ------
    StatisticsError
        A name that is not one of these; levels are needed and not there, or too many.

    Examples
    --------
    >>> ccc = summed_coefficient("ccc", 2, None)
    >>> print(round(ccc.value(ccc.columns(np.array([[1.0, 1], [2, 3], [3, 3]])).sum(axis=0)), 4))
    0.8
    """
    if name in _MOMENTS:
        return _MOMENTS[name](raters)
    if name not in _LEVELLED:
        raise StatisticsError(f"{name!r} is no coefficient of sums")
    if levels is None or len(levels) > MOST_LEVELS:
        have = "scores lie between the levels" if levels is None else f"{len(levels)} levels"
        raise StatisticsError(f"{name} counts levels, and {have}")
    return _LEVELLED[name](np.asarray(levels, dtype=np.float64))


#: Which need no levels, and which do; of all raters, and of two.
FOR_ALL = (
    "icc_1", "icc_c1", "icc_a1", "icc_1k", "icc_ck", "icc_ak", "alpha_interval", "alpha_nominal",
    "alpha_ordinal", "alpha_ratio", "fleiss", "ac1", "ac2", "bp", "agreement",
)  # fmt: skip
FOR_TWO = (
    "bias", "mae", "rmse", "loa_low", "loa_high", "ccc", "pearson", "cohen", "qwk", "f1",
)  # fmt: skip


def _complete(scores: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(scores).any(axis=1))


def _icc_columns(scores: Floats) -> Floats:
    """Complete rows: 1, each rater's score, the sum of squares, the square of the sum."""
    there = _complete(scores)
    x = np.where(there[:, None], scores, 0.0)
    total = x.sum(axis=1)
    return np.concatenate(
        [there[:, None] * 1.0, x, (x**2).sum(axis=1)[:, None], (total**2)[:, None]], axis=1
    )


def icc_squares(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean squares of rows, raters and error from the sums (..., k + 3) of an ICC."""
    n, raters, square, rows = sums[..., 0], sums[..., 1:-2], sums[..., -2], sums[..., -1]
    k = raters.shape[-1]
    mean = raters.mean(axis=-1)
    level = k * mean**2 / n
    # Differences of sums are exact where scores are whole steps; those of squares would cancel.
    columns = ((raters - mean[..., None]) ** 2).sum(axis=-1) / n
    between = rows / k - level
    error = square - level - between - columns
    return between / (n - 1), columns / (k - 1), error / ((n - 1) * (k - 1))


def _icc_value(form: str, k: int, sums: Floats) -> Floats:
    n, rows = sums[..., 0], sums[..., -1]
    squares = icc_squares(sums)
    parts = quotients((form,), k)[0]
    above, below = (
        sum((line[at, 0] + line[at, 1] / n) * squares[at] for at in range(3)) for line in parts
    )
    return above / np.where(np.abs(below) > 1e-14 * rows / n, below, np.nan)


def _pair_columns(scores: Floats) -> Floats:
    """1, x, y, x², y², xy, |y - x| of rows with both."""
    there = _complete(scores)
    x, y = np.where(there[:, None], scores, 0.0).T
    return np.stack([there * 1.0, x, y, x * x, y * y, x * y, np.abs(y - x)], axis=1)


def _spread(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Difference of means, sums of squares about the means, and of products."""
    n, x, y, xx, yy, xy, _ = (sums[..., at] for at in range(7))
    return y / n - x / n, xx - x * x / n, yy - y * y / n, xy - x * y / n


def _ccc(sums: Floats) -> Floats:
    shift, xx, yy, xy = _spread(sums)
    whole = xx + yy + sums[..., 0] * shift**2
    return 2 * xy / np.where(whole > 0, whole, np.nan)


def _pearson(sums: Floats) -> Floats:
    _, xx, yy, xy = _spread(sums)
    whole = xx * yy
    return xy / np.sqrt(np.where(whole > 0, whole, np.nan))


def _bias(sums: Floats) -> Floats:
    return _spread(sums)[0]


def _limit(side: int, sums: Floats) -> Floats:
    shift, xx, yy, xy = _spread(sums)
    return shift + side * _Z95 * np.sqrt(np.maximum(xx + yy - 2 * xy, 0) / (sums[..., 0] - 1))


def _mae(sums: Floats) -> Floats:
    return sums[..., 6] / sums[..., 0]


def _rmse(sums: Floats) -> Floats:
    return np.sqrt(np.maximum(sums[..., 3] + sums[..., 4] - 2 * sums[..., 5], 0) / sums[..., 0])


def _unit_columns(scores: Floats) -> Floats:
    """Interval alpha: of rows with two ratings or more, m, Σx, Σx² and the disagreement inside."""
    m = (~np.isnan(scores)).sum(axis=1)
    used = m > 1
    x = np.where(np.isnan(scores) | ~used[:, None], 0.0, scores)
    total, square, m = x.sum(axis=1), (x * x).sum(axis=1), np.where(used, m, 0)
    inside = 2 * (m * square - total**2) / np.maximum(m - 1, 1)
    return np.stack([m * 1.0, total, square, inside], axis=1)


def _interval_alpha(sums: Floats) -> Floats:
    n, total, square, inside = (sums[..., at] for at in range(4))
    expected = 2 * (n * square - total**2)
    return 1 - (n - 1) * inside / np.where(expected > 0, expected, np.nan)


def _moment_forms() -> dict[str, Callable[[int], SummedCoefficient]]:
    def icc(form: str, raters: int) -> SummedCoefficient:
        return SummedCoefficient(
            f"ICC({form})", _icc_columns, partial(_icc_value, form, raters), "zero_variance"
        )

    def two(name: str, statistic: Statistic, _raters: int) -> SummedCoefficient:
        return SummedCoefficient(name, _pair_columns, statistic)

    def alpha(_raters: int) -> SummedCoefficient:
        return SummedCoefficient(
            "alpha (interval)", _unit_columns, _interval_alpha, "zero_expected_disagreement"
        )

    forms = {"icc_1": "1", "icc_c1": "C,1", "icc_a1": "A,1", "icc_1k": "1,k", "icc_ck": "C,k",
             "icc_ak": "A,k"}  # fmt: skip
    pairs: dict[str, tuple[str, Statistic]] = {
        "bias": ("bias", _bias), "mae": ("MAE", _mae), "rmse": ("RMSE", _rmse),
        "loa_low": ("lower limit of agreement", partial(_limit, -1)),
        "loa_high": ("upper limit of agreement", partial(_limit, 1)),
        "ccc": ("CCC", _ccc), "pearson": ("Pearson r", _pearson),
    }  # fmt: skip
    return {
        **{name: partial(icc, form) for name, form in forms.items()},
        **{name: partial(two, *named) for name, named in pairs.items()},
        "alpha_interval": alpha,
    }


_MOMENTS = _moment_forms()


def _level_counts(levels: Floats, scores: Floats) -> Floats:
    """(n, q) how many raters gave each level."""
    return np.stack([(scores == level).sum(axis=1) for level in levels], axis=1) * 1.0


def _coincidences(levels: Floats, scores: Floats) -> Floats:
    """(n, q²) of rows with two ratings or more: pairs of levels within the row, over m - 1."""
    counts = _level_counts(levels, scores)
    m = counts.sum(axis=1)
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(len(levels)))
    return (pairs / np.maximum(m - 1, 1)[:, None, None]).reshape(len(counts), -1)


def _metric(metric: str, levels: Floats, share: Floats) -> Floats:
    """(..., q, q) squared differences of levels; ordinal ones depend on the ratings of each."""
    if metric == "nominal":
        return 1 - np.eye(len(levels))
    if metric == "ordinal":
        # The interval metric on mid-ranks: the ratings below, and half of one's own.
        ranks = np.cumsum(share, axis=-1) - share / 2
        return (ranks[..., :, None] - ranks[..., None, :]) ** 2
    a, b = levels[:, None], levels[None, :]
    if metric == "ratio":
        return ((a - b) / np.where(a + b == 0, 1.0, a + b)) ** 2
    return (a - b) ** 2


def _counted_alpha(metric: str, levels: Floats, sums: Floats) -> Floats:
    q = len(levels)
    pairs = sums.reshape(*sums.shape[:-1], q, q)
    share = pairs.sum(axis=-1)
    n, far = share.sum(axis=-1), _metric(metric, levels, share)
    observed = (pairs * far).sum(axis=(-1, -2))
    expected = (share[..., :, None] * share[..., None, :] * far).sum(axis=(-1, -2))
    return 1 - (n - 1) * observed / np.where(expected > 0, expected, np.nan)


def _gwet_columns(levels: Floats, far: Floats, scores: Floats) -> Floats:
    """Disagreement of the row's pairs, whether it has any, its shares of levels, whether rated."""
    counts = _level_counts(levels, scores)
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    clash = np.einsum("pc,ck,pk->p", counts, far, counts)
    return np.column_stack(
        [clash / np.maximum(pairs, 1), pairs > 0, counts / np.maximum(m, 1)[:, None], m > 0]
    )


def _gwet(kind: str, far: Floats, sums: Floats) -> Floats:
    observed = sums[..., 0] / sums[..., 1]
    if kind == "agreement":
        return 1 - observed
    share, q = sums[..., 2:-1] / sums[..., -1:], len(far)
    if kind == "fleiss":
        expected = ((share @ far) * share).sum(axis=-1)
    elif kind == "bp":
        expected = np.full(share.shape[:-1], far.sum() / (q * q))
    else:
        scale = (q * q - far.sum()) / (q * (q - 1)) if q > 1 else 1.0
        expected = float(q > 1) - scale * (share * (1 - share)).sum(axis=-1)
    return 1 - observed / np.where(expected > 0, expected, np.nan)


def _joint(levels: Floats, scores: Floats) -> Floats:
    """(n, q²) the cell of rows with both ratings."""
    found = (scores[:, :1] == levels)[:, :, None] & (scores[:, 1:] == levels)[:, None, :]
    return found.reshape(len(scores), -1) * 1.0


def _cohen(far: Floats, sums: Floats) -> Floats:
    q = len(far)
    table = sums.reshape(*sums.shape[:-1], q, q)
    n = table.sum(axis=(-1, -2))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    expected = ((rows @ far) * columns).sum(axis=-1)
    return 1 - n * (table * far).sum(axis=(-1, -2)) / np.where(expected > 0, expected, np.nan)


def _f1(q: int, sums: Floats) -> Floats:
    """F1 of the upper of two levels; of more levels the mean over those that occur."""
    table = sums.reshape(*sums.shape[:-1], q, q)
    hit = np.einsum("...ii->...i", table)
    whole = table.sum(axis=-1) + table.sum(axis=-2)
    each = 2 * hit / np.where(whole > 0, whole, np.nan)
    return each[..., -1] if q == 2 else np.nanmean(each, axis=-1)


def _levelled_forms() -> dict[str, Callable[[Floats], SummedCoefficient]]:
    certain = "zero_expected_disagreement"

    def alpha(metric: str, levels: Floats) -> SummedCoefficient:
        return SummedCoefficient(
            f"alpha ({metric})",
            partial(_coincidences, levels),
            partial(_counted_alpha, metric, levels),
            certain,
        )

    def gwet(kind: str, name: str, weights: Any, levels: Floats) -> SummedCoefficient:
        far = disagreement(weights, levels)
        return SummedCoefficient(
            name, partial(_gwet_columns, levels, far), partial(_gwet, kind, far), certain
        )

    def cohen(name: str, weights: Any, levels: Floats) -> SummedCoefficient:
        far = disagreement(weights, levels)
        return SummedCoefficient(name, partial(_joint, levels), partial(_cohen, far), certain)

    def f1(levels: Floats) -> SummedCoefficient:
        return SummedCoefficient(
            "F1" if len(levels) == 2 else "macro-F1",
            partial(_joint, levels),
            partial(_f1, len(levels)),
            "no_data",
        )

    return {
        **{f"alpha_{metric}": partial(alpha, metric) for metric in ("nominal", "ordinal", "ratio")},
        "fleiss": partial(gwet, "fleiss", "Fleiss' kappa (unweighted)", None),
        "ac1": partial(gwet, "ac", "AC1", None),
        "ac2": partial(gwet, "ac", "AC2 (quadratic)", "quadratic"),
        "bp": partial(gwet, "bp", "Brennan-Prediger (unweighted)", None),
        "agreement": partial(gwet, "agreement", "joint agreement", None),
        "cohen": partial(cohen, "Cohen's kappa (unweighted)", None),
        "qwk": partial(cohen, "Cohen's kappa (quadratic)", "quadratic"),
        "f1": f1,
    }


_LEVELLED = _levelled_forms()


def delta_interval(value: float, square: float, clusters: int, level: float) -> Interval:
    """The t interval of a linearised coefficient, from the sum of squared cluster sums.

    The linearised values sum to about 0, so that ``G / (G - 1) square`` estimates the variance of
    their sum; see `voirdire.stats.sums.jackknife`, which it approaches as clusters grow.
    """
    if clusters < 2 or not math.isfinite(value):
        return Interval("cluster_delta", level, math.nan, math.nan)
    se = math.sqrt(clusters / (clusters - 1) * square)
    reach = quantile((1 + level) / 2, clusters - 1) * se
    return Interval("cluster_delta", level, value - reach, value + reach)


def poisson_interval(values: Floats, level: float) -> Interval:
    """Percentiles of a coefficient over Poisson-weighted replicates."""
    kept = values[np.isfinite(values)]
    if len(kept) < len(values) or not len(kept):
        return Interval("poisson", level, math.nan, math.nan)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval("poisson", level, float(low), float(high))


def summed_estimate(
    coefficient: SummedCoefficient,
    value: float,
    intervals: Sequence[Interval],
    *,
    n: int,
    k: int,
    left_out: int = 0,
    details: dict[str, Any] | None = None,
) -> Estimate:
    """The result of a coefficient of sums."""
    reason = coefficient.reason if math.isnan(value) else None
    kept = () if reason else tuple(intervals)
    return Estimate(
        coefficient.name, value, kept, n, k, left_out, reason, details=dict(details or {})
    )
