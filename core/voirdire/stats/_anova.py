"""Two-way analysis of variance of complete ratings, with zeros that are exactly zero.

A deviation below the round-off of the data it was computed from is set to 0.0, so that constant
columns of 0.1 have no variance at all, and a quotient of zeros is seen to be one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats

#: Units in the last place that centring may leave: a column of 0.1 less its mean is 1e-17, not 0,
#: and a quotient of two such sums would pass for an ICC.
_ROUND_OFF = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True, slots=True)
class Decomposition:
    """P complete matrices of n subjects by k raters, taken apart.

    Attributes
    ----------
    rows : (P, n)
        Subject means less the grand mean.
    columns : (P, k)
        Rater means less the grand mean.
    residuals : (P, n, k)
        What rows and columns leave.
    """

    rows: Floats
    columns: Floats
    residuals: Floats

    @property
    def n(self) -> int:
        """Subjects."""
        return int(self.rows.shape[1])

    @property
    def k(self) -> int:
        """Raters."""
        return int(self.columns.shape[1])


def decompose(Y: Floats) -> Decomposition:
    """Take (P, n, k) complete ratings apart; round-off counts as zero."""
    # Relative to the largest rating of each matrix: points of 0.01 and of a million snap alike.
    scale = np.abs(Y).max(axis=(1, 2), keepdims=True)
    tolerance = _ROUND_OFF * scale
    centred = Y - Y.mean(axis=(1, 2), keepdims=True)
    rows = _snap(centred.mean(axis=2, keepdims=True), tolerance)
    columns = centred.mean(axis=1, keepdims=True)
    # Sums down many rows lose digits; a second pass over what is left finds them.
    columns = _snap(columns + (centred - columns).mean(axis=1, keepdims=True), tolerance)
    residuals = _snap(centred - rows - columns, tolerance)
    return Decomposition(rows[:, :, 0], columns[:, 0, :], residuals)


def _snap(values: Floats, tolerance: Floats) -> Floats:
    return np.where(np.abs(values) <= tolerance, 0.0, values)


def mean_squares(parts: Decomposition) -> Floats:
    """(3, P): mean squares of rows, raters and error (McGraw and Wong 1996, table 4).

    MSR = k Σ rows² / (n-1), MSC = n Σ columns² / (k-1), MSE = Σ residuals² / ((n-1)(k-1)).
    """
    n, k = parts.n, parts.k
    return np.stack(
        [
            k * (parts.rows**2).sum(axis=1) / (n - 1),
            n * (parts.columns**2).sum(axis=1) / (k - 1),
            (parts.residuals**2).sum(axis=(1, 2)) / ((n - 1) * (k - 1)),
        ]
    )


def features(parts: Decomposition) -> Floats:
    """(P, 3 + k, n): what must be summed over subjects to know the mean squares of any resample.

    Row effect, its square, the squared residuals summed over raters, each rater's residual.
    """
    residuals = parts.residuals.transpose(0, 2, 1)
    squares = (residuals**2).sum(axis=1)
    stacked = np.stack([parts.rows, parts.rows**2, squares], axis=1)
    # The kernels' signatures ask for this order in memory.
    return np.ascontiguousarray(np.concatenate([stacked, residuals], axis=1))


def tolerances(parts: Decomposition) -> Floats:
    """(P, 3): below this, a resample's sum of squares (rows, raters, error) over N is round-off."""
    rows = parts.k * (parts.rows**2).max(axis=1)
    columns = (parts.columns**2).max(axis=1)
    residuals = (parts.residuals**2).max(axis=(1, 2))
    raters = parts.k * (columns + residuals)
    # The raters' sum is made of squared means, whose round-off is squared as well: the factor
    # twice.
    return _ROUND_OFF * np.stack([rows, _ROUND_OFF * raters, parts.k * residuals], axis=1)
