"""`voirdire compare`: two sessions, files or examinations beside each other."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from voirdire.cli.columns import OF_ONE_TABLE, answered, takes_read_options
from voirdire.cli.options import (
    JsonOption,
    LevelOption,
    OutFolder,
    ReferenceOption,
    SectionFormats,
    require_option,
)
from voirdire.cli.showing import show_sections

EPILOG = """
Examples:

  voirdire compare last-week this-week

  voirdire compare old.csv new.csv --reference human --out out

  voirdire compare a b --judge "gpt-4o=gpt-5" --with-text

  voirdire compare a b --require "difference_low@Safety>=-0.2"
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare", epilog=EPILOG)(compare)


@takes_read_options((*OF_ONE_TABLE, "family"))
def compare(
    a: Annotated[
        str,
        typer.Argument(
            help="A session, study or file of ratings.", metavar="A", show_default=False
        ),
    ],
    b: Annotated[
        str,
        typer.Argument(
            help="The session, study or file to compare it with.", metavar="B", show_default=False
        ),
    ],
    reference: ReferenceOption = None,
    read: Any = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="Compare these judges, as NAME or OLD=NEW. May be repeated.",
            show_default=False,
        ),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            help="Compare the answers of these systems alone, as NAME or OLD=NEW. May be repeated.",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            help="A mean difference of fewer points than this counts as none. "
            "[dim]\\[default: the study's, 5 % of the scale][/dim]",
            show_default=False,
        ),
    ] = None,
    level: LevelOption = 0.95,
    with_text: Annotated[
        bool,
        typer.Option("--with-text", help="Show both replies on the items that changed most."),
    ] = False,
    out: OutFolder = None,
    require: Annotated[
        list[str] | None,
        require_option(': "difference_low@Safety>=-0.2" or "moved<=0.3"'),
    ] = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Say what has changed between two sets of ratings, paired on the same items."""
    from voirdire.examining import changing
    from voirdire.examining.gates import hold_gates, read_gates
    from voirdire.report.first import comparison_said

    wanted = read_gates(require or [])
    judges, systems = two_names("--judge", judge), two_names("--of", of)
    comparison = answered(
        lambda asked, named: changing.compare(
            a,
            b,
            reference=named,
            read=asked,
            judges=judges,
            systems=systems,
            margin=margin,
            level=level,
            with_text=with_text,
        ),
        read,
        reference,
    )
    sections = changing.comparison_sections(comparison)
    show_sections(
        "Two sources compared",
        "compared",
        sections,
        comparison,
        out,
        formats,
        as_json=as_json,
        held=hold_gates(wanted, changing.comparison_values(comparison)),
        said=comparison_said(comparison),
    )


def two_names(option: str, given: list[str] | None) -> dict[str, str]:
    """Names in A -> names in B, from ``NAME`` or ``OLD=NEW``."""
    from voirdire.errors import InputError

    names: dict[str, str] = {}
    for text in given or ():
        old, equals, new = (part.strip() for part in text.partition("="))
        if not old or (equals and not new):
            raise InputError(f"{option} {text!r}: write NAME, or OLD=NEW")
        names[old] = new or old
    return names
