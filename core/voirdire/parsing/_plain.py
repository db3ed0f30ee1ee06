"""The reply that needs no care: one plain or fenced object, every score in it on the scale."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.parsing._decoders import Repeated, decode
from voirdire.parsing._keys import key_forms, match_key, may_be_final, names_its_score, plain_key
from voirdire.parsing._source import storable

if TYPE_CHECKING:
    from voirdire.schema import Scale

#: Finish reasons after which such an object stands for itself: its last brace closes it.
ENDS = frozenset({"stop", "length"})
_WHOLE = {int}
_NUMBERS = {int, float}
_MAX_SHAPES = 1_000
# A scale of more levels is not enumerated; its replies take the careful path.
_MANY_LEVELS = 10_000


@lru_cache(maxsize=64)
def plain_reader(attributes: tuple[str, ...], scale: Scale) -> PlainReader:
    """The reader of these attributes, made once."""
    return PlainReader(attributes, scale)


class PlainReader:
    """Reads plain replies at the speed of the JSON decoder, and no others."""

    def __init__(self, attributes: tuple[str, ...], scale: Scale) -> None:
        few = scale.levels if scale.count <= _MANY_LEVELS else ()
        self._levels = {int(level): float(level) for level in few if float(level).is_integer()}
        self._between = None if scale.step else (scale.low, scale.high)
        self._shapes = _Shapes(attributes)

    def read(self, text: str) -> Plain | None:
        """What a plain reply says; None where care is needed."""
        fields = _plain_object(text)
        shape = self._shapes.of(fields) if fields is not None else None
        if fields is None or shape is None:
            return None
        scores = self._scores([fields[key] for key in shape.keys])
        if None in scores:
            return None
        # A key that is not at the top may stand further in.
        if shape.absent:
            if any(map(_may_hold_keys, fields.values())):
                return None
            for place, _ in shape.absent:
                scores.insert(place, None)
        return Plain(scores, fields, shape)

    def _scores(self, values: list[Any]) -> list[float | None]:
        """One score a value; a None among them where any is no number on the scale."""
        types = {*map(type, values)}  # as a set: no Python loop for each reply
        if types == _WHOLE and self._between is None:
            return list(map(self._levels.get, values))
        # Without steps any number between the ends is on the scale.
        if self._between is None or not types <= _NUMBERS:
            return [None]
        low, high = self._between
        inside = all(low <= value <= high for value in values)
        return list(map(float, values)) if inside else [None]


class Shape(NamedTuple):
    """One order of an object's keys: which hold the attributes, which others there are.

    `absent`: the attributes that no key holds, with their place among all.
    """

    keys: tuple[str, ...]
    absent: tuple[tuple[int, str], ...]
    others: tuple[str, ...]
    shown: tuple[str, ...]


class Plain(NamedTuple):
    """One score an attribute, in their order, out of an object of that shape; None: absent."""

    scores: list[float | None]
    values: dict[str, Any]
    shape: Shape


def _plain_object(text: str) -> dict[str, Any] | None:
    """The object that makes up the reply, fenced or bare; None where anything else is there."""
    start = text.find("{")
    # A fence and its language alone may stand before; a word there may be a draft's head.
    head = text[:start].strip() if start >= 0 else text
    if head and not (head.startswith("```") and head[3:].isalnum()) and head != "```":
        return None
    try:
        value, end = decode(text, start)
    except (ValueError, RecursionError):
        return None
    tail = text[end:].strip() if end < len(text) else ""
    return value if tail in ("", "```") else None


class _Shapes:
    """Which keys hold the attributes, remembered for each order of keys seen."""

    def __init__(self, attributes: tuple[str, ...]) -> None:
        self._attributes, self._forms = attributes, key_forms(attributes)
        self._seen: dict[tuple[str, ...], Shape | None] = {}

    def of(self, fields: dict[str, Any]) -> Shape | None:
        """The keys of an object; None where it names none or one twice, or marks a final one."""
        if isinstance(fields, Repeated):
            return None
        shape = tuple(fields)
        if shape not in self._seen:
            # Keys that differ in every reply, such as texts: nothing is worth remembering then.
            if len(self._seen) >= _MAX_SHAPES:
                self._seen.clear()
            self._seen[shape] = self._matched(shape)
        return self._seen[shape]

    def _matched(self, shape: tuple[str, ...]) -> Shape | None:
        by_name: dict[str, str] = {}
        # {"name": "Empathy", "score": 4} says by a value which key it scores.
        if names_its_score(shape):
            return None
        for key in shape:
            name = match_key(key, self._forms)
            # "Empathy_final" and "final" go before the key itself.
            if name in by_name or (name is None and may_be_final(key)):
                return None
            if name is not None:
                by_name[name] = key
        if not by_name:
            return None
        asked = {plain_key(name) for name in self._attributes}
        others = tuple(key for key in shape if plain_key(key) not in asked)
        keys = tuple(by_name[name] for name in self._attributes if name in by_name)
        places = enumerate(self._attributes)
        absent = tuple((place, name) for place, name in places if name not in by_name)
        return Shape(keys, absent, others, tuple(map(storable, shape)))


def _may_hold_keys(value: Any) -> bool:
    """Whether keys may stand in a value: an object, a list, or a text that is one."""
    return isinstance(value, dict | list) or (
        isinstance(value, str) and value.lstrip()[:1] in ("{", "[")
    )
