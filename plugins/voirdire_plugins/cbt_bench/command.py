"""`voirdire paper cbt_bench`: write the studies of the three levels, to be run and examined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

LABELS = """
Examples:

  voirdire paper cbt_bench labels pc --data cbt_bench --model openai:gpt-4o --out pc

  voirdire run pc/study.toml --out pc-session

  voirdire examine cbt_bench --data pc-session --out report
"""
QUESTIONS = """
Examples:

  voirdire paper cbt_bench questions exam.jsonl --model openai:gpt-4o --out qa

  voirdire paper cbt_bench questions exam.csv --text stem --choice A --choice B --choice C
  --answer key --type topic --model compatible:mine --out qa
"""
EXERCISES = """
Examples:

  voirdire paper cbt_bench exercises practice.csv --model openai:gpt-4o
  --judge google:gemini-2.5-pro --out dp
"""

OutOption = Annotated[Path, typer.Option("--out", "-o", help="Folder of the study.")]
ModelOption = Annotated[list[str], typer.Option("--model", help="A model; may be repeated.")]


def register(app: Any) -> None:
    """Add the commands."""
    found = typer.Typer(help="Write the studies of CBT-Bench, to be run and examined.")
    found.command("labels", epilog=LABELS)(labels)
    found.command("questions", epilog=QUESTIONS)(questions)
    found.command("exercises", epilog=EXERCISES)(exercises)
    app.papers.add_typer(found, name="cbt_bench", no_args_is_help=True)


def labels(
    task: Annotated[Literal["cd", "pc", "fc"], typer.Argument(help="The task.")],
    data: Annotated[Path, typer.Option("--data", help="Folder of the published files.")],
    model: ModelOption,
    out: OutOption,
    k: Annotated[int, typer.Option("-k", min=0, help="Seed examples in each prompt.")] = 0,
    examples: Annotated[
        Literal["fixed", "nearest"], typer.Option("--examples", help="Which seeds are shown.")
    ] = "fixed",
    embedder: Annotated[
        str, typer.Option("--embedder", help="Embedder for the nearest seeds.")
    ] = "all-mpnet-base-v2",
) -> None:
    """Level II: distortions (cd), primary (pc) or fine-grained core beliefs (fc)."""
    from voirdire_plugins.cbt_bench.prepare import write_label_study  # noqa: PLC0415 - slow

    study = write_label_study(out, task, data, model, k=k, examples=examples, embedder=embedder)
    _print_next(study)


def questions(  # noqa: PLR0913 - each is an option of the command
    file: Annotated[Path, typer.Argument(help="JSON, JSONL, CSV or workbook of questions.")],
    model: ModelOption,
    out: OutOption,
    *,
    text: Annotated[str, typer.Option("--text", help="Column of the question.")] = "question",
    choice: Annotated[
        list[str] | None,
        typer.Option("--choice", help="Column of the options' list, or of one option (repeated)."),
    ] = None,
    answer: Annotated[
        str, typer.Option("--answer", help="Column of the right letters.")
    ] = "answer",
    kind: Annotated[str, typer.Option("--type", help="Column of the knowledge type.")] = "",
    ident: Annotated[str, typer.Option("--id", help="Column of ids.")] = "",
    first: Annotated[
        int | None,
        typer.Option("--first", help="Answers count the options: the first one's number, 0 or 1."),
    ] = None,
) -> None:
    """Level I: multiple-choice questions of your own file."""
    from voirdire_plugins.cbt_bench.prepare import write_question_study  # noqa: PLC0415 - slow
    from voirdire_plugins.cbt_bench.questions import QuestionColumns  # noqa: PLC0415 - slow

    options = choice or ["choices"]
    columns = QuestionColumns(
        text, options[0] if len(options) == 1 else options, answer, kind, ident, first
    )
    _print_next(write_question_study(out, file, model, columns=columns))


def exercises(
    file: Annotated[
        Path, typer.Argument(help="Exercises: id, category, difficulty, statement, reference.")
    ],
    model: ModelOption,
    judge: Annotated[list[str], typer.Option("--judge", help="A judging model; repeatable.")],
    out: OutOption,
    order: Annotated[
        Literal["both", "random"],
        typer.Option("--order", help="Show each pair in both orders, or in one drawn at random."),
    ] = "both",
    expert: Annotated[
        list[str] | None,
        typer.Option("--expert", help="Someone who compares too, each pair once; repeatable."),
    ] = None,
) -> None:
    """Level III: answer exercises of your own file, and compare with the reference, blind."""
    from voirdire_plugins.cbt_bench.prepare import write_exercise_study  # noqa: PLC0415 - slow

    experts = expert or []
    _print_next(write_exercise_study(out, file, model, judge, order=order, experts=experts))
    if experts:
        typer.echo("For the experts' sheets: voirdire humans export SESSION --out WORK")


def _print_next(study: Path) -> None:
    typer.echo(f"Wrote {study}. Run it with: voirdire run {study} --out SESSION")
    typer.echo("Then: voirdire examine cbt_bench --data SESSION --out REPORT")
