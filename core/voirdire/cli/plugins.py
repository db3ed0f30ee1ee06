"""`voirdire plugins`: what is installed, what it registers, and what failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from voirdire._registry import Plugins

EPILOG = """
Examples:

  voirdire plugins

  VOIRDIRE_LOAD_PLUGINS= voirdire plugins --json
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plugins", epilog=EPILOG)(list_plugins)


def list_plugins(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List the plugins: their versions, hooks and names, and why any of them failed.

    VOIRDIRE_LOAD_PLUGINS names the third-party plugins to load, separated by commas; an empty value
    loads none. Built-in plugins are always loaded.
    """
    from voirdire.cli._app import assemble

    rows = describe(assemble()[1])
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    _print(rows)


def describe(found: Plugins) -> list[dict[str, Any]]:
    """One plain object a plugin."""
    return [
        {
            "name": name,
            "version": found.versions.get(name, ""),
            "hooks": found.hooks.get(name, []),
            "registers": [
                {"kind": one.kind, "name": one.name, "target": one.target}
                for one in found.registered.values()
                if one.plugin == name
            ],
            "failure": found.failures.get(name),
        }
        for name in dict.fromkeys((*found.versions, *found.failures))
    ]


def _print(rows: list[dict[str, Any]]) -> None:
    from voirdire.report import print_fitted
    from voirdire.shown import terminal, visible
    from voirdire.tabular import Table, text

    cells = []
    for row in rows:
        things = [f"{one['kind']} {one['name']}" for one in row["registers"]]
        things += ["commands"] if "voirdire_register_commands" in row["hooks"] else []
        cells.append((row["name"], row["version"], ", ".join(things) or None))
    console = terminal()
    columns = (text("plugin"), text("version"), text("registers"))
    print_fitted(console, Table(columns, tuple(cells)))
    for row in rows:
        if row["failure"]:
            console.print(visible(f"\n{row['name']}: {row['failure']}"), style="red")
