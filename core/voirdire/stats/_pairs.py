"""Paired arrays of a judge and its reference, and the mean of what differs between them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, check_level, coded, floats, magnified
from voirdire.stats._results import Interval
from voirdire.stats.intervals import student_interval


@dataclass(frozen=True, slots=True)
class Pairs:
    """Complete pairs, in the order given.

    Attributes
    ----------
    judge, reference : (n,) float64
    kept : (N,) bool
        Which of the pairs handed in are complete.
    """

    judge: Floats
    reference: Floats
    kept: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def n(self) -> int:
        """Complete pairs."""
        return len(self.judge)

    @property
    def left_out(self) -> int:
        """Pairs with a missing side."""
        return len(self.kept) - self.n

    @property
    def differences(self) -> Floats:
        """Judge minus reference; below the round-off of the ratings it is zero."""
        less = self.judge - self.reference
        return np.where(np.abs(less) <= round_off(self.judge, self.reference), 0.0, less)


def pairs(judge: Any, reference: Any) -> Pairs:
    """The complete pairs of two arrays of equal length."""
    first, second = floats(judge, "judge", 1), floats(reference, "reference", 1)
    if len(first) != len(second):
        raise StatisticsError(
            f"judge and reference must be paired, got {len(first)} and {len(second)} values"
        )
    kept = ~(np.isnan(first) | np.isnan(second))
    return Pairs(first[kept], second[kept], kept)


def round_off(*arrays: Floats) -> float:
    """Differences of this size are round-off of values of this size."""
    largest = max((float(np.abs(array).max()) for array in arrays if len(array)), default=0.0)
    # Scores are often means themselves, such as 3.3333, whose last digits depend on the order in
    # which they were summed.
    return 16 * float(np.finfo(np.float64).eps) * largest


def centred(values: Floats) -> Floats:
    """Values less their mean; a constant array gives exact zeros."""
    less_mean = values - values.mean()
    return np.where(np.abs(less_mean) <= round_off(values), 0.0, less_mean)


def standard_error(values: Floats, clusters: Any = None) -> tuple[float, int]:
    """Standard error of a mean and its degrees of freedom; with `clusters` from their sums."""
    n = len(values)
    sums: Floats = centred(values) if n else values
    if clusters is not None and n:
        _, codes = coded(clusters)
        sums = np.bincount(codes, weights=sums).astype(np.float64)
    units = len(sums)
    if units < 2:
        return math.nan, max(units - 1, 0)
    # Squares of differences below 1e-160 would vanish, and the error with them.
    large, exponent = magnified(sums)
    # Cochran (1977), 9A.6: without clusters this is sd / sqrt(n).
    error = math.sqrt(units / (units - 1) * float(large @ large)) / n
    return math.ldexp(error, -exponent), units - 1


def mean_interval(values: Floats, level: float, clusters: Any = None) -> Interval:
    """Student's t interval of a mean; "cluster_t" where it rests on clusters."""
    check_level(level)
    method = "t" if clusters is None else "cluster_t"
    error, df = standard_error(values, clusters)
    if math.isnan(error):  # too few units; the mean of none would warn
        return Interval(method, level, math.nan, math.nan)
    return student_interval(float(values.mean()), error, df, level, method)
