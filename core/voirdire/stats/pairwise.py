"""Bradley-Terry strengths of systems from pairwise comparisons with ties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, row_names
from voirdire.stats._clusters import GroupedScores, comparisons
from voirdire.stats._patterns import resampled_counts
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.intervals import AskedIntervals, normal_interval, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

#: Newton's steps: the likelihood is concave, and ten are many.
_STEPS = 100
#: A log-strength is known when a step moves it by no more.
_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class BradleyTerry(Result):
    """Strengths of systems, strongest first.

    Attributes
    ----------
    systems : tuple of str
        Sorted by strength; where strengths are unbounded, by group.
    strengths : tuple of Estimate
        Log-strengths, which sum to 0.
    tie : Estimate
        Davidson's nu: 0 where no tie occurred, 2 where equals tie as often as they do not.
    groups : tuple of tuples of str
        One group where all strengths are finite. Otherwise systems of one group are never beaten
        nor tied by those of a later one: strengths between groups run off to infinity.
    """

    systems: tuple[str, ...]
    strengths: tuple[Estimate, ...]
    tie: Estimate
    groups: tuple[tuple[str, ...], ...]

    def __getitem__(self, system: str) -> Estimate:
        """The strength of a system."""
        return self.strengths[self.systems.index(system)]

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        pairs = zip(self.systems, self.strengths, strict=True)
        return {
            "strengths": {system: strength.to_dict() for system, strength in pairs},
            "tie": self.tie.to_dict(),
            "groups": [list(group) for group in self.groups],
        }

    def __str__(self) -> str:
        """A line a system, strongest first."""
        rows = zip(self.systems, self.strengths, strict=True)
        return "\n".join([*(f"{system}: {strength}" for system, strength in rows), str(self.tie)])


def bradley_terry(
    a: ArrayLike,
    b: ArrayLike,
    scores: ArrayLike,
    items: ArrayLike | None = None,
    *,
    ci: str | Sequence[str] | None = "wald",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> BradleyTerry:
    r"""Bradley-Terry strengths with ties after Davidson, by maximum likelihood.

    .. math:: P(i \succ j) = \frac{\pi_i}{\pi_i + \pi_j + \nu \sqrt{\pi_i \pi_j}}, \quad
              P(i \sim j) = \frac{\nu \sqrt{\pi_i \pi_j}}{\pi_i + \pi_j + \nu \sqrt{\pi_i \pi_j}}

    Reported is :math:`\log \pi`, with mean 0: a difference of d means odds of :math:`e^d` to 1
    among decided comparisons. Only the sign of a score counts.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        Names of the two systems of each comparison.
    scores : array_like, shape (n,)
        Above 0 where a is preferred, below 0 where b is, 0 for a tie. NaN is missing.
    items : array_like, shape (n,), optional
        What comparisons share; drawn as a whole by ``"percentile"``.
    ci : {None, "wald", "percentile"} or several of them
        From the Fisher information, which takes comparisons for independent, or bootstrap of
        whole items (resamples without a finite solution are counted as undefined).
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    BradleyTerry
        Where some systems are never beaten or tied by others, their likelihood has no maximum:
        strengths are NaN with ``not_estimable`` and the flag ``unbounded``, and ``groups`` says
        how the systems fall apart. No penalty is put in to hide it. Systems that were never
        compared, even through others, are ``not_estimable`` without the flag.

    Raises
    ------
    StatisticsError
        For a system compared with itself, or other shapes.

    References
    ----------
    Davidson, R. R. (1970). Journal of the American Statistical Association 65, 317-328, eq. 2.1.
    Ford, L. R. (1957). American Mathematical Monthly 64, 28-33 (when a maximum exists).

    Examples
    --------
    >>> a, b = list("xxxyyyxxxy"), list("yyyzzzzzzz")
    >>> strengths = bradley_terry(a, b, [1, 1, -1, 1, 0, -1, 2, 1, -1, 2])
    >>> strengths.systems
    ('x', 'y', 'z')
    >>> print(strengths["x"])
    log-strength of x = 0.522, 95% CI [-0.689, 1.733] (wald), n = 6, k = 3
    >>> bradley_terry(["x", "x"], ["y", "y"], [1, 1])["x"].flags
    ('unbounded',)
    """
    asked = AskedIntervals.of(ci, ("wald", "percentile"), level, n_resamples, seed)
    given = comparisons(scores, items, math.inf)
    left, right = (
        row_names(side, len(given.kept), name).astype(str) for side, name in ((a, "a"), (b, "b"))
    )
    systems = np.unique(np.concatenate([left, right]))
    i, j = (np.searchsorted(systems, side)[given.kept] for side in (left, right))
    if (left == right).any():
        where = int(np.flatnonzero(left == right)[0])
        raise StatisticsError(f"row {where} compares system {str(left[where])!r} with itself")
    places = _places(i, j, np.sign(given.scores), len(systems))
    total = np.bincount(places, minlength=2 * len(systems) ** 2).astype(np.float64)
    parts = groups(_wins(total, len(systems)), _ties(total, len(systems)))
    solved = fit(_wins(total, len(systems)), _ties(total, len(systems))) if parts.finite else None
    drawn = None
    if "percentile" in asked and solved is not None:
        tables = _tables(given, places, len(total))
        drawn = _resampled(tables, len(systems), n_resamples, seed)
    order = _order(solved, parts.members)
    played = np.bincount(np.concatenate([i, j]), minlength=len(systems))
    reason = None if solved is not None else "not_estimable" if given.n else "no_data"
    flags = ("unbounded",) if reason == "not_estimable" and parts.connected else ()
    k = len(systems)

    def dressed(name: str, place: int, n: int) -> Estimate:
        """One parameter with the intervals that were asked for."""
        value, se = (math.nan, math.nan) if solved is None else solved.part(place)
        intervals: list[Interval] = []
        for method in asked:
            if method == "wald":
                intervals.append(normal_interval(value, se, level))
            else:
                values = np.array([]) if drawn is None else drawn[:, place]
                intervals.append(percentile_interval(values, level, given.groups))
        return Estimate(
            name, value, tuple(intervals), n, k, given.left_out, reason, flags, {"se": se}
        )

    return BradleyTerry(
        tuple(str(systems[s]) for s in order),
        tuple(dressed(f"log-strength of {systems[s]}", s, int(played[s])) for s in order),
        dressed("nu", k, given.n),
        tuple(tuple(str(systems[s]) for s in members) for members in parts.members),
    )


def _order(solved: Davidson | None, members: Sequence[Sequence[int]]) -> list[int]:
    if solved is None:
        return [s for group in members for s in group]
    return np.argsort(-solved.strengths, kind="stable").tolist()


def _places(
    i: NDArray[np.int64], j: NDArray[np.int64], outcome: NDArray[np.float64], k: int
) -> NDArray[np.int64]:
    """Where each comparison counts: a win of i over j at i k + j, a tie in the second half."""
    winner, loser = np.where(outcome >= 0, i, j), np.where(outcome >= 0, j, i)
    places: NDArray[np.int64] = winner * k + loser + np.where(outcome == 0, k * k, 0)
    return places


def _tables(given: GroupedScores, places: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    """Outcomes of each item, (groups, 2 k²)."""
    counts = np.bincount(given.group * width + places, minlength=given.groups * width)
    return counts.reshape(given.groups, width).astype(np.float64)


def _wins(total: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Wins of the row system over the column system."""
    return total[: k * k].reshape(k, k)


def _ties(total: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Ties of each pair, symmetric."""
    half = total[k * k :].reshape(k, k)
    return half + half.T


def _resampled(
    tables: NDArray[np.float64], k: int, n_resamples: int, seed: int
) -> NDArray[np.float64]:
    """Strengths and nu of each resample of whole items; NaN where they are not finite."""
    out = []
    for counts in resampled_counts(np.ones(len(tables), np.int64), n_resamples, seed):
        for total in counts.astype(np.float64) @ tables:
            wins, ties = _wins(total, k), _ties(total, k)
            # A resample may lose the one defeat that keeps a system's strength finite.
            finite = groups(wins, ties).finite
            out.append(fit(wins, ties).values() if finite else np.full(k + 1, np.nan))
    return np.array(out)


@dataclass(frozen=True, slots=True)
class Davidson:
    """The maximum, and standard errors from the inverse information."""

    strengths: Floats
    nu: float
    errors: Floats
    nu_error: float

    def part(self, place: int) -> tuple[float, float]:
        """Value and standard error of a system, or of nu after the last."""
        if place == len(self.strengths):
            return self.nu, self.nu_error
        return float(self.strengths[place]), float(self.errors[place])

    def values(self) -> Floats:
        """Strengths and nu."""
        return np.append(self.strengths, self.nu)


def fit(wins: Floats, ties: Floats) -> Davidson:
    """Maximum likelihood for data whose maximum is finite; without a tie nu is 0.

    Parameters
    ----------
    wins : (k, k)
        Wins of the row over the column system.
    ties : (k, k)
        Ties of each pair, symmetric.
    """
    k = len(wins)
    # Without ties the likelihood rises for ever as nu falls: its logarithm would be no number.
    free = k + int(ties.any())
    theta = np.zeros(free)
    centre = np.zeros((free, free))
    centre[:k, :k] = 1.0 / k  # fixes the sum of strengths, which the likelihood leaves open
    value, slope, information = _likelihood(theta, wins, ties)
    for _ in range(_STEPS):
        step = np.linalg.solve(information + centre, slope)
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
        size = 1.0
        # A full step may overshoot where few comparisons bend the likelihood; half of it cannot for
        # ever.
        while size > 1e-10:
            trial = _likelihood(theta + size * step, wins, ties)
            if trial[0] >= value - 1e-12 * abs(value):
                break
            size /= 2
        theta, (value, slope, information) = theta + size * step, trial
    # The inverse of a centred matrix: what fixed the sum is taken out again.
    covariance = np.linalg.inv(information + centre) - centre
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    strengths = theta[:k] - theta[:k].mean()
    nu = float(np.exp(theta[k])) if free > k else 0.0
    nu_error = float(nu * errors[k]) if free > k else float("nan")
    return Davidson(strengths, nu, errors[:k], nu_error)


def _likelihood(theta: Floats, wins: Floats, ties: Floats) -> tuple[float, Floats, Floats]:
    """Log-likelihood, gradient and information of log-strengths (and log nu where it is free)."""
    k = len(wins)
    with_ties = len(theta) > k
    i, j = np.triu_indices(k, 1)
    played = wins[i, j] + wins[j, i] + ties[i, j]
    i, j, played = i[played > 0], j[played > 0], played[played > 0]
    first, second = np.zeros((len(i), len(theta))), np.zeros((len(i), len(theta)))
    first[np.arange(len(i)), i] = second[np.arange(len(j)), j] = 1.0
    designs, observed = [first, second], [wins[i, j], wins[j, i]]
    if with_ties:
        middle = (first + second) / 2
        middle[:, k] = 1.0
        designs.append(middle)
        observed.append(ties[i, j])
    design, seen = np.stack(designs, axis=1), np.stack(observed, axis=1)
    utility = design @ theta
    # exp of strengths of a thousand would overflow; only differences count.
    top = utility.max(axis=1, keepdims=True)
    mass = np.exp(utility - top)
    chance = mass / mass.sum(axis=1, keepdims=True)
    value = float((seen * np.log(chance)).sum())
    expected = played[:, None] * chance
    slope = np.einsum("po,pof->f", seen - expected, design)
    mean = np.einsum("po,pof->pf", chance, design)
    spread = np.einsum("po,pof,pog->fg", expected, design, design)
    # Of a multinomial outcome the information is the covariance of its design.
    return value, slope, spread - np.einsum("p,pf,pg->fg", played, mean, mean)


@dataclass(frozen=True, slots=True)
class Groups:
    """How systems fall apart.

    Attributes
    ----------
    members : tuple of tuples of int
        Systems that can be reached from one another by wins and ties; better groups first.
    connected : bool
        Whether all systems were compared, directly or through others.
    finite : bool
        Whether strengths and nu have a finite maximum (nu may be 0).
    """

    members: tuple[tuple[int, ...], ...]
    connected: bool
    finite: bool


def groups(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> Groups:
    """Groups of systems, and whether all is finite.

    A direction in which the likelihood never falls moves systems apart (then some group is never
    beaten nor tied by another), or nu to infinity with them: wins at least one apart, ties at most
    one. Both are excluded where all systems reach each other and some cycle holds a win more than
    it holds ties.
    """
    k = len(wins)
    reach = _closure((wins > 0) | (ties > 0) | np.eye(k, dtype=np.bool_))
    mutual = reach & reach.T
    met = _closure((wins + wins.T + ties > 0) | np.eye(k, dtype=np.bool_))
    members = sorted(
        {tuple(np.flatnonzero(row).tolist()) for row in mutual},
        key=lambda group: (-int(reach[group[0]].sum()), group),
    )
    one = len(members) == 1 and k > 1
    bounded = not (ties > 0).any() or not _apart(wins, ties)
    return Groups(tuple(members), bool(k and met.all()), one and bounded)


def _closure(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which systems are reached from which."""
    reach = edges.copy()
    for middle in range(len(reach)):
        # Warshall: paths by way of one more system at a time.
        reach |= reach[:, middle : middle + 1] & reach[middle]
    return reach


def _apart(wins: NDArray[np.float64], ties: NDArray[np.float64]) -> bool:
    """Whether places exist with winners 1 above losers and ties at most 1 apart (Bellman-Ford)."""
    k = len(wins)
    bound = np.where(ties > 0, 1.0, np.inf)
    bound = np.where(wins > 0, -1.0, bound)  # loser <= winner - 1
    place = np.zeros(k)
    # After k rounds without rest there is a cycle that lowers itself for ever.
    for _ in range(k + 1):
        moved = np.minimum(place, (place[:, None] + bound).min(axis=0, initial=np.inf))
        if (moved == place).all():
            return True
        place = moved
    return False
