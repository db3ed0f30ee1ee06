"""One judge and attribute as arrays: what the components of a verdict are computed from."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.examining.spec.kind import JudgedCase
from voirdire.late import dataclass
from voirdire.stats.calibration import calibrate
from voirdire.stats.response_panel import AlikeUnits, ResponsePanel, mean_present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


#: Units for each distinct row from which these are examined in place of the units.
_FEW_ALIKE = 4
#: Fewer units than this take no time, and their sums stay those of the units to the last bit.
_MANY_UNITS = 4000
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
class Case(JudgedCase):
    """Scores of one judge and of the humans on N responses, all that the table holds.

    Attributes
    ----------
    width : float
        The width of the scale.
    systems : (N,) array or None
        Names or numbers; None where not declared.
    family : mapping
        System -> whether it is of the judge's own family; empty where not declared.
    random_labels : bool
        Whether the labelled responses were drawn at random, or all are labelled.
    temperature : float or None
        At which the judge ran.
    labels : tuple of str
        Of labels and label sets, the list; then scores and humans are rows of `table`.
    table : (P, D) float64 or None
        The vector of 0 and 1 that each code stands for.
    chances : (N,) float64 or None
        With which probability each response was given to people, NaN where that is not said; None
        where it was the same for all.
    """

    width: float
    systems: NDArray[Any] | None = None
    family: Mapping[str, bool] = field(default_factory=dict)
    gate: GateRule | None = None
    random_labels: bool = True
    temperature: float | None = None
    labels: tuple[str, ...] = ()
    table: Floats | None = None
    chances: Floats | None = None

    by_unit: ClassVar[tuple[str, ...]] = (*JudgedCase.by_unit, "systems", "chances")

    @property
    def nominal(self) -> bool:
        """Whether scores are codes without an order: of a table, or that stand for themselves."""
        return self.table is not None or self.kind == "nominal"

    def distinct(self) -> Case:
        """The case with a row for units that all raters judged alike, and how many these are.

        The case itself of scores, where a cluster or a system is declared, an item has several
        units, or few are alike.
        """
        known = (self.counted, self.clusters, self.systems)
        many = self.scores.shape[1] >= _MANY_UNITS
        if not many or self.table is None or any(one is not None for one in known):
            return self
        said = np.concatenate([self.scores, self.humans])
        groups = np.zeros(said.shape[1]) if self.subgroups is None else self.subgroups
        parts = [*said, np.unique(groups, return_inverse=True)[1]]
        # Missing is a judgement of its own here; one number a unit, told apart by what was said.
        codes = np.zeros(said.shape[1], np.int64)
        for part in parts:
            own = np.unique(part, return_inverse=True)[1]
            codes = np.unique(codes * (int(own.max(initial=0)) + 1) + own, return_inverse=True)[1]
        _, first, count = np.unique(codes, return_index=True, return_counts=True)
        if len(first) * _FEW_ALIKE > len(codes) or len(np.unique(self.items)) < len(self.items):
            return self
        rows = np.zeros(len(codes), np.bool_)
        rows[first] = True
        kept = np.flatnonzero(rows)
        counted = AlikeUnits(count[codes[kept]].astype(np.float64))
        return replace(self.only(rows), counted=counted)

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
