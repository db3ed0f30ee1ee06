"""JSON as the standard says, in C speed, with repeated keys kept in sight."""

from __future__ import annotations

import json
from typing import Any


class Repeated(dict[str, Any]):
    """An object that names a key more than once; `pairs` holds all of them in order."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A plain dict, or a `Repeated` where a key occurs twice."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Repeated(pairs)


def pairs_of(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """All pairs of an object, repeated keys included."""
    return value.pairs if isinstance(value, Repeated) else list(value.items())


#: ``(text, index) -> (value, end)``; raises ValueError or RecursionError.
decode = json.JSONDecoder(object_pairs_hook=from_pairs).raw_decode
#: The same with raw line breaks allowed inside strings.
decode_loose = json.JSONDecoder(object_pairs_hook=from_pairs, strict=False).raw_decode
