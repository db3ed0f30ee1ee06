"""Predicted labels beside chance, as tables, files and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.files import write_csv
from voirdire.report._fitted import print_fitted
from voirdire.report._outputs import check_formats
from voirdire.report.sections import print_section, write_sections
from voirdire.shown import terminal, visible
from voirdire.stats._intervals import FEW_UNITS
from voirdire.tabular import Marked, Section, Spread, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl
    from rich.console import Console

    from voirdire.tabular import Cell

FORMATS = ("md", "tex", "csv", "parquet", "json")
_NAME = "labels"
#: Columns that a window shows all of.
_WIDE = 130
_SIGNS = {
    "*": "as printed in the source",
    "†": "fewer than 20 test items: the interval covers too seldom",
}
_CAPTION = (
    "F1 is weighted by class support, the mean over seeds (with its standard deviation). Missing "
    "predictions, of all seeds, are in no F1 and may flatter it. Chance is "
    "the weighted F1 of a predictor that knows only how common each class is: its closed form (or "
    "as printed), and the mean and deviation of simulated predictors. Constant is the best "
    "predictor that says the same of every item. Kappa is kappa_F1, (F1 − chance) / (1 − chance). "
    "Intervals are {level} percentile bootstrap over test items; the baseline moves with the "
    "resample. "
    "* as printed in the source; † fewer than 20 test items: the interval covers too seldom."
)


_COLUMNS = (
    text("Configuration"),
    text("Labels"),
    text("Task"),
    count("n"),
    count("Missing"),
    number("F1"),
    interval("F1, interval"),
    number("Chance"),
    number("Chance, simulated"),
    number("Constant"),
    number("Kappa"),
    interval("Kappa, interval"),
    number("Kappa, constant"),
)


def labels_section(frame: pl.DataFrame, level: float = 0.95) -> Section:
    """The table of results beside chance."""
    rows = tuple(_cells(row) for row in frame.iter_rows(named=True))
    caption = _CAPTION.format(level=f"{100 * level:g}%")
    return Section("Labels beside chance", caption, (Table(_COLUMNS, rows),))


def _cells(row: dict[str, Any]) -> tuple[Cell, ...]:
    chance = row["f1_random"]
    return (
        row["configuration"],
        row["labels"] or None,
        row["task"],
        row["n"],
        row["missing"],
        Spread(row["f1"], row["f1_sd"]),
        _interval(row, "f1"),
        Marked(chance, "*") if row["baseline"] == "printed" else chance,
        Spread(row["f1_simulated"], row["f1_simulated_sd"]),
        row["f1_constant"],
        row["kappa"],
        _interval(row, "kappa"),
        row["kappa_constant"],
    )


def _interval(row: dict[str, Any], name: str) -> Cell:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or high is None:
        return None
    return Marked((low, high), "†") if row["n"] < FEW_UNITS else (low, high)


def write_labels(
    frame: pl.DataFrame,
    folder: str | Path,
    *,
    formats: Iterable[str] = FORMATS,
    figures: bool = True,
    level: float = 0.95,
    more: Sequence[Section] = (),
) -> tuple[Path, ...]:
    """Write results beside chance into a folder, which is made where there is none.

    `more` are sections that follow the table: matrices, tests of label sets.

    Raises
    ------
    InputError
        An unknown format.
    """
    asked = tuple(dict.fromkeys(formats))
    check_formats(asked, FORMATS)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    section, record = labels_section(frame, level), frame.to_dicts()
    forms = [form for form in asked if form in ("md", "tex", "json")]
    written = [
        *write_sections(
            section.title, [section, *more], folder, _NAME, formats=forms, record=record
        )
    ]
    if "csv" in asked:
        write_csv(folder / f"{_NAME}.csv", frame)
        written.append(folder / f"{_NAME}.csv")
    if "parquet" in asked:
        frame.write_parquet(folder / f"{_NAME}.parquet")
        written.append(folder / f"{_NAME}.parquet")
    if figures:
        from voirdire.report.figures._labels import draw  # noqa: PLC0415 - loads matplotlib

        written += draw(frame, level).save(folder)
    return tuple(written)


def print_labels(
    frame: pl.DataFrame,
    folder: Path | None = None,
    console: Console | None = None,
    *,
    more: Sequence[Section] = (),
) -> None:
    """Print the table, as many columns as the window bears, and the sections that follow it."""
    console = console or terminal()
    table = labels_section(frame).table
    gaps = any(frame["missing"].drop_nulls())
    few = (0, 1, 2, *((4,) if gaps else ()), 5, 7, 10, 11)
    kept = range(len(table.columns)) if console.width >= _WIDE else few
    columns = tuple(table.columns[at] for at in kept)
    shown = Table(columns, tuple(tuple(row[at] for at in kept) for row in table.rows))
    print_fitted(console, shown)
    said = "".join(cell for row in shown.written() for cell in row)
    for sign, meaning in _SIGNS.items():
        if sign in said:
            console.print(f"{sign} {meaning}")
    for section in more:
        console.print()
        print_section(section, console)
    if folder is not None:
        console.print(f"Written to {visible(folder)}")
