"""The panel's score: the mean of the raters who rated, where enough of them did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import ratings_matrix
from voirdire.stats._results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats


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
