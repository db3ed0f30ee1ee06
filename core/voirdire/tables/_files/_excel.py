"""Workbooks through calamine, with types as the cells hold them."""

from __future__ import annotations

import logging
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, not_one_of
from voirdire.tables._files._header import HEAD, find_header
from voirdire.tables._files._raw import RawTable, build
from voirdire.tables._files._workbook import Sheet, check_opendocument, check_size, scan_sheet
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.schema import Finding

_EXACT = 2**53
# Without a handler Python prints what these log, such as a line for each column without a value.
for _name in ("fastexcel", "calamine"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


def read_excel(path: Path, sheet: str | None = None) -> RawTable:
    """One sheet: the one asked for, else the first that holds a table, hidden ones last.

    Raises
    ------
    TableError
        Not a workbook, no such sheet, no header or no rows.
    """
    import fastexcel  # noqa: PLC0415  # 40 ms that other formats need not pay

    zipped = zipfile.is_zipfile(path)
    if zipped:
        check_size(path)
        check_opendocument(path)
    try:
        book = fastexcel.read_excel(path)
        sheets = list(book.sheet_names)
        if sheet is not None and sheet not in sheets:
            raise not_one_of("sheet", sheet, sheets, path.name, TableError)
        # Even to ask whether a sheet is visible makes room for all its cells.
        looked_at = sheets if sheet is None else [sheet]
        scanned = {name: scan_sheet(path, name) for name in looked_at} if zipped else {}
        visible = _visible(book, sheets) if sheet is None else {}
        names = sorted(visible, key=lambda name: not visible[name]) or looked_at
        lacks: dict[str, str] = {}
        for name in names:
            found = _sheet(path.name, book, name, scanned.get(name, Sheet()))
            if isinstance(found, RawTable):
                notes = _chosen(path.name, name, sheets) if sheet is None else ()
                others = [n for n in names if visible.get(n) and n not in (name, *lacks)]
                alike = [n for n in others if _columns(book, n) == _columns(book, name)]
                return replace(
                    found,
                    findings=(*found.findings, *notes),
                    sheets=(name, *alike) if visible.get(name) else (),
                )
            lacks[name] = found
    except (fastexcel.FastExcelError, zipfile.BadZipFile) as error:
        cause = str(error).splitlines()[0]
        raise TableError(f"{path.name}: cannot be read as a workbook ({cause})") from None
    said = [f"sheet {name!r} {lack}" for name, lack in lacks.items()]
    raise TableError(f"{path.name}: {', '.join(said) or 'the workbook has no sheet'}")


def _visible(book: Any, sheets: list[str]) -> dict[str, bool]:
    """Sheets of cells, in their order, and whether each is visible."""
    if len(sheets) < 2:
        return dict.fromkeys(sheets, True)
    return {
        name: book.load_sheet(name, header_row=None, n_rows=0).visible == "visible"
        for name in sheets
    }


def _columns(book: Any, sheet: str) -> list[str]:
    """The names of a sheet's columns; none where it holds no table."""
    head = [[_text(value) for value in row] for row in _load(book, sheet, n_rows=HEAD).rows()]
    header = find_header(sheet, head)
    return [] if header is None or header.below >= len(head) else header.names


def _chosen(file: str, sheet: str, sheets: list[str]) -> tuple[Finding, ...]:
    others = [name for name in sheets if name != sheet]
    if not others:
        return ()
    note = finding(
        "sheet_chosen",
        "note",
        file,
        others,
        f"The workbook has {len(sheets)} sheets; {sheet!r} was read.",
        "Name another one with `sheet` in the study.",
    )
    return (note,)


def _sheet(file: str, book: Any, sheet: str, scanned: Sheet) -> RawTable | str:
    """The sheet, or what it lacks."""
    head = [[_text(value) for value in row] for row in _load(book, sheet, n_rows=HEAD).rows()]
    header = find_header(file, head)
    if header is None:
        return "is empty"
    body = _load(book, sheet, skip_rows=header.below, schema_sample_rows=None)
    body, notes = _filled(file, body, header.below, scanned)
    blank = body.select(pl.all_horizontal(pl.all().is_null())).to_series()
    first = header.below + 1
    numbers = pl.int_range(first, first + body.height, eager=True).alias("row")
    if body.height == 0 or blank.all():
        return "has a header but no rows"
    columns = [_whole(column) for column in body.filter(~blank).get_columns()]
    lines = numbers.filter(~blank)
    return build(file, header.names, columns, lines=lines, findings=(*header.findings, *notes))


def _filled(
    file: str, body: pl.DataFrame, below: int, scanned: Sheet
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """Merged cells below the header: each of their cells holds what the first one does."""
    columns, places = body.get_columns(), []
    for top, left, bottom, right in scanned.merged:
        first, last = top - 1 - below, bottom - 1 - below
        if (
            first < 0
            or last >= body.height
            or right > len(columns)
            or columns[left - 1][first] is None
        ):
            continue
        value = columns[left - 1][first]
        for at in range(left - 1, right):
            if at == left - 1 or columns[at].dtype == columns[left - 1].dtype:
                columns[at] = columns[at].scatter(list(range(first, last + 1)), value)
        places.append(f"rows {top} to {bottom}" if bottom > top else f"row {top}")
    if not places:
        return body, ()
    note = finding(
        "cells_merged",
        "note",
        file,
        places,
        f"{plural(len(places), 'merged cell')} below the header.",
        "Each row that it spans was given its value.",
    )
    return pl.DataFrame(columns), (note,)


def _whole(column: pl.Series) -> pl.Series:
    """Numbers as whole ones where all are: a cell knows floating-point numbers only."""
    if column.dtype != pl.Float64 or not (column.abs() < _EXACT).all():
        return column
    return column.cast(pl.Int64) if (column == column.floor()).all() else column


def _load(book: Any, sheet: str, **options: Any) -> pl.DataFrame:
    frame = book.load_sheet(sheet, header_row=None, **{"skip_rows": 0, **options}).to_polars()
    return frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)


def _text(value: object) -> str:
    """A header cell as text; a number is a header too (a year, an item)."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)
