"""Rows below a table that sum it up, known by their numbers whatever they are called, and notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import listed
from voirdire.tables._numbers import to_scores
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from voirdire.tables._files import RawTable

#: So many rows at the end are looked at: a mean, a deviation, a count and a blank.
_LAST = 4
#: A mean is written with two digits behind the point, or more.
_ROUNDED = 0.0051
_FEWEST = 2
#: Notes stand below a table of so many columns or more, and are so many at most.
_FEWEST_CELLS, _MOST_NOTES = 3, 20


def without_means_below(raw: RawTable) -> RawTable:
    """The table without rows at its end that leave a column empty which no row above does, and
    hold the mean or the sum of what stands above in each of two columns of numbers.

    Rows below such a row, and blank ones above it, go with it.
    """
    frame = raw.frame
    height = frame.height
    if height <= 2 * _LAST or not _has_gaps(frame):
        return raw
    for cut in range(height - _LAST, height):
        above, row = frame.head(cut), frame.slice(cut, 1)
        if not _leaves_out(above, row):
            continue
        if _sums_up(raw, above, row):
            return _without(raw, cut)
    return raw


def without_notes_below(raw: RawTable) -> RawTable:
    """The table without rows at its end that stand apart from it, below a blank one, and hold one
    cell each: a legend, or who made the file.
    """
    frame = raw.frame
    if raw.lines is None or frame.width < _FEWEST_CELLS or frame.height < 2:
        return raw
    apart = (raw.lines.cast(pl.Int64).tail(_MOST_NOTES + 1).diff() > 1).fill_null(value=False)
    for at in apart.arg_true().to_list():
        cut = max(frame.height - _MOST_NOTES - 1, 0) + int(at)
        filled = frame.slice(cut).select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
        if not 0 < cut < frame.height or bool((filled != 1).any()):
            continue
        texts = [
            str(cell) for row in frame.slice(cut).iter_rows() for cell in row if cell is not None
        ]
        note = finding(
            "notes_below",
            "note",
            raw.name,
            texts,
            f"{plural(len(filled), 'row')} with one cell below the table: {listed(texts)}.",
            "Taken for notes and left out.",
            count=len(filled),
        )
        return replace(raw, frame=frame.head(cut), lines=raw.lines.head(cut)).noted(note)
    return raw


def _has_gaps(frame: pl.DataFrame) -> bool:
    last = frame.tail(_LAST)
    return any(last[c].null_count() and not frame.head(_LAST)[c].null_count() for c in last.columns)


def _leaves_out(above: pl.DataFrame, row: pl.DataFrame) -> bool:
    gaps = [c for c in row.columns if row[c].null_count()]
    return any(not above[c].null_count() for c in gaps)


def _sums_up(raw: RawTable, above: pl.DataFrame, row: pl.DataFrame) -> bool:
    met = others = 0
    for column in row.columns:
        if row[column].null_count():
            continue
        cell = to_scores(row[column], decimal_comma=raw.decimal_comma).values
        numbers = to_scores(above[column], decimal_comma=raw.decimal_comma).values.drop_nulls()
        if cell.null_count() or 2 * len(numbers) < len(above) or numbers.n_unique() < _FEWEST:
            continue
        mean, total = float(numbers.mean() or 0), float(numbers.sum())  # type: ignore[arg-type]
        fits = min(abs(cell[0] - mean), abs(cell[0] - total)) < _ROUNDED
        met, others = met + fits, others + (not fits)
    return met >= _FEWEST and met > others


def _without(raw: RawTable, cut: int) -> RawTable:
    gone = raw.numbers().slice(cut)
    note = finding(
        "summary_rows",
        "serious",
        raw.name,
        [f"{raw.unit} {row}" for row in gone],
        f"{plural(len(gone), 'row')} at the end: they hold the means or sums of the rows above.",
        "They are left out.",
        count=len(gone),
    )
    lines = None if raw.lines is None else raw.lines.head(cut)
    return replace(raw, frame=raw.frame.head(cut), lines=lines).noted(note)
