"""`voirdire paper distortions`: the data sets of a session as files for classifiers."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

EPILOG = """
Examples:

  voirdire paper distortions a --out datasets
"""


def register(app: Any) -> None:
    """Add the command."""
    app.papers.command("distortions", epilog=EPILOG)(distortions)


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
    for each, name in zip(data, file_names([one.configuration for one in data]), strict=True):
        path = out / f"{name}.parquet"
        each.frame.write_parquet(path)
        sizes = ", ".join(f"{part} {size}" for part, size in each.sizes().items())
        typer.echo(f"{path}: {sizes}; left out {sum(each.removed.values())}")


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
