"""`voirdire jury`: several judges as one, and whether that is worth its price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.options import (
    DataOption,
    JsonOption,
    LevelOption,
    OutFolder,
    ReferenceOption,
    SectionFormats,
    SourceArgument,
)
from voirdire.cli.showing import show_sections
from voirdire.errors import QuestionError, names_of

JURY = """
Examples:

  voirdire jury ratings.csv --members a,b,c --reference human

  voirdire jury ratings.csv --members a,b,c --combine fitted --reference human --out out

  voirdire jury session --members a,b --combine vote --ratings jury.csv

No model is asked: the jury is derived from existing ratings. A study declares a jury by the keys
use = "jury", members and combine.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("jury", epilog=JURY)(jury)


@takes_read_options()
def jury(
    source: SourceArgument,
    members: Annotated[
        str,
        typer.Option(
            "--members",
            help="The raters of the jury, separated by commas. "
            "[dim]\\[default: the juries of the study][/dim]",
            show_default=False,
        ),
    ] = "",
    combine: Annotated[
        Literal["mean", "median", "vote", "fitted", "dawid_skene"],
        typer.Option(
            "--combine",
            help="How their scores are put together; fitted weighs them by the human ratings of "
            "other items.",
        ),
    ] = "mean",
    reference: ReferenceOption = None,
    read: Any = None,
    name: Annotated[str, typer.Option("--name", help="What the jury is called.")] = "jury",
    data: DataOption = None,
    level: LevelOption = 0.95,
    ratings: Annotated[
        Path | None,
        typer.Option(
            "--ratings", help="The CSV file for the scores of the jury.", show_default=False
        ),
    ] = None,
    out: OutFolder = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether several judges together are worth their price."""
    from voirdire.examining.juries import examine_jury, jury_sections
    from voirdire.files import write_csv

    jurors = tuple(names_of([members]))

    def examine(asked: Any, named: tuple[str, ...]) -> Any:
        return examine_jury(
            source,
            jurors,
            combine,
            name=name,
            data=data,
            reference=named,
            read=asked,
            level=level,
        )

    def known(asked: Any, named: tuple[str, ...]) -> Any:
        try:
            return examine(asked, named)
        except QuestionError as question:
            # Who is asked for as a judge was named already, as a member.
            if question.key != "judge" or not jurors:
                raise
            return examine(asked.with_(judge=jurors), named)

    examined = answered(known, read, reference)
    if ratings is not None:
        write_csv(ratings, examined.ratings, again=True)
    sections = jury_sections(examined.results)
    show_sections("Juries", "jury", sections, examined, out, formats, as_json=as_json)
