"""Rubric replies: one score an attribute, or missing with a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.parsing._keys import Found, key_forms
from voirdire.parsing._numbers import Number, rated_out_of, read_number
from voirdire.parsing._reasons import REASONS, worst_status
from voirdire.parsing._source import (
    Source,
    nothing_there,
    object_keys,
    other_fields,
    read_source,
    values_by_key,
    why_no_answer,
)
from voirdire.parsing._statements import Statement, statements
from voirdire.schema import Parsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import FinishReason, Scale, Status

_GENERIC = ("score", "rating", "grade")


@dataclass(slots=True)
class _Scores:
    """The scores of a reply while they are read."""

    values: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    off: dict[str, float] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)

    def put(self, name: str, number: Number) -> None:
        self.values[name] = number.value
        if number.value is None:
            self.reasons[name] = number.reason
            if number.reason not in ("absent", "null", "cut"):
                self.flags.append(f"{number.reason}:{name}")
        elif number.between:
            self.flags.append(f"between_levels:{name}")
        if number.off is not None:
            self.off[name] = number.off


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
        return _nothing(attributes, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    found = _found(source, attributes)
    scores = _Scores(flags=list(source.flags))
    if any(found.values()):
        _from_objects(scores, found, attributes, scale, words)
        return _finished(scores, source, attributes)
    if not source.has_object and _from_statements(scores, source, attributes, scale, words):
        return _finished(scores, source, attributes)
    return _nothing(attributes, why_no_answer(source), source)


def _found(source: Source, attributes: Sequence[str]) -> dict[str, list[Found]]:
    """What the objects say; for a single attribute a plain ``{"score": 4}`` answers too."""
    found = values_by_key(source, key_forms(attributes))
    if len(attributes) == 1 and not any(found.values()):
        for key in _GENERIC:
            found = found if any(found.values()) else values_by_key(source, {key: attributes[0]})
    return found


def _from_objects(
    scores: _Scores,
    found: dict[str, list[Found]],
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> None:
    for name in attributes:
        numbers = [_number(each, scale, words) for each in found.get(name, ())]
        if not numbers:
            scores.put(name, Number(None, "absent"))
        elif any(other != numbers[0] for other in numbers):
            scores.put(name, Number(None, "duplicate_key"))
        else:
            scores.put(name, numbers[0])


def _number(found: Found, scale: Scale, words: Mapping[str, float] | None) -> Number:
    if found.reason:
        return Number(None, found.reason)
    top = read_number(found.top, scale)
    if found.top is not None and scale.high not in (top.value, top.off):
        return Number(None, "scale_mismatch")
    return read_number(found.value, scale, words)


def _from_statements(
    scores: _Scores,
    source: Source,
    attributes: Sequence[str],
    scale: Scale,
    words: Mapping[str, float] | None,
) -> bool:
    """Read ``Empathy: 4``; for a single attribute also ``Score: 4`` or a bare number."""
    said = statements(source.text, attributes)
    if not said and len(attributes) == 1:
        generic = statements(source.text, _GENERIC)
        said = [Statement(attributes[0], each.text, each.final) for each in generic]
    if said or len(attributes) > 1:
        numbers = {name: _stated(said, name, scale, words) for name in attributes}
    else:
        alone = read_number(source.text, scale, words)
        known = alone.value is not None or alone.reason == "off_scale"
        numbers = {attributes[0]: alone if known else rated_out_of(source.text, scale)}
    if all(number.reason in ("absent", "not_numeric", "null") for number in numbers.values()):
        return False
    for name, number in numbers.items():
        scores.put(name, number)
    scores.flags.append("stated_in_text")
    return True


def _stated(
    said: list[Statement], name: str, scale: Scale, words: Mapping[str, float] | None
) -> Number:
    """The number that all statements on a key agree on; a *final* one settles it."""
    here = [each for each in said if each.key == name]
    here = [each for each in here if each.final][-1:] or here
    numbers = [read_number(each.text, scale, words) for each in here]
    numbers = [number for number in numbers if number.reason not in ("not_numeric", "empty")]
    if not numbers:
        return Number(None, "not_numeric" if here else "absent")
    agree = all(number == numbers[0] for number in numbers)
    return numbers[0] if agree else Number(None, "ambiguous")


def _finished(scores: _Scores, source: Source, attributes: Sequence[str]) -> Parsed:
    read: Status = "repaired" if source.reading.mended else "ok"
    if source.cut:
        scores.reasons |= {n: "cut" for n, why in scores.reasons.items() if why == "absent"}
    statuses = {
        name: REASONS[scores.reasons[name]] if name in scores.reasons else read
        for name in attributes
    }
    extra = {"fields": other_fields(source, attributes), "keys": object_keys(source)}
    return Parsed(
        scores=scores.values,
        status="truncated" if source.cut else worst_status(statuses.values(), read),
        statuses=statuses,
        flags=tuple(scores.flags),
        extra=extra | ({"off_scale": scores.off} if scores.off else {}),
        reasons=scores.reasons,
    )


def _nothing(attributes: Sequence[str], reason: str, source: Source | None = None) -> Parsed:
    """A reply without an answer: every attribute is missing for the same reason."""
    status = REASONS[reason]
    return Parsed(
        scores=dict.fromkeys(attributes),
        status=status,
        statuses=dict.fromkeys(attributes, status),
        flags=source.flags if source else (),
        reasons=dict.fromkeys(attributes, reason),
        extra={"fields": other_fields(source, attributes)} if source else {},
    )
