"""Options of commands that write studies: whom to ask, with which model and how."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.errors import InputError
from voirdire.tabular import Marked, Spread, bounds, is_missing

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


def sections_text(sections: Sequence[Section], *, as_json: bool = False) -> str:
    """The first table of each section as aligned text with its caption, or as JSON."""
    if as_json:
        plain = [
            {"title": s.title, "text": s.text,
             "rows": [_plain(row) for row in s.table.records()]}
            for s in sections
        ]  # fmt: skip
        return json.dumps(plain, indent=2, ensure_ascii=False)
    return "\n\n".join("\n".join(_aligned(section)) for section in sections)


def _aligned(section: Section) -> list[str]:
    if not section.has_rows:
        return [section.title, section.text or "There is nothing to show."]
    cells = [section.table.names, *section.table.written()]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in cells
    ]
    return [section.title, *lines, *([section.text] if section.text else [])]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(cell) for name, cell in row.items()}


def _value(cell: Any) -> Any:
    """A cell as JSON holds it: an interval as its bounds, a mark and a deviation left out."""
    if isinstance(cell, Marked | Spread):
        return _value(cell.value)
    if is_missing(cell):
        return None
    return list(bounds(cell)) if hasattr(cell, "low") or isinstance(cell, tuple) else cell


def print_next(study: Path, benchmark: str) -> None:
    """Say how a study that was written is run, and how its session is examined."""
    typer.echo(f"Wrote {study}. Run it with: voirdire run {study} --out SESSION")
    typer.echo(f"Then: voirdire examine {benchmark} --data SESSION --out REPORT")
