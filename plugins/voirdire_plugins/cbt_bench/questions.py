"""Multiple-choice questions of level I, from any file of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from voirdire import TableError
from voirdire_plugins.cbt_bench.rows import decoded, read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_SEVERAL = re.compile(r"select all|all that apply|check all|choose all", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s,;&]+|\band\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its options in order, and the letters that are right."""

    id: str
    text: str
    choices: tuple[str, ...]
    answer: tuple[str, ...]
    type: str = ""
    several: bool = False


@dataclass(frozen=True, slots=True)
class QuestionColumns:
    """Which columns of a file hold what.

    Attributes
    ----------
    choices : str or sequence of str
        One column that holds a list (or letter -> text), or one column an option.
    answer : str
        Letters (``"C"``, ``"A, C"``), the text of an option, or a list of either.
    type : str
        The knowledge type; empty where there is none.
    id : str
        Empty: questions are numbered from 1.
    """

    text: str = "question"
    choices: str | Sequence[str] = "choices"
    answer: str = "answer"
    type: str = ""
    id: str = ""


def read_questions(
    path: str | Path, columns: QuestionColumns | None = None
) -> tuple[Question, ...]:
    """The questions of a JSON, JSONL or CSV file (or a workbook).

    A question has several right choices where its answer names several, or its text says so
    ("select all that apply").

    Raises
    ------
    TableError
        A column is absent; a question without text, with fewer than two options, or whose answer
        is none of them; an id that stands twice. The message names the row.
    """
    names = columns or QuestionColumns()
    options = [names.choices] if isinstance(names.choices, str) else list(names.choices)
    wanted = [names.text, names.answer, *options, *filter(None, (names.type, names.id))]
    found: dict[str, Question] = {}
    for number, (place, row) in enumerate(read_rows(path, wanted), start=1):
        question = _question(row, names, options, number, f"{path}, {place}")
        if question.id in found:
            raise TableError(f"{path}, {place}: question {question.id!r} stands twice")
        found[question.id] = question
    return tuple(found.values())


def _question(
    row: Mapping[str, Any], names: QuestionColumns, options: list[str], number: int, where: str
) -> Question:
    text = _text(row[names.text])
    choices = _choices(row, options, where)
    if not text or not 2 <= len(choices) <= len(ascii_uppercase):
        raise TableError(f"{where}: a text and 2 to 26 options are needed, got {text!r}, {choices}")
    answer = _answer(decoded(row[names.answer]), choices)
    if not answer:
        letters = ", ".join(ascii_uppercase[: len(choices)])
        raise TableError(
            f"{where}: answer {row[names.answer]!r} is none of the options ({letters})"
        )
    return Question(
        _text(row[names.id]) if names.id else str(number),
        text,
        choices,
        answer,
        _text(row[names.type]) if names.type else "",
        len(answer) > 1 or _SEVERAL.search(text) is not None,
    )


def _choices(row: Mapping[str, Any], options: list[str], where: str) -> tuple[str, ...]:
    if len(options) > 1:
        texts = [_text(row[name]) for name in options]
        while texts and not texts[-1]:
            texts.pop()
        if "" in texts:
            raise TableError(f"{where}: option {options[texts.index('')]!r} is empty")
        return tuple(texts)
    given = decoded(row[options[0]])
    if isinstance(given, Mapping):
        given = [text for _, text in sorted(given.items())]
    if not isinstance(given, list):
        raise TableError(f"{where}: column {options[0]!r} must hold a list of options")
    return tuple(_text(text) for text in given)


def _answer(given: Any, choices: tuple[str, ...]) -> tuple[str, ...]:
    """The right letters in order; empty where what is given is no answer."""
    letters = ascii_uppercase[: len(choices)]
    meant = {
        text: letter
        for letter, text in zip(letters, choices, strict=True)
        if choices.count(text) == 1
    }
    if isinstance(given, str) and given.strip() in meant:
        return (meant[given.strip()],)
    parts = given if isinstance(given, list) else _SEPARATOR.split(_text(given))
    said = [_text(part) for part in parts if _text(part)]
    found = [meant.get(part) or part.strip("().").upper() for part in said]
    if not found or any(part not in letters or len(part) != 1 for part in found):
        return ()
    return tuple(sorted(set(found)))


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
