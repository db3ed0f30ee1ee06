"""`voirdire gate`: freeze a judge, and hold it to the lock later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli._options import ReferenceOption, SourceArgument
from voirdire.cli.options import JsonOption

if TYPE_CHECKING:
    from voirdire.examining.changing import GateCheck

HELP = """
Freeze a judge in a lock file, and tell later whether it has changed, without false alarms.
"""
FREEZE = """
Examples:

  voirdire gate freeze session --as judge.lock

  voirdire gate freeze ratings.csv --reference ann --items 200 --as judge.lock
"""
CHECK = """
Examples:

  voirdire gate check session --lock judge.lock

  voirdire gate check session --lock judge.lock --junit gate.xml --markdown gate.md

  voirdire gate check session --lock judge.lock --require "shift_low@Safety>=-0.1"

Exit codes: 0 nothing has changed, 3 a part of the canary has no score, 4 a change, or a judge that
is no longer good.
"""


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(name="gate", help=HELP, no_args_is_help=True)
    group.command("freeze", epilog=FREEZE)(freeze)
    group.command("check", epilog=CHECK)(check)
    app.add_typer(group)


def freeze(
    source: SourceArgument,
    lock: Annotated[
        Path, typer.Option("--as", help="The lock file that is written.", show_default=False)
    ],
    reference: ReferenceOption = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge", help="Freeze only this judge. May be repeated.", show_default=False
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(
            "--items",
            min=2,
            help="The number of items to draw as canaries. [dim]\\[default: all][/dim]",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            help="A mean that moved by fewer points than this is as good as before. "
            "[dim]\\[default: the study's, 5 % of the scale][/dim]",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha", help="The probability of any false alarm, over all looks together."
        ),
    ] = 0.05,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the draw of items.")] = 0,
) -> None:
    """Freeze the judges of a session: model, prompt, rubric, canary items and their scores."""
    from voirdire.examining import changing

    found = changing.freeze(
        source, reference=reference or (), judges=judge or (), items=items, margin=margin,
        alpha=alpha, seed=seed,
    )  # fmt: skip
    changing.write_lock(lock, found)
    anchors = sum(bool(one.humans) for one in found.canary)
    names = ", ".join(one.name for one in found.judges)
    typer.echo(
        f"Frozen in {lock}: {names}, on {len(found.canary)} responses, {anchors} of them with "
        "labels of humans."
    )
    if not anchors:
        typer.echo("Without labels a change of the judge cannot be told from one of a system.")


def check(
    source: SourceArgument,
    lock: Annotated[
        Path, typer.Option("--lock", help="The lock file of the freeze.", show_default=False)
    ],
    look: Annotated[
        int | None,
        typer.Option(
            "--look",
            min=1,
            help="The number of this look, where the lock file is not kept between looks. "
            "[dim]\\[default: one more than the lock remembers][/dim]",
            show_default=False,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            "--junit", help="The JUnit report to write, for a CI server.", show_default=False
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown", help="The page of Markdown to write, for a CI server.", show_default=False
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail on another model, prompt or rubric too (exit code 4)."),
    ] = False,
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            help='A gate: "shift_low@Safety>=-0.1", "good=yes"; may be repeated.',
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare today's judges with a lock: has a judge changed, or a system, and is it good?"""
    from voirdire.examining import changing
    from voirdire.examining.gates import check_gates, read_gates

    wanted = read_gates(require or [])
    found, remembered = changing.check_lock(source, changing.read_lock(lock), look=look)
    if look is None:
        changing.write_lock(lock, remembered)
    _show(found, junit, markdown, as_json=as_json)
    for line in check_gates(wanted, changing.check_values(found)):
        typer.echo(line, err=as_json)
    raise typer.Exit(found.exit_code(strict=strict))


def _show(found: GateCheck, junit: Path | None, markdown: Path | None, *, as_json: bool) -> None:
    from voirdire.examining import changing
    from voirdire.files import write_text
    from voirdire.report.sections import json_text, markdown_text, print_sections

    title, sections = f"Gate: {found.source}", changing.gate_sections(found)
    if junit is not None:
        write_text(junit, changing.junit_text(found) + "\n")
    if markdown is not None:
        write_text(markdown, markdown_text(title, sections, found.findings) + "\n")
    if as_json:
        typer.echo(json_text(found))
        return
    print_sections(title, sections, found.findings)
    for row in found.rows:
        typer.echo(changing.gate_sentence(row))
