"""Predictions: one row an item and label (0 or 1), or one row an item (names)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from voirdire._errors import TableError
from voirdire.examining.comparing._cells import Cell, Task, Tested, task_of
from voirdire.tables import canonical_ids

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from voirdire.tables import RawTable

#: Separates the labels of one cell.
SEPARATOR = ";"
#: How lists of labels stand in files of JSON and Parquet.
_JSON_LIST = r'^\[\s*(?:"|\])'
_WHERE = {"configuration": "", "labels": "", "task": "", "seed": "0"}


def is_predictions(frame: pl.DataFrame) -> bool:
    """Whether a table holds predictions."""
    return {"item", "truth", "predicted"} <= set(frame.columns)


def prediction_cells(raw: RawTable, path: Path, default: str) -> list[Cell]:
    """One cell a configuration, label set and task; `default` names the configuration.

    An empty prediction is missing. Without a task, several labels in a cell make it multi-label,
    two labels binary, more multi-class. A single label of 0 and 1 is binary: it holds or not.
    """
    frame = _keyed(raw.frame, default)
    cells = []
    for part in frame.partition_by("configuration", "labels", "task", maintain_order=True):
        configuration, labels, task = part.select("configuration", "labels", "task").row(0)
        where = f"{path} ({', '.join(filter(None, (configuration, labels, task)))})"
        long = part if "label" in part.columns else _long(part, where)
        tested = _tested(long, where)
        asked = task_of(task, where) if task else None
        if "label" in part.columns and len(tested.names) == 1 and asked in (None, "binary"):
            tested = _with_complement(tested)
        known = asked or _guessed(tested)
        cells.append(Cell(path.name, configuration, labels, known, tested))
    return cells


def _keyed(frame: pl.DataFrame, default: str) -> pl.DataFrame:
    absent = {**_WHERE, "configuration": default}
    frame = frame.with_columns(
        pl.lit(value).alias(name) for name, value in absent.items() if name not in frame.columns
    )
    return frame.with_columns(pl.col("item", *_WHERE).cast(pl.String).fill_null(""))


def _long(part: pl.DataFrame, where: str) -> pl.DataFrame:
    """One row an item and label from one row an item."""
    split = part.with_columns(_names(part, "truth"), _names(part, "predicted"))
    _check_spelling(split, where)
    names = pl.concat([split["truth"].explode(), split["predicted"].explode()]).drop_nulls()
    labels = pl.DataFrame({"label": names.unique(maintain_order=True)})
    crossed = split.join(labels, how="cross", maintain_order="left_right")
    named = (pl.col(column).list.contains(pl.col("label")) for column in ("truth", "predicted"))
    return crossed.with_columns(*(column.cast(pl.Float64) for column in named))


def _names(part: pl.DataFrame, column: str) -> pl.Series:
    """The labels in a cell, numbers as ids are (1.0 is 1); an empty cell is null, ";" no label."""
    if isinstance(part.schema[column], pl.List):
        return part[column].cast(pl.List(pl.String))
    text = canonical_ids(part[column])
    if text.null_count() < len(text) and text.drop_nulls().str.contains(_JSON_LIST).all():
        return text.str.json_decode(pl.List(pl.String))
    each = pl.element().str.strip_chars()
    return text.str.split(SEPARATOR).list.eval(each.filter(each != ""))


def _check_spelling(split: pl.DataFrame, where: str) -> None:
    """A label must not be predicted in another spelling than the truth has."""
    true = split["truth"].explode().drop_nulls().unique()
    known = dict(zip(true.str.to_lowercase(), true, strict=True))
    for name in split["predicted"].explode().drop_nulls().unique(maintain_order=True):
        meant = known.get(name.lower(), name)
        if meant != name and name not in known.values():
            raise TableError(f"{where}: label {name!r} is predicted where the truth has {meant!r}")


def _tested(long: pl.DataFrame, where: str) -> Tested:
    """Dense arrays from long rows; every seed must know the same items with the same truth."""
    items = long["item"].unique(maintain_order=True)
    labels = long["label"].cast(pl.String).unique(maintain_order=True)
    seeds = long["seed"].unique(maintain_order=True)
    shape = (len(seeds), len(items), len(labels))
    cell = np.ravel_multi_index(
        tuple(_codes(long[name], names) for name, names in
              (("seed", seeds), ("item", items), ("label", labels))), shape,
    )  # fmt: skip
    counts = np.bincount(cell, minlength=int(np.prod(shape)))
    if (counts != 1).any():
        seed, item, label = np.unravel_index(int(np.flatnonzero(counts != 1)[0]), shape)
        raise TableError(
            f"{where}: item {items[int(item)]!r}, label {labels[int(label)]!r}, seed "
            f"{seeds[int(seed)]!r} stands {counts.reshape(shape)[seed, item, label]} times"
        )
    truth, predicted = (
        _laid_out(cell, _zeros_and_ones(long, column, where), shape)
        for column in ("truth", "predicted")
    )
    _check_truth(truth, items, where)
    return Tested(truth[0], predicted, tuple(labels.to_list()))


def _with_complement(tested: Tested) -> Tested:
    """Two classes of one label: that it does not hold, and that it does."""
    truth, predicted = (
        np.concatenate([1 - part, part], axis=-1) for part in (tested.truth, tested.predicted)
    )
    return Tested(truth, predicted, (f"not {tested.names[0]}", *tested.names))


def _laid_out(
    cell: NDArray[np.int64], values: NDArray[np.float64], shape: tuple[int, int, int]
) -> NDArray[np.float64]:
    out = np.empty(math.prod(shape))
    out[cell] = values
    return out.reshape(shape)


def _codes(column: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    text = column.cast(pl.String).cast(pl.Enum(names.to_list()))
    return text.to_physical().to_numpy().astype(np.int64)


def _zeros_and_ones(long: pl.DataFrame, column: str, where: str) -> NDArray[np.float64]:
    values = long[column].cast(pl.Float64, strict=False).to_numpy()
    wrong = ~(np.isnan(values) | (values == 0) | (values == 1))
    unread = np.isnan(values) & long[column].is_not_null().to_numpy()
    unread &= long[column].cast(pl.String).fill_null("").to_numpy() != ""
    if (wrong | unread).any():
        row = long.row(int(np.flatnonzero(wrong | unread)[0]), named=True)
        raise TableError(
            f"{where}: item {row['item']!r}, label {row['label']!r}, column {column!r}: must be 0, "
            f"1 or empty, got {row[column]!r}"
        )
    return values


def _check_truth(truth: NDArray[np.float64], items: pl.Series, where: str) -> None:
    unknown = np.isnan(truth).any(axis=(0, 2))
    if unknown.any():
        raise TableError(f"{where}: item {items[int(np.flatnonzero(unknown)[0])]!r} has no truth")
    differs = (truth != truth[0]).any(axis=(0, 2))
    if differs.any():
        item = items[int(np.flatnonzero(differs)[0])]
        raise TableError(f"{where}: the truth of item {item!r} differs between seeds")


def _guessed(tested: Tested) -> Task:
    predicted = np.nan_to_num(tested.predicted)
    if (tested.truth.sum(axis=1) != 1).any() or (predicted.sum(axis=2) > 1).any():
        return "multi-label"
    return "binary" if len(tested.names) == 2 else "multi-class"
