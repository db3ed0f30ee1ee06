"""The typer application: built-in commands first, then those of plugins."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from typing import Annotated

import typer

from voirdire import __version__
from voirdire._manager import GROUP, load
from voirdire._registry import Plugins
from voirdire.cli import (
    annotators,
    audit,
    compare,
    correct,
    demo,
    examine,
    gate,
    humans,
    importing,
    init,
    item,
    jury,
    labels,
    look,
    new,
    plugins,
    probe,
    run,
    session,
)
from voirdire.cli._application import Application
from voirdire.cli._help import lay_out_help

COMMANDS = (
    demo,
    run,
    session,
    examine,
    correct,
    compare,
    look,
    item,
    gate,
    probe,
    jury,
    labels,
    humans,
    annotators,
    importing,
    audit,
    init,
    new,
    plugins,
)

HELP = """
Run panels of LLM judges, annotators and classifiers, and examine whether they can be trusted.

No result of voirdire licenses clinical use.
"""

EPILOG = (
    "Exit codes: 0 fine, 1 bad input, 2 usage, 3 partial result, "
    "4 requirement unmet, 130 interrupted."
)


def build_app() -> typer.Typer:
    """A fresh application with every command registered."""
    return assemble()[0]


def assemble() -> tuple[typer.Typer, Plugins]:
    """A fresh application, and the plugins whose commands it holds."""
    app = Application(
        name="voirdire",
        help=HELP,
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for module in COMMANDS:
        module.register(app)
    found = load(entry_points(group=GROUP), app, os.environ.get("VOIRDIRE_LOAD_PLUGINS"))
    app.show_papers()
    lay_out_help(app)
    return app, found


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"voirdire {__version__}")
        raise typer.Exit


def _root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The options that stand before a command."""


_root.__doc__ = HELP
