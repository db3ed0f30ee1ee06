"""Workbooks that keep what they are given: text stays text, and what a cell cannot hold is said."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import TableError, listed
from voirdire.lazy import require
from voirdire.tables._tables import EXACT, finding, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from voirdire.schema import Finding

#: What a cell holds at most, in UTF-16 units as Excel counts.
_CELL_LIMIT = 32_767
_ROWS, _COLUMNS = 1_048_576, 16_384
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SHEET_NAME = re.compile(r"[\[\]:*?/\\]")


@dataclass(slots=True)
class _Losses:
    """What cells of one sheet could not hold."""

    cut: list[str] = field(default_factory=list)
    cleaned: list[str] = field(default_factory=list)
    removed: int = 0


def write_xlsx(path: str | Path, sheets: Mapping[str, pl.DataFrame]) -> tuple[Finding, ...]:
    """Write frames as a workbook, one sheet each.

    Text is written as text, also where it begins with "=" or looks like a link or a number; whole
    numbers over 2**53 are written as text so that no digit is lost; null and NaN are empty cells.

    Parameters
    ----------
    path : str or Path
        The workbook; it is overwritten.
    sheets : mapping
        Sheet name -> frame.

    Returns
    -------
    tuple of Finding
        ``cells_cut`` (text over 32,767 characters) and ``control_characters`` (removed: a workbook
        cannot hold them). Where there is one, the sheet also stands in full beside the workbook,
        as ``<workbook>.<sheet>.jsonl``.

    Raises
    ------
    TableError
        No sheet, a sheet name that Excel does not take, too many rows or columns, or a path that
        cannot be written.
    MissingExtraError
        The package xlsxwriter is not installed.
    """
    path = Path(path)
    _check(path, sheets)
    xlsxwriter = require("xlsxwriter", "writing workbooks", "excel")
    book = xlsxwriter.Workbook(str(path))
    losses = {name: _write_sheet(book.add_worksheet(name), frame) for name, frame in sheets.items()}
    try:
        book.close()
        return tuple(
            note for name, loss in losses.items() for note in _said(path, name, sheets[name], loss)
        )
    except (OSError, xlsxwriter.exceptions.FileCreateError) as error:
        raise TableError(f"{path}: cannot be written ({error})") from None


def write_jsonl(path: str | Path, frame: pl.DataFrame) -> None:
    """One JSON object a row, in full; NaN is null."""
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        for row in frame.iter_rows(named=True):
            plain = {key: _finite(value) for key, value in row.items()}
            file.write(json.dumps(plain, ensure_ascii=False, default=str) + "\n")


def _check(path: Path, sheets: Mapping[str, pl.DataFrame]) -> None:
    if not sheets:
        raise TableError(f"{path}: there is no sheet to write")
    for name, frame in sheets.items():
        if not name or len(name) > 31 or _SHEET_NAME.search(name) or name.strip("'") != name:
            raise TableError(
                f"{path}: {name!r} is no sheet name (1 to 31 characters, none of []:*?/\\, no "
                f"apostrophe at either end)"
            )
        if frame.height >= _ROWS or frame.width > _COLUMNS:
            raise TableError(
                f"{path}: sheet {name!r} has {frame.height:,} rows and {frame.width:,} columns; a "
                f"sheet holds {_ROWS - 1:,} and {_COLUMNS:,}: write Parquet or CSV"
            )
    # Excel takes two such names for one, and calls the file damaged.
    folded = [name.casefold() for name in sheets]
    if len(set(folded)) < len(folded):
        raise TableError(f"{path}: sheet names differ only by case: {listed(list(sheets))}")


def _write_sheet(sheet: Any, frame: pl.DataFrame) -> _Losses:
    losses = _Losses()
    for at, name in enumerate(frame.columns):
        sheet.write_string(0, at, _fit(name, f"header {at + 1}", losses))
    for row, values in enumerate(frame.iter_rows(), start=1):
        for at, value in enumerate(values):
            _write_cell(sheet, row, at, value, losses, frame.columns[at])
    return losses


def _write_cell(sheet: Any, row: int, at: int, value: Any, losses: _Losses, column: str) -> None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, at, value)
    elif isinstance(value, int | float) and math.isfinite(value) and abs(value) <= EXACT:
        sheet.write_number(row, at, value)
    else:
        sheet.write_string(row, at, _fit(_as_text(value), f"row {row + 1}, {column}", losses))


def _as_text(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _fit(text: str, place: str, losses: _Losses) -> str:
    """What a cell can hold of a text; what it cannot is noted."""
    text, removed = _CONTROL.subn("", text)
    if removed:
        losses.removed += removed
        losses.cleaned.append(place)
    fitted = fit_cell(text)
    if len(fitted) < len(text):
        losses.cut.append(place)
    return fitted


def fit_cell(text: str) -> str:
    """As much of a text as a cell of a workbook holds: 32,767 UTF-16 units, no half of a letter.

    >>> len(fit_cell("a" * 40_000)), len(fit_cell("\N{GRINNING FACE}" * 40_000))
    (32767, 16383)
    """
    units = text.encode("utf-16-le")[: 2 * _CELL_LIMIT]
    return units.decode("utf-16-le", errors="ignore")


def _said(path: Path, name: str, frame: pl.DataFrame, losses: _Losses) -> list[Finding]:
    if not losses.cut and not losses.cleaned:
        return []
    # Beside the workbook, so that what a cell could not hold is lost to nobody.
    record = path.with_name(f"{path.stem}.{name}.jsonl")
    write_jsonl(record, frame)
    kept = f"The sheet stands in full in {record.name}."
    notes = []
    if losses.cut:
        message = f"{plural(len(losses.cut), 'text')} over the cell limit of {_CELL_LIMIT:,} cut."
        notes.append(finding("cells_cut", "serious", path.name, losses.cut, message, kept))
    if losses.cleaned:
        message = f"{plural(losses.removed, 'control character')} removed."
        places = losses.cleaned
        notes.append(
            finding(
                "control_characters", "note", path.name, places, message, kept, count=losses.removed
            )
        )
    return notes


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
