"""Corrected means and differences from sums by cluster: weight, variances, degrees of freedom.

A mean has one side. A difference has two, of which the second is taken from the first; clusters
(items, where no others are given) that both sides share carry the covariance. Systems on the same
items, on other items, and on items of which some are shared are therefore one formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

    Flags = NDArray[np.bool_]
    Places = NDArray[np.intp]

Method = Literal["t", "normal", "strata"]
#: What a side counts in a difference.
_SIGNS = np.array([1.0, -1.0])
#: Relative size under which a spread is rounding.
_STILL = 1e-12
#: Labelled clusters from which the judge is given a weight; under it the labels stand alone.
FEWEST = 4
#: Share of labels at one end of the scale from which their own spread is not trusted alone.
NEARLY_ALL = 0.9
#: Sums by cluster and side: weight, label and judge of labelled rows; judge and count of the
#: others (of all rows, where labels have probabilities); roots of both sizes, whose products over
#: sides say how much the sides share.
_W, _Y, _F, _R, _N, _ROOT_W, _ROOT_N = range(7)


@dataclass(frozen=True, slots=True)
class Columns:
    """Checked rows: labels, judge scores with stand-ins, cluster numbers, label weights."""

    labels: Floats
    judge: Floats
    judged: Flags
    cluster: Places
    item: Places  # what is counted as one label
    side: Places
    sides: int
    weights: Floats | None
    scale: tuple[float, float] | None
    clustered: bool

    @property
    def labelled(self) -> Flags:
        """Which rows have a label."""
        return ~np.isnan(self.labels)

    def groups(self, rows: Flags) -> int:
        """How many clusters some rows are of; rows themselves without clusters."""
        if not self.clustered:
            return int(np.count_nonzero(rows))
        return len(np.unique(self.cluster[rows]))

    def count(self, rows: Flags) -> int:
        """How many items some rows are of."""
        if self.sides == 1:
            return int(np.count_nonzero(rows))
        return len(np.unique(self.item[rows]))

    @property
    def at_an_end(self) -> bool:
        """Whether nearly all labels lie at one end of the scale, where their spread says little."""
        labels = self.labels[self.labelled]
        if self.scale is None or self.weights is not None or not len(labels):
            return False
        return max(float((labels == end).mean()) for end in self.scale) >= NEARLY_ALL

    @property
    def as_judged(self) -> bool:
        """Whether nearly all labels are the judge's scores, so that what is left says little."""
        both = self.labelled & self.judged
        if self.scale is None or self.weights is not None or not both.any():
            return False
        return float((self.labels == self.judge)[both].mean()) >= NEARLY_ALL

    def part(self, rows: Flags) -> Columns:
        """Some rows as a side of their own, stand-ins being the mean of these."""
        judge, judged = self.judge[rows], self.judged[rows]
        cluster = np.arange(len(judge))
        if self.clustered:
            cluster = counted(self.cluster[rows])
        return Columns(
            self.labels[rows], with_stand_ins(judge, judged), judged, cluster, self.item[rows],
            np.zeros(len(judge), np.intp), 1,
            None if self.weights is None else self.weights[rows], self.scale, self.clustered,
        )  # fmt: skip


def counted(names: NDArray[Any]) -> Places:
    """Names as 0, 1, 2 ... in the order of first appearance: what they are called moves no bit."""
    _, first, at = np.unique(names, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[at])


def with_stand_ins(judge: Floats, judged: Flags) -> Floats:
    """Scores, their mean where the judge gave none: any stand-in leaves the estimate unbiased."""
    return np.where(judged, judge, judge[judged].mean() if judged.any() else 0.0)


@dataclass(frozen=True, slots=True)
class Fit:
    """The estimate before its interval: variances of both parts, degrees of freedom, weight."""

    value: float
    weight: float
    variance: float  # of the value
    rest: float  # of it, that of label - weight * judge
    df: float
    human: float
    human_variance: float
    human_df: float
    correlation: float
    third: float = 0.0  # third central moment of the value

    def at_least(self, n: int, rest: float, human: float) -> Fit:
        """The same of n labels, with neither variance below that of a pooled spread.

        Without a weight the labels stand alone, and so do those that the spread is pooled over; and
        no weight asks for a larger spread than the labels alone have, which would be its own noise.
        """
        least = max(self.rest, (min(rest, human) if self.weight > 0 else human) / n)
        return replace(
            self, variance=self.variance - self.rest + least, rest=least,
            human_variance=max(self.human_variance, human / n),
        )  # fmt: skip


# A side without unlabelled rows has no mean of these, and one whose only labelled cluster is left
# out no value; both are told apart below, and neither is worth a warning.
@np.errstate(all="ignore")
def fit(data: Columns, method: Method, *, alone: bool = True, shrink: bool = True) -> Fit:
    """Weight, value and variances; `alone`: no other groups to pool the spread with; `shrink`:
    whether the weight is held back by its own noise.
    """
    every = _sums(data)
    own = every[every[..., _W].any(-1)]
    total = every.sum(0)
    if not (total[:, _W] > 0).all():
        return Fit(*[math.nan] * 9)
    has = own[..., _W] > 0
    flat = every.reshape(len(every), -1)
    # The whole first, then all without each labelled cluster in turn.
    out = np.concatenate([np.zeros((1, *total.shape)), own])
    sums = total - out
    of_y, of_f = (_parts(sums, column, _W) for column in (_Y, _F))
    weights = np.zeros(len(sums))
    if has.sum(0).min() >= FEWEST:
        pairs = has[:, :, None] & has[:, None, :]
        shared = pairs.sum(0) - np.concatenate([np.zeros((1, *pairs.shape[1:])), pairs])
        world = _WeightSums(
            (flat.T @ flat).reshape(2 * (data.sides, 7)), _judge_spread(data),
            _partly(data, every), data.weights is not None, shrink,
        )  # fmt: skip
        weights = world.weight(sums, out, shared, of_y, of_f)
        weights = weights * (weights[0] > 0)
    weight = float(weights[0])
    values, alone_values = _value(sums, np.stack([weights, np.zeros(len(sums))]))
    parts_y, parts_f = _product(own, of_y[0]), _product(own, of_f[0])
    if method == "normal":
        left = _EstimateSpread(
            float(((parts_y - weight * parts_f) ** 2).sum()), _freedom(parts_y**2, has)
        )
        plain = _EstimateSpread(float((parts_y**2).sum()), left.df)
    else:
        left, plain = _left_out(values[1:], has), _left_out(alone_values[1:], has)
    more, most = _lifts(data, weight, method, shrink=shrink) if alone else (0.0, 0.0)
    rest = left.variance + more
    return Fit(
        float(values[0]), weight, rest + weight**2 * _unlabelled_variance(every, method), rest,
        left.df - 1 if weight > 0 else left.df, float(alone_values[0]), plain.variance + most,
        plain.df, _correlation(own, parts_y, parts_f), left.third,
    )  # fmt: skip


def pooled(parts: list[Columns], fits: list[Fit]) -> tuple[float, float]:
    """Spread of a single label (less the weighted judge, and plain), pooled over groups."""
    rest = human = total = 0.0
    for part, one in zip(parts, fits, strict=True):
        n, df = int(part.labelled.sum()), part.groups(part.labelled) - 1
        if n > 1 and df > 0 and math.isfinite(one.rest):
            rest += df * one.rest * n
            human += df * one.human_variance * n
            total += df
    return (rest / total, human / total) if total else (0.0, 0.0)


def judge_alone(data: Columns) -> tuple[float, float, float]:
    """The judge's mean (or difference) over the rows that it scored, its variance and df."""
    cell = data.cluster * data.sides + data.side
    size = (int(data.cluster.max()) + 1, data.sides)
    counts, sums = (
        np.bincount(cell, weights=column, minlength=size[0] * size[1]).reshape(size)
        for column in (data.judged, np.where(data.judged, data.judge, 0.0))
    )
    has, n = counts > 0, counts.sum(0)
    if not n.all():
        return math.nan, math.nan, 0.0
    signs, means = _SIGNS[: data.sides], sums.sum(0) / n
    squares = ((sums - means * counts) / n @ signs) ** 2
    if has.sum(0).min() < 2:
        return float(means @ signs), math.nan, 0.0
    scored = has.any(1)
    k = _fellows(has[scored])
    parts = squares[scored] * k / np.maximum(k - 1, 1)
    return float(means @ signs), float(parts.sum()), _freedom(parts, has[scored])


@dataclass(frozen=True, slots=True)
class _EstimateSpread:
    """Of an estimate: its variance, the degrees of freedom of it, and third central moment."""

    variance: float
    df: float
    third: float = 0.0


@dataclass(frozen=True, slots=True)
class _WeightSums:
    """What a weight rests on besides the sums: their products over all clusters, (S, 7, S, 7), and
    the judge's (co)variance of a single row, (S, S), of all rows, and in parts of it, (2, S), of
    those of clusters that are labelled in part: of labelled ones and of the others.
    """

    products: Floats
    spread: Floats
    partly: Floats
    weighted: bool
    shrink: bool

    def weight(
        self, sums: Floats, out: Floats, shared: Floats, of_y: Floats, of_f: Floats
    ) -> Floats:
        """The weight of least variance, in [0, 1], of each of (K, S, 7) sums that lack `out`.

        `shared` counts labelled clusters by pairs of sides, (K, S, S); `of_y` and `of_f` are the
        `_parts` of both. The judge's own spread is taken over all rows, labelled or not: of few
        labels it would be noise.
        """
        live, sides = sums[..., _N] > 0, sums.shape[1]
        of_f = np.where(live[..., None], of_f, 0.0)
        of_r = np.where(live[..., None], _parts(sums, _R, _N), 0.0)
        factor = shared / np.maximum(shared - 1, 1)

        def together(a: Floats, b: Floats) -> Floats:
            """Sums over clusters of the products of two means' parts, by pairs of sides."""
            every = np.einsum("...si,sitj,...tj->...st", a, self.products, b)
            return np.asarray(
                every - (a * out).sum(-1)[..., None] * (b * out).sum(-1)[..., None, :]
            )

        def by_spread(size: int, root: int, partly: Floats) -> Floats:
            """The judge's variance in a mean of that size, were its spread that of all rows."""
            spread = self.spread * np.sqrt(partly[:, None] * partly)
            each = np.where(live, _SIGNS[:sides] / sums[..., size], 0.0)
            common = self.products[:, root, :, root] - (
                out[..., root, None] * out[..., None, :, root]
            )
            return np.asarray(each[..., None] * spread * common * each[..., None, :])

        others = by_spread(_N, _ROOT_N, self.partly[1])
        yf, ff = together(of_y, of_f), together(of_f, of_f)
        own = factor * ff if self.weighted else by_spread(_W, _ROOT_W, self.partly[0])
        gain = _all(factor * yf) - _all(together(of_r, of_y))
        cost = _all(others) + _all(own) - 2 * _all(together(of_r, of_f))
        # Two sides that a judge scores alike leave a cost of rounding, and no weight; so do labels
        # without a bearing on it, whose gain would be rounding.
        least = _STILL * np.trace(others + own, axis1=-2, axis2=-1)
        weight = np.divide(gain, cost, out=np.zeros_like(gain), where=cost > least)
        weight = np.where(weight > _STILL, np.minimum(weight, 1.0), 0.0)
        return (
            weight * _signal(*map(_all, (together(of_y, of_y), yf, ff))) if self.shrink else weight
        )


def _signal(yy: Floats, yf: Floats, ff: Floats) -> Floats:
    """t^2 / (t^2 + 1), t being that of the correlation of labels and judge, from sums of squares of
    their parts: of all labelled clusters first, then without each.

    A weight of few labels is noise in part, and the interval of a judge that tells nothing would be
    wider than that of the labels alone.
    """
    clusters = np.full(len(yy), len(yy) - 2)
    clusters[0] += 1
    signal = yf**2 * (clusters - 2)
    noise = np.maximum(yy * ff - yf**2, 0.0)
    return np.divide(signal, signal + noise, out=np.zeros_like(yy), where=signal > 0)


def _sums(data: Columns) -> Floats:
    """(clusters, S, 7) sums of each cluster and side."""
    labelled, clusters = data.labelled, int(data.cluster.max(initial=-1)) + 1
    share = np.where(labelled, 1.0 if data.weights is None else data.weights, 0.0)
    # Drawn with unequal probabilities, what is left without a label is no random part of all: the
    # judge's own mean is then that of all rows.
    other = np.ones(len(labelled)) if data.weights is not None else (~labelled).astype(float)
    columns = (
        share, share * np.where(labelled, data.labels, 0.0), share * data.judge,
        other * data.judge, other,
    )  # fmt: skip
    cell = data.cluster * data.sides + data.side
    size = clusters * data.sides
    sums = np.empty((size, 7))
    for at, values in enumerate(columns):
        sums[:, at] = np.bincount(cell, weights=values, minlength=size)
    np.sqrt(sums[:, [_W, _N]], out=sums[:, _ROOT_W:])
    return sums.reshape(clusters, data.sides, 7)


def _parts(sums: Floats, column: int, size: int) -> Floats:
    """(..., S, 7): what a cluster's sums count in its part of a mean (or a difference of means)."""
    parts = np.zeros(sums.shape)
    parts[..., column] = _SIGNS[: sums.shape[-2]] / sums[..., size]
    parts[..., size] = -parts[..., column] * sums[..., column] / sums[..., size]
    return parts


def _product(sums: Floats, parts: Floats) -> Floats:
    """(clusters,) parts in a mean."""
    return np.asarray(sums.reshape(len(sums), -1) @ parts.ravel())


def _all(pairs: Floats) -> Floats:
    return np.asarray(pairs.sum((-2, -1)))


def _value(sums: Floats, weight: Floats) -> Floats:
    """The estimate from summed columns."""
    judged = sums[..., _F] / sums[..., _W]
    others = np.where(sums[..., _N] > 0, sums[..., _R] / sums[..., _N], judged)
    sides = sums[..., _Y] / sums[..., _W] + weight[..., None] * (others - judged)
    return np.asarray(sides @ _SIGNS[: sums.shape[-2]])


def _left_out(values: Floats, has: Flags) -> _EstimateSpread:
    """Of an estimate, from its values without each labelled cluster in turn."""
    if has.sum(0).min() < 2:
        return _EstimateSpread(math.nan, 0.0)
    k = _fellows(has)
    away = values - values.mean()
    parts = (k - 1) / k * away**2
    # A value without one cluster lies on the other side of it: hence the sign.
    third = -float((((k - 1) * away / k) ** 3).sum())
    return _EstimateSpread(float(parts.sum()), _freedom(parts, has), third)


def _shared(has: Flags) -> Floats:
    """(S, S) clusters that two sides have in common; on the diagonal those of each."""
    return np.asarray(has.T.astype(float) @ has)


def _fellows(has: Flags) -> Floats:
    """How many clusters there are of each cluster's kind: those of the smaller of its sides."""
    if has.shape[1] == 1:
        return np.array([float(len(has))])
    return np.where(has, has.sum(0), np.inf).min(1)


def _freedom(parts: Floats, has: Flags) -> float:
    """Degrees of freedom of a variance that is the sum of `parts` by cluster.

    Clusters of the one side, of the other and of both are samples of their own: Welch (1947) and
    Satterthwaite. A single kind has its number of clusters less one.
    """
    if has.shape[1] == 1:
        return float(len(has) - 1)
    kinds = has @ np.arange(1, has.shape[1] + 1)
    counts, sums = np.bincount(kinds), np.bincount(kinds, weights=parts)
    if np.count_nonzero(counts) == 1 or not sums.sum() > 0:
        return float(has.sum(0).min() - 1)
    return float(sums.sum() ** 2 / (sums**2 / np.maximum(counts - 1, 1)).sum())


def _judge_spread(data: Columns) -> Floats:
    """(S, S): the judge's variance of a single row, and covariance of two of one cluster, over all
    rows, as their clusters have it; 0 is none.
    """
    cell = data.cluster * data.sides + data.side
    size = (int(data.cluster.max()) + 1, data.sides)
    counts = np.bincount(cell, minlength=size[0] * size[1]).reshape(size)
    scores = np.bincount(cell, weights=data.judge, minlength=size[0] * size[1]).reshape(size)
    away = scores - scores.sum(0) / counts.sum(0) * counts
    shared, roots = _shared(counts > 0), np.sqrt(counts)
    spread = np.where(
        shared > 1,
        shared / np.maximum(shared - 1, 1) * (away.T @ away) / np.maximum(roots.T @ roots, 1e-300),
        0.0,
    )
    still = np.diag(spread) <= _STILL * max(1.0, float(np.abs(data.judge).max())) ** 2
    spread[still], spread[:, still] = 0.0, 0.0
    return spread


def _partly(data: Columns, every: Floats) -> Floats:
    """(2, S): by how much less than rows of whole clusters labelled rows vary, and the others do,
    where clusters are labelled in part; 1 where they are labelled whole or not at all.

    One turn of a dialogue is a single row, though turns of the dialogue are alike. Were it counted
    as whole dialogues are, the judge would seem to vary more among the labels than it does, and
    would be used the less.
    """
    found = np.ones((2, data.sides))
    labelled, others = every[..., _W], every[..., _N]
    if not data.clustered or data.weights is not None or not (labelled * others).any():
        return found
    spread = np.diag(_judge_spread(data))
    for side in range(data.sides):
        scores = data.judge[data.side == side]
        whole = labelled[:, side] + others[:, side]
        # The mean size of the cluster that a row is of, and how alike its rows are.
        size, varies = float((whole**2).sum() / whole.sum()), float(scores.var())
        if size <= 1 or not varies > 0:
            continue
        alike = min(max((spread[side] / varies - 1) / (size - 1), 0.0), 1.0)
        for k, counts in enumerate((labelled[:, side], others[:, side])):
            if counts.any():
                own = float((counts**2).sum() / counts.sum())
                found[k, side] = (1 + (own - 1) * alike) / (1 + (size - 1) * alike)
    return found


def _unlabelled_variance(every: Floats, method: Method) -> float:
    """Variance of the judge's mean over the rows without a label, by the clusters without one.

    What clusters with some labels add to it is in the variance by leaving these out.
    """
    others = every[~every[..., _W].any(-1)]
    if not len(others):
        return 0.0
    total = every.sum(0)
    parts = np.where((total[:, _N] > 0)[:, None], _parts(total, _R, _N), 0.0)
    squares = _product(others, parts) ** 2
    if method == "t":
        k = _fellows(others[..., _N] > 0)
        squares = squares * k / np.maximum(k - 1, 1)
    return float(squares.sum())


def _lifts(data: Columns, weight: float, method: Method, *, shrink: bool) -> tuple[float, float]:
    """What the ends of the scale add to both variances, side by side: where nearly all labels of a
    side lie at one of them, half a pseudo-label stands at each. Where nearly all are as the judge
    said, this holds beside the judge alone.
    """
    lifts = np.zeros(2)
    for part in (data.part(data.side == side) for side in range(data.sides)):
        if part.at_an_end or (weight > 0 and part.as_judged):
            own = fit(part, method, alone=False, shrink=shrink)
            ends = _with_ends(part, weight), _with_ends(part, 0.0)
            more = np.maximum(np.subtract(ends, (own.rest, own.human_variance)), 0.0)
            lifts += more if part.at_an_end else (more[0], 0.0)
    return float(lifts[0]), float(lifts[1])


def _with_ends(data: Columns, weight: float) -> float:
    """Variance of mean(label - weight * judge) with half a pseudo-label at each end of the scale.

    Labels that all lie at one end have no spread, and would claim to be exact.
    """
    labelled, (low, high) = data.labelled, data.scale or (0.0, 1.0)
    y, f = data.labels[labelled], data.judge[labelled]
    n = len(y)
    values = np.concatenate([y - weight * (f - f.mean()), [low, high]])
    counts = np.concatenate([np.ones(n), [0.5, 0.5]])
    mean = float(counts @ values) / (n + 1)
    spread = float(counts @ (values - mean) ** 2) / n
    return spread / (n + 1) * n / data.groups(labelled)


def _correlation(own: Floats, of_y: Floats, of_f: Floats) -> float:
    """Of both parts by cluster; NaN where either is still, up to rounding."""
    largest = max(1.0, float(np.abs(own[..., [_Y, _F]]).max()))
    squares = float(of_y @ of_y), float(of_f @ of_f)
    if min(squares) * len(of_y) <= (_STILL * largest) ** 2:
        return math.nan
    return float(of_y @ of_f) / math.sqrt(squares[0] * squares[1])
