"""The columns of a sheet, and its rows: one a judgement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from voirdire._errors import StudyError
from voirdire.files import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from voirdire.humans._answers import Answer
    from voirdire.humans._form import Question
    from voirdire.humans._plan import Judgement, Plan


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes
    ----------
    at : int
        Of a text shown its number, of a question or an answer that of the question.
    part : int
        Which of several labels an answer holds.
    """

    header: str
    role: Literal["id", "shown", "asked", "answer", "check"]
    at: int = 0
    part: int = 0


def columns(plan: Plan) -> tuple[Column, ...]:
    """The columns of every sheet of a plan.

    The id leads and the checksum ends, so that part of a row cannot be moved unnoticed.

    Raises
    ------
    StudyError
        Two columns would have one name.
    """
    first = next(iter(plan.judgements.values()))
    found = [Column("id", "id")]
    found += [Column(title, "shown", at) for at, (title, _) in enumerate(first.shown)]
    for at, question in enumerate(first.form):
        asked = {judgement.form[at].asked for judgement in plan.judgements.values()}
        if len(asked) > 1:
            found.append(Column(f"{question.name} (what is asked)", "asked", at))
        found += _answers(at, question, asked.pop() if len(asked) == 1 else "")
    found.append(Column("check", "check"))
    headers = [" ".join(column.header.split()).casefold() for column in found]
    twice = next(
        (c.header for c, h in zip(found, headers, strict=True) if headers.count(h) > 1), ""
    )
    if twice:
        raise StudyError(f"humans: two columns of the sheet would be called {twice!r}")
    return tuple(found)


def _answers(at: int, question: Question, asked: str) -> list[Column]:
    """The cells of an answer; what is asked stands in the first header where it never changes."""
    parts = range(question.at_most)
    names = [f"{question.name} {part + 1}" if len(parts) > 1 else question.name for part in parts]
    names[0] += f": {asked}" if asked else ""
    return [Column(name, "answer", at, part) for part, name in enumerate(names)]


def sheet_rows(
    plan: Plan, rater: str, answers: Mapping[str, Mapping[str, Answer]], *, guarded: bool
) -> Iterator[list[str]]:
    """The cells of a rater's sheet, in the plan's order.

    `guarded` texts are safe in a file of plain text that a spreadsheet program opens.
    """
    safe: Callable[[str], str] = guard if guarded else str
    layout = columns(plan)
    for ident in plan.raters[rater]:
        cell = partial(_cell, plan.judgements[ident], answers.get(ident, {}), safe)
        yield [cell(column) for column in layout]


def _cell(
    judgement: Judgement,
    answered: Mapping[str, Answer],
    safe: Callable[[str], str],
    column: Column,
) -> str:
    if column.role == "id":
        return judgement.id
    if column.role == "check":
        return judgement.check
    if column.role == "shown":
        return safe(judgement.shown[column.at][1])
    question = judgement.form[column.at]
    if column.role == "asked":
        return safe(question.asked)
    said = answered.get(question.name, ())
    if isinstance(said, str):
        return safe(said) if question.kind == "text" else said
    return said[column.part] if column.part < len(said) else ""
