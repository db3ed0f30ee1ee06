"""A score that a sentence gives: *I would rate it 4*, *so it deserves a solid 4/5*."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.parsing.numbers import Number, read_number

if TYPE_CHECKING:
    from voirdire.schema import Scale

_DIGITS = r"(?>\d{1,4}(?:[.,]\d{1,3})?)"
# "I would give this response a 4": not "I would rate it higher than the 3".
_GIVES = re.compile(
    r"\b(?:i|we)(?:['’](?:d|ll))?\s+(?:(?:would|will|do|have|now|also|then|thus|therefore|overall)\s+){0,2}"
    r"(?:rate|give|score|assign|award|grade)d?\b(?:\s+(?!(?:than|below|above|least|most|under|over|between|about"
    r"|around|almost|her|his|their|user|client|patient)\b)[^\W\d]{1,20}){0,6}"
    r"\s+(?P<rest>\d[^\n]{0,120})",
    re.IGNORECASE,
)
# "On a scale from 1 to 5: 4", "On a scale of 1-5 this is a 4": the scale stands before the number.
_ON_SCALE = re.compile(
    r"\bon\s+an?\s+scale\s+(?:of|from)\s+(?P<low>\d{1,3})\s?(?:to|-|–)\s?(?P<top>\d{1,4})\s?[,:]?\s+"
    r"(?:(?:it|this|the\s+(?:response|reply|answer))\s+(?:is|gets|deserves|earns|scores)\s+(?:an?\s+)?)?"
    r"(?P<number>\d{1,4}(?:[.,]\d{1,3})?)(?![\w/]|[.,-]\d|\s?[-–]\s?\d|\s+(?:or|to|and)\b)",
    re.IGNORECASE,
)
# A fraction anywhere; not the day in "3/5/2024" nor the end of "1.3/5".
_SOMEWHERE = re.compile(
    rf"(?<![\w.,/-])(?P<number>{_DIGITS}\s?(?:points?|stars?|[★⭐])?"
    rf"\s*(?:/|\bout\s+of\b|\bof\b)\s*{_DIGITS})(?![\w/])",
    re.IGNORECASE,
)
# A clause that consists of a score: "so it deserves a solid 4/5"; not "in 4 out of 5 cases".
_LEADS = re.compile(
    r"\W*(?:(?:so|thus|therefore|overall|i|d|we|it|this|that|the|a|an|my|final|response|reply|answer|text"
    r"|message|deserves|earns|gets|receives|merits|warrants|is|scores?|rating|rated?|at|of|give|given|would"
    r"|say|assign|solid|strong|good|weak|and)\W+)*",
    re.IGNORECASE,
)
# Behind the fraction its clause ends: "so it gets 4/5 because ...".
_CLOSES = re.compile(
    r"[\s*_\"'”]*(?:$|[.,;:!)\n–—-]|\b(?:because|since|as|for|overall|and|but)\b)", re.IGNORECASE
)
# A fraction is judged by its own clause, a denial by its whole sentence: a comma ends the first.
_CLAUSES = re.compile(r"[.;!?,\n]")
# Without the comma: where a whole sentence ends.
_ENDS = re.compile(r"[.;!?\n]")
# "I would not give it a 4", "unless it is a 4": the number is not the score.
_DENIED = re.compile(r"\b(?:not|never|cannot|nor|if|unless)\b|n['’]t\b", re.IGNORECASE)
_LONGEST = 20_000


def rated_out_of(text: str, scale: Scale) -> Number:
    """The score of a sentence such as *I give it 4 out of 5*, if it states exactly one.

    One that is denied (*I would not give it 5/5*) states none.
    """
    text = text[:_LONGEST]
    on_scale = {
        read_number(f"{each['number']} ({each['low']}-{each['top']})", scale)
        for each in _ON_SCALE.finditer(text)
        if not _is_denied(text, each.start())
    }
    if len(on_scale) == 1:
        return on_scale.pop()
    given = [
        read_number(each["rest"].strip(), scale)
        for each in _GIVES.finditer(text)
        if not _is_denied(text, each.start())
    ]
    values = {number for number in given if number.reason not in ("not_numeric", "ambiguous")}
    if len(values) == 1:
        return values.pop()
    found = {
        read_number(each["number"], scale)
        for each in _SOMEWHERE.finditer(text)
        if _is_given(text, each) and not _is_denied(text, each.start())
    }
    if len(found) != 1:
        return Number(None, "ambiguous" if found else "not_numeric")
    return found.pop()


def _is_given(text: str, found: re.Match[str]) -> bool:
    """Whether a fraction is all that its clause says of the response."""
    before = _CLAUSES.split(text[max(0, found.start() - 100) : found.start()])[-1]
    return bool(_LEADS.fullmatch(before) and _CLOSES.match(text, found.end()))


def _is_denied(text: str, at: int) -> bool:
    """Whether the sentence denies something shortly before a place."""
    return _DENIED.search(_ENDS.split(text[max(0, at - 40) : at])[-1]) is not None
