"""When two texts count as the same, and hashes that say so."""

from __future__ import annotations

import unicodedata
from hashlib import blake2b


def text_key(text: str | None) -> str:
    r"""Hash of a text up to case, Unicode form and white space; empty for an empty text.

    Examples
    --------
    >>> text_key("Same text ") == text_key("same\n  TEXT")
    True
    >>> text_key("  "), text_key(None)
    ('', '')
    """
    plain = " ".join(unicodedata.normalize("NFKC", text or "").casefold().split())
    return blake2b(_bytes(plain), digest_size=16).hexdigest() if plain else ""


def exact_key(text: str) -> bytes:
    """Hash of a text as it stands: what a model sees, so what a stored vector is kept under."""
    return blake2b(_bytes(text), digest_size=16).digest()


def is_empty(text: str | None) -> bool:
    """Whether there is nothing to embed."""
    return text is None or not text.strip()


def _bytes(text: str) -> bytes:
    # Texts from the wild hold lone surrogates, which UTF-8 has no form for.
    return text.encode("utf-8", "surrogatepass")
