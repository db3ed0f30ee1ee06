"""CBT-Bench (Zhang et al. 2025): knowledge, cognitive models, and therapists' answers compared."""

from __future__ import annotations

from typing import Any

import voirdire
from voirdire_plugins.resources import resource

_HERE = "voirdire_plugins.cbt_bench"


@voirdire.hookimpl
def voirdire_register_benchmarks(register: Any) -> None:
    """The benchmark: the published label files, or a session run on them."""
    register("cbt_bench", f"{_HERE}.benchmark:BENCHMARK")


@voirdire.hookimpl
def voirdire_register_annotators(register: Any) -> None:
    """Annotators of levels I and II, with the paper's prompts."""
    register("cbt-qa", f"{_HERE}.annotators:make_qa")
    register("cbt-cd", f"{_HERE}.annotators:make_cd")
    register("cbt-pc", f"{_HERE}.annotators:make_pc")
    register("cbt-fc", f"{_HERE}.annotators:make_fc")


@voirdire.hookimpl
def voirdire_register_generators(register: Any) -> None:
    """The generator of level III."""
    register("cbt-dp", f"{_HERE}.annotators:make_dp")


@voirdire.hookimpl
def voirdire_register_judges(register: Any) -> None:
    """The pairwise judge of level III, on the criteria of each exercise."""
    register("cbt-dp", f"{_HERE}.comparison:make")


@voirdire.hookimpl
def voirdire_register_commands(app: Any) -> None:
    """`voirdire paper cbt_bench`: studies to run."""
    from voirdire.cli.declared import add_commands  # noqa: PLC0415 - brings typer

    add_commands(app.papers, resource("cbt_bench", "commands"))
