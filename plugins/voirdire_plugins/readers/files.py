"""What the readers share: files read whole, as JSON, CSV or Parquet, and errors that name them."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

import voirdire
from voirdire.errors import half_character, not_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from zipfile import ZipInfo

    from voirdire.tables import ReadingBuilder

#: All members of an archive together may unpack to so many bytes: each object takes several times
#: that in memory.
MOST_BYTES = 1_000_000_000


def text_of(path: Path) -> str:
    """The text of a file.

    Raises
    ------
    TableError
        It is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise voirdire.TableError(f"{path.name}: is not UTF-8 text ({error.reason})") from None


def parsed(text: str, where: str) -> Any:
    """JSON as Python values.

    Raises
    ------
    TableError
        It is not JSON, nested too deeply, or holds half a character.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise voirdire.TableError(f"{where}: {not_json(error)}") from None
    except (ValueError, RecursionError) as error:
        raise voirdire.TableError(f"{where}: cannot be read as JSON ({error})") from None
    # Looked for only where there is a surrogate at all: most files hold none.
    if problem := half_character(value) if re.search(r"\\ud", text, re.IGNORECASE) else "":
        raise voirdire.TableError(f"{where}: {problem}")
    return value


def json_of(path: Path) -> Any:
    """The JSON of a file."""
    return parsed(text_of(path), path.name)


def whole_of(path: Path, rows: ReadingBuilder) -> Any:
    """The JSON of an API's answer, and a finding where it is one page of several."""
    whole = json_of(path)
    pages = part(whole, "meta", "totalPages")
    more = part(whole, "has_more") or part(whole, "next_cursor") or part(whole, "meta", "cursor")
    if more or (isinstance(pages, int) and pages > 1):
        rows.note(
            "pages_unread",
            "The file is one page of several that the tool has.",
            "What stands on the other pages is in no number: fetch all of them into one list.",
        )
    return whole


def records_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects of a JSON list or of JSON lines, each with its place.

    Raises
    ------
    TableError
        A record is no object.
    """
    yield from records_in(text_of(path), path.name)


def records_in(text: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same of a text that is at hand, such as a member of an archive."""
    if text.lstrip().startswith("["):
        rows = ((f"record {at}", row) for at, row in enumerate(parsed(text, name), 1))
    else:
        # Not splitlines, which also cuts at U+2028 and U+0085, and JSON may hold both in a text.
        lines = ((at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip())
        rows = ((f"line {at}", parsed(line, f"{name}, line {at}")) for at, line in lines)
    for place, row in rows:
        if not isinstance(row, dict):
            raise voirdire.TableError(f"{name}: {place} is no object")
        yield place, row


def records_of_parquet(path: Path, columns: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Those of these columns that a Parquet file has, row by row; JSON in a text is decoded.

    Raises
    ------
    TableError
        It cannot be read, or a text that begins as JSON is none.
    """
    try:
        there = pl.read_parquet_schema(path)
        frame = pl.read_parquet(path, columns=[name for name in columns if name in there])
    except (pl.exceptions.PolarsError, OSError) as error:
        cause = str(error).splitlines()[0]
        raise voirdire.TableError(f"{path.name}: cannot be read ({cause})") from None
    for at, row in enumerate(frame.iter_rows(named=True), 1):
        where = f"{path.name}, row {at}"
        yield f"row {at}", {name: _decoded(value, where) for name, value in row.items()}


def _decoded(value: Any, where: str) -> Any:
    is_json = isinstance(value, str) and value[:1] in ("{", "[")
    return parsed(value, where) if is_json else value


def check_archive(path: Path, members: Iterable[ZipInfo]) -> None:
    """Raise where the members of an archive come to more than memory should take.

    Raises
    ------
    TableError
        The sizes are in the message.
    """
    sizes = [member.file_size for member in members]
    if sum(sizes) > MOST_BYTES:
        raise voirdire.TableError(
            f"{path.name}: its {len(sizes)} members unpack to {sum(sizes):,} bytes, and at most "
            f"{MOST_BYTES:,} are read; export it in parts"
        )


def csv_of(path: Path) -> list[list[str]]:
    """The cells of a CSV file, its header first.

    Raises
    ------
    TableError
        It has no row below its header.
    """
    try:
        rows = [row for row in csv.reader(io.StringIO(text_of(path), newline="")) if row]
    except csv.Error as error:
        raise voirdire.TableError(f"{path.name}: cannot be read as CSV ({error})") from None
    if len(rows) < 2:
        raise voirdire.TableError(f"{path.name}: there are no rows")
    return rows


def rows_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table as CSV, JSON (also by columns, as pandas writes it) or Parquet.

    The cells of a CSV file are numbers, truth values and objects where they are written so.
    """
    if path.suffix == ".csv":
        head, *body = csv_of(path)
        for at, row in enumerate(body, 2):
            yield f"row {at}", dict(zip(head, map(_cell, row), strict=False))
        return
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PAR1":
        yield from records_of_parquet(path, pl.read_parquet_schema(path))
        return
    text = text_of(path).lstrip()
    whole = parsed(text, path.name) if text.startswith("{") and "\n{" not in text else None
    columns = facts_of(whole)
    if columns and all(isinstance(column, dict) for column in columns.values()):
        rows = list(dict.fromkeys(row for column in columns.values() for row in column))
        for at in rows:
            yield f"row {at}", {name: column.get(at) for name, column in columns.items()}
        return
    yield from records_of(path)


def _cell(text: str) -> Any:
    """A cell of CSV as JSON says it; a text that is none stays one, and a blank is nothing."""
    if not text or text.lower() == "nan":
        return None
    if text in ("True", "False"):
        return text == "True"
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def nested_of(row: dict[str, Any], levels: int = -1) -> dict[str, Any]:
    """A row whose columns are called by a path of keys, as an object of objects.

    Names are cut at most at `levels` points: a key behind them may hold points of its own.

    >>> nested_of({"id": 1, "output.scores.kind": 4, "output.text": "Yes."})
    {'id': 1, 'output': {'scores': {'kind': 4}, 'text': 'Yes.'}}
    """
    whole: dict[str, Any] = {}
    for name, value in row.items():
        *path, last = name.split(".", levels)
        at = whole
        for key in path:
            inner = at.setdefault(key, {})
            at = inner if isinstance(inner, dict) else at.setdefault(f"{key}.", {})
        if value is not None:
            at[last] = value
    return whole


def part(value: Any, *keys: str | int) -> Any:
    """What stands under keys, one inside the other; None where one is not there.

    Examples
    --------
    >>> part({"a": [{"b": 1}]}, "a", 0, "b"), part({"a": None}, "a", "b")
    (1, None)
    """
    for key in keys:
        if isinstance(key, int):
            there = isinstance(value, list) and len(value) > key
        else:
            there = isinstance(value, dict) and key in value
        if not there:
            return None
        value = value[key]
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def listed(value: Any, unit: str) -> Iterator[tuple[str, Any]]:
    """What stands in a list, each with its place; nothing where it is no list."""
    entries = value if isinstance(value, list) else []
    return ((f"{unit} {at}", one) for at, one in enumerate(entries, 1))


def facts_of(value: Any) -> dict[str, Any]:
    """The entries of an object; none where it is no object."""
    return value if isinstance(value, dict) else {}


def longest(value: Any) -> str | None:
    """The longest text of an object's entries: the others name things."""
    return max(
        (one for one in facts_of(value).values() if isinstance(one, str)), key=len, default=None
    )
