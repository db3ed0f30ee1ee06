"""Bytes to text, whatever the encoding and the newlines."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from voirdire._errors import TableError
from voirdire.tables._tables import finding

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
    """The text of a file: UTF-8 or what its byte-order mark says, else Windows-1252 with a note."""
    data = path.read_bytes()
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        if encoding != "utf-8" or b"\x00" in data[:4096]:
            raise TableError(f"{path.name}: is not {encoding} text ({error.reason})") from None
    note = finding(
        "encoding",
        "serious",
        path.name,
        [],
        "The file is not UTF-8; it was read as Windows-1252.",
        "Letters with accents may be wrong in ids and texts; save it as UTF-8 to be sure.",
        count=1,
    )
    return data.decode("cp1252", errors="replace"), (note,)
