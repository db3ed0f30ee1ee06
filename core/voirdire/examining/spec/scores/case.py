"""One judge and attribute as arrays: what the components of a verdict are computed from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats.calibration import calibrate
from voirdire.stats.response_panel import ResponsePanel, mean_present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from voirdire.stats.response_panel import ResponseCounts

    Floats = NDArray[np.float64]


#: Of clusters, in cross-fitted calibration.
FOLDS = 5


@dataclass(frozen=True, slots=True)
class GateRule:
    """Where pass begins, and the least shares asked with one column of labels, where they are.

    `by_default` says that nobody declared these shares.
    """

    at: float
    sensitivity: float | None = None
    specificity: float | None = None
    by_default: bool = False

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
        The width of the scale.
    family : mapping
        System -> whether it is of the judge's own family; empty where not declared.
    random_labels : bool
        Whether the labelled responses were drawn at random, or all are labelled.
    asked : bool
        Whether the judge has a row of the attribute at all, scored or missing.
    temperature : float or None
        At which the judge ran.
    counted : ResponseCounts or None
        How many responses each of the N stands for; None: itself alone.
    labels : tuple of str
        Of labels and label sets, the list; then scores and humans are rows of `table`.
    table : (P, D) float64 or None
        The vector of 0 and 1 that each code stands for.
    sets : bool
        Whether a code stands for any number of labels, none included.
    probability : bool
        Whether the judge's scores are probabilities of what humans say, 1 or 0.
    chances : (N,) float64 or None
        With which probability each response was given to people, NaN where that is not said; None
        where it was the same for all.
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
    asked: bool = True
    temperature: float | None = None
    counted: ResponseCounts | None = None
    labels: tuple[str, ...] = ()
    table: Floats | None = None
    sets: bool = False
    probability: bool = False
    chances: Floats | None = None

    def size(self, kept: NDArray[np.bool_]) -> int:
        """Responses that are kept."""
        return int(kept.sum()) if self.counted is None else self.counted.size(kept)

    def only(self, kept: NDArray[np.bool_]) -> Case:
        """The case on some of its responses."""
        given: dict[str, Any] = {
            name: getattr(self, name) for name in ("systems", "clusters", "subgroups")
        }
        facts: dict[str, Any] = {
            name: None if fact is None else fact[kept] for name, fact in given.items()
        }
        return replace(
            self, scores=self.scores[:, kept], humans=self.humans[:, kept], items=self.items[kept],
            **facts,
        )  # fmt: skip

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(N,) whether a human scored it."""
        return np.asarray(~np.isnan(self.humans).all(axis=0))

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(N,) whether the judge scored it, in some run."""
        return np.asarray(~np.isnan(self.scores).all(axis=0))

    def sides(self) -> tuple[int, int] | None:
        """How many responses the judge fails and passes, where labels were drawn by that alone.

        None where chances differ within a side, where there are several runs, or no gate.
        """
        if self.gate is None or self.chances is None or len(self.scores) > 1:
            return None
        sizes = []
        for passes in (False, True):
            own = self.judged & ((self.scores[0] >= self.gate.at) == passes)
            said = self.chances[own & self.labelled]
            if np.unique(said[~np.isnan(said)].round(9)).size > 1:
                return None
            sizes.append(self.size(own))
        return sizes[0], sizes[1]

    @property
    def paired(self) -> NDArray[np.bool_]:
        """(N,) both."""
        return self.labelled & self.judged

    @property
    def constant(self) -> float:
        """The one score that the judge gives; NaN where its scores differ."""
        # Over all runs: a judge that is constant in each, at different scores, does vary.
        values = np.unique(self.scores[~np.isnan(self.scores)])
        return float(values[0]) if len(values) == 1 else float("nan")

    def panel(self) -> ResponsePanel:
        """What both scored."""
        return ResponsePanel.of(
            self.scores.T,
            self.humans.T,
            systems=self.systems,
            items=self.items,
            clusters=self.clusters,
            nominal=self.nominal,
            counted=self.counted,
            table=self.table,
        )

    def groups(self) -> NDArray[Any]:
        """(N,) what is resampled: declared clusters, else items."""
        return self.items if self.clusters is None else self.clusters


def calibrated(case: Case, folds: int = FOLDS) -> Case:
    """The case after cross-fitted calibration of level and, from four systems, of spread."""
    calibration = calibrate(
        case.scores,
        mean_present(case.humans),
        systems=case.systems,
        clusters=case.groups(),
        folds=folds,
    )
    # A gate is stated on the scale of the raw scores, and says nothing of calibrated ones.
    return replace(case, scores=calibration.scores, gate=None)
