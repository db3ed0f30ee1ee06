"""Files of tables, each by its suffix: Parquet and JSON here, text and workbooks beside.

JSON is decoded line by line where it is written so, and then a bad line can be named.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import (
    InputError,
    TableError,
    half_character,
    listed,
    not_json,
    not_one_of,
)
from voirdire.files import near
from voirdire.lazy import require
from voirdire.tables._files._csv import read_csv, read_text
from voirdire.tables._files._folder import files_of, flat, is_dataset, read_folder
from voirdire.tables._files._raw import RawTable, build
from voirdire.tables._ids import plain_name
from voirdire.tables._tables import EXACT, finding, plural
from voirdire.tables.packed import plain_path, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.schema import Finding

__all__ = ["PLAIN", "RawTable", "files_of", "is_dataset", "keyed_by_item", "read_raw", "sheets_of"]

_EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_TEXT = (".csv", ".tsv", ".txt")
#: Of files of these a tool's table may have got further columns.
PLAIN = (*_EXCEL, *_TEXT)
_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_OLD, _ZIP = "an old or encrypted workbook", "a workbook or an archive"
#: How files begin that are no text. An .xlsx with a password is wrapped as an old .xls is.
_MAGIC = (
    (b"PK\x03\x04", _ZIP),
    (b"\xd0\xcf\x11\xe0", _OLD),
    (b"PAR1", "Parquet"),
    (b"\x1f\x8b", "compressed by gzip"),
)
_CONTENT = (((".xls",), (_OLD,)), (_EXCEL, (_ZIP,)), (_PARQUET, ("Parquet",)))
#: How a data set is named that the `datasets` library loads.
BY_NAME = "datasets:"
#: Keys that lead to a judgement in objects without names: of whom, of what, and of which system.
_LEVELS = 3
#: So many bytes of a packed file are unpacked: more is a bomb, or is better unpacked by hand.
MOST_BYTES = 2_000_000_000
SUFFIXES = (*_EXCEL, *_TEXT, *_LINES, ".json", *_PARQUET)


def read_raw(
    path: str | Path,
    *,
    sheet: str | None = None,
    skip_bad_lines: bool = False,
    named: Sequence[str] = (),
) -> RawTable:
    """A file as it stands, with trimmed headers.

    Sheets of a workbook that are called as `named` says are read together, as with ``"*"``.

    In place of a file, ``datasets:owner/name`` or ``datasets:owner/name:split`` (by default the
    split ``test``) names a data set, or a folder, that the `datasets` library loads.

    Raises
    ------
    MissingExtraError
        A data set is asked for by name, and `datasets` is not installed.
    TableError
        No such file, a suffix that is none of `SUFFIXES`, or content that cannot be read.
    """
    if str(path).startswith(BY_NAME):
        return _read_by_name(str(path).removeprefix(BY_NAME))
    path = Path(path)
    if not path.exists():
        raise TableError(f"{path}: there is no such file{near(path)}")
    if is_dataset(path):
        return read_folder(path, sheet)
    if path.is_dir():
        raise TableError(f"{path}: is a folder where a file of ratings is needed")
    try:
        if plain_path(path).suffix.lower() in SUFFIXES and plain_path(path) != path:
            return _packed(path, sheet, skip_bad_lines, named)
        raw = _by_suffix(path, sheet, skip_bad_lines, named)
        return raw if raw.size else replace(raw, size=path.stat().st_size)
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None


def _packed(path: Path, sheet: str | None, skip_bad_lines: bool, named: Sequence[str]) -> RawTable:
    """A table that is packed by gzip or zstd, unpacked into a file of its own that is deleted.

    Raises
    ------
    TableError
        It is damaged, or unpacks to more than is read.
    """
    with TemporaryDirectory() as folder:
        plain = Path(folder) / plain_path(path).name
        with unpacked(path) as packed, plain.open("wb") as file:
            size = 0
            while piece := packed.read(2**20):
                size += len(piece)
                if size > MOST_BYTES:
                    raise TableError(
                        f"{path.name}: unpacks to more than {MOST_BYTES:,} bytes; unpack it first"
                    )
                file.write(piece)
        raw = _by_suffix(plain, sheet, skip_bad_lines, named)
        notes = tuple(replace(note, table=path.name) for note in raw.findings)
        return replace(raw, name=path.name, size=raw.size or size, findings=notes)


def _read_by_name(name: str) -> RawTable:
    datasets = require("datasets", f"{BY_NAME}{name}", "datasets")
    path, _, split = name.partition(":")
    try:
        frame = pl.DataFrame(datasets.load_dataset(path, split=split or "test").to_dict())
    except Exception as error:  # the library raises whatever its loaders raise
        raise InputError(f"{BY_NAME}{name} cannot be loaded: {error}") from error
    return build(name, frame.columns, [flat(c) for c in frame.get_columns()], first=1)


#: Programs whose files people have at hand; each of them writes tables that are read.
_PROGRAMS = {
    ".sav": "SPSS", ".por": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS", ".rds": "R",
    ".rdata": "R", ".jasp": "JASP", ".numbers": "Numbers", ".gsheet": "Google Sheets",
}  # fmt: skip


def sheets_of(paths: Iterable[Path], sheet: str | None) -> dict[Path, str | None]:
    """The sheet that is read of each file: the one named, of every workbook that has it.

    Raises
    ------
    TableError
        No file has it.
    """
    if sheet is None:
        return dict.fromkeys(paths)
    names = {path: _sheet_names(path) for path in paths}
    if sheet == "*":
        return {path: sheet if len(of_one) > 1 else None for path, of_one in names.items()}
    if not any(sheet in of_one for of_one in names.values()):
        there = [name for of_one in names.values() for name in of_one]
        raise not_one_of("sheet", sheet, there, ", ".join(p.name for p in names), TableError)
    return {path: sheet if sheet in of_one else None for path, of_one in names.items()}


def _sheet_names(path: Path) -> list[str]:
    """The sheets of a workbook by name; none of a file that is no workbook."""
    if path.suffix.lower() not in _EXCEL:
        return []
    from voirdire.tables._files._excel import names_of_sheets  # noqa: PLC0415 - only for workbooks

    return names_of_sheets(path)


def _by_suffix(
    path: Path, sheet: str | None, skip_bad_lines: bool, named: Sequence[str]
) -> RawTable:
    suffix = path.suffix.lower()
    if suffix == ".xlsb":
        raise TableError(
            f"{path.name}: how far the cells of a binary workbook reach cannot be seen before "
            f"room is made for them; save it as .xlsx or CSV"
        )
    if suffix in SUFFIXES:
        _check_content(path, suffix)
    if suffix in _TEXT:
        return read_csv(path, named)
    if suffix in _EXCEL:
        from voirdire.tables._files._excel import read_excel  # noqa: PLC0415 - only for workbooks

        return read_excel(path, sheet, named)
    if suffix in (*_LINES, ".json"):
        read = _read_json if suffix == ".json" else _read_jsonl
        return read(path, skip_bad_lines=skip_bad_lines)
    if suffix in _PARQUET:
        return _read_parquet(path)
    if suffix in _PROGRAMS:
        raise TableError(
            f"{path.name}: is a file of {_PROGRAMS[suffix]}, which is not read here; save it there "
            f"as .xlsx or CSV"
        )
    raise not_one_of("suffix", suffix, SUFFIXES, path, TableError)


def _check_content(path: Path, suffix: str) -> None:
    """A file's first bytes must not speak against its suffix.

    What a tool saved under another name would else be read as one column of letters.
    """
    with path.open("rb") as file:
        begins = file.read(4)
    content = next((kind for mark, kind in _MAGIC if begins.startswith(mark)), "text")
    allowed = next((kinds for suffixes, kinds in _CONTENT if suffix in suffixes), ("text",))
    if not begins and "text" not in allowed:
        raise TableError(f"{path.name}: the file is empty")
    if content not in allowed:
        locked = content == _OLD and suffix in _EXCEL
        hint = " (is it protected by a password?)" if locked else ""
        raise TableError(
            f"{path.name}: by its content it is {content}, which {suffix!r} does not say{hint}; "
            f"save it again, or give it the right suffix"
        )


def _read_parquet(path: Path) -> RawTable:
    try:
        frame = pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        cause = str(error).splitlines()[0]
        raise TableError(f"{path.name}: cannot be read as Parquet ({cause})") from None
    if frame.height == 0:
        raise TableError(f"{path.name}: there are no rows")
    raw = build(path.name, frame.columns, [flat(c) for c in frame.get_columns()], first=1)
    return replace(raw, nested=frozenset(plain_name(c.name) for c in frame if _of_objects(c.dtype)))


def _of_objects(dtype: pl.DataType) -> bool:
    """Whether cells are objects, or lists of them."""
    return isinstance(dtype, pl.Struct) or (
        isinstance(dtype, pl.List | pl.Array) and isinstance(dtype.inner, pl.Struct)
    )


def _read_jsonl(path: Path, *, skip_bad_lines: bool = False) -> RawTable:
    """One object a line; blank lines are skipped but counted.

    A line that is no JSON object is an error, or with `skip_bad_lines` a finding.
    """
    text, notes = read_text(path)
    if text.lstrip().startswith("["):  # a list under the suffix of lines, as some tools write it
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
    table = _table(path.name, rows, notes, pl.Series("row", lines, dtype=pl.Int64), "line")
    lost = {number for number, _ in bad}
    size = sum(len(line.encode()) for number, line in _lines(text) if number in lost) if bad else 0
    return replace(table, unread={"lines that cannot be read": size})


def _read_json(path: Path, *, skip_bad_lines: bool = False) -> RawTable:
    """A list of objects, an object with just one such list or of columns; or JSON lines."""
    text, notes = read_text(path)
    first, _, rest = text.strip().partition("\n")
    if rest.strip() and _object(first)[0] is not None:
        return _read_jsonl(path, skip_bad_lines=skip_bad_lines)
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
    # Tools wrap their rows: {"results": [...]}, or a column a key.
    beside = 0
    if isinstance(value, dict):
        whole, value = value, _rows_in(value)
        unread = _keys_unread(name, whole, value)
        notes = (*notes, *unread)
        beside = sum(_size_of(whole[key]) for note in unread for key in note.places)
    if not isinstance(value, list):
        raise TableError(f"{name}: holds {_kind(value)} where a list of objects is needed")
    for index, row in enumerate(value):
        if not isinstance(row, dict):
            raise TableError(f"{name}: record {index + 1} is {_kind(row)}, not an object")
        if problem := _half(row, text):
            raise TableError(f"{name}: record {index + 1} {problem}")
    numbers = pl.int_range(1, len(value) + 1, eager=True).alias("row")
    table = _table(name, value, notes, numbers, "record")
    return replace(table, unread={"what stands next to the rows": beside})


def _size_of(value: object) -> int:
    """Bytes of a value as JSON writes it."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def _rows_in(value: dict[str, Any]) -> Any:
    """The only list of objects in an object, or the rows of its columns; else the object.

    Columns are lists of one length, or objects with the keys "0", "1", ... as pandas writes them;
    or their names stand once, beside rows of cells.
    Of an object an item the keys are their ids.
    """
    parts = list(value.values())
    if keyed_by_item(value):
        return [{"id": key, **part} for key, part in value.items()]
    names, rows = value.get("columns"), value.get("data", value.get("rows"))
    if _are_rows(names, rows):  # as pandas ("split"), Weights & Biases and notebooks write it
        return [dict(zip(names or (), row, strict=True)) for row in rows or ()]
    lists = [part for part in parts if isinstance(part, list) and part]
    of_objects = [part for part in lists if all(isinstance(row, dict) for row in part)]
    if len(of_objects) == 1:
        return of_objects[0]
    if parts and all(isinstance(part, dict) for part in parts):
        numbered = [str(at) for at in range(len(parts[0]))]
        lists = [list(part.values()) for part in parts if list(part) == numbered]
    if len(lists) == len(parts) > 1 and len({len(part) for part in lists}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]
    return lists[0] if len(lists) == 1 else _by_levels(value) or value


def _by_levels(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each number or word within objects of objects of objects, with the key of each
    level in a column of its own: ``{rater: {item: {system: 4}}}``; none where they are uneven.
    """
    rows: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while all(isinstance(part, dict) and part for _, part in rows):
        rows = [((*at, key), one) for at, part in rows for key, one in part.items()]
    depth = {len(at) for at, _ in rows}
    if depth - {_LEVELS} or any(isinstance(part, dict | list) for _, part in rows):
        return []
    heads = [f"level {k + 1}" for k in range(_LEVELS)]
    return [{**dict(zip(heads, at, strict=True)), "value": part} for at, part in rows]


def _are_rows(names: Any, rows: Any) -> bool:
    """Whether names of columns stand next to rows of as many cells."""
    return (
        isinstance(names, list)
        and isinstance(rows, list)
        and bool(names and rows)
        and all(isinstance(name, str) for name in names)
        and all(isinstance(row, list) and len(row) == len(names) for row in rows)
    )


def keyed_by_item(value: object) -> bool:
    """Whether an object holds one an item, each with the same few keys: ``{item: {rater: 4}}``.

    More keys within than without are items of each rater, and numbered ones rows of a column.
    """
    if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
        return False
    within = {key for part in value.values() for key in part}
    numbered = all(key.isdigit() for key in within)
    return 0 < len(within) < len(value) and "id" not in within and not numbered


def _keys_unread(name: str, whole: dict[str, Any], rows: object) -> tuple[Finding, ...]:
    """A note on what stands next to the rows in an object that holds them under one key."""
    besides = [
        key for key, part in whole.items() if part is not rows and part not in (None, [], {})
    ]
    if not any(part is rows for part in whole.values()) or not besides:
        return ()
    # Other lists may hold rows as well; a number or a name says something of all of them.
    several = [key for key in besides if isinstance(whole[key], list | dict)]
    note = finding(
        "keys_unread",
        "serious" if several else "note",
        name,
        besides,
        f"Beside its rows the file holds {listed(besides)}.",
        "Not read; write them into the rows, or into a file of their own, if they matter.",
    )
    return (note,)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Non-blank physical lines with their numbers; only real newlines end a line."""
    # Not splitlines, which also cuts at U+2028 and U+0085: JSON may hold both inside a text.
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
    problem = _half(value, line)
    return (None, problem) if problem else (value, "")


def _half(value: object, text: str) -> str:
    """As `half_character`, looked for only where the text holds a surrogate at all."""
    return half_character(value) if "\\ud" in text or "\\uD" in text else ""


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
    raw = build(name, keys, columns, lines=lines, unit=unit, findings=notes)
    nested = {plain_name(key) for key in keys if any(_is_nested(row.get(key)) for row in rows)}
    return replace(raw, nested=frozenset(nested))


def _is_nested(value: object) -> bool:
    """Whether a value is an object, or a list of them; a list of words may be a set of labels."""
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, dict) for one in values)


def _column(values: Iterable[Any]) -> pl.Series:
    """Numbers as numbers where all are, else text; nested values as JSON text."""
    cells = list(values)
    kinds = {type(value) for value in cells if value is not None}
    if kinds <= {bool}:
        return pl.Series(cells, dtype=pl.Boolean)
    # Ids of 19 digits and more stay whole: as 64-bit numbers where they fit, else as text.
    if kinds == {int} and all(v is None or abs(v) < 2**63 for v in cells):
        return pl.Series(cells, dtype=pl.Int64)
    if kinds <= {int, float} and not any(isinstance(v, int) and abs(v) > EXACT for v in cells):
        return pl.Series([None if v is None else float(v) for v in cells], dtype=pl.Float64)
    return pl.Series([_as_text(value) for value in cells], dtype=pl.String)


def _as_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
