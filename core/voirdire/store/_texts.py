"""How texts are kept: short ones as they are, long ones compressed, and secrets not at all."""

from __future__ import annotations

import os
import re
import zlib

#: Below this many characters compression costs more than it saves.
SHORT = 512
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_SECRET_SHAPE = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|xai|hf)[-_]|AIza|Bearer\s|Basic\s)[A-Za-z0-9*][A-Za-z0-9*_\-.=+/]{7,}"
)
HIDDEN = "[hidden]"


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


def scrub(text: str) -> str:
    """The text without keys: values of secret environment variables, and what looks like a key.

    Examples
    --------
    >>> scrub("Incorrect API key provided: sk-proj-12345678abcd.")
    'Incorrect API key provided: [hidden]'
    """
    for name in held_keys(text):
        text = text.replace(os.environ[name], HIDDEN)
    return _SECRET_SHAPE.sub(HIDDEN, text)


def held_keys(text: str) -> list[str]:
    """Names of the secret environment variables whose values stand in a text."""
    return [
        name
        for name, value in os.environ.items()
        if len(value) >= 8 and value in text and _SECRET_NAME.search(name)
    ]
