"""Scores that are missing: the mean of the raters who rated, and what the others could hide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, floats, ratings_matrix
from voirdire.stats._pairs import round_off
from voirdire.stats._results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PanelMean(Result):
    """Mean scores of a panel.

    Attributes
    ----------
    values : (n,) float64
        NaN for the items in `below_quorum`.
    counts : (n,) int64
        Ratings behind each value.
    quorum : int
        Ratings that a mean needs.
    below_quorum : tuple of int
        Positions of the items with fewer ratings, none included.
    """

    values: Floats
    counts: NDArray[np.int64]
    quorum: int
    below_quorum: tuple[int, ...]

    def __str__(self) -> str:
        """One line; the items without a mean are named by position."""
        text = f"panel mean of {len(self.values)} items"
        if not self.below_quorum:
            return text
        where = ", ".join(map(str, self.below_quorum[:10]))
        more = ", ..." if len(self.below_quorum) > 10 else ""
        missing = f"{len(self.below_quorum)} below the quorum of {self.quorum}"
        return f"{text}; {missing} (at {where}{more})"


def panel_mean(R: Any, *, quorum: int = 1) -> PanelMean:
    """Mean over the raters who rated an item; missing where fewer than `quorum` did.

    ``sum of ratings present / number of ratings present``: a failed rater is neither a 0 nor the
    loss of the item, and an item that no one rated has no mean.

    Parameters
    ----------
    R : array-like, shape (n items, k raters)
        NaN, None and masked cells are missing.
    quorum : int
        Ratings that a mean needs, at least 1.

    Returns
    -------
    PanelMean
        Values, the number of ratings behind each, and the positions of items below the quorum,
        so that none is lost in silence.

    Raises
    ------
    StatisticsError
        An array that is not (items, raters) or not numeric; a quorum below 1.

    Examples
    --------
    >>> from voirdire.stats import panel_mean
    >>> mean = panel_mean([[4, None, 5], [None, None, None]])
    >>> mean.values.tolist(), mean.counts.tolist(), mean.below_quorum
    ([4.5, nan], [2, 0], (1,))
    >>> print(panel_mean([[4, None, 5]], quorum=3))
    panel mean of 1 items; 1 below the quorum of 3 (at 0)

    References
    ----------
    Little and Rubin (2002), Statistical Analysis with Missing Data, 3.3 (available cases).
    """
    if quorum < 1:
        raise StatisticsError(f"quorum must be at least 1, got {quorum!r}")
    ratings = ratings_matrix(R, "R")
    present = ~np.isnan(ratings)
    counts = present.sum(axis=1, dtype=np.int64)
    sums = np.where(present, ratings, 0.0).sum(axis=1)
    enough = counts >= quorum
    # The maximum keeps 0 / 0 out of a warning; such items are below any quorum.
    values = np.where(enough, sums / np.maximum(counts, 1), np.nan)
    return PanelMean(values, counts, quorum, tuple(np.flatnonzero(~enough).tolist()))


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
    scores = np.concatenate([array[~np.isnan(array)] for array in arrays])
    # A mean of 5, 5 and 5 may be a rounding above 5.
    slack = round_off(np.array([low, high]))
    outside = scores[(scores < low - slack) | (scores > high + slack)]
    if len(outside):
        raise StatisticsError(f"the score {outside[0]:g} lies off the scale {low:g}..{high:g}")
    return low, high
