"""Answers to questions: matched with the options, checked, and what is still open."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from voirdire._errors import InputError, duplicate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.humans._form import Form, Question

#: An option, several of them, or words.
Answer = str | tuple[str, ...]
#: Question -> answer; a question without one is missing.
Answered = dict[str, Answer]

MOST_WORDS = 20_000
_COMMA = re.compile(r"^(\s*-?\d+),(\d{1,2}\s*)$")
#: Spreadsheet programs put another one where a straight one is typed.
_APOSTROPHE = re.compile("[\u2018\u2019\u02bc\u00b4`]")
#: Characters of a wrong answer that a message repeats.
_SHOWN = 60


def find_option(question: Question, said: str) -> str:
    """The option meant by a cell, whatever its case, white space, apostrophe or final stop.

    A number may stand with a decimal comma, as programs of other languages write it.

    Raises
    ------
    InputError
        It is none of them; the message lists what is allowed.

    Examples
    --------
    >>> from voirdire.humans._form import Question
    >>> find_option(Question("Calm", "one", ("1", "2", "3")), " 2.0 ")
    '2'
    """
    folded = {fold(said), fold(_COMMA.sub(r"\1.\2", said))}
    for option in question.choices:
        if fold(option) in folded:
            return option
    allowed = ", ".join(question.choices)
    shown = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
    raise InputError(f"{shown!r} is off the scale (allowed: {allowed})")


def check_answer(question: Question, value: Any) -> Answer | None:
    """An answer as a page or sheet gives it; None where there is none.

    Raises
    ------
    InputError
        Not of the question's kind, an option that was not offered, one named twice, more than are
        allowed, or a label beside the one that says that there is none.
    """
    if question.kind == "many":
        return _many(question, value) or None
    if value in (None, ""):
        return None
    if not isinstance(value, str):
        raise InputError(f"{value!r} is no text")
    if question.kind == "one":
        return find_option(question, value)
    if len(value) > MOST_WORDS:
        raise InputError(f"the text has {len(value):,} characters (allowed: {MOST_WORDS:,})")
    whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.strip() or None


def applies(question: Question, answered: Mapping[str, Answer]) -> bool:
    """Whether a question is asked, given the answers to others."""
    return not question.parent or question.label in answered.get(question.parent, ())


def open_questions(form: Form, answered: Mapping[str, Answer]) -> list[str]:
    """The questions that are asked and have no answer."""
    return [q.name for q in form if applies(q, answered) and q.name not in answered]


def unasked(form: Form, answered: Mapping[str, Answer]) -> list[Question]:
    """The questions that have an answer although nobody asked them."""
    return [q for q in form if q.name in answered and not applies(q, answered)]


def asked_alone(form: Form, answered: Mapping[str, Answer]) -> Answered:
    """The answers without those to questions that are no longer asked."""
    gone = {question.name for question in unasked(form, answered)}
    return {name: answer for name, answer in answered.items() if name not in gone}


def _many(question: Question, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise InputError(f"{value!r} is no list of labels")
    found = [find_option(question, one) for one in value if one]
    _check_many(question, found)
    return tuple(option for option in question.choices if option in found)


def _check_many(question: Question, found: Sequence[str]) -> None:
    twice = next((one for one in found if found.count(one) > 1), None)
    if twice is not None:
        raise duplicate("label", twice)
    if question.none in found and len(found) > 1:
        raise InputError(f"{question.none!r} stands beside other labels: {list(found)}")
    if len(found) > question.at_most:
        raise InputError(f"{len(found)} labels where at most {question.at_most} are allowed")


def fold(text: str) -> str:
    """What two writings of one option have in common."""
    plain = " ".join(unicodedata.normalize("NFC", text).split()).casefold().rstrip(".")
    plain = _APOSTROPHE.sub("'", plain)
    try:
        return format(float(plain), ".10g")
    except ValueError:
        return plain
