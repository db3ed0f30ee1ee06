"""Options of commands that write studies: whom to ask, with which model and how."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.errors import InputError
from voirdire.tabular import Marked, Spread, bounds, has_bounds, is_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.tabular import Section

ModelArgument = Annotated[
    list[str],
    typer.Option(
        "--model",
        help='A model as PREFIX:NAME, such as "openai:gpt-4o" or "simulated:a". May be repeated.',
        show_default=False,
    ),
]
ModelOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--model-option",
        help="An option of every model, as NAME=VALUE "
        '("base_url=http://localhost:11434/v1"). May be repeated.',
        show_default=False,
    ),
]
StudyFolder = Annotated[
    Path, typer.Option("--out", "-o", help="The folder to write.", show_default=False)
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
    record: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--model-option {text!r}: write NAME=VALUE")
        try:
            record[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            record[name] = value
    return record


def show_tables(sections: Sequence[Section], *, as_json: bool = False) -> None:
    """Print the tables of sections, all rows of them, or the first of each section as JSON."""
    if as_json:
        plain = [
            {"title": s.title, "text": s.text,
             "rows": [_plain(row) for row in s.table.records()]}
            for s in sections
        ]  # fmt: skip
        typer.echo(json.dumps(plain, indent=2, ensure_ascii=False))
        return
    from voirdire.report.sections import print_section
    from voirdire.shown import terminal

    console = terminal()
    for number, section in enumerate(sections):
        if number:
            console.print()
        filled = replace(section, tables=tuple(table for table in section.tables if table.rows))
        print_section(filled, console, most=None)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(cell) for name, cell in row.items()}


def _value(cell: Any) -> Any:
    """A cell as JSON holds it: an interval as its bounds, a mark and a deviation left out."""
    if isinstance(cell, Marked | Spread):
        return _value(cell.value)
    if is_missing(cell):
        return None
    return list(bounds(cell)) if has_bounds(cell) else cell


def print_next(study: Path, benchmark: str) -> None:
    """Say how a study that was written is run, and how its session is examined."""
    typer.echo(f"Wrote {study}. Run it with: voirdire run {study} --out SESSION")
    typer.echo(f"Then: voirdire examine {benchmark} --data SESSION --out REPORT")
