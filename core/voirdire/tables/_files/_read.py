"""The reader for a file, by its suffix."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl

from voirdire._errors import TableError
from voirdire.tables._files._csv import read_csv
from voirdire.tables._files._excel import read_excel
from voirdire.tables._files._json import read_json, read_jsonl
from voirdire.tables._files._raw import RawTable, build

_EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_TEXT = (".csv", ".tsv", ".txt")
_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
SUFFIXES = (*_EXCEL, *_TEXT, *_LINES, ".json", *_PARQUET)


def read_raw(
    path: str | Path, *, sheet: str | None = None, skip_bad_lines: bool = False
) -> RawTable:
    """A file as it stands, with trimmed headers.

    Raises
    ------
    TableError
        No such file, a suffix that is none of `SUFFIXES`, or content that cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise TableError(f"{path}: there is no such file")
    if path.is_dir():
        raise TableError(f"{path}: is a folder where a file of ratings is needed")
    try:
        return _by_suffix(path, sheet, skip_bad_lines)
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise TableError(f"{path}: there is no such file") from None
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from None


def _by_suffix(path: Path, sheet: str | None, skip_bad_lines: bool) -> RawTable:
    suffix = path.suffix.lower()
    if suffix in _EXCEL:
        return read_excel(path, sheet)
    if suffix in _TEXT:
        return read_csv(path)
    if suffix in _LINES:
        return read_jsonl(path, skip_bad_lines=skip_bad_lines)
    if suffix == ".json":
        return read_json(path)
    if suffix in _PARQUET:
        return _read_parquet(path)
    raise TableError(
        f"{path}: cannot read {suffix or 'a file without suffix'!r} "
        f"(allowed: {', '.join(SUFFIXES)})"
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
