"""One judge and attribute as arrays: what the components of a verdict are computed from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats.response_panel import ResponsePanel, mean_present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GateRule:
    """Where pass begins, and the least shares asked with one column of labels, where they are."""

    at: float
    sensitivity: float | None = None
    specificity: float | None = None

    @property
    def has_minima(self) -> bool:
        """Whether a judge can be held against labels alone."""
        return self.sensitivity is not None and self.specificity is not None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Scores of one judge and of the humans on N responses, all that the table holds.

    Attributes
    ----------
    scores : (K runs, N) float64
        NaN is missing.
    humans : (R, N) float64
        In the order of `reference`.
    items : (N,) array
        Names or numbers; `systems`, `clusters` and `subgroups` the same, None where not declared.
        An empty subgroup is none.
    width : float
        Of the scale.
    family : mapping
        System -> whether it is of the judge's own family; empty where not declared.
    random_labels : bool
        Whether the labelled responses were drawn at random, or all are labelled.
    temperature : float or None
        At which the judge ran.
    """

    judge: str
    attribute: str
    reference: tuple[str, ...]
    scores: Floats
    humans: Floats
    items: NDArray[Any]
    width: float
    systems: NDArray[Any] | None = None
    clusters: NDArray[Any] | None = None
    subgroups: NDArray[Any] | None = None
    family: Mapping[str, bool] = field(default_factory=dict)
    gate: GateRule | None = None
    nominal: bool = False
    random_labels: bool = True
    temperature: float | None = None

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(N,) whether a human scored it."""
        return np.asarray(~np.isnan(self.humans).all(axis=0))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(N,) whether the judge scored it, in some run."""
        return np.asarray(~np.isnan(self.scores).all(axis=0))

    @property
    def paired(self) -> NDArray[np.bool_]:
        """(N,) both."""
        return self.labelled & self.judged

    @property
    def constant(self) -> float:
        """The one score that the judge gives; NaN where its scores differ."""
        found = np.unique(self.scores[~np.isnan(self.scores)])
        return float(found[0]) if len(found) == 1 else float("nan")

    def panel(self) -> ResponsePanel:
        """What both scored."""
        return ResponsePanel.of(
            self.scores.T,
            self.humans.T,
            systems=self.systems,
            items=self.items,
            clusters=self.clusters,
            nominal=self.nominal,
        )

    def groups(self) -> NDArray[Any]:
        """(N,) what is resampled: declared clusters, else items."""
        return self.items if self.clusters is None else self.clusters


def calibrated(case: Case, folds: int = 5) -> Case:
    """The case after cross-fitted calibration of level and, from four systems, of spread.

    The clusters of a fold are scored with what the other folds teach; clusters are dealt to folds
    in the order of their names, so that the order of rows does not matter. The spread is stretched
    by the ratio of the standard deviations of system means, within [0.5, 2], where these correlate
    above 0.5.
    """
    fold = _in_order(case.groups()) % folds
    judge, human = mean_present(case.scores), mean_present(case.humans)
    scores = np.full_like(case.scores, np.nan)
    for one in range(folds):
        taught = case.paired & (fold != one)
        if not taught.any():
            continue
        level, stretch, centre = _taught(case, taught, judge, human)
        inside = fold == one
        scores[:, inside] = level + stretch * (case.scores[:, inside] - centre)
    return replace(case, scores=scores, gate=None)


def _in_order(names: NDArray[Any]) -> NDArray[np.intp]:
    """Codes by the order of names; names that are all whole numbers go by their value."""
    found, codes = np.unique(names, return_inverse=True)
    if found.dtype.kind == "U" and np.char.isdigit(found).all():
        return np.argsort(np.argsort(found.astype(np.int64), kind="stable"))[codes]
    return codes.astype(np.intp)


def _taught(
    case: Case, taught: NDArray[np.bool_], judge: Floats, human: Floats
) -> tuple[float, float, float]:
    """Mean of the humans' system means, stretch, mean of the judge's, from some responses."""
    systems = np.zeros(len(judge)) if case.systems is None else case.systems
    codes = np.unique(systems[taught], return_inverse=True)[1]
    n = np.bincount(codes)
    j, h = (np.bincount(codes, weights=part[taught]) / n for part in (judge, human))
    stretch = 1.0
    if len(n) >= 4 and j.std() > 0 and h.std() > 0 and np.corrcoef(h, j)[0, 1] > 0.5:
        stretch = float(np.clip(h.std() / j.std(), 0.5, 2.0))
    return float(h.mean()), stretch, float(j.mean())
