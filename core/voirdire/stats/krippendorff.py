"""Krippendorff's alpha: agreement of any number of raters, with missing ratings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.late import dataclass
from voirdire.stats._jit import interpreted, njit
from voirdire.stats._patterns import (
    DistinctRows,
    collapse,
    one_item_less,
    resampled_counts,
    uncollapsed,
)
from voirdire.stats._ratings import Ratings, as_is, encode
from voirdire.stats._results import Estimate, Interval
from voirdire.stats._weights import matrix_of
from voirdire.stats.intervals import (
    AskedIntervals,
    jackknife_error,
    jackknife_interval,
    outside,
    percentile_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Metric = Literal["nominal", "ordinal", "interval", "ratio"]


#: Metrics as kernels know them: the first three have sums in closed form.
_NOMINAL, _ORDINAL, _INTERVAL, _RATIO, _MATRIX = range(5)
_METRICS = {"nominal": _NOMINAL, "ordinal": _ORDINAL, "interval": _INTERVAL, "ratio": _RATIO}
#: Values beyond these are scaled before they are squared.
_HUGE, _TINY = 1e100, 1e-100
#: More levels than these are not listed in the details.
_READABLE = 64


@dataclass(frozen=True, slots=True)
class _Pairable:
    """Pairable patterns and the metric they are judged by."""

    patterns: DistinctRows
    values: NDArray[np.float64]
    matrix: NDArray[np.float64]
    metric: int

    def parts(self, weights: NDArray[np.int64]) -> NDArray[np.float64]:
        """Ratings, observed and expected disagreement for each row of pattern weights."""
        out = np.zeros((len(weights), 3))
        given = (self.patterns.rows, self.patterns.sizes, weights, self.values)
        if self.metric <= _INTERVAL:
            alpha_parts(*given, self.metric, out)
        else:
            alpha_pairs(*given, self.matrix, self.metric, out)
        return out


def krippendorff_alpha(
    R: ArrayLike,
    metric: Metric | ArrayLike = "ordinal",
    *,
    levels: Sequence[Any] | None = None,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    r"""Krippendorff's alpha.

    .. math:: \alpha = 1 - D_o / D_e

    with observed disagreement :math:`D_o`, the mean difference of two ratings of one item, and
    expected disagreement :math:`D_e`, the mean difference of any two ratings (without
    replacement). Items with fewer than two ratings are left out; no rating is filled in.

    Parameters
    ----------
    R : array_like, shape (n items, m raters)
        Numbers or words; NaN, None and masked cells are missing.
    metric : {"ordinal", "nominal", "interval", "ratio"} or array_like (q, q)
        How two ratings differ. A matrix holds the squared differences of the levels: symmetric,
        not negative, zero on the diagonal.
    levels : sequence, optional
        The declared levels, in their order. Without them the levels that occur stand in. Levels
        that are declared and unused change nothing.
    ci : {None, "percentile", "jackknife"} or several of them
        Bootstrap over items, the ordinal metric of each resample being its own; or t interval with
        the standard error of leaving out one item after the other, and as few degrees of freedom
        as the items that bear it (Satterthwaite 1946); its time grows with the square of the
        number of different items (two seconds for 10,000).
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        ``n`` items of two or more ratings, ``k`` raters, ``left_out`` other items; details hold
        ``observed`` and ``expected`` disagreement, the number of pairable ``ratings``, and ``se``
        where ``"jackknife"`` is asked; up to 64 ``levels`` with their ``prevalence``. NaN with
        ``zero_expected_disagreement`` where all pairable ratings are one value,
        ``no_pairable_item``, ``ratio_needs_nonnegative``, or ``no_data``.

    Raises
    ------
    StatisticsError
        For a rating that is not declared, a wrong shape, or a metric that the levels do not bear.

    Notes
    -----
    R's ``irr::kripp.alpha`` (0.84.1) is off on complete data of three or more raters (-0.0957 for
    -0.0648 on the table of Shrout and Fleiss, nominal). The ordinal metric is the interval metric
    on mid-ranks, so time and memory are linear in the ratings for all but the ratio metric, whose
    time grows with the square of the number of distinct values.

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability, sections C to E.
    Hayes, A. F. and Krippendorff, K. (2007). Communication Methods and Measures 1, 77-89.

    Examples
    --------
    >>> nan = float("nan")
    >>> R = [[1, 1, nan], [2, 3, 2], [3, 3, 3], [1, 2, 1], [nan, nan, 3]]
    >>> print(krippendorff_alpha(R, "ordinal", levels=[1, 2, 3]))
    alpha (ordinal) = 0.773, n = 4, k = 3
    """
    asked = AskedIntervals.of(ci, ("percentile", "jackknife"), level, n_resamples, seed)
    name = metric if isinstance(metric, str) else "matrix"
    if name not in {*_METRICS, "matrix"}:
        raise not_one_of("metric", metric, (*_METRICS, "a matrix"), error=StatisticsError)
    ratings = _coded(R, metric, levels)
    problem = _problem(ratings, metric)
    reason = _reason(problem, ratings)
    observed, expected, pairable = math.nan, math.nan, 0
    if reason is None:
        total, observed, expected = problem.parts(problem.patterns.counts[None])[0].tolist()
        pairable = int(total)
        reason = "zero_expected_disagreement" if expected == 0 else None
    value = math.nan if reason else 1 - observed / expected
    n = problem.patterns.n
    counts = problem.patterns.counts
    left = np.full(len(counts), math.nan)
    if "jackknife" in asked and not reason:
        left = _one_left_out(problem)
    intervals: list[Interval] = []
    for method in asked:
        if method == "jackknife":
            # Of other metrics the largest difference depends on the scale's ends, which nobody need
            # have used.
            worst = 1 / expected if name == "nominal" and not reason else math.nan
            intervals.append(jackknife_interval(value, left, counts, level, worst))
        else:
            values = np.array([]) if reason else _resampled(problem, n_resamples, seed)
            intervals.append(percentile_interval(values, level, n))
    return Estimate(
        f"alpha ({name})",
        value,
        tuple(intervals),
        n,
        ratings.m,
        ratings.n - n,
        reason,
        outside(value),
        {"observed": observed, "expected": expected, "ratings": pairable}
        | {"se": jackknife_error(left, counts)[0]}
        | _prevalence(problem.patterns, ratings),
    )


def _coded(R: ArrayLike, metric: Metric | ArrayLike, levels: Sequence[Any] | None) -> Ratings:
    """Codes on levels; interval ratings of many undeclared values need none."""
    # Ten million measurements have as many levels; the interval metric needs their values alone.
    if isinstance(metric, str) and metric == "interval" and levels is None:
        ratings = as_is(R)
        if ratings is not None:
            return ratings
    return encode(R, levels)


def _problem(ratings: Ratings, metric: Metric | ArrayLike) -> _Pairable:
    q = len(ratings.levels)
    every = collapse(ratings.codes, q) if ratings.coded else uncollapsed(ratings.codes)
    patterns = every.keep(2)  # one rating alone makes no pair
    none = np.zeros((0, 0))
    if not isinstance(metric, str):
        return _Pairable(patterns, np.arange(q, dtype=float), _differences(metric, q), _MATRIX)
    if metric in {"interval", "ratio"} and q:
        values = ratings.values(f"the {metric} metric")
        largest = np.nanmax(np.abs(values), initial=0.0)
        # Squares would overflow or vanish, and neither metric sees a common scale.
        if largest > _HUGE or 0 < largest < _TINY:
            values = values / largest
    else:
        values = np.arange(q, dtype=float)
    return _Pairable(patterns, values, none, _METRICS[metric])


def _differences(metric: ArrayLike, q: int) -> NDArray[np.float64]:
    """A matrix of squared differences, checked."""
    matrix = matrix_of(metric, "the metric's matrix")
    if matrix.shape != (q, q):
        raise StatisticsError(f"the metric's matrix must be ({q}, {q}), got {matrix.shape}")
    if not (matrix == matrix.T).all() or (matrix < 0).any() or np.diag(matrix).any():
        raise StatisticsError(
            "the metric's matrix must be symmetric, not negative, and zero on the diagonal"
        )
    return matrix


def _prevalence(patterns: DistinctRows, ratings: Ratings) -> dict[str, Any]:
    """Share of each level among pairable ratings, where levels are few enough to read."""
    q = len(ratings.levels)
    if not ratings.coded or q > _READABLE:
        return {}
    totals = patterns.counts.astype(np.float64) @ patterns.table(q)
    return {"prevalence": totals / max(1.0, totals.sum()), "levels": ratings.levels}


def _reason(problem: _Pairable, ratings: Ratings) -> str | None:
    """Why alpha is undefined before anything is computed."""
    if ratings.codes.size == 0:
        return "no_data"
    if problem.patterns.n == 0:
        return "no_pairable_item"
    if problem.metric == _RATIO:
        used = np.unique(problem.patterns.rows)
        # Of the levels that occur: a declared level below 0 that nobody used does no harm.
        if (problem.values[used[used >= 0]] < 0).any():
            return "ratio_needs_nonnegative"
    return None


def _resampled(problem: _Pairable, n_resamples: int, seed: int) -> NDArray[np.float64]:
    """Alpha of each bootstrap resample over items; NaN where undefined."""
    blocks = [
        _alphas(problem.parts(counts))
        for counts in resampled_counts(problem.patterns.counts, n_resamples, seed)
    ]
    return np.concatenate(blocks)


def _alphas(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    ratio = np.full(len(parts), np.nan)
    np.divide(parts[:, 1], parts[:, 2], out=ratio, where=parts[:, 2] > 0)
    return 1 - ratio


def _one_left_out(problem: _Pairable) -> NDArray[np.float64]:
    """Alpha without one item of each pattern; NaN where that leaves nothing."""
    blocks = one_item_less(problem.patterns.counts)
    return np.concatenate([_alphas(problem.parts(weights)) for weights in blocks])


@interpreted(error_model="numpy")
def _category_counts(rows: Any, sizes: Any, weights: Any, q: int) -> Any:
    counts = np.zeros(q, np.float64)
    for u in range(sizes.size):
        if weights[u] > 0:
            for j in range(sizes[u]):
                counts[rows[u, j]] += weights[u]
    return counts


@interpreted(error_model="numpy")
def _to_mid_ranks(counts: Any) -> None:
    """In place: the ordinal metric is the interval metric on mid-ranks."""
    below = 0.0
    for c in range(counts.size):
        here = counts[c]
        # Krippendorff's ordinal differences are those of the ratings below and half of one's own
        # level.
        counts[c] = below + here / 2.0
        below += here


@njit(error_model="numpy")
def _difference(a: Any, b: Any, values: Any, matrix: Any, metric: Any) -> Any:
    """Squared difference of two categories under the ratio metric or a given matrix."""
    if metric == _MATRIX:
        return matrix[a, b]
    total = values[a] + values[b]
    # 0 and 0 do not differ, though the quotient is 0 / 0.
    return 0.0 if total == 0.0 else ((values[a] - values[b]) / total) ** 2


@interpreted(error_model="numpy")
def _nominal(rows: Any, sizes: Any, weights: Any, counts: Any) -> Any:
    """Sums of disagreeing pairs, within items (each over m - 1) and overall."""
    within = 0.0
    for u in range(sizes.size):
        if weights[u] == 0:
            continue
        size = sizes[u]
        same, run = 0, 0
        for j in range(size):
            # Codes of a row are sorted, so equal ones stand in runs.
            run = run + 1 if j > 0 and rows[u, j] == rows[u, j - 1] else 1
            same += 2 * (run - 1)
        within += weights[u] * ((size * (size - 1) - same) / (size - 1))
    total, squares = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c]
        squares += counts[c] * counts[c]
    return within, total * total - squares


@interpreted(error_model="numpy")
def _squared(rows: Any, sizes: Any, weights: Any, values: Any) -> Any:
    """Sums of squared differences of pairs in closed form: no loop over pairs of values."""
    total, mean = 0.0, 0.0
    for u in range(sizes.size):
        if weights[u] > 0:
            for j in range(sizes[u]):
                total += weights[u]
                mean += weights[u] * values[rows[u, j]]
    # About the mean: sums of raw squares of scores far from 0 would cancel.
    mean /= total
    within, overall = 0.0, 0.0
    for u in range(sizes.size):
        if weights[u] == 0:
            continue
        size, centre, spread = sizes[u], 0.0, 0.0
        for j in range(size):
            centre += values[rows[u, j]]
        centre /= size
        for j in range(size):
            value = values[rows[u, j]]
            spread += (value - centre) ** 2
            overall += weights[u] * (value - mean) ** 2
        # Over ordered pairs Σ (x - y)² = 2 m Σ (x - mean)², by Lagrange's identity.
        within += weights[u] * (2.0 * size * spread / (size - 1))
    return within, 2.0 * total * overall


@njit(error_model="numpy")
def _paired(
    rows: Any, sizes: Any, weights: Any, counts: Any, values: Any, matrix: Any, metric: Any
) -> Any:
    """Sums of differences of pairs where no closed form exists."""
    within, overall = 0.0, 0.0
    for u in range(sizes.size):
        if weights[u] == 0:
            continue
        part = 0.0
        for i in range(sizes[u]):
            for j in range(i):
                part += 2.0 * _difference(rows[u, i], rows[u, j], values, matrix, metric)
        within += weights[u] * (part / (sizes[u] - 1))
    for a in range(counts.size):
        if counts[a] == 0:
            continue
        for b in range(a):
            if counts[b] > 0:
                delta = _difference(a, b, values, matrix, metric)
                overall += 2.0 * counts[a] * counts[b] * delta
    return within, overall


@interpreted(error_model="numpy")
def _varies(rows: Any, sizes: Any, weights: Any, values: Any) -> Any:
    """Whether two different values stand in patterns that were drawn."""
    first = np.nan
    for u in range(sizes.size):
        if weights[u] > 0:
            for j in range(sizes[u]):
                value = values[rows[u, j]]
                if first != first:  # noqa: PLR0124 - only NaN differs from itself
                    first = value
                elif value != first:
                    return True
    return False


@interpreted(error_model="numpy")
def _ratings(sizes: Any, weights: Any) -> Any:
    total = 0.0
    for u in range(sizes.size):
        total += weights[u] * sizes[u]
    return total


@interpreted(error_model="numpy")
def alpha_parts(rows: Any, sizes: Any, weights: Any, values: Any, metric: Any, out: Any) -> None:
    """For each row of weights over patterns: ratings, observed and expected disagreement.

    Nominal, ordinal and interval metrics, which have closed forms. Expected disagreement is
    exactly 0 where one value occurs, never a rounding error.
    """
    for b in range(weights.shape[0]):
        w = weights[b]
        total = _ratings(sizes, w)
        out[b, 0] = total
        # By the values themselves: a sum of squares may round to a little above 0.
        if total == 0 or not _varies(rows, sizes, w, values):
            continue
        if metric == _INTERVAL:
            within, overall = _squared(rows, sizes, w, values)
        else:
            counts = _category_counts(rows, sizes, w, values.size)
            if metric == _NOMINAL:
                within, overall = _nominal(rows, sizes, w, counts)
            else:
                _to_mid_ranks(counts)
                within, overall = _squared(rows, sizes, w, counts)
        out[b, 1] = within / total
        # Pairs are drawn without replacement: a rating is no partner of itself.
        out[b, 2] = overall / (total * (total - 1.0))


@njit(error_model="numpy")
def alpha_pairs(
    rows: Any, sizes: Any, weights: Any, values: Any, matrix: Any, metric: Any, out: Any
) -> None:
    """As `alpha_parts`, for the ratio metric and for a matrix of differences."""
    for b in range(weights.shape[0]):
        w = weights[b]
        total = _ratings(sizes, w)
        out[b, 0] = total
        if total == 0 or not _varies(rows, sizes, w, values):
            continue
        counts = _category_counts(rows, sizes, w, values.size)
        within, overall = _paired(rows, sizes, w, counts, values, matrix, metric)
        out[b, 1] = within / total
        out[b, 2] = overall / (total * (total - 1.0))
