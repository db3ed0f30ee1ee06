"""How many labels a corrected mean needs, planned from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats._results import Result

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats

#: No plan reaches further.
_MOST = 10_000_000
#: Level of the upper bound of a plan.
_UPPER = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class LabelsNeeded(Result):
    """Labels that give an interval of the half width asked for.

    Attributes
    ----------
    half_width : float
        What was asked.
    with_judge, upper : float
        Labels beside the judged items, and its one-sided 80 % upper bound given the pilot's size;
        infinite where no number suffices.
    without_judge, upper_without : float
        The same were there no judge.
    judged : int
        Items with a judge score, labelled or not.
    spread, correlation : float
        The pilot's standard deviation of labels, and correlation of label and judge.
    n_pilot : int
        Labels (or labelled clusters) of the pilot.
    unit : str
        ``"labels"`` or ``"clusters"``.
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

    def __str__(self) -> str:
        """One line."""
        return (
            f"half width {self.half_width:g}: {self.with_judge:.0f} {self.unit} with the judge "
            f"(at most {self.upper:.0f}), {self.without_judge:.0f} without"
        )


def labels_needed(
    labels: Any,
    judge: Any,
    half_widths: Any,
    *,
    judged: int | None = None,
    clusters: Any = None,
    level: float = 0.95,
    power: float | None = None,
) -> tuple[LabelsNeeded, ...]:
    """Labels for each half width, with and without the judge.

    The half width at n labels of M judged items is
    ``t(n - 2) * s * sqrt((1 - r^2 (M - n) / M) / n)``; s and r are the pilot's.

    Parameters
    ----------
    labels, judge : array-like, shape (M,)
        The pilot: labels are NaN where nobody was asked.
    half_widths : float or sequence of float
        Above 0, in points of the scale. With `power` the differences to detect.
    judged : int, optional
        Items that will have a judge score; by default those of the pilot.
    clusters : array-like, shape (M,), optional
        Numbers are then of clusters of the pilot's mean size.
    level : float
        Nominal coverage of the interval.
    power : float, optional
        Plan to detect a difference of this size from zero with that probability, in place of an
        interval of that half width.

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
    [(122, 294), (28, 76)]

    References
    ----------
    The variance of PPI++ (Angelopoulos et al. 2023) at its best weight.
    """
    y, f, group = _pilot(labels, judge, clusters)
    widths = np.atleast_1d(numbers(half_widths, "half_widths"))
    if not (widths > 0).all():
        raise StatisticsError(f"half widths must lie above 0, got {widths.tolist()}")
    sums_y, sums_f, size = _scores(y, f, group)
    total = int(judged or len(f))
    units = total / (len(f) / (int(group.max()) + 1)) if clusters is not None else float(total)
    spread, r = _spread(sums_y) / size, _correlation(sums_y, sums_f)
    plan = _Plan(units, level, power)
    growth = _growth(sums_y, sums_f, plan.share(len(sums_y)))
    alone = _growth(sums_y, np.zeros_like(sums_y), 1.0)
    return tuple(
        LabelsNeeded(
            float(h),
            plan.labels(h, spread, r), plan.labels(h, spread * math.sqrt(growth), r),
            plan.labels(h, spread, 0.0), plan.labels(h, spread * math.sqrt(alone), 0.0),
            total, spread, r, len(sums_y), "labels" if clusters is None else "clusters",
        )
        for h in widths
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    units: float  # items or clusters with a judge score
    level: float
    power: float | None

    def share(self, n: float) -> float:
        """The part of the judged units that have no label."""
        return max(self.units - n, 0.0) / self.units

    def labels(self, half_width: float, spread: float, r: float) -> float:
        """Smallest number whose half width is small enough; infinite where none is.

        The half width falls as n grows, so a doubling and a halving find it.
        """
        if not math.isfinite(spread) or not math.isfinite(r):
            return math.inf

        def enough(n: int) -> bool:
            """Whether n labels make the half width small enough."""
            part = 1 - r * r * self.share(n) if r > 0 else 1.0
            return (
                self._quantile(n - (2 if r > 0 else 1)) * spread * math.sqrt(part / n) <= half_width
            )

        high = 4
        while not enough(high):
            if high > _MOST:
                return math.inf
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return float(high)

    def _quantile(self, df: float) -> float:
        from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

        both = float(stdtrit(df, 0.5 + self.level / 2))
        return both if self.power is None else both + float(stdtrit(df, self.power))


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
    if len(np.unique(group[~np.isnan(y)])) < 4:
        raise StatisticsError("a plan needs at least four labelled items or clusters in the pilot")
    return y, f, group


def _scores(y: Floats, f: Floats, group: Any) -> tuple[Floats, Floats, float]:
    """Deviations from the mean summed by labelled cluster, and the mean size of these."""
    known = ~np.isnan(y)
    rows = np.unique(group[known], return_inverse=True)[1]
    of_y = np.bincount(rows, weights=y[known] - y[known].mean())
    of_f = np.bincount(rows, weights=f[known] - f[known].mean())
    return np.asarray(of_y, float), np.asarray(of_f, float), float(known.sum() / len(of_y))


def _spread(sums: Floats) -> float:
    return math.sqrt(float(sums @ sums) / (len(sums) - 1))


def _correlation(a: Floats, b: Floats) -> float:
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale > 0 else 0.0


def _growth(y: Floats, f: Floats, share: float) -> float:
    """By how much the variance left over may be larger than the pilot's: its 80 % upper bound.

    A jackknife of the log of ``s^2 (1 - r^2 share)``: labels are seldom normal, so no chi-square.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - slow to import

    n = len(y)

    def left(yy: Floats, ff: Floats, yf: Floats) -> Floats:
        """The variance left over, from sums of squares and products; kept above 0 for the log."""
        explained = np.where(ff > 0, yf * np.abs(yf) / np.maximum(ff, 1e-300), 0.0)
        return np.asarray(np.maximum(yy - share * np.maximum(explained, 0.0), 1e-12 * yy + 1e-300))

    total = [float(y @ y), float(f @ f), float(y @ f)]
    # Leaving one out moves the means too; the factor is that of a centred sum of squares.
    k = n / (n - 1)
    out = np.log(left(total[0] - k * y * y, total[1] - k * f * f, total[2] - k * y * f) / (n - 2))
    error = math.sqrt((n - 1) / n * float(((out - out.mean()) ** 2).sum()))
    return math.exp(float(stdtrit(n - 2, _UPPER)) * error)
