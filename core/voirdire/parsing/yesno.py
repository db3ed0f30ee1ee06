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

_YES = frozenset({"yes", "y", "true", "1", "present", "positive"})
_NO = frozenset({"no", "n", "false", "0", "absent", "negative"})
_FIRST = re.compile(r"[\s*_`\"'“”(\[]*(\w+)[\s*_`\"'“”)\]]*(?P<tail>.*)", re.DOTALL)
_REMARK = re.compile(r"[.!]?\s*$|[.,;:–—(-]\s*[^\W\d]|[.!]\s")
_HEDGE = re.compile(
    r"\b(?:or|but|maybe|possibly|perhaps|unsure|unclear|cannot)\b|^\W*(?:and\s+)?(?:yes|no)\b",
    re.IGNORECASE,
)
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
    word, tail = first[1].casefold(), first["tail"]
    if word not in _YES and word not in _NO:
        return None
    if tail and (not _REMARK.match(tail) or _HEDGE.search(tail[:60])):
        return None
    return word in _YES


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
    said = statements(source.text, keys)
    if not said and len(keys) == 1:
        said = [
            Statement(keys[0], each.text, each.final) for each in statements(source.text, _CUES)
        ]
        said = said or [Statement(keys[0], source.text)]
    answers: dict[str, float | str] = {}
    for key in keys:
        here = [each for each in said if each.key == key]
        here = [each for each in here if each.final][-1:] or here
        stated = {float(a) for each in here if (a := said_yes(each.text)) is not None}
        answers[key] = stated.pop() if len(stated) == 1 else "ambiguous" if stated else "absent"
    return answers if any(answer != "absent" for answer in answers.values()) else {}
