"""ANGST (Hengle et al. 2024): depression and anxiety in posts, few-shot, silver labels, scales.

No result of it licenses clinical use.
"""

from __future__ import annotations

from typing import Any

import voirdire
from voirdire_plugins.resources import resource


@voirdire.hookimpl
def voirdire_register_annotators(register: Any) -> None:
    """Register the prompts of Tables 9 and 17."""
    register("angst", "voirdire_plugins.angst.annotators:make")
    register("angst-silver", "voirdire_plugins.angst.silver:make")


@voirdire.hookimpl
def voirdire_register_benchmarks(register: Any) -> None:
    """Register the benchmark."""
    register("angst", "voirdire_plugins.angst.benchmark:BENCHMARK")


@voirdire.hookimpl
def voirdire_register_commands(app: Any) -> None:
    """Add `voirdire paper angst`."""
    from voirdire.cli.declared import add_commands  # noqa: PLC0415 - brings typer

    add_commands(app.papers, resource("angst", "commands"))
