"""Maximum mean discrepancy of two sets of vectors, under a Gaussian kernel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats import Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: Rows of both sides together that one kernel matrix may hold: beyond it rows are drawn.
MOST = 4_000
_ROUND_OFF = 1e-10


def mmd(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    gamma: float | None = None,
    permutations: int = 1000,
    seed: int = 0,
    most: int = MOST,
) -> Estimate:
    r"""Squared maximum mean discrepancy, unbiased, with a permutation test.

    .. math:: \frac{\sum_{i \ne j} k(x_i, x_j)}{m (m-1)}
              + \frac{\sum_{i \ne j} k(y_i, y_j)}{n (n-1)}
              - \frac{2}{m n} \sum_{i,j} k(x_i, y_j), \quad k(a, b) = e^{-\gamma |a - b|^2}

    It may be negative, where the sides are closer than chance would have it; it is not clipped.

    Parameters
    ----------
    X, Y : array_like, shapes (m, d) and (n, d)
        One vector a text. Rows with NaN are missing and counted.
    gamma : float, optional
        By default the median heuristic (`median_gamma`) over both sides together.
    permutations : int
        Relabellings drawn for the p-value; 0 leaves it out.
    seed : int
        The seed of ``numpy.random.default_rng``.
    most : int
        Where there are more rows, as many are drawn, in the sides' proportion
        (``details["sampled"]``).

    Returns
    -------
    Estimate
        Details: ``gamma``, ``biased`` (the V-statistic, never negative), ``p`` (share of
        relabellings, the observed one included, that come to as much; NaN without), ``sampled``.
        NaN with ``no_data`` under two rows a side, ``zero_expected_disagreement`` where all rows
        are equal and no `gamma` is given.

    Raises
    ------
    StatisticsError
        Shapes that do not fit, or a gamma that is not above 0.

    References
    ----------
    Gretton, A. et al. (2012). Journal of Machine Learning Research 13, 723-773, eq. 3 and 5.

    Examples
    --------
    >>> apart = mmd([[0.0], [0.2], [0.1]], [[5.0], [5.2], [4.9]], permutations=0)
    >>> round(apart.value, 3)
    0.819
    """
    x, y, lost = _sides(X, Y)
    if gamma is not None and not gamma > 0:
        raise StatisticsError(f"gamma must be above 0, got {gamma}")
    if min(len(x), len(y)) < 2:
        return _undefined("no_data", len(x) + len(y), lost)
    rng = np.random.default_rng(seed)
    x, y, sampled = _fewer(x, y, most, rng)
    rows = np.concatenate([x, y])
    gamma = median_gamma(rows) if gamma is None else gamma
    if math.isnan(gamma):
        return _undefined("zero_expected_disagreement", len(rows), lost)
    K = np.exp(-gamma * _squared_distances(rows, rows))
    first = (np.arange(len(rows)) < len(x)).astype(np.float64)[:, None]
    value = float(_unbiased(K, first)[0])
    p = math.nan
    if permutations:
        drawn = rng.permuted(np.repeat(first, permutations, axis=1), axis=0)
        # A relabelling that gives the same sides, or exchanges them, is summed in another order.
        least = value - _ROUND_OFF * max(1.0, abs(value))
        p = (1 + int((_unbiased(K, drawn) >= least).sum())) / (1 + permutations)
    details: dict[str, Any] = {
        "gamma": gamma,
        "biased": _biased(K, len(x)),
        "p": p,
        "sampled": sampled,
    }
    return Estimate("MMD^2", value, n=len(rows), k=2, left_out=lost, details=details)


def mmd_pairings(
    X: ArrayLike, Y: ArrayLike, *, gamma: float | None = None, runs: int = 1000, seed: int = 0
) -> tuple[Estimate, Estimate]:
    r"""Mean and median discrepancy of single items, one drawn from each class at each run.

    Our reading of Hengle et al. (2024), A.2: "the mean MMD over 1000 runs with a random label-wise
    pair chosen at each run without replacement". The paper names no kernel; here it is that of
    `mmd`, under which the biased MMD^2 of single items is :math:`2 - 2 k(x, y)`. Pairs are drawn
    from all m n, none twice. Unlike `mmd` it is not near 0 for equal classes.

    Parameters
    ----------
    X, Y, gamma, seed
        As in `mmd`.
    runs : int
        Pairs drawn; fewer where there are fewer.

    Returns
    -------
    tuple of Estimate
        Mean and median. NaN with a reason as in `mmd`.

    Examples
    --------
    >>> mean, median = mmd_pairings([[0.0], [1.0]], [[0.0], [1.0]], gamma=1.0)
    >>> mean.k, round(mean.value, 3)
    (2, 0.632)
    """
    x, y, lost = _sides(X, Y)
    names = ("mean of pairings, MMD^2", "median of pairings, MMD^2")
    if not len(x) or not len(y):
        return _undefined("no_data", 0, lost, names[0]), _undefined("no_data", 0, lost, names[1])
    rng = np.random.default_rng(seed)
    gamma = median_gamma(np.concatenate(_fewer(x, y, MOST, rng)[:2])) if gamma is None else gamma
    pairs = rng.choice(len(x) * len(y), size=min(runs, len(x) * len(y)), replace=False)
    gaps = ((x[pairs // len(y)] - y[pairs % len(y)]) ** 2).sum(axis=1)
    # The biased statistic of one item a side: k(x, x) + k(y, y) - 2 k(x, y), where k(x, x) is 1.
    values = 2 - 2 * np.exp(-gamma * gaps)
    reason = "zero_expected_disagreement" if math.isnan(gamma) else None
    made = [
        Estimate(
            name,
            float(value),
            n=len(x) + len(y),
            k=2,
            left_out=lost,
            reason=reason,
            details={"gamma": gamma, "pairs": len(pairs)},
        )
        for name, value in zip(names, (values.mean(), np.median(values)), strict=True)
    ]
    return made[0], made[1]


def median_gamma(rows: ArrayLike) -> float:
    r""":math:`1 / (2 \sigma^2)`, sigma being the median distance of distinct rows; NaN if it is 0.

    >>> median_gamma([[0.0], [1.0], [3.0]])
    0.125
    """
    values = np.asarray(rows, np.float64)
    upper = np.triu_indices(len(values), 1)
    apart = np.sqrt(_squared_distances(values, values)[upper])
    middle = float(np.median(apart)) if len(values) > 1 else 0.0
    return 1 / (2 * middle**2) if middle > 0 else math.nan


def _sides(X: ArrayLike, Y: ArrayLike) -> tuple[Floats, Floats, int]:
    """Both sides as rows without NaN, and how many rows were left out."""
    x, y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise StatisticsError(
            f"X and Y must be (rows, dimensions) of one width, got {x.shape} and {y.shape}"
        )
    kept = [side[~np.isnan(side).any(axis=1)] for side in (x, y)]
    return kept[0], kept[1], len(x) + len(y) - len(kept[0]) - len(kept[1])


def _fewer(
    x: Floats, y: Floats, most: int, rng: np.random.Generator
) -> tuple[Floats, Floats, bool]:
    total = len(x) + len(y)
    if total <= most:
        return x, y, False
    sizes = [max(2, round(most * len(side) / total)) for side in (x, y)]
    drawn = [
        side[np.sort(rng.choice(len(side), min(size, len(side)), replace=False))]
        for side, size in zip((x, y), sizes, strict=True)
    ]
    return drawn[0], drawn[1], True


def _squared_distances(a: Floats, b: Floats) -> Floats:
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * (a @ b.T)
    # |a|² + |b|² - 2ab of equal rows may round to less than 0.
    gaps: Floats = np.maximum(squares, 0.0)
    return gaps


def _unbiased(K: Floats, first: Floats) -> Floats:
    """MMD^2 for each column of `first`, which marks the rows of the first side by 1."""
    own = np.diag(K)
    m = first.sum(axis=0)
    n = len(K) - m
    spread = K @ first
    # Sums of the kernel over both sides for all relabellings at once: one matrix product in place
    # of a loop.
    within = (first * spread).sum(axis=0)
    across = ((1 - first) * spread).sum(axis=0)
    others = K.sum() - within - 2 * across
    left, right = within - own @ first, others - own @ (1 - first)
    value: Floats = left / (m * (m - 1)) + right / (n * (n - 1)) - 2 * across / (m * n)
    return value


def _biased(K: Floats, m: int) -> float:
    return float(K[:m, :m].mean() + K[m:, m:].mean() - 2 * K[:m, m:].mean())


def _undefined(reason: str, n: int, lost: int, name: str = "MMD^2") -> Estimate:
    return Estimate(name, math.nan, n=n, k=2, left_out=lost, reason=reason)
