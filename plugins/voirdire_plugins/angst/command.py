"""`voirdire paper angst`: study, silver, corpus."""

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
    show_tables,
)

STUDY = """
Examples:

  voirdire paper angst study gold.csv --model openai:gpt-4o-mini --out angst

  voirdire paper angst study gold.csv --silver silver.jsonl --model compatible:llama --scale phq9
  --scale madrs=20 --out angst

  voirdire run angst/study.toml --out session
"""
SILVER = """
Examples:

  voirdire paper angst silver posts.csv --model openai:gpt-4o-mini --model google:gemini-2.5-flash
  --runs 3 --temperature 1 --at-least 5 --keep-controls 2000 --gold sample.csv --out silver

  voirdire paper angst silver posts.csv --model openai:gpt-4o-mini --out silver

  voirdire paper angst silver posts.jsonl --text body --model compatible:llama
  --model-option base_url=http://localhost:11434/v1 --out silver
"""
CORPUS = """
Examples:

  voirdire paper angst corpus posts.parquet --lexicon fear --lexicon sadness --out corpus

  voirdire paper angst corpus posts.csv --patterns mine.txt --min-words 40 --top 500 --sample 100
  --out corpus
"""
IdOption = Annotated[str, typer.Option("--id", help="The column of ids.")]
TextOption = Annotated[str, typer.Option("--text", help="The column of texts.")]


def register(app: Any) -> None:
    """Add the commands."""
    group = typer.Typer(
        name="angst",
        help="Depression and anxiety in posts (Hengle et al. 2024). Not for clinical use.",
        no_args_is_help=True,
    )
    group.command("study", epilog=STUDY)(study)
    group.command("silver", epilog=SILVER)(silver)
    group.command("corpus", epilog=CORPUS)(corpus)
    app.papers.add_typer(group)


def study(
    gold: Annotated[
        str,
        typer.Argument(help="Gold posts: a file, or datasets:owner/name.", show_default=False),
    ],
    model: ModelArgument,
    out: StudyFolder,
    silver: Annotated[
        str | None,
        typer.Option(
            "--silver", help="Silver posts, which are shown as examples.", show_default=False
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", help="The embedder whose nearness is used.")
    ] = "all-mpnet-base-v2",
    k: Annotated[int, typer.Option("-k", min=1, help="The number of examples per post.")] = 2,
    selector: Annotated[
        str, typer.Option("--selector", help="nearest, random, diverse, or a plugin's.")
    ] = "nearest",
    trained: Annotated[
        Path | None,
        typer.Option(
            "--trained",
            help="Ratings of trained classifiers: models/ratings.parquet of voirdire classify.",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            "--scale",
            help="A questionnaire, with =THRESHOLD if it should give a label. May be repeated.",
            show_default=False,
        ),
    ] = None,
    variant: Annotated[
        str,
        typer.Option(
            "--variant", help="The variant of the questionnaires: hengle2024 or standard."
        ),
    ] = "hengle2024",
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="The number of runs of each rater.")
    ] = 3,
    model_option: ModelOptions = None,
    id_column: IdOption = "id",
    text_column: TextOption = "text",
    depression: Annotated[str, typer.Option(help="The column of the label.")] = "depression",
    anxiety: Annotated[str, typer.Option(help="The column of the label.")] = "anxiety",
    author: Annotated[
        str,
        typer.Option(
            "--author",
            help="The column of authors: a post is shown no example by its own author.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Write a study of the benchmark over your gold and silver posts.

    With silver posts also finetune.toml, the grid of A.3 for `voirdire classify fit`.
    """
    from voirdire_plugins.angst.studies import scales_of, write_study

    columns = {"id": id_column, "text": text_column, "depression": depression, "anxiety": anxiety}
    said = write_study(
        gold,
        model,
        out,
        silver=silver,
        shots={"selector": selector, "k": k, "embedder": embedder},
        trained=trained,
        columns=columns | ({"author": author} if author else {}),
        scales=scales_of(scale or []),
        variant=variant,
        runs=runs,
        model_options=model_options(model_option),
    )
    typer.echo(said)


def silver(
    posts: Annotated[Path, typer.Argument(help="Posts to label.", show_default=False)],
    model: ModelArgument,
    out: StudyFolder,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the session.")] = False,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="The most that the session may cost.", show_default=False),
    ] = None,
    id_column: IdOption = "id",
    text_column: TextOption = "text",
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="The number of runs of each model.")
    ] = 1,
    temperature: Annotated[
        float,
        typer.Option("--temperature", min=0, help="The temperature. Runs differ only above 0."),
    ] = 0.0,
    at_least: Annotated[
        int | None,
        typer.Option(
            "--at-least",
            min=1,
            help="How many answers of all models and runs must agree.",
            show_default="more than half",
        ),
    ] = None,
    keep_controls: Annotated[
        int,
        typer.Option(
            "--keep-controls",
            min=0,
            help="Keep this many posts without a disorder too; the paper keeps none.",
        ),
    ] = 0,
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold",
            help="Gold posts, which are labelled too and compared with their labels.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The seed that decides which controls are kept.")
    ] = 0,
    model_option: ModelOptions = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Label posts by the open question of Table 17; keep depression and/or anxiety.

    Several models and runs label by what enough of them say. Writes OUT/silver.jsonl and prints
    what became of every post.
    """
    from voirdire_plugins.angst.silver import label_silver

    found, code = label_silver(
        posts,
        model,
        out,
        columns={"id": id_column, "text": text_column},
        gold=gold,
        at_least=at_least,
        keep_controls=keep_controls,
        seed=seed,
        run={"resume": resume, "max_cost": max_cost, "quiet": quiet},
        runs=runs,
        temperature=temperature,
        model_options=model_options(model_option),
    )
    show_tables(found, as_json=as_json)
    raise typer.Exit(code)


def corpus(
    posts: Annotated[Path, typer.Argument(help="Posts with authors.", show_default=False)],
    out: StudyFolder,
    lexicon: Annotated[
        list[str] | None,
        typer.Option(
            "--lexicon",
            help="The column of your lexicon's scores. May be repeated.",
            show_default=False,
        ),
    ] = None,
    patterns: Annotated[
        Path | None,
        typer.Option(
            "--patterns",
            help="A file of self-disclosure patterns, one per line.",
            show_default=False,
        ),
    ] = None,
    min_words: Annotated[int, typer.Option(min=0, help="The fewest words that a post needs.")] = 75,
    min_posts: Annotated[
        int, typer.Option(min=1, help="The fewest posts that an author needs.")
    ] = 10,
    top: Annotated[
        int, typer.Option(min=1, help="The number of posts that the lexicon keeps.")
    ] = 25_000,
    sample: Annotated[
        int, typer.Option(min=1, help="The number of posts drawn to be annotated.")
    ] = 3_000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the draw.")] = 0,
    id_column: IdOption = "id",
    text_column: TextOption = "text",
    author: Annotated[str, typer.Option("--author", help="The column of authors.")] = "author",
) -> None:
    """Build a corpus to annotate from posts, with counts at every step.

    Writes OUT/sample.csv (to annotate) and OUT/rest.csv (for silver labels).
    """
    from voirdire_plugins.angst.corpus import write_corpus

    columns = {"id": id_column, "text": text_column, "author": author}
    found = write_corpus(
        posts, out, columns, patterns, lexicons=lexicon or [], seed=seed, min_words=min_words,
        min_posts=min_posts, top=top, sample=sample,
    )  # fmt: skip
    show_tables(found)
