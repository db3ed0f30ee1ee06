"""Which attributes of ratings are the answers to one question, and the case that they make.

`as_ratings` gives labels, probabilities and comparisons as numbers from 0 to 1, which a lock keeps
and two sources share; verdicts are on the question, whose kind is kept here.
"""

from __future__ import annotations

from dataclasses import replace
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
    ) -> JudgedCase:
        """From what judge (N,) and humans (R, N) have under each attribute, in their order.

        Of comparisons nobody knows here who was shown first, nor how long responses are.
        """
        said, truth = np.stack(scores), np.stack(humans)
        if self.kind == "preference":
            return self._compared(judge, reference, said[0], truth[0], items, systems, clusters)
        case = Case(
            judge, self.name, reference, said[:1], truth[0], items, 1.0, systems=systems,
            clusters=clusters, kind=self.kind,
        )  # fmt: skip
        if self.kind == "probability":
            return case
        table, codes = _coded(np.concatenate([said[:, None], truth], axis=1))
        return of_labels(replace(case, scores=codes[:1], humans=codes[1:]), self.labels, table)

    def _compared(
        self,
        judge: str,
        reference: Names,
        said: Floats,
        truth: Floats,
        items: NDArray[np.str_],
        systems: NDArray[np.str_] | None,
        clusters: NDArray[np.str_] | None,
    ) -> ComparedCase:
        named = np.array([""]) if systems is None else systems
        sides = [
            self.pairs.get(str(name), ("a", "b")) for name in np.broadcast_to(named, said.shape)
        ]
        a, b = (np.array([pair[k] for pair in sides], dtype=np.str_) for k in (0, 1))
        if clusters is None and len(np.unique(items)) < len(items):
            clusters = items
        return ComparedCase(
            judge, self.name, reference, 2 * said[None] - 1, 2 * truth - 1, items,
            Compared(a, b), clusters=clusters,
        )  # fmt: skip


def _coded(columns: Floats) -> tuple[Floats, Floats]:
    """(D, R, N) of 0 and 1 as a table (P, D) of the distinct rows, and which row each is."""
    vectors = np.moveaxis(columns, 0, -1)
    there = ~np.isnan(vectors).any(axis=-1)
    table, rows = np.unique(vectors[there], axis=0, return_inverse=True)
    codes = np.full(there.shape, np.nan)
    codes[there] = rows.ravel()
    return table, codes
