"""`voirdire session`: look at a session, and derive its tables anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.shown import visible

STATUS = """
Examples:

  voirdire session status a

  voirdire session status a --json
"""
SHOW = """
Examples:

  voirdire session show a

  voirdire session show a --item p1 --rater north

  voirdire session show a --failed --most 5
"""
REPARSE = """
Examples:

  voirdire session reparse a
"""

FolderArgument = Annotated[
    Path, typer.Argument(help="The folder of the session.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        help="Look at a session, or read its stored replies again.", no_args_is_help=True
    )
    group.command("status", epilog=STATUS)(status)
    group.command("show", epilog=SHOW)(show)
    group.command("reparse", epilog=REPARSE)(reparse)
    app.add_typer(group, name="session")


def status(
    folder: FolderArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Show how far each rater is, what failed and what it cost, also during a run."""
    from voirdire.cli.run import print_result
    from voirdire.running import session_status

    result = session_status(folder)
    if as_json:
        typer.echo(result.to_json())
        return
    print_result(result)
    typer.echo("Complete." if result.complete else "Not complete.")


def show(
    folder: FolderArgument,
    item: Annotated[
        str | None, typer.Option("--item", help="Show only this item.", show_default=False)
    ] = None,
    rater: Annotated[
        str | None, typer.Option("--rater", help="Show only this rater.", show_default=False)
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Show only calls that failed.")] = False,
    most: Annotated[int, typer.Option("--most", min=1, help="The most calls to show.")] = 20,
) -> None:
    """Show single calls: the replies as they came, faults and tokens."""
    from voirdire.secrets import Hider, environment_keys
    from voirdire.store import replies_frame

    hide = Hider(environment_keys().values())

    frame = replies_frame(folder)
    for column, wanted in (("item", item), ("rater", rater)):
        if wanted is not None:
            frame = frame.filter(frame[column] == wanted)
    if failed:
        frame = frame.filter(frame["error"].is_not_null())
    for row in frame.head(most).iter_rows(named=True):
        typer.echo(hide(_attempt(row)))
    if frame.height > most:
        typer.echo(f"... and {frame.height - most} more (--most)")


def reparse(folder: FolderArgument) -> None:
    """Read all stored replies again and rewrite the tables. No model is asked."""
    from voirdire import store

    for name, rows in store.reparse(folder).items():
        typer.echo(f"{name}: {rows:,} rows")


def _attempt(row: dict[str, object]) -> str:
    """One attempt as text; control characters of a hostile reply are made visible."""
    about = " / ".join(_plain(row[key]) for key in ("item", "first", "second") if row[key])
    head = f"{_plain(row['rater'])} on {about}, run {row['run']}, step {row['step']}: "
    if row["error"]:
        return head + f"{row['error']}: {_plain(row['message'])}"
    counts = f"{row['input']} + {row['output']} tokens, {row['latency']:.2f} s"
    notes = f", {_plain(row['notes'])}" if row["notes"] else ""
    what = f"{row['finish_reason']}, {row['status']}, {counts}{notes}"
    return head + f"{what}\n    {_plain(row['text'])}"


def _plain(text: object) -> str:
    """In one line."""
    return visible(text or "").replace("\n", "\\n")
