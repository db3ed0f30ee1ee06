"""Which attributes of ratings are the answers to one question, and the case that they make.

`as_ratings` gives labels, probabilities and comparisons as numbers from 0 to 1, which a lock keeps
and two sources share; verdicts are on the question, whose kind is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from voirdire.examining.spec.labels.ground import of_labels
from voirdire.examining.spec.preferences.ground import ComparedCase
from voirdire.examining.spec.scores.case import Case
from voirdire.stats.comparisons import Compared
from voirdire.study import StudyPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.kind import JudgedCase

    Floats = NDArray[np.float64]

Names = tuple[str, ...]


class RatedQuestion(StudyPart):
    """A question whose answers stand in several attributes of ratings.

    `labels` and `attributes` go together, one attribute a label. `pairs` says which two systems
    are compared under one name, the first of them preferred at 1.
    """

    name: str
    kind: Literal["label", "label set", "probability", "preference"]
    attributes: Names
    labels: Names = ()
    pairs: dict[str, tuple[str, str]] = Field(default_factory=dict)

    def attribute_of(self, at: Sequence[str]) -> str:
        """The attribute of the first of these that is a label; else the first of all."""
        places = [self.labels.index(one) for one in at if one in self.labels]
        return self.attributes[min(places, default=0)]

    def is_about(self, attribute: str, name: str, label: str) -> bool:
        """Whether what is said of a question and label is shown beside an attribute of its."""
        if name != self.name or attribute not in self.attributes:
            return False
        # Above and below the threshold are sides of one attribute.
        of_label = bool(label) and self.kind != "probability"
        return not of_label or self.attribute_of((label,)) == attribute

    def case(
        self,
        judge: str,
        reference: Names,
        scores: Sequence[Floats],
        humans: Sequence[Floats],
        items: NDArray[np.str_],
        *,
        systems: NDArray[np.str_] | None = None,
        clusters: NDArray[np.str_] | None = None,
        shown: ShownPairs | None = None,
    ) -> JudgedCase:
        """From what judge (N,) and humans (R, N) have under each attribute, in their order.

        Of comparisons nobody knows here who was shown first, nor how long responses are, unless
        `shown` says it.
        """
        said, truth = np.stack(scores), np.stack(humans)
        if self.kind == "preference":
            whole = shown or ShownPairs(2 * said[0] - 1, 2 * truth[0] - 1)
            return self._compared(judge, reference, whole, items, systems, clusters)
        case = Case(
            judge,
            self.name,
            reference,
            said[:1],
            truth[0],
            items,
            1.0,
            systems=systems,
            clusters=clusters,
            kind=self.kind,
        )
        if self.kind == "probability":
            return case
        table, codes = _coded(np.concatenate([said[:, None], truth], axis=1))
        return of_labels(replace(case, scores=codes[:1], humans=codes[1:]), self.labels, table)

    def sides_of(self, name: str) -> tuple[str, str]:
        """The two systems that are compared under a name."""
        return self.pairs.get(name, ("a", "b"))

    def _compared(
        self,
        judge: str,
        reference: Names,
        shown: ShownPairs,
        items: NDArray[np.str_],
        systems: NDArray[np.str_] | None,
        clusters: NDArray[np.str_] | None,
    ) -> ComparedCase:
        named = np.array([""]) if systems is None else systems
        sides = [self.sides_of(str(name)) for name in np.broadcast_to(named, items.shape)]
        a, b = (np.array([pair[k] for pair in sides], dtype=np.str_) for k in (0, 1))
        if clusters is None and len(np.unique(items)) < len(items):
            clusters = items
        compared = Compared(
            a, b, shown.width, shown.swapped, shown.first, shown.length, shown.family
        )
        return ComparedCase(
            judge,
            self.name,
            reference,
            shown.scores[None],
            shown.humans,
            items,
            compared,
            drawn=shown.drawn,
            clusters=clusters,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ShownPairs:
    """N comparisons of a judge and R humans, in favour of the system named first, as shown.

    Attributes
    ----------
    scores : (N,) float64
    humans : (R, N) float64
    width : float
        From the lowest choice to the highest.
    swapped, first, length : (N,) float64, optional
        As `voirdire.stats.comparisons.Compared` has them.
    family : tuple of str
        Systems of the judge's own family.
    drawn : bool
        Whether an order that is not recorded was drawn each time.
    """

    scores: Floats
    humans: Floats
    width: float = 2.0
    swapped: Floats | None = None
    first: Floats | None = None
    length: Floats | None = None
    family: Names = ()
    drawn: bool = False


def _coded(columns: Floats) -> tuple[Floats, Floats]:
    """(D, R, N) of 0 and 1 as a table (P, D) of the distinct rows, and which row each is."""
    vectors = np.moveaxis(columns, 0, -1)
    there = ~np.isnan(vectors).any(axis=-1)
    table, rows = np.unique(vectors[there], axis=0, return_inverse=True)
    codes = np.full(there.shape, np.nan)
    codes[there] = rows.ravel()
    return table, codes
