"""What the retrieval room registers: selectors, a tool, and the command `voirdire index`."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING

from voirdire.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

_SELECTORS = {
    "nearest": "nearest",
    "balanced": "balanced",
    "diverse": "diverse",
    "random": "random_examples",
    "fixed": "fixed",
}


@hookimpl
def voirdire_register_selectors(register: Callable[[str, str], None]) -> None:
    """Register the selectors of few-shot examples."""
    for name, attribute in _SELECTORS.items():
        register(name, f"voirdire_retrieval._ready:{attribute}")


@hookimpl
def voirdire_register_tools(register: Callable[[str, str], None]) -> None:
    """Register the tool that looks into an index."""
    register("retrieve", "voirdire_retrieval._tool:make")


@hookimpl
def voirdire_register_commands(app: typer.Typer) -> None:
    """Add `voirdire index` and `voirdire corpora`."""
    from voirdire.cli.declared import add_commands

    declared = files("voirdire_retrieval") / "commands.toml"
    for table in tomllib.loads(declared.read_text(encoding="utf-8")).values():
        add_commands(app, table)
