"""Rows of any file that are no ratings: as texts, as records of a declared set, or a study's items
and responses; Parquet a batch at a time.
"""

from __future__ import annotations

import json
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import StudyError, TableError, check_columns, duplicate, not_one_of
from voirdire.parsing.numbers import MISSING_WORDS
from voirdire.schema import Item, Response
from voirdire.tables._files import read_raw
from voirdire.tables._ids import canonical_ids
from voirdire.tables.turns import looks_like_turns, turn_of_row, turns_of_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from voirdire.study import ItemsSpec, MessageColumns, ResponsesSpec, Study

#: Rows of a Parquet file that are held at once.
BATCH = 5_000
#: Under what name a row holds its turns: no column of a file has it.
TURNS = "\0turns"


def read_rows(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a JSON, JSONL, CSV, Parquet file or workbook; nested values come as JSON text.

    Raises
    ------
    TableError
        The file cannot be read, or lacks one of `columns`.
    """
    raw = read_raw(path)
    check_columns(path, columns, raw.frame.columns)
    for index, row in enumerate(raw.frame.iter_rows(named=True)):
        yield raw.place(index), row


def cell_text(value: Any) -> str:
    """A cell as text: numbers without a needless point, nothing for what is missing.

    >>> cell_text(2.0), cell_text(" a "), cell_text(0), cell_text(None)
    ('2', 'a', '0', '')
    """
    if isinstance(value, float):
        return format(value, ".10g")
    return "" if value is None else str(value).strip()


def read_records(
    path: str | Path,
    columns: Sequence[str],
    allowed: Mapping[str, Sequence[str]],
    *,
    what: str = "row",
    names: Mapping[str, str] | None = None,
) -> list[dict[str, str]]:
    """The rows of a file (JSON, JSONL, CSV, Parquet or a workbook) as texts.

    Parameters
    ----------
    path : path
        One row a record.
    columns : sequence of str
        The columns that every record has, ``id`` among them.
    allowed : mapping of str to sequence of str
        Column -> its values, in the spelling that is kept; the file's may differ in case.
    what : str
        What a record is called in errors.
    names : mapping of str to str, optional
        Our name -> the file's column, where it is called otherwise.

    Raises
    ------
    TableError
        A column is absent; a cell is empty; an id occurs twice; a value is none of those allowed.
        The message names the row.
    """
    theirs = {name: (names or {}).get(name, name) for name in columns}
    records: dict[str, dict[str, str]] = {}
    for place, row in read_rows(path, list(theirs.values())):
        where = f"{path}, {place}"
        record = {name: cell_text(row[column]) for name, column in theirs.items()}
        for name, text in record.items():
            if not text:
                raise TableError(f"{where}: {name} is empty")
        for name, values in allowed.items():
            spelling = {value.casefold(): value for value in values}
            if record[name].casefold() not in spelling:
                raise not_one_of(name, record[name], values, where, TableError)
            record[name] = spelling[record[name].casefold()]
        if record["id"] in records:
            raise duplicate(what, record["id"], where, error=TableError)
        records[record["id"]] = record
    return list(records.values())


def read_items(study: Study, spec: ItemsSpec) -> Iterator[tuple[Item, str]]:
    """The items of a study, each with its reference answer (empty: none).

    Raises
    ------
    TableError
        The file or a column is missing, an id is empty or occurs twice.
    """
    path = _path(study, spec.path, "items")
    wanted = {spec.reference: "reference"} if spec.reference else {}
    wanted |= dict.fromkeys(spec.columns, "extra") | {spec.text: "text"}
    if spec.id:
        wanted[spec.id] = "id"
    elif not isinstance(spec.messages, str):
        raise StudyError("items.id: rows of one message each need the column of conversations")
    keys = (spec.id,) if spec.id else ()
    # Hashes, and not the ids themselves: a pool of items may have millions.
    seen: set[int] = set()
    only = frozenset(spec.only)
    rows = _wanted_rows(path, spec.sheet, wanted, keys, "items", spec.messages)
    for place, row in _talks(path, rows, keys, spec.messages):
        # Without a column of ids the place in the file is one: line 3 is "3".
        name = _text(row[spec.id]) if spec.id else place.rpartition(" ")[2]
        if not name or hash(name) in seen:
            where = f"{path}, {place}, column {spec.id!r}"
            if name:
                raise duplicate("item", name, where, error=TableError)
            raise TableError(f"{where}: the item's id is empty")
        seen.add(hash(name))
        if only and name not in only:
            continue
        extra = {column: row[column] for column in spec.columns}
        reference = _text(row[spec.reference]) if spec.reference else ""
        text = _said_as_text(row.get(spec.text), f"{path}, {place}", "items", spec.text)
        yield Item(name, text, extra, row[TURNS]), reference


def read_responses(study: Study, spec: ResponsesSpec) -> Iterator[Response]:
    """The responses of a study: one a row, or one a system's column (an empty cell is none).

    A text that only says that there is none (``nan``, ``n/a``, ``-``, ``No response``) is empty.

    Raises
    ------
    TableError
        The file or a column is missing, or a system answers an item twice.
    """
    path = _path(study, spec.path, "responses")
    by_system = dict.fromkeys(spec.columns, "columns")
    wanted = by_system or {spec.text: "text", spec.system: "system"}
    wanted |= {spec.item: "item"}
    keys = (spec.item,) if spec.columns else (spec.item, spec.system)
    seen: set[int] = set()
    only = frozenset(study.items.only) if study.items is not None else frozenset()
    these = frozenset(spec.only)
    rows = _wanted_rows(path, spec.sheet, wanted, keys, "responses", spec.messages)
    for place, row in _talks(path, rows, keys, spec.messages):
        item = _text(row[spec.item])
        if only and item not in only:
            continue
        for system, text in _cells(row, spec):
            if these and (item, system) not in these:
                continue
            if hash((item, system)) in seen:
                raise TableError(f"{path}, {place}: {system!r} answers {item!r} a second time")
            seen.add(hash((item, system)))
            # An empty cell of a system's column is no response; an empty text of a row is one, and
            # blank.
            if text or not spec.columns:
                where, column = f"{path}, {place}", spec.text if not spec.columns else system
                yield Response(
                    item, system, _said_as_text(text, where, "responses", column), row[TURNS]
                )


#: The key of a ChatGPT export that says which branch of its tree was shown.
_SHOWN = "current_node"


def _talks(
    path: Path,
    rows: Iterable[tuple[str, dict[str, Any]]],
    keys: Sequence[str],
    messages: str | MessageColumns,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows with their turns under `TURNS`; of rows of one message each a row a conversation.

    Raises
    ------
    TableError
        A conversation is none, or its messages stand in two places of the file.
    """
    if not messages or isinstance(messages, str):
        for place, row in rows:
            cell = row[str(messages)] if messages else None
            where = f"{path}, {place}, column {messages!r}"
            yield place, row | {TURNS: turns_of_cell(cell, where, _text(row.get(_SHOWN)))}
        return
    for (place, row), more in _blocks(rows, keys):
        turns = [turn_of_row(one, messages, f"{path}, {at}") for at, one in more]
        yield place, row | {TURNS: tuple(turns)}


def _blocks(
    rows: Iterable[tuple[str, dict[str, Any]]], keys: Sequence[str]
) -> Iterator[tuple[tuple[str, dict[str, Any]], list[tuple[str, dict[str, Any]]]]]:
    """Rows that follow one another with the same keys, each block behind its first row."""
    for _, block in groupby(rows, key=lambda one: tuple(one[1][key] for key in keys)):
        held = list(block)
        yield held[0], held


def _cells(row: dict[str, Any], spec: ResponsesSpec) -> Iterator[tuple[str, str]]:
    """Systems and their texts in one row."""
    if not spec.columns:
        yield _text(row[spec.system]), _said(row.get(spec.text))
    for column, system in spec.columns.items():
        yield system, _said(row[column])


def _said_as_text(value: Any, where: str, part: str, column: str) -> str:
    """A text for a judge, which a conversation is not.

    Raises
    ------
    TableError
        It holds the turns of a conversation, which would be shown as JSON.
    """
    text = _said(value)
    if looks_like_turns(text):
        raise TableError(
            f"{where}, column {column!r}: holds the turns of a conversation, and no text: name the "
            f"column by the key 'messages' under [{part}] (messages = {column!r}), and say under "
            "[conversations] what is judged: unit = 'whole', 'turn' or 'first'"
        )
    return text


def _wanted_rows(
    path: Path,
    sheet: str | None,
    wanted: Mapping[str, str],
    keys: Sequence[str],
    part: str,
    messages: str | MessageColumns = "",
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows by column, each with its place in the file; keys are ids as everywhere (1.0 is 1).

    `wanted` maps a column to the key that names it in that part of the study. Where `messages` has
    columns, the text may be absent.
    """
    if messages:
        named = [messages] if isinstance(messages, str) else messages.model_dump().values()
        text = next((column for column, key in wanted.items() if key == "text"), None)
        wanted = dict.fromkeys(filter(None, named), "messages") | {
            column: key for column, key in wanted.items() if column != text
        }
        wanted |= {text: "absent"} if text else {}
        wanted |= {_SHOWN: "absent"} if messages == "mapping" else {}
    if path.suffix.lower() in (".parquet", ".pq"):
        yield from _parquet_rows(path, wanted, keys, part)
        return
    # Conversations are long: a file of them is read line by line.
    if messages and path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _line_rows(path, wanted, keys, part)
        return
    raw = read_raw(path, sheet=sheet)
    frame = _columns(path, raw.frame, wanted, part)
    frame = frame.with_columns(canonical_ids(frame[key]) for key in keys)
    for index, row in enumerate(frame.iter_rows(named=True)):
        yield raw.place(index), row


def _parquet_rows(
    path: Path, wanted: Mapping[str, str], keys: Sequence[str], part: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    number = 0
    try:
        lazy = pl.scan_parquet(path)
        there = _columns(path, lazy.head(0).collect(), wanted, part).columns
        # An id is read by how the others of its column look, so these are held at once.
        ids = [canonical_ids(column) for column in lazy.select(keys).collect().get_columns()]
        for batch in lazy.collect_batches(chunk_size=BATCH, maintain_order=True):
            own = [column.slice(number, batch.height) for column in ids]
            for row in batch.select(*there).with_columns(own).iter_rows(named=True):
                number += 1
                yield f"row {number}", row
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None


def _line_rows(
    path: Path, wanted: Mapping[str, str], keys: Sequence[str], part: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a file of one JSON object a line, a batch at a time."""
    with path.open(encoding="utf-8-sig") as file:
        lines = ((n, line) for n, line in enumerate(file, 1) if line.strip())
        while batch := [_of_line(path, n, line) for n, line in islice(lines, BATCH)]:
            found = {column for _, row in batch for column in row}
            needed = [c for c, key in wanted.items() if key != "absent" and c not in found]
            if needed:
                advice = _advice(wanted[needed[-1]], part)
                check_columns(path, needed[-1:], sorted(found), advice)
            ids = {key: _ids([row.get(key) for _, row in batch]) for key in keys}
            for at, (number, row) in enumerate(batch):
                own = {key: ids[key][at] for key in keys}
                yield f"line {number}", {column: row.get(column) for column in wanted} | own


def _ids(cells: list[Any]) -> pl.Series:
    kinds = {type(cell) for cell in cells if cell is not None}
    texts = cells if len(kinds) == 1 and kinds <= {int, float, str} else map(_text, cells)
    return canonical_ids(pl.Series(list(texts)))


def _of_line(path: Path, number: int, line: str) -> tuple[int, dict[str, Any]]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise TableError(f"{path}, line {number}: cannot be read as JSON: {error}") from None
    if not isinstance(row, dict):
        raise TableError(f"{path}, line {number}: holds no object, and a row is one")
    return number, row


def _advice(key: str, part: str) -> str:
    numbered = ', or id = "" for the place in the file' if (key, part) == ("id", "items") else ""
    return f"say by the key {key!r} under [{part}] which one is meant{numbered}"


def _columns(path: Path, frame: pl.DataFrame, wanted: Mapping[str, str], part: str) -> pl.DataFrame:
    wanted = {c: key for c, key in wanted.items() if key != "absent" or c in frame.columns}
    # Ids last in `wanted`, and first to be missed: without them the rest says little.
    for name in reversed([*wanted]):
        advice = _advice(wanted[name], part)
        check_columns(path, (name,), frame.columns, advice)
    return frame.select(*wanted)


def _path(study: Study, name: str, key: str) -> Path:
    path = Path(study.folder) / name
    if not path.is_file():
        raise StudyError(f"{key}.path: there is no file {path}")
    return path


def _text(value: Any) -> str:
    return "" if value is None else str(value)


#: What programs and people write where there is no text, in lower case and without brackets. A
#: point or a question mark may be all that was said.
_NO_TEXT = {*MISSING_WORDS, "empty", "no response", "no answer", "no reply"} - {".", "?"}


def _said(value: Any) -> str:
    """A text for a judge; empty where the cell only says that there is none."""
    text = _text(value)
    return "" if text.strip().strip("[]()<>").strip().lower() in _NO_TEXT else text
