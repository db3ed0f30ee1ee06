"""What the components of one judge's preferences rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from voirdire.examining.spec.component import Ground
from voirdire.examining.spec.kind import JudgedCase
from voirdire.examining.spec.preferences.found import compared_components
from voirdire.examining.spec.scores import responses
from voirdire.examining.spec.scores.case import Case
from voirdire.stats.comparisons import Compared, ComparisonPanel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ComparedCase(JudgedCase):
    """Preferences of a judge and of humans on N comparisons, in favour of `compared.a`.

    Attributes
    ----------
    compared : Compared
        The two systems of each comparison, and how they were shown.
    pooled : bool
        Whether humans are in the order of the table: people are many and each made a few.
    drawn : bool
        Whether an order that is not recorded was drawn each time.
    """

    compared: Compared
    pooled: bool = False
    drawn: bool = False
    kind: str = field(default="preference", kw_only=True)

    by_unit: ClassVar[tuple[str, ...]] = (*JudgedCase.by_unit, "compared")

    @property
    def width(self) -> float:
        """Of the scale of choices."""
        return self.compared.width


#: Components that are found as of scores.
AS_OF_SCORES = ("COVER", "GAIN")


class ComparedGround(Ground):
    """Comparisons of two systems: everything is read within pairs of them."""

    case: ComparedCase

    @cached_property
    def panel(self) -> ComparisonPanel:
        """What both chose."""
        case = self.case
        return ComparisonPanel.of(case.scores, case.humans, case.compared, case.clusters)

    @property
    def units(self) -> tuple[int, str]:
        """How many comparisons (or clusters of them) there are."""
        clustered = self.case.clusters is not None
        return self.panel.n_clusters, "items" if clustered else "comparisons"

    @property
    def systems(self) -> int:
        """How many systems were compared."""
        return len(self.panel.systems)

    @property
    def humans(self) -> tuple[int, ...]:
        """Places in the panel of those who chose."""
        return tuple(range(len(self.panel.humans)))

    @property
    def named_systems(self) -> tuple[str, ...]:
        """Those of comparisons that both made."""
        return tuple(map(str, self.panel.systems))

    @property
    def labels_alone(self) -> bool:
        """Whether there is one human a comparison."""
        return len(self.panel.humans) < 2

    @property
    def humans_below(self) -> float:
        """With one human a comparison: the agreement below which ITEM could still pass."""
        if self.few or not self.labels_alone:
            return math.nan
        read = self.one("READ")
        return math.nan if read is None else responses.pass_if_below(read.estimate)

    @property
    def has_family(self) -> bool:
        """Whether some compared systems are of the judge's family and some are not."""
        return bool((self.panel.own != 0).any())

    @property
    def gate(self) -> None:
        """None: a preference passes nothing."""
        return

    @cached_property
    def parts(self) -> dict[str, Component]:
        """Every component that the comparisons can tell."""
        groups = self.case.subgroups
        kept = None if groups is None else groups[self.case.paired].astype(str)
        return compared_components(self.panel, self.margins, kept, drawn=self.case.drawn)

    def own(self, key: str) -> tuple[Component, ...] | None:
        """All but how much it answered, and what labels are worth beside it."""
        if self.few or key in AS_OF_SCORES:
            return None
        return (self.parts[key],) if key in self.parts else ()

    @cached_property
    def as_scores(self) -> tuple[Case, Any]:
        """The choices as scores within pairs, for what labels are worth beside them."""
        case = self.case
        pairs = np.char.add(np.char.add(case.compared.a, " / "), case.compared.b)
        scored = Case(
            case.judge,
            case.attribute,
            case.reference,
            case.scores,
            case.humans,
            case.groups(),
            case.width,
            systems=pairs,
            clusters=case.clusters,
            asked=case.asked,
        )
        return scored, scored.panel()
