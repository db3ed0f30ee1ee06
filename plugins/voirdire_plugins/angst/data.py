"""Gold and silver posts from a file or, by name, through the `datasets` library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire import InputError, MissingExtraError, TableError
from voirdire._errors import no_column
from voirdire.parsing import said_yes
from voirdire.tables import read_raw
from voirdire_plugins.angst.labels import LABELS, with_class

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PREFIX = "datasets:"


def read_posts(
    source: str | Path, columns: Mapping[str, str] | None = None, *, labelled: bool = True
) -> pl.DataFrame:
    """Posts with their labels.

    Parameters
    ----------
    source : str or Path
        A CSV, Excel, JSONL or Parquet file, or ``datasets:owner/name`` or
        ``datasets:owner/name:split`` (by default the split ``test``), which needs a network.
    columns : mapping, optional
        Our name (``id``, ``text``, ``depression``, ``anxiety``, others) -> the source's.
    labelled : bool
        Whether the two labels are needed.

    Returns
    -------
    pl.DataFrame
        ``id, text, depression, anxiety`` (1, 0 or null; yes and no are read), ``class``, then the
        source's other columns.

    Raises
    ------
    TableError
        A column is absent, an id is empty or repeated, or a label is neither yes nor no.
    MissingExtraError
        `datasets` is not installed.
    """
    where = str(source)
    by_name = where.startswith(PREFIX)
    frame = _from_datasets(where.removeprefix(PREFIX)) if by_name else read_raw(where).frame
    named = {theirs: ours for ours, theirs in (columns or {}).items()}
    needed = ("id", "text", *(LABELS if labelled else ()))
    absent = [n for n in (*named, *(n for n in needed if n not in named.values()))
              if n not in frame.columns]  # fmt: skip
    if absent:
        raise no_column(where, absent[0], frame.columns)
    rest = [name for name in frame.columns if name not in named and name in named.values()]
    posts = frame.drop(rest).rename(named).with_columns(pl.col("id", "text").cast(pl.String))
    if posts["id"].null_count() or posts["id"].is_duplicated().any():
        raise TableError(f"{where}: an id is empty or occurs more than once")
    if not labelled:
        return posts
    tidy = posts.with_columns(as_labels(posts[label], where) for label in LABELS)
    return with_class(tidy).select(
        "id", "text", *LABELS, "class", pl.exclude("id", "text", *LABELS, "class")
    )


def as_labels(column: pl.Series, where: str) -> pl.Series:
    """A column of labels as 1, 0 and null; yes and no are read.

    Raises
    ------
    TableError
        A value is neither.
    """
    said = [_label(value, column.name, where) for value in column]
    return pl.Series(column.name, said, pl.Int8)


def _label(value: Any, label: str, where: str) -> int | None:
    text = value.strip() if isinstance(value, str) else value
    if text is None or text == "" or (isinstance(text, float) and math.isnan(text)):
        return None
    found = said_yes(float(text) if isinstance(text, str) and text in ("1.0", "0.0") else text)
    if found is None:
        raise TableError(f"{where}, column {label!r}: {value!r} is neither yes nor no, 1 nor 0")
    return int(found)


def _from_datasets(name: str) -> pl.DataFrame:
    try:
        from datasets import load_dataset  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"posts by name ({name})", "datasets", "datasets") from error
    path, _, split = name.partition(":")
    try:
        found = load_dataset(path, split=split or "test")
    except Exception as error:
        raise InputError(f"datasets:{name} cannot be loaded: {error}") from error
    return pl.DataFrame(found.to_dict())
