"""Cognitive distortions (Sharma et al.): repeated annotation, label consistency, kappa_F1."""

from __future__ import annotations

from typing import Any

import voirdire
from voirdire_plugins.resources import resource

_HERE = "voirdire_plugins.distortions"


@voirdire.hookimpl
def voirdire_register_annotators(register: Any) -> None:
    """The annotator with the paper's labels and prompts."""
    register("distortions", f"{_HERE}.annotator:make")


@voirdire.hookimpl
def voirdire_register_benchmarks(register: Any) -> None:
    """Register the benchmark."""
    register("distortions", f"{_HERE}.benchmark:BENCHMARK")


@voirdire.hookimpl
def voirdire_register_commands(app: Any) -> None:
    """`voirdire paper distortions`: data sets from a session."""
    from voirdire.cli.declared import add_commands  # noqa: PLC0415 - brings typer

    add_commands(app.papers, resource("distortions", "commands"))
