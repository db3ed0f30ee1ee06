"""Judged units that stream in, with labels that trickle in: has the system moved, or the judge?

People's scores have a mean; the judge says ``c + d * (what people say)`` and noise. A system that
moves changes people's mean, and the judge's with it; a judge that moves changes ``c`` alone. Each
period measures two numbers apart: the judge's mean over all judged units, and people's beyond it,
by the regression of labels on the judge's scores of them. Units are summed by cluster, and how far
clusters stray is itself uncertain: it is averaged over what the data leave possible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats._results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._arrays import Floats

#: What is thought of system, judge and both before any data: mostly one of them moves.
_BEFORE = np.array([0.45, 0.45, 0.1])
#: Spread of the shifts that are looked for, in standard deviations of people's or judge's scores.
_SHIFT = 0.4
#: Where a system moves the judge comes along, by so much of what its slope says: people err as
#: well, and a judge follows them less at an end of the scale.
_FOLLOWS = np.array([0.6, 0.8, 1.0, 1.2, 1.4])
#: How sure one must be to say who moved.
_SURE = 0.95
#: Points at which an uncertain variance is tried, and how many of its standard errors they reach.
_POINTS, _REACH = 15, 5.0
#: Degrees of freedom from which a variance counts as known.
_KNOWN = 400

#: Columns of `Period.products` by which labels are foretold: units, own scores, fellows' scores.
_BY = [0, 2, 3]

Moved = Literal["", "system", "judge", "both", "cannot tell"]


@dataclass(frozen=True, slots=True, eq=False)
class Period(Result):
    """A week as sums, which is all that is kept of it.

    Attributes
    ----------
    labelled : (3,) float64
        Labelled units, the sum of their labels and of the judge's scores of them.
    products : (4, 4) float64
        Products by cluster, summed over clusters (a unit, where none are declared): of these sums,
        and of the mean score of all judged units of the cluster, as often as it has labels. What a
        unit's fellows score tells of its label as well, where they stray together.
    even : (4, 4) float64
        The same, each cluster's products divided by its labels: dialogues that hold more of them
        say more, and no more than that.
    clusters : int
        Of labelled units.
    judged : (2,) float64
        Judged units, labelled or not, and the sum of the judge's scores of them.
    squares : (2, 2) float64
        Products of these, by cluster, summed.
    others : int
        Their clusters.
    """

    labelled: Floats
    products: Floats
    even: Floats
    clusters: int
    judged: Floats
    squares: Floats
    others: int

    def __str__(self) -> str:
        """How many labels and judged units."""
        return f"{self.labelled[0]:g} labels, {self.judged[0]:g} judged"

    @classmethod
    def of(cls, labels: Any, judge: Any, *, clusters: Any = None) -> Period:
        """From the units of one period.

        Parameters
        ----------
        labels, judge : array-like, shape (N,)
            What people said (NaN where nobody was asked) and what the judge said; units that the
            judge did not score are left out.
        clusters : array-like, shape (N,), optional
            What each unit belongs to.

        Raises
        ------
        StatisticsError
            Not numeric, or not equally long.

        Examples
        --------
        >>> period = Period.of([4, None, None, 2], [5, 3, 4, 2])
        >>> period.labelled.tolist(), period.judged.tolist()
        ([2.0, 6.0, 7.0], [4.0, 14.0])
        """
        y, f = numbers(labels, "labels"), numbers(judge, "judge")
        if y.ndim != 1 or y.shape != f.shape:
            raise StatisticsError(
                f"labels and judge must be equally long, got shapes {y.shape} and {f.shape}"
            )
        group = np.arange(len(y))
        if clusters is not None:
            group = np.unique(row_names(clusters, len(y), "clusters"), return_inverse=True)[1]
        scored = ~np.isnan(f)
        known = scored & ~np.isnan(y)
        sizes, sums = (np.bincount(group[scored], part, len(y)) for part in (None, f[scored]))
        fellows = (sums / np.maximum(sizes, 1))[group[known]]
        columns = np.stack([np.ones(known.sum()), y[known], f[known], fellows], 1)
        own = _by_cluster(group[known], columns)
        every = _by_cluster(group[scored], np.stack([np.ones(scored.sum()), f[scored]], 1))
        even = own.T @ (own / np.maximum(own[:, :1], 1))
        return cls(
            own.sum(0)[:3], own.T @ own, even, len(own), every.sum(0), every.T @ every, len(every)
        )


def _by_cluster(group: Any, columns: Floats) -> Floats:
    places = np.unique(group, return_inverse=True)[1]
    sums = np.zeros((int(places.max(initial=-1)) + 1, columns.shape[1]))
    np.add.at(sums, places, columns)
    return sums


@dataclass(frozen=True, slots=True, eq=False)
class Watched(Result):
    """What was known after one period.

    Attributes
    ----------
    mean, low, high : float
        People's mean since the change that is likeliest (or over all periods, where there was no
        alarm), and an interval that holds at whatever time one looks.
    change, change_low, change_high : float
        Of people's mean since the first periods, and its interval, at any time.
    drift, drift_low, drift_high : float
        Of the judge beside people, in its own points.
    evidence : float
        Against nothing having moved; an alarm from 1 / alpha on.
    alarm : bool
        Whether it has reached that, now or before.
    moved : {"", "system", "judge", "both", "cannot tell"}
        Who moved, where there is an alarm.
    sure : float
        How sure that is; NaN without an alarm.
    other : float
        Where one is named, how likely the other moved as well; NaN otherwise.

    All numbers but the evidence, which is 1 then, are NaN as long as the labels of no period vary.
    """

    mean: float
    low: float
    high: float
    change: float
    change_low: float
    change_high: float
    drift: float
    drift_low: float
    drift_high: float
    evidence: float
    alarm: bool
    moved: Moved
    sure: float
    other: float = math.nan

    def __str__(self) -> str:
        """One line."""
        if math.isnan(self.mean):
            return "labels do not vary yet: nothing can be seen to move"
        if not self.alarm:
            return f"nothing has moved: mean {self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.moved} moved" if self.moved != "cannot tell" else "something moved"


def watch(
    periods: Sequence[Period], *, baseline: int = 4, looks: int = 52, alpha: float = 0.05
) -> tuple[Watched, ...]:
    r"""Whether, after each period, people's mean or the judge has changed, at any time.

    The evidence is a mixture over who moved, when (each of the looks alike) and how far (normal,
    with a spread of 0.4 standard deviations), of likelihood ratios from which the means before the
    change have dropped out, and in which the variances of both numbers are averaged over what was
    seen leaves possible (as in a sequential t test): few clusters then claim no more than they
    show. Under no change its expectation is 1 at any time, so that it reaches :math:`1 / \alpha`
    with probability :math:`\alpha` at most over all looks (Ville).

    Parameters
    ----------
    periods : sequence of Period
        In the order of time. Labels must be a random part of each period's units.
    baseline : int
        Periods, 1 or more, in which nothing is looked for.
    looks : int
        Periods behind the baseline over which `alpha` is spent.
    alpha : float
        The probability of a false alarm over all looks, in (0, 1).

    Returns
    -------
    tuple of Watched
        One for each period behind the baseline, `looks` at most.

    Raises
    ------
    StatisticsError
        Fewer than four labels in the baseline, or values out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import Period, watch
    >>> chance = np.random.default_rng(0)
    >>> weeks = []
    >>> for week in range(12):
    ...     truth = chance.normal(3.5 if week < 8 else 3.0, 1, 400)
    ...     judge = truth + 0.3 + chance.normal(0, 0.7, 400)
    ...     weeks.append(Period.of(np.where(np.arange(400) < 25, truth, np.nan), judge))
    >>> [one.alarm for one in watch(weeks)].index(True) + 4, watch(weeks)[-1].moved
    (8, 'system')

    References
    ----------
    Ville (1939). Robbins (1970), Ann. Math. Stat. 41, 1397-1409, for mixtures of normal shifts.
    Shin, Ramdas and Rinaldo (2024), E-detectors, NEJSDS 2, 229-260. The judge's part is that of
    prediction-powered inference (Angelopoulos et al. 2023).
    """
    if baseline < 1 or looks < 1 or not 0 < alpha < 1:
        raise StatisticsError(
            f"baseline and looks are 1 or more and alpha lies in (0, 1), got {baseline}, {looks}, "
            f"{alpha}"
        )
    first = sum(period.labelled[0] for period in periods[:baseline])
    if first < 4:
        raise StatisticsError(f"the baseline holds {first:g} labels, and needs at least four")
    found: list[Watched] = []
    alarm = False
    for t in range(baseline, min(len(periods), baseline + looks)):
        now = _Precision.of(periods[: t + 1])
        if now is None:
            # Labels that are all alike tell no spread, so that nothing can be seen to move yet.
            found.append(Watched(*_UNKNOWN, evidence=1.0, alarm=False, moved="", sure=math.nan))
            continue
        evidence, by_mover, at = _evidence(now, baseline, looks)
        alarm = alarm or evidence >= 1 / alpha
        named = _named(by_mover) if alarm else ("", math.nan, math.nan)
        found.append(_watched(now, baseline, at, alpha, evidence, alarm, named))
    return tuple(found)


#: The mean, the change and the drift with their bounds, where nothing is known of them.
_UNKNOWN = (math.nan,) * 9


@dataclass(frozen=True, slots=True)
class _Precision:
    """All periods so far: sums up to each, spreads of a unit, and variances with what they rest on.

    Attributes
    ----------
    own : (T + 1, 4, 4) float64
        `Period.even`, up to each period.
    judged : (T + 1, 2) float64
        Judged units and the sum of their scores, up to each period.
    rest, of_judge : (float, float)
        Variance of a label beside its regression, and of a judged unit's score, by cluster, each
        with its degrees of freedom, were nothing to have moved.
    people, judge : float
        Standard deviations of a unit's label and score.
    slope : float
        By how much the judge's mean moves with people's.
    """

    own: Floats
    judged: Floats
    rest: tuple[float, float]
    of_judge: tuple[float, float]
    people: float
    judge: float
    slope: float

    @classmethod
    def of(cls, periods: Sequence[Period]) -> _Precision | None:
        """None where labels do not vary, or are too few for a regression."""
        own = _running(np.stack([period.even for period in periods]))
        products = np.sum([period.products for period in periods], 0)
        judged = _running(np.stack([period.judged for period in periods]))
        squares = np.sum([period.squares for period in periods], 0)
        clusters = sum(period.clusters for period in periods)
        others = sum(period.others for period in periods)
        total = own[-1]
        level = total[0, 1:3] / total[0, 0]
        of_pair = total[1:3, 1:3] - total[0, 0] * np.outer(level, level)
        if clusters < 4 or not of_pair[0, 0] > 1e-12 * total[1, 1]:
            return None
        of_pair = of_pair / total[0, 0]
        turn = np.array([-judged[-1, 1] / judged[-1, 0], 1.0])
        strayed = float(turn @ squares @ turn)
        people = float(of_pair[0, 0])
        # A judge that never varies, or repeats the labels, leaves nothing over: rounding stands in.
        least = 1e-9 * people
        judge = max(strayed / float(squares[0, 0]), least)
        by = total[np.ix_(_BY, _BY)]
        turned = np.insert(-_inverse(by) @ total[_BY, 1], 1, 1.0)
        # Fellows that are the unit itself, or all labelled, are no further column.
        rank = np.linalg.matrix_rank(by, tol=1e-8 * by.max(), hermitian=True)
        df = max(float(clusters - rank), 1.0), float(max(others - 1, 1))
        left = max(float(turned @ products @ turned), least * float(total[0, 0]))
        rest = left / float(total[0, 0]) * clusters / df[0]
        unit = max(strayed, least * float(squares[0, 0])) / float(judged[-1, 0])
        return cls(
            own, judged, (rest, df[0]), (unit * others / df[1], df[1]),
            math.sqrt(people), math.sqrt(judge), _slope(of_pair),
        )  # fmt: skip

    def people_since(self, period: int) -> tuple[float, float]:
        """People's mean since a period, and its variance."""
        units, scores = self.judged[-1] - self.judged[period]
        sums = self.own[-1] - self.own[period]
        if not sums[0, 0] > 0:
            # No label since: what they said before is known, and nothing of what they say now.
            return (self.people_since(0)[0] if period else math.nan), math.inf
        at, inverse = np.array([1.0, *[scores / units] * 2]), _inverse(sums[np.ix_(_BY, _BY)])
        line = inverse @ sums[_BY, 1]
        by_judge = float(line[1:].sum()) ** 2 * self.of_judge[0] / units
        return float(at @ line), self.rest[0] * float(at @ inverse @ at) + by_judge

    def apart(self, at: Any) -> _Moves:
        """What changed at each of some periods: the judge's mean, and people's."""
        before, after = self.judged[at], self.judged[-1] - self.judged[at]
        of_judge = after[:, 1] / after[:, 0] - before[:, 1] / before[:, 0]
        first, then = self.own[at], self.own[-1] - self.own[at]
        # Regressions with a level before and one after, and one slope.
        left = np.zeros((len(at), 4, 4))
        left[:, 0, 0], left[:, 1, 1] = first[:, 0, 0], then[:, 0, 0]
        left[:, 0, 2:] = left[:, 2:, 0] = first[:, 0, 2:]
        left[:, 1, 2:] = left[:, 2:, 1] = then[:, 0, 2:]
        left[:, 2:, 2:] = self.own[-1, 2:, 2:]
        right = np.concatenate(
            [first[:, :1, 1], then[:, :1, 1], np.tile(self.own[-1, 2:, 1], (len(at), 1))], 1
        )
        inverse = _inverse(left)
        line = np.einsum("jkl,jl->jk", inverse, right)
        # At the judge's means over all judged units, and not over those that happen to be labelled.
        to = np.stack([-np.ones(len(at)), np.ones(len(at)), of_judge, of_judge], 1)
        # Without a label on one side people's change is unknown.
        known = (first[:, 0, 0] > 0) & (then[:, 0, 0] > 0)
        size = np.einsum("jk,jkl,jl->j", to, inverse, to)
        return _Moves(
            of_judge, (to * line).sum(1), line[:, 2:].sum(1), 1 / before[:, 0] + 1 / after[:, 0],
            np.where(known, size, math.inf),
        )  # fmt: skip


def _inverse(products: Floats) -> Floats:
    """Of normal equations; columns that are alike share what they say."""
    return np.asarray(np.linalg.pinv(products, rcond=1e-9, hermitian=True))


def _running(values: Floats) -> Floats:
    """Sums up to each period, from none on."""
    return np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, 0)])


@dataclass(frozen=True, slots=True)
class _Moves:
    """By the period (J,) at which they are looked for: the change of the judge's mean and of
    people's, the regression's slope, and the sizes that variances are multiplied by.
    """

    of_judge: Floats
    of_people: Floats
    line: Floats
    judged: Floats
    labelled: Floats


def _slope(of_pair: Floats) -> float:
    """By how much the judge's mean moves with people's.

    The slope on labels is too flat where people err, or where both are cut into levels; the ratio
    of both spreads is too steep where the judge errs alone. The truth lies between: their
    geometric mean.
    """
    (of_y, both), (_, of_f) = of_pair.tolist()
    return math.sqrt(max(both, 0.0) / of_y * math.sqrt(of_f / of_y))


def _possible(variance: float, df: float) -> tuple[Floats, Floats]:
    """(K,) variances that so many degrees of freedom leave possible, and (K,) their weights."""
    points = _POINTS if df < _KNOWN else 1
    logs = np.linspace(-_REACH, _REACH, points) * math.sqrt(2 / df) if points > 1 else np.zeros(1)
    chances = -df / 2 * (logs + np.exp(-logs))
    weights = np.exp(chances - chances.max())
    return variance * np.exp(logs), weights / weights.sum()


def _evidence(now: _Precision, baseline: int, looks: int) -> tuple[float, Floats, int]:
    """The mixture of likelihood ratios; its parts by who moved; the likeliest time of a change."""
    at = np.arange(baseline, len(now.judged) - 1)
    moves = now.apart(at)
    rest, by_rest = _possible(*now.rest)
    of_judge, by_judge = _possible(*now.of_judge)
    # Precisions of the judge's change and of people's beside it: (K, 1, J) and (1, K, J).
    precision = (
        1 / (of_judge[:, None, None] * moves.judged), 1 / (rest[None, :, None] * moves.labelled)
    )  # fmt: skip
    logs = _ratios(moves, precision, now)
    chance = (by_judge[:, None] * by_rest)[:, :, None, None]
    ratios = (np.exp(np.minimum(logs, 600)) * chance).sum((0, 1)) / looks
    # The system by each slope, the judge, and both in two ways alike.
    ways = [len(_FOLLOWS), 1, 2]
    parts = np.repeat(_BEFORE / ways, ways) * ratios.T
    by_mover = np.array([part.sum() for part in np.split(parts, np.cumsum(ways)[:-1], axis=1)])
    # What would change only after now has a ratio of 1.
    waiting = (looks - len(at)) / looks
    return float(parts.sum() + waiting), by_mover, int(at[np.argmax(parts.sum(1))])


def _ratios(moves: _Moves, precision: tuple[Floats, Floats], now: _Precision) -> Floats:
    """(K, K, H, J) logs of likelihood ratios: the system by each slope, the judge, both so that
    the judge's mean stays as it was, and both by any shift of each.
    """
    # People's change beside the judge's, by the regression: what the labels say by themselves.
    beside = moves.of_people - moves.line * moves.of_judge
    one, two = precision

    def along(judge: Any, people: Any) -> tuple[Floats, Floats]:
        """Precision along a direction of both changes, and the same times how far it goes."""
        other = people - moves.line * judge
        return (
            np.asarray(judge**2 * one + other**2 * two),
            np.asarray(judge * moves.of_judge * one + other * beside * two),
        )

    def single(judge: Any, people: Any, spread: float) -> Floats:
        """The log of how much likelier a move along this direction is, its size being drawn."""
        known, pull = along(judge, people)
        wide = 1 + spread**2 * known
        return np.asarray(0.5 * (spread**2 * pull**2 / wide - np.log(wide)))

    # Spreads: of what people say, and of the judge beside it.
    people, judge = _SHIFT * now.people, _SHIFT * now.judge
    found = [single(now.slope * part, 1.0, people) for part in _FOLLOWS]
    found += [single(1.0, 0.0, judge), single(0.0, 1.0, people)]
    # Both: two directions at once, so a determinant of two by two.
    (of_system, to_system), (of_judge, to_judge) = along(now.slope, 1.0), along(1.0, 0.0)
    cross = now.slope * one - moves.line * (1 - moves.line * now.slope) * two
    a, d = 1 + people**2 * of_system, 1 + judge**2 * of_judge
    whole = a * d - (people * judge * cross) ** 2
    squares = (
        people**2 * to_system**2 * d + judge**2 * to_judge**2 * a
        - 2 * (people * judge) ** 2 * cross * to_system * to_judge
    ) / whole  # fmt: skip
    found.append(0.5 * (squares - np.log(whole)))
    return np.stack(found, 2)


def _named(by_mover: Floats) -> tuple[Moved, float, float]:
    """Who moved, whoever else did; how sure that is; and how likely the other moved as well."""
    system, judge, both = (by_mover / by_mover.sum()).tolist()
    by_system, by_judge = system + both, judge + both
    sure = max(by_system, by_judge)
    if min(by_system, by_judge) >= _SURE:
        return "both", min(by_system, by_judge), math.nan
    if sure < _SURE:
        return "cannot tell", sure, math.nan
    return ("system" if by_system > by_judge else "judge"), sure, min(by_system, by_judge)


def _watched(
    now: _Precision,
    baseline: int,
    at: int,
    alpha: float,
    evidence: float,
    alarm: bool,
    named: tuple[Moved, float, float],
) -> Watched:
    mean, of_mean = now.people_since(at if alarm else 0)
    moves = now.apart(np.array([at if alarm else baseline]))
    of_judge, of_labels = now.of_judge[0] * moves.judged[0], now.rest[0] * moves.labelled[0]
    line, change = moves.line[0], moves.of_people[0]
    # The judge beside people: its own change less what its slope makes of people's.
    drift = moves.of_judge[0] - now.slope * change
    of_change = of_labels + line**2 * of_judge
    of_drift = now.slope**2 * of_labels + (1 - now.slope * line) ** 2 * of_judge

    def bounds(value: float, variance: float, spread: float) -> tuple[float, float, float]:
        """A change with the ends that hold at every look."""
        reach = _reach(float(variance), (_SHIFT * spread) ** 2, alpha, now.rest[1])
        return float(value), float(value) - reach, float(value) + reach

    return Watched(
        *bounds(mean, of_mean, now.people), *bounds(change, of_change, now.people),
        *bounds(drift, of_drift, now.judge), evidence, alarm, *named,
    )  # fmt: skip


def _reach(variance: float, spread: float, alpha: float, df: float) -> float:
    """Half of an interval that holds at any time: where a mixture of t ratios stays below
    1 / alpha; infinite where so few degrees of freedom rule nothing out.
    """
    if not math.isfinite(variance):
        return math.inf
    part = variance / (variance + spread)
    grown = math.exp((2 * math.log(1 / alpha) - math.log(part)) / (df + 1))
    if grown * part >= 1:
        return math.inf
    return math.sqrt(variance * df * (grown - 1) / (1 - grown * part))
