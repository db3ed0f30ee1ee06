"""Shares of labels that err together: what they show of how often a judge is right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats.special import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

#: Where Imhof's integral is taken: steps of a logarithm.
_STEP = 0.05
_IMHOF = np.exp(np.arange(-34, 16, _STEP))
#: Clusters whose part in it is reckoned at a time.
_BLOCK = 1000


def design_effect(right: Floats, groups: NDArray[np.intp], least: float = 1.0) -> float:
    """Variance of a share by clusters over that of independent labels, at least `least`.

    Where all agree nothing shows it, and a cluster counts as one label.
    """
    sizes = np.bincount(groups).astype(float)
    sizes, sums = sizes[sizes > 0], np.bincount(groups, weights=right)[sizes > 0]
    n, k, rate = len(right), len(sizes), float(right.mean())
    if rate in {0.0, 1.0} or k < 2:
        return n / k
    by_cluster = k / (k - 1) * float(((sums - rate * sizes) ** 2).sum()) / n**2
    return min(max(by_cluster / (rate * (1 - rate) / n), least), n / k * float(sizes.max()))


def effective_labels(right: Floats, groups: NDArray[np.intp], effect: float, least: float) -> float:
    """Single labels that would be as precise as these, each of which several people may have given.

    `effect` is that of more labels, of which these are some: few errors show none.
    """
    own = design_effect(right, groups, least) if 0 < right.mean() < 1 else effect
    return len(right) / max(own, effect, least)


def share_tails(agreed: float, n: float, share: float) -> tuple[float, float]:
    """P(so many or more | share), and so few or fewer, of `n` labels that need not be whole."""
    more = 1.0 if agreed <= 0 else float(special().betainc(agreed, n - agreed + 1, share))
    fewer = 1.0 if agreed >= n else 1 - float(special().betainc(agreed + 1, n - agreed, share))
    return more, fewer


def lower_share(agreed: float, n: float, risk: float) -> float:
    """Clopper and Pearson's one-sided lower bound; `agreed` and `n` need not be whole."""
    return 0.0 if agreed <= 0 else float(special().betaincinv(agreed, n - agreed + 1, risk))


def tails_by_cluster(right: Floats, groups: NDArray[np.intp], share: float) -> tuple[float, float]:
    """As `share_tails`, of labels that err by clusters: how rarely clusters agree as well as these
    were only `share` right, and as badly.

    Gaffke's test: each cluster weighs as an exponential variable, and one more cluster stands
    beside them, of the size that a label's cluster has on average, all wrong (all right for the
    second). Of single labels it is the exact binomial test. It needs no design effect, which few
    errors do not show, and knows that ten clusters that happen to be right have shown nothing of
    clusters that err as wholes.

    Parameters
    ----------
    right : (n,) float64
        In 0..1: whether (or how many of several people) agree.
    groups : (n,) intp
        The cluster of each label.
    share : float
        In (0, 1).

    References
    ----------
    Gaffke (2005), Mathematical Methods of Statistics 14, 451-467; Phan, Thomas and Learned-Miller
    (2021), ICML: no case is known in which the bound fails, and no proof. Its chance is that of a
    weighted sum of chi-squared variables, Imhof (1961), Biometrika 48, 419-426.
    """
    sizes, sums = _by_cluster(right, groups)
    away, whole = sums - share * sizes, _whole(sizes)
    return (
        _at_most_zero(np.append(away, -share * whole)),
        _at_most_zero(np.append(-away, -(1 - share) * whole)),
    )


def lower_share_by_cluster(right: Floats, groups: NDArray[np.intp], risk: float) -> float:
    """The share at which `tails_by_cluster` is `risk`: a one-sided lower bound."""
    low, high = 0.0, float(right.mean())
    for _ in range(40):
        middle = (low + high) / 2
        if tails_by_cluster(right, groups, middle)[0] <= risk:
            low = middle
        else:
            high = middle
    return low


def shown_if_right(groups: NDArray[np.intp], likely: float, share: float, risk: float) -> bool:
    """Whether clusters of these sizes would show `share`, were each right in `likely`."""
    sizes, _ = _by_cluster(np.ones(len(groups)), groups)
    away = np.append((likely - share) * sizes, -share * _whole(sizes))
    return _at_most_zero(away) <= risk


def _by_cluster(right: Floats, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
    sizes = np.asarray(np.bincount(groups), np.float64)
    sums = np.asarray(np.bincount(groups, weights=right), np.float64)
    return sizes[sizes > 0], sums[sizes > 0]


def _whole(sizes: Floats) -> float:
    """Size of the cluster that a label is of, on average."""
    return float((sizes**2).sum() / sizes.sum())


def _at_most_zero(values: Floats) -> float:
    """P(sum of values, each times an exponential variable of its own, <= 0), to 1e-10.

    Imhof's integral over the logarithm of its variable, where the trapezoid rule converges at once.
    """
    distinct, counts = np.unique(values, return_counts=True)
    scale = math.sqrt(float((counts * distinct**2).sum()))
    if scale == 0:
        return 1.0
    turned, faded = np.zeros(len(_IMHOF)), np.zeros(len(_IMHOF))
    for first in range(0, len(distinct), _BLOCK):
        some = slice(first, first + _BLOCK)
        at = distinct[some, None] / scale * _IMHOF
        turned += counts[some] @ np.arctan(at)
        faded += counts[some] @ np.log1p(at**2) / 2
    chance = 0.5 - _STEP / math.pi * float((np.sin(turned) * np.exp(-faded)).sum())
    return min(max(chance, 0.0), 1.0)
