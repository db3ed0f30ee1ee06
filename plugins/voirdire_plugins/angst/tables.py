"""The tables of the paper (3 to 6, 10, 11) as sections of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tabular import Marked, Section, Spread, Table, count, number, text
from voirdire_plugins.angst.labels import LABELS
from voirdire_plugins.angst.scores import best

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.tabular import Cell, Column

Score = tuple[str, str, str]  # heading, label, score

BINARY: tuple[Score, ...] = (
    ("Acc", "", "accuracy"), ("Precision", "", "precision_weighted"),
    ("Recall", "", "recall_weighted"), ("F1", "", "f1_weighted"), ("macro-F1", "", "f1_macro"),
)  # fmt: skip
MULTI: tuple[Score, ...] = (
    ("Hamming loss", "", "hamming_loss"), *BINARY[1:],
    ("Depression's part of F1", "depression", "f1_part"),
    ("Anxiety's part of F1", "anxiety", "f1_part"),
    ("F1 of depression", "depression", "f1"), ("F1 of anxiety", "anxiety", "f1"),
)  # fmt: skip
_CAPTION = (
    "Mean ± standard deviation over runs, against the gold labels; precision, recall and F1 are "
    "weighted by support. Answers are of posts times runs; those that cannot be read are left out "
    "and counted as missing. Behind a mean of fewer runs stands in how many it is defined."
)
_PARTS = (
    " The two parts are each label's F1 times its share of all positive labels: they add up to F1 "
    "and are no F1 scores themselves, which are shown with them."
)


def score_sections(
    summary: pl.DataFrame, types: Mapping[str, str], panel: Sequence[str]
) -> list[Section]:
    """Tables 3 to 6 of whichever tasks were run; `types` says of each rater how it was asked."""
    found = []
    for label in LABELS:
        if summary.filter(pl.col("task") == label).is_empty():
            continue
        rows = _rows(summary, label, BINARY, types, panel)
        title = f"{label.capitalize()} against control (as Table 3)"
        found.append(Section(title, _CAPTION, (Table(_heads(BINARY), rows),)))
        columns = _per_class(label)
        title = f"{label.capitalize()} and control, each class (as Table {4 + LABELS.index(label)})"
        rows = _rows(summary, label, columns, types, panel)
        found.append(Section(title, _CAPTION, (Table(_heads(columns), rows),)))
    if not summary.filter(pl.col("task") == "comorbidity").is_empty():
        rows = _rows(summary, "comorbidity", MULTI, types, panel)
        table = Table(_heads(MULTI), rows)
        found.append(Section("Both labels (as Table 6)", _CAPTION + _PARTS, (table,)))
    return found


def _per_class(label: str) -> tuple[Score, ...]:
    return tuple(
        (f"{score.capitalize()} of {name}", name, score)
        for name in (label, "control")
        for score in ("precision", "recall", "f1")
    )


def _heads(columns: Sequence[Score]) -> tuple[Column, ...]:
    scores = (number(head) for head, _, _ in columns)
    return (text("Method"), text("Type"), *scores, *map(count, ("Runs", "Answers", "Missing")))


def _rows(
    summary: pl.DataFrame,
    task: str,
    columns: Sequence[Score],
    types: Mapping[str, str],
    panel: Sequence[str],
) -> tuple[tuple[Cell, ...], ...]:
    here = summary.filter(pl.col("task") == task)
    found = {(r["rater"], r["label"], r["score"]): r for r in here.iter_rows(named=True)}
    raters = [name for name in panel if name in set(here["rater"])]
    rows = []
    for rater in raters:
        one = found[rater, "", "f1_weighted"]
        cells = [_cell(found.get((rater, *column[1:])), one["runs"]) for column in columns]
        rows.append((rater, types.get(rater, ""), *cells, one["runs"], one["n"], one["missing"]))
    return (*rows, *_difference(here, task, columns, types, raters))


def _difference(
    here: pl.DataFrame,
    task: str,
    columns: Sequence[Score],
    types: Mapping[str, str],
    raters: Sequence[str],
) -> list[tuple[Cell, ...]]:
    """The best method, and how far it lies above the best of the other kind (or the second)."""
    first = best(here, task, raters)
    trained = [name for name in raters if types.get(name) == "fine-tuned"]
    asked = [name for name in raters if name not in trained]
    rivals = [name for name in raters if name != first]
    if trained and asked:
        rivals = asked if first in trained else trained
    second = best(here, task, rivals) if rivals else ""
    if not first or not second:
        return []
    mean = {(r["rater"], r["label"], r["score"]): r["mean"] for r in here.iter_rows(named=True)}
    pairs = [(mean.get((first, *c[1:])), mean.get((second, *c[1:]))) for c in columns]
    gaps = [None if a is None or b is None else a - b for a, b in pairs]
    return [(f"{first} − {second}", "best − best other", *gaps, None, None, None)]


def _cell(row: Mapping[str, float | None] | None, runs: int) -> Cell:
    if row is None or row["mean"] is None:
        return None
    spread = Spread(row["mean"], row["sd"])
    return spread if row["runs"] == runs else Marked(spread, f" ({row['runs']})")
