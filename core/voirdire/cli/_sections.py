"""What commands share that end in sections: where these are written, and printing them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli._formats import formats_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tabular import Section

OutFolder = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="The folder for the tables and figures.", show_default=False),
]
SectionFormats = Annotated[
    str | None,
    typer.Option(
        "--format", help="The formats to write, separated by commas: html, md, "
            "tex, csv, json. [dim]\\[default: all][/dim]",
        show_default=False,
    ),
]  # fmt: skip


def show_sections(
    title: str,
    name: str,
    sections: Sequence[Section],
    found: object,
    out: Path | None,
    formats: str | None,
    *,
    as_json: bool,
) -> None:
    """Print and write what a command found."""
    from voirdire.report.sections import FORMATS, json_text, print_sections, write_sections

    findings: Sequence[Finding] = found.findings  # type: ignore[attr-defined]
    asked = formats_of(formats, out, FORMATS, FORMATS)
    if out is not None:
        write_sections(title, sections, out, name, formats=asked, record=found, findings=findings)
    if as_json:
        typer.echo(json_text(found))
        return
    print_sections(title, sections, findings)
    if out is not None:
        typer.echo(f"Written to {out}")
