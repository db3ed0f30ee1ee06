"""What a workbook holds, found by reading its parts as a stream before anything is unpacked whole.

A reader of workbooks makes room for every cell between the first and the last that are filled: one
stray cell at XFD1048575 asks for 17 thousand million of them. Here the parts are read a piece at a
time, so that such a workbook is refused by name.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Room for this many cells is made without a question; beyond, at least a tenth must be filled.
MOST_ROOM = 12_000_000
#: A cell of a workbook takes about thirty bytes, whatever it holds.
MOST_CELLS = 30_000_000
#: The parts of a workbook may unpack to this many bytes, and the texts of its cells to as many.
MOST_BYTES = 1_000_000_000
#: A workbook shrinks to a tenth or a thirtieth; what shrinks more than this was made to.
_MOST_SHRINKING = 300
_SMALL = 50_000_000
_PIECE = 1 << 20
#: The longest tag that is looked for; a piece keeps as much of the one before.
_TAG = 400
# A filled cell: <c r="B7" s="1" t="s"> and no <c r="B7" s="1"/>, which has a style only.
_CELL = re.compile(rb'<(?:\w+:)?c\s(?:[^<>]*?\s)?r="([A-Z]{1,3})(\d{1,7})"[^<>]*?(/?)>')
_MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^<>]*>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^<>]*>")
_ATTRIBUTE = re.compile(rb'([\w:]+)="([^"]*)"')
_TEXT = re.compile(rb"<(?:\w+:)?si>(.*?)</(?:\w+:)?si>", re.DOTALL)
# A table, a row or a cell of OpenDocument, with its attributes.
_OPEN_TAG = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)(\s[^<>]*)?>")
_REFERENCE = re.compile(rb't="s"[^<>]*>\s*<(?:\w+:)?v>(\d+)<')


@dataclass(slots=True)
class Sheet:
    """The filled part of a sheet, counted from 1; `merged` holds (top, left, bottom, right)."""

    cells: int = 0
    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)

    @property
    def room(self) -> int:
        """How many cells lie between the first and the last one that are filled."""
        return (self.bottom - self.top + 1) * (self.right - self.left + 1) if self.cells else 0


def check_size(path: Path) -> None:
    """Refuse a workbook that unpacks to far more than it says, or to more than memory should take.

    Raises
    ------
    TableError
        The names and sizes are in the message.
    """
    with zipfile.ZipFile(path) as book:
        parts = book.infolist()
    size = sum(part.file_size for part in parts)
    packed = max(1, sum(part.compress_size for part in parts))
    texts = sum(part.file_size for part in parts if part.filename.endswith("sharedStrings.xml"))
    if max(size, 3 * texts) > MOST_BYTES or (size > _SMALL and size > _MOST_SHRINKING * packed):
        raise TableError(
            f"{path.name}: unpacks from {packed:,} to {size:,} bytes, which is more than is read "
            f"from a workbook; save the sheet as CSV or Parquet"
        )


def scan_sheet(path: Path, name: str) -> Sheet:
    """The filled part and the merged cells of one sheet of an .xlsx or .xlsm file.

    Raises
    ------
    TableError
        A few cells lie so far apart that room for thousands of millions would be made, or the
        texts of the cells are too long to hold.
    """
    with zipfile.ZipFile(path) as book:
        member = _member(book, name)
        if member is None:
            return Sheet()
        found = _scan(book, member)
        _check_room(path, name, found)
        _check_texts(path, book, member, name, found.cells)
    return found


def check_opendocument(path: Path) -> None:
    """Refuse an .ods file a sheet of which needs too much room; other files pass.

    Its sheets are all read when it is opened, so they are looked at before.

    Raises
    ------
    TableError
        As `scan_sheet`, or one tag that stands for millions of cells.
    """
    with zipfile.ZipFile(path) as book:
        sheets = _scan_opendocument(book) if "content.xml" in book.namelist() else {}
    for name, found in sheets.items():
        if found.cells > MOST_CELLS:
            raise TableError(
                f"{path.name}: sheet {name!r} has {found.cells:,} cells with a value, more than "
                f"are read from a workbook; save it as CSV or Parquet"
            )
        _check_room(path, name, found)


def _check_room(path: Path, name: str, found: Sheet) -> None:
    """Refuse a sheet whose filled cells lie far apart: room is made for all between them."""
    if found.room > MOST_ROOM and found.cells < found.room // 10:
        last = f"{_letters(found.right)}{found.bottom}"
        raise TableError(
            f"{path.name}: sheet {name!r} has {found.cells:,} cells with a value between "
            f"{_letters(found.left)}{found.top} and {last}: a stray cell lies far from the table; "
            f"delete the rows and columns behind the table, or save it as CSV"
        )


def _member(book: zipfile.ZipFile, name: str) -> str | None:
    """The part of the archive that holds a sheet; None where the workbook is of another kind."""
    parts = set(book.namelist())
    if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= parts:
        return None
    import html  # noqa: PLC0415 - names of sheets are escaped in the file

    sheets = [_attributes(tag) for tag in _SHEET.findall(book.read("xl/workbook.xml"))]
    targets = {
        each.get("Id"): each.get("Target", "")
        for each in map(_attributes, _RELATION.findall(book.read("xl/_rels/workbook.xml.rels")))
    }
    wanted = next((s.get("r:id") for s in sheets if html.unescape(s.get("name", "")) == name), None)
    target = targets.get(wanted, "").lstrip("/")
    return next((part for part in (target, f"xl/{target}") if part in parts), None)


def _attributes(tag: bytes) -> dict[str, str]:
    return {
        key.decode(): value.decode("utf-8", "replace") for key, value in _ATTRIBUTE.findall(tag)
    }


def _scan(book: zipfile.ZipFile, member: str) -> Sheet:
    found = Sheet()
    columns: dict[bytes, int] = {}
    rows: set[int] = set()
    for piece in _pieces(book, member):
        for letters, row, bare in _CELL.findall(piece):
            if not bare:
                columns.setdefault(letters, _number(letters))
                rows.add(int(row))
                found.cells += 1
        found.merged += [
            (int(top), _number(left), int(bottom), _number(right))
            for left, top, right, bottom in _MERGED.findall(piece)
        ]
    if found.cells:
        found.top, found.bottom = min(rows), max(rows)
        found.left, found.right = min(columns.values()), max(columns.values())
    return found


def _scan_opendocument(book: zipfile.ZipFile) -> dict[str, Sheet]:
    """The filled part of each sheet of OpenDocument, where a tag may stand for many rows or cells.

    A row is counted when the next one begins: then its cells are known.
    """
    import html  # noqa: PLC0415 - names of sheets are escaped in the file

    sheets: dict[str, Sheet] = {}
    found, row, repeated, column = Sheet(), 0, 0, 0
    filled: list[tuple[int, int]] = []
    for piece in _pieces(book, "content.xml"):
        for tag, attributes in _OPEN_TAG.findall(piece):
            if tag in (b"table", b"table-row"):
                _add_row(found, filled, row, repeated)
                filled = []
            if tag == b"table":
                name = html.unescape(_attributes(attributes).get("table:name", ""))
                found = sheets.setdefault(name, Sheet())
                row = repeated = 0
            elif tag == b"table-row":
                row, repeated, column = row + repeated, _times(attributes, b"rows"), 0
            else:
                times = _times(attributes, b"columns")
                if b"office:value-type=" in attributes:
                    filled.append((column + 1, column + times))
                column += times
    _add_row(found, filled, row, repeated)
    return sheets


def _times(attributes: bytes, what: bytes) -> int:
    """How many rows or columns a tag of OpenDocument stands for."""
    said = re.search(rb'number-%s-repeated="(\d{1,9})"' % what, attributes)
    return int(said[1]) if said else 1


def _add_row(found: Sheet, filled: list[tuple[int, int]], above: int, repeated: int) -> None:
    """Count the filled cells of a row, or of a run of equal rows, below `above` rows."""
    if not filled:
        return
    first = found.cells == 0
    found.cells += repeated * sum(last - start + 1 for start, last in filled)
    found.top = above + 1 if first else found.top
    found.bottom = above + repeated
    found.left = filled[0][0] if first else min(found.left, filled[0][0])
    found.right = max(found.right, filled[-1][1])


def _pieces(book: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    """A part a piece at a time, each ending with a whole tag."""
    rest = b""
    with book.open(member) as part:
        while piece := part.read(_PIECE):
            piece = rest + piece
            cut = piece.rfind(b">") + 1
            # Without a tag's end for so long there is text, which is not looked at.
            rest = piece[cut:] if cut else piece[-_TAG:]
            yield piece[:cut] if cut else b""
            if len(rest) > 2 * _PIECE:
                rest = rest[-_TAG:]
    yield rest


def _check_texts(path: Path, book: zipfile.ZipFile, sheet: str, name: str, cells: int) -> None:
    """A long text that a million cells refer to is held a million times."""
    if "xl/sharedStrings.xml" not in book.namelist():
        return
    size = book.getinfo("xl/sharedStrings.xml").file_size
    most = book.getinfo(sheet).file_size // len(b"<c><v>0</v></c>")
    if size * most <= MOST_BYTES:
        return
    texts = book.read("xl/sharedStrings.xml")
    # Cells that each hold the longest text are still few enough: no need to count which holds what.
    if cells * max(map(len, texts.split(b"</si>"))) <= MOST_BYTES:
        return
    lengths = [len(text) for text in _TEXT.findall(texts)]
    held = 0
    for piece in _pieces(book, sheet):
        held += sum(
            lengths[at] for each in _REFERENCE.findall(piece) if (at := int(each)) < len(lengths)
        )
        if held > MOST_BYTES:
            raise TableError(
                f"{path.name}: the texts of sheet {name!r} come to more than {MOST_BYTES:,} "
                f"characters; save it as CSV or Parquet"
            )


def _number(letters: bytes) -> int:
    """The number of a column from its letters: A is 1, AA 27."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
