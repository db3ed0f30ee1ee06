"""`voirdire new`: a plugin of one's own, begun."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from voirdire.cli.machine import answer_of, collect

EPILOG = """
Examples:

  voirdire new judge next-step

  voirdire new reader my-tool --out plugins/my-tool

The kinds are judge, annotator, model, classifier, reader, tool, probe, optimizer and
benchmark.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("new", epilog=EPILOG)(new)


def new(
    kind: Annotated[str, typer.Argument(help="The kind of plugin.", show_default=False)],
    name: Annotated[
        str, typer.Argument(help="The name, as a study will use it.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder to write.", show_default="voirdire-NAME"),
    ] = None,
) -> None:
    """Write a small plugin that installs, passes its own tests and runs; then change it."""
    from voirdire.cli.app import assemble
    from voirdire.kit import KINDS, write_plugin
    from voirdire.shown import visible

    folder = out or Path(f"voirdire-{name}")
    written = write_plugin(kind, name, folder, assemble()[1])
    for path in written:
        typer.echo(visible(str(path)))
    shown = visible(str(folder))
    tries = KINDS[kind].tries.replace("@name@", name)
    typer.echo(
        f'\nNext:\n  cd {shown}\n  pip install -e ".[test]"\n  pytest\n  {tries}\n\n'
        f"Then change {visible(str(next(path for path in written if path.name == f'{kind}.py')))}."
    )
    collect(
        answer_of(
            f"Wrote {len(written)} files in {shown}.", next=[{"say": "Try it.", "command": tries}]
        ),
        {"folder": str(folder), "written": [str(path) for path in written]},
    )
