"""The pool of examples: read from a file, checked, each text once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, check_columns, duplicate
from voirdire.schema import Item
from voirdire.tables import read_raw
from voirdire_retrieval._texts import text_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Columns that a pool has beside its labels.
OWN = ("id", "text", "key", "also", "groups")


@dataclass(frozen=True, slots=True)
class Pool:
    """Examples to choose from.

    Attributes
    ----------
    frame : pl.DataFrame
        `id`, `text`, `key` (hash of the text up to case and white space), `also` (ids of the rows
        with the same text), `groups` (their groups), and the labels. No text is empty, none occurs
        twice.
    labels : tuple of str
        Columns that go into an example.
    rows, empty, duplicates, conflicts, unlabelled : int
        Rows read; empty texts left out; repeated texts merged into their first; of these, how many
        carried other labels than the first; texts left out by `labelled`.
    """

    frame: pl.DataFrame
    labels: tuple[str, ...] = ()
    rows: int = 0
    empty: int = 0
    duplicates: int = 0
    conflicts: int = 0
    unlabelled: int = 0

    def notes(self) -> list[str]:
        """One sentence for each thing that was left out."""
        sentences = []
        if self.empty:
            sentences.append(
                f"{self.empty} of {self.rows} rows have an empty text and were left out"
            )
        if self.duplicates:
            sentences.append(
                f"{self.duplicates} of {self.rows} rows repeat a text and were merged into its "
                f"first row ({self.conflicts} of them with other labels)"
            )
        if self.unlabelled:
            sentences.append(f"{self.unlabelled} texts lack a label and were left out")
        if self.frame.is_empty():
            sentences.append("the pool is empty")
        return sentences


def make_pool(
    table: pl.DataFrame,
    *,
    id: str = "id",  # noqa: A002 - the column's name in every table of voirdire
    text: str = "text",
    labels: Sequence[str] = (),
    group: str | None = None,
) -> Pool:
    """Check a table and make a pool of it.

    Parameters
    ----------
    table : pl.DataFrame
        One row an example.
    id, text : str
        Columns; ids are unique and not null.
    labels : sequence of str
        Columns that go into an example beside its text, such as ``depression``.
    group : str, optional
        Column that says what belongs together (an author, a conversation).

    Raises
    ------
    TableError
        A column is absent or clashes with a name of the pool's own; an id is null or repeated.

    Examples
    --------
    >>> table = pl.DataFrame({"id": ["a", "b"], "text": ["One.", " one. "], "mood": [1, 0]})
    >>> pool = make_pool(table, labels=["mood"])
    >>> pool.frame.select("id", "also", "mood").rows(), pool.conflicts
    ([('a', ['b'], 1)], 1)
    """
    _check_columns(table, [id, text, *labels, *([group] if group else [])], labels)
    groups = pl.col(group).cast(pl.String) if group else pl.lit(None, pl.String)
    wide = table.select(
        pl.col(id).cast(pl.String).alias("id"),
        pl.col(text).cast(pl.String).alias("text"),
        groups.alias("group"),
        *labels,
    )
    _check_ids(wide["id"], id)
    keys = pl.Series("key", [text_key(one) for one in wide["text"]], pl.String)
    full = wide.with_columns(keys).filter(pl.col("key") != "")
    frame, conflicts = _merged(full, labels)
    return Pool(
        frame, tuple(labels), len(wide), len(wide) - len(full), len(full) - len(frame), conflicts
    )


def labelled(pool: Pool) -> Pool:
    """The pool without texts that lack one of its labels: no prompt can show them as examples."""
    frame = pool.frame.drop_nulls(pool.labels) if pool.labels else pool.frame
    lost = pool.frame.height - frame.height
    return replace(pool, frame=frame, unlabelled=pool.unlabelled + lost)


def _check_columns(table: pl.DataFrame, wanted: list[str], labels: Sequence[str]) -> None:
    check_columns("", wanted, table.columns)
    taken = [name for name in labels if name in {*OWN, "group", "similarity"}]
    if taken:
        raise TableError(f"a label cannot be called {taken[0]!r}: rename the column")
    twice = [name for name in labels if list(labels).count(name) > 1]
    if twice:
        raise duplicate("label", twice[0], error=TableError)


def _check_ids(ids: pl.Series, column: str) -> None:
    if ids.null_count():
        row = ids.is_null().arg_true()[0]
        raise TableError(f"column {column!r}: row {row} has no id; every row needs one of its own")
    if ids.n_unique() < len(ids):
        again = ids.filter(ids.is_duplicated())[0]
        raise duplicate("id", again, f"column {column!r}", error=TableError)


def _merged(full: pl.DataFrame, labels: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """Each text once, in order, with the ids and groups of those that repeat it."""
    merged = full.group_by("key", maintain_order=True).agg(
        pl.col("id").first(),
        pl.col("text").first(),
        pl.col("id").slice(1).alias("also"),
        pl.col("group").drop_nulls().unique(maintain_order=True).alias("groups"),
        *(pl.col(label).first() for label in labels),
    )
    # Every row beside the one that stands for it: a label that differs is a conflict to tell
    # of.
    first = full.join(merged, on="key", suffix=" of the first", how="left")
    differs = [pl.col(label).ne_missing(pl.col(f"{label} of the first")) for label in labels]
    conflicts = first.filter(pl.any_horizontal(differs)).height if differs else 0
    return merged.select(*OWN, *labels), conflicts


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
        numbers = column.fill_nan(None).drop_nulls()
        return bool((numbers.is_finite() & (numbers == numbers.round())).all())
    return column.dtype == pl.String and bool(
        # 18 digits fit into 64 bits; a longer number is an id, and stays as it is written.
        column.drop_nulls().str.contains(r"^-?\d{1,18}(\.0+)?$").all()
    )


def _without_point(column: pl.Series) -> pl.Series:
    if column.dtype.is_float():
        return column.fill_nan(None)
    return column.str.replace(r"\.0+$", "")
