"""Rubric replies: one score an attribute, or missing with a reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from voirdire.parsing._hearing import is_weighed, number_word
from voirdire.parsing._keys import RawValue, key_forms, plain_key
from voirdire.parsing._languages import given_score
from voirdire.parsing._parsed import answered_from, answered_plainly, missing
from voirdire.parsing._plain import ENDS, plain_reader
from voirdire.parsing._rivals import NUMBERS
from voirdire.parsing._settling import InText, Settled, in_text, settled, with_text_behind
from voirdire.parsing._source import (
    VERDICT_KEYS,
    ReplySource,
    by_verdict_key,
    nothing_there,
    other_fields,
    read_source,
    values_by_key,
    why_no_answer,
    without_last_word,
)
from voirdire.parsing._spelling import WORD, last_part, words_of
from voirdire.parsing._statements import only_keys, verdict_keys, verdicts
from voirdire.parsing._ticks import without_boxes
from voirdire.parsing._vocabulary import numbers_of
from voirdire.parsing.numbers import Number, agreed, could_go_on, denies, read_number
from voirdire.schema import Flag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from voirdire.parsing._stated import Statement
    from voirdire.schema import FinishReason, Parsed, Scale

_GENERIC = ("score", "rating", "grade")
# Keys of an object under which a single score may stand; a winner or a choice is none.
_KEYS = tuple(
    key
    for key in VERDICT_KEYS
    if not key.endswith(("choice", "label", "preference", "winner", "present", "yesno"))
)
_NOTHING = ("absent", "not_numeric")
# A reply that begins with its number: "4 - warm and clear".
_STARTS = re.compile(
    r"[\W_]*+(?:(?:final\s+|overall\s+)?(?:score|rating|grade|level)\W+)?\d", re.IGNORECASE
)
# A line that is a number: "**4**", "4/5", "⭐⭐⭐⭐".
_BARE = re.compile(
    r"[^\w+-]*+[+-]?\d{1,4}(?:[.,]\d{1,3})?(?:\s*/\s*\d{1,4})?\W*|\s*[★⭐🌟\ufe0f]+[☆✩]*\s*"
)
# "1. It validates.": two such lines are a list, whose numbers are no scores.
_LISTED = re.compile(r"^[ \t]*\(?\d{1,2}[.)][ \t]", re.MULTILINE)
# "1. It validates." begins a list.
_FIRST_ITEM = re.compile(r"[\W_]*1[.)][ \t]+[^\W\d]")
_DIGITS = r"(?>\d{1,4}(?:[.,]\d{1,3})?)"
# "I would give this response a 4": not "I would rate it higher than the 3".
_GIVES = re.compile(
    r"\b(?:i|we)(?:['’](?:d|ll))?\s+(?:(?:would|will|do|have|now|also|then|thus|therefore|overall)\s+){0,2}"
    r"(?:rate|give|score|assign|award|grade|(?:go|stick)\s+with|settle\s+on|(?<=['’]d\s)say|(?<=would\s)say)d?\b(?:\s+(?!(?:than|below|above|least|most|under|over|between|about"
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
# A denial is about its whole sentence, a fraction about its clause: a comma ends that as well.
_ENDS = ".;!?\n"
_LONGEST = 20_000
#: A remark is longer than a number, and shorter than an explanation.
_MIN, _SHORT = 4, 30


def parse_scores(
    text: str | None,
    attributes: Sequence[str],
    scale: Scale,
    *,
    finish_reason: FinishReason = "stop",
    words: Mapping[str, float] | None = None,
) -> Parsed:
    """Read one score an attribute out of a judge's reply. Never raises, whatever the text.

    Plain JSON is tried first; then reasoning blocks are dropped, fences and preamble passed over
    and broken syntax repaired; then statements such as ``Empathy: 4`` are looked for. Of several
    objects the last that holds a key answers; inside an object the outermost key does.

    Parameters
    ----------
    text
        The reply; None or blanks are a blank reply.
    attributes
        The rubric's keys, matched without case, spaces and underscores.
    scale
        A number outside is missing with status ``out_of_scale``, never clamped or rescaled; it is
        kept in ``extra["off_scale"]``.
    finish_reason
        After ``"length"`` a value that nothing closes is dropped: it may be a number's first digit.
    words
        Words that count as numbers (``{"excellent": 5}``); without it a word is missing.

    Returns
    -------
    Parsed
        ``scores`` (None where missing), ``statuses`` and ``reasons`` (keys of `REASONS`) a key.
        ``status`` is the worst of the statuses, so *ok* and *repaired* mean that no score is
        missing; it is *truncated* whenever the reply was cut. ``extra`` holds ``fields`` (the
        other keys of the object as they came), ``keys`` (all its keys) and ``off_scale``.

    Examples
    --------
    >>> from voirdire.schema import Scale
    >>> reply = 'Sure! {"Empathy": "4/5", "Safety": 9}'
    >>> parsed = parse_scores(reply, ["Empathy", "Safety"], Scale())
    >>> parsed.scores, parsed.status, parsed.extra["off_scale"]
    ({'Empathy': 4.0, 'Safety': None}, 'out_of_scale', {'Safety': 9.0})
    """
    if text is None or nothing_there(text, finish_reason):
        return missing(attributes, nothing_there(text, finish_reason))
    plain = plain_reader(tuple(attributes), scale).read(text) if finish_reason in ENDS else None
    if plain is not None:
        return answered_plainly(attributes, plain)
    return _with_care(text, attributes, scale, finish_reason, words)


def _with_care(
    text: str,
    attributes: Sequence[str],
    scale: Scale,
    finish_reason: FinishReason,
    words: Mapping[str, float] | None,
) -> Parsed:
    """What any reply says; of a plain one the same as the quick way, ten times slower."""
    source = read_source(text, finish_reason)
    by_key = _raw_values(source, attributes, scale, words)
    # An object that names any of the keys answers; what its text says then explains it.
    if any(by_key.values()):
        return _finished(_from_objects(by_key, source, attributes, scale, words), source)
    stated = {} if source.has_object else _from_statements(source, attributes, scale, words)
    if stated:
        return _finished(stated, source, Flag("stated_in_text"))
    fields = {"fields": other_fields(source, attributes)}
    return missing(attributes, why_no_answer(source), flags=source.flags, extra=fields)


def _raw_values(
    source: ReplySource,
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> dict[str, list[RawValue]]:
    """What the objects say; for a single attribute a plain ``{"score": 4}`` answers too."""

    def read(raw: RawValue) -> float | None:
        number = _number(raw, scale, words)
        return number.off if number.value is None else number.value

    if not source.reading.values:
        return {}
    by_key = values_by_key(source, key_forms(attributes), read)
    for name in attributes:  # {"Empathy": "It is warm.", "Empathy_score": 4}
        if any(isinstance(each.value, str) and " " in each.value for each in by_key.get(name, ())):
            beside = {f"{plain_key(name)}{word}": name for word in _GENERIC[:2]}
            by_key[name] = [
                each for form in beside for each in values_by_key(source, {form: name}, read)[name]
            ] or by_key[name]
    if len(attributes) == 1 and not any(by_key.values()):
        _, by_key = by_verdict_key(source, attributes[0], read, _KEYS)
        if (value := _listed(source)) is not None and not any(by_key.values()):
            by_key = {attributes[0]: [RawValue(value)]}
    return by_key


def _listed(source: ReplySource) -> Any:
    """The number of ``[4, "warm"]``, where the reply is nothing but such a list."""
    tree = source.reading.values[-1] if source.reading.values else None
    if source.reading.mixed or not isinstance(tree, list) or len(source.reading.values) > 1:
        return None
    numbers = [item for item in tree if not isinstance(item, str)]
    plain = len(numbers) == 1 and len(tree) > 1 and type(numbers[0]) in (int, float)
    return numbers[0] if plain else None


def _from_objects(
    by_key: dict[str, list[RawValue]],
    source: ReplySource,
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> dict[str, Settled[Number]]:
    """The number of each key, as far as the text behind the last object lets it stand."""
    numbers = {
        name: agreed([_number(each, scale, words) for each in by_key.get(name, ())])
        for name in attributes
    }
    own = {name: None if n.reason == "absent" else n for name, n in numbers.items()}
    return with_text_behind(own, source, _reader(scale, words), raw=by_key, bare=NUMBERS)


def _number(raw: RawValue, scale: Scale, words: Mapping[str, float] | None) -> Number:
    if raw.reason:
        return Number(None, raw.reason)
    top = read_number(raw.top, scale)
    if raw.top is not None and scale.high not in (top.value, top.off):
        return Number(None, "scale_mismatch")
    number = read_number(raw.value, scale, words)
    # Some servers say of every reply that it is whole: a digit may have been to follow.
    cut = raw.left_open and isinstance(raw.value, int | float) and could_go_on(number.value, scale)
    return Number(None, "cut") if cut else number


def _from_statements(
    source: ReplySource,
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> dict[str, Settled[Number]]:
    """Read ``Empathy: 4``; for a single attribute also ``Score: 4``, a box or a bare number."""
    text, read, alone = source.text, _reader(scale, words), len(attributes) == 1
    text = without_boxes(text) if alone else text
    cut, heads = not source.keep_cut, verdict_keys() if alone else None
    found: InText[Number] = in_text(text, attributes, read, cut=cut, bare=NUMBERS, heads=heads)
    stated = {name: each or _below(here, read) for name, (here, each) in found.items()}
    for each, (here, _) in found.items():
        if _falls_open(stated[each], here, text, read, scale):
            stated[each] = Settled(None, "cut")
    # Last of all, and for one question alone: with several a bare number is nobody's.
    if alone and stated[attributes[0]].reason in _NOTHING:
        stated = {attributes[0]: _alone(source, text, scale, words)}
    none = all(_reason(each) in (*_NOTHING, "null") for each in stated.values())
    return {} if none else stated


def _reason(stated: Settled[Number]) -> str:
    return stated.reason if stated.value is None else stated.value.reason


def _reader(scale: Scale, words: Mapping[str, float] | None) -> Callable[[str], Number | None]:
    """The number that a statement's text holds, or None where it speaks of none."""
    told: dict[str, Number | None] = {}  # a statement is read more than once

    def read(text: str) -> Number | None:
        if text not in told:
            told[text] = stated(text)
        return told[text]

    def stated(text: str) -> Number | None:
        number = read_number(text, scale, words)
        if number.value is not None and _MIN < len(text) < _SHORT and is_weighed(text):
            return Number(None, "ambiguous")  # "4, höchstens", "4 (vorläufig)"
        if number.reason in ("not_numeric", "empty"):
            spelled = number_word(text.strip(" \t\n*_`\"'"))
            return read_number(spelled[0], scale) if spelled else None
        return number

    return read


def _below(here: list[Statement], read: Callable[[str], Number | None]) -> Settled[Number]:
    """The number in the sections below the statements on a key, which hold none themselves."""
    # "Empathy: warm" may have its own "Score: 4" further down.
    below = [
        settles
        for each in here
        if (
            settles := settled(
                verdicts(each.section, only_keys(*_GENERIC[:2])), each.section, read, cut=False
            )
        )
    ]
    if below:
        agree = all(each == below[0] for each in below)
        return below[0] if agree else Settled(None, "ambiguous", conflict=True)
    return Settled(None, "not_numeric" if any(each.text for each in here) else "absent")


# An opening sign that nothing closes up to the end of its line: a bracket, a tag, a cell.
_OPENED = re.compile(
    r"(?:[\[({][^\[\](){}\n]*|<[a-z_]+>[^<\n]*|^[ \t]*\|[^\n]*[^|\s][ \t]*)\Z",
    re.IGNORECASE | re.MULTILINE,
)


def _falls_open(
    settles: Settled[Number],
    here: Sequence[Statement],
    text: str,
    read: Callable[[str], Number | None],
    scale: Scale,
) -> bool:
    """Whether the number that counts stands at the end of the text behind a sign left open."""
    if settles.value is None or not could_go_on(settles.value.value, scale):
        return False
    body = text.rstrip()
    return any(
        each.end >= len(body) and not each.closed and read(each.text) == settles.value
        for each in here
    ) and bool(_OPENED.search(body[-200:]) and body[-1:].isdigit())


def _alone(
    source: ReplySource, text: str, scale: Scale, words: Mapping[str, float] | None
) -> Settled[Number]:
    """The number that is the reply, begins it or stands alone on its first or last line."""
    text = text if source.keep_cut else without_last_word(text)
    if words and (worded := read_number(text, scale, words)).value is not None:
        return Settled(worded)
    lines = [line for line in text.splitlines() if line.strip()]
    # The answer begins a reply or ends it; numbers in between are of its reasons.
    outer = [line for line in (lines[:1] + lines[1:][-1:]) if _BARE.fullmatch(line)]
    listed = len(_LISTED.findall(text)) > 1 or _FIRST_ITEM.match(text)
    if not outer and not listed and _STARTS.match(text):
        outer = [text]
    numbers = [read_number(line, scale) for line in outer]
    if numbers and all(each.value is not None or each.reason == "off_scale" for each in numbers):
        return Settled(agreed(numbers, "ambiguous"))
    number = _in_a_sentence(text, scale)
    if number.value is None and number.reason in ("not_numeric", "ambiguous"):
        return _in_another_language(text, scale) or Settled(number)
    return Settled(number)


def _in_another_language(text: str, scale: Scale) -> Settled[Number] | None:
    """The score of a short reply in another language, or spelled out in English."""
    if given := given_score(text, scale.high):
        return Settled(read_number(given.number, scale), conflict=given.conflict)
    if numbers_of("en").keys().isdisjoint(words_of(text[:_LONGEST]).forms):
        return None
    number = _in_a_sentence(WORD.sub(_in_digits, text[:_LONGEST]), scale)
    return Settled(number) if number.value is not None else None


def _in_digits(word: re.Match[str]) -> str:
    """A spelled number in digits, and any other word as it is; no part of *twenty-four*."""
    number = numbers_of("en").get(word[0].casefold())
    joined = "-" in (word.string[word.start() - 1 : word.start()], word.string[word.end() :][:1])
    return word[0] if number is None or joined else str(number)


def _in_a_sentence(text: str, scale: Scale) -> Number:
    """The score of a sentence such as *I give it 4 out of 5*, if it states exactly one.

    One that is denied (*I would not give it 5/5*) states none.
    """
    text = text[:_LONGEST]
    # From the surest to the least: a scale that is named, then what one gives, then any fraction.
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
    fractions = {
        read_number(each["number"], scale)
        for each in _SOMEWHERE.finditer(text)
        if _is_given(text, each) and not _is_denied(text, each.start())
    }
    if len(fractions) != 1:
        return Number(None, "ambiguous" if fractions else "not_numeric")
    return fractions.pop()


def _is_given(text: str, match: re.Match[str]) -> bool:
    """Whether a fraction is all that its clause says of the response."""
    before = last_part(text[max(0, match.start() - 100) : match.start()], f"{_ENDS},")
    return bool(_LEADS.fullmatch(before) and _CLOSES.match(text, match.end()))


def _is_denied(text: str, at: int) -> bool:
    """Whether the sentence denies something shortly before a place."""
    return denies(last_part(text[max(0, at - 40) : at], _ENDS))


def _finished(stated: Mapping[str, Settled[Number]], source: ReplySource, *flags: Flag) -> Parsed:
    numbers = {name: each.value or Number(None, each.reason) for name, each in stated.items()}
    odd = [Flag(number.reason, name) for name, number in numbers.items() if _is_odd(number)]
    between = [Flag("between_levels", name) for name, number in numbers.items() if number.between]
    off = {name: number.off for name, number in numbers.items() if number.off is not None}
    return answered_from(
        {n: Settled(x.value, x.reason, stated[n].conflict) for n, x in numbers.items()},
        source,
        flags=(*odd, *between, *flags),
        extra={"off_scale": off} if off else {},
    )


def _is_odd(number: Number) -> bool:
    return number.reason not in ("", "absent", "null", "cut")
