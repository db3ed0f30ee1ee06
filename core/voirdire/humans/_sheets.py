"""Sheets written for raters and read back, every row checked against the plan."""

from __future__ import annotations

import csv
from collections import defaultdict
from typing import TYPE_CHECKING

from voirdire._errors import InputError, TableError, no_column
from voirdire.files import unguard
from voirdire.humans._answers import check_answer, find_option, unasked
from voirdire.humans._guard import same_text
from voirdire.humans._layout import columns, sheet_rows
from voirdire.humans._workbook import SHEET
from voirdire.tables import read_raw

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, TextIO

    from voirdire.humans._answers import Answer, Answered
    from voirdire.humans._form import Question
    from voirdire.humans._layout import Column
    from voirdire.humans._plan import Judgement, Plan
    from voirdire.tables import RawTable

_BOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
#: A byte-order mark: without one Excel takes UTF-8 for something else.
_BOM = "\ufeff"
_CHANGED = "the row was edited, or cells were moved"


def write_csv(
    plan: Plan,
    rater: str,
    file: TextIO,
    answers: Mapping[str, Mapping[str, Answer]] | None = None,
) -> None:
    """Write the sheet of one rater, with the answers given so far."""
    file.write(_BOM)
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([column.header for column in columns(plan)])
    writer.writerows(sheet_rows(plan, rater, answers or {}, guarded=True))


def read_sheet(plan: Plan, path: Path) -> dict[str, tuple[str, Answered]]:
    """The answers in a sheet: judgement -> (where it stands, question -> answer).

    Rows without any answer are left out: they are missing, as are rows that are not there.

    Raises
    ------
    TableError
        The file cannot be read or lacks a column; a row that was not sent out, stands twice or was
        changed; a value off the scale. The message names the row and the value.
    """
    raw = read_raw(path, sheet=SHEET if path.suffix.lower() in _BOOKS else None)
    layout = columns(plan)
    cells = _cells(raw, layout, path)
    plain = path.suffix.lower() not in _BOOKS
    found: dict[str, tuple[str, Answered]] = {}
    seen: dict[str, str] = {}
    for index, row in enumerate(cells):
        where = f"{path}, {raw.place(index)}"
        judgement = _known(plan, row, where)
        if judgement.id in seen:
            raise TableError(f"{where}: id {judgement.id!r} stands in {seen[judgement.id]} already")
        seen[judgement.id] = raw.place(index)
        _check_row(judgement, layout, row, where)
        answered = _answered(judgement, layout, row, where, plain=plain)
        if answered:
            found[judgement.id] = (where, answered)
    return found


def _cells(raw: RawTable, layout: tuple[Column, ...], path: Path) -> list[list[str]]:
    """Rows of text in the plan's order of columns."""
    spelling = {_fold(name): name for name in raw.frame.columns}
    lacking = [column.header for column in layout if _fold(column.header) not in spelling]
    if lacking:
        advice = "sheets are read with every column that was sent out"
        raise no_column(path, lacking[0], raw.frame.columns, advice)
    frame = raw.frame.select(spelling[_fold(column.header)] for column in layout)
    return [[_text(value) for value in row] for row in frame.iter_rows()]


def _known(plan: Plan, row: list[str], where: str) -> Judgement:
    ident = row[0].strip()
    if ident not in plan.judgements:
        raise TableError(f"{where}: id {ident!r} was not sent out with this plan")
    return plan.judgements[ident]


def _check_row(
    judgement: Judgement, layout: tuple[Column, ...], row: list[str], where: str
) -> None:
    """The row still shows what was sent under its id."""
    if row[-1].strip() != judgement.check:
        raise TableError(
            f"{where}: check {row[-1]!r} does not belong to id {judgement.id!r}: {_CHANGED}"
        )
    for column, cell in zip(layout, row, strict=True):
        if column.role == "shown":
            sent = judgement.shown[column.at][1]
        elif column.role == "asked":
            sent = judgement.form[column.at].asked
        else:
            continue
        if not same_text(cell, sent):
            raise TableError(
                f"{where}, column {column.header!r}: {_short(cell)!r} is not what was sent with id "
                f"{judgement.id!r}: {_CHANGED}"
            )


def _answered(
    judgement: Judgement, layout: tuple[Column, ...], row: list[str], where: str, *, plain: bool
) -> Answered:
    said: dict[int, list[str]] = defaultdict(list)
    for column, cell in zip(layout, row, strict=True):
        if column.role != "answer" or not cell.strip():
            continue
        question = judgement.form[column.at]
        if question.kind != "text":
            _offered(question, cell, f"{where}, column {column.header!r}")
        said[column.at].append(unguard(cell) if plain else cell)
    answered: Answered = {}
    for at, values in said.items():
        question = judgement.form[at]
        try:
            answer = check_answer(question, values if question.kind == "many" else values[0])
        except InputError as error:
            raise TableError(f"{where}, {question.name!r}: {error}") from None
        if answer is not None:
            answered[question.name] = answer
    for question in unasked(judgement.form, answered):
        raise TableError(
            f"{where}, {question.name!r}: {answered[question.name]!r} is answered although "
            f"{question.parent!r} does not hold {question.label!r}"
        )
    return answered


def _offered(question: Question, cell: str, where: str) -> None:
    try:
        find_option(question, cell)
    except InputError as error:
        raise TableError(f"{where}: {error}") from None


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return format(value, ".10g")
    return str(value)


def _fold(header: str) -> str:
    return " ".join(header.split()).casefold()


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
