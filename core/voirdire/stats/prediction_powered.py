"""The mean that humans would have given: many judge scores corrected by few human labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats._results import REASONS, Estimate, Interval, Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

Method = Literal["t", "normal"]
#: Relative size under which a spread is rounding.
_STILL = 1e-12
#: Labelled clusters from which the judge is given a weight; under it the labels stand alone.
_FEWEST = 4
#: Share of labels at one end of the scale from which their own spread is not trusted alone.
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class Corrected(Result):
    """A mean on the humans' scale, from labels and judge scores together.

    Attributes
    ----------
    value : float
        ``weight * mean(judge, unlabelled) + mean(label - weight * judge, labelled)``; NaN where
        undefined, with `reason`.
    interval : Interval or None
        Method ``"prediction_powered_t"`` or ``"prediction_powered_normal"``.
    standard_error, df : float
        Of `value`; degrees of freedom of its t interval.
    weight : float
        How far the judge is used, in [0, 1]; at 0 the value is the labels' own mean.
    human, judge : Estimate
        The labels alone, and the judge alone on all items with the interval it would claim.
    correlation : float
        Of label and judge on the labelled items (on sums by cluster, where clusters are given).
    worth : Estimate
        Labels that would be as precise without the judge: ``n / (1 - r^2 N / (N + n))``.
    n_labelled, n_unlabelled, n_unjudged : int
        Items with a label; items with a judge score alone; items that the judge did not score,
        for which its mean stands (any stand-in leaves the estimate unbiased).
    n_clusters : int
        Labelled clusters; items where no clusters are given.
    reason : str or None
        A key of `REASONS`.
    """

    value: float
    interval: Interval | None
    standard_error: float
    df: float
    weight: float
    human: Estimate
    judge: Estimate
    correlation: float
    worth: Estimate
    n_labelled: int
    n_unlabelled: int
    n_unjudged: int
    n_clusters: int
    reason: str | None = None

    def __str__(self) -> str:
        """One line, as a paper would print it."""
        if self.interval is None:
            return f"corrected mean undefined: {REASONS.get(self.reason or '', self.reason)}"
        return (
            f"corrected mean = {self.value:.3f}, {self.interval}, {self.n_labelled} labels, "
            f"{self.n_unlabelled} judged only"
        )


def prediction_powered_mean(
    labels: Any,
    judge: Any,
    *,
    clusters: Any = None,
    probabilities: Any = None,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
    method: Method = "t",
) -> Corrected:
    r"""The mean label of all items, labels being known for a random part of them.

    :math:`\hat\theta = \lambda \bar f_N + \overline{(y - \lambda f)}_n` with
    :math:`\lambda = \mathrm{clip}(\mathrm{Cov}(y, f) / ((1 + n/N) \mathrm{Var} f), 0, 1)`, variance
    :math:`\lambda^2 \mathrm{Var}(f)/N + v`, and t with n - 2 degrees of freedom (n - 1 where lambda
    is 0). v is the variance of the second part by leaving out each label in turn and fitting lambda
    anew: :math:`s^2(y - \lambda f)/n` forgets that lambda was fitted to the same labels. Where the
    labels' part is skewed (third central moment :math:`\mu_3` by the same leaving out), the
    interval is moved by :math:`\mu_3 (1 + 2 z^2) / (6 v)` and keeps its width.

    Parameters
    ----------
    labels : array-like, shape (M,)
        Human scores; NaN or None where nobody was asked.
    judge : array-like, shape (M,)
        The judge's score of the same items; NaN where it gave none.
    clusters : array-like, shape (M,), optional
        What each item belongs to (a dialogue). Variances and the weight then rest on sums by
        cluster, with labelled clusters - 2 degrees of freedom.
    probabilities : array-like, shape (M,), optional
        The known probability in (0, 1] with which each item was chosen to be labelled, where these
        differ; labels then weigh by its inverse. Without them labels must be a random part.
    scale : (low, high), optional
        The ends of the scale. Where nine in ten labels lie at one of them, half a pseudo-label at
        each end enters the variance, so that labels that happen to agree claim no certainty.
    level : float
        Nominal coverage.
    method : {"t", "normal"}
        ``"normal"`` is the interval as published (normal quantiles, :math:`s^2(y - \lambda f)/n`,
        variances with divisor n).

    Returns
    -------
    Corrected
        Reason no_data without a label, too_few_items where no interval can be given.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite; probabilities outside (0, 1]; labels off
        the scale.

    Examples
    --------
    >>> from voirdire.stats import prediction_powered_mean
    >>> labels = [4, 2, 5, 3, 4] + [None] * 5
    >>> judge = [5, 3, 5, 4, 4, 3, 5, 4, 2, 5]
    >>> found = prediction_powered_mean(labels, judge)
    >>> round(found.value, 3), round(found.weight, 3), found.n_labelled
    (3.447, 0.382, 5)

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, arXiv:2311.01453, for the weight. The t quantile,
    the clip and the rule at the ends of the scale are ours (docs/correct.md says how they were
    tested). Johnson (1978), J. Am. Stat. Assoc. 73, 536-544, for the move of the interval, with the
    squared deviation at its bounds. Clusters: Cochran (1977), Sampling Techniques, eq. 6.13 and
    9A.6.
    """
    data = _data(labels, judge, clusters, probabilities, scale)
    return _corrected(data, _fit(data, method), level, method)


def prediction_powered_means(
    labels: Any,
    judge: Any,
    groups: Any,
    *,
    clusters: Any = None,
    probabilities: Any = None,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
    method: Method = "t",
) -> dict[Any, Corrected]:
    """`prediction_powered_mean` of each group (system), none with a spread below the pooled one.

    A group whose few labels happen to agree would claim an interval of no width. Its standard
    error is therefore the larger of its own and that by the spread pooled over the groups.

    Parameters
    ----------
    labels, judge, clusters, probabilities, scale, level, method
        As `prediction_powered_mean`.
    groups : array-like, shape (M,)
        The system of each item. With a single group the rule of `scale` holds instead.

    Returns
    -------
    dict
        Group -> Corrected, in the order of first appearance.

    Raises
    ------
    StatisticsError
        As `prediction_powered_mean`.

    Examples
    --------
    >>> from voirdire.stats import prediction_powered_means
    >>> labels = [4, 2, 3, None, None, 5, 5, 5, None, None]
    >>> judge = [4, 3, 3, 4, 2, 5, 5, 5, 4, 5]
    >>> found = prediction_powered_means(labels, judge, ["a"] * 5 + ["b"] * 5)
    >>> {name: round(one.standard_error, 3) for name, one in found.items()}
    {'a': 0.577, 'b': 0.408}

    References
    ----------
    As `prediction_powered_mean`; pooling the spread is ours (see docs/correct.md).
    """
    data = _data(labels, judge, clusters, probabilities, scale)
    names = row_names(groups, len(data.labels), "groups")
    parts = {name: data.part(names == name) for name in dict.fromkeys(names.tolist())}
    if len(parts) == 1:
        return {name: _corrected(p, _fit(p, method), level, method) for name, p in parts.items()}
    fits = {name: _fit(part, method, alone=False) for name, part in parts.items()}
    pooled = _pooled(parts, fits)
    return {
        name: _corrected(part, fits[name].at_least(part, pooled), level, method)
        for name, part in parts.items()
    }


def prediction_powered_difference(
    labels_a: Any,
    judge_a: Any,
    labels_b: Any,
    judge_b: Any,
    *,
    clusters: Any = None,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
    method: Method = "t",
) -> Corrected:
    """How much higher humans would have scored A than B on the same items.

    The mean of the items' differences: an item is labelled where both of its responses are.

    Parameters
    ----------
    labels_a, judge_a, labels_b, judge_b : array-like, shape (M,)
        Two systems' scores, a row an item; NaN where there is none.
    clusters, scale, level, method
        As `prediction_powered_mean`; `scale` is that of a single label.

    Returns
    -------
    Corrected
        Of A - B.

    Raises
    ------
    StatisticsError
        As `prediction_powered_mean`.

    Examples
    --------
    >>> from voirdire.stats import prediction_powered_difference
    >>> a, b = [4, 5, 4, None], [3, 3, 4, None]
    >>> round(prediction_powered_difference(a, [4, 5, 4, 5], b, [3, 4, 4, 3]).value, 3)
    1.0

    References
    ----------
    As `prediction_powered_mean`.
    """
    columns = [
        numbers(values, name)
        for values, name in (
            (labels_a, "labels_a"), (judge_a, "judge_a"),
            (labels_b, "labels_b"), (judge_b, "judge_b"),
        )
    ]  # fmt: skip
    if len({column.shape for column in columns}) > 1:
        shapes = [column.shape for column in columns]
        raise StatisticsError(f"labels and judge scores of A and B differ in length: {shapes}")
    width = None if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    return prediction_powered_mean(
        columns[0] - columns[2],
        columns[1] - columns[3],
        clusters=clusters,
        scale=width,
        level=level,
        method=method,
    )


@dataclass(frozen=True, slots=True)
class _Data:
    """Checked columns: labels, judge scores with stand-ins, cluster numbers, label weights."""

    labels: Floats
    judge: Floats
    judged: NDArray[np.bool_]
    cluster: NDArray[np.int64]
    weights: Floats | None
    scale: tuple[float, float] | None
    clustered: bool

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        return ~np.isnan(self.labels)

    def groups(self, rows: NDArray[np.bool_]) -> int:
        """How many clusters some rows are of; rows themselves without clusters."""
        if not self.clustered:
            return int(np.count_nonzero(rows))
        return len(np.unique(self.cluster[rows]))

    @property
    def at_an_end(self) -> bool:
        """Whether nearly all labels lie at one end of the scale, where their spread says little."""
        if self.scale is None or self.weights is not None:
            return False
        known = self.labels[self.labelled]
        return max(float((known == end).mean()) for end in self.scale) >= _NEARLY_ALL

    def part(self, rows: NDArray[np.bool_]) -> _Data:
        """The same of some rows, stand-ins being the mean of these."""
        judge, judged = self.judge[rows], self.judged[rows]
        judge = np.where(judged, judge, judge[judged].mean() if judged.any() else 0.0)
        cluster = np.arange(len(judge))
        if self.clustered:
            cluster = np.unique(self.cluster[rows], return_inverse=True)[1]
        return _Data(
            self.labels[rows], judge, judged, cluster,
            None if self.weights is None else self.weights[rows], self.scale, self.clustered,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Fit:
    """The estimate before its interval: variances of both parts, degrees of freedom, weight."""

    value: float
    weight: float
    variance: float  # of the value
    rest: float  # of it, that of label - weight * judge
    df: float
    human: float
    human_variance: float
    correlation: float
    third: float = 0.0  # third central moment of the value

    def at_least(self, data: _Data, pooled: tuple[float, float]) -> _Fit:
        """The same with neither variance below that of the pooled spread."""
        n = max(int(data.labelled.sum()), 1)
        rest = max(self.rest, pooled[0] / n)
        human = max(self.human_variance, pooled[1] / n)
        return _Fit(
            self.value, self.weight, self.variance - self.rest + rest, rest, self.df,
            self.human, human, self.correlation, self.third,
        )  # fmt: skip

    def shift(self, level: float) -> float:
        """By how much skewed labels move the interval, after Johnson's modified t.

        With few labels that pile up at one end, mean and spread hang together, and an interval
        around the mean misses on one side. It is moved, and keeps its width; never past the value.
        """
        z = _quantile(math.inf, level, "normal")
        most = z * math.sqrt(self.variance)
        found = self.third * (1 + 2 * z * z) / (6 * self.variance) if self.variance > 0 else 0.0
        return min(max(found, -most), most)


def _data(
    labels: Any,
    judge: Any,
    clusters: Any,
    probabilities: Any,
    scale: tuple[float, float] | None,
) -> _Data:
    y, f = numbers(labels, "labels"), numbers(judge, "judge")
    if y.ndim != 1 or y.shape != f.shape:
        raise StatisticsError(
            f"labels and judge must be one-dimensional and equally long, got shapes {y.shape} "
            f"and {f.shape}"
        )
    if np.isinf(y).any() or np.isinf(f).any():
        raise StatisticsError("labels and judge scores must be finite")
    if scale is not None and not (scale[0] < scale[1]):
        raise StatisticsError(f"a scale needs low < high, got {scale}")
    known = y[~np.isnan(y)]
    if scale is not None and len(known) and (known.min() < scale[0] or known.max() > scale[1]):
        raise StatisticsError(f"a label lies off the scale {scale[0]:g} to {scale[1]:g}")
    group = np.arange(len(y))
    if clusters is not None:
        names = row_names(clusters, len(y), "clusters")
        group = np.unique(names, return_inverse=True)[1].astype(np.int64)
    judged = ~np.isnan(f)
    stand_in = f[judged].mean() if judged.any() else 0.0
    return _Data(
        y, np.where(judged, f, stand_in), judged, group, _weights(probabilities, y), scale,
        clusters is not None,
    )  # fmt: skip


def _weights(probabilities: Any, labels: Floats) -> Floats | None:
    if probabilities is None:
        return None
    found = numbers(probabilities, "probabilities")
    if found.shape != labels.shape:
        raise StatisticsError(
            f"probabilities must be one a label, got {found.shape} for {labels.shape}"
        )
    needed = found[~np.isnan(labels)]
    if not ((needed > 0) & (needed <= 1)).all():
        raise StatisticsError("probabilities of labelled items must lie in (0, 1], none missing")
    return np.where(np.isnan(labels), 0.0, 1 / np.where(found > 0, found, 1.0))


def _fit(data: _Data, method: Method, *, alone: bool = True) -> _Fit:
    """Weight, value and variances; `alone`: no other groups to pool the spread with."""
    known = data.labelled
    if not known.any():
        return _Fit(*[math.nan] * 8)
    sums, outside = _sums(data)
    clusters, total = len(sums), sums.sum(0) + outside
    spread = _judge_spread(data)
    weight = 0.0
    if clusters >= _FEWEST:
        weight = float(_weight(total, spread, clusters, weighted=data.weights is not None))
    human = float(total[_Y] / total[_W])
    of_y, of_f = ((sums[:, k] - total[k] / total[_W] * sums[:, _W]) / total[_W] for k in (_Y, _F))
    third = 0.0
    if method == "normal":
        residual = of_y - weight * of_f
        left, plain = float(residual @ residual), float(of_y @ of_y)
    else:
        left, plain, third = _jackknives(data, sums, total, spread, fitted=weight > 0)
    if alone and data.at_an_end:
        left, plain = max(left, _with_ends(data, weight)), max(plain, _with_ends(data, 0.0))
    variance = left + weight**2 * _unlabelled_variance(data, method)
    df = clusters - 2 if weight > 0 else clusters - 1
    value = float(_value(total, weight))
    return _Fit(value, weight, variance, left, df, human, plain, _correlation(of_y, of_f), third)


#: Columns of the sums by cluster: weight, label and judge of labelled items; judge and count of
#: the others; and their products.
_W, _Y, _F, _R, _N = range(5)
_PAIRS = ((_W, _W), (_W, _Y), (_W, _F), (_Y, _F), (_F, _F), (_R, _Y), (_R, _W), (_N, _Y), (_N, _W),
          (_R, _F), (_N, _F))  # fmt: skip
_AT = {pair: 5 + place for place, pair in enumerate(_PAIRS)}


def _sums(data: _Data) -> tuple[Floats, Floats]:
    """(labelled clusters, 16) sums, and the same of all clusters without a label together."""
    known = data.labelled
    share = np.where(known, 1.0 if data.weights is None else data.weights, 0.0)
    labels = np.where(known, data.labels, 0.0)
    columns = (
        share, share * labels, share * data.judge,
        np.where(known, 0.0, data.judge), np.where(known, 0.0, 1.0),
    )  # fmt: skip
    single = np.stack([np.bincount(data.cluster, weights=c) for c in columns], 1)
    found = np.concatenate([single, *(single[:, [a]] * single[:, [b]] for a, b in _PAIRS)], 1)
    labelled = np.bincount(data.cluster, weights=known) > 0
    return found[labelled], found[~labelled].sum(0)


def _value(sums: Floats, weight: Floats | float) -> Floats:
    """The estimate from summed columns."""
    judged = sums[..., _F] / sums[..., _W]
    with np.errstate(all="ignore"):
        others = np.where(sums[..., _N] > 0, sums[..., _R] / sums[..., _N], judged)
    return np.asarray(sums[..., _Y] / sums[..., _W] + weight * (others - judged))


def _weight(sums: Floats, spread: float, clusters: int, *, weighted: bool) -> Floats:
    """The weight of least variance, in [0, 1]; the judge's spread is taken over all items."""
    if clusters < 2 or spread <= 0:
        return np.zeros(sums.shape[:-1])
    w, n = sums[..., _W], sums[..., _N]
    with np.errstate(all="ignore"):
        y, f, r = sums[..., _Y] / w, sums[..., _F] / w, sums[..., _R] / n

        def together(
            a: int, b: int, mean_a: Floats, mean_b: Floats, of_a: int, of_b: int
        ) -> Floats:
            """Sum over clusters of the products of two means' parts."""
            return np.asarray(
                _at(sums, a, b) - mean_a * _at(sums, of_a, b)
                - mean_b * _at(sums, a, of_b) + mean_a * mean_b * _at(sums, of_a, of_b)
            )  # fmt: skip

        factor = clusters / (clusters - 1)
        both = factor * together(_Y, _F, y, f, _W, _W) / w**2
        shared_y = together(_R, _Y, r, y, _N, _W) / (n * w)
        shared_f = together(_R, _F, r, f, _N, _W) / (n * w)
        judged = factor * together(_F, _F, f, f, _W, _W) / w**2 if weighted else spread / w
        found = (both - shared_y) / (spread / n + judged - 2 * shared_f)
    return np.where(n > 0, np.clip(np.nan_to_num(found, nan=0.0), 0.0, 1.0), 0.0)


def _at(sums: Floats, a: int, b: int) -> Floats:
    return np.asarray(sums[..., _AT[(a, b)] if (a, b) in _AT else _AT[(b, a)]])


def _jackknives(
    data: _Data, sums: Floats, total: Floats, spread: float, *, fitted: bool
) -> tuple[float, float, float]:
    """Variance of the second part and of the labels alone, leaving out each cluster in turn, and
    the third central moment of the second part.

    The weight is fitted anew each time, unless it is 0.
    """
    k = len(sums)
    if k < 2:
        return math.nan, math.nan, 0.0
    without = total - sums
    weights = _weight(without, spread, k - 1, weighted=data.weights is not None)
    values = _value(without, weights if fitted else 0.0), without[:, _Y] / without[:, _W]
    left, plain = ((k - 1) / k * float(((v - v.mean()) ** 2).sum()) for v in values)
    # A value without one cluster lies on the other side of it: hence the sign.
    third = -float((((k - 1) * (values[0] - values[0].mean())) ** 3).sum()) / k**3
    return left, plain, third


def _judge_spread(data: _Data) -> float:
    """The judge's variance a single item, over all items, as its clusters have it; 0 is none."""
    sums = np.bincount(data.cluster, weights=data.judge - data.judge.mean())
    groups, size = len(sums), len(data.judge)
    if groups < 2:
        return 0.0
    found = groups / (groups - 1) * float(sums @ sums) / size
    return found if found > _STILL * max(1.0, float(np.abs(data.judge).max()) ** 2) else 0.0


def _unlabelled_variance(data: _Data, method: Method) -> float:
    """Variance of the judge's mean over the items without a label."""
    others, cluster = data.judge[~data.labelled], data.cluster[~data.labelled]
    if len(others) == 0:
        return 0.0
    sums = np.bincount(cluster, weights=others - others.mean())
    groups = data.groups(~data.labelled)
    small = 0 if method == "normal" else 1
    return groups / max(groups - small, 1) * float(sums @ sums) / len(others) ** 2


def _with_ends(data: _Data, weight: float) -> float:
    """Variance of mean(label - weight * judge) with half a pseudo-label at each end of the scale.

    Labels that all lie at one end have no spread, and would claim to be exact.
    """
    known, (low, high) = data.labelled, data.scale or (0.0, 1.0)
    y, f = data.labels[known], data.judge[known]
    n = len(y)
    values = np.concatenate([y - weight * (f - f.mean()), [low, high]])
    counts = np.concatenate([np.ones(n), [0.5, 0.5]])
    mean = float(counts @ values) / (n + 1)
    spread = float(counts @ (values - mean) ** 2) / n
    return spread / (n + 1) * n / data.groups(known)


def _pooled(parts: dict[Any, _Data], fits: dict[Any, _Fit]) -> tuple[float, float]:
    """Spread of a single label (less the weighted judge, and plain), pooled over groups."""
    rest = human = total = 0.0
    for name, part in parts.items():
        fit, n = fits[name], int(part.labelled.sum())
        df = part.groups(part.labelled) - 1
        if n > 1 and df > 0 and math.isfinite(fit.rest):
            rest += df * fit.rest * n
            human += df * fit.human_variance * n
            total += df
    return (rest / total, human / total) if total else (0.0, 0.0)


def _corrected(data: _Data, fit: _Fit, level: float, method: Method) -> Corrected:
    known = data.labelled
    n, rest = int(known.sum()), int((~known).sum())
    clusters = data.groups(known)
    human = _mean_estimate("human mean", fit.human, fit.human_variance, clusters - 1, n, level)
    judge = _judge_alone(data, level)
    reason = "no_data" if n == 0 else "too_few_items" if fit.df < 1 else None
    error = math.sqrt(fit.variance) if fit.variance >= 0 else math.nan
    interval = None
    if reason is None:
        half = _quantile(fit.df, level, method) * error
        name = f"prediction_powered_{method}"
        middle = fit.value + fit.shift(level)
        interval = Interval(name, level, middle - half, middle + half)
    return Corrected(
        fit.value, interval, error, fit.df, fit.weight, human, judge, fit.correlation,
        _worth(fit.correlation, n, rest, clusters, level), n, rest,
        int((~data.judged).sum()), clusters, reason,
    )  # fmt: skip


def _judge_alone(data: _Data, level: float) -> Estimate:
    """The judge's mean over all items that it scored, and the interval that it would claim."""
    f, cluster = data.judge[data.judged], data.cluster[data.judged]
    if len(f) == 0:
        return Estimate("judge mean", math.nan, reason="no_data")
    sums = _by_cluster(cluster, (f - f.mean()) / len(f), data.cluster)
    groups = data.groups(data.judged)
    variance = groups / (groups - 1) * float(sums @ sums) if groups > 1 else math.nan
    return _mean_estimate("judge mean", float(f.mean()), variance, groups - 1, len(f), level)


def _mean_estimate(
    name: str, value: float, variance: float, df: float, n: int, level: float
) -> Estimate:
    if n == 0:
        return Estimate(name, math.nan, reason="no_data")
    if df < 1 or not variance >= 0:
        return Estimate(name, value, n=n, k=1)
    half = _quantile(df, level, "t") * math.sqrt(variance)
    return Estimate(name, value, (Interval("t", level, value - half, value + half),), n=n, k=1)


def _worth(r: float, n: int, rest: int, clusters: int, level: float) -> Estimate:
    """Effective labels; its interval by Fisher's z of the correlation, 0 where that is negative."""
    if n < 4 or rest == 0 or not math.isfinite(r):
        alone = rest == 0 or n == 0
        reason = None if alone else "too_few_items"
        return Estimate("effective labels", n if alone else math.nan, n=n, k=2, reason=reason)

    def labels(correlation: float) -> float:
        """How many labels alone would give the same variance."""
        return n / (1 - max(correlation, 0.0) ** 2 * rest / (rest + n))

    z, se = math.atanh(min(max(r, -0.999999), 0.999999)), 1 / math.sqrt(max(clusters - 3, 1))
    half = _quantile(math.inf, level, "normal") * se
    interval = Interval("fisher", level, labels(math.tanh(z - half)), labels(math.tanh(z + half)))
    return Estimate("effective labels", labels(r), (interval,), n=n, k=2)


def _quantile(df: float, level: float, method: Method) -> float:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - slow to import

    if method == "normal" or math.isinf(df):
        return float(ndtri(0.5 + level / 2))
    return float(stdtrit(df, 0.5 + level / 2))


def _correlation(of_y: Floats, of_f: Floats) -> float:
    spread = math.sqrt(float(of_y @ of_y) * float(of_f @ of_f))
    return float(of_y @ of_f) / spread if spread > 0 else math.nan


def _by_cluster(rows: NDArray[np.int64], values: Floats, every: NDArray[np.int64]) -> Floats:
    """Sums by cluster, over all clusters that there are."""
    size = int(every.max()) + 1 if len(every) else 0
    return np.asarray(np.bincount(rows, weights=values, minlength=size))
