"""Yes/no replies: true, false or missing, never true because something is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from voirdire.parsing._keys import Found, key_forms
from voirdire.parsing._parsed import answered, missing
from voirdire.parsing._source import (
    Source,
    nothing_there,
    read_source,
    values_by_key,
    why_no_answer,
)
from voirdire.parsing._statements import Statement, statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import FinishReason, Parsed

_YES = frozenset({"yes", "y", "yeah", "yep", "true", "1", "present", "positive"})
_NO = frozenset({"no", "n", "nope", "false", "0", "absent", "negative"})
# What says that something is there, or is not, without a yes or a no.
_FOUND = re.compile(
    r"\W*(?P<no>no\s+(?:\w+\s+){0,2}(?:signs?|evidence|indications?|symptoms?|traces?)\b(?!\s+(?:either|but))"
    r"|not\s+(?:present|observed|detected|found|shown)\b)",
    re.IGNORECASE,
)
_HOWEVER = re.compile(r"\b(?:yes|but|so|although|yet)\b", re.IGNORECASE)
_FIRST = re.compile(
    r"[\s*_`\"'“”(\[$]*(?:\\boxed\{)?(\w+)[^\S\n]*[*_`\"'“”)\]}$]*[^\S\n]*(?P<tail>.*)", re.DOTALL
)
_REMARK = re.compile(r"[\W_]*$|[.,;:–—(-]\s*[^\W\d]|[.!](?![^\S\n]?\d)\s*\S|\n\s*\S")
_HEDGE = re.compile(
    r"\W*(?:(?:and\s+)?(?P<again>yes|no)\b|(?:i\s+)?(?:or|but|if|unless|maybe|actually|wait|cannot|can['’]t)\b|i\s+(?:can\s+help|understand|will)\b"
    r"|[^.!?\n]*\b(?:maybe|possibly|perhaps|unsure|not\s+sure|unclear)\b)",
    re.IGNORECASE,
)
# A later line that begins with the other word, or with a second thought.
_BELOW = re.compile(
    r"^[\s*_]*(?:(?:wait|hmm+|actually)\b|(?P<again>yes|no)\b)", re.IGNORECASE | re.MULTILINE
)
_ONLY = re.compile(r"[\W_]*(?:yes|no)[\W_]*", re.IGNORECASE)
_CUES = ("answer", "final answer", "response", "assessment", "verdict", "label")


def said_yes(value: Any) -> bool | None:
    """The truth value that a JSON scalar states; None where it states none.

    >>> said_yes("false"), said_yes("YES"), said_yes("unsure"), said_yes(0), said_yes(2)
    (False, True, None, False, None)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return _in_words(value) if isinstance(value, str) else None


def _in_words(text: str) -> bool | None:
    """A text that begins with yes or no and does not take it back."""
    first = _FIRST.match(text[:2_000].strip())
    if first is None:
        return None
    if found := _FOUND.match(text[:200]):
        return None if _HOWEVER.search(text[found.end() : 300]) else False
    word, tail = first[1].casefold(), first["tail"]
    if word not in _YES and word not in _NO:
        return None
    if tail and not _REMARK.match(tail):
        return None
    hedge = _HEDGE.match(tail[:60])
    again = hedge is not None and (hedge["again"] or "").casefold() == word
    if hedge is not None and not again:
        return None
    below = {(line["again"] or "").casefold() for line in _BELOW.finditer(tail)}
    return word in _YES if below <= {word} else None


def parse_yes_no(
    text: str | None, keys: Sequence[str], *, finish_reason: FinishReason = "stop"
) -> Parsed:
    """Read one yes/no answer a key: 1, 0, or None with a reason. Never raises.

    JSON comes first, then statements such as ``depression: yes``; for a single key a reply that
    begins with yes or no answers too. A missing key is missing, never *no*.

    Examples
    --------
    >>> parse_yes_no('{"calm": "Yes.", "warm": "unsure"}', ["calm", "warm"]).scores
    {'calm': 1.0, 'warm': None}
    """
    if text is None or nothing_there(text, finish_reason):
        return missing(keys, nothing_there(text, finish_reason))
    source = read_source(text, finish_reason)
    found = values_by_key(source, key_forms(keys))
    if len(keys) == 1 and not any(found.values()):
        found = values_by_key(source, {"answer": keys[0]})
    if any(found.values()):
        return answered({key: _agreed(found.get(key, [])) for key in keys}, source)
    if not source.has_object and (said := _stated(source, keys)):
        return answered(said, source)
    if source.has_object and not source.cut:
        return answered(dict.fromkeys(keys, "absent"), source)
    return missing(keys, why_no_answer(source), flags=source.flags)


def _agreed(found: list[Found]) -> float | str:
    """1 or 0 where all values of a key agree; else the reason."""
    if not found:
        return "absent"
    answers = {_one(each) for each in found}
    return answers.pop() if len(answers) == 1 else "duplicate_key"


def _one(found: Found) -> float | str:
    if found.reason:
        return found.reason
    answer = said_yes(found.value)
    if answer is not None:
        return float(answer)
    return "null" if found.value is None or found.value == "" else "not_yes_no"


def _stated(source: Source, keys: Sequence[str]) -> dict[str, float | str]:
    said = statements(source.settled, keys)
    if not said and len(keys) == 1:
        said = [
            Statement(keys[0], each.text, each.final) for each in statements(source.settled, _CUES)
        ]
        said = said or _outer(source, keys[0])
    answers: dict[str, float | str] = {}
    for key in keys:
        here = [each for each in said if each.key == key]
        here = [each for each in here if each.final][-1:] or here
        stated = {float(a) for each in here if (a := said_yes(each.text)) is not None}
        answers[key] = stated.pop() if len(stated) == 1 else "ambiguous" if stated else "absent"
    return answers if any(answer != "absent" for answer in answers.values()) else {}


def _outer(source: Source, key: str) -> list[Statement]:
    """The reply as a whole, or a yes or no that is all of its first or last line."""
    lines = source.text.strip().splitlines()
    last = [line for line in lines[1:][-1:] if _ONLY.fullmatch(line)]
    first = [line for line in lines[:1] if last and _ONLY.fullmatch(line)]
    return [Statement(key, text) for text in (source.text, *first, *last)]
