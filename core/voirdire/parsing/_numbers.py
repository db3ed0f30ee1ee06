"""One number on the declared scale, or missing with a reason: never joined, never rescaled."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.schema import Scale

_SIGNS = str.maketrans(
    {"／": "/", "⁄": "/", "∕": "/", "．": ".", "٫": ".", "：": ":"}
    | dict.fromkeys("−－﹣‐‑–", "-")
    | dict.fromkeys(
        "\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )
    | dict.fromkeys("\ufe0f\u20e3")  # the frame of a keycap such as 4️⃣
)
_WRAP = " \t\r\n\f\v\xa0*_`\"'“”‘’$#"
_NUMBER = r"[+-]?(?:\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})"
_PREFIX = (
    r"(?:(?:final\s+|overall\s+)?(?:score|rating|level|grade|rated)\s*(?:is|of|as)?\s*[:=]?\s*)?"
)
_LEVELS = rf"(?:scale\s*)?(?:of|from|:)?\s*(?P<low>{_NUMBER})\s*(?:-|to|\.\.)\s*"
_OUT_OF = (
    r"\s*(?:[(\[]?\s*(?:/|out\s+of|of)\s*(?:a\s+|the\s+)?(?:possible\s+|maximum\s+of\s+)?"
    rf"|(?:[(\[]\s*)?on\s+an?\s+(?:{_LEVELS})?|[(\[]\s*{_LEVELS.replace('low', 'least')})"
    rf"(?P<top>{_NUMBER})(?:[-\s](?:point\s+)?scale)?[)\]]?"
)
_UNIT = r"(?:\s*(?:points?|pts?|stars?|[★⭐]|分|点|점))?"
_HEDGE = (
    r"(?:or|to|and|but|maybe|possibly|perhaps|could|might|almost|nearly(?!\s+every)|close"
    r"|between|until|through|actually|wait|hmm+|correction|on\s+(?:second|reflection))\b"
)
_ALTERNATIVE = rf"\s*\(\s*(?:{_HEDGE}|[-–—/]|\d)"
_TAIL = (
    rf"(?:(?P<whole>\s*[.!]?\s*)|(?P<bracket>\s*[(\[].*)|(?P<sentence>[.!]\s+(?!{_HEDGE}|no[,.:;])[^\W\d].*"
    rf"|\s+(?:because|since|due)\b.*)|(?P<comment>(?:\s*[-–—:,;|]\s*(?!{_HEDGE}|(?:if|unless)\b|no[,.:;])[^\W\d]"
    rf"|\s+as\b).*))"
)
_WHOLE = re.compile(
    rf"{_PREFIX}(?P<number>{_NUMBER}){_UNIT}(?:{_OUT_OF}{_UNIT}[)\]]?)?{_TAIL}",
    re.IGNORECASE | re.DOTALL,
)
# "Good (4)", "High: 4/5": a level's name before its number.
_NAMED = re.compile(
    r"(?:not\s+(?:at\s+all|present)|more\s+than\s+half\s+the\s+days"
    r"|(?!(?:not|no|at|above|below|over|under|less|more|max|min)\b)"
    r"[^\W\d_]+(?:[ -][^\W\d_]+){0,2})\s*"
    r"(?:[(\[:]|-\s)\s*(?P<rest>[\d.]{1,6}(?:\s*/\s*[\d.]{1,6})?)[)\]]?\.?",
    re.IGNORECASE,
)
_GIVES = re.compile(
    r"\b(?:i|we)(?:['’](?:d|ll))?\s+(?:(?:would|will|do|have|now|also|then|thus|therefore|overall)\s+){0,2}"
    r"(?:rate|give|score|assign|award|grade)d?\b(?:\s+(?!(?:than|below|above|least|most|under|over|between|about"
    r"|around|almost|her|his|their|user|client|patient)\b)[^\W\d]{1,20}){0,6}"
    r"\s+(?P<rest>\d[^\n]{0,120})",
    re.IGNORECASE,
)
_SOMEWHERE = re.compile(
    rf"(?<![\w./-])(?P<number>{_NUMBER}){_UNIT}{_OUT_OF}(?![\w/])", re.IGNORECASE
)
# A clause that consists of a score: "so it deserves a solid 4/5"; not "in 4 out of 5 cases".
_LEADS = re.compile(
    r"\W*(?:(?:so|thus|therefore|overall|i|d|we|it|this|that|the|a|an|my|final|response|reply|answer|text"
    r"|message|deserves|earns|gets|receives|merits|warrants|is|scores?|rating|rated?|at|of|give|given|would"
    r"|say|assign|solid|strong|good|weak|and)\W+)*",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"[\s*_\"'”]*(?:$|[.,;:!)\n–—-]|\b(?:because|since|as|for|overall|and|but)\b)", re.IGNORECASE
)
_CLAUSES = re.compile(r"[.;!?,\n]")
# "4 (warm), 3 (cold)", "1 (none) to 5 (deep)": behind the bracket another number stands.
_GOES_ON = re.compile(r"[^)\]]*[)\]]\s*(?:(?:[,;/|&\[-]|(?:to|and|or|vs)\b)[^.\n]*)?\d")
_SECOND_ITEM = re.compile(r"(?<!\S)2[.)]\s")
_DENIED = re.compile(r"\b(?:not|never|cannot|nor|if|unless)\b|n['’]t\b", re.IGNORECASE)
_ALTERNATIVES = re.compile(_ALTERNATIVE, re.IGNORECASE)
# "4/5 (80%)": the share only says the same again.
_SHARE = re.compile(
    r"(?P<number>\d{1,3})\s*/\s*(?P<top>[1-9]\d{0,2})\s*\(\s*(?P<share>\d{1,3})\s*%\s*\)"
)
_PERCENT = re.compile(r"\d\s*[%٪]|\bpercent\b", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_DIGIT = re.compile(r"\d")
_LONGEST = 2_000
_BLANK = frozenset({"", "null", "none", "nan", "n/a", "na", "-", "—", "undefined"})


@dataclass(frozen=True, slots=True)
class Number:
    """A value on the scale, or None with a reason; `off` keeps a number off the scale.

    `between`: the value lies within the scale but is none of its levels, as a mean may.

    Reasons: null, empty, nan, not_numeric, ambiguous, scale_mismatch, off_scale.
    """

    value: float | None
    reason: str = ""
    off: float | None = None
    between: bool = False


def read_number(raw: Any, scale: Scale, words: Mapping[str, float] | None = None) -> Number:
    """The one number that a JSON scalar states on this scale.

    >>> from voirdire.schema import Scale
    >>> read_number("4 out of 5", Scale()).value, read_number("8/10", Scale()).reason
    (4.0, 'scale_mismatch')
    """
    if raw is None:
        return Number(None, "null")
    if isinstance(raw, bool):
        return Number(None, "not_numeric")
    if isinstance(raw, int | float):
        return _placed(raw, scale)
    if isinstance(raw, str):
        return _from_text(raw, scale, words or {})
    return Number(None, "not_numeric")


def rated_out_of(text: str, scale: Scale) -> Number:
    """The score of a sentence such as *I give it 4 out of 5*, if it states exactly one.

    One that is denied (*I would not give it 5/5*) states none.
    """
    text = text[: _LONGEST * 10]
    given = [
        read_number(each["rest"].strip(), scale)
        for each in _GIVES.finditer(text)
        if not _is_denied(text, each.start())
    ]
    values = {number for number in given if number.reason not in ("not_numeric", "ambiguous")}
    if len(values) == 1:
        return values.pop()
    found = {
        (each["number"], each["top"])
        for each in _SOMEWHERE.finditer(text)
        if _is_given(text, each) and not _is_denied(text, each.start())
    }
    if len(found) != 1:
        return Number(None, "ambiguous" if found else "not_numeric")
    number, top = found.pop()
    return (
        _placed(float(number), scale)
        if float(top) == scale.high
        else Number(None, "scale_mismatch")
    )


def _is_given(text: str, found: re.Match[str]) -> bool:
    """Whether a fraction is all that its clause says of the response."""
    before = _CLAUSES.split(text[max(0, found.start() - 100) : found.start()])[-1]
    return bool(_LEADS.fullmatch(before) and _CLOSES.match(text, found.end()))


def _is_denied(text: str, at: int) -> bool:
    """Whether the sentence denies something shortly before a place."""
    return _DENIED.search(re.split(r"[.;!?\n]", text[max(0, at - 40) : at])[-1]) is not None


def _placed(number: float, scale: Scale) -> Number:
    if number != number:  # noqa: PLR0124 - NaN; math.isnan overflows on a huge int
        return Number(None, "nan")
    if scale.low <= number <= scale.high:
        steps = 0.0 if scale.continuous else (number - scale.low) / scale.step
        between = math.isfinite(steps) and abs(steps - round(steps)) > 1e-9
        return Number(float(number), between=between)
    try:
        off = float(number)
    except OverflowError:
        return Number(None, "off_scale")
    return Number(None, "off_scale", off if math.isfinite(off) else None)


def _from_text(raw: str, scale: Scale, words: Mapping[str, float]) -> Number:
    if len(raw) > _LONGEST:
        return Number(None, "not_numeric")
    text = raw.translate(_SIGNS).strip(_WRAP)
    if text[:1] in ("[", "("):
        text = text.strip("[]()" + _WRAP)
    if text.casefold() in _BLANK:
        return Number(None, "null" if text else "empty")
    if words and (found := _word(text, words)) is not None:
        return _placed(found, scale)
    return _among_words(text, scale)


def _among_words(text: str, scale: Scale) -> Number:
    text = _SHARE.sub(_without_share, text)
    if _PERCENT.search(text):
        return Number(None, "scale_mismatch")
    if (whole := _WHOLE.fullmatch(text)) is not None:
        return _judged(whole, scale)
    if (named := _NAMED.fullmatch(text)) is not None:
        return _among_words(named["rest"], scale)
    return Number(None, "not_numeric" if _is_echo(text, scale) else "ambiguous")


def _without_share(found: re.Match[str]) -> str:
    number, top, share = (int(found[name]) for name in ("number", "top", "share"))
    return f"{number}/{top}" if round(100 * number / top) == share else found.group()


def _is_echo(text: str, scale: Scale) -> bool:
    """Whether the text states no number, or only repeats the ends of the scale: ``<1-5>``."""
    numbers = _NUMBERS.findall(text)
    return len(numbers) < 2 or (
        len(numbers) == 2
        and [float(each) for each in numbers] == [scale.low, scale.high]
        and not _DENIED.search(text)
        and re.search(r"\d\s*(?:-|to|\.\.)\s*\d", text) is not None
    )


def _judged(whole: re.Match[str], scale: Scale) -> Number:
    """A number whose surroundings fit the grammar: is it on this scale, and is it the only one?"""
    if whole["top"] is not None and float(whole["top"]) != scale.high:
        return Number(None, "scale_mismatch")
    if (low := whole["low"] or whole["least"]) is not None and float(low) != scale.low:
        return Number(None, "scale_mismatch")
    bracket = whole["bracket"]
    if bracket and (_ALTERNATIVES.match(bracket) or _GOES_ON.match(bracket)):
        return Number(None, "ambiguous")
    if whole["sentence"] and whole["number"] == "1" and _SECOND_ITEM.search(whole["sentence"]):
        return Number(None, "not_numeric")  # the first item of a list
    if whole["comment"] and _DIGIT.search(whole["comment"]):
        return Number(None, "ambiguous")
    return _placed(float(whole["number"]), scale)


def _word(text: str, words: Mapping[str, float]) -> float | None:
    wanted = text.casefold().rstrip(".! ")
    return next((value for word, value in words.items() if word.casefold() == wanted), None)
