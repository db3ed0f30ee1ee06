"""`voirdire humans`: work for people, as sheets or on a local page, and its answers read back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import OF_ONE_TABLE, answered, takes_read_options
from voirdire.cli.machine import MOST, answer_of, collect
from voirdire.cli.options import ReferenceOption, SharedOption, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.humans import Imported, PageServer, Plan
    from voirdire.serving import LocalServer
    from voirdire.study import ReadOptions, Study

EPILOG = """
Examples:

  voirdire humans export study.toml --out work

  voirdire humans serve study.toml --out work

  voirdire humans serve study.toml --queue queue.csv --out work

  voirdire humans serve ratings.csv --queue queue.csv --out work

  voirdire humans import work ann.xlsx ben.csv --out answers

  voirdire examine answers
"""
SourceArgument = Annotated[
    Path,
    typer.Argument(
        help="A study.toml with a part \\[humans], the folder of a session, or a file of ratings "
        "with texts, which people then rate on its own scale.",
        show_default=False,
    ),
]
WorkOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="The folder for the plan and its key.", show_default=False),
]
QueueOption = Annotated[
    Path | None,
    typer.Option(
        "--queue",
        help="Give people only the rows of this table whose decision is 'human'. "
        "voirdire escalate and voirdire plan --draw write it, and so does a list of voirdire look. "
        "Its columns are item, system and decision.",
        show_default=False,
    ),
]
KeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        help="The file of the key, which says what each id stands for. "
        "[dim]\\[default: key.json in the folder][/dim]",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    about = "Give blinded work to people, as sheets or on a page, and read their answers."
    group = typer.Typer(help=about, no_args_is_help=True)
    group.command("export", epilog=EPILOG)(export)
    group.command("serve", epilog=EPILOG)(serve)
    group.command("import", epilog=EPILOG)(import_)
    app.add_typer(group, name="humans")


@takes_read_options(OF_ONE_TABLE)
def export(
    source: SourceArgument,
    out: WorkOption = None,
    formats: Annotated[
        str,
        typer.Option("--format", help="Formats of the sheets, separated by commas: xlsx, csv."),
    ] = "xlsx,csv",
    key: KeyOption = None,
    queue: QueueOption = None,
    reference: ReferenceOption = None,
    shared: SharedOption = False,
    read: Any = None,
) -> None:
    """Write a blinded sheet for each rater, and the key that says what they hide."""
    from voirdire import humans
    from voirdire.errors import InputError

    if out is None:
        raise InputError("humans export: name the folder for the plan with --out")
    study = _study_of(source, read, reference)
    done = humans.export(study, out, formats=parts(formats), key=key, queue=queue, shared=shared)
    for rater, ids in done.plan.raters.items():
        typer.echo(f"{rater}: {len(ids):,} judgements")
    for path in done.sheets:
        typer.echo(f"  {path}")
    if done.skipped:
        typer.echo(
            "Only CSV sheets were written: workbooks need the package xlsxwriter "
            "(pip install 'voirdire[excel]')."
        )
    typer.echo(f"Hand out the sheets alone: {key or out / 'key.json'} says what they hide.")
    if done.cut:
        typer.echo(f"{done.cut} texts are longer than a cell can hold; the workbooks cut them.")
    if done.named:
        typer.echo(
            f"Not blind: in {len(done.named)} judgements a text names the system behind it "
            f"({', '.join(done.named[:5])}{', ...' if len(done.named) > 5 else ''})."
        )
    asked = {rater: len(ids) for rater, ids in done.plan.raters.items()}
    collect(
        answer_of(f"Wrote {len(done.sheets)} sheets for {len(asked)} raters in {out}."),
        {
            "raters": asked,
            "sheets": [str(path) for path in done.sheets],
            "key": str(key or out / "key.json"),
            "cut": done.cut,
            "named": list(done.named),
        },
    )


@takes_read_options(OF_ONE_TABLE)
def serve(
    source: Annotated[
        Path,
        typer.Argument(
            help="A folder with a plan; or a study.toml, a session folder or a file of ratings "
            "with texts, together with --out.",
            show_default=False,
        ),
    ],
    out: WorkOption = None,
    host: Annotated[str, typer.Option("--host", help="The address to serve on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any free one.")
    ] = 8377,
    network: Annotated[
        bool, typer.Option("--network", help="Allow an address that other machines can reach.")
    ] = False,
    key: KeyOption = None,
    queue: QueueOption = None,
    reference: ReferenceOption = None,
    read: Any = None,
) -> None:
    """Serve the work as a page in the browser. Every answer is saved at once; Ctrl-C stops it."""
    from voirdire.humans import DATABASE, PageServer

    study = source if out is None else _study_of(source, read, reference)
    work, plan = _plan(study, out, key, queue)
    with PageServer(plan, work / DATABASE, host, port, network=network) as server:
        if network:
            warn_of_network("a rater's address can read the texts and answer")
        links = (f"  {rater}: {link}" for rater, link in server.links.items())
        heading = "One address for each rater; whoever opens it answers in that name:"
        serve_until_stopped(server, (heading, *links))
        typer.echo(f"\nEvery answer is kept. Read them: voirdire humans import {work} --out ...")


def warn_of_network(whoever: str) -> None:
    """Say what a page allows that other machines can reach."""
    typer.echo(
        "Warning: other machines can reach this page, and nothing is encrypted. "
        f"Whoever has {whoever}.",
        err=True,
    )


def serve_until_stopped(server: LocalServer | PageServer, opened: Iterable[str]) -> None:
    """Say where a page is opened, and serve it until Ctrl-C or SIGTERM."""
    import signal

    # A shell's `&` leaves SIGINT ignored, and SIGTERM would end the process before it says what
    # was kept.
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        for line in (*opened, "Ctrl-C ends the page."):
            typer.echo(line)
        server.run()


def import_(
    work: Annotated[Path, typer.Argument(help="The folder with the plan.", show_default=False)],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Filled sheets, and databases of the page. "
            "[dim]\\[default: the database in the folder][/dim]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder for the tables.", show_default=False),
    ] = None,
    key: KeyOption = None,
    shared: SharedOption = False,
) -> None:
    """Read answers, look up what each stands for, and write tables for voirdire examine."""
    from voirdire import humans
    from voirdire.errors import InputError

    if out is None:
        raise InputError("humans import: name the folder for the tables with --out")
    done = humans.import_answers(work, files or [], out, key=key, shared=shared)
    for rater, (complete, begun, untouched) in done.counts.items():
        typer.echo(f"{rater}: {complete:,} complete, {begun:,} in part, {untouched:,} missing")
    for name, frame in done.tables.items():
        typer.echo(f"{name}: {frame.height:,} rows")
    step = _after_import(done)
    typer.echo(f"{step['say'].rstrip('.')}: {step['command']}")
    counts = [
        {"rater": rater, "complete": complete, "in_part": begun, "missing": untouched}
        for rater, (complete, begun, untouched) in done.counts.items()
    ]
    rows = {name: frame.height for name, frame in done.tables.items()}
    told = f"Read {sum(rows.values()):,} answers of {len(counts)} raters into {out}."
    collect(
        answer_of(told, numbers=counts[:MOST], next=[step], more=max(len(counts) - MOST, 0)),
        {"raters": counts, "tables": rows, "written": str(out)},
    )


def _after_import(done: Imported) -> dict[str, str]:
    """What to do with the answers: one person's alone have nobody to be held against."""
    if len(done.counts) > 1:
        return {"say": "Examine them.", "command": f"voirdire examine {done.folder}"}
    table = next((name for name in ("ratings", "preferences") if name in done.tables), "ratings")
    return {
        "say": "One person agrees with nobody: hold the scores of a judge against the answers.",
        "command": f"voirdire examine JUDGE.csv --human {done.folder / f'{table}.parquet'}",
    }


def _study_of(source: Path, read: ReadOptions, reference: Sequence[str] | None) -> Path | Study:
    """The source; of a file of ratings the study that is drafted from it, for people to rate."""
    from voirdire.errors import InputError

    if source.is_dir() or source.suffix == ".toml" or not source.is_file():
        if read or reference:
            given = (*read.keys_set(), *(("reference",) if reference else ()))
            raise InputError(
                f"{', '.join(f'--{name}' for name in given)} belongs to a file of ratings; "
                f"in a study it is a key"
            )
        return source
    from voirdire.study import Humans
    from voirdire.tables import draft_study

    study = answered(
        lambda asked, named: draft_study(source, read=asked, reference=named), read, reference
    )
    if not study.data.reference:
        raise InputError(f"{source}: nobody is known to be a person: name who rates by --reference")
    people = Humans(task="pointwise", raters=study.data.reference)
    return study.model_copy(update={"humans": people})


def _plan(
    source: Path | Study, out: Path | None, key: Path | None, queue: Path | None
) -> tuple[Path, Plan]:
    from voirdire import humans
    from voirdire.errors import InputError

    if out is not None:
        return out, humans.make_plan(source, out, key=key, queue=queue)[0]
    if queue is not None or not isinstance(source, Path):
        raise InputError("humans serve: --queue goes with a study or session and --out")
    if (source / humans.PLAN).is_file():
        return source, humans.read_plan(source / humans.PLAN)
    raise InputError(
        f"humans serve: there is no {humans.PLAN} in {source}; name a folder with --out"
    )
