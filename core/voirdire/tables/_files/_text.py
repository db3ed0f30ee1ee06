"""Bytes to text, whatever the encoding and the newlines."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from voirdire.errors import TableError
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.schema import Finding

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(path: Path) -> tuple[str, tuple[Finding, ...]]:
    """The text of a file: UTF-8 or what its byte-order mark says, else Windows-1252 with a note.

    Raises
    ------
    TableError
        Not text in that encoding, or a NUL character in it.
    """
    data = path.read_bytes()
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), _unmarked(data))
    notes: tuple[Finding, ...] = ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise TableError(f"{path.name}: is not {encoding} text ({error.reason})") from None
        text, notes = data.decode("cp1252", errors="replace"), (_not_utf8(path.name, data),)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TableError(f"{path.name}: line {line} holds a NUL character, which no text file has")
    return text, notes


def _unmarked(data: bytes) -> str:
    """UTF-16 without its mark shows in a NUL beside nearly every letter; else UTF-8."""
    head = data[:4096]
    first, second = head[::2].count(0), head[1::2].count(0)
    most = len(head) // 4
    if max(first, second) <= most or min(first, second) > most:
        return "utf-8"
    return "utf-16-be" if first > second else "utf-16-le"


def _not_utf8(name: str, data: bytes) -> Finding:
    lines = [number for number, line in enumerate(data.splitlines(), 1) if not _is_utf8(line)]
    return finding(
        "encoding",
        "serious",
        name,
        [f"line {number}" for number in lines],
        f"The file is not UTF-8 ({plural(len(lines), 'line')}); it was read as Windows-1252.",
        "Letters with accents may be wrong in ids and texts; save it as UTF-8 to be sure.",
        count=1,
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
