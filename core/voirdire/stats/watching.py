"""Judged units that stream in, with labels that trickle in: has the system moved, or the judge?

People's scores have a mean; the judge says ``c + d * (what people say)`` and noise, ``d`` being the
slope of the judge on people within periods. A system that moves changes people's mean, and the
judge's with it; a judge that moves changes ``c`` alone. Each period measures both: its labels the
two apart, what has no label their sum. Precisions and the means that they weigh add up.
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
#: By how much of itself the judge's slope may be off, where a system moves.
_LOOSE = 0.2
#: How sure one must be to say who moved.
_SURE = 0.95

Moved = Literal["", "system", "judge", "both", "cannot tell"]


@dataclass(frozen=True, slots=True, eq=False)
class Period(Result):
    """A week as sums, which is all that is kept of it.

    Attributes
    ----------
    labelled : (3,) float64
        Labelled units, the sum of their labels and of the judge's scores of them.
    products : (3, 3) float64
        Products of these sums, by cluster, summed over clusters (a unit, where none are declared).
    clusters : int
        Of labelled units.
    rest : (2,) float64
        Units without a label, and the sum of the judge's scores of them.
    squares : (2, 2) float64
        Products of these, by cluster, summed.
    others : int
        Their clusters.
    """

    labelled: Floats
    products: Floats
    clusters: int
    rest: Floats
    squares: Floats
    others: int

    def __str__(self) -> str:
        """How many labels and judged units."""
        return f"{self.labelled[0]:g} labels, {self.labelled[0] + self.rest[0]:g} judged"

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
        >>> period.labelled.tolist(), period.rest.tolist()
        ([2.0, 6.0, 7.0], [2.0, 7.0])
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
        left = scored & ~known
        own = _by_cluster(group[known], np.stack([np.ones(known.sum()), y[known], f[known]], 1))
        rest = _by_cluster(group[left], np.stack([np.ones(left.sum()), f[left]], 1))
        return cls(own.sum(0), own.T @ own, len(own), rest.sum(0), rest.T @ rest, len(rest))


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
    change have dropped out. Under no change its expectation is 1 at any time, so that it reaches
    :math:`1 / \alpha` with probability :math:`\alpha` at most over all looks (Ville). Variances and
    the judge's slope are taken from all periods so far, within periods.

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
        now = _Measured.of(periods[: t + 1])
        if now is None:
            # Labels that are all alike tell no spread, so that nothing can be seen to move yet.
            found.append(Watched(*_UNKNOWN, evidence=1.0, alarm=False, moved="", sure=math.nan))
            continue
        evidence, by_mover, at = _evidence(now, baseline, looks)
        alarm = alarm or evidence >= 1 / alpha
        moved, sure = _named(by_mover) if alarm else ("", math.nan)
        found.append(_watched(now, baseline, at, alpha, evidence, alarm, moved, sure))
    return tuple(found)


#: The mean, the change and the drift with their bounds, where nothing is known of them.
_UNKNOWN = (math.nan,) * 9


@dataclass(frozen=True, slots=True)
class _Measured:
    """(T, 2, 2) precision of people's mean and the judge's `c` by period, and (T, 2) the same times
    the estimate; spreads of a single score.
    """

    precision: Floats
    weighted: Floats
    people: float
    judge: float
    slope: float

    @classmethod
    def of(cls, periods: Sequence[Period]) -> _Measured | None:
        """None where the labels of no period vary."""
        n = np.array([period.labelled[0] for period in periods])
        m = np.array([period.rest[0] for period in periods])
        own = np.stack([period.labelled for period in periods])
        mean_y, mean_f = (own[:, k] / np.maximum(n, 1) for k in (1, 2))
        mean_rest = np.array([period.rest[1] for period in periods]) / np.maximum(m, 1)
        # Deviations from the period's own mean: a shift between periods is no spread.
        cross = np.zeros((2, 2))
        df = 0.0
        for period, y, f in zip(periods, mean_y, mean_f, strict=True):
            if period.clusters > 1:
                turn = np.array([[-y, 1, 0], [-f, 0, 1]])
                cross += turn @ period.products @ turn.T
                df += period.labelled[0] * (period.clusters - 1) / period.clusters
        if df < 1 or not cross[0, 0] > 0:
            return None
        of_pair = cross / df
        of_y = float(of_pair[0, 0])
        slope = _slope(of_pair)
        of_f, count = 0.0, 0.0
        for period, f in zip(periods, mean_rest, strict=True):
            if period.others > 1:
                turn = np.array([-f, 1])
                of_f += float(turn @ period.squares @ turn)
                count += period.rest[0] * (period.others - 1) / period.others
        of_f = of_f / count if count else float(of_pair[1, 1])
        of_f = max(of_f, 1e-12 * of_y)
        reading = np.array([slope, 1.0])
        # What labelled units measure: people's mean and the judge's, by the two parameters.
        both = np.stack([[1.0, 0.0], reading])
        still = 1e-9 * np.diag(np.diag(of_pair) + 1e-9 * of_y)
        known = both.T @ np.linalg.inv(of_pair + still)
        precision = n[:, None, None] * (known @ both)
        precision += (m / of_f)[:, None, None] * np.outer(reading, reading)
        weighted = n[:, None] * (np.stack([mean_y, mean_f], 1) @ known.T)
        weighted += (m / of_f * mean_rest)[:, None] * reading
        return cls(precision, weighted, math.sqrt(of_y), math.sqrt(of_f), slope)


def _slope(of_pair: Floats) -> float:
    """By how much the judge's mean moves with people's.

    The slope on labels is too flat where people err, or where both are cut into levels; the ratio
    of both spreads is too steep where the judge errs alone. The truth lies between: their
    geometric mean.
    """
    (of_y, both), (_, of_f) = of_pair.tolist()
    return math.sqrt(max(both, 0.0) / of_y * math.sqrt(of_f / of_y))


def _apart(now: _Measured, at: Any) -> tuple[Floats, Floats]:
    """Precision (J, 2, 2) of the change at each of some periods, and (J, 2) the same times the
    change, the means before it unknown.
    """
    sums = np.cumsum(now.precision, 0), np.cumsum(now.weighted, 0)
    before, after = sums[0][at - 1], sums[0][-1] - sums[0][at - 1]
    # Without a label after the change its precision has no inverse, and needs none.
    inverse = np.linalg.inv(before)
    shrink = np.linalg.inv(np.eye(2) + after @ inverse)
    start = np.einsum("jkl,jl->jk", inverse, sums[1][at - 1])
    moved = sums[1][-1] - sums[1][at - 1] - np.einsum("jkl,jl->jk", after, start)
    return shrink @ after, np.einsum("jkl,jl->jk", shrink, moved)


def _evidence(now: _Measured, baseline: int, looks: int) -> tuple[float, Floats, int]:
    """The mixture of likelihood ratios; its parts by who moved; the likeliest time of a change."""
    at = np.arange(baseline, len(now.precision))
    precision, weighted = _apart(now, at)
    of_people, of_judge = (_SHIFT * now.people) ** 2, (_SHIFT * now.judge) ** 2
    # People err as well, and a judge follows them less at an end of the scale: where the system
    # moves, the judge comes along by somewhat more or less than its slope says.
    beside = (_LOOSE * now.slope) ** 2 * of_people
    spreads = np.stack(
        [np.diag(pair) for pair in ((of_people, beside), (0, of_judge), (of_people, of_judge))]
    )
    turned = np.eye(2) + precision @ spreads[:, None]
    pulls = spreads[:, None] @ np.linalg.inv(turned)
    squares = np.einsum("jk,hjkl,jl->hj", weighted, pulls, weighted)
    logs = 0.5 * (squares - np.log(np.linalg.det(turned)))
    ratios = np.exp(np.minimum(logs, 600)) * _BEFORE[:, None] / looks
    # What would change only after now has a ratio of 1.
    waiting = (looks - len(at)) / looks
    return float(ratios.sum() + waiting), ratios.sum(1), int(at[np.argmax(ratios.sum(0))])


def _named(by_mover: Floats) -> tuple[Moved, float]:
    """Who moved, whoever else did, and how sure that is."""
    system, judge, both = (by_mover / by_mover.sum()).tolist()
    by_system, by_judge = system + both, judge + both
    sure = max(by_system, by_judge)
    if min(by_system, by_judge) >= _SURE:
        return "both", min(by_system, by_judge)
    if sure < _SURE:
        return "cannot tell", sure
    return ("system" if by_system > by_judge else "judge"), sure


def _watched(
    now: _Measured,
    baseline: int,
    at: int,
    alpha: float,
    evidence: float,
    alarm: bool,
    moved: Moved,
    sure: float,
) -> Watched:
    since = at if alarm else 0
    precision, weighted = now.precision[since:].sum(0), now.weighted[since:].sum(0)
    precision = precision + 1e-12 * np.diag([now.people**-2, now.judge**-2])
    cover = np.linalg.inv(precision)
    mean = float((cover @ weighted)[0])
    reach = _reach(float(cover[0, 0]), (_SHIFT * now.people) ** 2, alpha)
    before, moving = _apart(now, np.array([at if alarm else baseline]))
    spread = np.linalg.inv(before[0] + 1e-12 * np.diag([now.people**-2, now.judge**-2]))
    change, drift = spread @ moving[0]
    far = [
        _reach(float(spread[k, k]), (_SHIFT * of) ** 2, alpha)
        for k, of in ((0, now.people), (1, now.judge))
    ]
    return Watched(
        mean, mean - reach, mean + reach, float(change), float(change) - far[0],
        float(change) + far[0], float(drift), float(drift) - far[1], float(drift) + far[1],
        evidence, alarm, moved, sure,
    )  # fmt: skip


def _reach(variance: float, spread: float, alpha: float) -> float:
    """Half of an interval that holds at any time: where a normal mixture stays below 1 / alpha."""
    total = variance + variance**2 / spread
    return math.sqrt(total * (2 * math.log(1 / alpha) + math.log1p(spread / variance)))
