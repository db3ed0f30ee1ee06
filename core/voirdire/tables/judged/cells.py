"""The labels that a cell names."""

from __future__ import annotations

import json

#: What parts labels of a set in a cell, the surest first.
SEPARATORS = (";", "|", ",")


def members(text: str) -> list[str]:
    """The labels that a cell names: those of a JSON list, or parted by a separator.

    >>> members("calm; tense"), members('["calm"]'), members("[]")
    (['calm', 'tense'], ['calm'], [])
    """
    listed_ = as_list(text)
    if listed_ is not None:
        return listed_
    for sign in SEPARATORS:
        if sign in text:
            return [part.strip() for part in text.split(sign) if part.strip()]
    return [text.strip()] if text.strip() else []


def as_list(text: str) -> list[str] | None:
    if not text.startswith("["):
        return None
    try:
        given = json.loads(text.replace("'", '"') if '"' not in text else text)
    except ValueError:
        return None
    return [str(part).strip() for part in given] if isinstance(given, list) else None
