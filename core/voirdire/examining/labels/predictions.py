"""Predictions: one row an item and label (0 or 1), or one row an item (names)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire.errors import InputError, TableError, listed
from voirdire.examining.labels.cells import SEPARATOR, ask_about_separators, split_labels
from voirdire.examining.labels.matrix import (
    LabelMatrix,
    Task,
    matrix_of_values,
    placed,
    task_of,
)
from voirdire.examining.labels.printed import Printed, is_printed, printed_results
from voirdire.study import ReadOptions
from voirdire.tables import canonical_ids, read_raw
from voirdire.tables._files._raw import build
from voirdire.tables.judged import read_judged
from voirdire.tables.judged.words import form_of
from voirdire.tabular import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.tables import RawTable

#: The name of files of predictions in a folder.
NAME = "predictions"
_WHERE = {"configuration": "", "labels": "", "task": "", "seed": "0"}


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions on a test set: the key, and what a configuration said, its seeds as runs."""

    truth: LabelMatrix
    given: LabelMatrix


@dataclass(frozen=True, slots=True)
class LabelResult:
    """What is known of one configuration on one label set and task.

    Attributes
    ----------
    source, configuration, labels : str
        The file, and how the result is called.
    task : {"binary", "multi-class", "multi-label"}
    outcome : Predictions or Printed
        Predictions, or scores as a paper prints them.
    """

    source: str
    configuration: str
    labels: str
    task: Task
    outcome: Predictions | Printed


def read_results(
    sources: Sequence[str | Path | LabelResult], *, separator: str | None = None
) -> list[LabelResult]:
    """The results in all sources, in their order.

    Parameters
    ----------
    sources : sequence of paths
        A result that was read before, or a table of predictions (``item, truth, predicted`` with
        the names of labels in a cell; or ``item, label, truth, predicted`` with 0 or 1), a table
        of printed results (``f1`` with ``f1_random``, ``shares`` or ``support``), or a folder in
        which files called predictions lie, at any depth. ``configuration``, ``labels``, ``task``
        and ``seed`` are optional columns of all of them.
    separator : str, optional
        Stands between several labels of one cell; by default a semicolon, and a table whose cells
        seem to have another one is asked about.

    Raises
    ------
    InputError
        A source does not exist, holds nothing to compare, or a value of it is wrong.
    """
    results: list[LabelResult] = []
    for source in sources:
        if isinstance(source, LabelResult):
            results.append(source)
            continue
        path = Path(source)
        for file in _files(path):
            within = file.relative_to(path).parent.as_posix() if path.is_dir() else ""
            results += _read(file, within, separator)
    if not results:
        raise InputError("there is nothing to compare: give tables of predictions or results")
    return results


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    paths = sorted(file for file in path.rglob(f"{NAME}.*") if file.suffix in (".parquet", ".csv"))
    if not paths:
        raise InputError(
            f"{path} is a folder, and no file {NAME}.parquet or {NAME}.csv lies in it: give a "
            "table of predictions or of printed results"
        )
    return paths


def _read(path: Path, within: str, separator: str | None) -> list[LabelResult]:
    raw = read_raw(path)
    # Files that are all called predictions are told apart by their folders.
    own = path.resolve().parent.name if path.stem == NAME else path.stem
    default = within if within not in ("", ".") else own or path.stem
    if {"item", "truth", "predicted"} <= set(raw.frame.columns):
        return _predicted(raw, path, default, separator)
    if is_printed(raw.frame):
        return [
            LabelResult(path.name, configuration, labels, task, printed)
            for configuration, labels, task, printed in printed_results(raw, path)
        ]
    said = _of_judges(path)
    if said is not None:
        return _predicted(said, path, default, None)
    raise TableError(
        f"{path}: neither predictions (columns item, truth, predicted) nor printed results (column "
        f"f1 beside f1_random, shares or support); its columns are {', '.join(raw.frame.columns)}"
    )


def _of_judges(path: Path) -> RawTable | None:
    """Labels of one person, who is the key, and of judges, each a configuration.

    Raises
    ------
    TableError
        Several people label it: none of them is the key.
    QuestionError
        The file may be read in two ways.
    """
    found = read_judged(path, read=ReadOptions())
    if found is None or not found[1].questions:
        return None
    said = found[1]
    if len(said.people) > 1:
        raise TableError(
            f"{path}: {listed(list(said.people))} label it, and predictions are held against one "
            "key; voirdire examine holds judges against several people"
        )
    unit = [
        pl.concat_str("item", "system", separator=" ", ignore_nulls=True).alias("item"),
        pl.col("attribute").alias("labels"),
    ]
    cells = pl.col("labels").list.join(SEPARATOR).alias("cell")
    rows = said.labels.filter(pl.col("run") == 1).select("rater", *unit, cells)
    key = pl.col("rater").is_in(list(said.people))
    table = (
        rows.filter(~key)
        .rename({"rater": "configuration", "cell": "predicted"})
        .join(
            rows.filter(key).select("item", "labels", pl.col("cell").alias("truth")),
            on=["item", "labels"],
            maintain_order="left",
        )
    )
    if any(one.sets for one in said.questions):
        table = table.with_columns(task=pl.lit("multi-label"))
    return build(path.name, table.columns, table.get_columns(), first=1)


def _predicted(raw: RawTable, path: Path, default: str, separator: str | None) -> list[LabelResult]:
    """One result a configuration, label set and task; `default` names the configuration.

    An empty prediction is missing. Without a task, several labels in a cell make it multi-label,
    two labels binary, more multi-class. A single label of 0 and 1 is binary: it holds or not.
    """
    results = []
    frame = _keyed(raw.frame, default)
    for part in frame.partition_by("configuration", "labels", "task", maintain_order=True):
        configuration, labels, task = part.select("configuration", "labels", "task").row(0)
        where = f"{path} ({', '.join(filter(None, (configuration, labels, task)))})"
        asked = task_of(task, where) if task else None
        tested = matrices_of_predictions(part, where, separator=separator)
        if "label" in part.columns and len(tested.truth.labels) == 1 and asked in (None, "binary"):
            tested = Predictions(tested.truth.two_classes(), tested.given.two_classes())
        results.append(
            LabelResult(path.name, configuration, labels, asked or _guessed(tested), tested)
        )
    return results


def _keyed(frame: pl.DataFrame, default: str) -> pl.DataFrame:
    absent = {**_WHERE, "configuration": default}
    frame = frame.with_columns(
        pl.lit(value).alias(name) for name, value in absent.items() if name not in frame.columns
    )
    return frame.with_columns(pl.col("item", *_WHERE).cast(pl.String).fill_null(""))


def matrices_of_predictions(
    predictions: pl.DataFrame, where: str = "predictions", *, separator: str | None = None
) -> Predictions:
    """Predictions of one configuration as matrices, its seeds as runs.

    Parameters
    ----------
    predictions : polars.DataFrame
        ``item, truth, predicted`` with names, or ``item, label, truth, predicted`` with 0 and 1;
        and ``seed``, where there are several. An empty prediction is missing.
    where : str
        The table, for messages.

    Raises
    ------
    TableError
        An item or label occurs twice or is absent in a seed, has no truth, or another in another
        seed; a label is predicted in another spelling than the truth has.
    """
    if "seed" not in predictions.columns:
        predictions = predictions.with_columns(seed=pl.lit("0"))
    long = predictions
    if "label" not in long.columns:
        long = _by_label(long, where, separator)
    items, labels, seeds = (
        long[name].cast(pl.String).unique(maintain_order=True).to_list()
        for name in ("item", "label", "seed")
    )
    at = (
        places_of(long["seed"], seeds),
        places_of(long["item"], items),
        places_of(long["label"], labels),
    )
    shape = (len(seeds), len(items), len(labels))
    _check_once(at, shape, (seeds, items, labels), where)
    # The truth stands next to every seed's predictions: it is read for each, and must be one.
    truth, predicted = (
        placed(_zeros_and_ones(long, column, where), at, shape) for column in ("truth", "predicted")
    )
    _check_truth(truth, items, where)
    return Predictions(
        matrix_of_values(truth[0], labels, items=items, rater="truth"),
        matrix_of_values(predicted, labels, items=items, rater="predicted"),
    )


def _by_label(part: pl.DataFrame, where: str, separator: str | None) -> pl.DataFrame:
    """One row an item and label from one row an item."""
    columns = {name: _texts(part[name]) for name in ("truth", "predicted")}
    if separator is None and all(column.dtype == pl.String for column in columns.values()):
        pairs = zip(columns["truth"].to_list(), columns["predicted"].to_list(), strict=True)
        ask_about_separators(pairs, where, "--separator")
    split = part.with_columns(
        _names(column, separator or SEPARATOR).alias(name) for name, column in columns.items()
    )
    split = _in_words_of_truth(split, where)
    names = pl.concat([split["truth"].explode(), split["predicted"].explode()]).drop_nulls()
    labels = pl.DataFrame({"label": names.unique(maintain_order=True)})
    crossed = split.join(labels, how="cross", maintain_order="left_right")
    named = (pl.col(column).list.contains(pl.col("label")) for column in ("truth", "predicted"))
    return crossed.with_columns(*(column.cast(pl.Float64) for column in named))


def _texts(column: pl.Series) -> pl.Series:
    """Cells as text, numbers as ids are (1.0 is 1), and lists as they are."""
    return column if isinstance(column.dtype, pl.List) else canonical_ids(column)


def _names(column: pl.Series, separator: str) -> pl.Series:
    """The labels in each cell; each different cell is read once."""
    if isinstance(column.dtype, pl.List):
        return column.cast(pl.List(pl.String))
    cells = column.unique(maintain_order=True)
    listed = pl.Series([split_labels(cell, separator) for cell in cells], dtype=pl.List(pl.String))
    table = pl.DataFrame({"cell": cells, "names": listed})
    whole = pl.DataFrame({"cell": column})
    return whole.join(table, on="cell", how="left", nulls_equal=True, maintain_order="left")[
        "names"
    ]


def _in_words_of_truth(split: pl.DataFrame, where: str) -> pl.DataFrame:
    """Predicted labels as the truth spells them: case, signs and a plural make no other label.

    Raises
    ------
    TableError
        One side gives names, and the other codes.
    """
    true, predicted = (
        split[name].explode().drop_nulls().unique(maintain_order=True).to_list()
        for name in ("truth", "predicted")
    )
    spellings = {form_of(name): name for name in true}
    # Two labels of the truth that differ in a sign alone are two labels.
    told = len(spellings) == len(true)
    meant = {n: spellings.get(form_of(n), n) if told and n not in true else n for n in predicted}
    coded = [bool(names) and all(map(str.isdigit, names)) for names in (true, predicted)]
    if true and predicted and coded[0] != coded[1] and not set(meant.values()) & set(true):
        raise TableError(
            f"{where}: the truth says {listed(true, 6)}, and the predictions say "
            f"{listed(predicted, 6)}: which of them mean the same is not known. Write the same "
            f"words for both"
        )
    return split.with_columns(pl.col("predicted").list.eval(pl.element().replace(meant)))


def _check_once(
    at: tuple[NDArray[np.int64], ...],
    shape: tuple[int, ...],
    names: tuple[list[str], ...],
    where: str,
) -> None:
    """Every seed must know the same items and labels, each once."""
    # A dense table of seeds, items and labels must be filled once everywhere: 0 and 2 are both
    # wrong.
    counts = np.bincount(np.ravel_multi_index(at, shape), minlength=int(np.prod(shape)))
    if (counts != 1).any():
        cell = int(np.flatnonzero(counts != 1)[0])
        seed, item, label = (
            axis[int(place)]
            for axis, place in zip(names, np.unravel_index(cell, shape), strict=True)
        )
        raise TableError(
            f"{where}: item {item!r}, label {label!r}, seed {seed!r} occurs {counts[cell]} times"
        )


def _zeros_and_ones(long: pl.DataFrame, column: str, where: str) -> pl.Series:
    values = long[column].cast(pl.Float64, strict=False)
    wrong = values.is_not_null() & ~values.is_in([0.0, 1.0])
    unread = values.is_null() & (long[column].cast(pl.String).fill_null("") != "")
    if (wrong | unread).any():
        row = long.row(int((wrong | unread).arg_true()[0]), named=True)
        raise TableError(
            f"{where}: item {row['item']!r}, label {row['label']!r}, column {column!r}: must be 0, "
            f"1 or empty, got {row[column]!r}"
        )
    return values


def _check_truth(truth: NDArray[np.float64], items: Sequence[str], where: str) -> None:
    unknown = np.isnan(truth).any(axis=(0, 2))
    if unknown.any():
        raise TableError(f"{where}: item {items[int(np.flatnonzero(unknown)[0])]!r} has no truth")
    differs = (truth != truth[0]).any(axis=(0, 2))
    if differs.any():
        item = items[int(np.flatnonzero(differs)[0])]
        raise TableError(f"{where}: the truth of item {item!r} differs between seeds")


def _guessed(tested: Predictions) -> Task:
    predicted = np.nan_to_num(tested.given.values)
    if (tested.truth.values.sum(axis=2) != 1).any() or (predicted.sum(axis=2) > 1).any():
        return "multi-label"
    return "binary" if len(tested.truth.labels) == 2 else "multi-class"
