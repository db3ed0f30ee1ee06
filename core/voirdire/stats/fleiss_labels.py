"""Fleiss' kappa of each label over runs: does an annotator repeat itself?"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._chance_corrected import (
    AC,
    FLEISS,
    CountTable,
    coefficients,
    estimate,
    influence,
    one_left_out,
    worst,
)
from voirdire.stats._label_cells import LabelCells, joint_cells, label_cells, tallied
from voirdire.stats._patterns import resampled_counts
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.intervals import (
    AskedIntervals,
    jackknife_interval,
    outside,
    percentile_interval,
    student_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from voirdire.stats._arrays import Floats

_DISAGREEMENT = 1.0 - np.eye(2)


@dataclass(frozen=True, slots=True, eq=False)
class LabelAgreement(Result):
    """Fleiss' kappa of each label, and their mean.

    Attributes
    ----------
    labels : tuple of str
        The labels, in the order of the last axis.
    estimates : tuple of Estimate
        One a label; details hold `prevalence` (share of ratings that name the label), `ac1`,
        `agreement`, `expected_agreement`, `se` and `items_named` (by one run or more).
    mean : Estimate
        The mean of the defined kappas; details name the `undefined` labels.
    """

    labels: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    mean: Estimate

    def __getitem__(self, label: str) -> Estimate:
        """The estimate of a label."""
        return self.estimates[self.labels.index(label)]

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        record = {
            label: part.to_dict() for label, part in zip(self.labels, self.estimates, strict=True)
        }
        return {"labels": record, "mean": self.mean.to_dict()}

    def __str__(self) -> str:
        """A line a label, and the mean."""
        rows = zip(self.labels, self.estimates, strict=True)
        return "\n".join([*(f"{label}: {part}" for label, part in rows), str(self.mean)])


def fleiss_per_label(
    X: ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    unequal: Literal["gwet", "pooled"] = "gwet",
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> LabelAgreement:
    r"""Fleiss' kappa of each label over runs, each label a binary task (named or not).

    .. math:: P_i = \frac{n_{i1}(n_{i1} - 1) + n_{i0}(n_{i0} - 1)}{M(M - 1)}, \quad
              P_e = \sum_{k=0,1} \left(\frac{\sum_i n_{ik}}{N M}\right)^2, \quad
              \kappa = \frac{\bar P - P_e}{1 - P_e}

    Kappa is low for a rare label even where runs seldom differ: read it beside the prevalence and
    AC1 in the details.

    Parameters
    ----------
    X : array_like, shape (n items, m runs, q labels)
        1 where a run names a label, 0 where it does not; NaN and masked cells are missing.
    labels : sequence of str, optional
        Names of the labels; their numbers otherwise.
    unequal : {"gwet", "pooled"}
        The generalisation to items with missing runs, as in `fleiss_kappa`.
    ci : {None, "jackknife", "t", "percentile"} or several of them
        As in `fleiss_kappa`. ``"jackknife"`` is the one for rare labels: where some six items of
        200 bear a label its nominal 95 % interval covers 0.93 to 0.99, the t interval 0.83 to
        0.90. Items count with all their labels, so that the interval of the mean keeps what
        labels share.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    LabelAgreement
        A label that is named always or never has NaN with ``zero_expected_disagreement``, and does
        not enter the mean.

    Raises
    ------
    StatisticsError
        For another shape, a value other than 0, 1 or missing, or names that do not fit.

    References
    ----------
    Fleiss, J. L. (1971). Psychological Bulletin 76, 378-382.
    Sharma et al., appendix F (five runs, eleven labels).

    Examples
    --------
    >>> X = [[[1, 0], [1, 0], [1, 1]], [[0, 0], [0, 0], [0, 0]], [[1, 0], [0, 0], [1, 0]]]
    >>> kappas = fleiss_per_label(X, labels=["Labeling", "Mental Filter"])
    >>> print(kappas["Labeling"])
    Fleiss' kappa [Labeling] = 0.550, n = 3, k = 3
    >>> print(kappas.mean)
    mean of Fleiss' kappas = 0.212, n = 3, k = 3
    """
    asked = AskedIntervals.of(ci, ("jackknife", "t", "percentile"), level, n_resamples, seed)
    if unequal not in {"gwet", "pooled"}:
        raise not_one_of("unequal", unequal, ("gwet", "pooled"), error=StatisticsError)
    cells = label_cells(X)
    names = _names(labels, cells.labels)
    tables = _tables(cells, pooled=unequal == "pooled")
    points = [_label(cells, table, name) for table, name in zip(tables, names, strict=True)]
    mean = _mean(points, names, cells)
    if not asked or not cells.items:
        return LabelAgreement(names, tuple(points), mean)
    # Items with all their labels: resampled label by label, the interval of the mean would take
    # labels for independent.
    joint = JointItems(cells, *joint_cells(cells), tables)
    parts = with_intervals(joint, [*points, mean], asked)
    return LabelAgreement(names, tuple(parts[:-1]), parts[-1])


def _names(labels: Sequence[str] | None, q: int) -> tuple[str, ...]:
    names = tuple(str(label) for label in (range(q) if labels is None else labels))
    if len(names) != q or len(set(names)) != q:
        raise StatisticsError(f"{q} labels need {q} different names, got {names!r}")
    return names


def _tables(cells: LabelCells, *, pooled: bool) -> list[CountTable]:
    """For each label the count vectors (not named, named) and how many items show them."""
    tallies = tallied(cells)
    # The place of a tally says how many runs rated and how many of them named the label.
    present, ones = np.divmod(np.arange(tallies.shape[1]), cells.runs + 1)
    ratings = np.column_stack([present - ones, ones]).astype(np.float64)
    least = 2 if pooled else 1
    kept = [(row > 0) & (present >= least) for row in tallies]
    return [
        CountTable(ratings[keep], row[keep], _DISAGREEMENT, FLEISS, pooled)
        for row, keep in zip(tallies, kept, strict=True)
    ]


def _label(cells: LabelCells, table: CountTable, name: str) -> Estimate:
    kappa = estimate(table, f"Fleiss' kappa [{name}]", AskedIntervals())
    # AC1 beside it: of a rare label kappa is near 0 where runs seldom differ, and AC1 is not.
    other = CountTable(table.ratings, table.counts, table.disagreement, AC)
    ac1 = estimate(other, "AC1", AskedIntervals())
    details = {
        **kappa.details,
        "prevalence": float(kappa.details["prevalence"][1]),
        "ac1": ac1.value,
        "items_named": int(table.counts[table.ratings[:, 1] > 0].sum()),
    }
    return Estimate(
        kappa.statistic,
        kappa.value,
        (),
        kappa.n,
        cells.runs,
        cells.items - kappa.n,
        kappa.reason if cells.items else "no_data",
        kappa.flags,
        details,
    )


def _mean(points: Sequence[Estimate], names: tuple[str, ...], cells: LabelCells) -> Estimate:
    defined = [part.value for part in points if part.reason is None]
    value = float(np.mean(defined)) if defined else math.nan
    reason = None if defined else points[0].reason if points else "no_data"
    undefined = [name for name, part in zip(names, points, strict=True) if part.reason]
    details = {"labels": len(defined), "undefined": undefined, "se": math.nan}
    n = max((part.n for part in points), default=0)
    return Estimate(
        "mean of Fleiss' kappas",
        value,
        (),
        n,
        cells.runs,
        cells.items - n,
        reason,
        outside(value),
        details,
    )


@dataclass(frozen=True, slots=True)
class JointItems:
    """Distinct items over all labels.

    Attributes
    ----------
    cells : LabelCells
        What was rated.
    places : (p, q) int64
        Where each distinct item stands among the (present, ones) cells of each label.
    counts : (p,) int64
        Items that stand there.
    tables : sequence of CountTable
        The count vectors of each label.
    """

    cells: LabelCells
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    tables: Sequence[CountTable]

    def spread(self, label: int, values: Floats) -> Floats:
        """Values of a label's count vectors for every distinct item; 0 where it has no vector."""
        table, step = self.tables[label], self.cells.runs + 1
        out = np.zeros((step * step, *values.shape[1:]))
        out[(table.sizes * step + table.ratings[:, 1]).astype(np.int64)] = values
        spread: Floats = out[self.places[:, label]]
        return spread


def with_intervals(
    joint: JointItems, parts: Sequence[Estimate], asked: AskedIntervals
) -> list[Estimate]:
    """The estimates of the labels and, last, of their mean, with the intervals asked for."""
    used = [c for c, part in enumerate(parts[:-1]) if part.reason is None]
    mean = dataclasses.replace(
        parts[-1], details={**parts[-1].details, "se": _mean_error(joint, used, parts[-1].n)}
    )
    whole = [*parts[:-1], mean]
    columns: list[list[Interval]] = []
    for method in asked:
        if method == "t":
            columns.append(_student(whole, asked.level))
        elif method == "jackknife":
            columns.append(_jackknife(joint, whole, used, asked.level))
        else:
            columns.append(_percentile(joint, whole, used, asked))
    return [
        dataclasses.replace(part, intervals=tuple(intervals))
        for part, *intervals in zip(whole, *columns, strict=True)
    ]


def _student(parts: Sequence[Estimate], level: float) -> list[Interval]:
    return [student_interval(part.value, part.details["se"], part.n - 1, level) for part in parts]


def _jackknife(
    joint: JointItems, parts: Sequence[Estimate], used: Sequence[int], level: float
) -> list[Interval]:
    total, falls = np.zeros(len(joint.places)), []
    intervals = []
    for c, part in enumerate(parts[:-1]):
        table = joint.tables[c]
        left = one_left_out(table) if c in used else np.full(len(table.counts), math.nan)
        fall = worst(table) if c in used else math.nan
        intervals.append(jackknife_interval(part.value, left, table.counts, level, fall))
        if c in used:
            # How far leaving an item out moves each of its labels, added up over them.
            total += joint.spread(c, left - part.value) / len(used)
            falls.append(fall)
    # Place 0 of every label: no run rated the item.
    rated = joint.places.any(axis=1)
    fall = float(np.mean(falls)) if falls else math.nan
    mean = jackknife_interval(parts[-1].value, total[rated], joint.counts[rated], level, fall)
    return [*intervals, mean]


def _percentile(
    joint: JointItems, parts: Sequence[Estimate], used: Sequence[int], asked: AskedIntervals
) -> list[Interval]:
    drawn = _resampled(joint, asked)
    nothing = np.array([])
    values = [drawn[:, c] if c in used else nothing for c in range(len(parts) - 1)]
    values.append(drawn[:, used].mean(axis=1) if used else nothing)
    return [
        percentile_interval(value, asked.level, part.n)
        for value, part in zip(values, parts, strict=True)
    ]


def _resampled(joint: JointItems, asked: AskedIntervals) -> Floats:
    """Kappa of each resample and label, items drawn with all their labels: (b, q)."""
    parts = [joint.spread(c, table.features()) for c, table in enumerate(joint.tables)]
    width = parts[0].shape[1]
    features = np.concatenate(parts, axis=1)
    blocks = []
    for drawn in resampled_counts(joint.counts, asked.n_resamples, asked.seed):
        sums = drawn.astype(np.float64) @ features
        kappas = [
            coefficients(table, sums[:, c * width : (c + 1) * width])
            for c, table in enumerate(joint.tables)
        ]
        blocks.append(np.column_stack(kappas))
    return np.concatenate(blocks)


def _mean_error(joint: JointItems, used: Sequence[int], n: int) -> float:
    """Standard error of the mean kappa from each item's influence on all labels together."""
    if not used or n < 2:
        return math.nan
    total = np.zeros(len(joint.places))
    for c in used:
        total += joint.spread(c, influence(joint.tables[c]))
    return math.sqrt(float(joint.counts @ (total / len(used)) ** 2) / (n * (n - 1)))
