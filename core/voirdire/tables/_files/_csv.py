"""Delimited text: a byte-order mark, any newline, and the separator found from the header."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import polars as pl

from voirdire._errors import TableError
from voirdire.tables._files._raw import RawTable, build
from voirdire.tables._files._text import read_text
from voirdire.tables._tables import finding, plural, shortened

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.schema import Finding

_SEPARATORS = (",", ";", "\t", "|")
_LONGEST_FIELD = 2**31 - 1
#: Beyond this many characters Polars reads first and the exact reader only where it fails.
_LARGE = 50_000_000


def read_csv(path: Path) -> RawTable:
    """All fields as text; an empty field is null. Blank lines are skipped but counted.

    Raises
    ------
    TableError
        No header or no rows, a record with more fields than the header, an open quote.
    """
    text, notes = read_text(path)
    separator = "\t" if path.suffix.lower() == ".tsv" else _separator(text)
    table = _fast(path.name, text, separator, notes) if len(text) > _LARGE else None
    return table or _exact(path.name, text, separator, notes)


def _separator(text: str) -> str:
    """The separator that cuts the first non-blank line into most fields; a comma when none does."""
    head = next((line for line in text[:100_000].splitlines() if line.strip()), "")
    fields = {mark: len(next(csv.reader([head], delimiter=mark), [])) for mark in _SEPARATORS}
    return max(_SEPARATORS, key=lambda mark: fields[mark])


def _exact(name: str, text: str, separator: str, notes: tuple[Finding, ...]) -> RawTable:
    header, records, lines = _records(name, text, separator)
    short = [line for record, line in zip(records, lines, strict=True) if len(record) < len(header)]
    if short:
        notes = (*notes, _short_rows(name, short, len(header)))
    width = len(header)
    padded = (record + [""] * (width - len(record)) for record in records)
    columns = [
        pl.Series([value or None for value in values], dtype=pl.String)
        for values in zip(*padded, strict=True)
    ]
    numbers = pl.Series("row", lines, dtype=pl.Int64)
    comma = separator != ","
    return build(
        name, header, columns, lines=numbers, unit="line", decimal_comma=comma, findings=notes
    )


def _records(name: str, text: str, separator: str) -> tuple[list[str], list[list[str]], list[int]]:
    """Header, records and the physical line each record begins on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=False)
    limit = csv.field_size_limit(_LONGEST_FIELD)
    pairs: list[tuple[list[str], int]] = []
    begins = 1
    try:
        for record in reader:
            if any(map(str.strip, record)):
                pairs.append((record, begins))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{name}: line {begins} is not valid CSV ({error})") from None
    finally:
        csv.field_size_limit(limit)
    if not pairs:
        raise TableError(f"{name}: the file is empty")
    header, *body = pairs
    if not body:
        raise TableError(f"{name}: there is a header but no rows")
    for record, line in body:
        if len(record) > len(header[0]) and any(record[len(header[0]) :]):
            raise TableError(
                f"{name}: line {line}, which begins {shortened(record[0])!r}, has {len(record)} "
                f"fields where the header has {len(header[0])} (is a text with {separator!r} "
                f"not quoted?)"
            )
    width = len(header[0])
    return header[0], [record[:width] for record, _ in body], [line for _, line in body]


def _short_rows(name: str, short: list[int], width: int) -> Finding:
    return finding(
        "short_rows",
        "serious",
        name,
        [f"line {line}" for line in short],
        f"{plural(len(short), 'line')} with fewer than {width} fields.",
        "The fields that are not there count as missing.",
    )


def _fast(name: str, text: str, separator: str, notes: tuple[Finding, ...]) -> RawTable | None:
    """The same by Polars, or None where the exact reader must look (it names the line)."""
    data = text.encode()
    try:
        frame = pl.read_csv(data, has_header=False, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError:
        return None
    if frame.height < 2 or frame[frame.columns[-1]].null_count():
        # A short line ends in nulls: only the exact reader can tell it from empty fields.
        return None
    header = [value or "" for value in frame.row(0)]
    columns = [column.replace("", None) for column in frame[1:].get_columns()]
    return build(name, header, columns, decimal_comma=separator != ",", findings=notes)
