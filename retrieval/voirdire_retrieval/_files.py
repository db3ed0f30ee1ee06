"""Pools and items from a user's files, through the core's readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, check_columns
from voirdire.schema import Item
from voirdire.tables import read_raw
from voirdire_retrieval._pool import Pool, make_pool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_pool(
    path: str | Path,
    *,
    id: str = "id",  # noqa: A002 - the column's name in every table of voirdire
    text: str = "text",
    labels: Sequence[str] = (),
    group: str | None = None,
) -> Pool:
    """A pool from a CSV, Excel, JSONL or Parquet file; the columns as in `make_pool`.

    Delimited text has no types: labels that are whole numbers throughout (1, or 1.0 as data frames
    write them beside a blank) become numbers, so that a pool is the same from CSV and from Parquet.

    Raises
    ------
    TableError
        The file cannot be read, or is no pool.
    """
    frame = read_raw(path).frame
    numbers = [
        _without_point(frame[label]).cast(pl.Int64)
        for label in labels
        if label in frame.columns and _whole(frame[label])
    ]
    try:
        return make_pool(frame.with_columns(numbers), id=id, text=text, labels=labels, group=group)
    except TableError as error:
        raise TableError(f"{path}: {error}") from error


def read_items(
    path: str | Path,
    *,
    id: str = "id",  # noqa: A002 - as above
    text: str = "text",
    group: str | None = None,
) -> list[Item]:
    """Items from a file; a group goes into ``extra["group"]``.

    Raises
    ------
    TableError
        The file cannot be read, or lacks a column.
    """
    frame = read_raw(path).frame
    wanted = [id, text, *([group] if group else [])]
    check_columns(path, wanted, frame.columns)
    rows = frame.select(pl.col(wanted).cast(pl.String)).iter_rows()
    return [
        Item(one or "", words or "", {"group": of[0]} if of else {}) for one, words, *of in rows
    ]


def _whole(column: pl.Series) -> bool:
    """Whether a column holds whole numbers that are not numbers of their own type yet."""
    if column.dtype.is_float():
        known = column.fill_nan(None).drop_nulls()
        return bool((known.is_finite() & (known == known.round())).all())
    return column.dtype == pl.String and bool(
        column.drop_nulls().str.contains(r"^-?\d{1,18}(\.0+)?$").all()
    )


def _without_point(column: pl.Series) -> pl.Series:
    if column.dtype.is_float():
        return column.fill_nan(None)
    return column.str.replace(r"\.0+$", "")
