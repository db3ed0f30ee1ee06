"""`voirdire paper mentalalign`: the paper's rubric, put to judges of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli.options import (
    JsonOption,
    ModelArgument,
    ModelOptions,
    StudyFolder,
    model_options,
    print_next,
    show_tables,
)

EPILOG = """
Examples:

  voirdire paper mentalalign conversations.csv --responses responses.csv --humans ratings.csv
  --model openai:gpt-4o --model anthropic:claude-sonnet-4-5 --out study

  voirdire paper mentalalign conversations.csv --responses responses.csv --model openai:gpt-4o
  --prompts 3 --runs 3 --temperature 0.7 --out worded

  voirdire run study/study.toml --out session

  voirdire examine mentalalign --data session --out report
"""


DEMO = """
Examples:

  voirdire paper mentalalign-scenarios
"""


def register(app: Any) -> None:
    """Add the commands."""
    app.papers.command("mentalalign", epilog=EPILOG)(mentalalign)
    app.papers.command("mentalalign-scenarios", epilog=DEMO)(scenarios)


def scenarios(as_json: JsonOption = False) -> None:
    """Show why MSE and ICC decide differently: the two scenarios of Figure 5, computed anew."""
    from voirdire_plugins.mentalalign.review import scenarios as of_figure_5

    show_tables([of_figure_5()], as_json=as_json)


def mentalalign(
    conversations: Annotated[
        Path,
        typer.Argument(
            help="What clients say: columns id and text, and conditions where they are known.",
            show_default=False,
        ),
    ],
    responses: Annotated[
        Path,
        typer.Option(
            "--responses",
            help="Answers to them: columns item, system and text; family and group of the system "
            "where they are known.",
            show_default=False,
        ),
    ],
    model: ModelArgument,
    out: StudyFolder,
    humans: Annotated[
        Path | None,
        typer.Option(
            "--humans",
            help="People's ratings: columns item, system, rater, attribute and score.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="The number of runs of each judge.")
    ] = 1,
    temperature: Annotated[
        float,
        typer.Option("--temperature", min=0, help="The temperature. Runs differ only above 0."),
    ] = 0.0,
    prompts: Annotated[
        int,
        typer.Option(
            "--prompts",
            min=1,
            max=5,
            help="How many wordings of the prompt each judge is asked in: the rubric's own first.",
        ),
    ] = 1,
    model_option: ModelOptions = None,
) -> None:
    """Write a study in which your judges rate responses on the paper's seven attributes."""
    from voirdire_plugins.mentalalign.studies import write_judge_study

    written = write_judge_study(
        out,
        conversations,
        responses,
        model,
        humans=humans,
        runs=runs,
        temperature=temperature,
        prompts=prompts,
        model_options=model_options(model_option),
    )
    print_next(written, "mentalalign")
