"""`voirdire index`: build, query, info; and `voirdire corpora`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

Device = Literal["auto", "cpu", "cuda"]

BUILD = """
Examples:

  voirdire index build silver.csv --label depression --label anxiety --out silver-index

  voirdire index build silver.parquet --id post --text body --group author --model models/mpnet
  --cache vectors --out silver-index

  voirdire index build silver.jsonl --model compatible:nomic-embed-text
  --base-url http://localhost:11434/v1 --out silver-index
"""

QUERY = """
Examples:

  voirdire index query silver-index --text "I keep putting things off."

  voirdire index query silver-index --items gold.csv -k 2 --json > examples.jsonl

  voirdire index query silver-index --items gold.csv --select balanced --balance anxiety --no-text
"""

INFO = """
Examples:

  voirdire index info silver-index

  voirdire index info silver-index --json
"""

CORPORA = """
Examples:

  voirdire corpora posts.csv --label class

  voirdire corpora gold.csv --label depression --label anxiety --embedder all-mpnet-base-v2

  voirdire corpora mine=mine.csv other=other.csv --label class --against third=third.csv --json
"""

FolderArgument = Annotated[
    Path, typer.Argument(help="The folder of an index.", metavar="INDEX", show_default=False)
]
IdOption = Annotated[str, typer.Option("--id", help="The column of ids.")]
DeviceOption = Annotated[
    Device, typer.Option("--device", help="The device on which to embed and search.")
]
BatchOption = Annotated[
    int | None,
    typer.Option(
        "--batch-size", min=1, help="The number of texts per batch.", show_default="by device"
    ),
]
CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        help="A folder that keeps vectors, so that no text is embedded twice.",
        show_default=False,
    ),
]
BaseUrlOption = Annotated[
    str,
    typer.Option(
        "--base-url", help="The address of the endpoint of a compatible: model.", show_default=False
    ),
]
KeyOption = Annotated[
    str,
    typer.Option(
        "--api-key-env", help="The environment variable that holds its key.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("corpora", epilog=CORPORA)(corpora)
    group = typer.Typer(
        name="index",
        help="Index a pool of examples and pick few-shot examples from it.",
        no_args_is_help=True,
    )
    group.command("build", epilog=BUILD)(build)
    group.command("query", epilog=QUERY)(query)
    group.command("info", epilog=INFO)(info)
    app.add_typer(group)


def corpora(
    corpora: Annotated[
        list[str],
        typer.Argument(
            help="Labelled texts: files, or NAME=FILE. Several are shown in one table.",
            metavar="CORPUS...",
            show_default=False,
        ),
    ],
    label: Annotated[
        list[str],
        typer.Option(
            "--label",
            help="The column of classes; or a column of yes and no, of which several are combined.",
        ),
    ],
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            help="The embedder for MMD. Without it, only words are compared.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            help="Another corpus, as NAME=FILE: a classifier tries to tell the two apart by their "
            "words. May be repeated.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of everything that is drawn at random.")
    ] = 0,
    text_column: Annotated[str, typer.Option("--text", help="The column of texts.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Measure how far classes of a corpus, and corpora, differ in words and meaning."""
    from voirdire.cli.showing import show_tables  # noqa: PLC0415 - slow
    from voirdire_retrieval._corpora import corpora_sections  # noqa: PLC0415 - slow

    sections = corpora_sections(
        corpora, label, text_column, embedder=embedder, against=against or (), seed=seed
    )
    show_tables(sections, as_json=as_json)


def build(  # noqa: PLR0913, PLR0917 - one a flag
    pool: Annotated[
        Path,
        typer.Argument(help="CSV, Excel, JSONL or Parquet file of examples.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the index.", show_default=False)
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help="sentence-transformers name or folder, langchain:module:attribute, or "
            "compatible:model.",
        ),
    ] = "all-mpnet-base-v2",
    id_column: IdOption = "id",
    text_column: Annotated[str, typer.Option("--text", help="The column of texts.")] = "text",
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            help="A column that goes into the examples. May be repeated.",
            show_default=False,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="The column that says which examples belong together (author, chat).",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        Literal["exact", "ivf", "hnsw"],
        typer.Option(
            "--kind",
            help="The kind of index: exact, or an approximate one whose recall is measured.",
        ),
    ] = "exact",
    device: DeviceOption = "auto",
    batch_size: BatchOption = None,
    cache: CacheOption = None,
    base_url: BaseUrlOption = "",
    api_key_env: KeyOption = "",
) -> None:
    """Embed the texts of a pool and index them.

    An existing index is used again if model and data are the same. Otherwise it is built again, and
    the reason is printed.
    """
    from voirdire_retrieval import _command_bodies as bodies  # noqa: PLC0415 - heavy

    embedder = bodies.opened(
        model, None, device, batch_size, base_url=base_url, api_key_env=api_key_env
    )
    columns = {"id": id_column, "text": text_column, "labels": label or [], "group": group}
    bodies.build_folder(pool, out, embedder, columns, kind, device, cache)


def query(  # noqa: PLR0913, PLR0917 - one a flag
    folder: FolderArgument,
    text: Annotated[
        str | None,
        typer.Option("--text", help="A text to find examples for.", show_default=False),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            "--items",
            help="A file of items to find examples for, in place of --text.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="The number of examples per item.")] = 2,
    select: Annotated[
        Literal["nearest", "balanced", "diverse", "random"],
        typer.Option("--select", help="How examples are chosen."),
    ] = "nearest",
    balance: Annotated[
        str | None,
        typer.Option(
            "--balance",
            help="With --select balanced: the label whose classes are balanced.",
            show_default=False,
        ),
    ] = None,
    weight: Annotated[
        float,
        typer.Option(
            "--weight",
            min=0,
            max=1,
            help="With --select diverse: the weight of nearness, from 0 to 1.",
        ),
    ] = 0.5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="With --select random: the seed.")] = 0,
    max_similarity: Annotated[
        float,
        typer.Option(
            "--max-similarity", help="Examples with a cosine above this one count as duplicates."
        ),
    ] = 0.98,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            help="A file of the test split, no text of which may be shown.",
            show_default="the items",
        ),
    ] = None,
    id_column: IdOption = "id",
    text_column: Annotated[
        str, typer.Option("--text-column", help="The column of texts.")
    ] = "text",
    group: Annotated[
        str | None, typer.Option("--group", help="The column of groups.", show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="The embedder.", show_default="the index's")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per item.")
    ] = False,
    no_text: Annotated[bool, typer.Option("--no-text", help="Leave out the texts.")] = False,
    device: DeviceOption = "auto",
    batch_size: BatchOption = None,
    cache: CacheOption = None,
    base_url: BaseUrlOption = "",
    api_key_env: KeyOption = "",
) -> None:
    """Pick few-shot examples for a text, or for every item of a file.

    Never shown: the item itself, its text under another id, an example of its group, a
    near-duplicate, an item of the test split. What was left out is counted on stderr.
    """
    from voirdire_retrieval import _command_bodies as bodies  # noqa: PLC0415 - heavy

    columns = {"id": id_column, "text": text_column, "group": group}
    asked = bodies.items_of(text, items, columns)
    options = bodies.selector_options(select, balance, weight, seed)
    guard = bodies.guard_of(asked if items else [], test, columns, max_similarity)
    embedder = bodies.opened(
        model, folder, device, batch_size, base_url=base_url, api_key_env=api_key_env
    )
    index = bodies.loaded(folder, embedder, device)
    chosen = bodies.answer(index, embedder, guard, asked, k, options, cache)
    lines = bodies.as_lines if as_json else bodies.as_rows
    for line in lines(chosen, no_text=no_text):
        typer.echo(line)


def info(
    folder: FolderArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Say what an index is: model, size, kind, recall, labels, and what was left out."""
    from voirdire_retrieval._command_bodies import as_words, describe  # noqa: PLC0415 - heavy

    facts = describe(folder)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        typer.echo(f"{name:<12} {as_words(value)}")
