"""What the parts of a workbook hold, looked through as a stream before room is made for its cells.

Calamine makes room for every cell between the first and the last that are filled: one stray cell at
XFD1048575 asks for 17 thousand million of them. Such a workbook is refused by name.
"""

from __future__ import annotations

import html
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
#: More hidden columns beside each other are the empty rest of a sheet.
_MOST_HIDDEN = 1_000
#: The longest tag that is looked for; a piece keeps as much of the one before.
_TAG = 400
# A filled cell: <c r="B7" s="1" t="s"> and no <c r="B7" s="1"/>, which has a style only.
_CELL = re.compile(rb'<(?:\w+:)?c\s(?:[^<>]*?\s)?r="([A-Z]{1,3})(\d{1,7})"[^<>]*?(/?)>')
_MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"'
)
_ROW = re.compile(rb"<(?:\w+:)?row\s[^<>]*>")
_COLUMN = re.compile(rb"<(?:\w+:)?col\s[^<>]*>")
_FILTER = re.compile(rb"<(?:\w+:)?filterColumn\s")
_HIDDEN = ("1", "true")
# A formula behind which no value stands: <c r="B7"><f>A7+1</f></c>, or <v/> where others have one.
_FORMULA = re.compile(
    rb'<(?:\w+:)?c\s[^<>]*?r="([A-Z]{1,3})(\d{1,7})"[^<>]*>\s*'
    rb"<(?:\w+:)?f(?:\s[^<>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>|</(?:\w+:)?c>)"
)
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^<>]*>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^<>]*>")
_ATTRIBUTE = re.compile(rb'([\w:]+)="([^"]*)"')
_TEXT = re.compile(rb"<(?:\w+:)?si>(.*?)</(?:\w+:)?si>", re.DOTALL)
# A table, a row or a cell of OpenDocument, with its attributes.
_OPEN_TAG = re.compile(
    rb"<table:(table|table-column|table-row|table-cell|covered-table-cell)(\s[^<>]*)?>"
)
_REFERENCE = re.compile(rb't="s"[^<>]*>\s*<(?:\w+:)?v>(\d+)<')


@dataclass(slots=True)
class Sheet:
    """The filled part of a sheet, counted from 1.

    Attributes
    ----------
    merged : list of tuple
        (top, left, bottom, right).
    hidden_rows, hidden_columns : list of int
        What the sheet does not show; `filtered` where a filter hides rows.
    formulas : list of tuple
        (row, column) of formulas whose values are not in the file.
    """

    cells: int = 0
    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    filtered: bool = False
    formulas: list[tuple[int, int]] = field(default_factory=list)

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
    """The filled part of one sheet of an .xlsx, .xlsm or .ods file, and what it does not show.

    Raises
    ------
    TableError
        A few cells lie so far apart that room for thousands of millions would be made, or the
        texts of the cells are too long to hold.
    """
    with zipfile.ZipFile(path) as book:
        member = member_of(book, name)
        if member is None:
            opened = "content.xml" in book.namelist()
            return _scan_opendocument(book).get(name, Sheet()) if opened else Sheet()
        scanned = _scan(book, member)
        _check_room(path, name, scanned)
        _check_texts(path, book, member, name, scanned.cells)
    return scanned


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
    for name, scanned in sheets.items():
        if scanned.cells > MOST_CELLS:
            raise TableError(
                f"{path.name}: sheet {name!r} has {scanned.cells:,} cells with a value, more than "
                f"are read from a workbook; save it as CSV or Parquet"
            )
        _check_room(path, name, scanned)


def _check_room(path: Path, name: str, scanned: Sheet) -> None:
    """Refuse a sheet whose filled cells lie far apart: room is made for all between them."""
    if scanned.room > MOST_ROOM and scanned.cells < scanned.room // 10:
        last = f"{_letters(scanned.right)}{scanned.bottom}"
        raise TableError(
            f"{path.name}: sheet {name!r} has {scanned.cells:,} cells with a value between "
            f"{_letters(scanned.left)}{scanned.top} and {last}: a stray cell lies far from the "
            "table. Delete the rows and columns behind the table, or save it as CSV"
        )


def member_of(book: zipfile.ZipFile, name: str) -> str | None:
    """The part of the archive that holds a sheet; None where the workbook is of another kind."""
    parts = set(book.namelist())
    if not {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= parts:
        return None
    sheets = [_attributes(tag) for tag in _SHEET.findall(book.read("xl/workbook.xml"))]
    targets = {
        each.get("Id"): each.get("Target", "")
        for each in map(_attributes, _RELATION.findall(book.read("xl/_rels/workbook.xml.rels")))
    }
    wanted = next((s.get("r:id") for s in sheets if html.unescape(s.get("name", "")) == name), None)
    # A target is relative to xl/, or absolute with a slash before it, by who wrote the workbook.
    target = targets.get(wanted, "").lstrip("/")
    return next((part for part in (target, f"xl/{target}") if part in parts), None)


def _attributes(tag: bytes) -> dict[str, str]:
    return {
        key.decode(): value.decode("utf-8", "replace") for key, value in _ATTRIBUTE.findall(tag)
    }


def _scan(book: zipfile.ZipFile, member: str) -> Sheet:
    sheet = Sheet()
    columns: dict[bytes, int] = {}
    rows: set[int] = set()
    begun = b""
    for piece in _pieces(book, member):
        # A cell may begin in one piece and hold its formula in the next.
        whole = begun + piece
        sheet.formulas += [(int(row), _number(at)) for at, row in _FORMULA.findall(whole)]
        begun = piece[max(piece.rfind(b"<c "), piece.rfind(b":c ")) :][:_TAG]
        _note_hidden(sheet, piece)
        for letters, row, bare in _CELL.findall(piece):
            if not bare:
                columns.setdefault(letters, _number(letters))
                rows.add(int(row))
                sheet.cells += 1
        sheet.merged += [
            (int(top), _number(left), int(bottom), _number(right))
            for left, top, right, bottom in _MERGED.findall(piece)
        ]
    if sheet.cells:
        sheet.top, sheet.bottom = min(rows), max(rows)
        sheet.left, sheet.right = min(columns.values()), max(columns.values())
    return sheet


def _note_hidden(sheet: Sheet, piece: bytes) -> None:
    """Rows and columns of a piece that the sheet does not show."""
    sheet.filtered = sheet.filtered or _FILTER.search(piece) is not None
    # Most pieces hold nothing hidden: the tags of their rows need not be taken apart.
    if b"hidden=" not in piece:
        return
    for tag in map(_attributes, _ROW.findall(piece)):
        if tag.get("hidden") in _HIDDEN and tag.get("r", "").isdecimal():
            sheet.hidden_rows.append(int(tag["r"]))
    for tag in map(_attributes, _COLUMN.findall(piece)):
        if tag.get("hidden") in _HIDDEN:
            # A last column of 16384 hides all that is to the right.
            last = min(int(tag.get("max", 0)), int(tag.get("min", 1)) + _MOST_HIDDEN)
            sheet.hidden_columns += range(int(tag.get("min", 1)), last + 1)


def _scan_opendocument(book: zipfile.ZipFile) -> dict[str, Sheet]:
    """The filled part of each sheet of OpenDocument."""
    walk = _Walk()
    for piece in _pieces(book, "content.xml"):
        for tag, attributes in _OPEN_TAG.findall(piece):
            walk.enter(tag, attributes)
    walk.end_row()
    return walk.sheets


@dataclass(slots=True)
class _Walk:
    """Where a walk through the tags of OpenDocument stands: one may be many rows or cells.

    A row is counted when the next one begins: then its cells are known.
    """

    sheets: dict[str, Sheet] = field(default_factory=dict)
    sheet: Sheet = field(default_factory=Sheet)
    row: int = 0
    repeated: int = 0
    column: int = 0
    columns: int = 0
    filled: list[tuple[int, int]] = field(default_factory=list)

    def enter(self, tag: bytes, attributes: bytes) -> None:
        """Take in a table, a column, a row or a cell."""
        if tag == b"table":
            self.end_row()
            name = html.unescape(_attributes(attributes).get("table:name", ""))
            self.sheet = self.sheets.setdefault(name, Sheet())
            self.row = self.repeated = self.columns = 0
        elif tag == b"table-row":
            self.end_row()
            self.row += self.repeated
            self.repeated, self.column = _times(attributes, b"rows"), 0
            if _is_collapsed(attributes):
                last = self.row + min(self.repeated, _MOST_HIDDEN)
                self.sheet.hidden_rows += range(self.row + 1, last + 1)
                self.sheet.filtered = self.sheet.filtered or b'"filter"' in attributes
        elif tag == b"table-column":
            times = _times(attributes, b"columns")
            if _is_collapsed(attributes):
                last = self.columns + min(times, _MOST_HIDDEN)
                self.sheet.hidden_columns += range(self.columns + 1, last + 1)
            self.columns += times
        else:
            self._cell(attributes)

    def _cell(self, attributes: bytes) -> None:
        times = _times(attributes, b"columns")
        if b"office:value-type=" in attributes:
            self.filled.append((self.column + 1, self.column + times))
        elif b"table:formula=" in attributes:
            self.sheet.formulas.append((self.row + 1, self.column + 1))
        self.column += times

    def end_row(self) -> None:
        """Count the cells of the row that ends."""
        _add_row(self.sheet, self.filled, self.row, self.repeated)
        self.filled = []


def _is_collapsed(attributes: bytes) -> bool:
    """Whether a row or column of OpenDocument is not shown."""
    return re.search(rb'table:visibility="(?:collapse|filter)"', attributes) is not None


def _times(attributes: bytes, of: bytes) -> int:
    """How many rows or columns a tag of OpenDocument stands for."""
    repeated = re.search(rb'number-%s-repeated="(\d{1,9})"' % of, attributes)
    return int(repeated[1]) if repeated else 1


def _add_row(sheet: Sheet, filled: list[tuple[int, int]], above: int, repeated: int) -> None:
    """Count the filled cells of a row, or of a run of equal rows, below `above` rows."""
    if not filled:
        return
    first = sheet.cells == 0
    sheet.cells += repeated * sum(last - start + 1 for start, last in filled)
    sheet.top = above + 1 if first else sheet.top
    sheet.bottom = above + repeated
    sheet.left = filled[0][0] if first else min(sheet.left, filled[0][0])
    sheet.right = max(sheet.right, filled[-1][1])


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
    # A cell that refers to a text takes at least so many bytes: more of them there cannot be.
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
