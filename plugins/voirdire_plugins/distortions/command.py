"""`voirdire paper distortions`: a study of repeated annotation, and its data sets as files."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from voirdire.cli.options import (
    ModelArgument,
    ModelOptions,
    StudyFolder,
    model_options,
    print_next,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Definitions = Literal["without", "with", "both"]

STUDY = """
Examples:

  voirdire paper distortions study letters.csv --model openai:gpt-4 --temperature 0.5
  --temperature 0.7 --out letters

  voirdire paper distortions study letters.csv --model openai:gpt-4 --model openai:gpt-4o
  --dominant label1 --secondary label2 --definitions both --out defined

  voirdire run letters/study.toml --out session
"""
DATASETS = """
Examples:

  voirdire paper distortions datasets session --out datasets

  voirdire classify fit datasets/grid.toml --out models --only words
"""


def register(app: Any) -> None:
    """Add the commands."""
    group = typer.Typer(
        name="distortions",
        help="Cognitive distortions labelled again and again (Sharma et al.).",
        no_args_is_help=True,
    )
    group.command("study", epilog=STUDY)(study)
    group.command("datasets", epilog=DATASETS)(datasets)
    app.papers.add_typer(group)


def study(
    texts: Annotated[
        str, typer.Argument(help="Texts: a file, or datasets:owner/name.", show_default=False)
    ],
    model: ModelArgument,
    out: StudyFolder,
    temperature: Annotated[
        list[float] | None,
        typer.Option(
            "--temperature",
            min=0,
            help="The temperature. May be repeated.",
            show_default="0.5 and 0.7",
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="The number of runs of each annotator.")
    ] = 5,
    at_least: Annotated[
        int | None,
        typer.Option(
            "--at-least",
            min=1,
            help="How many runs must name a label.",
            show_default="four fifths of them",
        ),
    ] = None,
    definitions: Annotated[
        Definitions,
        typer.Option("--definitions", help="Define the distortions in the prompt (Table 1)."),
    ] = "without",
    id_column: Annotated[str, typer.Option("--id", help="The column of ids.")] = "id",
    text_column: Annotated[str, typer.Option("--text", help="The column of texts.")] = "text",
    dominant: Annotated[
        str,
        typer.Option(
            "--dominant", help="The column of people's dominant label.", show_default=False
        ),
    ] = "",
    secondary: Annotated[
        str,
        typer.Option(
            "--secondary", help="The column of people's second label.", show_default=False
        ),
    ] = "",
    model_option: ModelOptions = None,
) -> None:
    """Write a study in which each model labels each text several times, by both prompts."""
    from voirdire_plugins.distortions.studies import write_annotation_study

    columns = {"id": id_column, "text": text_column}
    columns |= {k: v for k, v in (("dominant", dominant), ("secondary", secondary)) if v}
    written = write_annotation_study(
        out,
        texts,
        model,
        columns=columns,
        temperatures=temperature or (0.5, 0.7),
        runs=runs,
        at_least=at_least,
        definitions=definitions,
        model_options=model_options(model_option),
    )
    print_next(written, "distortions")


def datasets(
    session: Annotated[Path, typer.Argument(help="The folder of the session.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the data sets.")] = Path(
        "datasets"
    ),
    seed: Annotated[int, typer.Option("--seed", help="The seed of the split.", min=0)] = 0,
) -> None:
    """Write a session's data sets: items, parts and three label sets, one file a configuration.

    Beside them grid.toml, the classifiers of appendix H for `voirdire classify fit`.
    """
    from voirdire.files import write_text
    from voirdire.study import build_study, study_to_toml
    from voirdire_plugins.distortions.session import read_annotations, read_datasets
    from voirdire_plugins.resources import resource

    data, _ = read_datasets(read_annotations(session), seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    names = file_names([one.configuration for one in data])
    for each, name in zip(data, names, strict=True):
        path = out / f"{name}.parquet"
        each.frame.write_parquet(path)
        sizes = ", ".join(f"{part} {size}" for part, size in each.sizes().items())
        typer.echo(f"{path}: {sizes}; left out {sum(each.removed.values())}")
    grid = resource("distortions", "grid")
    tables = [
        {"name": one.configuration, "path": f"{name}.parquet"}
        for one, name in zip(data, names, strict=True)
    ]
    whole = {**grid, "classify": {**grid["classify"], "data": tables}}
    write_text(out / "grid.toml", study_to_toml(build_study(whole, whole["name"], str(out))))
    typer.echo(f"Train on them with: voirdire classify fit {out / 'grid.toml'} --out models")


def file_names(configurations: Sequence[str]) -> list[str]:
    """The configurations as files may be called, no two alike in any case.

    >>> file_names(["org/model-0.5", "org_model-0.5"])
    ['org_model-0.5', 'org_model-0.5-2']
    """
    found: list[str] = []
    for configuration in configurations:
        name = "".join(sign if sign.isalnum() or sign in "-._" else "_" for sign in configuration)
        taken = {one.casefold() for one in found}
        numbered = (f"{name}-{number}" for number in count(2))
        found.append(next(one for one in chain([name], numbered) if one.casefold() not in taken))
    return found
