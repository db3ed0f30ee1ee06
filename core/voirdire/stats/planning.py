"""How many labels a corrected mean needs, planned from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, numbers, row_names
from voirdire.stats._planned_ends import FEWEST_DIFFERENT, PlannedEnds, too_few_different
from voirdire.stats._planned_rates import RatePlan
from voirdire.stats._results import Result
from voirdire.stats.decisions import smallest
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from voirdire.stats._powered import Method

#: No plan reaches further.
_MOST = 1 << 24
#: Level of the upper bound of a plan, and of the upper end of the width that it foretells. What is
#: promised is .80, and .90 between both ends: how far a pilot strays is estimated from it as well,
#: and a little more keeps the promise.
_UPPER, _MOST_OF = 0.86, 0.97
#: How close a width is to come to the one that was planned.
_CLOSE = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class LabelsNeeded(Result):
    """Labels that give an interval of the half width asked for.

    Attributes
    ----------
    half_width : float
        What was asked.
    with_judge, upper : float
        Units to label beside the judged ones, and its one-sided 80 % upper bound given the pilot's
        size; infinite where no number suffices.
    without_judge, upper_without : float
        The same were there no judge.
    judged : int
        Items with a judge score, labelled or not.
    spread, correlation : float
        Standard deviation of labels, and correlation of label and judge, as the pilot shows them
        for all judged items.
    n_pilot : int
        Labels (or labelled clusters) of the pilot.
    unit : str
        ``"labels"`` or ``"clusters"``.
    each : float
        Labels a unit: 1, or the mean number in a labelled cluster of the pilot.
    width : (float, float)
        Half widths between which that of `with_judge` units comes to lie in nine of ten samples:
        the pilot is small, and so are the labels to come. NaN where `with_judge` is infinite.
    few : int or None
        Units of the pilot whose labels differ from the others, or from the judge's scores, where
        these are too few to foretell anything: all numbers of labels are then NaN.
    """

    half_width: float
    with_judge: float
    upper: float
    without_judge: float
    upper_without: float
    judged: int
    spread: float
    correlation: float
    n_pilot: int
    unit: str
    each: float = 1.0
    width: tuple[float, float] = (math.nan, math.nan)
    few: int | None = None

    @property
    def least_pilot(self) -> float:
        """Units of a pilot that would foretell the width within a fifth in nine of ten samples.

        Where too `few` labels differ, those of a pilot in which enough may be expected to.

        The width strays by what the pilot leaves open and by the labels to come: the larger of both
        its ends says how far, and both parts fall with their number. Infinite where the labels to
        come alone stray further, or no number suffices.
        """
        if self.few is not None:
            return math.ceil(self.n_pilot * FEWEST_DIFFERENT / max(self.few, 1))
        if not math.isfinite(self.with_judge) or not min(self.width) > 0:
            return math.inf
        low, high = self.width
        far = math.log(max(high / self.half_width, self.half_width / low))
        one = far**2 / (1 / self.n_pilot + 1 / self.with_judge)
        if not one > 0:  # nothing strays: people and judge agree everywhere
            return 2.0
        left = math.log(1 + _CLOSE) ** 2 / one - 1 / self.with_judge
        return math.ceil(1 / left) if left > 0 else math.inf

    def labels(self, units: float) -> float:
        """So many units as whole labels; infinite where no number suffices."""
        return math.ceil(units * self.each - 1e-9) if math.isfinite(units) else units

    def __str__(self) -> str:
        """One line."""
        return (
            f"half width {self.half_width:g}: {self.with_judge:.0f} {self.unit} with the judge "
            f"(at most {self.upper:.0f}), {self.without_judge:.0f} without"
        )


def labels_needed(  # noqa: PLR0913 - what is planned, and how it will be corrected
    labels: Any,
    judge: Any,
    half_widths: Any,
    *,
    judged: int | None = None,
    clusters: Any = None,
    level: float = 0.95,
    power: float | None = None,
    scale: tuple[float, float] | None = None,
    method: Method = "t",
) -> tuple[LabelsNeeded, ...]:
    """Labels for each half width, with and without the judge.

    The half width at n labels of M judged items is
    ``t(n - 2) * s * sqrt(((1 - r^2) n^2 / (n - 2)^2 + r^2 n / M) / n)``, since the interval leaves
    out each label in turn. s and r are those of all judged items: the
    judge says how many of them lie where the pilot's labels stray far from it, and how many where
    they do not. A pilot that happened upon few of either kind then misleads less.

    Parameters
    ----------
    labels, judge : array-like, shape (M,)
        The pilot: labels are NaN where nobody was asked.
    half_widths : float or sequence of float
        Above 0, in points of the scale. With `power` the differences to detect.
    judged : int, optional
        Items that will have a judge score; by default those of the pilot.
    clusters : array-like, shape (M,), optional
        Numbers are then of clusters, each with as many labels as one has in the pilot: a cluster
        that is labelled in part is planned to be so.
    level : float
        Nominal coverage of the interval.
    power : float, optional
        Plan to detect a difference of this size from zero with that probability, in place of an
        interval of that half width.
    scale, method
        As in `prediction_powered_mean`, whose interval is planned; ``"strata"`` for pass rates.

    Returns
    -------
    tuple of LabelsNeeded

    Raises
    ------
    StatisticsError
        Fewer than four labels, arrays that do not fit, a half width of 0 or less.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import labels_needed
    >>> chance = np.random.default_rng(1)
    >>> truth = chance.normal(0, 1, 1000)
    >>> judge = truth + chance.normal(0, 0.6, 1000)
    >>> labels = np.where(np.arange(1000) < 60, truth, np.nan)
    >>> [(round(one.with_judge), round(one.without_judge))
    ...  for one in labels_needed(labels, judge, [0.1, 0.2])]
    [(132, 309), (33, 80)]

    References
    ----------
    The variance of PPI++ (Angelopoulos et al. 2023) at its best weight. Squared residuals of the
    regression of labels on the judge are themselves regressed on the judge's score, as Breusch and
    Pagan (1979), Econometrica 47, 1287-1294, do, and averaged over all judged items.
    """
    y, f, group = _pilot(labels, judge, clusters)
    widths = np.atleast_1d(numbers(half_widths, "half_widths"))
    if not (widths > 0).all():
        raise StatisticsError(f"half widths must lie above 0, got {widths.tolist()}")
    total = int(judged or len(f))
    if method == "strata":
        if scale is None:
            raise StatisticsError("strata need the ends of the scale: give scale=(low, high)")
        scored = numbers(judge, "judge")
        return _rates(
            y, scored, group, widths, (scale, total, level, power), clustered=clusters is not None
        )
    pilot = _scores(y, f, group)
    few = too_few_different(y, f, group)
    units = total / (len(f) / (int(group.max()) + 1)) if clusters is not None else float(total)
    plan = _WidthPlan(units, level, power)
    residual, explained = (float(part[0]) for part in _parts(pilot))
    spread = math.sqrt(residual + explained) / pilot.size
    r = math.sqrt(explained / (residual + explained)) if explained > 0 else 0.0
    if few is not None:
        none, unit = math.nan, "labels" if clusters is None else "clusters"
        return tuple(
            LabelsNeeded(
                float(h),
                none,
                none,
                none,
                none,
                total,
                spread,
                r,
                len(pilot.y),
                unit,
                pilot.size,
                few=few,
            )
            for h in widths
        )
    ends = None
    if scale is not None:
        slope = math.sqrt(explained * pilot.rest / float(pilot.every.var() or 1.0))
        of_unit = (residual + explained) / pilot.size**2, residual / pilot.size**2
        ends = PlannedEnds.of(y, f, group, scale, slope, of_unit)
    plan = replace(plan, rest=pilot.rest, ends=ends)
    return tuple(_planned(pilot, plan, float(h), (spread, r, total), clusters) for h in widths)


def _planned(
    pilot: _Pilot, plan: _WidthPlan, h: float, seen: tuple[float, float, int], clusters: Any
) -> LabelsNeeded:
    spread, r, total = seen
    alone = plan.labels(h, spread, 0.0)
    with_judge = _at_most(plan.labels(h, spread, r), alone, plan.units)
    known = plan.known(len(pilot.y))
    upper_alone = plan.labels(h, spread * _strayed(pilot, 1.0, alone, _UPPER), 0.0)
    upper = plan.labels(h, spread * _strayed(pilot, known, with_judge, _UPPER), r)
    upper = _at_most(upper, upper_alone, plan.units)
    width = (math.nan, math.nan)
    if math.isfinite(with_judge):
        far = _strayed(pilot, plan.known(with_judge), with_judge, _MOST_OF)
        width = (h / far, h * far)
    return LabelsNeeded(
        h,
        with_judge,
        upper,
        alone,
        upper_alone,
        total,
        spread,
        r,
        len(pilot.y),
        "labels" if clusters is None else "clusters",
        pilot.size,
        width,
    )


def _at_most(needed: float, alone: float, judged: float) -> float:
    """Labels with the judge; without it, where more are needed than there are judged units.

    Then all of these are labelled, and their scores tell nothing any more.
    """
    return min(needed, alone) if needed > judged else needed


def _rates(
    y: Floats,
    f: Floats,
    group: Any,
    widths: Floats,
    asked: tuple[tuple[float, float], int, float, float | None],
    *,
    clustered: bool,
) -> tuple[LabelsNeeded, ...]:
    """The plan of a pass rate, from the width that its strata would give."""
    (low, high), total, level, power = asked
    labels = (y - low) / (high - low)
    plan = RatePlan.of(labels, f, group, float(total), clustered=clustered)
    known = ~np.isnan(y)
    units = len(np.unique(group[known]))
    each = float(known.sum()) / units if clustered else 1.0
    both = known & ~np.isnan(f)
    spread = float(np.sqrt(max(labels[known].var(ddof=1), 0.0))) * (high - low)
    r = float(np.corrcoef(labels[both], f[both])[0, 1]) if _varies(labels, f, both) else 0.0
    reached = []
    for h in widths / (high - low):
        wanted = _half(float(h), level, power)
        alone, upper_alone = (
            plan.alone.labels(wanted, level),
            plan.alone.labels(wanted, level, _UPPER),
        )
        n = _at_most(plan.labels(wanted, level), alone, total)
        within = np.full(2, math.nan)
        if math.isfinite(n):
            used = plan if n <= total else plan.alone
            within = np.quantile(used.widths(n, level), [1 - _MOST_OF, _MOST_OF]) * (high - low)
        with_judge, upper, without, upper_without = (
            math.ceil(labels_of / each) if math.isfinite(labels_of) else labels_of
            for labels_of in (
                n,
                _at_most(plan.labels(wanted, level, _UPPER), upper_alone, total),
                alone,
                upper_alone,
            )
        )
        reached.append(
            LabelsNeeded(
                float(h * (high - low)),
                with_judge,
                upper,
                without,
                upper_without,
                total,
                spread,
                max(r, 0.0),
                units,
                "clusters" if clustered else "labels",
                each,
                (float(within[0]), float(within[1])),
            )
        )
    return tuple(reached)


def _half(width: float, level: float, power: float | None) -> float:
    """The half width to plan for; a difference to detect with that power asks for less."""
    if power is None:
        return width
    both = quantile(0.5 + level / 2, math.inf)
    return width * both / (both + quantile(power, math.inf))


def _varies(labels: Floats, judge: Floats, rows: Any) -> bool:
    return bool(rows.sum() > 2 and np.ptp(labels[rows]) > 0 and np.ptp(judge[rows]) > 0)


@dataclass(frozen=True, slots=True)
class _WidthPlan:
    units: float  # items or clusters with a judge score
    level: float
    power: float | None
    rest: float = 1.0
    ends: PlannedEnds | None = None

    def known(self, n: float) -> float:
        """The part of what the judge explains that n labelled units leave to chance.

        Its mean over all judged units is known: what remains is how these happen to be.
        """
        return min(n / self.units, 1.0) * self.rest

    def labels(self, half_width: float, spread: float, r: float) -> float:
        """Smallest number whose half width is small enough; infinite where none is.

        From three on: a line through two labels leaves no degree of freedom.
        """
        if not math.isfinite(spread) or not math.isfinite(r):
            return math.inf

        def enough(n: int) -> bool:
            """Whether n labels make the half width small enough."""
            # The interval leaves out each label in turn and fits the weight anew: what is left of a
            # label counts 1 / (1 - h) times, its leverage h being 2 / n on average.
            fitted = (n / (n - 2)) ** 2
            part = (1 - r * r) * fitted + r * r * self.known(n) if r > 0 else 1.0
            if self.ends is not None:
                part += (1 - r * r) * self.ends.wider(n, judged=r > 0)
            return (
                self._quantile(n - (2 if r > 0 else 1)) * spread * math.sqrt(part / n) <= half_width
            )

        least = smallest(enough, 3, _MOST)
        return math.inf if least is None else float(least)

    def _quantile(self, df: float) -> float:
        both = quantile(0.5 + self.level / 2, df)
        return both if self.power is None else both + quantile(self.power, df)


def _pilot(labels: Any, judge: Any, clusters: Any) -> tuple[Floats, Floats, Any]:
    y, f = numbers(labels, "labels"), numbers(judge, "judge")
    if y.ndim != 1 or y.shape != f.shape:
        raise StatisticsError(
            f"labels and judge must be equally long, got shapes {y.shape} and {f.shape}"
        )
    f = np.where(np.isnan(f), np.nanmean(f) if np.isfinite(f).any() else 0.0, f)
    group = np.arange(len(y))
    if clusters is not None:
        group = np.unique(row_names(clusters, len(y), "clusters"), return_inverse=True)[1]
    units = len(np.unique(group[~np.isnan(y)]))
    if units < 4:
        raise StatisticsError(
            f"a plan needs at least four labelled items or clusters in the pilot, got {units}"
        )
    return y, f, group


@dataclass(frozen=True, slots=True)
class _Pilot:
    """Deviations from the mean, summed by cluster."""

    y: Floats  # of labelled clusters: of their labelled items alone
    f: Floats
    every: Floats  # the judge's, of all clusters, as large as a labelled cluster
    size: float  # labels of a labelled cluster
    #: How much less the judge's sums of whole clusters vary than those of as many labelled items:
    #: 1 where clusters are labelled whole.
    rest: float


def _scores(y: Floats, f: Floats, group: Any) -> _Pilot:
    labelled = ~np.isnan(y)
    rows = np.unique(group[labelled], return_inverse=True)[1]
    of_y = np.asarray(np.bincount(rows, weights=y[labelled] - y[labelled].mean()), float)
    of_f = np.asarray(np.bincount(rows, weights=f[labelled] - f.mean()), float)
    every = np.asarray(np.bincount(group, weights=f - f.mean()), float)
    size, whole = float(labelled.sum() / len(of_y)), len(f) / len(every)
    every = every * (size / whole)
    varies, rest = float(of_f.var()), 1.0
    # Where clusters are labelled in part, and the larger ones the likelier: as the judge's mean of
    # all rows varies, beside that of as many labelled clusters.
    counts = np.bincount(group)
    if varies > 0 and (np.bincount(rows) < counts[np.unique(group[labelled])]).any():
        rest = float((every**2).mean()) / varies
    return _Pilot(of_y, of_f, every, size, rest)


def _parts(pilot: _Pilot) -> tuple[Floats, Floats]:
    """The variance that the judge leaves over, and that it explains, over all judged clusters: of
    the whole pilot, then without each of its clusters in turn.

    Divided by n - 3: a half width goes with the root of labels that were planned by an uncertain
    variance, and would come out too wide on average.
    """
    n, f = len(pilot.y), pilot.f - pilot.f.mean()
    of_y = pilot.y - pilot.y.mean()
    products = np.array([float(f @ of_y), float(f @ f)])
    # Leaving one out moves the means too; the factor is that of a centred sum of squares.
    without = products - n / (n - 1) * np.stack([f * of_y, f * f], 1)
    products = np.concatenate([products[None], without])
    still = 1e-12 * max(1.0, float(np.abs(pilot.every).max())) ** 2
    slope = np.where(products[:, 1] > still, products[:, 0], 0.0) / np.maximum(
        products[:, 1], still
    )
    slope = np.clip(slope, 0.0, 1.0)
    squares = (of_y - slope[0] * f) ** 2
    mean = _mean_everywhere(squares, pilot)
    counts = np.r_[n, np.full(n, n - 1)]
    residual = mean * counts / np.maximum(counts - 3, 1) + 1e-300
    return residual, slope**2 * float(pilot.every.var(ddof=1)) / max(pilot.rest, 1e-12)


def _mean_everywhere(squares: Floats, pilot: _Pilot) -> Floats:
    """The mean of labelled clusters' values over all judged ones, by a line in the judge's score:
    of all labelled clusters, then without each in turn.
    """
    scale = float(pilot.every.std()) or 1.0
    own, every = (np.vander(values / scale, 2) for values in (pilot.f, pilot.every))
    cross = own[:, :, None] * own[:, None, :]
    left = np.concatenate([cross.sum(0)[None], cross.sum(0) - cross])
    right = np.concatenate([(own.T @ squares)[None], own.T @ squares - own * squares[:, None]])
    # A judge of one level leaves the line open; the pseudo-inverse takes the flattest.
    means = np.einsum("kij,kj->ki", np.linalg.pinv(left, rcond=1e-10, hermitian=True), right)
    # A line may dip under 0 where no label lies.
    least = 0.01 * float(squares.mean())
    return np.asarray(np.clip(means @ every.mean(0), least, float(squares.max())))


def _strayed(pilot: _Pilot, known: float, units: float, share: float) -> float:
    """How many times the pilot's spread that of so many units to come may be: a quantile of it.

    A jackknife of the logarithm of the variance that the judge leaves over, since labels are seldom
    normal. The labels to come stray as well, by the same error at the pilot's size. A few labels
    far off make that error uncertain itself: its degrees of freedom are those of a mean square.
    """
    n = len(pilot.y)
    residual, explained = _parts(pilot)
    logs = np.log(residual + explained * known)[1:]
    away = (logs - logs.mean()) ** 2
    error = math.sqrt((n - 1) / n * float(away.sum()))
    peaked = float((away**2).mean()) / max(float(away.mean()) ** 2, 1e-300)
    df = min(max(2 * n / max(peaked - 1, 1.0), 3.0), n - 2.0)
    both = math.sqrt(1 + n / units) if math.isfinite(units) else 1.0
    return math.exp(quantile(share, df) * error * both / 2)
