"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A benchmark's name, a study.toml, a file of ratings, or a session folder.",
        metavar="SOURCE",
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Folder with a benchmark's data.", show_default=False),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="Rater that the others are held against; repeat for several humans.",
        show_default=False,
    ),
]
OffScaleOption = Annotated[
    Literal["missing", "keep", "error"] | None,
    typer.Option(
        "--off-scale",
        help="What to do with values off the declared scale. [dim]\\[default: missing][/dim]",
        show_default=False,
    ),
]
