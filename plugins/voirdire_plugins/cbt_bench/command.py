"""`voirdire paper cbt_bench`: write the studies of the three levels, to be run and examined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from voirdire.cli.options import (
    ModelArgument,
    ModelOptions,
    StudyFolder,
    model_options,
    print_next,
)

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


People = Annotated[
    Path | None,
    typer.Option(
        "--people",
        help="Answers of people: item, rater, attribute (a label or letter) and score (1 or 0).",
        show_default=False,
    ),
]


def register(app: Any) -> None:
    """Add the commands."""
    found = typer.Typer(help="Write the studies of CBT-Bench, to be run and examined.")
    found.command("labels", epilog=LABELS)(labels)
    found.command("questions", epilog=QUESTIONS)(questions)
    found.command("exercises", epilog=EXERCISES)(exercises)
    app.papers.add_typer(found, name="cbt_bench", no_args_is_help=True)


def labels(
    task: Annotated[Literal["cd", "pc", "fc"], typer.Argument(help="The task.")],
    data: Annotated[Path, typer.Option("--data", help="The folder of the published files.")],
    model: ModelArgument,
    out: StudyFolder,
    k: Annotated[
        int, typer.Option("-k", min=0, help="The number of seed examples in each prompt.")
    ] = 0,
    examples: Annotated[
        Literal["fixed", "nearest"],
        typer.Option("--examples", help="Which seed examples are shown."),
    ] = "fixed",
    embedder: Annotated[
        str, typer.Option("--embedder", help="The embedder that finds the nearest seeds.")
    ] = "all-mpnet-base-v2",
    definitions: Annotated[
        bool, typer.Option("--definitions", help="Define the labels in the prompt (Tables 9, 10).")
    ] = False,
    people: People = None,
    model_option: ModelOptions = None,
) -> None:
    """Level II: distortions (cd), primary (pc) or fine-grained core beliefs (fc)."""
    from voirdire_plugins.cbt_bench.prepare import write_label_study

    study = write_label_study(
        out, task, data, model, k=k, examples=examples, embedder=embedder, definitions=definitions,
        people=people, model_options=model_options(model_option),
    )  # fmt: skip
    print_next(study, "cbt_bench")


def questions(
    file: Annotated[Path, typer.Argument(help="JSON, JSONL, CSV or workbook of questions.")],
    model: ModelArgument,
    out: StudyFolder,
    *,
    text: Annotated[str, typer.Option("--text", help="The column of the question.")] = "question",
    choice: Annotated[
        list[str] | None,
        typer.Option(
            "--choice", help="The column of the list of options, or of one option. May be repeated."
        ),
    ] = None,
    answer: Annotated[
        str, typer.Option("--answer", help="The column of the right letters.")
    ] = "answer",
    kind: Annotated[str, typer.Option("--type", help="The column of the type of knowledge.")] = "",
    ident: Annotated[str, typer.Option("--id", help="The column of ids.")] = "",
    first: Annotated[
        int | None,
        typer.Option(
            "--first", help="For answers that are numbers: the number of the first option, 0 or 1."
        ),
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            "--examples",
            help="A file of held-out questions. The first of them are shown with their answers.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, help="The number of held-out questions in each prompt.")
    ] = 5,
    people: People = None,
    model_option: ModelOptions = None,
) -> None:
    """Level I: multiple-choice questions of your own file."""
    from voirdire.tables import QuestionColumns
    from voirdire_plugins.cbt_bench.prepare import write_question_study

    options = choice or ["choices"]
    columns = QuestionColumns(
        text, options[0] if len(options) == 1 else options, answer, kind, ident, first
    )
    study = write_question_study(
        out, file, model, columns=columns, examples=examples, k=k, people=people,
        model_options=model_options(model_option),
    )  # fmt: skip
    print_next(study, "cbt_bench")


def exercises(
    file: Annotated[
        Path, typer.Argument(help="Exercises: id, category, difficulty, statement, reference.")
    ],
    model: ModelArgument,
    judge: Annotated[
        list[str], typer.Option("--judge", help="A model that judges. May be repeated.")
    ],
    out: StudyFolder,
    order: Annotated[
        Literal["both", "random"],
        typer.Option("--order", help="Show each pair in both orders, or in one drawn at random."),
    ] = "both",
    expert: Annotated[
        list[str] | None,
        typer.Option(
            "--expert", help="A person who compares too, each pair once. May be repeated."
        ),
    ] = None,
    reason: Annotated[
        str,
        typer.Option(
            "--reason",
            help="What these people are asked to say in words of each comparison.",
            show_default=False,
        ),
    ] = "",
    model_option: ModelOptions = None,
    judge_option: Annotated[
        list[str] | None,
        typer.Option(
            "--judge-option",
            help="An option of every judge's model, as NAME=VALUE. May be repeated.",
            show_default="those of --model-option",
        ),
    ] = None,
) -> None:
    """Level III: answer exercises of your own file, and compare with the reference, blind."""
    from voirdire_plugins.cbt_bench.prepare import write_exercise_study

    experts = expert or []
    study = write_exercise_study(
        out, file, model, judge, order=order, experts=experts, reason=reason,
        model_options=model_options(model_option),
        judge_options=None if judge_option is None else model_options(judge_option),
    )  # fmt: skip
    print_next(study, "cbt_bench")
    if experts:
        typer.echo("For the experts' sheets: voirdire humans export SESSION --out WORK")
