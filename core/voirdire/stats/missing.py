"""What missing scores could hide, without supposing that they are missing at random."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import floats
from voirdire.stats._pairs import round_off
from voirdire.stats._results import Result


@dataclass(frozen=True, slots=True, eq=False)
class MissingBounds(Result):
    """The least and the greatest value that the missing scores allow.

    Attributes
    ----------
    statistic : str
    observed : float
        From the complete pairs alone; NaN without one.
    low, high : float
        Whatever the missing scores were, as long as they lay on the scale.
    n, n_missing : int
        All pairs; those with a missing side.
    """

    statistic: str
    observed: float
    low: float
    high: float
    n: int
    n_missing: int

    @property
    def width(self) -> float:
        """``high - low``: what is not known because scores are missing."""
        return self.high - self.low

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.statistic} = {self.observed:.3f} where known, within [{self.low:.3f}, "
            f"{self.high:.3f}] whatever is missing; n = {self.n}, missing = {self.n_missing}"
        )


def bias_bounds(judge: Any, reference: Any, scale: tuple[float, float]) -> MissingBounds:
    """Bounds of the bias when the missing scores may be anything on the scale.

    A missing score is put at one end of the scale and then at the other, in the direction that
    moves ``mean(judge - reference)`` down, and up (Manski's worst case).

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; NaN or None is missing. A pair with one side known is bounded by it.
    scale : (low, high)
        The declared ends.

    Returns
    -------
    MissingBounds
        NaN throughout without any pair.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, a scale without width, a score off the scale.

    Examples
    --------
    >>> from voirdire.stats import bias_bounds
    >>> bounds = bias_bounds([4, 5, None, 3], [4, 4, 2, 3], (1, 5))
    >>> round(bounds.observed, 3), bounds.low, bounds.high
    (0.333, 0.0, 1.0)

    References
    ----------
    Manski (2003), Partial Identification of Probability Distributions, ch. 1.
    """
    first, second = floats(judge, "judge", 1), floats(reference, "reference", 1)
    if len(first) != len(second):
        raise StatisticsError(
            f"judge and reference must be paired, got {len(first)} and {len(second)} values"
        )
    low, high = _ends(scale, first, second)
    if not len(first):
        return MissingBounds("bias", math.nan, math.nan, math.nan, 0, 0)
    gaps = np.isnan(first) | np.isnan(second)
    observed = float((first - second)[~gaps].mean()) if not gaps.all() else math.nan
    # The pair of ends that pulls the difference down; where a side is known it stays.
    least = _filled(first, low) - _filled(second, high)
    most = _filled(first, high) - _filled(second, low)
    return MissingBounds(
        "bias", observed, float(least.mean()), float(most.mean()), len(first), int(gaps.sum())
    )


def _filled(values: Any, end: float) -> Any:
    return np.where(np.isnan(values), end, values)


def _ends(scale: tuple[float, float], *arrays: Any) -> tuple[float, float]:
    low, high = map(float, scale)
    if not high > low:
        raise StatisticsError(f"scale must be (low, high) with low < high, got {scale!r}")
    known = np.concatenate([array[~np.isnan(array)] for array in arrays])
    # A mean of 5, 5 and 5 may be a rounding above 5.
    slack = round_off(np.array([low, high]))
    outside = known[(known < low - slack) | (known > high + slack)]
    if len(outside):
        raise StatisticsError(f"the score {outside[0]:g} lies off the scale {low:g}..{high:g}")
    return low, high
