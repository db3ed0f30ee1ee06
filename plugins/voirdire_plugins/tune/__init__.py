"""Tune a judge on people's labels, and tell the truth about by how much it is better."""

from __future__ import annotations

from typing import Any

import voirdire

_HERE = "voirdire_plugins.tune"


@voirdire.hookimpl
def voirdire_register_optimizers(register: Any) -> None:
    """GEPA, where it is installed (`pip install "voirdire[gepa]"`)."""
    register("gepa", f"{_HERE}.gepa:make")


@voirdire.hookimpl
def voirdire_register_commands(app: Any) -> None:
    """`voirdire tune`."""
    from voirdire_plugins.tune.commands import register  # noqa: PLC0415 - brings typer

    register(app)
