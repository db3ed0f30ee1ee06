"""One ranking of systems from everybody's comparisons: strengths, ranks, tiers, what is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, row_names
from voirdire.stats._results import Interval, Result
from voirdire.stats.intervals import normal_quantile
from voirdire.stats.pairwise import groups
from voirdire.stats.sums import summed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Newton's steps, and when they are over.
_STEPS, _STILL = 200, 1e-12
#: More comparisons than this are no advice.
MOST_MORE = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Ranked(Result):
    """One system.

    Attributes
    ----------
    strength : float
        Log-strength; those of all systems sum to 0. A difference of d means odds of e^d to 1.
    interval : Interval
        Of the strength.
    rank, low, high : int
        By strength, 1 is best; the ranks that it may have.
    tier : int
        Systems of one tier are not told apart from its best.
    wins, ties, losses : int
        Of its comparisons.
    """

    system: str
    strength: float
    interval: Interval
    rank: int
    low: int
    high: int
    tier: int
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        """Rank, name and strength."""
        return f"{self.rank} [{self.low}, {self.high}] {self.system}: {self.strength:.3f}"


@dataclass(frozen=True, slots=True)
class More:
    """Two neighbours that are not told apart, and about how many more comparisons of them would."""

    first: str
    second: str
    needed: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Ranking(Result):
    """Systems, best first.

    Attributes
    ----------
    systems : tuple of Ranked
        Best first.
    more : tuple of More
        Of neighbours that are not told apart; `needed` None where no realistic number would do.
    shrunk : bool
        Whether some system won or lost everything, so that strengths were pulled together by half
        a comparison's worth of doubt (Jeffreys); without it they have no maximum.
    n, clusters : int
        Comparisons, and what they were clustered by.
    """

    systems: tuple[Ranked, ...]
    more: tuple[More, ...]
    shrunk: bool
    n: int
    clusters: int

    def __getitem__(self, system: str) -> Ranked:
        """The system of that name; KeyError where there is none."""
        for one in self.systems:
            if one.system == system:
                return one
        raise KeyError(system)

    def __str__(self) -> str:
        """A line a system."""
        return "\n".join(map(str, self.systems))


def rank_systems(
    a: ArrayLike, b: ArrayLike, scores: ArrayLike, clusters: Any = None, *, level: float = 0.95
) -> Ranking:
    """Bradley-Terry strengths of everybody's comparisons, a tie being half a win of each.

    Where no system won or lost everything it is the maximum of the likelihood; else Jeffreys' prior
    keeps strengths finite, so that a system that lost all is last, with an interval. Errors are
    those of a sandwich over clusters. A rank's interval counts the systems that are surely better
    and surely worse, by Bonferroni over the pairs.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Names of the two systems.
    scores : array_like, shape (n,)
        Above 0 where a is preferred, below 0 where b is, 0 for a tie; NaN is missing. How clearly
        does not count.
    clusters : array_like, shape (n,), optional
        What comparisons share: the item; by default each stands for itself.
    level : float
        Nominal coverage.

    Raises
    ------
    StatisticsError
        A system compared with itself, other shapes, or systems that were never compared, even
        through others.

    Examples
    --------
    >>> a, b = list("xxxyyyxx") * 3, list("yyyzzzzz") * 3
    >>> ranking = rank_systems(a, b, [1, 1, -1, 1, 1, 0, 1, 1] * 3)
    >>> [(one.system, one.rank) for one in ranking.systems]
    [('x', 1), ('y', 2), ('z', 3)]
    >>> rank_systems(["x"] * 9, ["y"] * 9, [1] * 9).shrunk
    True

    References
    ----------
    Bradley and Terry (1952), Biometrika 39, 324-345; Firth (1993), Biometrika 80, 27-38 (Jeffreys'
    prior); Huber (1967) for the sandwich; Goldstein and Healy (1995), JRSS A 158, 175-177 (ranks).
    """
    given = np.asarray(scores, dtype=np.float64)
    n = len(given)
    left, right = (row_names(side, n, name).astype(str) for side, name in ((a, "a"), (b, "b")))
    if (left == right).any():
        where = int(np.flatnonzero(left == right)[0])
        raise StatisticsError(f"row {where} compares system {str(left[where])!r} with itself")
    kept = ~np.isnan(given)
    left, right, sign = left[kept], right[kept], np.sign(given[kept])
    names = np.unique(np.concatenate([left, right]))
    i, j = np.searchsorted(names, left), np.searchsorted(names, right)
    group = np.arange(len(sign)) if clusters is None else np.asarray(clusters)[kept]
    codes = np.unique(group, return_inverse=True)[1]
    won = (sign + 1) / 2
    count = len(names)
    table = np.zeros((count, count))
    np.add.at(table, (i, j), won)
    np.add.at(table, (j, i), 1 - won)
    # Half a win each way is a tie, so that ties connect as wins do.
    apart = groups(table, np.zeros_like(table))
    if count < 2 or not apart.connected:
        raise StatisticsError(
            "systems that were never compared, even through others, have no order"
        )
    shrunk = len(apart.members) > 1
    strengths, covariance = _fitted(table, (i, j, won), codes, shrunk=shrunk)
    return _ranking(names, strengths, covariance, (i, j, sign), int(codes.max()) + 1, shrunk, level)


def _fitted(
    table: Floats,
    rows: tuple[NDArray[np.intp], NDArray[np.intp], Floats],
    codes: NDArray[np.intp],
    *,
    shrunk: bool,
) -> tuple[Floats, Floats]:
    """Strengths that sum to 0, and the sandwich of their covariance."""
    count = len(table)
    played = table + table.T
    centre = np.full((count, count), 1.0 / count)
    theta = np.zeros(count)
    for _ in range(_STEPS):
        chance, information = _expected(theta, played)
        slope = (table - played * chance).sum(axis=1)
        if shrunk:
            slope = slope + _jeffreys(theta, played, information + centre, chance)
        step = np.linalg.solve(information + centre, slope)
        size = np.abs(step).max(initial=0.0)
        # Far from the maximum a whole step overshoots.
        theta = theta + step * min(1.0, 1.0 / max(size, 1e-300))
        theta -= theta.mean()
        if size < _STILL:
            break
    chance, information = _expected(theta, played)
    i, j, won = rows
    residual = won - chance[i, j]
    scores = np.zeros((len(won), count))
    scores[np.arange(len(won)), i] = residual
    scores[np.arange(len(won)), j] = -residual
    by_cluster = summed(scores, codes, int(codes.max()) + 1)
    inverse = np.linalg.inv(information + centre) - centre
    meat = by_cluster.T @ by_cluster
    units = len(by_cluster)
    covariance = inverse @ meat @ inverse * (units / max(units - 1, 1))
    # Residuals of a system that lost everything are next to nothing: its error is never below the
    # model's own.
    model = np.sqrt(np.maximum(np.diag(inverse), 0.0))
    robust = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if shrunk and (robust < model).any():
        covariance = inverse
    return theta, covariance


def _expected(theta: Floats, played: Floats) -> tuple[Floats, Floats]:
    """(k, k) chances of the row over the column system, and the information."""
    chance: Floats = 1 / (1 + np.exp(-(theta[:, None] - theta[None])))
    weight = played * chance * (1 - chance)
    np.fill_diagonal(weight, 0.0)
    return chance, np.diag(weight.sum(axis=1)) - weight


def _jeffreys(theta: Floats, played: Floats, information: Floats, chance: Floats) -> Floats:
    """The slope of half the log-determinant of the information."""
    del theta
    inverse = np.linalg.inv(information)
    spread = played * chance * (1 - chance) * (1 - 2 * chance)
    np.fill_diagonal(spread, 0.0)
    own = np.diag(inverse)
    distance = own[:, None] + own[None] - 2 * inverse
    slope: Floats = 0.5 * (spread * distance).sum(axis=1)
    return slope


def _ranking(
    names: NDArray[Any],
    strengths: Floats,
    covariance: Floats,
    rows: tuple[NDArray[np.intp], NDArray[np.intp], Floats],
    clusters: int,
    shrunk: bool,
    level: float,
) -> Ranking:
    count = len(names)
    order = np.argsort(-strengths, kind="stable")
    variance = np.diag(covariance)
    gap = strengths[:, None] - strengths[None]
    error = np.sqrt(np.maximum(variance[:, None] + variance[None] - 2 * covariance, 1e-300))
    pairs = count * (count - 1) // 2
    far = normal_quantile(1 - (1 - level) / (2 * pairs))
    better = gap > far * error  # row surely better than column
    z = normal_quantile((1 + level) / 2)
    i, j, sign = rows
    tiers, best = np.zeros(count, dtype=np.intp), int(order[0])
    for place in order:
        if better[best, place]:
            best = int(place)
            tiers[place] = tiers.max() + 1
        else:
            tiers[place] = tiers[best]
    made = []
    for rank, place in enumerate(order, 1):
        half = z * math.sqrt(float(variance[place]))
        strength = float(strengths[place])
        made.append(
            Ranked(
                str(names[place]),
                strength,
                Interval("sandwich", level, strength - half, strength + half),
                rank,
                1 + int(better[:, place].sum()),
                count - int(better[place].sum()),
                int(tiers[place]) + 1,
                int(((i == place) & (sign > 0)).sum() + ((j == place) & (sign < 0)).sum()),
                int((((i == place) | (j == place)) & (sign == 0)).sum()),
                int(((i == place) & (sign < 0)).sum() + ((j == place) & (sign > 0)).sum()),
            )
        )
    more = tuple(
        _more(names, (one, two), gap, error, far)
        for one, two in pairwise(order.tolist())
        if not better[one, two]
    )
    return Ranking(tuple(made), more, shrunk, len(sign), clusters)


def _more(
    names: NDArray[Any], pair: tuple[int, int], gap: Floats, error: Floats, far: float
) -> More:
    """Comparisons of two neighbours that would tell them apart, were their gap to stay."""
    one, two = pair
    distance = float(gap[one, two])
    chance = 1 / (1 + math.exp(-distance))
    if distance <= 0:
        return More(str(names[one]), str(names[two]), None)
    # Information adds up: so much is asked for, less what there is, at p (1 - p) a comparison.
    wanted = (far / distance) ** 2 - 1 / float(error[one, two]) ** 2
    needed = math.ceil(wanted / (chance * (1 - chance)))
    return More(str(names[one]), str(names[two]), max(needed, 1) if needed < MOST_MORE else None)
