"""`voirdire watch`: a folder of judgements and labels that grows, looked at again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.options import (
    JsonOption,
    OnOption,
    OutFolder,
    ReferenceOption,
    SectionFormats,
    require_option,
)
from voirdire.cli.showing import show_sections

EPILOG = """
Examples:

  voirdire watch production --at date --reference human

  voirdire watch production --at date --reference human --budget 20

  voirdire watch production --at date --reference human --require "alarm<=0"

Files of the folder whose names begin with "labels" hold what people said, and are joined to the
others by their ids. What each week came to is kept in watch.json there: run it again when files
have grown, and take old ones away as you like. With --budget, next.csv names the responses to
label, which humans export takes by --queue.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("watch", epilog=EPILOG)(watch)


@takes_read_options()
def watch(
    folder: Annotated[
        Path, typer.Argument(help="The folder of tables that grow.", show_default=False)
    ],
    at: Annotated[
        str,
        typer.Option(
            "--at", help="The column that says when a response was made.", show_default=False
        ),
    ],
    reference: ReferenceOption = None,
    read: Any = None,
    on: OnOption = "",
    every: Annotated[
        Literal["day", "week", "month"], typer.Option("--every", help="How long a period is.")
    ] = "week",
    baseline: Annotated[
        int,
        typer.Option(
            "--baseline", min=1, help="The number of first periods that the others are held to."
        ),
    ] = 4,
    looks: Annotated[
        int,
        typer.Option("--looks", min=1, help="The number of periods that share one false alarm."),
    ] = 52,
    alpha: Annotated[
        float,
        typer.Option("--alpha", help="The probability of a false alarm in all of these."),
    ] = 0.05,
    gate: Annotated[
        float | None,
        typer.Option(
            "--gate", help="Scores at or above this one pass: watch pass rates.", show_default=False
        ),
    ] = None,
    budget: Annotated[
        int,
        typer.Option(
            "--budget",
            min=0,
            help="The number of labels of each period: what is missing of the newest is drawn.",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of that draw.")] = 0,
    out: OutFolder = None,
    require: Annotated[
        list[str] | None, require_option(': "alarm<=0" or "people_mean_low>=4.0"')
    ] = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether the system has moved, or the judge, as judgements and labels come in."""
    from voirdire.examining import correcting
    from voirdire.examining.gates import hold_gates, read_gates

    wanted = read_gates(require or [])
    watching = answered(
        lambda asked, named: correcting.watch_folder(
            folder,
            at=at,
            reference=named,
            read=asked,
            on=on,
            every=every,
            baseline=baseline,
            looks=looks,
            alpha=alpha,
            gate=gate,
            budget=budget,
            seed=seed,
        ),
        read,
        reference,
    )
    where = ""
    if watching.draw is not None:
        from voirdire.files import write_csv

        where = str(folder / "next.csv")
        write_csv(where, watching.draw.units, again=True)
    sections = correcting.watching_sections(watching, where)
    show_sections(
        "What has moved",
        "watch",
        sections,
        watching,
        out,
        formats,
        as_json=as_json,
        held=hold_gates(wanted, correcting.watching_values(watching)),
    )
