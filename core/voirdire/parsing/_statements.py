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
_SIGN = (
    r"(?:(?:[-=]>|[:=：|>→?]|\b(?:is|was|gets|receives|deserves|scores)\b(?:\s*[:：])?(?:\s+an?\b)?"
    r"|[-–—](?=\s)|\.{3,}|\t)|\n(?=[*_`\s]{0,6}\d[^\n]{0,10}(?:\n|$)))"
)
# Where a field ends: with its line, cell or tag, or where the next name and colon begin.
_ENDS = re.compile(r"[\n|;<&]|,\s*(?=[\"']?[^\W\d_][\w ]{0,30}[\"']?\s*[:=])")
_JOINS = re.compile(r"(?:[\s,•#\"'`}\]]|\s-+|\b(?:and|while|but|with|the|its)\b)+$")
_BEFORE = re.compile(r"(?P<word>[^\W\d_]+)[ \t*_]{1,4}$")
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
    cue = _cue(tuple(keys))
    if cue is None:
        return []
    found = list(_first(cue, text))
    ends = [*(each.start() for each in found), len(text)][1:]
    names = {plain_key(key): key for key in keys}
    return [
        Statement(
            names[plain_key(each["key"])],
            _field(text[each.end() : end]),
            bool(each["final"]),
            text[each.end() : min(end, each.end() + _SECTION)],
            _word_before(text, each.start()),
        )
        for each, end in zip(found, ends, strict=True)
    ]


def _first(cue: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    for count, each in enumerate(cue.finditer(text)):
        if count >= _MAX_STATEMENTS:
            return
        yield each


def _word_before(text: str, at: int) -> str:
    found = _BEFORE.search(text[max(0, at - 40) : at])
    return found["word"].casefold() if found else ""


def _field(text: str) -> str:
    field = _ENDS.split(text[:_LONGEST], maxsplit=1)[0]
    return _JOINS.sub("", field.replace("*", ""))


@lru_cache(maxsize=64)
def _cue(keys: tuple[str, ...]) -> re.Pattern[str] | None:
    """A key as a whole word, an optional remark in brackets, and a sign that a value follows."""
    names = [r"[\s_-]{0,3}".join(map(re.escape, _WORD.findall(key))) for key in keys]
    names = sorted(filter(None, names), key=len)
    if not names:
        return None
    return re.compile(
        rf"(?<!\w)(?P<final>final\s+)?(?P<key>{'|'.join(reversed(names))})(?!\w)"
        rf"(?:{_MARKS}(?:score|rating|level))?{_MARKS}"
        rf"(?:(?=[(\[]?\s?{_NUMBER_OF})"
        rf"|(?:[(\[][^()\[\]\n]{{0,40}}[)\]])?{_MARKS}{_SIGN}{_MARKS})",
        re.IGNORECASE,
    )
