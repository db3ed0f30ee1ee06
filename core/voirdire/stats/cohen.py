"""Cohen's kappa of two raters: unweighted, linear, quadratic or with weights of one's own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats._jit import njit
from voirdire.stats._patterns import resampled_counts
from voirdire.stats._ratings import Ratings, encode_pair
from voirdire.stats._results import Estimate, Interval
from voirdire.stats._weights import disagreement, weights_name
from voirdire.stats.intervals import AskedIntervals, normal_interval, outside, percentile_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from voirdire.stats._weights import Weights


def cohen_kappa(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: Weights = None,
    levels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Cohen's kappa of two raters on declared levels.

    .. math:: \kappa = 1 - \frac{\sum_{ij} v_{ij} p_{ij}}{\sum_{ij} v_{ij} p_{i.} p_{.j}}

    with the share :math:`p_{ij}` of items that the first rater puts on level i and the second on
    level j, and the disagreement weights v: 1 off the diagonal, or the distance between the
    *places* of two levels in `levels` (``"linear"``), or its square (``"quadratic"``).

    Parameters
    ----------
    a, b : array_like, shape (n items,)
        Numbers or words; NaN, None and masked cells are missing, and an item that misses either
        rating is left out of every part of the formula.
    weights : {None, "linear", "quadratic"} or array_like (q, q)
        A matrix holds disagreement weights, zero on the diagonal (Cohen 1968).
    levels : sequence, optional
        The declared levels in order. Without them the levels that occur stand in, and a level that
        nobody used then closes a gap: 1, 2, 4 weigh as 1, 2, 3 would.
    ci : {None, "wald", "percentile"} or several of them
        ``"wald"``: value -+ z times the non-null standard error (Fleiss, Cohen and Everitt 1969);
        ``"percentile"``: bootstrap over items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        Details: ``agreement`` (share of equal ratings), ``observed`` and ``expected`` weighted
        disagreement (scaled to 1 at most), ``se``, and ``prevalence``, both raters' mean share
        of each level. NaN with ``zero_expected_disagreement`` where both raters use one and the
        same level, ``no_pairable_item``, or ``no_data``. One rater constant: 0 or below, defined.

    Raises
    ------
    StatisticsError
        For a rating that is not declared, arrays of different lengths, or unfit weights.

    Notes
    -----
    Equally spaced levels with quadratic weights give Lin's concordance with 1/n moments.
    R's ``irr::kappa2`` (0.84.1) orders numeric levels as text and weighs wrongly from ten levels
    on; ``psych::cohen.kappa`` (2.2.9) gives a weighted-kappa interval that is not the one of
    Fleiss, Cohen and Everitt.

    References
    ----------
    Cohen, J. (1960). Educational and Psychological Measurement 20, 37-46.
    Cohen, J. (1968). Psychological Bulletin 70, 213-220.
    Fleiss, J. L., Cohen, J. and Everitt, B. S. (1969). Psychological Bulletin 72, 323-327, eq. 8.

    Examples
    --------
    >>> print(cohen_kappa([1, 2, 3, 3, 5], [1, 2, 3, 4, 4], weights="quadratic",
    ...                   levels=[1, 2, 3, 4, 5]))
    Cohen's kappa (quadratic) = 0.872, n = 5, k = 2
    """
    asked = AskedIntervals.of(ci, ("wald", "percentile"), level, n_resamples, seed)
    ratings = encode_pair(a, b, levels)
    # Places, not values: Cohen's weights count steps between levels.
    v = disagreement(weights, np.arange(len(ratings.levels), dtype=np.float64))
    table = _table(ratings)
    n = int(table.sum())
    reason = _reason(ratings, table, v)
    # As a stack of one: resamples go through the same lines.
    observed, expected = _shares(table[None], v) if n else (np.array([math.nan]),) * 2
    value = math.nan if reason else float(1 - observed[0] / expected[0])
    se = math.nan if reason else _standard_error(table / n, v, n)
    intervals: list[Interval] = []
    for method in asked:
        if method == "wald":
            intervals.append(normal_interval(value, se, level))
        else:
            values = np.array([]) if reason else _resampled(table, v, n_resamples, seed)
            intervals.append(percentile_interval(values, level, n))
    return Estimate(
        f"Cohen's kappa ({weights_name(weights)})",
        value,
        tuple(intervals),
        n,
        2,
        ratings.n - n,
        reason,
        outside(value),
        {
            "agreement": float(np.trace(table) / n) if n else math.nan,
            "observed": float(observed[0]),
            "expected": float(expected[0]),
            "se": se,
            "prevalence": (table.sum(0) + table.sum(1)) / (2 * n) if n else table.sum(0),
            "levels": ratings.levels,
        },
    )


def _table(ratings: Ratings) -> NDArray[np.int64]:
    """Items in each cell of the cross-table, counted as integers."""
    table = np.zeros((len(ratings.levels),) * 2, np.int64)
    cross_table(ratings.codes, table)
    return table


def _reason(ratings: Ratings, table: NDArray[np.int64], v: NDArray[np.float64]) -> str | None:
    if ratings.n == 0:
        return "no_data"
    if not table.any():
        return "no_pairable_item"
    rows, columns = table.sum(1) > 0, table.sum(0) > 0
    # On counts: rounding may leave an expected disagreement above 0 where none is possible.
    certain = not v[np.ix_(rows, columns)].any()
    return "zero_expected_disagreement" if certain else None


def _shares(
    tables: NDArray[np.int64], v: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Observed and expected weighted disagreement of each table in a stack (b, q, q)."""
    n = tables.sum((1, 2)).astype(np.float64)
    observed = np.einsum("bij,ij->b", tables, v) / n
    rows, columns = tables.sum(2) / n[:, None], tables.sum(1) / n[:, None]
    return observed, ((rows @ v) * columns).sum(1)


def _standard_error(P: NDArray[np.float64], v: NDArray[np.float64], n: int) -> float:
    """Fleiss, Cohen and Everitt (1969), eq. 8, not under the null hypothesis."""
    w = 1 - v
    rows, columns = P.sum(1), P.sum(0)
    expected = float(rows @ w @ columns)
    # Kappa once more, from agreement weights, in which the paper has its formula.
    left = 1 - (1 - (w * P).sum()) / (1 - expected)
    margins = (w @ columns)[:, None] + (rows @ w)[None, :]
    spread = (P * (w - margins * (1 - left)) ** 2).sum()
    square = (left - expected * (1 - left)) ** 2
    variance = float(spread - square)
    # Where the two cancel (a constant rater), what is left is their round-off: no variance.
    if variance <= 64 * np.finfo(np.float64).eps * float(spread):
        return 0.0
    return math.sqrt(variance / (n * (1 - expected) ** 2))


def _resampled(
    table: NDArray[np.int64], v: NDArray[np.float64], n_resamples: int, seed: int
) -> NDArray[np.float64]:
    """Kappa of each bootstrap resample over items; NaN where one certain level is left."""
    # Cells that no item shows are drawn by no resample: 5 x 5 levels have a few that count.
    cells = np.flatnonzero(table)
    drawn = []
    for counts in resampled_counts(table.ravel()[cells], n_resamples, seed):
        tables = np.zeros((len(counts), table.size), np.int64)
        tables[:, cells] = counts
        stack = tables.reshape(-1, *table.shape)
        observed, expected = _shares(stack, v)
        rows, columns = stack.sum(2) > 0, stack.sum(1) > 0
        defined = np.einsum("bi,ij,bj->b", rows, v > 0, columns) > 0
        ratio = np.full(len(counts), np.nan)
        np.divide(observed, expected, out=ratio, where=defined)
        drawn.append(1 - ratio)
    return np.concatenate(drawn)


def _table_in_numpy(codes: Any, table: Any) -> None:
    a, b = codes[(codes[:, :2] >= 0).all(axis=1), :2].T.astype(np.int64)
    table += np.bincount(a * len(table) + b, minlength=table.size).reshape(table.shape)


@njit(nogil=True, stand_in=_table_in_numpy)
def cross_table(codes: Any, table: Any) -> None:
    """Count pairs of codes of which both are there."""
    for i in range(codes.shape[0]):
        a, b = codes[i, 0], codes[i, 1]
        if a >= 0 and b >= 0:
            table[a, b] += 1
