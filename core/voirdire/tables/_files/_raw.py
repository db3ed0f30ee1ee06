"""A file as it stands: where its header stands, trimmed names, the row numbers a person sees."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, listed
from voirdire.late import dataclass
from voirdire.tables._ids import plain_name
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Finding


#: A sheet of a spreadsheet has at most so many; more are a table that lies on its side.
MOST_COLUMNS = 16_384
#: No header, or what pandas reads one as.
_NO_NAME = re.compile(r"(?:Unnamed: \d+(?:_level_\d+)?)?")


@dataclass(frozen=True, slots=True)
class Unseen:
    """What a table holds, and a person who looks at it in its program does not see.

    Attributes
    ----------
    rows : tuple of int
        Hidden rows; `filtered` where a filter hides some.
    columns : tuple of str
        Hidden columns.
    formulas : mapping
        Column -> the rows whose formula has no value in the file, so that the cell reads as blank.
    """

    rows: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    filtered: bool = False
    formulas: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawTable:
    """Columns under trimmed names.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    headers : mapping
        Trimmed name -> the header as it stands in the file.
    lines : Series or None
        The row or line number of each record where it is not simply counted from `first`.
    unit : str
        ``"row"`` or ``"line"``: what those numbers count.
    decimal_comma : bool
        Whether "3,5" may be a number (fields are not separated by commas).
    sheets : tuple of str
        The sheet that was read where none was named, then visible ones with the same columns.
    rows : int
        Rows below the header of the file, whatever was left out since.
    each : int
        So many rows were made of each of them, where a row held the answers of one respondent.
    nested : frozenset of str
        Columns of a JSON file whose cells hold objects, and stand here as texts.
    unseen : Unseen
        Of a workbook: what is hidden, and formulas without values.
    turned : str
        The column that numbered the turns of conversations and stands in the ids of items now.
    together : bool
        Whether the rows are those of several sheets.
    head : int
        The line on which the header of a text begins, where it is not the first.
    size : int
        Bytes of the file; of a workbook those of its unpacked parts.
    unread : mapping of str to int
        Parts of the file that hold no row of the table, and their bytes.
    """

    name: str
    frame: pl.DataFrame
    headers: dict[str, str]
    first: int = 2
    lines: pl.Series | None = None
    unit: str = "row"
    decimal_comma: bool = False
    findings: tuple[Finding, ...] = ()
    sheets: tuple[str, ...] = ()
    rows: int = 0
    each: int = 1
    nested: frozenset[str] = frozenset()
    unseen: Unseen = field(default_factory=Unseen)
    turned: str = ""
    together: bool = False
    head: int = 1
    size: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)

    def place(self, index: int) -> str:
        """Where the record of that index stands."""
        number = self.first + index if self.lines is None else self.lines[index]
        return f"{self.unit} {number}"

    def noted(self, *notes: Finding) -> RawTable:
        """The table with further findings."""
        return replace(self, findings=(*self.findings, *notes))

    def filled(self, column: str) -> bool:
        """Whether no cell of a column is blank, and they differ."""
        cells = self.frame[column]
        return cells.null_count() == 0 and cells.n_unique() > 1

    def numbers(self) -> pl.Series:
        """The row or line number of every record."""
        if self.lines is not None:
            return self.lines.cast(pl.Int64).alias("row")
        return pl.int_range(self.first, self.first + self.frame.height, eager=True).alias("row")


def trimmed(name: str, originals: Sequence[str]) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """Trimmed header -> original, and a finding on those that were trimmed.

    Raises
    ------
    TableError
        Two headers are equal after trimming.
    """
    headers: dict[str, str] = {}
    for original in originals:
        clean = plain_name(original)
        if clean in headers:
            same = headers[clean] == original
            raise TableError(
                f"{name}: two columns are called {original!r}"
                if same
                else f"{name}: two columns are equal after trimming: {headers[clean]!r} and "
                f"{original!r}"
            )
        headers[clean] = original
    changed = [original for clean, original in headers.items() if clean != original]
    if not changed:
        return headers, ()
    note = finding(
        "headers_trimmed",
        "note",
        name,
        [repr(original) for original in changed],
        f"{len(changed)} of {plural(len(headers), 'header')} begin or end with a blank, "
        "or hold an unusual one.",
        "They are matched without it; nothing is lost.",
    )
    return headers, (note,)


def build(
    name: str,
    originals: Sequence[str],
    columns: Sequence[pl.Series],
    *,
    first: int = 2,
    lines: pl.Series | None = None,
    unit: str = "row",
    decimal_comma: bool = False,
    findings: tuple[Finding, ...] = (),
) -> RawTable:
    """A RawTable from columns in file order; a column without a header is left out.

    Raises
    ------
    TableError
        Two headers are equal after trimming, or none is left.
    """
    columns, lines, first, imported = _without_import_ids(name, columns, lines, first)
    findings = (*findings, *imported)
    named = [not _NO_NAME.fullmatch(original.strip()) for original in originals]
    # Index columns without a header are common; what they hold is said, in case it is ratings.
    lost = [
        at
        for at, (keep, column) in enumerate(zip(named, columns, strict=True), start=1)
        if not keep and column.null_count() < len(column)
    ]
    kept = [
        pair for keep, pair in zip(named, zip(originals, columns, strict=True), strict=True) if keep
    ]
    if not kept:
        raise TableError(f"{name}: no column has a header")
    if len(kept) > MOST_COLUMNS:
        raise TableError(
            f"{name}: has {len(kept):,} columns, and at most {MOST_COLUMNS:,} are read; is it laid "
            f"out with a column an item? Then turn it round, or write a row a rating"
        )
    headers, notes = trimmed(name, [original for original, _ in kept])
    if lost:
        notes = (*notes, _unnamed(name, lost, [columns[at - 1] for at in lost]))
    frame = pl.DataFrame(
        [column.alias(clean) for clean, (_, column) in zip(headers, kept, strict=True)]
    )
    return RawTable(
        name,
        frame,
        headers,
        first,
        lines,
        unit,
        decimal_comma,
        (*notes, *findings),
        rows=frame.height,
    )


def _without_import_ids(
    name: str, columns: Sequence[pl.Series], lines: pl.Series | None, first: int
) -> tuple[Sequence[pl.Series], pl.Series | None, int, tuple[Finding, ...]]:
    """Columns without the two further header rows of Qualtrics: question texts, and import ids."""
    texts = [column for column in columns if column.dtype == pl.String]
    # The ids stand in the first or second row, by whether texts of questions were exported as well.
    begins = [cell.lstrip() for text in texts for cell in text.head(2) if cell is not None]
    if not any(cell.startswith('{"ImportId"') for cell in begins):
        return columns, lines, first, ()
    at = next(
        at for at in (0, 1) if any('{"ImportId"' in (t[at] or "") for t in texts if len(t) > at)
    )
    note = finding(
        "rows_of_questions",
        "note",
        name,
        [],
        f"{plural(at + 1, 'row')} below the header with question texts and import ids.",
        "Left out: Qualtrics writes them.",
        count=at + 1,
    )
    rest = [column.slice(at + 1) for column in columns]
    if not rest[0].len():
        raise TableError(f"{name}: there is a header but no rows")
    return rest, None if lines is None else lines.slice(at + 1), first + at + 1, (note,)


def _unnamed(name: str, at: list[int], columns: Sequence[pl.Series]) -> Finding:
    counted = all(_counts_rows(column) for column in columns)
    return finding(
        "unnamed_columns",
        "note" if counted else "serious",
        name,
        [f"column {number}" for number in at],
        f"{plural(len(at), 'column')} with values but without a header: {listed(at)}.",
        "Left out: the row numbers that a program wrote."
        if counted
        else "Left out: give them a header if they hold ratings.",
    )


def _counts_rows(column: pl.Series) -> bool:
    """Whether a column counts on by one from row to row."""
    # Its first number does not matter: pandas counts from 0, R from 1, and a part of a table from
    # anywhere.
    numbers = column.cast(pl.Float64, strict=False)
    return numbers.null_count() == 0 and bool((numbers.diff().drop_nulls() == 1).all())


#: How many rows are searched for the header: titles, logos and remarks of a survey tool fit in it.
HEAD = 50


@dataclass(frozen=True, slots=True)
class Header:
    """The columns' names, and the rows `top` to before `below` in which they stand."""

    names: list[str]
    top: int
    below: int
    findings: tuple[Finding, ...]


def find_header(file: str, written: Sequence[Sequence[str]]) -> Header | None:
    """The first row with more than one cell filled, and the one below it where both name columns.

    A second row belongs to the header where a name above stands over several columns (repeated,
    or once before blanks, as merged cells are) that only the row below tells apart.

    Parameters
    ----------
    written : sequence of sequences of str
        The first rows, equally long, "" where a cell is blank.

    Examples
    --------
    >>> rows = [["item", "human", ""], ["", "Calm", "Warm"], ["1", "4", "5"]]
    >>> header = find_header("ratings.csv", rows)
    >>> header.names, header.below
    (['item', 'human_Calm', 'human_Warm'], 2)
    """
    rows = [[cell.strip() for cell in row] for row in written]
    filled = [index for index, row in enumerate(rows) if any(row)]
    if not filled:
        return None
    top = next((index for index in filled if sum(map(bool, rows[index])) > 1), filled[0])
    notes = above_header(file, [rows[index] for index in filled if index < top])
    after = [index for index in filled if index > top]
    names = _joined(rows[top], [rows[index] for index in after]) if after else []
    if not names:
        return Header(list(written[top]), top, top + 1, notes)
    below = after[0] + 1
    if not names[0] and len(after) > 1 and not any(rows[after[1]][1:]):
        names[0], below = rows[after[1]][0], after[1] + 1  # pandas: the name of its index
    return Header(names, top, below, (*notes, _two_rows(file, names)))


def _joined(upper: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Names from two rows, or none where the second row is one of data."""
    lower, body = rows[0], rows[1:]
    spread, label = [], ""
    # A merged cell stands in the first of its columns; where the row below is blank, it has ended.
    for above, name in zip(upper, lower, strict=True):
        label = above or (label if name else "")
        spread.append(label)
    under = [at for at, name in enumerate(lower) if name and spread[at]]
    often = Counter(spread[at] for at in under)
    group = [at for at in under if often[spread[at]] > 1]
    # Numbers below, and none in the second row: else that row is one of data.
    scored = any(is_number(row[at]) for row in body for at in group)
    if not scored or any(map(is_number, lower)):
        return []
    joined = [f"{spread[at]}_{lower[at]}" for at in group]
    if len(set(joined)) < len(joined):
        return []
    names = [above or name for above, name in zip(upper, lower, strict=True)]
    for at, name in zip(group, joined, strict=True):
        names[at] = name
    return names


def is_number(cell: str) -> bool:
    """Whether a cell of text holds a number, a decimal comma in it or not."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def above_header(file: str, rows: Sequence[Sequence[str]]) -> tuple[Finding, ...]:
    """A note on rows above the header, each with the cells that hold something."""
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


def _two_rows(file: str, names: list[str]) -> Finding:
    return finding(
        "header_joined",
        "note",
        file,
        names,
        f"The header has two rows, which were joined: {listed([name for name in names if name])}.",
        "Each column is called by what stands above it and by its own name.",
        count=1,
    )
