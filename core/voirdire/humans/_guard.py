"""Texts on their way through spreadsheets: compared and checked."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: How workbooks write characters that XML cannot hold.
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
#: Texts at least so long may come back cut at the limit of a cell.
_LONG = 30_000


def skeleton(text: str) -> str:
    """What is left of a text by a trip through any spreadsheet: its printable characters."""
    meant = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    plain = unicodedata.normalize("NFC", meant)
    kept = (c for c in plain if not unicodedata.category(c).startswith(("C", "Z")))
    return "".join(kept).lstrip("'")


def same_text(shown: str, sent: str) -> bool:
    """Whether a cell still shows the text that was sent, if need be cut at a cell's limit."""
    here, there = skeleton(shown), skeleton(sent)
    return here == there or (len(shown) >= _LONG and there.startswith(here))


def digest(parts: Iterable[str], length: int) -> str:
    """Base-32 letters of a hash; never a number to a spreadsheet, since a letter leads."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    raw = hashlib.blake2b(joined, digest_size=20).digest()
    return "j" + base64.b32encode(raw).decode().lower()[: length - 1]
