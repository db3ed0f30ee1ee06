"""Intervals of kappas per label and of their mean, items counted with all their labels."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._chance_corrected import (
    coefficients,
    influence,
    one_left_out,
    worst,
)
from voirdire.stats._intervals import jackknife_interval, percentile_interval, student_interval
from voirdire.stats._patterns import resampled_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._chance_corrected import CountTable
    from voirdire.stats._label_cells import LabelCells
    from voirdire.stats._results import Estimate, Interval

    Floats = NDArray[np.float64]


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
        found: Floats = out[self.places[:, label]]
        return found


def with_intervals(
    joint: JointItems,
    parts: Sequence[Estimate],
    asked: Sequence[str],
    *,
    level: float,
    n_resamples: int,
    seed: int,
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
            columns.append(_student(whole, level))
        elif method == "jackknife":
            columns.append(_jackknife(joint, whole, used, level))
        else:
            columns.append(_percentile(joint, whole, used, level, n_resamples, seed))
    return [
        dataclasses.replace(part, intervals=tuple(found))
        for part, *found in zip(whole, *columns, strict=True)
    ]


def _student(parts: Sequence[Estimate], level: float) -> list[Interval]:
    return [student_interval(part.value, part.details["se"], part.n - 1, level) for part in parts]


def _jackknife(
    joint: JointItems, parts: Sequence[Estimate], used: Sequence[int], level: float
) -> list[Interval]:
    total, falls = np.zeros(len(joint.places)), []
    found = []
    for c, part in enumerate(parts[:-1]):
        table = joint.tables[c]
        left = one_left_out(table) if c in used else np.full(len(table.counts), math.nan)
        fall = worst(table) if c in used else math.nan
        found.append(jackknife_interval(part.value, left, table.counts, level, fall))
        if c in used:
            total += joint.spread(c, left - part.value) / len(used)
            falls.append(fall)
    rated = joint.places.any(axis=1)
    fall = float(np.mean(falls)) if falls else math.nan
    mean = jackknife_interval(parts[-1].value, total[rated], joint.counts[rated], level, fall)
    return [*found, mean]


def _percentile(
    joint: JointItems,
    parts: Sequence[Estimate],
    used: Sequence[int],
    level: float,
    n_resamples: int,
    seed: int,
) -> list[Interval]:
    drawn = _resampled(joint, n_resamples, seed)
    nothing = np.array([])
    values = [drawn[:, c] if c in used else nothing for c in range(len(parts) - 1)]
    values.append(drawn[:, used].mean(axis=1) if used else nothing)
    return [
        percentile_interval(value, level, part.n) for value, part in zip(values, parts, strict=True)
    ]


def _resampled(joint: JointItems, n_resamples: int, seed: int) -> Floats:
    """Kappa of each resample and label, items drawn with all their labels: (b, q)."""
    parts = [joint.spread(c, table.features()) for c, table in enumerate(joint.tables)]
    width = parts[0].shape[1]
    features = np.concatenate(parts, axis=1)
    blocks = []
    for drawn in resampled_counts(joint.counts, n_resamples, seed):
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
