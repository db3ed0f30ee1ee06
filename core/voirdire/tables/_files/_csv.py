"""Text whatever its encoding and newlines, and tables in it whose separator its header tells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError
from voirdire.tables._files._raw import HEAD, RawTable, above_header, build, find_header, is_number
from voirdire.tables._tables import finding, plural, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.schema import Finding

_SEPARATORS = (",", ";", "\t", "|")
#: Python's reader stops at fields of 128 KiB, and a reply of a model with its reasoning is longer.
_LONGEST_FIELD = 2**31 - 1
#: A first line that tells Excel the separator.
_DECLARED = re.compile(r'"?sep=(.)"?[ \t]*(?=[\r\n])', re.IGNORECASE)
#: Lines that begin with a # above everything else, blank ones among them.
_REMARKS = re.compile(r"(?:[ \t]*(?:\"?#[^\r\n]*)?(?:\r\n|\n|\r))+")
_NO_NEWLINE = re.compile(r"[^\r\n]+")
#: Only to see whether a line holds a number: which of these parts its cells is not known yet.
_CELLS = re.compile(r"[,;\t|]")
#: A line put behind the last one. A quote that is never closed takes it in, and so it is noticed.
_END = "end of file"
#: Beyond this many characters Polars reads first and the exact reader only where it fails: that one
#: takes a microsecond a cell, and holds each as an object.
_LARGE = 50_000_000
#: So it is beyond this many where no cell is quoted: then each line is a row.
_PLAIN = 2_000_000


def read_csv(path: Path, named: Sequence[str] = ()) -> RawTable:
    """All fields as text; an empty field is null. Blank lines are skipped but counted.

    Of a file that is not UTF-8 the raters who are `named` tell the encoding.

    Raises
    ------
    TableError
        No header or no rows, a record with more fields than the header, an open quote.
    """
    whole, notes = read_text(path, named)
    text, remarks = _without_remarks(whole, path.name)
    notes = (*notes, *remarks)
    declared = _DECLARED.match(text)
    if declared:
        text, separator = text[declared.end() :], declared[1]
        # What is left of that line stays as a blank one, so that line numbers are the file's own.
        text = "\n" + text[1:] if text[:2] != "\r\n" else text
    else:
        separator = _separator(text, "\t" if path.suffix.lower() == ".tsv" else ",")
    fast = len(text) > _LARGE or (len(text) > _PLAIN and '"' not in text)
    table = _fast(path.name, text, separator, notes) if fast else None
    table = table or _exact(path.name, text, separator, notes)
    # Titles and remarks: what stands above the line of the header.
    above = whole.splitlines(keepends=True)[: table.head - 1] if table.head > 1 else []
    return replace(table, unread={"lines above the header": len("".join(above).encode())})


def _without_remarks(text: str, name: str) -> tuple[str, tuple[Finding, ...]]:
    """The text with the lines of ``# remarks`` above its header emptied, so that lines count on.

    The last of them is the header itself where numbers stand below it: ``#item,human,judge``.
    """
    block = _REMARKS.match(text)
    if block is None:
        return text, ()
    lines = block.group().splitlines(keepends=True)
    below = text[block.end() : block.end() + 10_000].splitlines()[:1]
    if any(is_number(cell.strip(' \t"')) for cell in _CELLS.split(below[0] if below else "")):
        lines.pop()  # the names of the columns begin with a sign
    remarks = [line.strip() for line in lines if line.strip()]
    if not remarks:
        return text, ()
    emptied = "".join(_NO_NEWLINE.sub("", line) for line in lines)
    return emptied + text[sum(map(len, lines)) :], above_header(name, [[line] for line in remarks])


def _separator(text: str, usual: str) -> str:
    """The separator that cuts the first line with more than one field into most of them.

    The usual one where none does, and of those that cut it into equally many.
    """
    marks = (usual, *(mark for mark in _SEPARATORS if mark != usual))
    for line in text[:100_000].splitlines()[:HEAD]:
        fields = {mark: _filled(line, mark) for mark in marks}
        # A .tsv says what separates it: commas in its header belong to names.
        if usual == "\t" and fields[usual] > 1:
            return usual
        if max(fields.values()) > 1:
            return max(marks, key=lambda mark: fields[mark])
    return usual


def _filled(line: str, mark: str) -> int:
    """How many fields of a line hold something: titles end in commas that part nothing."""
    return sum(map(bool, map(str.strip, next(csv.reader([line], delimiter=mark), []))))


def _exact(name: str, text: str, separator: str, notes: tuple[Finding, ...]) -> RawTable:
    records, lines, spans = _records(name, text, separator)
    # Titles above a header have fewer cells than it, and both are looked at side by side.
    widest = max(map(len, records[:HEAD]))
    head = [row + [""] * (widest - len(row)) for row in records[:HEAD]]
    header = find_header(name, head)
    if header is None:
        raise TableError(f"{name}: the file is empty")
    tops, body, lines = lines, records[header.below :], lines[header.below :]
    if not body:
        raise TableError(f"{name}: there is a header but no rows")
    width = max(map(len, records[header.top : header.below]))
    _refuse_swallowed(name, text, spans, separator, width)
    _refuse_long(name, body, lines, width, separator)
    short = [line for record, line in zip(body, lines, strict=True) if len(record) < width]
    if short:
        notes = (*notes, _short_rows(name, short, width))
    if over := [(first, last) for first, last in spans if lines and first >= lines[0]]:
        notes = (*notes, _taken_together(name, over))
    padded = (record[:width] + [""] * (width - len(record)) for record in body)
    columns = [
        pl.Series([value or None for value in values], dtype=pl.String)
        for values in zip(*padded, strict=True)
    ]
    table = build(
        name,
        header.names[:width],
        columns,
        lines=pl.Series("row", lines, dtype=pl.Int64),
        unit="line",
        decimal_comma=separator != ",",
        findings=(*notes, *header.findings),
    )
    return replace(table, head=tops[header.top])


def _records(
    name: str, text: str, separator: str
) -> tuple[list[list[str]], list[int], list[tuple[int, int]]]:
    """Records that hold something, the physical line each begins on, and the first and last line
    of those that go on over several.
    """
    lines = chain(io.StringIO(text, newline=""), [_END])
    # A quote inside a text that is not quoted ('the 5" pipe') is read as it stands; one behind
    # which a quoted text goes on may have closed a quote that stands rows above.
    reader = csv.reader(lines, delimiter=separator, strict=True)
    limit = csv.field_size_limit(_LONGEST_FIELD)
    pairs: list[tuple[list[str], int]] = []
    spans: list[tuple[int, int]] = []
    begins, last = 1, 1
    try:
        for record in reader:
            if any(map(str.strip, record)):
                pairs.append((record, begins))
                if reader.line_num > begins:
                    spans.append((begins, reader.line_num))
            # A record may go on over several lines; it is known by the one that it begins on.
            begins, last = reader.line_num + 1, begins
    except csv.Error as error:
        raise TableError(_invalid(name, begins, reader.line_num, str(error))) from None
    finally:
        csv.field_size_limit(limit)
    if pairs.pop()[0] != [_END]:
        raise TableError(f"{name}: a quote opened in line {last} is never closed")
    if not pairs:
        raise TableError(f"{name}: the file is empty")
    return [record for record, _ in pairs], [line for _, line in pairs], spans


def _invalid(name: str, begins: int, ends: int, error: str) -> str:
    """What is wrong in a record of these lines."""
    if "end of data" in error:
        return f"{name}: a quote opened in line {begins} is never closed"
    if "expected after" not in error:
        return f"{name}: line {begins} is not valid CSV ({error})"
    if ends == begins:
        return (
            f"{name}: in line {begins} text goes on behind a closing quote; write a quote within "
            f'a quoted text twice (""), or take the quotes away'
        )
    return (
        f"{name}: a quote in or after line {begins} is closed in line {ends}, where text goes on "
        f"behind it, so that {ends - begins + 1} lines would be one row; is a single quote too "
        f'many there? Within a quoted text it is written twice ("")'
    )


def _refuse_swallowed(
    name: str, text: str, spans: list[tuple[int, int]], separator: str, width: int
) -> None:
    """A quoted cell each line of which has the separators of a row has swallowed rows."""
    if not spans or width < 2:
        return
    lines = io.StringIO(text, newline="").readlines()
    for first, last in spans:
        # The last line may be the mark behind the end of the file, where the quote never closes.
        span = lines[first - 1 : last]
        if len(span) == last - first + 1 and all(
            line.count(separator) >= width - 1 for line in span
        ):
            raise TableError(
                f"{name}: lines {first} to {last} would be one row, for a quote opened in line "
                f"{first} is closed in line {last}, and each of them has the {width - 1} "
                f"separators of a row; is a single quote too many in both? If it is one text, "
                f"save the file as Excel, JSON or Parquet"
            )


def _refuse_long(
    name: str, body: list[list[str]], lines: list[int], width: int, separator: str
) -> None:
    """A record with more fields than the header has shifted cells."""
    for record, line in zip(body, lines, strict=True):
        # Spreadsheets end rows in empty fields where a column was deleted: these shift nothing.
        if len(record) > width and any(record[width:]):
            raise TableError(
                f"{name}: line {line}, which begins {shortened(record[0])!r}, has {len(record)} "
                f"fields where the header has {width} (is a text with {separator!r} not quoted?)"
            )


def _taken_together(name: str, spans: list[tuple[int, int]]) -> Finding:
    rows, lines = len(spans), sum(last - first + 1 for first, last in spans)
    return finding(
        "lines_together",
        "note",
        name,
        [f"lines {first} to {last}" for first, last in spans],
        f"{plural(lines, 'line')} of the file are {plural(rows, 'row')}: a quoted text goes on "
        f"over several.",
        "Each is read as one row.",
        count=lines - rows,
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
        # The header as a row: Polars would rename a name that occurs twice, which is an error here.
        frame = pl.read_csv(data, has_header=False, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError:
        return None
    if frame.height < 2:
        return None
    # A short line ends in nulls, and so do empty fields. Where no cell is quoted the separators
    # tell them apart, for Polars refuses a line of too many; else the exact reader does.
    full = '"' not in text and text.count(separator) == (frame.width - 1) * frame.height
    if frame[frame.columns[-1]].null_count() and not full:
        return None
    # A blank line, or a quoted cell that goes on over lines and may have swallowed rows.
    if frame.height != text.count("\n") + (text[-1:] not in ("\n", "")):
        return None
    header = [(value or "").strip() for value in frame.row(0)]
    if "" in header or len(set(header)) < len(header):
        return None  # a title above, or a second row of headers
    columns = [column.replace("", None) for column in frame[1:].get_columns()]
    return build(name, header, columns, decimal_comma=separator != ",", findings=notes)


#: What programs wrote before UTF-8, the commonest first.
_LEGACY = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258",
    "cp932", "gb18030", "big5", "cp949", "cp874", "koi8-r", "mac-roman",
)  # fmt: skip
#: UTF-32 before UTF-16, whose mark its own begins with.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(path: Path, named: Sequence[str] = ()) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file: UTF-8 or what its byte-order mark says, else Windows-1252 with a note, or
    another encoding of `_LEGACY` in which all names of `named` stand that it lacks.

    Raises
    ------
    TableError
        Not text in that encoding, or a NUL character in it.
    """
    data = path.read_bytes()
    # Excel's "Unicode text" is UTF-16, and its plain CSV in the west of Europe is Windows-1252.
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _unmarked(data))
    notes: tuple[Finding, ...] = ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise TableError(f"{path.name}: is not {encoding} text ({error.reason})") from None
        encoding = _by_names(data, named)
        text = data.decode(encoding, errors="replace")
        notes = (_not_utf8(path.name, data, encoding),)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TableError(f"{path.name}: line {line} holds a NUL character, which no text file has")
    return text, notes


def _by_names(data: bytes, named: Sequence[str]) -> str:
    """The first encoding of `_LEGACY` in which all that is named stands in a text, with a letter
    beyond ASCII in it; Windows-1252 where none is.
    """
    told = [name for name in named if not name.isascii()]
    for encoding in _LEGACY if told else ():
        try:
            if all(name.encode(encoding) in data for name in told):
                data.decode(encoding)
                return encoding
        except UnicodeError:
            continue
    return _LEGACY[0]


def _unmarked(data: bytes) -> str:
    """UTF-16 without its mark shows in a NUL beside nearly every letter; else UTF-8."""
    head = data[:4096]
    first, second = head[::2].count(0), head[1::2].count(0)
    # Half of the bytes in one of both places. In texts without Latin letters it shows nothing.
    most = len(head) // 4
    if max(first, second) <= most or min(first, second) > most:
        return "utf-8"
    return "utf-16-be" if first > second else "utf-16-le"


def _not_utf8(name: str, data: bytes, encoding: str) -> Finding:
    lines = [number for number, line in enumerate(data.splitlines(), 1) if not _is_utf8(line)]
    return finding(
        "encoding",
        "serious",
        name,
        [f"line {number}" for number in lines],
        f"The file is not UTF-8 ({plural(len(lines), 'line')}); it was read as "
        f"{encoding.replace('cp12', 'Windows-12')}.",
        "Letters with accents may be wrong in ids and texts; save it as UTF-8 to be sure.",
        count=1,
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
