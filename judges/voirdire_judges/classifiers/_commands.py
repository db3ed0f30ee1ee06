"""`voirdire classify fit|predict|evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from voirdire.shown import terminal
from voirdire.tabular import Section, Table, count, number, number_text, text

if TYPE_CHECKING:
    import polars as pl

    from voirdire.study import Study

FIT = """
Examples:

  voirdire classify fit grid.toml --dry-run

  voirdire classify fit grid.toml --out models --only "MentalRoBERTa binary"

  voirdire classify fit grid.toml --out models --device cuda

Finished cells are skipped. A cell that was killed continues from its last epoch when the same
command is run again.
"""

PREDICT = """
Examples:

  voirdire classify predict models --texts posts.csv --out labels.parquet

  voirdire classify predict models --texts posts.csv --only "multi-label seed 0"
"""

EVALUATE = """
Examples:

  voirdire classify evaluate models

  voirdire classify evaluate models --json

  voirdire labels models

  voirdire examine models/ratings.parquet --reference truth
"""

StudyArgument = Annotated[
    Path, typer.Argument(help="A study.toml with a part \\[classify].", show_default=False)
]
FolderArgument = Annotated[
    Path,
    typer.Argument(
        help="The folder of a grid of classifiers.", metavar="FOLDER", show_default=False
    ),
]
OnlyOption = Annotated[
    str,
    typer.Option(
        "--only", help="Take only cells whose names contain these whole words.", show_default=False
    ),
]
DeviceOption = Annotated[
    Literal["auto", "cpu", "cuda"],
    typer.Option("--device", help="The device on which encoders run."),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="The number of threads that torch uses.",
        show_default="torch's choice",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        name="classify",
        help="Train classifiers on labels, test them, and predict.",
        no_args_is_help=True,
    )
    group.command("fit", epilog=FIT)(fit)
    group.command("predict", epilog=PREDICT)(predict)
    group.command("evaluate", epilog=EVALUATE)(evaluate)
    app.add_typer(group)


def fit(
    study: StudyArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder for the grid.", show_default=False),
    ] = None,
    only: OnlyOption = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the cells without training any.")
    ] = False,
    device: DeviceOption = "auto",
    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"],
        typer.Option(
            "--precision", help="The precision of training; auto is mixed precision on a GPU."
        ),
    ] = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train and test every cell of a grid: models x data x label sets x tasks x seeds."""
    from voirdire.errors import InputError  # noqa: PLC0415 - slow
    from voirdire.study import load_study  # noqa: PLC0415 - slow
    from voirdire_judges.classifiers import fit_grid  # noqa: PLC0415 - slow

    grid = load_study(study)
    if dry_run:
        _print_cells(grid, out or Path(), only)
        return
    if out is None:
        raise InputError("classify fit: give the grid's folder by --out (or --dry-run)")
    machine = {"device": device, "precision": precision, "threads": threads}
    try:
        done = fit_grid(grid, out, only=only, machine=machine, quiet=quiet)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Run the same command again to go on from the last epoch.")
        raise typer.Exit(130) from None
    typer.echo(f"{done['trained']} cells trained, {done['skipped']} were finished before.")
    if done["elsewhere"]:
        typer.echo(f"{done['elsewhere']} cells are being trained by another process.")
    typer.echo(f"Score them with: voirdire classify evaluate {out}")


def predict(
    folder: FolderArgument,
    texts: Annotated[
        Path, typer.Option("--texts", help="A file with ids and texts.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The CSV or Parquet file to write.", show_default="print CSV"
        ),
    ] = None,
    only: OnlyOption = "",
    item: Annotated[str, typer.Option("--id", help="The column of ids.")] = "id",
    text: Annotated[str, typer.Option("--text", help="The column of texts.")] = "text",
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Predict the labels of new texts with the trained models of a grid."""
    from voirdire.errors import InputError  # noqa: PLC0415 - slow
    from voirdire_judges.classifiers import predict_texts, read_texts  # noqa: PLC0415 - slow

    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out must end in .csv or .parquet, got {str(out)!r}")
    items, words = read_texts(texts, item, text)
    machine = {"device": device, "threads": threads}
    frame, notes = predict_texts(folder, items, words, only=only, machine=machine)
    if out is None:
        typer.echo(frame.write_csv(), nl=False)
    else:
        _write(frame, out)
    blank = sum(not word for word in words)
    for note in notes:
        typer.echo(note, err=True)
    if blank:
        typer.echo(f"{blank} of {len(words)} texts are blank and have no prediction.", err=True)


def evaluate(
    folder: FolderArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="The folder for the tables.", show_default="the grid's folder"
        ),
    ] = None,
    best: Annotated[
        bool,
        typer.Option(
            "--best",
            help="Write only the predictions of the configurations that are best on dev.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Score the finished cells: mean and deviation over seeds, and what chance scores.

    Writes scores.csv, summary.csv, by_label.csv, predictions.parquet, which `voirdire labels`
    reads, and ratings.parquet, which `voirdire examine` reads: a class is an attribute, a seed a
    run, and the key is the rater "truth". Where options were tried in a grid, best.csv holds the
    configuration of each model that was best on dev.
    """
    from voirdire_judges.classifiers import evaluate_grid  # noqa: PLC0415 - slow

    evaluation = evaluate_grid(folder, best=best)
    evaluation.write(out or folder)
    if as_json:
        typer.echo(evaluation.summary.write_json())
    else:
        _print_summary(evaluation.summary)
        for row in evaluation.best.iter_rows(named=True):
            sd = f" ± {number_text(row['f1_weighted_sd'], 3)}" if row["seeds"] > 1 else ""
            typer.echo(
                f"Best of {row['tried']} on dev, {row['labels']}, {row['task']}: {row['model']} "
                f"({row['validation_f1']:.3f}); on test {number_text(row['f1_weighted'], 3)}{sd}."
            )
    for note in evaluation.notes:
        typer.echo(note, err=True)
    if evaluation.unfinished:
        count, first = len(evaluation.unfinished), evaluation.unfinished[0]
        typer.echo(f"{count} cells are not finished, the first: {first}", err=True)


def _write(frame: pl.DataFrame, path: Path) -> None:
    """Write predictions as CSV or Parquet, as the name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)


def _print_cells(study: Study, out: Path, only: str) -> None:
    """One line a cell, and how many there are."""
    from collections import Counter  # noqa: PLC0415

    from voirdire_judges.classifiers import dry_run  # noqa: PLC0415 - slow

    cells = dry_run(study, out, only)
    for cell, state in cells:
        typer.echo(f"{state:<9} {cell.name}")
    counts = Counter(state for _, state in cells)
    listed = ", ".join(f"{count} {state}" for state, count in counts.items())
    typer.echo(f"{len(cells)} cells: {listed}")
    if counts["no data"]:
        typer.echo("no data: the file that the study names is not there yet")


def _print_summary(summary: pl.DataFrame) -> None:
    from voirdire.report.printing import print_section  # noqa: PLC0415 - slow

    columns = (
        text("model"), text("labels"), text("task"), count("seeds"), count("n"), count("lost"),
        number("F1", 3), number("sd", 3), number("random", 3), number("const.", 3),
        number("kappa", 3),
    )  # fmt: skip
    names = (
        "configuration", "labels", "task", "seeds", "n", "missing", "f1_weighted",
        "f1_weighted_sd", "f1_random", "f1_constant", "kappa",
    )  # fmt: skip
    said = "lost: test items without a prediction. const.: the best constant predictor."
    table = Table(columns, tuple(summary.select(names).iter_rows()))
    section = Section("Weighted F1 on the test sets", said, (table,))
    print_section(section, terminal(), most=None)
