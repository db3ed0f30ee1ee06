"""JSON lines and JSON lists of objects, decoded line by line so that a bad one can be named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, not_json
from voirdire.tables._files._raw import RawTable, build
from voirdire.tables._files._text import read_text
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from voirdire.schema import Finding

_EXACT = 2**53


def read_jsonl(path: Path, *, skip_bad_lines: bool = False) -> RawTable:
    """One object a line; blank lines are skipped but counted.

    Raises
    ------
    TableError
        A line that is not one JSON object (unless `skip_bad_lines`, which lists it instead), or
        no object at all.
    """
    text, notes = read_text(path)
    if text.lstrip().startswith("["):
        return _listed(path.name, text, notes)
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    bad: list[tuple[int, str]] = []
    for number, line in _lines(text):
        row, problem = _object(line)
        if row is None:
            bad.append((number, problem))
        else:
            rows.append(row)
            lines.append(number)
    if bad and not skip_bad_lines:
        more = f" (and {plural(len(bad) - 1, 'more bad line')})" if len(bad) > 1 else ""
        raise TableError(f"{path.name}: line {bad[0][0]} {bad[0][1]}{more}")
    if bad:
        notes = (*notes, _skipped(path.name, bad))
    return _table(path.name, rows, notes, pl.Series("row", lines, dtype=pl.Int64), "line")


def read_json(path: Path, *, skip_bad_lines: bool = False) -> RawTable:
    """A list of objects, an object with just one such list or of columns; or JSON lines.

    Raises
    ------
    TableError
        Not JSON, or none of these.
    """
    text, notes = read_text(path)
    first, _, rest = text.strip().partition("\n")
    if rest.strip() and _object(first)[0] is not None:
        return read_jsonl(path, skip_bad_lines=skip_bad_lines)
    return _listed(path.name, text, notes)


def _listed(name: str, text: str, notes: tuple[Finding, ...]) -> RawTable:
    if not text.strip():
        raise TableError(f"{name}: the file is empty")
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise TableError(f"{name}: {not_json(error)}") from None
    except (ValueError, RecursionError) as error:
        raise TableError(f"{name}: cannot be read as JSON ({error})") from None
    if isinstance(value, dict):
        value = _rows_in(value)
    if not isinstance(value, list):
        raise TableError(f"{name}: holds {_kind(value)} where a list of objects is needed")
    for index, row in enumerate(value):
        if not isinstance(row, dict):
            raise TableError(f"{name}: record {index + 1} is {_kind(row)}, not an object")
    numbers = pl.int_range(1, len(value) + 1, eager=True).alias("row")
    return _table(name, value, notes, numbers, "record")


def _rows_in(value: dict[str, Any]) -> Any:
    """The only list of objects in an object, or the rows of its columns; else the object.

    Columns are lists of one length, or objects with the keys "0", "1", ... as pandas writes them.
    """
    parts = list(value.values())
    lists = [part for part in parts if isinstance(part, list) and part]
    of_objects = [part for part in lists if all(isinstance(row, dict) for row in part)]
    if len(of_objects) == 1:
        return of_objects[0]
    if parts and all(isinstance(part, dict) for part in parts):
        numbered = [str(at) for at in range(len(parts[0]))]
        lists = [list(part.values()) for part in parts if list(part) == numbered]
    if len(lists) == len(parts) > 1 and len({len(part) for part in lists}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]
    return lists[0] if len(lists) == 1 else value


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Non-blank physical lines with their numbers; only real newlines end a line."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(whole.split("\n"), start=1):
        if line.strip():
            yield number, line


def _object(line: str) -> tuple[dict[str, Any] | None, str]:
    """The object on a line, or None and what is wrong with it."""
    try:
        value = json.loads(line, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        return None, not_json(error)
    except RecursionError:
        return None, "is nested too deeply"
    except ValueError as error:
        return None, str(error)
    if not isinstance(value, dict):
        return None, f"holds {_kind(value)}, not an object"
    return value, ""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose repeated keys agree; two answers under one key are no answer."""
    row = dict(pairs)
    if len(row) < len(pairs):
        for key, value in pairs:
            if row[key] != value:
                raise ValueError(f"gives the key {key!r} two different values")
    return row


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return "null" if value is None else names.get(type(value), "a number")


def _skipped(name: str, bad: list[tuple[int, str]]) -> Finding:
    return finding(
        "bad_lines",
        "serious",
        name,
        [f"line {number} {problem}" for number, problem in bad],
        f"{plural(len(bad), 'line')} cannot be read.",
        "They were skipped, as the study allows; what they held is not in any number.",
    )


def _table(
    name: str,
    rows: list[dict[str, Any]],
    notes: tuple[Finding, ...],
    lines: pl.Series,
    unit: str,
) -> RawTable:
    if not rows:
        raise TableError(f"{name}: there are no rows")
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = [_column(row.get(key) for row in rows) for key in keys]
    return build(name, keys, columns, lines=lines, unit=unit, findings=notes)


def _column(values: Iterable[Any]) -> pl.Series:
    """Numbers as numbers where all are, else text; nested values as JSON text."""
    found = list(values)
    kinds = {type(value) for value in found if value is not None}
    if kinds <= {bool}:
        return pl.Series(found, dtype=pl.Boolean)
    if kinds == {int} and all(v is None or abs(v) < 2**63 for v in found):
        return pl.Series(found, dtype=pl.Int64)
    if kinds <= {int, float} and not any(isinstance(v, int) and abs(v) > _EXACT for v in found):
        return pl.Series([None if v is None else float(v) for v in found], dtype=pl.Float64)
    return pl.Series([_as_text(value) for value in found], dtype=pl.String)


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
