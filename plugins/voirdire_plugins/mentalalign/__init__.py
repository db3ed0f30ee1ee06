"""MentalAlign-70k (Badawi et al. 2025): four judges, seven attributes, nine systems and a human."""

from __future__ import annotations

from typing import Any

import voirdire
from voirdire_plugins.resources import resource


@voirdire.hookimpl
def voirdire_register_benchmarks(register: Any) -> None:
    """Register the benchmark."""
    register("mentalalign", "voirdire_plugins.mentalalign.benchmark:BENCHMARK")


@voirdire.hookimpl
def voirdire_register_commands(app: Any) -> None:
    """Add `voirdire paper mentalalign`."""
    from voirdire.cli.declared import add_commands  # noqa: PLC0415 - brings typer

    add_commands(app.papers, resource("mentalalign", "commands"))
