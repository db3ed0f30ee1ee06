"""Texts with the labels that people gave them: yes or no a label, or labels by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError, TableError, check_columns, duplicate
from voirdire.parsing import LabelSet, parse_labels, said_yes
from voirdire.tables._files import read_raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from voirdire.schema import Item


_ANSWERS = ("item", "rater", "attribute", "score")
_NAMED = pl.Schema(
    {
        "item": pl.String(),
        "text": pl.String(),
        "labels": pl.List(pl.String),
        "dominant": pl.String(),
    }
)


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


def named_labels(
    items: Iterable[Item], labels: LabelSet, columns: Sequence[str] = ("dominant", "secondary")
) -> pl.DataFrame:
    """Items with the labels that people named in their columns, the dominant label first.

    Parameters
    ----------
    items : iterable of Item
        Each column is a key of `Item.extra`, which may be blank or absent.
    labels : LabelSet
        The labels allowed; they may be written as its synonyms.
    columns : sequence of str
        The column of the dominant label, then those of further ones.

    Returns
    -------
    polars.DataFrame
        ``item, text, labels, dominant``; the last two are null where an item names no label.

    Raises
    ------
    InputError
        A cell is no single label of the set, a further label stands without a dominant one, or the
        label that says *none* is combined with another. The message names the item.

    Examples
    --------
    >>> from voirdire.schema import Item
    >>> moods = LabelSet(("calm", "tense"), {"at rest": "calm"})
    >>> items = [Item("1", "I sleep well.", {"dominant": "At rest"}), Item("2", "Hm.", {})]
    >>> named_labels(items, moods)["labels"].to_list()
    [['calm'], None]
    """
    rows = [{"item": item.id, "text": item.text, **_named(item, labels, columns)} for item in items]
    return pl.DataFrame(rows, schema=_NAMED)


def _named(item: Item, labels: LabelSet, columns: Sequence[str]) -> dict[str, Any]:
    given = {name: str(item.extra.get(name) or "").strip() for name in columns}
    named = {
        name: _single(text, labels, f"item {item.id!r}, column {name!r}")
        for name, text in given.items()
        if text
    }
    if not named:
        return {"labels": None, "dominant": None}
    chosen = list(dict.fromkeys(named.values()))
    if columns[0] not in named:
        further = next(iter(named))
        raise InputError(
            f"item {item.id!r}: has a {further} label ({chosen[0]}) and no {columns[0]} one"
        )
    if labels.none in chosen and len(chosen) > 1:
        raise InputError(
            f"item {item.id!r}: {labels.none} cannot be combined with another label, got "
            f"{' and '.join(chosen)}"
        )
    return {"labels": chosen, "dominant": chosen[0]}


def _single(text: str, labels: LabelSet, where: str) -> str:
    parsed = parse_labels(text, labels)
    first = [label for label, rank in parsed.ranks.items() if rank == 1]
    if len(parsed.ranks) != 1 or parsed.extra["unknown"]:
        raise InputError(f"{where}: {text!r} is no single label of {', '.join(labels.labels)}")
    return first[0]


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
    numbers = [_label(value, column.name, where) for value in column]
    return pl.Series(column.name, numbers, pl.Int8)


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
    yes = yes_of(text)
    if yes is None:
        raise TableError(f"{where}, column {label!r}: {value!r} is neither yes nor no, 1 nor 0")
    return int(yes)
