"""Workbooks through calamine, with types as the cells hold them, after a look at their parts."""

from __future__ import annotations

import logging
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import TableError, listed, not_one_of
from voirdire.late import pattern
from voirdire.tables._files._parts import (
    Sheet,
    check_opendocument,
    check_size,
    member_of,
    scan_sheet,
)
from voirdire.tables._files._raw import HEAD, RawTable, Unseen, build, find_header
from voirdire.tables._ids import plain_name
from voirdire.tables._tables import EXACT, finding, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.schema import Finding

# Without a handler Python prints what these log, such as a line for each column without a value.
for _name in ("fastexcel", "calamine"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


#: Parts of a workbook: its sheets, and what stands next to them.
_SHEET_PART = pattern(r"xl/worksheets/[^/]+\.xml$")
_BESIDE = pattern(r"xl/(?:media|drawings|charts|embeddings|comments|threadedComments|vbaProject)")
#: Asks for all visible sheets with the same columns, one below the other.
ALL = "*"
#: An id and a judgement.
_FEWEST_COLUMNS = 2
#: A name that tells parts of a table apart is no text.
_LONGEST_NAME = 60
#: The column of their names.
_OF_SHEETS = "sheet"


def read_excel(path: Path, sheet: str | None = None, named: Sequence[str] = ()) -> RawTable:
    """One sheet: the one asked for, else the first that holds a table, hidden ones last.

    With ``sheet="*"``, or where sheets are called as `named` says, all visible ones with the same
    columns are one table, whose column ``sheet`` says from which of them a row is.

    Raises
    ------
    TableError
        Not a workbook, no such sheet, no header or no rows.
    """
    import fastexcel  # noqa: PLC0415  # 40 ms that other formats need not pay

    zipped = zipfile.is_zipfile(path)
    try:
        book = _open(path)
        sheets = list(book.sheet_names)
        together = sheet == ALL or (sheet is None and len(set(named) & set(sheets)) > 0)
        sheet = None if together else sheet
        if sheet is not None and sheet not in sheets:
            raise not_one_of("sheet", sheet, sheets, path.name, TableError)
        # Even to ask whether a sheet is visible makes room for all its cells.
        looked_at = sheets if sheet is None else [sheet]
        scanned = {name: scan_sheet(path, name) for name in looked_at} if zipped else {}
        visible = _visible(book, sheets) if sheet is None else {}
        names = _likely_first(book, visible, named) or looked_at
        lacks: dict[str, str] = {}
        for name in names:
            table = _sheet(path.name, book, name, scanned.get(name, Sheet()))
            if isinstance(table, RawTable):
                # A workbook with a sheet a rater is common: which of them is meant is asked later.
                others = [n for n in names if visible.get(n) and n not in (name, *lacks)]
                heads = {n: _columns(book, n) for n in (name, *others)}
                common = _common(heads, [n for n in heads if n in named]) or heads[name]
                alike = [n for n in others if set(common) <= set(heads[n])]
                if common == heads[name]:
                    alike = [n for n in others if heads[n] == common]
                read = (name, *alike) if visible.get(name) else ()
                if len(read) > 1 and sheet is None:
                    rest = [_sheet(path.name, book, n, scanned.get(n, Sheet())) for n in alike]
                    tables = [one for one in (table, *rest) if isinstance(one, RawTable)]
                    of_all = bool(named) and set(named) <= set(heads[name])
                    if together or (of_all and _hold_other_items(tables)):
                        return _measured(_stacked(tables, read, common), path, read)
                notes = _chosen(path.name, name, sheets) if sheet is None else ()
                return _measured(replace(table, sheets=read).noted(*notes), path, [name])
            lacks[name] = table
    except (fastexcel.FastExcelError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from None
    reasons = [f"sheet {name!r} {lack}" for name, lack in lacks.items()]
    raise TableError(f"{path.name}: {', '.join(reasons) or 'the workbook has no sheet'}")


def _measured(table: RawTable, path: Path, read: Sequence[str]) -> RawTable:
    """The table with the bytes of its workbook, and of those parts of it that were not read."""
    if not zipfile.is_zipfile(path):
        return table
    with zipfile.ZipFile(path) as book:
        sizes = {part.filename: part.file_size for part in book.infolist()}
        own = {member_of(book, name) for name in read}
    sheets = sum(n for part, n in sizes.items() if _SHEET_PART.match(part) and part not in own)
    beside = sum(n for part, n in sizes.items() if _BESIDE.match(part))
    unread = {"other sheets": sheets if None not in own else 0, "pictures and remarks": beside}
    return replace(table, size=sum(sizes.values()), unread=unread)


def _common(heads: Mapping[str, Sequence[str]], named: Sequence[str]) -> list[str]:
    """The columns that all sheets of raters who are named have, where these have some of their own;
    none where they are the same, or too few for an id and a judgement.
    """
    if len(named) < _FEWEST_COLUMNS or all(heads[n] == heads[named[0]] for n in named):
        return []
    common = [c for c in heads[named[0]] if c and all(c in heads[n] for n in named)]
    return common if len(common) >= _FEWEST_COLUMNS else []


def _hold_other_items(tables: Sequence[RawTable]) -> bool:
    """Whether sheets with the same columns hold parts of one table, such as its months: a column of
    ids says other ones in each of them.
    """
    if any(table.unseen.rows or table.unseen.columns for table in tables):
        return False
    columns = [c for c in tables[0].frame.columns if c != _OF_SHEETS]
    return any(_never_shared([table.frame[c] for table in tables]) for c in columns)


def _never_shared(parts: Sequence[pl.Series]) -> bool:
    """Whether a column of names is nowhere blank, and no two parts of it have one in common."""
    held = [set(part.cast(pl.String).unique().to_list()) for part in parts]
    texts = all(part.dtype == pl.String and not part.null_count() for part in parts)
    short = texts and all(len(name) <= _LONGEST_NAME for part in held for name in part)
    return short and min(map(len, held)) > 1 and len(set().union(*held)) == sum(map(len, held))


def _stacked(
    tables: Sequence[RawTable], sheets: Sequence[str], common: Sequence[str] = ()
) -> RawTable:
    """Sheets with the same columns one below the other, each row with the name of its own; of
    sheets that differ the `common` ones alone.

    Raises
    ------
    TableError
        A sheet hides rows or columns, or holds a column that is called ``sheet``.
    """
    rest: list[str] = []
    if any(table.frame.columns != tables[0].frame.columns for table in tables):
        kept = [plain_name(c) for c in common]
        rest = list(dict.fromkeys(c for t in tables for c in t.frame.columns if c not in kept))
        tables = [replace(table, frame=table.frame.select(kept)) for table in tables]
    first = tables[0]
    for table, name in zip(tables, sheets, strict=True):
        if table.unseen.rows or table.unseen.columns:
            raise TableError(
                f"{first.name}: sheet {name!r} hides rows or columns; show them or delete them, "
                f"where several sheets are read together"
            )
    if _OF_SHEETS in first.frame.columns:
        raise TableError(
            f"{first.name}: a column is called {_OF_SHEETS!r}, as that of the sheets' names would "
            f"be; call it otherwise, where several sheets are read together"
        )
    frames = [
        table.frame.with_columns(pl.lit(name).alias(_OF_SHEETS))
        for table, name in zip(tables, sheets, strict=True)
    ]
    formulas: dict[str, list[int]] = {}
    for table in tables:
        for column, rows in table.unseen.formulas.items():
            formulas.setdefault(column, []).extend(rows)
    note = finding(
        "sheets_together",
        "note",
        first.name,
        list(sheets),
        f"{len(sheets)} sheets with the same columns were read as one table: {listed(sheets)}."
        + (f" Columns that some of them lack were not read: {listed(rest)}." if rest else ""),
        f"Column {_OF_SHEETS!r} says from which of them a row is; --sheet names one alone.",
    )
    return replace(
        first,
        frame=pl.concat(frames, how="vertical_relaxed"),
        headers={
            **{c: h for c, h in first.headers.items() if c not in rest},
            _OF_SHEETS: _OF_SHEETS,
        },
        lines=pl.concat([table.numbers() for table in tables]),
        unseen=Unseen(formulas=formulas),
        rows=sum(table.rows for table in tables),
        together=True,
    ).noted(*(one for table in tables[1:] for one in table.findings), note)


def names_of_sheets(path: Path) -> list[str]:
    """The sheets of a workbook, in its order.

    Raises
    ------
    TableError
        Not a workbook, or one that is too large.
    """
    import fastexcel  # noqa: PLC0415  # as above

    try:
        return list(_open(path).sheet_names)
    except (fastexcel.FastExcelError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from None


def _open(path: Path) -> Any:
    """The workbook, whose size is looked at before room is made for it."""
    import fastexcel  # noqa: PLC0415  # as above

    if zipfile.is_zipfile(path):
        check_size(path)
        check_opendocument(path)
    return fastexcel.read_excel(path)


def _unreadable(path: Path, error: Exception) -> TableError:
    cause = str(error).splitlines()[0]
    return TableError(f"{path.name}: cannot be read as a workbook ({cause})")


def _visible(book: Any, sheets: list[str]) -> dict[str, bool]:
    """Sheets of cells, in their order, and whether each is visible."""
    if len(sheets) < 2:
        return dict.fromkeys(sheets, True)
    return {
        name: book.load_sheet(name, header_row=None, n_rows=0).visible == "visible"
        for name in sheets
    }


def _likely_first(book: Any, visible: dict[str, bool], named: Sequence[str]) -> list[str]:
    """The sheets in the order in which one is looked for: visible ones first; of these, such as are
    called as `named` says or have it in a header, and then those of more than one column. A sheet
    of remarks before the table holds none of both.
    """
    if len(visible) < 2:
        return list(visible)
    heads = {name: _columns(book, name) for name in visible}

    def unlikely(name: str) -> tuple[bool, bool, bool]:
        holds = name in named or any(one in head for head in heads[name] for one in named)
        return not visible[name], not holds, len(heads[name]) < _FEWEST_COLUMNS

    return sorted(visible, key=unlikely)


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
    # All rows tell a column's type: by the first thousand, a text further down would become null.
    body = _load(book, sheet, skip_rows=header.below, schema_sample_rows=None)
    body, notes = _filled(file, body, header.below, scanned)
    blank = body.select(pl.all_horizontal(pl.all().is_null())).to_series()
    first = header.below + 1
    numbers = pl.int_range(first, first + body.height, eager=True).alias("row")
    if body.height == 0 or blank.all():
        return "has a header but no rows"
    columns = [_whole(column) for column in body.filter(~blank).get_columns()]
    lines = numbers.filter(~blank)
    table = build(file, header.names, columns, lines=lines, findings=(*header.findings, *notes))
    return replace(table, unseen=_unseen(header.names, scanned, lines))


def _unseen(names: list[str], scanned: Sheet, lines: pl.Series) -> Unseen:
    """What a person who looks at the sheet does not see of the table."""
    called = {at: plain_name(name) for at, name in enumerate(names, 1)}
    rows = set(lines.to_list())
    formulas: dict[str, list[int]] = {}
    for row, at in scanned.formulas:
        if row in rows and called.get(at):
            formulas.setdefault(called[at], []).append(row)
    return Unseen(
        tuple(row for row in scanned.hidden_rows if row in rows),
        tuple(called[at] for at in scanned.hidden_columns if called.get(at)),
        scanned.filtered,
        formulas,
    )


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
            # A text merged over a column of numbers is a remark, and no value of theirs.
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
    if column.dtype != pl.Float64 or not (column.abs() < EXACT).all():
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
