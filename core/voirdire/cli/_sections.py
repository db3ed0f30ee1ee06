"""What commands share that end in sections: where these are written, and printing them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli._formats import formats_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.gates import GateResult
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
    held: Sequence[GateResult] = (),
) -> None:
    """Print and write what a command found, and how `held` gates came out.

    Raises
    ------
    InputError, RequirementUnmetError
        As `must_hold`, after all has been written.
    """
    from voirdire.examining.gates import gates_section, must_hold
    from voirdire.report.sections import FORMATS, json_text, print_sections, write_sections

    findings: Sequence[Finding] = found.findings  # type: ignore[attr-defined]
    asked = formats_of(formats, out, FORMATS, FORMATS)
    record = with_gates(found, held)
    if held:
        sections = (*sections, gates_section(held))
    if out is not None:
        write_sections(title, sections, out, name, formats=asked, record=record, findings=findings)
    if as_json:
        typer.echo(json_text(record))
    else:
        print_sections(title, sections, findings)
        if out is not None:
            typer.echo(f"Written to {out}")
    for line in must_hold(held):
        typer.echo(line, err=as_json)


def with_gates(found: object, held: Sequence[GateResult]) -> object:
    """What a JSON record holds: the result itself, with its gates where there are any."""
    from voirdire.report._records import plain

    return {**plain(found), "requirements": held} if held else found
