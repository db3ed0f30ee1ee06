"""A reply made ready for reading: reasoning dropped, JSON found, keys looked up."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.parsing._decoders import MAX_DEPTH
from voirdire.parsing._json import Cut, JsonReading, pairs_of, read_json
from voirdire.parsing._keys import (
    RawValue,
    find_keys,
    marks_final,
    plain_key,
    possible_forms,
    scalars,
)
from voirdire.parsing._reasoning import drop_reasoning
from voirdire.parsing._words import FINAL_MARKS, STRUCK, VERDICTS, squeezed
from voirdire.schema import Flag

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from voirdire.schema import FinishReason, Status

_EMPTY = "\ufeff\u200b \t\r\n\f\v\xa0"
# Signs without a width, which split words, and the tokens with which a template ends a turn.
_UNSEEN = re.compile("[\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e]")
# Marks by which a local model's template ends a turn; they are no part of its answer.
_TURN_ENDS = re.compile(
    r"\s*(?:</s>|<(?:end_of_turn|eos)>|<\|(?:im_end|eot_id|end|endoftext|end_of_text|return)\|>)\s*$"
)
# Of running text beyond any honest reply the end is read: the answer stands there.
_LONGEST_TEXT = 200_000
_WITHHELD = {"refusal": "refused", "content_filter": "filtered", "error": "failed"}
#: Keys of an object that may hold the answer to its one question, the surest first.
VERDICT_KEYS = (
    *(f"{lead}{word}" for lead in (*FINAL_MARKS, "") for word in map(plain_key, VERDICTS)),
    *("final", "revised", "corrected", "correctanswer", "present", "yesno"),
)
# What a model declines to do: anything but what it cannot help, say or find out.
_ACTS = (
    r"(?!(?:say|tell|decide|pick|separate|settle|confirm|see|find|think|know|believe|be|to"
    r"|help\s+\w+ing)\b)[^\W\d]{3,}"
)
# How it declines.
_CANNOT = (
    r"(?:cannot|can['’]?t|can not|could not|couldn['’]t|won['’]?t|will not|would not|"
    r"(?:am|['’]m|are|['’]re)\s+(?:un(?:able|willing)|not\s+(?:able|comfortable|willing|"
    r"qualified|permitted|allowed))(?:\s+(?:to|with))?|"
    r"must\s+decline|have\s+to\s+decline|decline|refuse)"
)
# "I can't rate this", "As an AI I do not ...", "it is not possible to assess".
_REFUSAL = re.compile(
    rf"\b(?:i|we)\s*{_CANNOT}(?:\s+\w+ly)?\s+{_ACTS}"
    r"|\b(?:i|we)\s+(?:must|have\s+to|respectfully)?\s*(?:decline|refuse)\b"
    r"|\bi(?:['’]m|\s+am)\s+(?:very\s+|so\s+)?sorry\b[,.]?\s+(?:but\b|i\s+(?:can|am|won))"
    r"|\b(?:sorry|apologi[sz]e)\b.{0,40}\b(?:cannot|can['’]?t|unable|not able)\b"
    r"|\bas an ai\b.{0,80}\b(?:cannot|can['’]?t|unable|not able|do not|don['’]t)\b"
    r"|\b(?:unable|not able)\s+to\s+(?:\w+\s+)?" + _ACTS + r"\b"
    r"|\b(?:cannot|can['’]?t|can\s+not|could\s+not|not\s+possible\s+to)\s+(?:be\s+)?(?:\w+ly\s+)?"
    r"(?:rate|score|evaluate|assess|judge|grade)d?\b"
    r"|\bno\s+(?:rating|score|assessment|judg[e]?ment)s?\s+(?:can|could|is|are)\b"
    r"|\b(?:not\s+enough|insufficient)\s+(?:\w+\s+)?(?:information|context|content|detail)\b"
    r"|\b(?:against|violates?)\s+(?:my|our|the)\s+(?:\w+\s+)?(?:guidelines|policy|policies)\b",
    re.IGNORECASE | re.DOTALL,
)
_LOOKED_AT = 5_000


class ReplySource(NamedTuple):
    """A reply without its reasoning, and the JSON in it."""

    text: str
    reading: JsonReading
    finish_reason: FinishReason = "stop"
    flags: tuple[Flag, ...] = ()
    unclosed: bool = False

    @property
    def has_object(self) -> bool:
        """Whether an object stands in the reply, so that its running text is no answer."""
        values = self.reading.values
        return bool(values) and any(map(_holds_object, values))

    @property
    def status(self) -> Status:
        """How an answer that is there was read: as it stood, or after its syntax was repaired."""
        return "repaired" if self.reading.repaired else "ok"

    @property
    def keep_cut(self) -> bool:
        """Whether a value that nothing closes counts: not after a token limit."""
        return self.finish_reason != "length"

    @property
    def uncut(self) -> str:
        """The text without what stands at a cut: it may be the beginning of another word."""
        return self.text if self.keep_cut else without_last_word(self.text)

    @property
    def cut(self) -> bool:
        """Whether the reply was cut before it was complete, as far as its text shows."""
        in_text = not self.reading.values or (self.reading.mixed and not self.has_object)
        if self.unclosed or (in_text and not self.keep_cut):
            return True
        return self.reading.cut and (not self.keep_cut or self.reading.torn)


def without_last_word(text: str) -> str:
    """A text without what stands at its very end: it may be half a word or number."""
    return text if text[-1:].isspace() else text[: len(text) - len("".join(text.split()[-1:]))]


def nothing_there(text: str | None, finish_reason: FinishReason) -> str:
    """Why there is nothing to read: withheld, failed, cut at once, blank; else ``""``."""
    if finish_reason in _WITHHELD:
        return _WITHHELD[finish_reason]
    if text is None or not text.strip(_EMPTY):
        return "cut" if finish_reason == "length" else "blank"
    return ""


def read_source(text: str, finish_reason: FinishReason = "stop") -> ReplySource:
    """The JSON of a reply: as it stands if all of it is JSON, else without its reasoning."""
    # As it stands first: tags within sound JSON are part of its texts.
    whole = read_json(text)
    if whole.values and not (whole.mixed or whole.repaired):
        return ReplySource(text, whole, finish_reason)
    answer = drop_reasoning(text)
    marked = "<" in answer.text or "~~" in answer.text
    if struck := STRUCK.search(answer.text) if marked else None:
        answer = answer._replace(text=STRUCK.sub("", answer.text))
    # Not read twice where nothing was taken out.
    reading = read_json(answer.text) if answer.removed or struck else whole
    flags = [Flag("reasoning")] if answer.removed else []
    flags += [Flag("other_text")] if reading.values and reading.mixed else []
    seen = answer.text if answer.text.isascii() else _UNSEEN.sub("", answer.text)
    seen = squeezed(seen[-_LONGEST_TEXT:])
    # At its end alone: a mark within the text is quoted, and a search from each
    # blank of a long text is slow.
    if ">" in seen[-100:]:
        seen = seen[:-100] + _TURN_ENDS.sub("", seen[-100:])
    return ReplySource(seen, reading, finish_reason, tuple(flags), answer.unclosed)


def values_by_key(
    source: ReplySource, forms: Mapping[str, str], read: Callable[[RawValue], Hashable]
) -> dict[str, list[RawValue]]:
    """Declared key -> what the last object that names it says; an empty list where none does.

    `read` gives the value that a raw one states, None where it states none: where another object
    states another value than the last one, neither is known to be meant.
    """
    if not source.reading.values:  # nearly all running text
        return {name: [] for name in forms.values()}
    found = [(tree, find_keys(tree, forms)) for tree in source.reading.values]
    by_key: dict[str, list[RawValue]] = {}
    for name in forms.values():
        naming = [(tree, found_in[name]) for tree, found_in in found if found_in.get(name)]
        naming = [each for each in naming if marks_final(each[0])] or naming
        told = [scalars(values, keep_cut=source.keep_cut, name=name) for _, values in naming]
        by_key[name] = told[-1] if told else []
        if len(told) > 1:
            stated = [{read(value) for value in values} - {None} for values in told]
            if stated[-1] and any(each and each != stated[-1] for each in stated):
                by_key[name] = [RawValue(reason="ambiguous", conflict=True)]
    return by_key


def answering(trees: Iterable[Any]) -> list[Any]:
    """The objects that may answer, the last one first: those marked as final where any is."""
    last_first = list(trees)[::-1]
    return [tree for tree in last_first if marks_final(tree)] or last_first


def by_verdict_key(
    source: ReplySource,
    name: str,
    read: Callable[[RawValue], Hashable],
    keys: Iterable[str] = VERDICT_KEYS,
) -> tuple[str, dict[str, list[RawValue]]]:
    """What the first verdict word among the keys says, a final one before others: *grade*.

    For replies to one question, whose object does not name it. Returns the key as well.
    """
    if not source.reading.values:
        return "", {name: []}
    there = set().union(*map(possible_forms, source.reading.values))
    for key in keys if there else ():
        if key in there and (by_key := values_by_key(source, {key: name}, read))[name]:
            return key, by_key
    return "", {name: []}


def other_fields(source: ReplySource, keys: Iterable[str]) -> dict[str, Any]:
    """The other keys of the last object, as they came but for what cannot be stored.

    What was cut off, NaN and what nests beyond 40 levels is None; lone surrogates are replaced.
    """
    pairs = _last_object(source.reading).items()
    if not pairs:
        return {}
    asked = {plain_key(name) for name in keys}
    return {storable(key): storable(v) for key, v in pairs if plain_key(key) not in asked}


def object_keys(source: ReplySource) -> tuple[str, ...]:
    """All keys of the last object in order, repeats included."""
    last = _last_object(source.reading)
    return tuple(storable(key) for key, _ in pairs_of(last)) if last else ()


def why_no_answer(source: ReplySource) -> str:
    """The reason for which a reply that is not blank holds no answer."""
    if source.reading.too_much:
        return "too_deep"
    if source.unclosed:
        return "reasoning_unclosed"
    if source.cut or not source.keep_cut:
        return "cut"
    if not source.has_object and _is_refusal(source.text):
        return "refused"
    return "no_answer"


def storable(value: Any, depth: int = 0) -> Any:
    """A JSON value that any file can hold: no NaN, no lone surrogate, no endless nesting."""
    # Most fields are; the rest of the function is for those that are not.
    if type(value) is int:
        return value
    if isinstance(value, Cut):
        value = value.value
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {storable(key): storable(inner, depth + 1) for key, inner in value.items()}
    return [storable(item, depth + 1) for item in value] if isinstance(value, list) else value


def _holds_object(value: Any) -> bool:
    """An object, or a list of some; ``[1]`` in running text is a footnote."""
    return isinstance(value, dict) or any(isinstance(item, dict) for item in value)


def _last_object(reading: JsonReading) -> dict[str, Any]:
    last = reading.values[-1] if reading.values else None
    return last if isinstance(last, dict) else {}


def _is_refusal(text: str) -> bool:
    """Whether the model declines, judged on the first 5,000 signs of a reply without an answer."""
    return _REFUSAL.search(text, 0, _LOOKED_AT) is not None
