"""`voirdire distortions`: the data sets of a session as files for classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """
Examples:

  voirdire distortions a --out datasets
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("distortions", epilog=EPILOG)(distortions)


def distortions(
    session: Annotated[Path, typer.Argument(help="The session folder.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the data sets.")] = Path(
        "datasets"
    ),
    seed: Annotated[int, typer.Option("--seed", help="Seed of the split.", min=0)] = 0,
) -> None:
    """Write a session's data sets: items, parts and three label sets, one file a configuration."""
    from voirdire_plugins.distortions.session import (  # noqa: PLC0415 - commands import late
        read_annotations,
        read_datasets,
    )

    data, _ = read_datasets(read_annotations(session), seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    for each in data:
        path = out / f"{file_name(each.configuration)}.parquet"
        each.frame.write_parquet(path)
        sizes = ", ".join(f"{part} {size}" for part, size in each.sizes().items())
        typer.echo(f"{path}: {sizes}; left out {sum(each.removed.values())}")


def file_name(configuration: str) -> str:
    """The configuration as a file may be called.

    >>> file_name("org/model-0.5")
    'org_model-0.5'
    """
    return "".join(sign if sign.isalnum() or sign in "-._" else "_" for sign in configuration)
