"""The reader for a file, by its suffix."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from voirdire.errors import InputError, MissingExtraError, TableError, not_one_of
from voirdire.files import near
from voirdire.tables._files._csv import read_csv
from voirdire.tables._files._raw import RawTable, build

_EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_TEXT = (".csv", ".tsv", ".txt")
_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_OLD, _ZIP = "an old or encrypted workbook", "a workbook or an archive"
_MAGIC = (
    (b"PK\x03\x04", _ZIP),
    (b"\xd0\xcf\x11\xe0", _OLD),
    (b"PAR1", "Parquet"),
    (b"\x1f\x8b", "compressed by gzip"),
)
_CONTENT = (((".xls",), (_OLD,)), (_EXCEL, (_ZIP,)), (_PARQUET, ("Parquet",)))
#: How a data set is named that the `datasets` library loads.
BY_NAME = "datasets:"
SUFFIXES = (*_EXCEL, *_TEXT, *_LINES, ".json", *_PARQUET)


def read_raw(
    path: str | Path, *, sheet: str | None = None, skip_bad_lines: bool = False
) -> RawTable:
    """A file as it stands, with trimmed headers.

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
    if path.is_dir():
        raise TableError(f"{path}: is a folder where a file of ratings is needed")
    try:
        return _by_suffix(path, sheet, skip_bad_lines)
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None


def _read_by_name(name: str) -> RawTable:
    try:
        from datasets import load_dataset  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{BY_NAME}{name}", "datasets", "datasets") from error
    path, _, split = name.partition(":")
    try:
        frame = pl.DataFrame(load_dataset(path, split=split or "test").to_dict())
    except Exception as error:  # the library raises whatever its loaders raise
        raise InputError(f"{BY_NAME}{name} cannot be loaded: {error}") from error
    return build(name, frame.columns, [_flat(c) for c in frame.get_columns()], first=1)


#: Programs whose files people have at hand; each of them writes tables that are read.
_PROGRAMS = {
    ".sav": "SPSS", ".por": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS", ".rds": "R",
    ".rdata": "R", ".jasp": "JASP", ".numbers": "Numbers", ".gsheet": "Google Sheets",
}  # fmt: skip


def _by_suffix(path: Path, sheet: str | None, skip_bad_lines: bool) -> RawTable:
    suffix = path.suffix.lower()
    if suffix == ".xlsb":
        raise TableError(
            f"{path.name}: how far the cells of a binary workbook reach cannot be seen before "
            f"room is made for them; save it as .xlsx or CSV"
        )
    if suffix in SUFFIXES:
        _check_content(path, suffix)
    if suffix in _TEXT:
        return read_csv(path)
    if suffix in _EXCEL:
        from voirdire.tables._files._excel import read_excel  # noqa: PLC0415 - where asked for

        return read_excel(path, sheet)
    if suffix in (*_LINES, ".json"):
        from voirdire.tables._files import _json  # noqa: PLC0415 - where asked for

        read = _json.read_json if suffix == ".json" else _json.read_jsonl
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
    """A file's first bytes must not speak against its suffix."""
    with path.open("rb") as file:
        begins = file.read(4)
    what = next((kind for mark, kind in _MAGIC if begins.startswith(mark)), "text")
    allowed = next((kinds for suffixes, kinds in _CONTENT if suffix in suffixes), ("text",))
    if not begins and "text" not in allowed:
        raise TableError(f"{path.name}: the file is empty")
    if what not in allowed:
        hint = " (is it protected by a password?)" if what == _OLD and suffix in _EXCEL else ""
        raise TableError(
            f"{path.name}: by its content it is {what}, which {suffix!r} does not say{hint}; "
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
    return build(path.name, frame.columns, [_flat(c) for c in frame.get_columns()], first=1)


def _flat(column: pl.Series) -> pl.Series:
    """Nested values as JSON text, so that every column is a plain one."""
    if isinstance(column.dtype, pl.Struct):
        return column.struct.json_encode()
    if isinstance(column.dtype, pl.List | pl.Array):
        wrapped = column.to_frame("x").select(pl.struct("x").struct.json_encode()).to_series()
        return wrapped.str.strip_prefix('{"x":').str.strip_suffix("}")
    return column
