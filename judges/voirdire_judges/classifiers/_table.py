"""The tables of a study's data: ids, texts and the columns that the study names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, check_columns, duplicate
from voirdire.tables import read_raw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.study import ClassifySpec, LabelledData

#: Column that tells the rows of a separate test file.
TESTED = "__voirdire_test__"


def read_table(spec: ClassifySpec, data: LabelledData, folder: Path) -> pl.DataFrame:
    """The rows of one data set, those of its separate test file last."""
    named = {
        f"label set {one.name!r}": [*one.columns.values()] or [one.column]
        for one in spec.label_sets
    }
    split = {"classify.split": [spec.split]} if spec.split else {}
    frame = _read(spec, folder / data.path, {**named, **split}, data.sheet)
    frame = frame.with_columns(pl.lit(value=False).alias(TESTED))
    if data.test:
        tested = _read(spec, folder / data.test, named)
        tested = tested.with_columns(pl.lit(value=True).alias(TESTED))
        parts = [part.with_columns(pl.exclude(TESTED).cast(pl.String)) for part in (frame, tested)]
        frame = pl.concat(parts, how="diagonal")
    return frame


def _read(
    spec: ClassifySpec,
    path: Path,
    named: Mapping[str, Sequence[str]],
    sheet: str | None = None,
) -> pl.DataFrame:
    """One file; `named` says which columns it must have, and what in the study names them."""
    frame = read_items(path, spec.id, spec.text, sheet=sheet)
    for key, columns in named.items():
        check_columns(path, columns, frame.columns, f"it is named by {key!r}")
    return frame


def read_items(path: Path, item: str, text: str, *, sheet: str | None = None) -> pl.DataFrame:
    """A table with an id and a text a row; ids differ and are never empty.

    Raises
    ------
    TableError
        The file cannot be read, a column is missing, an id is empty or occurs twice.
    """
    raw = read_raw(path, sheet=sheet)
    check_columns(path, (item, text), raw.frame.columns)
    frame = raw.frame.with_columns(
        pl.col(item).cast(pl.String).str.strip_chars().fill_null(""),
        pl.col(text).cast(pl.String).str.strip_chars().fill_null(""),
    )
    ids = frame[item]
    wrong = (ids == "") | ~ids.is_first_distinct()
    if wrong.any():
        row = wrong.arg_true()[0]
        where = f"{path}, {raw.place(row)}, column {item!r}"
        if ids[row]:
            raise duplicate("item", ids[row], where, error=TableError)
        raise TableError(f"{where}: the item's id is empty")
    return frame
