"""Options of commands that write studies: whom to ask, with which model and how."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

ModelArgument = Annotated[
    list[str],
    typer.Option(
        "--model",
        help='A model as PREFIX:NAME, such as "openai:gpt-4o" or "simulated:a"; repeat for more.',
        show_default=False,
    ),
]
ModelOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--model-option",
        help="An option of every model, as NAME=VALUE "
        '("base_url=http://localhost:11434/v1"); repeat for more.',
        show_default=False,
    ),
]
StudyFolder = Annotated[
    Path, typer.Option("--out", "-o", help="The folder that is written.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def model_options(given: Sequence[str] | None) -> dict[str, Any]:
    """A model's options from ``NAME=VALUE``; a value that is a TOML value is read as one.

    Raises
    ------
    InputError
        An option without ``=``.

    Examples
    --------
    >>> model_options(["timeout=3.5", "base_url=http://localhost:1/v1", 'answers=["a", "b"]'])
    {'timeout': 3.5, 'base_url': 'http://localhost:1/v1', 'answers': ['a', 'b']}
    """
    found: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--model-option {text!r}: write NAME=VALUE")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def print_next(study: Path, benchmark: str) -> None:
    """Say how a study that was written is run, and how its session is examined."""
    typer.echo(f"Wrote {study}. Run it with: voirdire run {study} --out SESSION")
    typer.echo(f"Then: voirdire examine {benchmark} --data SESSION --out REPORT")
