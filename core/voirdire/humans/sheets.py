"""The columns of a sheet, and its rows: one a judgement."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from voirdire.errors import InputError, StudyError, TableError, no_column
from voirdire.files import guard, unguard
from voirdire.humans.plan import same_text
from voirdire.humans.questions import check_answer, find_option, unasked
from voirdire.tables import read_raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, TextIO

    from voirdire.humans.plan import Judgement, Plan
    from voirdire.humans.questions import Answer, Answered, FormQuestion
    from voirdire.tables import RawTable


@dataclass(frozen=True, slots=True)
class SheetColumn:
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


def columns(plan: Plan) -> tuple[SheetColumn, ...]:
    """The columns of every sheet of a plan.

    The id leads and the checksum ends, so that part of a row cannot be moved unnoticed.

    Raises
    ------
    StudyError
        Two columns would have one name.
    """
    first = next(iter(plan.judgements.values()))
    columns = [SheetColumn("id", "id")]
    columns += [SheetColumn(title, "shown", at) for at, (title, _) in enumerate(first.shown)]
    for at, question in enumerate(first.form):
        asked = {judgement.form[at].asked for judgement in plan.judgements.values()}
        if len(asked) > 1:
            columns.append(SheetColumn(f"{question.name} (what is asked)", "asked", at))
        columns += _answers(at, question, asked.pop() if len(asked) == 1 else "")
    columns.append(SheetColumn("check", "check"))
    # As a sheet that comes back is read: its headers may have lost case and blanks.
    headers = [_fold(column.header) for column in columns]
    twice = next(
        (c.header for c, h in zip(columns, headers, strict=True) if headers.count(h) > 1), ""
    )
    if twice:
        raise StudyError(f"humans: two columns of the sheet would be called {twice!r}")
    return tuple(columns)


def _answers(at: int, question: FormQuestion, asked: str) -> list[SheetColumn]:
    """The cells of an answer; what is asked stands in the first header where it never changes."""
    parts = range(question.at_most)
    names = [f"{question.name} {part + 1}" if len(parts) > 1 else question.name for part in parts]
    names[0] += f": {asked}" if asked else ""
    return [SheetColumn(name, "answer", at, part) for part, name in enumerate(names)]


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
    column: SheetColumn,
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
    answer = answered.get(question.name, ())
    if isinstance(answer, str):
        return safe(answer) if question.kind == "text" else answer
    return answer[column.part] if column.part < len(answer) else ""


#: The sheet of a workbook that holds the judgements.
SHEET = "Judgements"
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
        The file cannot be read or lacks a column; a row that was not sent out, occurs twice or was
        changed; a value off the scale. The message names the row and the value.
    """
    raw = read_raw(path, sheet=SHEET if path.suffix.lower() in _BOOKS else None)
    layout = columns(plan)
    cells = _cells(raw, layout, path)
    # Only in plain text were the cells guarded against being taken for formulas.
    plain = path.suffix.lower() not in _BOOKS
    answers: dict[str, tuple[str, Answered]] = {}
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
            answers[judgement.id] = (where, answered)
    return answers


def _cells(raw: RawTable, layout: tuple[SheetColumn, ...], path: Path) -> list[list[str]]:
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
    judgement: Judgement, layout: tuple[SheetColumn, ...], row: list[str], where: str
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
    judgement: Judgement,
    layout: tuple[SheetColumn, ...],
    row: list[str],
    where: str,
    *,
    plain: bool,
) -> Answered:
    cells: dict[int, list[str]] = defaultdict(list)
    for column, cell in zip(layout, row, strict=True):
        if column.role != "answer" or not cell.strip():
            continue
        question = judgement.form[column.at]
        # Looked at one cell at a time, so that the message names the column with the wrong one.
        if question.kind != "text":
            _offered(question, cell, f"{where}, column {column.header!r}")
        cells[column.at].append(unguard(cell) if plain else cell)
    answered: Answered = {}
    for at, values in cells.items():
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


def _offered(question: FormQuestion, cell: str, where: str) -> None:
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
