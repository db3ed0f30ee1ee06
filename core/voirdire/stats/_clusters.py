"""Comparisons grouped by what they share (an item), and resampling of whole groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats._patterns import of_counts, resampled_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


#: Residuals below this are rounding.
_STILL = 1e-12


@dataclass(frozen=True, slots=True)
class GroupedScores:
    """Scores that are there, with the number of the group each belongs to.

    Attributes
    ----------
    scores : (n,) float64
        Above 0 prefers the first system of the pair.
    group : (n,) int64
        0 .. groups - 1.
    groups : int
        How many groups.
    kept : (all,) bool
        Which of the rows given are there.
    """

    scores: Floats
    group: NDArray[np.int64]
    groups: int
    kept: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Comparisons used."""
        return len(self.scores)

    @property
    def left_out(self) -> int:
        """Comparisons without a score."""
        return int(len(self.kept) - self.n)

    def sums(self, columns: Floats) -> Floats:
        """Columns (n, f) summed within each group: (groups, f)."""
        out = np.zeros((self.groups, columns.shape[1]))
        np.add.at(out, self.group, columns)
        return out


def comparisons(scores: ArrayLike, items: ArrayLike | None, scale: float) -> GroupedScores:
    """Check scores against -scale .. scale; without items each comparison is its own group."""
    values = numbers(scores, "preferences")
    if values.ndim != 1:
        raise StatisticsError(f"preferences must be one-dimensional, got shape {values.shape}")
    bad = (np.abs(values) > scale) | np.isinf(values)
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        allowed = f"-{scale:g} .. {scale:g}" if math.isfinite(scale) else "the finite numbers"
        raise StatisticsError(
            f"preference {values[where].item()!r} of row {where} lies outside {allowed}"
        )
    names = np.arange(len(values)) if items is None else row_names(items, len(values), "items")
    kept = ~np.isnan(values)
    kinds, group = np.unique(names[kept], return_inverse=True)
    return GroupedScores(values[kept], group.astype(np.int64), len(kinds), kept)


def resampled(
    sums: Floats, statistic: Callable[[Floats], Floats], n_resamples: int, seed: int
) -> Floats:
    """A statistic of summed columns, over resamples of whole groups."""
    # The multinomial of no group is an error of NumPy's.
    if not len(sums):
        return np.array([])
    blocks = resampled_counts(np.ones(len(sums), np.int64), n_resamples, seed)
    return of_counts(statistic, sums, blocks)


def mean_error(given: GroupedScores, values: Floats) -> float:
    """Standard error of a mean over groups whose members may be alike.

    NaN with one group, and where no group lies off the mean: a spread that is not seen is unknown,
    not zero.
    """
    if given.groups < 2:
        return math.nan
    rest = given.sums((values - values.mean())[:, None])[:, 0]
    spread = float(rest @ rest)
    if spread <= _STILL**2 * len(values):
        return math.nan
    # Cameron and Miller (2015), eq. 11, with the factor G / (G - 1) for few groups.
    return math.sqrt(given.groups / (given.groups - 1) * spread) / len(values)
