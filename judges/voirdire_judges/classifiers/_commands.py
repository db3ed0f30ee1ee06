"""What `voirdire classify` does; `commands.toml` says what each command may be asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voirdire.errors import InputError
from voirdire.report.printing import print_section
from voirdire.shown import terminal
from voirdire.study import load_study
from voirdire.tabular import Section, Table, count, number, number_text, text
from voirdire_judges.classifiers import dry_run as planned_cells
from voirdire_judges.classifiers import evaluate_grid, fit_grid, predict_texts, read_texts

if TYPE_CHECKING:
    import polars as pl

    from voirdire.study import Study


def fit(
    study: Path,
    out: Path | None = None,
    only: str = "",
    *,
    dry_run: bool = False,
    quiet: bool = False,
    **machine: Any,
) -> tuple[str, int]:
    """Train a grid, or list its cells; what is said of it, and an exit code."""
    grid = load_study(study)
    if dry_run:
        return _cells(grid, out or Path(), only), 0
    if out is None:
        raise InputError("classify fit: give the grid's folder by --out (or --dry-run)")
    try:
        done = fit_grid(grid, out, only=only, machine=machine, quiet=quiet)
    except KeyboardInterrupt:
        return "Interrupted. Run the same command again to go on from the last epoch.", 130
    lines = [f"{done['trained']} cells trained, {done['skipped']} were finished before."]
    if done["elsewhere"]:
        lines.append(f"{done['elsewhere']} cells are being trained by another process.")
    return "\n".join([*lines, f"Score them with: voirdire classify evaluate {out}"]), 0


def predict(
    folder: Path,
    texts: Path,
    out: Path | None = None,
    only: str = "",
    item: str = "id",
    text: str = "text",
    **machine: Any,
) -> None:
    """Predict with every trained model of a grid; to a file, or to standard output."""
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out must end in .csv or .parquet, got {str(out)!r}")
    items, words = read_texts(texts, item, text)
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
    folder: Path, out: Path | None = None, *, best: bool = False, as_rows: bool = False
) -> None:
    """Score a grid's finished cells, write the tables and print the summary."""
    evaluation = evaluate_grid(folder, best=best)
    evaluation.write(out or folder)
    if as_rows:
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


def _cells(study: Study, out: Path, only: str) -> str:
    """One line a cell, and how many there are."""
    cells = planned_cells(study, out, only)
    lines = [f"{state:<9} {cell.name}" for cell, state in cells]
    counts = Counter(state for _, state in cells)
    listed = ", ".join(f"{count} {state}" for state, count in counts.items())
    lines.append(f"{len(cells)} cells: {listed}")
    if counts["no data"]:
        lines.append("no data: the file that the study names is not there yet")
    return "\n".join(lines)


def _print_summary(summary: pl.DataFrame) -> None:
    columns = (
        text("model"),
        text("labels"),
        text("task"),
        count("seeds"),
        count("n"),
        count("lost"),
        number("F1", 3),
        number("sd", 3),
        number("random", 3),
        number("const.", 3),
        number("kappa", 3),
    )
    names = (
        "configuration",
        "labels",
        "task",
        "seeds",
        "n",
        "missing",
        "f1_weighted",
        "f1_weighted_sd",
        "f1_random",
        "f1_constant",
        "kappa",
    )
    note = "lost: test items without a prediction. const.: the best constant predictor."
    table = Table(columns, tuple(summary.select(names).iter_rows()))
    section = Section("Weighted F1 on the test sets", note, (table,))
    print_section(section, terminal(), most=None)
