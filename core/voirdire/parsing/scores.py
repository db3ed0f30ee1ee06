"""Rubric replies: one score an attribute, or missing with a reason."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voirdire.parsing._keys import Found, key_forms, plain_key
from voirdire.parsing._parsed import answered, missing
from voirdire.parsing._sentences import rated_out_of
from voirdire.parsing._source import (
    Source,
    nothing_there,
    other_fields,
    read_source,
    values_by_key,
    why_no_answer,
)
from voirdire.parsing._statements import statements
from voirdire.parsing._tablerows import table_statements
from voirdire.parsing.numbers import Number, read_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.parsing._statements import Statement
    from voirdire.schema import FinishReason, Parsed, Scale

_GENERIC = ("score", "rating", "grade")
# The same in the languages in which rubrics are asked most; only where one attribute is asked for.
_GENERIC_TEXT = (
    *(*_GENERIC, "level", "overall", "result", "answer", "verdict", "total rating"),
    *("bewertung", "punktzahl", "puntuación", "calificación", "nota", "оценка"),
    *("评分", "分数", "得分", "スコア", "評価", "점수", "평점"),
)
_OPENERS = frozenset(
    ("", "final", "overall", "the", "my", "a", "an", "this", "of", "so", "and", "but", "its")
)
# Where a format sets the answer apart: Prometheus' [RESULT], a LaTeX box, a tag, MT-Bench's [[4]].
_MARKED = re.compile(
    r"(?:\[RESULT\]\s*:?\s*\(?|\\boxed\{\s*(?:\\text\{)?|<(?:answer|output|score|rating)>\s*|\[\[)"
    r"(?P<value>[-+]?\d[^\n<\]})]{0,40})(?!\]\]\s*(?:if|for)\b)",
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"[\W_]*+(?:(?:final\s+|overall\s+)?(?:score|rating|grade|level)\W+)?\d", re.IGNORECASE
)
_BARE = re.compile(r"[^\w+-]*+[+-]?\d{1,4}(?:[.]\d{1,3})?(?:\s*/\s*\d{1,4})?\W*")
_LISTED = re.compile(r"^[ \t]*\(?\d{1,2}[.)][ \t]", re.MULTILINE)
_FIRST_ITEM = re.compile(r"[\W_]*1[.)][ \t]+[^\W\d]")
# What stands behind a score and takes it back: "Hmm, on reflection: 3".
_TAKEN_BACK = re.compile(
    r"\b(?:wait|hmm+|correction|actually|scratch\s+that|on\s+(?:reflection|second\s+thoughts?)"
    r"|let\s+me\s+(?:revise|reconsider|correct))\b[^.\n]{0,60}\d",
    re.IGNORECASE,
)


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
    and broken syntax mended; then statements such as ``Empathy: 4`` are looked for. Of several
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
    source = read_source(text, finish_reason)
    found = _found(source, attributes)
    if any(found.values()):
        return _finished(_from_objects(found, attributes, scale, words), source)
    numbers = {} if source.has_object else _from_statements(source, attributes, scale, words)
    if numbers:
        return _finished(numbers, source, "stated_in_text")
    fields = {"fields": other_fields(source, attributes)}
    return missing(attributes, why_no_answer(source), flags=source.flags, extra=fields)


def _found(source: Source, attributes: Sequence[str]) -> dict[str, list[Found]]:
    """What the objects say; for a single attribute a plain ``{"score": 4}`` answers too."""
    found = values_by_key(source, key_forms(attributes))
    for name in attributes:  # {"Empathy": "It is warm.", "Empathy_score": 4}
        if any(isinstance(each.value, str) and " " in each.value for each in found.get(name, ())):
            beside = {f"{plain_key(name)}{word}": name for word in _GENERIC[:2]}
            found[name] = [
                each for form in beside for each in values_by_key(source, {form: name})[name]
            ] or found[name]
    if len(attributes) == 1 and not any(found.values()):
        for key in _GENERIC:
            found = found if any(found.values()) else values_by_key(source, {key: attributes[0]})
        if (value := _listed(source)) is not None and not any(found.values()):
            found = {attributes[0]: [Found(value)]}
    return found


def _listed(source: Source) -> Any:
    """The number of ``[4, "warm"]``, where the reply is nothing but such a list."""
    tree = source.reading.values[-1] if source.reading.values else None
    if source.reading.mixed or not isinstance(tree, list) or len(source.reading.values) > 1:
        return None
    numbers = [item for item in tree if not isinstance(item, str)]
    plain = len(numbers) == 1 and len(tree) > 1 and type(numbers[0]) in (int, float)
    return numbers[0] if plain else None


def _from_objects(
    found: dict[str, list[Found]],
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> dict[str, Number]:
    read = {n: [_number(each, scale, words) for each in found.get(n, ())] for n in attributes}
    return {name: _agreed(numbers, "duplicate_key") for name, numbers in read.items()}


def _agreed(numbers: Sequence[Number], otherwise: str) -> Number:
    """The one number that all readings agree on."""
    if not numbers:
        return Number(None, "absent")
    agree = all(number == numbers[0] for number in numbers)
    return numbers[0] if agree else Number(None, otherwise)


def _number(found: Found, scale: Scale, words: Mapping[str, float] | None) -> Number:
    if found.reason:
        return Number(None, found.reason)
    top = read_number(found.top, scale)
    if found.top is not None and scale.high not in (top.value, top.off):
        return Number(None, "scale_mismatch")
    return read_number(found.value, scale, words)


def _from_statements(
    source: Source,
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> dict[str, Number]:
    """Read ``Empathy: 4``; for a single attribute also ``Score: 4`` or a bare number."""
    text = source.settled
    if len(attributes) == 1 and (marked := list(_MARKED.finditer(text))):
        return {attributes[0]: read_number(marked[-1]["value"], scale, words)}
    rows, text = table_statements(text, attributes)
    said = rows + statements(text, attributes)
    numbers = {name: _stated(said, name, scale, words) for name in attributes}
    if len(attributes) == 1 and numbers[attributes[0]].reason in ("absent", "not_numeric"):
        generic = [replace(each, key=attributes[0]) for each in _generic(text, _GENERIC_TEXT)]
        stated = _stated(generic, attributes[0], scale, words)
        known = stated.reason not in ("absent", "not_numeric")
        numbers = {attributes[0]: stated if known else _alone(text, scale, words)}
    none = all(each.reason in ("absent", "not_numeric", "null") for each in numbers.values())
    return {} if none else numbers


def _generic(text: str, words: Sequence[str]) -> list[Statement]:
    """Statements such as ``Score: 4``, but not of another thing's: ``Confidence score: 5``."""
    return [each for each in statements(text, words) if each.before in _OPENERS]


def _stated(
    said: list[Statement], name: str, scale: Scale, words: Mapping[str, float] | None
) -> Number:
    """The number that all statements on a key agree on; a *final* one settles it."""
    here = [each for each in said if each.key == name]
    here = [each for each in here if each.final][-1:] or here
    below = [one for each in here for one in _generic(each.section, _GENERIC[:2])]
    for said_here in (here, below):
        numbers = [read_number(each.text, scale, words) for each in said_here]
        numbers = [number for number in numbers if number.reason not in ("not_numeric", "empty")]
        if numbers:
            taken_back = any(_TAKEN_BACK.search(each.section) for each in here)
            return Number(None, "ambiguous") if taken_back else _agreed(numbers, "ambiguous")
    return Number(None, "not_numeric" if any(each.text for each in here) else "absent")


def _alone(text: str, scale: Scale, words: Mapping[str, float] | None) -> Number:
    """The number that is the reply, begins it or stands alone on its first or last line."""
    if words and (worded := read_number(text, scale, words)).value is not None:
        return worded
    lines = [line for line in text.splitlines() if line.strip()]
    outer = [line for line in (lines[:1] + lines[1:][-1:]) if _BARE.fullmatch(line)]
    listed = len(_LISTED.findall(text)) > 1 or _FIRST_ITEM.match(text)
    if not outer and not listed and _STARTS.match(text):
        outer = [text]
    numbers = [read_number(line, scale) for line in outer]
    if numbers and all(each.value is not None or each.reason == "off_scale" for each in numbers):
        return _agreed(numbers, "ambiguous")
    return rated_out_of(text, scale)


def _finished(numbers: Mapping[str, Number], source: Source, *flags: str) -> Parsed:
    odd = [f"{number.reason}:{name}" for name, number in numbers.items() if _is_odd(number)]
    between = [f"between_levels:{name}" for name, number in numbers.items() if number.between]
    off = {name: number.off for name, number in numbers.items() if number.off is not None}
    return answered(
        {name: n.reason if n.value is None else n.value for name, n in numbers.items()},
        source,
        flags=(*odd, *between, *flags),
        extra={"off_scale": off} if off else {},
    )


def _is_odd(number: Number) -> bool:
    return number.reason not in ("", "absent", "null", "cut")
