"""What the retrieval room registers: selectors, a tool, and the command `voirdire index`."""

from __future__ import annotations

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
    """Add `voirdire index`."""
    from voirdire_retrieval._commands import register

    register(app)
