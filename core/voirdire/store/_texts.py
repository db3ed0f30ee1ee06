"""How texts are kept: short ones as they are, long ones compressed."""

from __future__ import annotations

import zlib

#: Below this many characters compression costs more than it saves.
SHORT = 512


def pack(text: str) -> str | bytes:
    """A text as SQLite stores it: TEXT where short, zlib's bytes where long or not encodable."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:  # a lone surrogate, as hostile or cut replies hold
        return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
    if len(raw) < SHORT:
        return text
    small = zlib.compress(raw, 1)
    return small if len(small) < len(raw) else text


def unpack(stored: str | bytes | None) -> str:
    """The text that `pack` stored.

    Examples
    --------
    >>> unpack(pack("calm " * 1000)) == "calm " * 1000
    True
    """
    if isinstance(stored, bytes):
        return zlib.decompress(stored).decode("utf-8", "surrogatepass")
    return stored or ""
