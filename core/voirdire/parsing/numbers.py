"""Numbers as people and models write them: one grammar for replies and for the cells of a table.

A text is read in two steps. `read_numeral` reads what is written, whatever the scale: ``3,5``,
``85 %``, ``4 out of 5 stars``, ``Score: 4``. `on_scale` then places it: never joined, never
rescaled but for per cent, and missing with a reason where the scale has no such value.
`read_number` does both for a value of a reply.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.late import pattern
from voirdire.parsing._spelling import Phrases, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Scale

#: What people and programs write where there is no number, in lower case.
MISSING_WORDS = (
    *("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "n.a.", "undefined", "missing"),
    *("-", "--", "\u2013", "\u2014", ".", "?"),
    *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"),
)
#: A number so near the end of its scale, in widths of the scale, is that end but for round-off.
ROUND_OFF = 1e-9

_SIGNS = str.maketrans(
    {
        "／": "/",
        "⁄": "/",
        "∕": "/",
        "．": ".",
        "٫": ".",
        "：": ":",
        "，": ",",
        "％": "%",
        "٪": "%",
        "।": ".",
    }
    | {"（": "(", "）": ")", "।": "."}
    | dict.fromkeys("−－﹣‐‑–", "-")
    | dict.fromkeys(
        "\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )
    | dict.fromkeys("\ufe0f\u20e3")  # the frame of a keycap such as 4️⃣
)
_WRAP = " \t\r\n\f\v\xa0*_`\"'“”‘’$#"
# Digits with whatever points and commas join them, in one piece: "3,5" is never read as 3 or 5.
_DIGITS = r"(?>\d{1,40}(?:[.,]\d{1,40})*|\.\d{1,40})"
_NUMBER = rf"[+-]?{_DIGITS}(?:e[+-]?\d{{1,3}}(?!\w))?"
_PERCENT = r"(?:%|per\s?cent\b|pct\b)"
# "Final score: 4": the words that a model repeats before its number.
_PREFIX = (
    r"(?:(?:final\s+|overall\s+)?(?:score|rating|level|grade|rated)\s*(?:is|of|as)?\s*[:=]?\s*)?"
)
# "on a scale of 1 to 5", "(1-5)": the ends of the scale.
_LEVELS = rf"(?:scale\s*)?(?:of|from|:)?\s*(?P<low>{_NUMBER})\s*(?:-|to|\.\.)\s*"
# "/5", "out of 5", "of a maximum of 5", "(on a scale of 1 to 5)", "(1-5)"; and "von 5", "sur 5",
# "з 5", "من ٥", "（满分5分）" in other languages.
_OUT_OF = (
    r"\s*(?:[(\[]?\s*(?:/|max(?:imum|\.)?|out\s+of|of|von|sur|de|su|van|na|sobre|из|із|зі?|z|av|(?:ud\s+)?af|din|من|满分(?:为|是)?)\s*"
    r"(?:a\s+|the\s+|de\s+|den\s+|los\s+|las\s+)?(?:possible\s+|maximum\s+of\s+)?"
    rf"|(?:[(\[]\s*)?on\s+an?\s+(?:{_LEVELS})?|[(\[]\s*{_LEVELS.replace('low', 'least')})"
    rf"(?P<top>{_NUMBER})(?:[-\s](?:point\s+)?scale)?[)\]]?"
)
_UNIT = (
    r"(?:\s*(?:possible\s+)?(?:points?|pts?|stars?|sterne?n?|étoiles?|estrellas?|stelle|punkte?n?|puntos?|punti"
    r"|pontos?|балл(?:ов|а)?|[★⭐]|分|点|점))?"
)
# What follows a number and makes it one of several, or takes it back.
_HEDGE = (
    r"(?:or|to|and|but|maybe|possibly|perhaps|could|might|almost|nearly(?!\s+every)|close"
    r"|between|until|through|actually|wait|hmm+|correction|on\s+(?:second|reflection))\b"
)
_ALTERNATIVE = rf"\s*\(\s*(?:{_HEDGE}|[-–—/]|\d)"
# What may stand behind the number: nothing, a bracket, another sentence, or a remark.
_TAIL = (
    rf"(?:(?P<whole>\s*[.!]?\s*)|(?P<bracket>\s*[(\[].*)|(?P<sentence>[.!]\s+(?!{_HEDGE}|no[,.:;])[^\W\d].*"
    rf"|\s+(?:because|since|due)\b.*)|(?P<comment>(?:\s*[-–—:,;|]\s*(?!{_HEDGE}|(?:if|unless)\b|no[,.:;])[^\W\d]"
    rf"|\s+as\b).*))"
)
# The whole grammar: prefix, number, per cent, unit, scale, and what may follow.
_WHOLE = pattern(
    rf"{_PREFIX}(?P<number>{_NUMBER})(?P<percent>\s?{_PERCENT})?{_UNIT}"
    rf"(?:{_OUT_OF}{_UNIT}[)\]]?)?{_TAIL}",
    re.IGNORECASE | re.DOTALL,
)
# "Good (4)", "High: 4/5": a level's name before its number.
_NAMED = pattern(
    r"(?:not\s+(?:at\s+all|present)|more\s+than\s+half\s+the\s+days"
    r"|(?!(?:not|no|at|above|below|over|under|less|more|max|min)\b)"
    r"[^\W\d_]+(?:[ -][^\W\d_]+){0,2})\s*"
    r"(?:[(\[:]|-\s)\s*(?P<rest>[\d.,]{1,6}(?:\s*/\s*[\d.]{1,6})?)[)\]]?\.?",
    re.IGNORECASE,
)
# Without a digit or a star a text states no number: long texts are passed over soon.
_COUNTS = pattern(r"[\d★⭐🌟]")
# "★★★★☆": as many as are filled, out of all.
_STARS = pattern(r"(?P<full>[★⭐🌟]{1,20})\s?(?P<hollow>[☆✩]{0,20})(?:\s*(?P<again>[(\d].*))?")
_FULL, _DRAWN_STARS = "★⭐🌟", "★⭐🌟☆✩"
# Drawings beside a number say nothing of it; stars do.
_DRAWN = {
    at: " "
    for at in (*range(0x2600, 0x27C0), *range(0x1F300, 0x1FB00))
    if chr(at) not in _DRAWN_STARS
}
# "4 (warm), 3 (cold)", "1 (none) to 5 (deep)": behind the bracket another number stands.
_GOES_ON = pattern(r"[^)\]]*[)\]]\s*(?:(?:[,;/|&\[-]|(?:to|and|or|vs)\b)[^.\n]*)?\d")
# "1. It validates. 2. It is warm.": a list, no score of 1.
_SECOND_ITEM = pattern(r"(?<!\S)2[.)]\s")
#: "Not a 4", "if it were a 4", "unless it is a 4": the number is not the score.
_DENIES = Phrases("not", "never", "cannot", "nor", "if", "unless")
# "4 (or 5)": the bracket gives another number, so none is sure.
_ALTERNATIVES = pattern(_ALTERNATIVE, re.IGNORECASE)
# "4/5 (80%)", "85 (85%)": a share in brackets that only says the same again.
_SHARE = pattern(rf"\s*[(\[]\s*(?P<share>\d{{1,3}}(?:\.\d+)?)\s*{_PERCENT}\s*[)\]]")
# Signs that a text speaks of shares, of several numbers, of a range: not one plain value.
_SHARES = pattern(rf"\d\s*{_PERCENT}", re.IGNORECASE)
_NUMBERS = pattern(r"\d+(?:\.\d+)?")
_RANGE = pattern(r"\d\s*(?:-|to|\.\.)\s*\d")
# "03-Apr", "3-Apr-24": what a spreadsheet makes of 3-4.
_DAY = pattern(
    r"\d{1,2}[ -](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:[ -]\d{2,4})?",
    re.IGNORECASE,
)
_LONGEST = 2_000
# Two steps of single precision at the end of a scale of width 1.
_STEP = 2.0**-22
_LARGEST_SINGLE = 1e30


class Number(NamedTuple):
    """A value on the scale, or None with a reason; `off` keeps a number off the scale.

    `between`: the value lies within the scale but is none of its levels, as a mean may.

    Reasons: null, empty, nan, not_numeric, ambiguous, scale_mismatch, off_scale.
    """

    value: float | None
    reason: str = ""
    off: float | None = None
    between: bool = False


class Numeral(NamedTuple):
    """A number as it is written, before any scale is asked.

    Attributes
    ----------
    value : float
        What the digits say; of ``85%`` 85.
    other : float or None
        The second reading of ``1,234`` (value 1.234, other 1234); None where there is one reading.
    comma : bool
        The digits have a decimal comma.
    percent : bool
        A sign or word for per cent stands behind the digits.
    low, top : float or None
        The ends of the scale where they are written beside the number: ``4/5``, ``4 (1-5)``.
    share : float or None
        The per cent that a bracket adds: ``4/5 (80%)``.
    remark : bool
        Words stand behind or before the number: ``4 - warm``, ``Good (4)``.
    """

    value: float
    other: float | None = None
    comma: bool = False
    percent: bool = False
    low: float | None = None
    top: float | None = None
    share: float | None = None
    remark: bool = False


def read_numeral(text: str) -> Numeral | None:
    """The one number that a text states, whatever its scale; None where it states none or several.

    Blank cells and words for *missing* are None too: compare with `MISSING_WORDS` first.

    >>> read_numeral("3,5").value, read_numeral("85 %").percent, read_numeral("4 of 5 stars").top
    (3.5, True, 5.0)
    >>> read_numeral("3-4") is None, read_numeral("1,234").other
    (True, 1234.0)
    """
    if len(text) > _LONGEST or not _COUNTS.search(text) or _DAY.fullmatch(text.strip()):
        return None
    written = _written(_cleaned(text))
    return written if isinstance(written, Numeral) else None


def read_number(raw: Any, scale: Scale, words: Mapping[str, float] | None = None) -> Number:
    """The one number that a JSON scalar or a piece of text states on this scale.

    `words` maps a word to the number that the study declares for it.

    >>> from voirdire.schema import Scale
    >>> read_number("4 out of 5", Scale()).value, read_number("8/10", Scale()).reason
    (4.0, 'scale_mismatch')
    >>> read_number("85%", Scale(0, 1, 0)).value, read_number("85%", Scale(0, 100)).value
    (0.85, 85.0)
    >>> read_number("3,5/5", Scale(1, 5, 0.5)).value, read_number("3,5/5", Scale()).reason
    (3.5, 'ambiguous')
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


def on_scale(numeral: Numeral, scale: Scale) -> Number:
    """Where a written number lies on a scale.

    Per cent is a value of the scales 0..100 and 0..1 (there divided by 100) and of no other. A
    decimal comma counts only where the scale has that value as a level or is continuous: else the
    comma may part two numbers. Of ``1,234`` the reading counts that the scale has.

    >>> from voirdire.schema import Scale
    >>> on_scale(read_numeral("1,234"), Scale(1000, 5000)).value
    1234.0
    """
    # What is written beside it first: 4/10 is no value of a scale to 5, though 4 is one.
    if not _is_of(numeral, scale):
        return Number(None, "scale_mismatch")
    if numeral.percent:
        if (scale.low, scale.high) not in ((0, 100), (0, 1)):
            return Number(None, "scale_mismatch")
        return _placed(numeral.value * scale.high / 100, scale)
    if numeral.other is not None:
        both = [_placed(value, scale) for value in (numeral.value, numeral.other)]
        # The scale may have one of the readings alone: 1,234 on 0 to 5000 is 1234, on 0 to 5 in
        # steps of 0.001 it is 1.234.
        have = [number for number in both if number.value is not None and not number.between]
        return have[0] if len(have) == 1 else Number(None, "ambiguous")
    if numeral.comma and _between(numeral.value, scale):
        return Number(None, "ambiguous")
    return _placed(numeral.value, scale)


def could_go_on(value: float | None, scale: Scale) -> bool:
    """Whether a value whose digits end with the text may be the beginning of another on the scale.

    >>> from voirdire.schema import Scale
    >>> could_go_on(1, Scale(1, 10)), could_go_on(4, Scale(1, 5)), could_go_on(4, Scale(1, 5, 0.5))
    (True, False, True)
    """
    if value is None:
        return False
    whole = scale.step and float(scale.step).is_integer() and float(scale.low).is_integer()
    if not float(value).is_integer():
        return not whole
    if value < scale.high and not whole:
        return True
    return value != 0 and value * 10 <= scale.high and value * 10 + 9 >= scale.low


def agreed(numbers: Sequence[Number], otherwise: str = "duplicate_key") -> Number:
    """The one number that all readings of an answer agree on; else missing, with a reason."""
    if not numbers:
        return Number(None, "absent")
    agree = all(number == numbers[0] for number in numbers)
    return numbers[0] if agree else Number(None, otherwise)


def snapped(value: float, low: float, high: float) -> float:
    """The end of a scale where a value is that end but for round-off, else the value itself.

    Round-off is 1e-9 of the scale's width, or two steps of single precision (a number that
    32-bit programs compute and print).

    >>> snapped(1.0000000000000002, 0, 1), snapped(-1e-17, 0, 1), snapped(1.0001, 0, 1)
    (1.0, 0.0, 1.0001)
    >>> snapped(1.0000001192092896, 0, 1)
    1.0
    """
    if low <= value <= high:
        return value
    end = float(high if value > high else low)
    if abs(value - end) <= ROUND_OFF * (high - low):
        return end
    near = abs(value - end) <= _STEP * (high - low) and abs(end) < _LARGEST_SINGLE
    return end if near and _is_single(value) else value


def _is_single(value: float) -> bool:
    """Whether a number is of single precision, in full or as such programs print it."""
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    return value in (single, *(float(f"{single:.{digits}g}") for digits in (7, 8, 9)))


def _cleaned(raw: str) -> str:
    text = raw.translate(_SIGNS)
    if not text.isascii() and any(map(str.isdecimal, text)):  # "62/100 📊"
        text = text.translate(_DRAWN)
    text = text.strip(_WRAP)
    if text[:1] == "%" and text[1:].strip().isdecimal():  # "%35", as Turkish has it
        text = f"{text[1:].strip()}%"
    return text.strip("[]()" + _WRAP) if text[:1] in ("[", "(") else text


def _from_text(raw: str, scale: Scale, words: Mapping[str, float]) -> Number:
    if len(raw) > _LONGEST:
        return Number(None, "not_numeric")
    text = _cleaned(raw)
    if text.casefold() in MISSING_WORDS:
        return Number(None, "null" if text else "empty")
    # Words of the study first: a level may be called "2nd".
    if words and (level := _word(text, words)) is not None:
        return _placed(level, scale)
    written = _written(text)
    if isinstance(written, Numeral):
        return on_scale(written, scale)
    echo = written == "ambiguous" and _is_echo(text, scale)
    return Number(None, "not_numeric" if echo else written)


def _written(text: str) -> Numeral | str:
    """The number that a cleaned text states, or the reason why it states none."""
    if (whole := _WHOLE.fullmatch(text)) is not None:
        return _of_match(whole)
    if stars := _STARS.fullmatch(text):
        full, hollow = len(stars["full"]), len(stars["hollow"])
        drawn = Numeral(full, top=full + hollow if hollow else None)
        said = _written(stars["again"].strip("() ")) if stars["again"] else drawn
        # "★★★★☆ (4/5)" says the same again.
        agrees = isinstance(said, Numeral) and said.value == full
        return drawn if agrees else "ambiguous"
    if (plain := text.rstrip(f"{_DRAWN_STARS} ")) != text and plain:
        said = _written(plain)  # "4/5 ⭐⭐⭐⭐"
        again = sum(map(text[len(plain) :].count, _FULL))
        return said if isinstance(said, Numeral) and said.value == again else "ambiguous"
    if (level := _NAMED.fullmatch(text)) is not None:
        inner = _written(level["rest"])
        return inner._replace(remark=True) if isinstance(inner, Numeral) else inner
    return "scale_mismatch" if _SHARES.search(text) else "ambiguous"


def _of_match(whole: re.Match[str]) -> Numeral | str:
    """A number whose surroundings fit the grammar, unless another one is next to it."""
    bracket, comment, behind = whole["bracket"], whole["comment"], whole["sentence"]
    share = _SHARE.match(bracket) if bracket else None
    rest = bracket[share.end() :] if share and bracket else bracket or comment or behind or ""
    if _SHARES.search(rest):
        return "scale_mismatch"
    if bracket and not share and (_ALTERNATIVES.match(bracket) or _GOES_ON.match(bracket)):
        return "ambiguous"
    if behind and whole["number"] == "1" and _SECOND_ITEM.search(behind):
        return "not_numeric"  # the first item of a list
    if (comment or (share and rest)) and any(map(str.isdecimal, rest)):
        return "ambiguous"
    numeral = _digits(whole["number"])
    ends = [_digits(each) for each in (whole["low"] or whole["least"], whole["top"])]
    if numeral is None or (ends[1] is None and whole["top"]):
        return "ambiguous"
    low, top = (None if end is None else end.value for end in ends)
    stated_share = float(share["share"]) if share else None
    return numeral._replace(
        percent=bool(whole["percent"]),
        low=low,
        top=top,
        share=stated_share,
        remark=bool(rest),
    )


def _digits(written: str | None) -> Numeral | None:
    """What digits with points and commas say; None where they are no one number: ``1.2.3``."""
    if written is None:
        return None
    written = written.lower()
    mantissa, _, power = written.partition("e")
    power = f"e{power}" if power else ""
    body = mantissa.lstrip("+-")
    commas, points = body.count(","), body.count(".")
    # "1,234": one thousand, or a little over one; "1,234,567.5" and "1.234.567,5" are clear.
    if (commas, points) == (1, 0) and _by_thousands(body, ","):
        decimal, thousands = (mantissa.replace(",", by) + power for by in (".", ""))
        return Numeral(float(decimal), other=float(thousands), comma=True)
    if commas and points < 2 and _by_thousands(body.partition(".")[0], ","):
        mantissa = mantissa.replace(",", "")
    elif points and commas + points > 1 and _by_thousands(body.partition(",")[0], "."):
        mantissa = mantissa.replace(".", "")
    comma = (commas, points) == (1, 0)  # "3,5"
    plain = mantissa.replace(",", ".")
    return None if plain.count(".") > 1 else Numeral(float(plain + power), comma=comma)


def _by_thousands(whole: str, sign: str) -> bool:
    """Whether a sign parts the digits of a whole number by threes: ``1,234,567``."""
    first, *groups = whole.split(sign)
    parted = bool(groups) and all(len(each) == 3 and each.isdecimal() for each in groups)
    return parted and 0 < len(first) < 4 and first[0] in "123456789"


def denies(text: str) -> bool:
    """Whether a text denies or supposes something: *not a 4*, *if it were a 4*."""
    forms = words_of(text).forms
    return _DENIES.among(forms) or any(form.endswith("n't") for form in forms)


def _is_of(numeral: Numeral, scale: Scale) -> bool:
    """Whether what is written beside a number speaks of this scale."""
    if numeral.top is not None and numeral.top != scale.high:
        return False
    if numeral.low is not None and numeral.low != scale.low:
        return False
    if numeral.share is None or scale.high <= 0:
        return numeral.share is None
    return round(100 * numeral.value / scale.high) == round(numeral.share)


def _between(value: float, scale: Scale) -> bool:
    """Whether a value is none of the scale's levels, as a mean may be."""
    # By a tolerance: 0.1 + 0.2 is a level of a scale in tenths.
    steps = 0.0 if scale.continuous else (value - scale.low) / scale.step
    return math.isfinite(steps) and abs(steps - round(steps)) > 1e-9


def _placed(number: float, scale: Scale) -> Number:
    if number != number:  # noqa: PLR0124 - NaN; math.isnan overflows on a huge int
        return Number(None, "nan")
    # Before it is made a float, which a whole number of 400 digits cannot be.
    if scale.low <= number <= scale.high:
        return Number(float(number), between=_between(number, scale))
    try:
        off = float(number)
    except OverflowError:
        return Number(None, "off_scale")
    if scale.holds(near := snapped(off, scale.low, scale.high)):
        return Number(near)
    return Number(None, "off_scale", off if math.isfinite(off) else None)


def _is_echo(text: str, scale: Scale) -> bool:
    """Whether the text states no number, or only repeats the ends of the scale: ``<1-5>``."""
    numbers = _NUMBERS.findall(text)
    return len(numbers) < 2 or (
        len(numbers) == 2
        and [float(each) for each in numbers] == [scale.low, scale.high]
        and not denies(text)
        and _RANGE.search(text) is not None
    )


def _word(text: str, words: Mapping[str, float]) -> float | None:
    wanted = text.casefold().rstrip(".! ")
    return next((value for word, value in words.items() if word.casefold() == wanted), None)
