"""What a header says about the scale below it: *quality (1 = worst, 5 = best)*, *Rating [1-7]*."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_NUMBER = r"[+-]?\d{1,3}(?:\.\d)?"
# A remark in brackets behind a name: "score (1-5)". Where its comma parted the header, none closes.
_REMARK = re.compile(
    r"(?P<name>[^()\[\]]*\S)\s*[(\[](?P<said>[^()\[\]]{1,80})(?:[)\]]\s*)?", re.DOTALL
)
# "rating 1-10": without brackets only a usual scale is one.
_BARE = re.compile(r"(?P<name>.*\S)\s+(?P<said>[01]\s?[-–]\s?(?:[1-57]|10|100))\s*")
# "1-5", "0 to 100", "1..7 ★"; years and dates are no scale.
_RANGE = re.compile(
    rf"(?<![\w.=-])(?P<low>{_NUMBER})\s*(?:-|–|—|\bto\b|\.\.+|…|\bbis\b|à)\s*(?P<high>{_NUMBER})(?![\w.=])"
)
_OUT_OF = re.compile(rf"(?:\bout\s+of|\bmax(?:imum|\.)?|/)\s*(?P<high>{_NUMBER})(?![\w.])")
# "1 = worst", "5: very good", "7 means strongly agree".
_ANCHOR = re.compile(
    rf"(?<![\w.])(?P<number>{_NUMBER})\s*(?:=|:|\bis\b|\bmeans\b)\s*(?P<word>[^\W\d][^,;/\d]*)"
)
_GOOD = re.compile(
    r"\b(?:best|good|excellent|great|perfect|ideal|top|sehr\s+gut|gut|bestens|meilleur|mejor)\b",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:worst|bad|poor|terrible|awful|unacceptable|useless|mangelhaft|ungenügend|schlecht\w*|pire|peor)\b",
    re.IGNORECASE,
)
_BETTER = re.compile(
    r"\b(?:(?P<low>low(?:er)?|small(?:er)?|less|fewer)|high(?:er)?|large[r]?|more)\s*(?:is|=|are)\s*(?:better|best|good)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Head:
    """The ends that a header states, and at which of them the best score stands."""

    low: float | None = None
    high: float | None = None
    best: Literal["low", "high"] | None = None


def bare_head(column: str) -> str:
    """A header without what it says of its scale.

    >>> bare_head("score (1=best)"), bare_head("Rating [1-7]"), bare_head("length (words)")
    ('score', 'Rating', 'length (words)')
    """
    found = _REMARK.fullmatch(column) or _BARE.fullmatch(column)
    return found["name"] if found and _read(found["said"]) != Head() else column


def head_of(column: str) -> Head:
    """What a header says of the scores below it.

    >>> head_of("score (1 = worst, 5 = best)")
    Head(low=1.0, high=5.0, best='high')
    >>> head_of("rank (1=best)"), head_of("human (2023)")
    (Head(low=None, high=None, best='low'), Head(low=None, high=None, best=None))
    """
    found = _REMARK.fullmatch(column) or _BARE.fullmatch(column)
    return _read(found["said"]) if found else Head()


def _read(said: str) -> Head:
    best = _best(said)
    if found := _RANGE.search(said):
        low, high = float(found["low"]), float(found["high"])
        return Head(low, high, best) if low < high else Head(best=best)
    numbers = sorted(float(each["number"]) for each in _ANCHOR.finditer(said))
    if len(numbers) > 1 and numbers[0] < numbers[-1]:
        return Head(numbers[0], numbers[-1], best)
    if found := _OUT_OF.search(said):
        return Head(None, float(found["high"]), best)
    return Head(best=best)


def _best(said: str) -> Literal["low", "high"] | None:
    """Where the best score stands: by two anchors, by one, or by *lower is better*."""
    if found := _BETTER.search(said):
        return "low" if found["low"] else "high"
    anchors = [(float(each["number"]), each["word"]) for each in _ANCHOR.finditer(said)]
    good = [number for number, word in anchors if _GOOD.search(word) and not _BAD.search(word)]
    bad = [number for number, word in anchors if _BAD.search(word)]
    if good and bad:
        return "low" if good[0] < bad[0] else "high"
    # Alone a number of at most 1 is the low end of any scale.
    if good:
        return "low" if good[0] <= 1 else "high"
    if bad:
        return "high" if bad[0] <= 1 else "low"
    return None
