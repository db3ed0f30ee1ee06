"""Predicted labels beside chance, as tables, files and a figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import check_allowed
from voirdire.files import write_csv
from voirdire.report.figures.style import (
    HOLLOW,
    LEGEND_ROW,
    MUTED,
    RULE,
    colour_of,
    finish,
    label_width,
    legend_columns,
    legend_name,
    margins,
    marker_of,
    new_figure,
    shorten,
    styled,
)
from voirdire.report.printing import print_fitted, print_section
from voirdire.report.sections import write_sections
from voirdire.shown import terminal, visible
from voirdire.stats.intervals import FEW_UNITS
from voirdire.tabular import MISSING, Marked, Section, Spread, Table, count, interval, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl
    from rich.console import Console

    from voirdire.report.figures.style import Drawing
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
    check_allowed("format", asked, FORMATS)
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
        written += _draw(frame, level).save(folder)
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
    printed = "".join(cell for row in shown.written() for cell in row)
    for sign, meaning in _SIGNS.items():
        if sign in printed:
            console.print(f"{sign} {meaning}")
    for section in more:
        console.print()
        print_section(section, console)
    if folder is not None:
        console.print(f"Written to {visible(folder)}")


#: Inches that a marker takes in the figure.
_ROW_HEIGHT = 0.19


def _draw(frame: pl.DataFrame, level: float) -> Drawing:
    """One row a configuration and task, one marker a label set."""
    rows = list(dict.fromkeys(frame.select("task", "configuration").sort("task").iter_rows()))
    sets = frame["labels"].unique(maintain_order=True).to_list()
    labels = [f"{shorten(name, 30)}, {task}" for task, name in rows]
    with styled():
        columns = legend_columns(list(map(legend_name, sets)))
        top = 0.18 + LEGEND_ROW * math.ceil(len(sets) / columns)
        figure = new_figure(0.5 + top + _ROW_HEIGHT * max(len(sets), 1.6) * len(rows))
        axes = figure.subplots()
        margins(figure, left=label_width(labels), top=top, bottom=0.45)
        axes.axvline(0, color=MUTED, lw=0.9, ls=(0, (4, 2)))
        for at, row in enumerate(rows):
            axes.axhline(at, color=RULE, lw=0.5, zorder=0)
            _draw_row(axes, frame, row, at, sets)
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("kappa_F1")
        axes.spines["left"].set_visible(False)
        if any(sets):
            handles = [_handle(axes, at, name) for at, name in enumerate(sets)]
            axes.legend(
                handles=handles,
                loc="lower left",
                bbox_to_anchor=(0, 1.0),
                ncols=columns,
                borderaxespad=0.3,
            )
    return finish(
        figure,
        "labels",
        "Results on different data, side by side",
        "0 is what chance scores on the same class shares, 1 is perfect. Lines are "
        f"{100 * level:g}% intervals over test items; a hollow marker is a printed result without "
        "items.",
    )


def _draw_row(
    axes: Any, frame: pl.DataFrame, row: tuple[str, str], at: int, sets: list[str]
) -> None:
    import polars as pl  # noqa: PLC0415 - the frame is there already

    own = frame.filter((pl.col("task") == row[0]) & (pl.col("configuration") == row[1]))
    for cell in own.iter_rows(named=True):
        if cell["kappa"] is None:
            continue
        place = sets.index(cell["labels"])
        y = at + (place - (len(sets) - 1) / 2) * 0.6 / max(len(sets), 1)
        colour, has_interval = colour_of(place), cell["kappa_low"] is not None
        if has_interval:
            axes.hlines(y, cell["kappa_low"], cell["kappa_high"], color=colour, lw=1.3)
        axes.plot(
            cell["kappa"],
            y,
            marker_of(place),
            color=colour,
            ms=4.2,
            mfc=colour if has_interval else HOLLOW,
        )


def _handle(axes: Any, at: int, name: str) -> Any:
    return axes.plot(
        [], [], marker_of(at), color=colour_of(at), ms=4.2, label=legend_name(name) or MISSING
    )[0]
