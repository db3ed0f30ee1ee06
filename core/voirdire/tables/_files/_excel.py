"""Workbooks through calamine, with types as the cells hold them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire._errors import TableError
from voirdire.tables._files._raw import RawTable, build
from voirdire.tables._tables import finding, listed, plural

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.schema import Finding

#: How many rows are searched for the header.
_HEAD = 50
# Without a handler Python prints what fastexcel logs: a line for each column without a value.
logging.getLogger("fastexcel").addHandler(logging.NullHandler())


def read_excel(path: Path, sheet: str | None = None) -> RawTable:
    """One sheet; its header is the first row with more than one cell filled.

    Raises
    ------
    TableError
        Not a workbook, no such sheet, no header or no rows.
    """
    import fastexcel  # noqa: PLC0415  # 40 ms that other formats need not pay

    try:
        book = fastexcel.read_excel(path)
        sheets = list(book.sheet_names)
        name, notes = _choose(path.name, sheets, sheet)
        found = _sheet(path.name, book, name, notes)
    except fastexcel.FastExcelError as error:
        cause = str(error).splitlines()[0]
        raise TableError(f"{path.name}: cannot be read as a workbook ({cause})") from None
    if isinstance(found, str):
        hint = f" (sheets: {listed(sheets)}; name one with `sheet`)" if len(sheets) > 1 else ""
        raise TableError(f"{path.name}: sheet {name!r} {found}{hint}")
    return found


def _choose(file: str, sheets: list[str], wanted: str | None) -> tuple[str, tuple[Finding, ...]]:
    if wanted is not None:
        if wanted not in sheets:
            raise TableError(f"{file}: there is no sheet {wanted!r} (sheets: {listed(sheets)})")
        return wanted, ()
    if not sheets:
        raise TableError(f"{file}: the workbook has no sheet")
    if len(sheets) == 1:
        return sheets[0], ()
    note = finding(
        "sheet_chosen",
        "note",
        file,
        sheets[1:],
        f"The workbook has {len(sheets)} sheets; {sheets[0]!r} was read.",
        "Name another one with `sheet` in the study.",
    )
    return sheets[0], (note,)


def _sheet(file: str, book: Any, sheet: str, notes: tuple[Finding, ...]) -> RawTable | str:
    """The sheet, or what it lacks."""
    head = [[_text(value) for value in row] for row in _load(book, sheet, n_rows=_HEAD).rows()]
    filled = [index for index, row in enumerate(head) if any(row)]
    if not filled:
        return "is empty"
    top = next((index for index in filled if sum(map(bool, head[index])) > 1), filled[0])
    body = _load(book, sheet, skip_rows=top + 1, schema_sample_rows=None)
    blank = body.select(pl.all_horizontal(pl.all().is_null())).to_series()
    numbers = pl.int_range(top + 2, top + 2 + body.height, eager=True).alias("row")
    if body.height == 0 or blank.all():
        return "has a header but no rows"
    kept, lines = body.filter(~blank), numbers.filter(~blank)
    above = [head[index] for index in filled if index < top]
    notes = (*notes, *_above(file, above))
    return build(file, head[top], kept.get_columns(), lines=lines, findings=notes)


def _above(file: str, rows: list[list[str]]) -> tuple[Finding, ...]:
    if not rows:
        return ()
    texts = [text for row in rows for text in row if text]
    note = finding(
        "rows_above_header",
        "note",
        file,
        texts,
        f"{plural(len(rows), 'row')} with one cell above the header: {listed(texts)}.",
        "Taken for a title and left out.",
    )
    return (note,)


def _load(book: Any, sheet: str, **options: Any) -> pl.DataFrame:
    frame = book.load_sheet(sheet, header_row=None, **{"skip_rows": 0, **options}).to_polars()
    return frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)


def _text(value: object) -> str:
    """A header cell as text; a number is a header too (a year, an item)."""
    return "" if value is None else str(value)
