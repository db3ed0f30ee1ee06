"""Texts with yes-or-no labels, from a file or by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, check_columns, duplicate
from voirdire.parsing import said_yes
from voirdire.tables._files import read_raw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


_ANSWERS = ("item", "rater", "attribute", "score")


def read_labelled(
    source: str | Path, labels: Sequence[str] = (), columns: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Texts with their labels.

    Parameters
    ----------
    source : str or Path
        Anything that `read_raw` reads, a data set by name (``datasets:owner/name:split``) among it.
    labels : sequence of str
        Labels that are needed; without them any texts are read.
    columns : mapping, optional
        Our name (``id``, ``text``, a label, others) -> the source's.

    Returns
    -------
    pl.DataFrame
        ``id, text``, the labels (1, 0 or null; yes and no are read), then the source's other
        columns.

    Raises
    ------
    TableError
        A column is absent, an id is empty or repeated, or a label is neither yes nor no.
    MissingExtraError
        A data set is asked for by name, and `datasets` is not installed.
    """
    where, frame = str(source), read_raw(source).frame
    named = {theirs: ours for ours, theirs in (columns or {}).items()}
    needed = [name for name in ("id", "text", *labels) if name not in named.values()]
    check_columns(where, (*named, *needed), frame.columns)
    hidden = [name for name in frame.columns if name not in named and name in named.values()]
    texts = frame.drop(hidden).rename(named).with_columns(pl.col("id", "text").cast(pl.String))
    check_ids(texts["id"], where)
    first = ("id", "text", *labels)
    tidy = texts.with_columns(yes_no(texts[label], where) for label in labels)
    return tidy.select(*first, pl.exclude(*first)) if labels else texts


def check_ids(ids: pl.Series, where: str) -> None:
    """Refuse an empty id, and one that occurs more than once.

    Raises
    ------
    TableError
        It names the row, counted from 1, or the id.
    """
    if ids.null_count():
        row = int(ids.is_null().arg_true()[0]) + 1
        raise TableError(f"{where}, column {ids.name!r}: row {row} has no id")
    if ids.is_duplicated().any():
        again = ids.filter(ids.is_duplicated())[0]
        raise duplicate("id", again, f"{where}, column {ids.name!r}", error=TableError)


def read_answers(path: str | Path) -> pl.DataFrame:
    """Answers of people: ``item, rater, attribute, score``, a row a label, 1 where it is given.

    The ratings that `voirdire humans import` writes are such a file.

    Raises
    ------
    TableError
        A column is absent.
    """
    frame = read_raw(path).frame
    check_columns(path, _ANSWERS, frame.columns)
    return frame.select(_ANSWERS).with_columns(pl.col("item", "rater").cast(pl.String))


def yes_no(column: pl.Series, where: str) -> pl.Series:
    """A column of yes and no as 1, 0 and null (dtype Int8), however they are written.

    Raises
    ------
    TableError
        A value is neither.

    Examples
    --------
    >>> yes_no(pl.Series("calm", ["Yes", "0", "", None]), "file").to_list()
    [1, 0, None, None]
    """
    said = [_label(value, column.name, where) for value in column]
    return pl.Series(column.name, said, pl.Int8)


def yes_of(cell: Any) -> bool | None:
    """What a cell says, however it is written; None where it is blank or says something else.

    >>> yes_of("Yes"), yes_of("0.0"), yes_of(1), yes_of(""), yes_of("2")
    (True, False, True, None, None)
    """
    text = cell.strip() if isinstance(cell, str) else cell
    return said_yes(float(text) if text in ("1", "0", "1.0", "0.0") else text)


def _label(value: Any, label: str, where: str) -> int | None:
    text = value.strip() if isinstance(value, str) else value
    if text is None or text == "" or (isinstance(text, float) and math.isnan(text)):
        return None
    found = yes_of(text)
    if found is None:
        raise TableError(f"{where}, column {label!r}: {value!r} is neither yes nor no, 1 nor 0")
    return int(found)
