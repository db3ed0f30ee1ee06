"""When two texts count as the same, and hashes that say so."""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

# The .0 that a data frame puts behind a whole number beside a blank.
_POINT_ZERO = re.compile(r"(?<=\d)\.0+$")


def text_key(text: str | None) -> str:
    r"""Hash of a text up to case, Unicode form and white space; empty for an empty text.

    Examples
    --------
    >>> text_key("Same text ") == text_key("same\n  TEXT")
    True
    >>> text_key("  "), text_key(None)
    ('', '')
    """
    # NFKC: ligatures, full-width letters and the like are the same text to a reader.
    plain = " ".join(unicodedata.normalize("NFKC", text or "").casefold().split())
    return blake2b(_bytes(plain), digest_size=16).hexdigest() if plain else ""


def id_key(name: str) -> str:
    """An id as it counts when ids of two files meet: 7, " 7" and 7.0 are one, 007 is another.

    Of two tables one may come from a spreadsheet or a data frame, which write whole numbers with a
    point. Taking two ids for one keeps an example out; taking one for two shows an answer.

    >>> id_key(" 7.0"), id_key("007"), id_key("1.5")
    ('7', '007', '1.5')
    """
    return _POINT_ZERO.sub("", unicodedata.normalize("NFC", name).strip())


def exact_key(text: str) -> bytes:
    """Hash of a text as it stands: what a model sees, so what a stored vector is kept under."""
    return blake2b(_bytes(text), digest_size=16).digest()


def is_empty(text: str | None) -> bool:
    """Whether there is nothing to embed."""
    return text is None or not text.strip()


def _bytes(text: str) -> bytes:
    # Texts from the wild hold lone surrogates, which UTF-8 has no form for.
    return text.encode("utf-8", "surrogatepass")
