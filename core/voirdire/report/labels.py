"""Predicted labels beside chance, as tables, files and a figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._shown import visible
from voirdire.report._outputs import check_formats
from voirdire.report._plain import number, plain, span
from voirdire.report._tables import Table
from voirdire.stats._intervals import FEW_UNITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl
    from rich.console import Console

FORMATS = ("md", "tex", "csv", "parquet", "json")
_NAME = "labels"
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


def labels_table(found: pl.DataFrame, level: float = 0.95) -> Table:
    """The table of results beside chance."""
    return Table(
        _NAME,
        "Labels beside chance",
        _CAPTION.format(level=f"{100 * level:g}%"),
        (
            "Configuration", "Labels", "Task", "n", "Missing", "F1", "F1, interval", "Chance",
            "Chance, simulated", "Constant", "Kappa", "Kappa, interval", "Kappa, constant",
        ),
        tuple(tuple(_cells(row)) for row in found.iter_rows(named=True)),
        numeric=10,
    )  # fmt: skip


def _cells(row: dict[str, Any]) -> Iterator[str]:
    yield from (row["configuration"], row["labels"] or "–", row["task"])
    yield number(row["n"])
    yield number(row["missing"])
    yield _with_sd(row["f1"], row["f1_sd"])
    yield _span(row, "f1")
    yield number(row["f1_random"]) + ("*" if row["baseline"] == "printed" else "")
    yield _with_sd(row["f1_simulated"], row["f1_simulated_sd"])
    yield number(row["f1_constant"])
    yield number(row["kappa"])
    yield _span(row, "kappa")
    yield number(row["kappa_constant"])


def _with_sd(value: float | None, sd: float | None) -> str:
    return number(value) if sd is None or value is None else f"{number(value)} ± {number(sd)}"


def _span(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if low is None or high is None:
        return "–"
    return span(low, high) + ("†" if row["n"] < FEW_UNITS else "")


def write_labels(
    found: pl.DataFrame,
    folder: str | Path,
    *,
    formats: Iterable[str] = FORMATS,
    figures: bool = True,
    level: float = 0.95,
) -> tuple[Path, ...]:
    """Write results beside chance into a folder, which is made where there is none.

    Raises
    ------
    InputError
        An unknown format.
    """
    asked = tuple(dict.fromkeys(formats))
    check_formats(asked, FORMATS)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = [_write(found, folder / f"{_NAME}.{name}", level) for name in asked]
    if figures:
        from voirdire.report.figures._labels import draw  # noqa: PLC0415 - loads matplotlib

        written += draw(found, level).save(folder)
    return tuple(written)


def _write(found: pl.DataFrame, path: Path, level: float) -> Path:
    from voirdire.report._latex import latex_table  # noqa: PLC0415 - only where asked for
    from voirdire.report._markdown import markdown_table  # noqa: PLC0415

    table = labels_table(found, level)
    match path.suffix:
        case ".csv":
            found.write_csv(path)
        case ".parquet":
            found.write_parquet(path)
        case ".json":
            text = json.dumps(plain(found.to_dicts()), indent=2, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
        case ".md":
            path.write_text(markdown_table(table) + "\n", encoding="utf-8")
        case _:
            path.write_text(latex_table(table) + "\n", encoding="utf-8")
    return path


def print_labels(
    found: pl.DataFrame, folder: Path | None = None, console: Console | None = None
) -> None:
    """Print the table, as many columns as the window bears."""
    from rich.console import Console  # noqa: PLC0415 - slow to import
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = console or Console(highlight=False)
    table = labels_table(found)
    wide = console.width >= 130
    gaps = any(found["missing"].drop_nulls())
    few = (0, 1, 2, *((4,) if gaps else ()), 5, 7, 10, 11)
    kept = range(len(table.columns)) if wide else few
    shown = RichTable(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for at in kept:
        shown.add_column(table.columns[at], justify="right" if table.is_numeric(at) else "left")
    for row in table.rows:
        shown.add_row(*(Text(visible(row[at])) for at in kept))
    console.print(shown)
    shown_text = "".join(cell for row in table.rows for cell in row)
    for sign, meaning in _SIGNS.items():
        if sign in shown_text:
            console.print(f"{sign} {meaning}")
    if folder is not None:
        console.print(f"Written to {folder}", markup=False)
