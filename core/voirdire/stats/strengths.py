"""Strengths of systems from comparisons, by least squares: a judge's beside people's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._results import Result
from voirdire.stats.comparisons import ComparisonPanel, design_of
from voirdire.stats.sums import Jackknifed, on_scale, quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

#: What is left of a cluster's own say once it is left out, at least: else one comparison that alone
#: holds a system would move it without end.
_LEAST_LEFT = 0.2
#: A correlation of strengths is held below this, as that of means is.
_LARGEST = 0.99
#: Degrees of freedom from which people's own tastes in systems are told from chance.
_FEWEST_DF = 8


@dataclass(frozen=True, slots=True, eq=False)
class FittedStrengths(Result):
    """Least-squares strengths, which sum to 0, and those without each cluster.

    Attributes
    ----------
    values : (S,) float64
        Points of the score: a difference of two is what is expected of their comparison.
    out : (G, S) float64
        The same without each cluster.
    """

    values: Floats
    out: Floats

    def differences(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Jackknifed:
        """Strength of `first` less that of `second`."""
        return self.functions(
            self.values[first] - self.values[second], self.out[:, first] - self.out[:, second]
        )

    def functions(self, full: Floats, out: Floats) -> Jackknifed:
        """A linear function of strengths: its value as it is, and its error."""
        units = len(out)
        error = np.sqrt((units - 1) * ((out - full) ** 2).mean(axis=0))
        return Jackknifed(full, error, units - 1)

    @property
    def errors(self) -> Floats:
        """(S,) standard errors of the strengths."""
        return np.asarray(self.functions(self.values, self.out).se)

    def __str__(self) -> str:
        """The strengths."""
        return str(np.round(self.values, 3).tolist())


def least_squares(panel: ComparisonPanel, scores: Floats) -> FittedStrengths:
    """Strengths that fit scores (N,) best: the score of a and b is strength a less strength b.

    Without a cluster they follow from one solution: with X its rows, L = pinv(X'X), e its residuals
    and H = X L X', leaving it out moves them by -L X' (I - H)^-1 e (Sherman and Morrison;
    Woodbury), the eigenvalues of I - H being held at .2 or above.

    Parameters
    ----------
    panel : ComparisonPanel
        Whose systems and clusters.
    scores : (N,) float64
        In favour of system a; NaN is missing.

    Source: Sherman and Morrison (1950), Ann. Math. Statist. 21, 124-127; Woodbury (1950).
    """
    there = ~np.isnan(scores)
    design = design_of(panel) * there[:, None]
    values = np.where(there, scores, 0.0)
    inverse = np.linalg.pinv(design.T @ design)
    strengths = inverse @ (design.T @ values)
    rest = values - design @ strengths
    leaned = design @ inverse
    order = np.argsort(panel.cluster, kind="stable")
    starts = np.searchsorted(panel.cluster[order], np.arange(panel.n_clusters + 1))
    sizes = np.diff(starts)
    moved = np.zeros((panel.n_clusters, len(panel.systems)))
    alone = order[starts[:-1][sizes == 1]]
    held = np.einsum("ns,ns->n", design, leaned)[alone]
    moved[sizes == 1] = (rest[alone] / np.maximum(1 - held, _LEAST_LEFT))[:, None] * leaned[alone]
    for group in np.flatnonzero(sizes > 1):
        rows = order[starts[group] : starts[group + 1]]
        own, vectors = np.linalg.eigh(leaned[rows] @ design[rows].T)
        left = (vectors / np.maximum(1 - own, _LEAST_LEFT)) @ (vectors.T @ rest[rows])
        moved[group] = left @ leaned[rows]
    return FittedStrengths(strengths, strengths - moved)


def connected(panel: ComparisonPanel) -> bool:
    """Whether all systems were compared, directly or through others."""
    reach = np.eye(len(panel.systems), dtype=np.bool_)
    reach[panel.a, panel.b] = reach[panel.b, panel.a] = True
    for middle in range(len(reach)):
        reach |= reach[:, middle : middle + 1] & reach[middle]
    return bool(reach.all())


@dataclass(frozen=True, slots=True, eq=False)
class StrengthOrder(Result):
    """How strengths of a judge go with those of people.

    Attributes
    ----------
    correlation : Jackknifed
        On Fisher's z, its moments freed of the noise of comparisons.
    humans_differ, judge_differs : bool
        Whether the systems' strengths are shown to differ at all (95 %).
    judge_varies : bool
        Whether they differ by more than the noise of comparisons alone, as an estimate.
    """

    correlation: Jackknifed
    humans_differ: bool
    judge_differs: bool
    judge_varies: bool

    def __str__(self) -> str:
        """The correlation."""
        return str(self.correlation)


def strength_order(humans: FittedStrengths, judge: FittedStrengths) -> StrengthOrder:
    """Correlation over systems; moments are quadratic, so the jackknife frees them of noise."""
    full = _moments(humans.values, judge.values)
    out = _moments(humans.out, judge.out)
    units = len(out)
    free = full + (units - 1) * (full - out.mean(axis=0))
    moved = out + (free - full)
    z = on_scale(_correlation(free), "fisher")
    parts = on_scale(_correlation(moved), "fisher")
    off = parts - z
    error = float(np.sqrt((units - 1) * ((off - off.mean()) ** 2).mean()))
    spread = np.sqrt((units - 1) * ((out - out.mean(axis=0)) ** 2).mean(axis=0))
    shown = free - 1.645 * spread > 0
    return StrengthOrder(
        Jackknifed(float(z), error, units - 1, "fisher"),
        bool(shown[1]),
        bool(shown[2]),
        bool(free[2] > 0),
    )


def _moments(humans: Floats, judge: Floats) -> Floats:
    h = humans - humans.mean(axis=-1, keepdims=True)
    j = judge - judge.mean(axis=-1, keepdims=True)
    products = [(h * j).sum(axis=-1), (h * h).sum(axis=-1), (j * j).sum(axis=-1)]
    return np.stack(products, axis=-1) / max(humans.shape[-1] - 1, 1)


def _correlation(moments: Floats) -> Floats:
    size = np.sqrt(np.maximum(moments[..., 1] * moments[..., 2], 1e-12))
    return np.clip(moments[..., 0] / size, -_LARGEST, _LARGEST)


def taste_margin(panel: ComparisonPanel, margin: float, family: int) -> float:
    """`margin`, or what people's own tastes in systems reach where that is more.

    `family` is how many systems are of the judge's family. Of people who all made every comparison:
    where they did not, or below 8 degrees of freedom, it is `margin`.
    """
    raters, count = len(panel.humans), len(panel.systems)
    df = (raters - 1) * (count - 1)
    if raters < 2 or df < _FEWEST_DF or np.isnan(panel.humans).any() or not 0 < family < count:
        return margin
    each = np.stack([least_squares(panel, human).values for human in panel.humans])
    variance = ((each - each.mean(axis=0)) ** 2).sum() / df
    design = design_of(panel)
    trace = float(np.trace(np.linalg.pinv(design.T @ design))) / (count - 1)
    apart = ((panel.humans - panel.humans.mean(axis=0)) ** 2).sum() / ((raters - 1) * panel.n)
    variance = max(float(variance - apart * trace), 0.0)
    wide = variance * (1 + 1 / raters) * (1 / family + 1 / (count - family))
    return max(margin, quantile(0.975, df) * math.sqrt(wide))
