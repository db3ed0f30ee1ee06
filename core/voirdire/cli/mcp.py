"""`voirdire mcp`: this program as an MCP server, on standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """
Examples:

  voirdire mcp --folder data

  voirdire mcp --folder data --folder sessions --texts

  voirdire mcp --folder data --max-cost 5

A client starts it: its settings hold the command and these words. Tools: examine, correct, plan,
compare, gate_check, item, tune and run. Each is the command of that name, and gives what the
command prints with --json.

A command that asks models gets its budget first, and shows it back before anybody is asked.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mcp", epilog=EPILOG)(mcp)


def mcp(
    folder: Annotated[
        list[Path],
        typer.Option(
            "--folder",
            help="A folder whose files may be read and written; all others are refused. May be "
            "repeated. Names of files begin at the first.",
            show_default=False,
        ),
    ],
    texts: Annotated[
        bool,
        typer.Option(
            "--texts",
            help="Let texts of items, responses and replies be shown, and whole pages of reports.",
        ),
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0,
            help="The most that one call may be given to spend. [dim]\\[default: as the call "
            "says][/dim]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve tools and pages to a coding agent, as an MCP server on standard input and output."""
    from voirdire.cli.folders import Folders
    from voirdire.cli.machine import COLLECTED
    from voirdire.cli.serving import serve
    from voirdire.errors import InputError

    if COLLECTED.get() is not None:
        raise InputError("--json: an MCP server speaks JSON with its client already; leave it out")
    for one in folder:
        if not one.is_dir():
            raise InputError(f"--folder {one}: there is no such folder")
    serve(Folders(tuple(one.resolve() for one in folder)), texts=texts, ceiling=max_cost)
