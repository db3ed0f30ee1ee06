"""Labels to learn from: a table's, as a `LabelMatrix`, and what a task makes of them.

What cannot be read is missing, with the reason, and is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StudyError, TableError, check_allowed, not_one_of
from voirdire.examining.labels import matrix_of_names, matrix_of_values, split_labels
from voirdire.parsing import LabelSet, spelled
from voirdire.tables import yes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.examining.labels import LabelMatrix, Task
    from voirdire.study import ClassifySpec, LabelSetSpec


@dataclass(frozen=True, slots=True)
class RowLabels:
    """The labels of each row.

    Attributes
    ----------
    labels : LabelMatrix
        One run: the declared labels of each row, and which of them comes first.
    none : str
        The label that says that no other applies; empty where there is none.
    reasons : (n,) str
        Why a row has no labels; empty where it has.
    unknown : dict
        Undeclared labels and how often they stand in the data.
    """

    labels: LabelMatrix
    none: str
    reasons: NDArray[np.str_]
    unknown: dict[str, int]


@dataclass(frozen=True, slots=True)
class Target:
    """What a task asks of each row: its classes as labels; `reasons` says why a row has none."""

    task: Task
    labels: LabelMatrix
    reasons: NDArray[np.str_]

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names."""
        return self.labels.labels

    @property
    def values(self) -> NDArray[np.float64]:
        """(n, classes) 0 or 1; NaN in rows without a target."""
        values: NDArray[np.float64] = self.labels.values[0]
        return values

    @property
    def known(self) -> NDArray[np.bool_]:
        """Rows that have a target."""
        present: NDArray[np.bool_] = self.labels.known[0]
        return present


def read_labels(frame: pl.DataFrame, spec: ClassifySpec, chosen: LabelSetSpec) -> RowLabels:
    """The labels of every row of a table.

    Where `none` is declared, a row names it or other labels: a list of nothing is no answer, and
    both at once are a contradiction. Either is missing.

    Raises
    ------
    TableError
        No labels are declared, or a column is for none of them.
    """
    labels, none = spec.labels_of(chosen)
    if not labels:
        raise TableError(f"label set {chosen.name!r}: declare its labels (classify.labels)")
    items = frame[spec.id].to_list()
    if chosen.columns:
        return _without_contradictions(_from_columns(frame, items, chosen, labels, none))
    label_set = LabelSet(labels, none=none or None)
    return _without_contradictions(
        _from_lists(frame[chosen.column].to_list(), items, label_set, spec.separator)
    )


def _without_contradictions(labelled: RowLabels) -> RowLabels:
    """The labels without rows that name neither `none` nor a label, or both."""
    if not labelled.none:
        return labelled
    values = labelled.labels.values[0]
    none, count = values[:, labelled.labels.labels.index(labelled.none)], values.sum(axis=1)
    reasons = np.where(count == 0, "no label", labelled.reasons)
    reasons = np.where((none == 1) & (count > 1), "contradiction", reasons)
    return replace(labelled, labels=labelled.labels.without(reasons != ""), reasons=reasons)


def _from_lists(
    cells: Sequence[Any], items: Sequence[str], label_set: LabelSet, separator: str
) -> RowLabels:
    """All labels in one cell; the first named comes first."""
    named: list[list[str] | None] = []
    reasons: list[str] = []
    unknown: Counter[str] = Counter()
    for cell in cells:
        parts = split_labels(cell, separator)
        forms = [label_set.forms.get(spelled(part)) for part in parts or ()]
        strange = [part for part, form in zip(parts or (), forms, strict=True) if form is None]
        unknown.update(strange)
        # One label that is not declared makes the whole row unknown: without it the others
        # would look complete.
        reasons.append("blank" if parts is None else "undeclared label" if strange else "")
        named.append(None if reasons[-1] else [form for form in forms if form is not None])
    labels = matrix_of_names(named, label_set.labels, items=items)
    return RowLabels(labels, label_set.none or "", np.array(reasons, np.str_), dict(unknown))


def _from_columns(
    frame: pl.DataFrame,
    items: Sequence[str],
    chosen: LabelSetSpec,
    labels: tuple[str, ...],
    none: str,
) -> RowLabels:
    """One column of 0 and 1 a label; a label without a column applies to no row."""
    for name in chosen.columns:
        check_allowed("label", [name], labels, f"label set {chosen.name!r}", TableError)
    values = np.zeros((frame.height, len(labels)))
    unknown: Counter[str] = Counter()
    # As wide as the longest reason; NumPy would cut it without a word.
    reasons = np.full(frame.height, "", dtype="<U15")
    for label, column in chosen.columns.items():
        cells = ["" if cell is None else str(cell).strip() for cell in frame[column].to_list()]
        answers = [yes_of(cell) for cell in cells]
        odd = np.array(
            [cell != "" and yes is None for cell, yes in zip(cells, answers, strict=True)]
        )
        unknown.update(cell for cell, is_odd in zip(cells, odd, strict=True) if is_odd)
        values[:, labels.index(label)] = [np.nan if yes is None else yes for yes in answers]
        blank = np.isnan(values[:, labels.index(label)]) & ~odd
        reasons[blank & (reasons == "")] = "blank"
        reasons[odd] = "neither 0 nor 1"
    # Without a column of its own, `none` is what is left where every other label is 0.
    if none and none not in chosen.columns:
        values[values.sum(axis=1) == 0, labels.index(none)] = 1
    # Columns have no order, so a label comes first only where it stands alone.
    single = np.nan_to_num(values).sum(axis=1) == 1
    first = np.where(single, np.nan_to_num(values).argmax(axis=1), -1)
    matrix = matrix_of_values(values, labels, items=items, first=first).without(reasons != "")
    return RowLabels(matrix, none, reasons, dict(unknown))


def target_of(given: RowLabels, task: Task, spec: LabelSetSpec) -> Target:
    """What a task asks of the labels of a set.

    ``binary``: whether any label but `none` applies. ``multi-class``: the label that comes first.
    ``multi-label``: all labels as they stand.

    Raises
    ------
    StudyError
        Too few classes are left.
    """
    if spec.classes:
        target = _combined(given, spec)
    elif task == "binary":
        target = _binary(given, spec)
    elif task == "multi-class":
        target = _first(given)
    else:
        target = Target(task, given.labels, given.reasons)
    if not target.classes or (task != "multi-label" and len(target.classes) < 2):
        raise StudyError(f"label set {spec.name!r}: a {task} task needs two classes or more")
    return target


def binary_classes(labels: tuple[str, ...], none: str, positive: str = "") -> tuple[str, str]:
    """Names of the two classes, the negative one first.

    >>> binary_classes(("depression",), ""), binary_classes(("A", "B", "None"), "None")
    (('not depression', 'depression'), ('None', 'any'))
    """
    real = [label for label in labels if label != none]
    yes = positive or (real[0] if len(real) == 1 else "any")
    return none or f"not {yes}", yes


def _binary(given: RowLabels, spec: LabelSetSpec) -> Target:
    own = given.labels
    real = own.only([label for label in own.labels if label != given.none])
    yes = real.values[0].max(axis=1, initial=0.0)
    yes[given.reasons != ""] = np.nan
    classes = binary_classes(own.labels, given.none, spec.positive)
    return Target("binary", _one_of(own, classes, np.column_stack([1 - yes, yes])), given.reasons)


def _first(given: RowLabels) -> Target:
    own, first = given.labels, given.labels.first[0].astype(np.intp)
    # -1 (no first label) becomes any row here, and is unknown in the next line.
    values = np.eye(len(own.labels))[np.maximum(first, 0)]
    values[first < 0] = np.nan
    fresh = (first < 0) & (given.reasons == "")
    reasons = np.where(fresh, "no single label", given.reasons)
    return Target("multi-class", _one_of(own, own.labels, values), reasons)


def _combined(given: RowLabels, spec: LabelSetSpec) -> Target:
    """One class for each declared set of labels, exactly as declared."""
    own, classes = given.labels, tuple(spec.classes)
    for name, labels in spec.classes.items():
        for label in labels:
            if label not in own.labels:
                where = f"label set {spec.name!r}, class {name!r}"
                raise not_one_of("label", label, own.labels, where, StudyError)
    sets = matrix_of_names(list(spec.classes.values()), own.labels, items=classes).values[0]
    if len(np.unique(sets, axis=0)) < len(sets):
        raise StudyError(f"label set {spec.name!r}: two of its classes hold the same labels")
    # Rows by sets by labels: a row belongs to the set that it equals, and NaN equals nothing.
    same = (own.values[0][:, None, :] == sets[None]).all(axis=2)
    values = np.where(same.any(axis=1)[:, None], same, np.nan)
    fresh = ~same.any(axis=1) & (given.reasons == "")
    reasons = np.where(fresh, "no class for these labels", given.reasons)
    return Target("multi-class", _one_of(own, classes, values), reasons)


def _one_of(own: LabelMatrix, classes: Sequence[str], values: NDArray[np.float64]) -> LabelMatrix:
    """Classes of the same rows."""
    return matrix_of_values(values, classes, items=own.items)
