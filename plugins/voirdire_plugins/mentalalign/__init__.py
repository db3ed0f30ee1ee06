"""MentalAlign-70k (Badawi et al. 2025): four judges, seven attributes, nine systems and a human."""

from __future__ import annotations

from typing import Any

import voirdire


@voirdire.hookimpl
def voirdire_register_benchmarks(register: Any) -> None:
    """Register the benchmark."""
    register("mentalalign", "voirdire_plugins.mentalalign.benchmark:BENCHMARK")


@voirdire.hookimpl
def voirdire_register_commands(app: Any) -> None:
    """Add `voirdire paper mentalalign`."""
    from voirdire_plugins.mentalalign.command import register  # noqa: PLC0415 - brings typer

    register(app)
