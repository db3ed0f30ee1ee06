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
        help="A benchmark's name, a study.toml, a session folder, or "
        "one or more files of ratings; "
        "a file without a column of raters holds those of one rater, named after the file.",
        metavar="SOURCE...",
        show_default=False,
    ),
]
ItemOption = Annotated[
    str | None,
    typer.Option("--item", help="The column that holds the ids of items.", show_default=False),
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
    typer.Option(
        "--score", help="The column that holds the scores, one rating per row.", show_default=False
    ),
]
AttributeOption = Annotated[
    str | None,
    typer.Option("--attribute", help="The column that names what was rated.", show_default=False),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        help="The column that says which items belong together, such as a dialogue.",
        show_default=False,
    ),
]
StatusOption = Annotated[
    str | None,
    typer.Option(
        "--status",
        help="The column that says which ratings were finished and which were withdrawn.",
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
        help='The number that each word stands for: "poor=1,fair=2,good=3".',
        show_default=False,
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    typer.Option("--ignore", help="A column to leave out. May be repeated.", show_default=False),
]
LayoutOption = Annotated[
    Literal["raters-by-items", "long", "scores", "replies"] | None,
    typer.Option(
        "--layout",
        help="How rows and columns lie, where that is not seen: raters-by-items for a survey "
        "with a row a rater and a column an item.",
        show_default=False,
    ),
]
SheetOption = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        help="The sheet of a workbook. By default it is the first one.",
        show_default=False,
    ),
]
AssumeOption = Annotated[
    bool,
    typer.Option(
        "--assume",
        help="Where a file can be read in two ways, take the likelier "
        "one and report it as a serious finding.",
    ),
]
HumanOption = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        help="A file of labels by people, joined to the items that were rated by --key, else by "
        "their texts; may be repeated.",
        show_default=False,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        help="The column of --human that items are found by: ticket, or ticket=ticket_id where "
        "the other file calls it otherwise.",
        show_default=False,
    ),
]
AboutOption = Annotated[
    str | None,
    typer.Option(
        "--about",
        help="The attribute that the labels of --human speak of, where they name none.",
        show_default=False,
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="An attribute to read of another tool's file, and no other; may be repeated.",
        show_default=False,
    ),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", help="The folder that holds the data of a benchmark.", show_default=False
    ),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="A rater with whom the others are compared, usually a human. May be repeated.",
        show_default=False,
    ),
]
OffScaleOption = Annotated[
    Literal["missing", "keep", "error"] | None,
    typer.Option(
        "--off-scale",
        help="What happens to values outside the declared scale. [dim]\\[default: missing][/dim]",
        show_default=False,
    ),
]
