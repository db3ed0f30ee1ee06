"""`voirdire audit`: what is odd in the data, before any number."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.machine import MOST, answer_of, emit
from voirdire.cli.options import (
    DataOption,
    JsonOption,
    ReferenceOption,
    SourcesArgument,
)
from voirdire.errors import RequirementUnmetError
from voirdire.shown import visible

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


@takes_read_options()
def audit(
    source: SourcesArgument,
    data: DataOption = None,
    reference: ReferenceOption = None,
    read: Any = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 4 if any finding is blocking.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List what is odd in the data, how serious it is, where it is, and what follows from it."""
    from dataclasses import asdict

    from voirdire.examining import audit_source

    findings = answered(
        lambda asked, named: audit_source(source, data=data, reference=named, read=asked),
        read,
        reference,
    )
    if as_json:
        counts = Counter(finding.severity for finding in findings)
        told = [f"{count} {name}" for name, count in counts.items()]
        emit(
            answer_of(
                f"The audit found: {', '.join(told)}." if told else "Nothing odd was found.",
                sentences=[f"{one.severity}: {one.message}" for one in findings[:MOST]],
                states=dict(counts),
                more=max(len(findings) - MOST, 0),
            ),
            {"findings": [asdict(finding) for finding in findings]},
        )
    else:
        _print(findings)
    blocking = [finding for finding in findings if finding.severity == "blocking"]
    if strict and blocking:
        noun = "finding" if len(blocking) == 1 else "findings"
        raise RequirementUnmetError(
            [
                f"--strict: {len(blocking)} blocking {noun}: {finding.message}"
                for finding in blocking
            ]
        )


def _print(findings: Sequence[Finding]) -> None:
    from rich.text import Text

    from voirdire.shown import terminal

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
            shown = "; ".join(finding.places[:8]) + (" ..." if len(finding.places) > 8 else "")
            console.print(Text(f"         at {visible(shown)}", style="dim"))
