"""`voirdire labels`: predictions side by side across data sets, beside what chance scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli.machine import COLLECTED, emit, sections_answer
from voirdire.cli.options import LevelOption, formats_of
from voirdire.cli.showing import plain_tables

EPILOG = """
Examples:

  voirdire labels predictions/ --out out

  voirdire labels predictions.parquet published.csv --out out

A table of predictions has the columns item, truth, predicted, and, where there are several,
configuration, labels, task, seed. A table of published results has f1 beside f1_random, shares
(one per class, separated by semicolons, with n) or support.

Several labels of one item are written in one cell, separated by semicolons, or as a list.
--separator names another separator. Where a cell may hold several labels, you are asked.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("labels", epilog=EPILOG)(labels)


def labels(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Tables of predictions or of published results, or folders with predictions.",
            metavar="SOURCE",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The folder for the table and the figure.", show_default=False
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", help="The number of simulated random predictors.", min=1)
    ] = 1000,
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples", help="The number of bootstrap resamples over test items.", min=0
        ),
    ] = 1000,
    level: LevelOption = 0.95,
    seed: Annotated[
        int, typer.Option("--seed", help="The seed of everything that is drawn at random.", min=0)
    ] = 0,
    separator: Annotated[
        str | None,
        typer.Option(
            "--separator",
            help="The character between several labels in one cell.",
            show_default="a semicolon",
        ),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The formats to write, separated by commas: md, tex, "
            "csv, parquet, json. [dim]\\[default: all but parquet][/dim]",
            show_default=False,
        ),
    ] = None,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Leave out the figure.")] = False,
) -> None:
    """Score predicted labels: F1, kappa_F1, and the F1 of chance and of the best constant.

    Where there are several label sets or tasks, they are shown side by side as matrices, and the
    label sets of one configuration are tested against one another on the same items.
    """
    from voirdire.examining.labels import (
        differences_section,
        label_matrices,
        label_set_differences,
        labels_beside_chance,
        read_results,
    )
    from voirdire.report.labels import FORMATS, labels_section, print_labels, write_labels

    asked = formats_of(formats, out, FORMATS, ("md", "tex", "csv", "json"))
    sign = None if separator is None else separator.replace("\\t", "\t").replace("\\n", "\n")
    results = read_results(sources, separator=sign)
    options: Any = {"resamples": resamples, "level": level, "seed": seed}
    scores = labels_beside_chance(results, draws=draws, **options)
    tests = differences_section(label_set_differences(results, **options), level)
    more = (*label_matrices(scores), *([tests] if tests.has_rows else []))
    if out is not None:
        write_labels(scores, out, formats=asked, figures=not no_figures, level=level, more=more)
    if COLLECTED.get() is not None:
        shown = (labels_section(scores, level), *more)
        answer = sections_answer(shown[0].title, shown)
        emit(answer, {"scores": scores.to_dicts(), "tables": plain_tables(shown)})
        return
    print_labels(scores, out, more=more)
