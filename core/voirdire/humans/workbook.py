"""A rater's sheet as a workbook: choices as drop-down lists, everything else locked."""

from __future__ import annotations

import importlib.util
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from voirdire.errors import TableError
from voirdire.humans.sheets import SHEET, SheetColumn, columns, sheet_rows
from voirdire.lazy import require
from voirdire.tables import fit_cell

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.humans.plan import Plan
    from voirdire.humans.questions import FormQuestion

GUIDE, CHOICES = "Guide", "Choices"
# What no cell holds: control characters, returns (its lines end in a line feed), halves of letters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_WIDTHS = {"id": 16, "shown": 60, "asked": 30, "answer": 26, "check": 11}


def can_write_workbooks() -> bool:
    """Whether the package that writes workbooks is installed."""
    return importlib.util.find_spec("xlsxwriter") is not None


def write_workbook(plan: Plan, rater: str, path: Path) -> int:
    """Write the sheet of one rater; returns how many texts a cell could not hold in full.

    Raises
    ------
    MissingExtraError
        The package xlsxwriter is not installed.
    TableError
        The file cannot be written.
    """
    xlsxwriter = require("xlsxwriter", "writing workbooks", "excel")
    book = xlsxwriter.Workbook(str(path))
    layout = columns(plan)
    cut = _rows(book, plan, rater, layout)
    _guide(book, plan)
    _lists(book, plan, rater, layout)
    try:
        book.close()
    except (OSError, xlsxwriter.exceptions.FileCreateError) as error:
        raise TableError(f"{path}: cannot be written ({error})") from None
    return cut


def _rows(book: Any, plan: Plan, rater: str, layout: tuple[SheetColumn, ...]) -> int:
    sheet = book.add_worksheet(SHEET)
    looks = {"text_wrap": True, "valign": "top"}
    locked = book.add_format(looks)
    free = book.add_format({**looks, "locked": False, "bg_color": "#FFF9E5"})
    head = book.add_format({**looks, "bold": True, "bottom": 1})
    for at, column in enumerate(layout):
        sheet.set_column(at, at, _WIDTHS[column.role])
        sheet.write_string(0, at, column.header, head)
    cut = 0
    for number, cells in enumerate(sheet_rows(plan, rater, {}, guarded=False), start=1):
        for at, (column, text) in enumerate(zip(layout, cells, strict=True)):
            if column.role == "answer":
                sheet.write_blank(number, at, None, free)
                continue
            fitted = _fit(text)
            cut += len(fitted) < len(_CONTROL.sub("", text))
            sheet.write_string(number, at, fitted, locked)
    sheet.freeze_panes(1, 1)
    # Without a password: against slips, and raters may still widen a column.
    sheet.protect("", {"format_columns": True, "format_rows": True})
    return cut


def _fit(text: str) -> str:
    """What a cell can hold."""
    return fit_cell(_CONTROL.sub("", text))


def _guide(book: Any, plan: Plan) -> None:
    """Every question with what is asked and what the answers mean."""
    sheet = book.add_worksheet(GUIDE)
    wrapped = book.add_format({"text_wrap": True, "valign": "top"})
    for at, (width, header) in enumerate(
        ((30, "Question"), (60, "Asked"), (40, "Answer"), (60, "Meaning"))
    ):
        sheet.set_column(at, at, width)
        sheet.write_string(0, at, header, book.add_format({"bold": True}))
    rows = [("Instructions", plan.instructions, "", "")] if plan.instructions else []
    for question in dict.fromkeys(q for j in plan.judgements.values() for q in j.form):
        rows += _explained(question)
    for number, cells in enumerate(rows, start=1):
        for at, text in enumerate(cells):
            sheet.write_string(number, at, _fit(text), wrapped)
    sheet.protect()


def _explained(question: FormQuestion) -> list[tuple[str, str, str, str]]:
    asked = question.asked
    if question.parent:
        asked = f"Only where {question.parent} holds {question.label!r}. {asked}".strip()
    if question.kind == "many":
        asked = f"{asked} At most {question.at_most}.".strip()
    hints = question.hints or ("",) * len(question.options)
    rows = list(zip(question.choices, (*hints, ""), strict=False)) or [("your own words", "")]
    return [
        (question.name if at == 0 else "", asked if at == 0 else "", option, hint)
        for at, (option, hint) in enumerate(rows)
    ]


def _lists(book: Any, plan: Plan, rater: str, layout: tuple[SheetColumn, ...]) -> None:
    """Drop-down lists; they stand in a sheet of their own, since Excel takes 255 characters."""
    sheet, lists = book.get_worksheet_by_name(SHEET), book.add_worksheet(CHOICES)
    lists.hide()
    ranges: dict[tuple[str, ...], str] = {}
    judgements = [plan.judgements[ident] for ident in plan.raters[rater]]
    for at, column in enumerate(layout):
        if column.role != "answer":
            continue
        first = 1
        # One rule for a run of rows with the same choices: one a cell makes Excel slow.
        for choices, run in groupby(judgements, key=lambda j: j.form[column.at].choices):
            last = first + len(list(run)) - 1
            if choices:
                source = ranges.get(choices) or _list(lists, choices, len(ranges))
                ranges[choices] = source
                sheet.data_validation(first, at, last, at, _validation(source))
            first = last + 1


def _list(lists: Any, choices: tuple[str, ...], at: int) -> str:
    """Write the choices as a column; numbers as numbers, so that a typed one is among them."""
    for row, choice in enumerate(choices):
        if _NUMBER.fullmatch(choice):
            lists.write_number(row, at, float(choice))
        else:
            lists.write_string(row, at, choice)
    from xlsxwriter.utility import xl_range_abs  # noqa: PLC0415

    return f"={CHOICES}!{xl_range_abs(0, at, len(choices) - 1, at)}"


def _validation(source: str) -> dict[str, Any]:
    return {
        "validate": "list",
        "source": source,
        "error_title": "Not a choice",
        "error_message": "Please choose from the list, or leave the cell empty.",
    }
