"""`voirdire item`: one item, with what every rater said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from voirdire.cli.columns import OF_FILES, answered, takes_read_options
from voirdire.cli.options import JsonOption, ReferenceOption
from voirdire.cli.showing import show_tables

EPILOG = """
Examples:

  voirdire item session 17

  voirdire item ratings.csv p1

  voirdire item mentalalign 5 --data FOLDER
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("item", epilog=EPILOG)(item)


@takes_read_options(OF_FILES)
def item(
    source: Annotated[
        str,
        typer.Argument(
            help="A session, a file of ratings, a study or a benchmark's name.", show_default=False
        ),
    ],
    name: Annotated[str, typer.Argument(help="The id of the item.", metavar="ID")],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The folder of a benchmark's data.", show_default=False),
    ] = None,
    reference: ReferenceOption = None,
    read: Any = None,
    as_json: JsonOption = False,
) -> None:
    """Show one item: the labels of every run and the scores of every rater, side by side."""
    from voirdire.examining.item import item_sections

    sections = answered(
        lambda asked, named: item_sections(source, name, data=data, reference=named, read=asked),
        read,
        reference,
    )
    show_tables(sections, as_json=as_json)
