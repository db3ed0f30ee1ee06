"""How commands end: tables, findings and gates, printed or as JSON, and written where asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import typer

from voirdire.cli.machine import MOST, emit, sections_answer, value_of
from voirdire.cli.options import formats_of
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.gates import GateResult
    from voirdire.schema import Finding
    from voirdire.tabular import Section


class HasFindings(Protocol):
    """A result with what is odd in its data."""

    @property
    def findings(self) -> Sequence[Finding]: ...


def show_sections(
    title: str,
    name: str,
    sections: Sequence[Section],
    result: HasFindings,
    out: Path | None,
    formats: str | None,
    *,
    as_json: bool,
    held: Sequence[GateResult] = (),
    said: Sequence[str] = (),
) -> None:
    """Print and write a result, and how `held` gates came out; what is `said` stands first.

    Raises
    ------
    InputError, RequirementUnmetError
        As `must_hold`, after all has been written.
    """
    from voirdire.examining.gates import gates_section, must_hold
    from voirdire.report.printing import print_sections
    from voirdire.report.sections import FORMATS, write_sections

    findings = result.findings
    asked = formats_of(formats, out, FORMATS, FORMATS)
    record = with_gates(result, held)
    if held:
        sections = (*sections, gates_section(held))
    if out is not None:
        write_sections(title, sections, out, name, formats=asked, record=record, findings=findings)
    if as_json:
        emit(sections_answer(title, sections, held, said), record)
    else:
        for sentence in said[:MOST]:
            typer.echo(visible(sentence))
        print_sections(title, sections, findings)
        if out is not None:
            typer.echo(f"Written to {out}")
    for line in must_hold(held):
        typer.echo(line, err=as_json)


def with_gates(result: object, held: Sequence[GateResult]) -> object:
    """What a JSON record holds: the result itself, with its gates where there are any."""
    from voirdire.report.records import plain

    return {**plain(result), "requirements": held} if held else result


def show_tables(sections: Sequence[Section], *, as_json: bool = False) -> None:
    """Print the tables of sections, all rows of them; as JSON an object for each table."""
    if as_json:
        answer = sections_answer(sections[0].title if sections else "", sections)
        emit(answer, {"tables": plain_tables(sections)})
        return
    from voirdire.report.printing import print_section
    from voirdire.shown import terminal

    console = terminal()
    for number, section in enumerate(sections):
        if number:
            console.print()
        filled = replace(section, tables=tuple(table for table in section.tables if table.rows))
        print_section(filled, console, most=None)


def plain_tables(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """An object for each table of sections, as JSON holds it."""
    return [
        {"title": s.title, "text": s.text, "rows": [_plain(row) for row in table.records()]}
        for s in sections
        for table in s.tables or (s.table,)
    ]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value_of(cell) for name, cell in row.items()}


def print_next(study: Path, benchmark: str) -> None:
    """Say how a study that was written is run, and how its session is examined."""
    run, examined = (step["command"] for step in study_steps(study, benchmark))
    typer.echo(f"Wrote {study}. Run it with: {run}")
    typer.echo(f"Then: {examined}")


def study_steps(study: Path, benchmark: str) -> list[dict[str, str]]:
    """The two commands after a study was written."""
    return [
        {"say": "Run it.", "command": f"voirdire run {study} --out SESSION"},
        {
            "say": "Examine what came.",
            "command": f"voirdire examine {benchmark} --data SESSION --out REPORT",
        },
    ]
