"""Delimited text: a byte-order mark, any newline, and the separator found from the header."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError
from voirdire.tables._files._header import HEAD, above_header, find_header
from voirdire.tables._files._raw import RawTable, build
from voirdire.tables._files._text import read_text
from voirdire.tables._tables import finding, plural, shortened

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.schema import Finding

_SEPARATORS = (",", ";", "\t", "|")
_LONGEST_FIELD = 2**31 - 1
#: A first line by which Excel is told the separator.
_DECLARED = re.compile(r'"?sep=(.)"?[ \t]*(?=[\r\n])', re.IGNORECASE)
#: Lines that begin with a # above everything else, blank ones among them.
_REMARKS = re.compile(r"(?:[ \t]*(?:\"?#[^\r\n]*)?(?:\r\n|\n|\r))+")
_NO_NEWLINE = re.compile(r"[^\r\n]+")
_CELLS = re.compile(r"[,;\t|]")
_NUMBER = re.compile(r"[\s\"]*[+-]?\d+(?:[.,]\d+)?[\s\"]*")
_END = "end of file"
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
    text, remarks = _without_remarks(text, path.name)
    notes = (*notes, *remarks)
    declared = _DECLARED.match(text)
    if declared:
        text, separator = text[declared.end() :], declared[1]
        text = "\n" + text[1:] if text[:2] != "\r\n" else text
    else:
        separator = _separator(text, "\t" if path.suffix.lower() == ".tsv" else ",")
    table = _fast(path.name, text, separator, notes) if len(text) > _LARGE else None
    return table or _exact(path.name, text, separator, notes)


def _without_remarks(text: str, name: str) -> tuple[str, tuple[Finding, ...]]:
    """The text with the lines of ``# remarks`` above its header emptied, so that lines count on.

    The last of them is the header itself where numbers stand below it: ``#item,human,judge``.
    """
    block = _REMARKS.match(text)
    if block is None:
        return text, ()
    lines = block.group().splitlines(keepends=True)
    below = text[block.end() : block.end() + 10_000].splitlines()[:1]
    if any(map(_is_number, _CELLS.split(below[0] if below else ""))):
        lines.pop()  # the names of the columns begin with a sign
    said = [line.strip() for line in lines if line.strip()]
    if not said:
        return text, ()
    emptied = "".join(_NO_NEWLINE.sub("", line) for line in lines)
    return emptied + text[sum(map(len, lines)) :], above_header(name, [[line] for line in said])


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def _separator(text: str, usual: str) -> str:
    """The separator that cuts the first line with more than one field into most of them.

    The usual one where none does, and of those that cut it into equally many.
    """
    marks = (usual, *(mark for mark in _SEPARATORS if mark != usual))
    for line in text[:100_000].splitlines()[:HEAD]:
        fields = {mark: _filled(line, mark) for mark in marks}
        if usual == "\t" and fields[usual] > 1:
            return usual
        if max(fields.values()) > 1:
            return max(marks, key=lambda mark: fields[mark])
    return usual


def _filled(line: str, mark: str) -> int:
    """How many fields of a line hold something."""
    return sum(map(bool, map(str.strip, next(csv.reader([line], delimiter=mark), []))))


def _exact(name: str, text: str, separator: str, notes: tuple[Finding, ...]) -> RawTable:
    records, lines = _records(name, text, separator)
    widest = max(map(len, records[:HEAD]))
    head = [row + [""] * (widest - len(row)) for row in records[:HEAD]]
    header = find_header(name, head)
    if header is None:
        raise TableError(f"{name}: the file is empty")
    body, lines = records[header.below :], lines[header.below :]
    if not body:
        raise TableError(f"{name}: there is a header but no rows")
    width = max(map(len, records[header.top : header.below]))
    _refuse_long(name, body, lines, width, separator)
    short = [line for record, line in zip(body, lines, strict=True) if len(record) < width]
    if short:
        notes = (*notes, _short_rows(name, short, width))
    padded = (record[:width] + [""] * (width - len(record)) for record in body)
    columns = [
        pl.Series([value or None for value in values], dtype=pl.String)
        for values in zip(*padded, strict=True)
    ]
    return build(
        name,
        header.names[:width],
        columns,
        lines=pl.Series("row", lines, dtype=pl.Int64),
        unit="line",
        decimal_comma=separator != ",",
        findings=(*notes, *header.findings),
    )


def _records(name: str, text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """Records that hold something and the physical line each begins on."""
    lines = chain(io.StringIO(text, newline=""), [_END])
    reader = csv.reader(lines, delimiter=separator, strict=False)
    limit = csv.field_size_limit(_LONGEST_FIELD)
    pairs: list[tuple[list[str], int]] = []
    begins, last = 1, 1
    try:
        for record in reader:
            if any(map(str.strip, record)):
                pairs.append((record, begins))
            begins, last = reader.line_num + 1, begins
    except csv.Error as error:
        raise TableError(f"{name}: line {begins} is not valid CSV ({error})") from None
    finally:
        csv.field_size_limit(limit)
    if pairs.pop()[0] != [_END]:
        raise TableError(f"{name}: a quote opened in line {last} is never closed")
    if not pairs:
        raise TableError(f"{name}: the file is empty")
    return [record for record, _ in pairs], [line for _, line in pairs]


def _refuse_long(
    name: str, body: list[list[str]], lines: list[int], width: int, separator: str
) -> None:
    """A record with more fields than the header has shifted cells."""
    for record, line in zip(body, lines, strict=True):
        if len(record) > width and any(record[width:]):
            raise TableError(
                f"{name}: line {line}, which begins {shortened(record[0])!r}, has {len(record)} "
                f"fields where the header has {width} (is a text with {separator!r} not quoted?)"
            )


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
    header = [(value or "").strip() for value in frame.row(0)]
    if "" in header or len(set(header)) < len(header):
        return None  # a title above, or a second row of headers
    columns = [column.replace("", None) for column in frame[1:].get_columns()]
    return build(name, header, columns, decimal_comma=separator != ",", findings=notes)
