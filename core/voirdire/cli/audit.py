"""`voirdire audit`: what is odd in the data, before any number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire._shown import visible
from voirdire.cli._options import DataOption, ReferenceOption, SourceArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding

EPILOG = """
Examples:

  voirdire audit ratings.xlsx

  voirdire audit study.toml --json > audit.json
"""
STYLES = {"blocking": "bold red", "serious": "yellow", "note": "dim"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", epilog=EPILOG)(audit)


def audit(
    source: SourceArgument,
    data: DataOption = None,
    reference: ReferenceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List what is odd in the data: severity, count, places and consequence."""
    from dataclasses import asdict

    from voirdire.examining import audit_source

    findings = audit_source(source, data=data, reference=tuple(reference or ()))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
        return
    _print(findings)


def _print(findings: Sequence[Finding]) -> None:
    from rich.text import Text

    from voirdire._shown import terminal

    console = terminal()
    if not findings:
        console.print("Nothing odd was found.")
    for finding in findings:
        head = Text(f"{finding.severity:<8} ", style=STYLES[finding.severity])
        head.append(visible(finding.message), style="default")
        if finding.table:
            head.append(f"  [{visible(finding.table)}]", style="dim")
        console.print(head)
        console.print(Text(f"         {visible(finding.consequence)}", style="dim"))
        if finding.places:
            shown = ", ".join(finding.places[:8]) + (" ..." if len(finding.places) > 8 else "")
            console.print(Text(f"         at {visible(shown)}", style="dim"))
