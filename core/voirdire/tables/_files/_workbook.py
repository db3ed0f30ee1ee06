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

from voirdire._errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Room for this many cells is made without a question; beyond, at least a tenth must be filled.
MOST_ROOM = 12_000_000
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
        if found.room > MOST_ROOM and found.cells < found.room // 10:
            last = f"{_letters(found.right)}{found.bottom}"
            raise TableError(
                f"{path.name}: sheet {name!r} has {found.cells:,} cells with a value between "
                f"{_letters(found.left)}{found.top} and {last}: a stray cell lies far from the "
                f"table; "
                f"delete the rows and columns behind the table, or save it as CSV"
            )
        _check_texts(path, book, member, name)
    return found


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


def _check_texts(path: Path, book: zipfile.ZipFile, sheet: str, name: str) -> None:
    """A long text that a million cells refer to is held a million times."""
    if "xl/sharedStrings.xml" not in book.namelist():
        return
    size = book.getinfo("xl/sharedStrings.xml").file_size
    most = book.getinfo(sheet).file_size // len(b"<c><v>0</v></c>")
    if size * most <= MOST_BYTES:
        return
    lengths = [len(text) for text in _TEXT.findall(book.read("xl/sharedStrings.xml"))]
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
