"""Shares of labels that err together: as many labels as would be as precise were they independent.

Korn and Graubard (1998), Survey Methodology 24, 193-201: an exact binomial bound at the effective
number of labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats.special import special
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats


#: Errors that count as if they had come by whole clusters, beside those that were seen.
_UNSEEN = 4.0


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


def effective_labels(
    right: Floats, groups: NDArray[np.intp], effect: float, risk: float, least: float = 1.0
) -> float:
    """Labels that would be as precise; 0 with a single cluster.

    `effect` is that of more labels, of which these are some: few errors show none.
    """
    sizes = np.bincount(groups).astype(float)
    sizes = sizes[sizes > 0]
    clusters, n = len(sizes), len(right)
    if clusters < 2:
        return 0.0
    own = design_effect(right, groups, least) if 0 < right.mean() < 1 else effect
    seen, shrunk = max(own, effect, least), 1.0
    if clusters < n:
        shrunk = (quantile(1 - risk, n - 1) / quantile(1 - risk, clusters - 1)) ** 2
        # Whole clusters may err, and ten that happen to be right have shown nothing of it.
        whole, wrong = float((sizes**2).sum()) / n, n - float(right.sum())
        seen = max(seen, (wrong * seen + _UNSEEN * whole) / (wrong + _UNSEEN))
    return n / seen * shrunk


def lower_share(agreed: float, n: float, risk: float) -> float:
    """Clopper and Pearson's one-sided lower bound; `agreed` and `n` need not be whole."""
    return 0.0 if agreed <= 0 else float(special().betaincinv(agreed, n - agreed + 1, risk))


def share_tails(agreed: float, n: float, share: float) -> tuple[float, float]:
    """P(so many or more | share), and so few or fewer, of `n` labels that need not be whole."""
    more = 1.0 if agreed <= 0 else float(special().betainc(agreed, n - agreed + 1, share))
    fewer = 1.0 if agreed >= n else 1 - float(special().betainc(agreed + 1, n - agreed, share))
    return more, fewer
