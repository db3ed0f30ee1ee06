"""From sets of labels to what a task asks for: a 0/1 matrix over declared classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StudyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.study import LabelSetSpec


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labels of each row.

    Attributes
    ----------
    labels : tuple of str
        Declared labels, used or not.
    none : str
        The label that says that no other applies; empty where there is none.
    matrix : (n, q) float64
        0 or 1; a row of NaN has no labels.
    dominant : (n,) int64
        Place of the first label; -1 where there is none or no order is known.
    reasons : (n,) str
        Why a row has no labels; empty where it has.
    unknown : dict
        Undeclared labels and how often they stand in the data.
    """

    labels: tuple[str, ...]
    none: str
    matrix: NDArray[np.float64]
    dominant: NDArray[np.int64]
    reasons: NDArray[np.str_]
    unknown: dict[str, int]


@dataclass(frozen=True, slots=True)
class Target:
    """Classes and a 0/1 matrix, NaN in rows without a target; `reasons` says why."""

    task: str
    classes: tuple[str, ...]
    matrix: NDArray[np.float64]
    reasons: NDArray[np.str_]

    @property
    def known(self) -> NDArray[np.bool_]:
        """Rows that have a target."""
        known: NDArray[np.bool_] = np.asarray(~np.isnan(self.matrix).any(axis=1))
        return known


def target_of(given: Labelled, task: str, spec: LabelSetSpec) -> Target:
    """What a task asks of the labels of a set.

    ``binary``: whether any label but `none` applies. ``multi-class``: the dominant label.
    ``multi-label``: all labels as they stand.

    Raises
    ------
    StudyError
        Too few classes are left.
    """
    if spec.classes:
        found = _combined(given, spec)
    elif task == "binary":
        found = _binary(given, spec)
    elif task == "multi-class":
        found = _dominant(given)
    else:
        found = Target(task, given.labels, given.matrix, given.reasons)
    if not found.classes or (task != "multi-label" and len(found.classes) < 2):
        raise StudyError(f"label set {spec.name!r}: a {task} task needs two classes or more")
    return found


def binary_classes(labels: tuple[str, ...], none: str, positive: str = "") -> tuple[str, str]:
    """Names of the two classes, the negative one first.

    >>> binary_classes(("depression",), ""), binary_classes(("A", "B", "None"), "None")
    (('not depression', 'depression'), ('None', 'any'))
    """
    real = [label for label in labels if label != none]
    yes = positive or (real[0] if len(real) == 1 else "any")
    return none or f"not {yes}", yes


def _binary(given: Labelled, spec: LabelSetSpec) -> Target:
    real = [place for place, label in enumerate(given.labels) if label != given.none]
    yes = given.matrix[:, real].max(axis=1, initial=0.0)
    yes[given.reasons != ""] = np.nan
    classes = binary_classes(given.labels, given.none, spec.positive)
    return Target("binary", classes, np.column_stack([1 - yes, yes]), given.reasons)


def _dominant(given: Labelled) -> Target:
    lost = (given.dominant < 0) & (given.reasons == "")
    matrix = np.eye(len(given.labels))[np.maximum(given.dominant, 0)]
    matrix[given.dominant < 0] = np.nan
    reasons = np.where(lost, "no single label", given.reasons)
    return Target("multi-class", given.labels, matrix, reasons)


def _combined(given: Labelled, spec: LabelSetSpec) -> Target:
    """One class for each declared set of labels, exactly as declared."""
    classes = tuple(spec.classes)
    sets = np.zeros((len(classes), len(given.labels)))
    for row, (name, labels) in enumerate(spec.classes.items()):
        for label in labels:
            if label not in given.labels:
                raise StudyError(
                    f"label set {spec.name!r}, class {name!r}: {label!r} is no declared label "
                    f"({list(given.labels)})"
                )
            sets[row, given.labels.index(label)] = 1
    if len(np.unique(sets, axis=0)) < len(sets):
        raise StudyError(f"label set {spec.name!r}: two of its classes hold the same labels")
    same = (given.matrix[:, None, :] == sets[None]).all(axis=2)
    lost = ~same.any(axis=1)
    matrix = same.astype(np.float64)
    matrix[lost] = np.nan
    fresh = lost & (given.reasons == "")
    return Target(
        "multi-class", classes, matrix, np.where(fresh, "no class for these labels", given.reasons)
    )
