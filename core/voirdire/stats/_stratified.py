"""Corrected pass rates: labels within strata of the judge's scores, with a neutral prior in each.

A rate near 0 or 1 rests on a handful of failures, and a t interval around it claims too much or,
where all labels agree, nothing. Within a stratum (the judge passes it, the judge fails it) the
labels' rate has a Beta posterior, and the shares of the strata a Dirichlet one. Their first two
moments are sums over labelled and judged rows, so that clusters, shared items and weights enter as
they do elsewhere: by the squared sums of each cluster. The bounds are quantiles of the posterior
of independent rows, at fixed points in place of a random sample, stretched to that variance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats.special import special
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats
    from voirdire.stats._powered import Columns, Flags, Places

#: Pseudo-labels at each end of the scale, over all strata. Kerman's neutral prior is Beta(1/3, 1/3)
#: in each of two strata; a little more takes in a rate of .97 where 100 labels hold no failure.
#: More strata share the same number, or it would outweigh few labels.
PRIOR = 0.7
#: A stratum more for so many labels; two at least, since a judge passes or fails, and ten at most.
_LABELS_A_STRATUM, _FEWEST_STRATA, _MOST_STRATA = 40, 2, 10

#: Points of a posterior: multiples of irrational numbers fill the unit cube evenly (Kronecker).
_POINTS = 1024
_ROOTS = np.sqrt(
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79.0]
)


@dataclass(frozen=True, slots=True)
class Stratified:
    """A mean (or difference) on the scale and its posterior.

    `variance` counts clusters; `shape` holds points of the posterior were all rows independent,
    from which the skew of its bounds is taken. `df` is infinite where rows are their own clusters.
    """

    value: float
    variance: float
    df: float
    shape: Floats
    ends: tuple[float, float]

    def bounds(self, level: float) -> tuple[float, float]:
        """Quantiles of the posterior, stretched to the variance, within the scale.

        With few clusters the variance is itself uncertain: Student's quantile stands for it.
        """
        shares = np.array([0.5 - level / 2, 0.5 + level / 2])
        stretch = math.sqrt(self.variance / float(self.shape.var()))
        if math.isfinite(self.df):
            stretch *= quantile(shares[1], self.df) / quantile(shares[1], math.inf)
        away = np.quantile(self.shape, shares) - self.shape.mean()
        low, high = np.clip(self.value + stretch * away, *self.ends).tolist()
        return low, high


def posterior_points(passed: Floats, failed: Floats, shares: Floats, side: int = 0) -> Floats:
    """(_POINTS,) means over strata: each stratum's Beta quantiles at points that fill a cube."""
    dimension = np.arange(len(shares)) + side * (_MOST_STRATA + 1)
    at = (np.arange(_POINTS)[:, None] + 0.5) * _ROOTS[dimension] % 1.0
    return np.asarray(special().betaincinv(passed, failed, at) @ shares)


def rate_variance(rates: Floats, labels: Floats, pseudo: float) -> Floats:
    """Variance of the rate of each stratum, from so many labels and pseudo-labels.

    That of a Beta distribution of a + b counts is rate (1 - rate) / (a + b + 1). A rate in the
    middle gets a little more: pseudo-labels draw the two strata of a good judge towards each other,
    where nothing in the mean makes up for the variance that is lost by it.
    """
    size = labels + pseudo
    own = rates * (1 - rates)
    return np.asarray(own / (size + 1) * (1 + 2 * own * labels / size**2))


def design_effect(data: Columns) -> float:
    """Variance of a corrected rate by clusters over that of single rows, at least 1."""
    rows = np.arange(len(data.labels))
    single = replace(data, cluster=rows, item=rows, clustered=False)
    return max(1.0, stratified(data).variance / stratified(single).variance)


def stratified(data: Columns, *, alone: bool = False) -> Stratified:
    """The corrected mean of one side, or the first side less the second; `alone`: by the labels
    alone, in a single stratum.
    """
    low, high = data.scale or (0.0, 1.0)
    declared = len(np.unique(data.cluster)) < len(np.unique(data.item))
    units = len(np.unique(data.cluster[data.labelled]))
    # A pseudo-label is a row beside rows, and part of a cluster beside clusters: by simulation the
    # root of a cluster's size keeps the promise at rates of .97 in dialogues of five and ten.
    size = len(np.unique(data.item[data.labelled])) / max(units, 1) if declared else 1.0
    value = pseudo = 0.0
    influence, shape = np.zeros(len(data.labels)), np.zeros(_POINTS)
    for side in range(data.sides):
        rows, sign = data.side == side, 1.0 - 2.0 * side
        part = _SideMean.of(data, rows, (low, high), math.sqrt(size), alone=alone)
        value += sign * part.mean
        pseudo += part.pseudo
        shape += sign * part.points(side)
        influence[rows] = sign * part.influence
    variance = _squares(data, influence, declared=declared) + pseudo
    width = high - low
    ends, least = ((low, high), low) if data.sides == 1 else ((-width, width), 0.0)
    df = float(units - 1) if declared else math.inf
    return Stratified(least + value * width, variance * width**2, df, shape * width, ends)


def _squares(data: Columns, influence: Floats, *, declared: bool) -> float:
    """Sum over clusters of squared sums of what their rows move; k / (k - 1) of k labelled ones.

    Clusters of one side hold at least what independent rows would: rows of one cluster that happen
    to cancel are no evidence. Two sides share items, and are meant to cancel.
    """
    clusters = int(data.cluster.max(initial=-1)) + 1
    sums = np.bincount(data.cluster, weights=influence, minlength=clusters)
    labelled = np.zeros(clusters, bool)
    labelled[data.cluster[data.labelled]] = True
    k = int(labelled.sum())
    factor = k / (k - 1) if declared and k > 1 else 1.0
    squares = factor * float((sums[labelled] ** 2).sum()) + float((sums[~labelled] ** 2).sum())
    return squares if data.sides > 1 else max(squares, float((influence**2).sum()))


@dataclass(frozen=True, slots=True)
class _SideMean:
    """One side on a scale of 0 to 1: its mean, what each row moves it by, and the prior's part."""

    mean: float
    influence: Floats
    pseudo: float
    shares: Floats  # of the rows, by stratum
    passed: Floats  # labels and pseudo-labels at the upper end, by stratum
    failed: Floats

    def points(self, side: int) -> Floats:
        """(_POINTS,) of the posterior of this side."""
        return posterior_points(self.passed, self.failed, self.shares, side)

    @classmethod
    def of(
        cls, data: Columns, rows: Flags, ends: tuple[float, float], root: float, *, alone: bool
    ) -> _SideMean:
        """The rows of one side; `root` times as many pseudo-labels as beside single rows."""
        labels = (data.labels[rows] - ends[0]) / (ends[1] - ends[0])
        labelled = ~np.isnan(labels)
        strata = strata_of(data.judge[rows], data.judged[rows], int(labelled.sum()), alone=alone)
        weights = labelled.astype(float)
        if data.weights is not None:
            own = np.where(labelled, data.weights[rows], 0.0)
            # Kish: unequal weights count as fewer labels.
            weights = own * own.sum() / max(float((own**2).sum()), 1e-300)
        k = int(strata.max(initial=0)) + 1
        rows_in = np.bincount(strata, minlength=k).astype(float)
        labels_in = np.asarray(np.bincount(strata, weights=weights, minlength=k), np.float64)
        known = np.where(labelled, labels, 0.0)
        prior = PRIOR / max(k, 2) * root
        passed = np.asarray(
            np.bincount(strata, weights=weights * known, minlength=k) + prior, dtype=np.float64
        )
        rates = passed / (labels_in + 2 * prior)
        shares = np.asarray(rows_in / rows_in.sum(), dtype=np.float64)
        mean = float(shares @ rates)
        own = np.maximum(rates * (1 - rates), 1e-300)
        size = np.sqrt((labels_in + 2 * prior) * own / rate_variance(rates, labels_in, 2 * prior))
        total = rows_in.sum()
        influence = weights * shares[strata] * (known - rates[strata]) / size[strata] + (
            rates[strata] - mean
        ) / math.sqrt(total * (total + 1))
        prior_spread = prior * (rates**2 + (1 - rates) ** 2)
        return cls(
            mean,
            influence,
            float((shares**2 * prior_spread / size**2).sum()),
            shares,
            passed,
            labels_in + 2 * prior - passed,
        )


def strata_of(judge: Floats, judged: Flags, labels: int, *, alone: bool = False) -> Places:
    """The stratum of each row: the judge's levels, or as many parts of its ranks as labels bear.

    They are fixed by the judge's scores and the number of labels, before a label is seen. Rows that
    the judge did not score are a stratum of their own.
    """
    strata = np.zeros(len(judge), np.intp)
    if alone or not judged.any():
        return strata
    most = min(max(labels // _LABELS_A_STRATUM, _FEWEST_STRATA), _MOST_STRATA)
    levels, level, counts = np.unique(judge[judged], return_inverse=True, return_counts=True)
    parts = np.arange(len(levels))
    if len(levels) > most:
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        parts = np.unique((middle * most).astype(np.intp), return_inverse=True)[1]
    strata[judged] = parts[level]
    strata[~judged] = parts.max() + 1
    return strata
