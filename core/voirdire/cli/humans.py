"""`voirdire humans`: work for people, as sheets or on a local page, and its answers read back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.humans import Plan

EPILOG = """
Examples:

  voirdire humans export study.toml --out work

  voirdire humans serve study.toml --out work

  voirdire humans import work ann.xlsx ben.csv --out answers

  voirdire examine answers
"""
SourceArgument = Annotated[
    Path,
    typer.Argument(help="A study.toml with \\[humans], or a session folder.", show_default=False),
]
WorkOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="The folder of the plan.", show_default=False)
]
KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key", help="Where the key lies. [dim]\\[default: key.json in the folder][/dim]",
        show_default=False,
    ),
]  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    about = "Give judging to people, blinded, and read their answers back."
    group = typer.Typer(help=about, no_args_is_help=True)
    group.command("export", epilog=EPILOG)(export)
    group.command("serve", epilog=EPILOG)(serve)
    group.command("import", epilog=EPILOG)(import_)
    app.add_typer(group, name="humans")


def export(
    source: SourceArgument,
    out: WorkOption = None,
    formats: Annotated[str, typer.Option("--format", help="By commas: xlsx, csv.")] = "xlsx,csv",
    key: KeyOption = None,
) -> None:
    """Write a blinded sheet for each rater, and the key to them."""
    from voirdire import humans
    from voirdire._errors import InputError

    if out is None:
        raise InputError("humans export: give the folder by --out")
    wanted = [part.strip() for part in formats.split(",") if part.strip()]
    done = humans.export(source, out, formats=wanted, key=key)
    for rater, ids in done.plan.raters.items():
        typer.echo(f"{rater}: {len(ids):,} judgements")
    for path in done.sheets:
        typer.echo(f"  {path}")
    typer.echo(f"Hand out the sheets alone; {key or out / 'key.json'} says what they hide.")
    if done.cut:
        typer.echo(f"{done.cut} texts are longer than a cell holds: in workbooks they are cut.")
    if done.named:
        typer.echo(
            f"Not blind: in {len(done.named)} judgements a text names the system behind it "
            f"({', '.join(done.named[:5])}{', ...' if len(done.named) > 5 else ''})."
        )


def serve(
    source: Annotated[
        Path,
        typer.Argument(
            help="A folder with a plan; or a study.toml or session, with --out.",
            show_default=False,
        ),
    ],
    out: WorkOption = None,
    host: Annotated[str, typer.Option("--host", help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 is any.")] = 8377,
    network: Annotated[
        bool, typer.Option("--network", help="Allow an address that other machines can reach.")
    ] = False,
    key: KeyOption = None,
) -> None:
    """Serve the judging as a page; every answer is kept at once. Ctrl-C ends it."""
    import signal

    from voirdire.humans import DATABASE, PageServer

    work, plan = _plan(source, out, key)
    for sign in (signal.SIGINT, signal.SIGTERM):  # a shell's `&` leaves the first one ignored
        signal.signal(sign, signal.default_int_handler)
    with PageServer(plan, work / DATABASE, host, port, network=network) as server:
        if network:
            typer.echo(
                "Warning: other machines can reach this page, and nothing is encrypted. Whoever "
                "has a rater's address can read the texts and answer.",
                err=True,
            )
        _print_links(server.links)
        try:
            server.run()
        except KeyboardInterrupt:
            typer.echo(
                f"\nEvery answer is kept. Read them: voirdire humans import {work} --out ..."
            )


def import_(
    work: Annotated[Path, typer.Argument(help="The folder of the plan.", show_default=False)],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Sheets and databases. [dim]\\[default: that of the page][/dim]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the tables.", show_default=False)
    ] = None,
    key: KeyOption = None,
) -> None:
    """Read answers back, un-blinded, as tables that `voirdire examine` takes."""
    from voirdire import humans
    from voirdire._errors import InputError

    if out is None:
        raise InputError("humans import: give the folder for the tables by --out")
    done = humans.import_answers(work, files or [], out, key=key)
    for rater, (complete, begun, untouched) in done.counts.items():
        typer.echo(f"{rater}: {complete:,} complete, {begun:,} in part, {untouched:,} missing")
    for name, frame in done.tables.items():
        typer.echo(f"{name}: {frame.height:,} rows")
    typer.echo(f"Examine them with: voirdire examine {out}")


def _plan(source: Path, out: Path | None, key: Path | None) -> tuple[Path, Plan]:
    from voirdire import humans
    from voirdire._errors import InputError

    if out is not None:
        return out, humans.make_plan(source, out, key=key)[0]
    if (source / humans.PLAN).is_file():
        return source, humans.read_plan(source / humans.PLAN)
    raise InputError(f"humans serve: there is no {humans.PLAN} in {source}; give a folder by --out")


def _print_links(links: Mapping[str, str]) -> None:
    typer.echo("One address a rater; whoever has it answers in that name:")
    for rater, link in links.items():
        typer.echo(f"  {rater}: {link}")
    typer.echo("Ctrl-C ends the page.")
