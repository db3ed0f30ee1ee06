"""Scores stated in running text: ``Empathy: 4``, ``**Empathy** (4/5)``, ``| Empathy | 4 |``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from voirdire.parsing._keys import plain_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORD = re.compile(r"[^\W_]+")
_MARKS = r"[*_`\"'”’\s]{0,6}"
_NUMBER_OF = r"\d(?:\.\d{1,3})?\s*(?:/|out\s+of)\s*\d"
# What is a value on the line below its key: a number, perhaps with a remark, a yes, a preference.
_BELOW = (
    r"(?:score\s)?\d(?:\.\d+)?(?:\s?/\s?\d+|\s(?:out\s+of\s+\d+|stars?|points?))?"
    r"[*_`.\s]{0,4}(?:\n|$|\s[(–—-]|\bbecause\b)|(?:yes|no|true|false)\b|[AB]\s?[<>=]"
)
_SIGN = (
    r"(?:(?:[-=]>|[:=：|>→?]|\b(?:is|was|gets|receives|deserves|scores)\b(?:\s*[:：])?(?:\s+an?\b)?"
    rf"|[-–—](?=\s)|\.{{3,}}|\t)|\n(?=[*_`\s]{{0,6}}(?:{_BELOW})))"
)
# Where a field ends: with its line, cell or tag, or where the next name and colon begin.
_ENDS = re.compile(r"[\n<]|[|;&](?!\s*\d)|,\s*(?=[\"']?[^\W\d_][\w ]{0,30}[\"']?\s*[:=])")
_JOINS = re.compile(r"(?:[\s,•#\"'`}\]]|\s-+|\b(?:and|while|but|with|the|its)\b)+$")
_BEFORE = re.compile(r"(?P<word>[^\W\d_]+)[ \t*_]{1,4}$")
# An item of a list, or a level described, on the line below a key: "Empathy:\n5: Deeply empathic."
_ITEM = re.compile(r"\d{1,2}(?:[.)][ \t]|\s?[:=])")
# What joins two keys: "Empathy and Safety: 4" says it of both, "Empathy vs Safety: 4" of neither.
_JOINT = (
    r"(?P<joint>(?:\s+is\s+\w+\s+than\b|\s*(?:,\s*and\b|[&/+→]"
    r"|\b(?:and|or|nor|vs\.?|versus|plus|than|without)\b))\s*(?:the\s+)?)"
)
# Before a key that stands over its value, and is no word of a sentence.
_HEADING = re.compile(r"[\W\d_]*(?:(?:final|overall|my|the)\s+)?[\W_]*", re.IGNORECASE)
_COLONS = frozenset(":：=")
_AND = re.compile(r"\s*(?:&|and)\s*(?:the\s+)?", re.IGNORECASE)
_OPENS = re.compile(r"(?:^|[.;\n])[\W_]*(?:for\s+)?(?:both\s+|the\s+)?$", re.IGNORECASE)
_MAX_STATEMENTS = 2_000
_LONGEST, _SECTION = 300, 2_000


@dataclass(frozen=True, slots=True)
class Statement:
    """A key, the text behind it to the end of its line or field, and whether it says *final*.

    `section` is all that stands before the next key: ``Empathy: warm`` may have its ``Score: 4``
    below. `before` is the word that leads to the key in its line: *confidence* score.
    """

    key: str
    text: str
    final: bool = False
    section: str = ""
    before: str = ""


def statements(text: str, keys: Sequence[str]) -> list[Statement]:
    """Everything that the text states of the given keys, in order."""
    names = tuple(keys)
    cue = _cue(names)
    if cue is None:
        return []
    found = list(_first(cue, text))
    ends = [*(each.start() for each in found), len(text)][1:]
    forms = {plain_key(key): key for key in keys}
    return [
        Statement(
            forms[plain_key(key)],
            _field(text[each.end() : end], below="\n" in each.group()),
            bool(each["final"]),
            text[each.end() : min(end, each.end() + _SECTION)],
            _word_before(text, each.start()),
        )
        for each, end in zip(found, ends, strict=True)
        for key in _spoken_of(text, each, names)
    ]


def _spoken_of(text: str, found: re.Match[str], keys: tuple[str, ...]) -> list[str]:
    """Its own key, both of *Empathy and Safety*, or none where two are compared."""
    other = _joined(keys)
    start = max(0, found.start() - _LONGEST)
    before = text[start : found.start()].rpartition("\n")[2]
    heading = "\n" in found.group() and _COLONS.isdisjoint(found.group())
    if heading and not _HEADING.fullmatch(before):
        return []
    joined = other.search(before) if other else None
    if joined is None:
        return [found["key"]]
    both = _AND.fullmatch(joined["joint"]) and _OPENS.search(before[: joined.start()])
    return [joined["first"], found["key"]] if both else []


def _first(cue: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    for count, each in enumerate(cue.finditer(text)):
        if count >= _MAX_STATEMENTS:
            return
        yield each


def _word_before(text: str, at: int) -> str:
    found = _BEFORE.search(text[max(0, at - 40) : at])
    return found["word"].casefold() if found else ""


def _field(text: str, *, below: bool) -> str:
    if below and _ITEM.match(text):
        return ""
    field = _ENDS.split(text[:_LONGEST], maxsplit=1)[0]
    return _JOINS.sub("", field.replace("*", ""))


def _any_of(keys: tuple[str, ...]) -> str:
    names = [r"[\s_-]{0,3}".join(map(re.escape, _WORD.findall(key))) for key in keys]
    return "|".join(sorted(filter(None, names), key=len, reverse=True))


@lru_cache(maxsize=64)
def _joined(keys: tuple[str, ...]) -> re.Pattern[str] | None:
    """A key and what joins it to the one that follows."""
    if len(keys) < 2:
        return None
    return re.compile(rf"(?<!\w)(?P<first>{_any_of(keys)}){_JOINT}$", re.IGNORECASE)


@lru_cache(maxsize=64)
def _cue(keys: tuple[str, ...]) -> re.Pattern[str] | None:
    """A key as a whole word, an optional remark in brackets, and a sign that a value follows."""
    names = _any_of(keys)
    if not names:
        return None
    return re.compile(
        rf"(?<!\w)(?P<final>final\s+)?(?P<key>{names})(?!\w)"
        rf"(?:{_MARKS}(?:score|rating|level))?{_MARKS}"
        rf"(?:(?=[(\[]?\s?{_NUMBER_OF})"
        rf"|(?:[(\[][^()\[\]\n]{{0,40}}[)\]])?{_MARKS}{_SIGN}{_MARKS})",
        re.IGNORECASE,
    )
