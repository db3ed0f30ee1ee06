"""Distinct rows of ratings with their counts, and what sums over them tell of each attribute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.ratings.cube import Cube
from voirdire.examining.ratings.facts import SystemMean
from voirdire.examining.ratings.systems import ranked
from voirdire.examining.streaming.parts import subgroup_in, system_in
from voirdire.stats._results import Estimate
from voirdire.stats.rating_sums import (
    SummedCoefficient,
    delta_interval,
    poisson_interval,
    summed_estimate,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.panel import Panel
    from voirdire.stats.rating_patterns import PatternRows, RatingPatterns
    from voirdire.study import Study

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """One attribute: its distinct rows of ratings as a cube of one attribute, and their counts.

    Attributes
    ----------
    rows : PatternRows
        The distinct rows of ratings; of scores on no grid, their nodes.
    scores : (P, C) float64
        Of each rater and run.
    cube : Cube
        A "response" is a row; off-scale values are treated as the study says.
    counts : (P,) int64 or float64
        Responses that show it.
    clusters : int
        Of all parts.
    alone : bool
        Whether each response is a cluster of its own.
    subgroups : (P,) array of str or None
        Of each row, empty where it has none; None where there are none.
    """

    rows: PatternRows
    scores: Floats
    cube: Cube
    counts: NDArray[Any]
    clusters: int
    alone: bool
    off_scale: Mapping[tuple[str, float], int]
    subgroups: NDArray[np.str_] | None = None

    @property
    def columns(self) -> tuple[tuple[str, int], ...]:
        """Rater and run of each column of the scores."""
        return self.rows.patterns.columns

    def is_loose(self, *raters: str) -> bool:
        """Whether scores of one of these lie on no grid."""
        return any(rater in raters for rater, _ in self.rows.patterns.loose)

    def size(self, kept: NDArray[np.bool_]) -> int:
        """Responses of the rows kept."""
        return round(float(self.counts[kept].sum()))


def counted(
    patterns: RatingPatterns,
    attribute: str,
    panel: Panel,
    study: Study,
    *,
    clusters: int,
    largest: int,
) -> Counted:
    """The patterns as a cube, values off the scale counted and, unless kept, missing.

    Those on no grid were treated as they were read.
    """
    rows, scale = patterns.rows(), panel.scale
    scores = rows.scores.copy()
    off: dict[tuple[str, float], int] = {}
    # Values that occur are few, since rows are patterns: each is looked at once.
    if study.data.off_scale != "keep":
        for place, column in enumerate(patterns.columns):
            if column in patterns.loose:
                continue
            values, rater = scores[:, place], column[0]
            wrong = (values < scale.low) | (values > scale.high)
            for value in np.unique(values[wrong]):
                n = round(float(rows.counts[values == value].sum()))
                off[rater, float(value)] = off.get((rater, float(value)), 0) + n
            values[wrong] = np.nan
    names = panel.names
    of = {
        rater: [at for at, (r, _) in enumerate(patterns.columns) if r == rater] for rater in names
    }
    mean = np.full((len(names), 1, len(scores)), np.nan)
    asked = np.zeros((len(names), len(scores)), np.bool_)
    for place, rater in enumerate(names):
        own = scores[:, of[rater]]
        n = (~np.isnan(own)).sum(axis=1)
        # The mean over the runs present, as the cube of a table has it.
        np.divide(np.nansum(own, axis=1), n, out=mean[place, 0], where=n > 0)
        asked[place] = rows.asked[:, of[rater]].any(axis=1)
    systems = tuple(sorted({system_in(name) for name in patterns.systems}))
    places = np.array([systems.index(system_in(name)) for name in patterns.systems], np.intp)
    groups = np.array([subgroup_in(name) for name in patterns.systems])
    cube = Cube(
        names,
        (attribute,),
        tuple(map(str, range(len(scores)))),
        systems,
        mean,
        np.arange(len(scores)),
        places[rows.system],
        asked,
        {rater: len(of[rater]) for rater in names},
    )
    # Then each row stands for so many clusters, and counts alone give every spread.
    alone = largest <= 1 and not patterns.loose
    subgroups = groups[rows.system] if (groups != "").any() else None
    return Counted(rows, scores, cube, rows.counts, clusters, alone, off, subgroups)


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A coefficient of chosen raters: its columns, value and linearised values by pattern."""

    coefficient: SummedCoefficient
    raters: int
    columns: Floats
    value: float
    moves: Floats
    n: int

    @classmethod
    def of(cls, coefficient: SummedCoefficient, scores: Floats, counts: NDArray[Any]) -> Planned:
        """Of ratings (P, R), NaN where missing."""
        columns = coefficient.columns(scores)
        sums = dot(counts, columns)
        return cls(
            coefficient,
            scores.shape[1],
            columns,
            coefficient.value(sums),
            # Linearised: a cluster's sum of these is what it moves the value by, to first order
            # (delta method).
            columns @ coefficient.slopes(sums),
            round(float(counts[(columns != 0).any(axis=1)].sum())),
        )

    def estimate(
        self,
        counts: NDArray[Any],
        square: float,
        drawn: Floats,
        clusters: int,
        level: float,
    ) -> Estimate:
        """With the interval of the delta method and that of the Poisson bootstrap, where drawn.

        `drawn` (B, F) holds the sums of the columns in each replicate.
        """
        intervals = [delta_interval(self.value, square, clusters, level)]
        if len(drawn):
            with np.errstate(all="ignore"):
                values = self.coefficient.statistic(drawn)
            intervals.append(poisson_interval(values, level))
        total = round(float(counts.sum()))
        # The square is about the value of these very sums, hence G / (G - 1).
        se = math.sqrt(clusters / (clusters - 1) * square) if clusters > 1 else math.nan
        return summed_estimate(
            self.coefficient,
            self.value,
            intervals,
            n=self.n,
            k=self.raters,
            left_out=total - self.n,
            details={"se": se, "clusters": clusters},
        )


def dot(counts: NDArray[Any], columns: Floats) -> Floats:
    """Sums of columns, each response counted; whole numbers below 2^53 are exact."""
    total: Floats = (counts[:, None] * columns).sum(axis=0)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class PlannedSizes:
    """The mean size of the differences (P,) of two raters whose scores lie on no grid."""

    apart: Floats

    def estimate(self, sums: Floats, total: int, clusters: int, level: float) -> Estimate:
        """From the sums (5,) of the second pass, with the interval of the delta method."""
        size, n, squares, counts, product = sums.tolist()
        if not n:
            return Estimate("MAE", math.nan, n=0, k=2, left_out=total, reason="no_data")
        value = size / n
        # Sum over clusters of (size - value n)², multiplied out, so that parts add up; rounding may
        # leave it below 0.
        square = max(squares - 2 * value * product + value**2 * counts, 0.0) / n**2
        intervals = (delta_interval(value, square, clusters, level),)
        return Estimate("MAE", value, intervals, round(n), 2, total - round(n))


def means_of_systems(
    tables: Sequence[Counted], composites: Sequence[Counted] = ()
) -> tuple[SystemMean, ...]:
    """How each rater sees each system: means and SDs by attribute; overall the mean of these."""
    raters = tables[0].cube.raters if tables else ()
    systems = tuple(dict.fromkeys(s for table in tables for s in table.cube.systems))
    return tuple(
        mean
        for rater in raters
        for mean in ranked([_mean_of(tables, composites, rater, system) for system in systems])
    )


def _mean_of(
    tables: Sequence[Counted], composites: Sequence[Counted], rater: str, system: str
) -> SystemMean:
    means, sds, most = {}, {}, 0
    for table in tables:
        attribute = table.cube.attributes[0]
        n, mean, sd = _moments(table, rater, system)
        means[attribute], sds[attribute], most = mean, sd, max(most, n)
    there = [mean for mean in means.values() if not math.isnan(mean)]
    overall = sum(there) / len(there) if there else math.nan
    composed = {one.cube.attributes[0]: _moments(one, rater, system)[1] for one in composites}
    return SystemMean(rater, system, means, sds, most, overall, math.nan, math.nan, composed)


def _moments(table: Counted, rater: str, system: str) -> tuple[int, float, float]:
    cube = table.cube
    if system not in cube.systems:
        return 0, math.nan, math.nan
    scores = cube.scores[cube.raters.index(rater), 0]
    kept = (cube.system == cube.systems.index(system)) & ~np.isnan(scores)
    weight, values = table.counts[kept], scores[kept]
    n = round(float(weight.sum()))
    if not n:
        return 0, math.nan, math.nan
    mean = float((weight * values).sum() / n)
    square = float((weight * (values - mean) ** 2).sum())
    return n, mean, math.sqrt(square / (n - 1)) if n > 1 else math.nan
