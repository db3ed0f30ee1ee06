"""`voirdire look`: single responses on a local page, and labels set while looking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.humans import serve_until_stopped, warn_of_network
from voirdire.cli.options import (
    DataOption,
    ReferenceOption,
    SourceArgument,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.looking import Material
    from voirdire.study import ReadOptions

EPILOG = """
Examples:

  voirdire look ratings.csv --reference human

  voirdire look session --with-text --as ann

  voirdire look session --beside earlier --with-text

  voirdire look ratings.csv --static out.html

  voirdire look ratings.csv --reference human --open '/list?judge=gpt&sort=influence'

Labels that are set on the page are kept in SOURCE.voirdire, or in the session, and voirdire examine
counts them as ratings of humans on chosen responses.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("look", epilog=EPILOG)(look)


@takes_read_options()
def look(
    source: SourceArgument,
    reference: ReferenceOption = None,
    data: DataOption = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Show the texts of items, answers and replies.")
    ] = False,
    static: Annotated[
        Path | None,
        typer.Option(
            "--static",
            help="Write one HTML file of up to 2,000 rows, which needs no server, and stop.",
            show_default=False,
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            "--beside",
            help="Another source, such as last week's session: scores that differ are shown as "
            "changes.",
            metavar="SOURCE",
            show_default=False,
        ),
    ] = None,
    who: Annotated[
        str,
        typer.Option(
            "--as",
            help="Your name, kept with the labels that you set. "
            "[dim]\\[default: your name on this machine][/dim]",
            show_default=False,
        ),
    ] = "",
    read: Any = None,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            help="Scores at or above this one pass: 4, or 4,0.9,0.8 as in voirdire examine.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to serve on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any free one.")
    ] = 8378,
    opened_at: Annotated[
        str,
        typer.Option(
            "--open",
            help="The address in the page to begin with, such as report.html names.",
            metavar="ADDRESS",
        ),
    ] = "/",
    network: Annotated[
        bool, typer.Option("--network", help="Allow an address that other machines can reach.")
    ] = False,
) -> None:
    """Look at single responses where judge and humans differ. Ctrl-C ends the page."""
    from voirdire.examining.source import options_of

    def made(source: str, read: ReadOptions, beside: Material | None = None) -> Material:
        return answered(
            lambda asked, named: _material(
                source, data, named, asked, gate, with_text=with_text, beside=beside
            ),
            read,
            reference,
        )

    first, second = options_of((source, beside), read)
    earlier = None if beside is None else made(beside, second)
    material = made(source, first, earlier)
    name = Path(source).name or source
    if static is not None:
        from voirdire.looking import write_static

        typer.echo(f"{write_static(material, name, static):,} rows: {static}")
        return
    _serve(material, name, who or _own_name(), host, port, opened_at, network=network)


def _material(
    source: str,
    data: Path | None,
    reference: Sequence[str],
    read: ReadOptions,
    gate: str | None,
    *,
    with_text: bool,
    beside: Material | None,
) -> Material:
    from dataclasses import replace

    from voirdire.cli.examine import gate_asked
    from voirdire.examining import examine_inputs
    from voirdire.examining.as_ratings import as_ratings, questions_of
    from voirdire.examining.source import inputs_of, labelled_at, open_source
    from voirdire.examining.verdict.gathering import judged_of
    from voirdire.looking import material_of

    asked = gate_asked(gate)
    changes: dict[str, dict[str, Any]] = {
        # The bootstrap decides nothing that is shown here.
        "analysis": {"resamples": 0},
        "data": {"reference": tuple(reference) or None},
    }
    opened = open_source(source, data=data, reference=reference, read=read, changes=changes)
    inputs = inputs_of(opened)
    if asked is not None:
        inputs = replace(inputs, study=inputs.study.model_copy(update={"gate": asked}))
    questions = questions_of(opened)
    if questions:
        # Shown are numbers from 0 to 1, one attribute a label, and the verdicts on what was said.
        judged = judged_of(inputs)
        inputs = replace(inputs_of(as_ratings(opened, reference)), questions=questions)
        examination = examine_inputs(inputs).with_verdicts(judged.verdicts)
    else:
        examination = examine_inputs(inputs)
    labels = labelled_at(source, opened.session)
    return material_of(inputs, examination, labels, with_text=with_text, beside=beside)


def _serve(
    material: Material, name: str, who: str, host: str, port: int, start: str, *, network: bool
) -> None:
    from voirdire.looking import LookServer

    with LookServer(material, name, who, host, port, start=start, network=network) as server:
        if network:
            warn_of_network("its address can read what it shows and set labels")
        serve_until_stopped(server, [f"Open {server.link}"])
        kept = material.labels().height
        typer.echo(f"\nLabels set by hand: {kept:,}." if kept else "")


def _own_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user is known, as in some containers
        return ""
