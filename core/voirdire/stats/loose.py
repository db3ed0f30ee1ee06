"""Scores on no grid as sums: moments by pattern, and the nodes at which they are looked at.

A score such as 0.731 has no level that could be counted. What coefficients and verdicts need of it
are sums of squares and products. Their code takes rows of scores; so a pattern is shown to it as a
few nodes, scores with weights, whose weighted squares and products are exactly those of the
responses. A quadratic function of the scores follows from its values at the nodes alone, also for a
single response, which is then a weighted sum of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PatternMoments(Result):
    """Means and products of scores on no grid, by pattern.

    Attributes
    ----------
    columns : tuple of (rater, run)
        The L columns whose scores lie on no grid, sorted.
    mean : (P, L) float64
        0 where the pattern has no score.
    square : (P, L, L) float64
        Sums of products about the means.
    low, high : (L, 2) float64
        The least and the greatest score below the gate, and at or above it; infinite without one.
    """

    columns: tuple[tuple[str, int], ...]
    mean: Floats
    square: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls,
        columns: tuple[tuple[str, int], ...],
        values: Floats,
        code: Ints,
        counts: Ints,
        gate: float,
    ) -> PatternMoments:
        """Of scores (N, L), NaN where missing, of which pattern `code` (N,) has `counts` (P,)."""
        there, n = ~np.isnan(values), len(counts)
        filled = np.where(there, values, 0.0)
        mean = np.stack([_summed(one, code, n) for one in filled.T], axis=1) / counts[:, None]
        # A second pass about the means: raw squares of 99.731 would cancel to noise.
        off = np.where(there, filled - mean[code], 0.0)
        square = np.empty((n, values.shape[1], values.shape[1]))
        for i in range(values.shape[1]):
            for j in range(i + 1):
                square[:, i, j] = square[:, j, i] = _summed(off[:, i] * off[:, j], code, n)
        low, high = np.full((2, values.shape[1], 2), np.inf)
        for above in (0, 1):
            # Each side of the gate has its own ends, so that no node lies across it.
            own = there & ((values >= gate) == bool(above))
            low[:, above] = np.where(own, values, np.inf).min(axis=0, initial=np.inf)
            high[:, above] = np.where(own, values, -np.inf).max(axis=0, initial=-np.inf)
        return cls(columns, mean, square, low, high)

    def __str__(self) -> str:
        """Of what."""
        return f"moments of {len(self.columns)} columns in {len(self.mean)} patterns"

    def __add__(self, other: PatternMoments) -> PatternMoments:
        """Those of both, one below the other."""
        return PatternMoments(
            self.columns,
            np.concatenate([self.mean, other.mean]),
            np.concatenate([self.square, other.square]),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def merged(self, back: Ints, n: int, counts: Ints) -> PatternMoments:
        """Patterns of which `back` says what they become; `counts` (P,) responses of each.

        Chan, Golub and LeVeque (1983), The American Statistician 37, 242-247: no sum of raw squares
        is taken, so that scores far from 0 lose no digits.
        """
        total = np.zeros(n)
        np.add.at(total, back, counts)
        mean, square = np.zeros((n, len(self.columns))), np.zeros((n, *self.square.shape[1:]))
        np.add.at(mean, back, self.mean * counts[:, None])
        mean /= total[:, None]
        off = self.mean - mean[back]
        # What the groups' means lie apart is variance of the merged group.
        apart = counts[:, None, None] * off[:, :, None] * off[:, None, :]
        np.add.at(square, back, self.square + apart)
        return PatternMoments(self.columns, mean, square, self.low, self.high)

    def at(self, order: Ints) -> PatternMoments:
        """The patterns in another order."""
        return PatternMoments(
            self.columns, self.mean[order], self.square[order], self.low, self.high
        )

    def widened(
        self, columns: tuple[tuple[str, int], ...], mean: Floats, low: Floats, high: Floats
    ) -> PatternMoments:
        """With more columns, in which all responses of a pattern have the score `mean` (P, L)."""
        place = [columns.index(column) for column in self.columns]
        square = np.zeros((len(self.mean), len(columns), len(columns)))
        square[np.ix_(range(len(square)), place, place)] = self.square
        mean, low, high = mean.copy(), low.copy(), high.copy()
        mean[:, place], low[place], high[place] = self.mean, self.low, self.high
        return PatternMoments(columns, mean, square, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Nodes(Result):
    """Where patterns with scores on no grid are looked at.

    Scores below the gate and those above have nodes of their own, which lie between the least and
    the greatest of them: so a node passes the gate where the responses do.

    Attributes
    ----------
    centre, step : (L, 2) float64
        The middle, and how far the nodes lie from it.
    """

    centre: Floats
    step: Floats

    @classmethod
    def of(cls, moments: PatternMoments) -> Nodes:
        """For the moments of all parts."""
        there = np.isfinite(moments.low) & np.isfinite(moments.high)
        low, high = np.where(there, moments.low, 0.0), np.where(there, moments.high, 0.0)
        return cls((low + high) / 2, (high - low) / 2)

    def __str__(self) -> str:
        """How many."""
        return f"{self.count} nodes a pattern"

    @property
    def count(self) -> int:
        """K, of a pattern: 1 + 2 L + L (L - 1) / 2, as many as a quadratic has coefficients."""
        return len(self.points)

    @property
    def reach(self) -> float:
        """How much larger a quadratic may be at a response than at the nodes, at most."""
        width = len(self.centre)
        pairs = width * (width - 1) / 2
        # The largest sum of absolute weights in `_weights`, for steps within [-1, 1].
        return 1 + width + pairs + width * width + width + pairs

    @property
    def points(self) -> Floats:
        """(K, L) in steps from the centre: it, both ends of each column, upper ends of each two."""
        one = np.eye(len(self.centre))
        a, b = np.triu_indices(len(one), 1)
        return np.concatenate([np.zeros((1, len(one))), one, -one, one[a] + one[b]])

    def scores(self, above: NDArray[np.int64]) -> Floats:
        """(P, K, L) of patterns whose columns lie below (0) or above the gate (1)."""
        columns = np.arange(len(self.centre))
        centre, step = self.centre[columns, above], self.step[columns, above]
        return np.asarray(centre[:, None, :] + step[:, None, :] * self.points)

    def steps(self, values: Floats, above: NDArray[np.int64]) -> Floats:
        """(N, L) scores in steps from their centre; 0 where missing, or where all are the same."""
        columns = np.arange(len(self.centre))
        centre, step = self.centre[columns, above], self.step[columns, above]
        # What is missing weighs nothing at any node but the middle.
        off = np.nan_to_num(values - centre)
        return np.divide(off, step, out=np.zeros(off.shape), where=step > 0)

    def shares(self, steps: Floats) -> Floats:
        """(N, K) how much of each node a response with these scores (N, L) is: they sum to 1."""
        return _weights(np.ones(len(steps)), steps, steps[:, :, None] * steps[:, None, :])

    def counts(
        self, moments: PatternMoments, counts: Ints, above: NDArray[np.int64], there: Floats
    ) -> Floats:
        """(P, K) weights of the nodes of each pattern; `there` is 0 where it has no score."""
        columns = np.arange(len(self.centre))
        step = self.step[columns, above]
        inverse = np.divide(there, step, out=np.zeros(step.shape), where=step > 0)
        off = (moments.mean - self.centre[columns, above]) * inverse
        second = moments.square * inverse[:, :, None] * inverse[:, None, :]
        n = counts.astype(np.float64)
        second += n[:, None, None] * off[:, :, None] * off[:, None, :]
        return _weights(n, n[:, None] * off, second)


def _weights(n: Floats, first: Floats, second: Floats) -> Floats:
    """(N, K) from sums of 1, of steps (N, L) and of their products (N, L, L).

    Lagrange's polynomials of the points: of a quadratic f of the steps t, the value at t is the sum
    of f at the points by these weights.
    """
    square = np.einsum("nii->ni", second)
    a, b = np.triu_indices(first.shape[1], 1)
    two = second[:, a, b]
    others = second.sum(axis=2) - square
    middle = n - square.sum(axis=1) + two.sum(axis=1)
    upper, lower = (first + square) / 2 - others, (square - first) / 2
    return np.concatenate([middle[:, None], upper, lower, two], axis=1)


def _summed(values: Floats, code: Ints, n: int) -> Floats:
    sums: Floats = np.bincount(code, weights=values, minlength=n).astype(np.float64)
    return sums
