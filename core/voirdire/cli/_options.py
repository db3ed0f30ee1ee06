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
SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        help="A benchmark's name, a study.toml, a session folder, or one or more files of ratings; "
        "a file that names no rater is of one who is called as the file.",
        metavar="SOURCE...",
        show_default=False,
    ),
]
ItemOption = Annotated[
    str | None,
    typer.Option("--item", help="The column of item ids.", show_default=False),
]
SystemOption = Annotated[
    str | None,
    typer.Option("--system", help="The column of systems that were rated.", show_default=False),
]
RaterOption = Annotated[
    str | None,
    typer.Option(
        "--rater", help="The column of raters, or the name of the one rater.", show_default=False
    ),
]
ScoreOption = Annotated[
    str | None,
    typer.Option("--score", help="The column of scores, one row a rating.", show_default=False),
]
AttributeOption = Annotated[
    str | None,
    typer.Option("--attribute", help="The column that names what was rated.", show_default=False),
]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", help="The column of items that belong together.", show_default=False),
]
StatusOption = Annotated[
    str | None,
    typer.Option(
        "--status",
        help="The column that says which rows were finished, and which taken back.",
        show_default=False,
    ),
]
RunOption = Annotated[
    str | None,
    typer.Option("--run", help="The column of repeated runs.", show_default=False),
]
WordsOption = Annotated[
    str | None,
    typer.Option(
        "--words",
        help='The numbers that words stand for: "poor=1,fair=2,good=3".',
        show_default=False,
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", help="A column that plays no part; may be repeated.", show_default=False
    ),
]
AssumeOption = Annotated[
    bool,
    typer.Option(
        "--assume",
        help="Take the likelier reading where a file has two, and report it as a serious finding.",
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
