"""Columns of labels read against the declared set; what cannot be read is missing and counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import TableError
from voirdire.examining.labels import split_labels
from voirdire.parsing import LabelSet, spelled
from voirdire_judges.classifiers._targets import Labelled

if TYPE_CHECKING:
    import polars as pl

    from voirdire.study import ClassifySpec, LabelSetSpec

_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")


def read_labels(frame: pl.DataFrame, spec: ClassifySpec, chosen: LabelSetSpec) -> Labelled:
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
    if chosen.columns:
        return _settled(_from_columns(frame, chosen, labels, none))
    known = LabelSet(labels, none=none or None)
    return _settled(_from_lists(frame[chosen.column].to_list(), known, spec.separator))


def _settled(found: Labelled) -> Labelled:
    """The labels without rows that name neither `none` nor a label, or both."""
    if not found.none:
        return found
    none, count = found.matrix[:, found.labels.index(found.none)], found.matrix.sum(axis=1)
    reasons = np.where(count == 0, "no label", found.reasons)
    reasons = np.where((none == 1) & (count > 1), "contradiction", reasons)
    lost = reasons != ""
    matrix = np.where(lost[:, None], np.nan, found.matrix)
    return replace(
        found, matrix=matrix, dominant=np.where(lost, -1, found.dominant), reasons=reasons
    )


def _from_lists(cells: list[Any], known: LabelSet, separator: str) -> Labelled:
    matrix = np.full((len(cells), len(known.labels)), np.nan)
    dominant = np.full(len(cells), -1)
    reasons = np.full(len(cells), "", dtype="<U24")
    unknown: Counter[str] = Counter()
    for row, cell in enumerate(cells):
        parts = split_labels(cell, separator)
        if parts is None:
            reasons[row] = "blank"
            continue
        places = [known.forms.get(spelled(part)) for part in parts]
        strange = [part for part, place in zip(parts, places, strict=True) if place is None]
        if strange:
            unknown.update(strange)
            reasons[row] = "undeclared label"
            continue
        found = [known.labels.index(place) for place in places if place is not None]
        matrix[row] = 0
        matrix[row, found] = 1
        dominant[row] = found[0] if found else -1
    return Labelled(known.labels, known.none or "", matrix, dominant, reasons, dict(unknown))


def _from_columns(
    frame: pl.DataFrame, chosen: LabelSetSpec, labels: tuple[str, ...], none: str
) -> Labelled:
    """One column of 0 and 1 a label; a label without a column applies to no row."""
    strange = sorted(set(chosen.columns) - set(labels))
    if strange:
        raise TableError(f"label set {chosen.name!r}: {strange} not among the labels {labels}")
    matrix = np.zeros((frame.height, len(labels)))
    unknown: Counter[str] = Counter()
    strange_rows = np.zeros(frame.height, dtype=np.bool_)
    for label, column in chosen.columns.items():
        texts = ["" if v is None else str(v).strip().lower() for v in frame[column].to_list()]
        values = [1.0 if t in _YES else 0.0 if t in _NO else np.nan for t in texts]
        odd = [bool(t) and t not in (*_YES, *_NO) for t in texts]
        unknown.update(t for t, is_odd in zip(texts, odd, strict=True) if is_odd)
        strange_rows |= odd
        matrix[:, labels.index(label)] = values
    lost = np.isnan(matrix).any(axis=1)
    single = np.nan_to_num(matrix).sum(axis=1) == 1
    dominant = np.where(single & ~lost, np.nan_to_num(matrix).argmax(axis=1), -1)
    if none and none not in chosen.columns:
        empty = ~lost & (matrix.sum(axis=1) == 0)
        matrix[empty, labels.index(none)] = 1
        dominant[empty] = labels.index(none)
    matrix[lost] = np.nan
    why = np.where(strange_rows, "neither 0 nor 1", "blank")
    reasons = np.where(lost, why, "").astype("<U24")
    return Labelled(labels, none, matrix, dominant, reasons, dict(unknown))
