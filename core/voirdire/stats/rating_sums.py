"""Coefficients as functions of sums over responses: what a stream of parts can add up.

A `SummedCoefficient` turns rows of ratings (`voirdire.stats.rating_patterns`) into columns whose
sums are all that it depends on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._forms import quotients
from voirdire.stats._results import Estimate, Interval
from voirdire.stats._weights import disagreement
from voirdire.stats.intervals import student_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

    Columns = Callable[[Floats], Floats]
    Statistic = Callable[[Floats], Floats]

#: Limits of agreement hold 95 % of differences.
_Z95 = 1.959963984540054
#: Levels of a scale whose agreement is counted level by level, at most.
MOST_LEVELS = 41


@dataclass(frozen=True, slots=True)
class SummedCoefficient:
    """A coefficient as a smooth function of summed columns.

    Attributes
    ----------
    name : str
        As the in-memory coefficient is called.
    columns : callable
        (n, R) ratings -> (n, F), rows that do not count being 0.
    statistic : callable
        (..., F) sums -> (...,) values, NaN where undefined.
    counted : callable
        Sums -> how many responses stand behind the value.
    reason : str
        Why it is undefined where it is.
    """

    name: str
    columns: Columns
    statistic: Statistic
    reason: str = "zero_variance"

    def value(self, sums: Floats) -> float:
        """The coefficient of all."""
        # A quotient of 0 is NaN here, which `reason` explains.
        with np.errstate(all="ignore"):
            return float(self.statistic(sums))

    def slopes(self, sums: Floats) -> Floats:
        """(F,) how the coefficient moves with each sum, by central differences."""
        scale = max(float(np.abs(sums).max(initial=0.0)), 1.0)
        # The cube root of float64's precision: there rounding and curvature err alike. A sum of 0
        # takes the step of a small one.
        step = np.maximum(np.abs(sums), 1e-3 * scale) * 1e-5
        moved = np.diag(step)
        with np.errstate(all="ignore"):
            slope = (self.statistic(sums + moved) - self.statistic(sums - moved)) / (2 * step)
        return np.where(np.isfinite(slope), slope, 0.0)


def summed_coefficient(name: str, raters: int, levels: Sequence[float] | None) -> SummedCoefficient:
    """The coefficient of that name, for so many raters.

    Parameters
    ----------
    name : str
        Over all raters: icc_1, icc_c1, icc_a1, icc_1k, icc_ck, icc_ak, alpha_nominal,
        alpha_ordinal, alpha_interval, alpha_ratio, fleiss, ac1, ac2, bp, agreement; of two: cohen,
        qwk, ccc, pearson, bias, loa_low, loa_high, mae, rmse, f1.
    levels : sequence of float or None
        The declared levels in their order; None where scores lie between them.

    Raises
    ------
    StatisticsError
        A name that is not one of these; levels are needed and not there, or too many.

    Examples
    --------
    >>> ccc = summed_coefficient("ccc", 2, None)
    >>> print(round(ccc.value(ccc.columns(np.array([[1.0, 1], [2, 3], [3, 3]])).sum(axis=0)), 4))
    0.8
    """
    if name in _MOMENTS:
        return _MOMENTS[name](raters)
    if name not in _LEVELLED:
        raise StatisticsError(f"{name!r} is no coefficient of sums")
    if levels is None or len(levels) > MOST_LEVELS:
        have = "scores lie between the levels" if levels is None else f"{len(levels)} levels"
        raise StatisticsError(f"{name} counts levels, and {have}")
    return _LEVELLED[name](np.asarray(levels, dtype=np.float64))


def _complete(scores: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(scores).any(axis=1))


def _icc_columns(scores: Floats) -> Floats:
    """Complete rows: 1, each rater's score, the sum of squares, the square of the sum."""
    there = _complete(scores)
    x = np.where(there[:, None], scores, 0.0)
    total = x.sum(axis=1)
    return np.concatenate(
        [there[:, None] * 1.0, x, (x**2).sum(axis=1)[:, None], (total**2)[:, None]], axis=1
    )


def icc_squares(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean squares of rows, raters and error from the sums (..., k + 3) of an ICC."""
    n, raters, square, rows = sums[..., 0], sums[..., 1:-2], sums[..., -2], sums[..., -1]
    k = raters.shape[-1]
    mean = raters.mean(axis=-1)
    level = k * mean**2 / n
    # Differences of sums are exact where scores are whole steps; those of squares would cancel.
    columns = ((raters - mean[..., None]) ** 2).sum(axis=-1) / n
    between = rows / k - level
    error = square - level - between - columns
    return between / (n - 1), columns / (k - 1), error / ((n - 1) * (k - 1))


def _icc_value(form: str, k: int, sums: Floats) -> Floats:
    n, rows = sums[..., 0], sums[..., -1]
    squares = icc_squares(sums)
    parts = quotients((form,), k)[0]
    above, below = (
        sum((line[at, 0] + line[at, 1] / n) * squares[at] for at in range(3)) for line in parts
    )
    return above / np.where(np.abs(below) > 1e-14 * rows / n, below, np.nan)


def _pair_columns(scores: Floats) -> Floats:
    """1, x, y, x², y², xy, |y - x| of rows with both."""
    there = _complete(scores)
    x, y = np.where(there[:, None], scores, 0.0).T
    return np.stack([there * 1.0, x, y, x * x, y * y, x * y, np.abs(y - x)], axis=1)


def _spread(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Difference of means, sums of squares about the means, and of products."""
    n, x, y, xx, yy, xy, _ = (sums[..., at] for at in range(7))
    return y / n - x / n, xx - x * x / n, yy - y * y / n, xy - x * y / n


def _ccc(sums: Floats) -> Floats:
    shift, xx, yy, xy = _spread(sums)
    whole = xx + yy + sums[..., 0] * shift**2
    # n cancels: moments over n, as `ccc` has them.
    return 2 * xy / np.where(whole > 0, whole, np.nan)


def _pearson(sums: Floats) -> Floats:
    _, xx, yy, xy = _spread(sums)
    whole = xx * yy
    return xy / np.sqrt(np.where(whole > 0, whole, np.nan))


def _bias(sums: Floats) -> Floats:
    return _spread(sums)[0]


def _limit(side: int, sums: Floats) -> Floats:
    shift, xx, yy, xy = _spread(sums)
    # Round-off may leave the variance of equal raters a little below 0.
    return shift + side * _Z95 * np.sqrt(np.maximum(xx + yy - 2 * xy, 0) / (sums[..., 0] - 1))


def _mae(sums: Floats) -> Floats:
    return sums[..., 6] / sums[..., 0]


def _rmse(sums: Floats) -> Floats:
    return np.sqrt(np.maximum(sums[..., 3] + sums[..., 4] - 2 * sums[..., 5], 0) / sums[..., 0])


def _unit_columns(scores: Floats) -> Floats:
    """Interval alpha: of rows with two ratings or more, m, Σx, Σx² and the disagreement inside."""
    m = (~np.isnan(scores)).sum(axis=1)
    used = m > 1
    x = np.where(np.isnan(scores) | ~used[:, None], 0.0, scores)
    total, square, m = x.sum(axis=1), (x * x).sum(axis=1), np.where(used, m, 0)
    # Squared differences of the row's ordered pairs, each over m - 1.
    inside = 2 * (m * square - total**2) / np.maximum(m - 1, 1)
    return np.stack([m * 1.0, total, square, inside], axis=1)


def _interval_alpha(sums: Floats) -> Floats:
    n, total, square, inside = (sums[..., at] for at in range(4))
    expected = 2 * (n * square - total**2)
    return 1 - (n - 1) * inside / np.where(expected > 0, expected, np.nan)


def _moment_forms() -> dict[str, Callable[[int], SummedCoefficient]]:
    def icc(form: str, raters: int) -> SummedCoefficient:
        """ICC of one form, over responses that all have rated."""
        return SummedCoefficient(
            f"ICC({form})", _icc_columns, partial(_icc_value, form, raters), "zero_variance"
        )

    def two(name: str, statistic: Statistic, _raters: int) -> SummedCoefficient:
        """A coefficient of two raters, from the moments of their pairs."""
        return SummedCoefficient(name, _pair_columns, statistic)

    def alpha(_raters: int) -> SummedCoefficient:
        """Krippendorff's alpha for intervals, which needs no levels."""
        return SummedCoefficient(
            "alpha (interval)", _unit_columns, _interval_alpha, "zero_expected_disagreement"
        )

    forms = {
        "icc_1": "1",
        "icc_c1": "C,1",
        "icc_a1": "A,1",
        "icc_1k": "1,k",
        "icc_ck": "C,k",
        "icc_ak": "A,k",
    }
    pairs: dict[str, tuple[str, Statistic]] = {
        "bias": ("bias", _bias),
        "mae": ("MAE", _mae),
        "rmse": ("RMSE", _rmse),
        "loa_low": ("lower limit of agreement", partial(_limit, -1)),
        "loa_high": ("upper limit of agreement", partial(_limit, 1)),
        "ccc": ("CCC", _ccc),
        "pearson": ("Pearson r", _pearson),
    }
    return {
        **{name: partial(icc, form) for name, form in forms.items()},
        **{name: partial(two, *named) for name, named in pairs.items()},
        "alpha_interval": alpha,
    }


_MOMENTS = _moment_forms()


def _level_counts(levels: Floats, scores: Floats) -> Floats:
    """(n, q) how many raters gave each level."""
    return np.stack([(scores == level).sum(axis=1) for level in levels], axis=1) * 1.0


def _coincidences(levels: Floats, scores: Floats) -> Floats:
    """(n, q²) of rows with two ratings or more: pairs of levels within the row, over m - 1."""
    counts = _level_counts(levels, scores)
    m = counts.sum(axis=1)
    # Ordered pairs of two different raters: a level's own count less the rating itself.
    pairs = counts[:, :, None] * (counts[:, None, :] - np.eye(len(levels)))
    return (pairs / np.maximum(m - 1, 1)[:, None, None]).reshape(len(counts), -1)


def _metric(metric: str, levels: Floats, share: Floats) -> Floats:
    """(..., q, q) squared differences of levels; ordinal ones depend on the ratings of each."""
    if metric == "nominal":
        return 1 - np.eye(len(levels))
    if metric == "ordinal":
        # The interval metric on mid-ranks: the ratings below, and half of one's own.
        ranks = np.cumsum(share, axis=-1) - share / 2
        return (ranks[..., :, None] - ranks[..., None, :]) ** 2
    a, b = levels[:, None], levels[None, :]
    if metric == "ratio":
        return ((a - b) / np.where(a + b == 0, 1.0, a + b)) ** 2
    return (a - b) ** 2


def _counted_alpha(metric: str, levels: Floats, sums: Floats) -> Floats:
    q = len(levels)
    pairs = sums.reshape(*sums.shape[:-1], q, q)
    share = pairs.sum(axis=-1)
    n, far = share.sum(axis=-1), _metric(metric, levels, share)
    observed = (pairs * far).sum(axis=(-1, -2))
    expected = (share[..., :, None] * share[..., None, :] * far).sum(axis=(-1, -2))
    return 1 - (n - 1) * observed / np.where(expected > 0, expected, np.nan)


def _gwet_columns(levels: Floats, far: Floats, scores: Floats) -> Floats:
    """Disagreement of the row's pairs, whether it has any, its shares of levels, whether rated."""
    counts = _level_counts(levels, scores)
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    clash = np.einsum("pc,ck,pk->p", counts, far, counts)
    return np.column_stack(
        [clash / np.maximum(pairs, 1), pairs > 0, counts / np.maximum(m, 1)[:, None], m > 0]
    )


def _gwet(kind: str, far: Floats, sums: Floats) -> Floats:
    observed = sums[..., 0] / sums[..., 1]
    if kind == "agreement":
        return 1 - observed
    share, q = sums[..., 2:-1] / sums[..., -1:], len(far)
    if kind == "fleiss":
        expected = ((share @ far) * share).sum(axis=-1)
    elif kind == "bp":
        expected = np.full(share.shape[:-1], far.sum() / (q * q))
    else:
        scale = (q * q - far.sum()) / (q * (q - 1)) if q > 1 else 1.0
        expected = float(q > 1) - scale * (share * (1 - share)).sum(axis=-1)
    return 1 - observed / np.where(expected > 0, expected, np.nan)


def _joint(levels: Floats, scores: Floats) -> Floats:
    """(n, q²) the cell of rows with both ratings."""
    joint = (scores[:, :1] == levels)[:, :, None] & (scores[:, 1:] == levels)[:, None, :]
    return joint.reshape(len(scores), -1) * 1.0


def _cohen(far: Floats, sums: Floats) -> Floats:
    q = len(far)
    table = sums.reshape(*sums.shape[:-1], q, q)
    n = table.sum(axis=(-1, -2))
    rows, columns = table.sum(axis=-1), table.sum(axis=-2)
    expected = ((rows @ far) * columns).sum(axis=-1)
    return 1 - n * (table * far).sum(axis=(-1, -2)) / np.where(expected > 0, expected, np.nan)


def _f1(q: int, sums: Floats) -> Floats:
    """F1 of the upper of two levels; of more levels the mean over those that occur."""
    table = sums.reshape(*sums.shape[:-1], q, q)
    hit = np.einsum("...ii->...i", table)
    whole = table.sum(axis=-1) + table.sum(axis=-2)
    each = 2 * hit / np.where(whole > 0, whole, np.nan)
    return each[..., -1] if q == 2 else np.nanmean(each, axis=-1)


def _levelled_forms() -> dict[str, Callable[[Floats], SummedCoefficient]]:
    certain = "zero_expected_disagreement"

    def alpha(metric: str, levels: Floats) -> SummedCoefficient:
        """Krippendorff's alpha of one metric, from coincidences of levels."""
        return SummedCoefficient(
            f"alpha ({metric})",
            partial(_coincidences, levels),
            partial(_counted_alpha, metric, levels),
            certain,
        )

    def gwet(kind: str, name: str, weights: Any, levels: Floats) -> SummedCoefficient:
        """Gwet's coefficients and their kin, from how often each level was given."""
        far = disagreement(weights, levels)
        return SummedCoefficient(
            name, partial(_gwet_columns, levels, far), partial(_gwet, kind, far), certain
        )

    def cohen(name: str, weights: Any, levels: Floats) -> SummedCoefficient:
        """Cohen's kappa, from the table of two raters' levels."""
        far = disagreement(weights, levels)
        return SummedCoefficient(name, partial(_joint, levels), partial(_cohen, far), certain)

    def f1(levels: Floats) -> SummedCoefficient:
        """F1 of the upper of two levels, or macro-F1 of several."""
        return SummedCoefficient(
            "F1" if len(levels) == 2 else "macro-F1",
            partial(_joint, levels),
            partial(_f1, len(levels)),
            "no_data",
        )

    return {
        **{f"alpha_{metric}": partial(alpha, metric) for metric in ("nominal", "ordinal", "ratio")},
        "fleiss": partial(gwet, "fleiss", "Fleiss' kappa (unweighted)", None),
        "ac1": partial(gwet, "ac", "AC1", None),
        "ac2": partial(gwet, "ac", "AC2 (quadratic)", "quadratic"),
        "bp": partial(gwet, "bp", "Brennan-Prediger (unweighted)", None),
        "agreement": partial(gwet, "agreement", "joint agreement", None),
        "cohen": partial(cohen, "Cohen's kappa (unweighted)", None),
        "qwk": partial(cohen, "Cohen's kappa (quadratic)", "quadratic"),
        "f1": f1,
    }


_LEVELLED = _levelled_forms()


def delta_interval(value: float, square: float, clusters: int, level: float) -> Interval:
    """The t interval of a linearised coefficient, from the sum of squared cluster sums.

    The linearised values sum to about 0, so that ``G / (G - 1) square`` estimates the variance of
    their sum; see `voirdire.stats.sums.jackknife`, which it approaches as clusters grow.
    """
    if clusters < 2 or not math.isfinite(value):
        return Interval("cluster_delta", level, math.nan, math.nan)
    se = math.sqrt(clusters / (clusters - 1) * square)
    return student_interval(value, se, clusters - 1, level, "cluster_delta")


def poisson_interval(values: Floats, level: float) -> Interval:
    """Percentiles of a coefficient over Poisson-weighted replicates."""
    kept = values[np.isfinite(values)]
    # Percentiles of those that are defined would say nothing of the others.
    if len(kept) < len(values) or not len(kept):
        return Interval("poisson", level, math.nan, math.nan)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval("poisson", level, float(low), float(high))


def summed_estimate(
    coefficient: SummedCoefficient,
    value: float,
    intervals: Sequence[Interval],
    *,
    n: int,
    k: int,
    left_out: int = 0,
    details: dict[str, Any] | None = None,
) -> Estimate:
    """The result of a coefficient of sums."""
    reason = coefficient.reason if math.isnan(value) else None
    kept = () if reason else tuple(intervals)
    return Estimate(
        coefficient.name, value, kept, n, k, left_out, reason, details=dict(details or {})
    )
