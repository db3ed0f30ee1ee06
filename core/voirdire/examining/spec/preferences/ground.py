"""What the components of one judge's preferences rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Ground
from voirdire.examining.spec.preferences.found import compared_components
from voirdire.examining.spec.scores import responses
from voirdire.examining.spec.scores.case import Case
from voirdire.stats.comparisons import Compared, ComparisonPanel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ComparedCase:
    """Preferences of a judge and of humans on N comparisons.

    Attributes
    ----------
    scores : (K runs, N) float64
        In favour of `compared.a`; NaN is missing.
    humans : (R, N) float64
        The same; in the order of the table where people are many and each made a few.
    pooled : bool
        Whether it is so.
    items : (N,) array of str
        What was compared.
    clusters, subgroups : (N,) array of str or None
        What is left out at a time, by default each comparison; declared groups of comparisons.
    asked : bool
        Whether the judge has a row at all.
    drawn : bool
        Whether an order that is not recorded was drawn each time.
    """

    judge: str
    attribute: str
    reference: tuple[str, ...]
    scores: Floats
    humans: Floats
    compared: Compared
    items: NDArray[np.str_]
    clusters: NDArray[Any] | None = None
    subgroups: NDArray[np.str_] | None = None
    pooled: bool = False
    asked: bool = True
    drawn: bool = False

    def only(self, kept: NDArray[np.bool_]) -> ComparedCase:
        """The case on some of its comparisons."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ("clusters", "subgroups")}
        facts: dict[str, Any] = {
            name: None if fact is None else fact[kept] for name, fact in given.items()
        }
        return replace(
            self, scores=self.scores[:, kept], humans=self.humans[:, kept], items=self.items[kept],
            compared=self.compared.only(kept),
            **facts,
        )  # fmt: skip

    @property
    def width(self) -> float:
        """Of the scale of choices."""
        return self.compared.width

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """(N,) whether a human chose."""
        return np.asarray(~np.isnan(self.humans).all(axis=0))

    @property
    def paired(self) -> NDArray[np.bool_]:
        """(N,) whether the judge did, too."""
        return np.asarray(self.labelled & ~np.isnan(self.scores).all(axis=0))


class ComparedGround(Ground):
    """Comparisons of two systems: everything is read within pairs of them."""

    case: ComparedCase

    @property
    def kind(self) -> str:
        """``"preference"``."""
        return "preference"

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
    def few(self) -> bool:
        """Whether there are too few clusters for anything to be tested."""
        return self.panel.n_clusters < self.margins.clusters

    @property
    def n_labelled(self) -> int:
        """Comparisons with a human's choice."""
        return int(self.case.labelled.sum())

    @property
    def n_paired(self) -> int:
        """Comparisons with a human's and the judge's choice."""
        return int(self.case.paired.sum())

    @property
    def answered(self) -> tuple[int, int]:
        """Comparisons that the judge was asked about, and those of them that it decided."""
        return self.n_labelled, self.n_paired

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

    def calibrated(self) -> None:
        """There is no scale to calibrate."""
        return

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

    @cached_property
    def as_scores(self) -> tuple[Case, Any]:
        """The choices as scores within pairs, for what labels are worth beside them."""
        case = self.case
        pairs = np.char.add(np.char.add(case.compared.a, " / "), case.compared.b)
        scored = Case(
            case.judge, case.attribute, case.reference, case.scores, case.humans,
            case.items if case.clusters is None else case.clusters, case.compared.width,
            systems=pairs, clusters=case.clusters, asked=case.asked,
        )  # fmt: skip
        return scored, scored.panel()
