"""A file as it stands: trimmed headers, the original ones, and the row numbers a person sees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, listed
from voirdire.tables._ids import plain_name
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding


#: No header, or what pandas reads one as.
_NO_NAME = re.compile(r"(?:Unnamed: \d+(?:_level_\d+)?)?")


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

    def place(self, index: int) -> str:
        """Where the record of that index stands."""
        number = self.first + index if self.lines is None else self.lines[index]
        return f"{self.unit} {number}"

    def numbers(self) -> pl.Series:
        """The row or line number of every record."""
        if self.lines is not None:
            return self.lines.cast(pl.Int64).alias("row")
        return pl.int_range(self.first, self.first + self.frame.height, eager=True).alias("row")


def trimmed(name: str, originals: Sequence[str]) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """Trimmed header -> original, and a finding on those mended.

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
    mended = [original for clean, original in headers.items() if clean != original]
    if not mended:
        return headers, ()
    note = finding(
        "headers_mended",
        "note",
        name,
        [repr(original) for original in mended],
        f"{len(mended)} of {plural(len(headers), 'header')} begin or end with a blank, "
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
    """A RawTable from columns in file order; a column without a header is left out, aloud.

    Raises
    ------
    TableError
        Two headers are equal after trimming, or none is left.
    """
    columns, lines, first, imported = _without_import_ids(name, columns, lines, first)
    findings = (*findings, *imported)
    named = [not _NO_NAME.fullmatch(original.strip()) for original in originals]
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
    headers, notes = trimmed(name, [original for original, _ in kept])
    if lost:
        notes = (*notes, _unnamed(name, lost, [columns[at - 1] for at in lost]))
    frame = pl.DataFrame(
        [column.alias(clean) for clean, (_, column) in zip(headers, kept, strict=True)]
    )
    return RawTable(name, frame, headers, first, lines, unit, decimal_comma, (*notes, *findings))


def _without_import_ids(
    name: str, columns: Sequence[pl.Series], lines: pl.Series | None, first: int
) -> tuple[Sequence[pl.Series], pl.Series | None, int, tuple[Finding, ...]]:
    """Columns without the two further header rows of Qualtrics: question texts, and import ids."""
    texts = [column for column in columns if column.dtype == pl.String]
    begins = pl.concat([text.head(2) for text in texts]).drop_nulls() if texts else None
    if begins is None or not begins.str.contains(r'^\s*\{"ImportId"').any():
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
    numbers = column.cast(pl.Float64, strict=False)
    return numbers.null_count() == 0 and bool((numbers.diff().drop_nulls() == 1).all())
