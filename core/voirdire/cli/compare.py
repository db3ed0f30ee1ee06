"""`voirdire compare`: classifiers side by side across data sets, by kappa_F1."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli._formats import formats_of

EPILOG = """
Examples:

  voirdire compare predictions/ --out out

  voirdire compare predictions.parquet published.csv --out out

A table of predictions has the columns item, truth, predicted, and, where there are several,
configuration, labels, task, seed. A table of published results has f1 beside f1_random, shares
(one a class, separated by semicolons; with n) or support.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", epilog=EPILOG)(compare)


def compare(
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
        typer.Option("--out", "-o", help="Folder for table and figure.", show_default=False),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", help="Simulated random predictors a cell.", min=1)
    ] = 1000,
    resamples: Annotated[
        int, typer.Option("--resamples", help="Bootstrap resamples over test items.", min=0)
    ] = 1000,
    level: Annotated[float, typer.Option("--level", help="Coverage of intervals.")] = 0.95,
    seed: Annotated[int, typer.Option("--seed", help="Seed.", min=0)] = 0,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="By commas: md, tex, csv, parquet, json. [dim]\\[default: all but parquet][/dim]",
            show_default=False,
        ),
    ] = None,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Leave the figure out.")] = False,
) -> None:
    """Compare results on different data: F1, what chance and the best constant score, kappa_F1."""
    from voirdire.examining.comparing import compare as run_comparison
    from voirdire.report.comparison import FORMATS, print_comparison, write_comparison

    asked = formats_of(formats, out, FORMATS, ("md", "tex", "csv", "json"))
    found = run_comparison(sources, runs=runs, resamples=resamples, level=level, seed=seed)
    if out is not None:
        write_comparison(found, out, formats=asked, figures=not no_figures, level=level)
    print_comparison(found, out)
