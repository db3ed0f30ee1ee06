"""`voirdire gate`: freeze a judge, and hold it to the lock later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli import UNMET
from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.machine import MOST, answer_of, collect, emit, sections_answer
from voirdire.cli.options import JsonOption, ReferenceOption, SourceArgument, require_option
from voirdire.cli.run import money, plan_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.changing import GateCheck
    from voirdire.examining.gates import GateResult, GateValue
    from voirdire.running import RunResult
    from voirdire.study import Study

HELP = """
Freeze a judge in a lock file, and tell later whether it has changed, without false alarms.
"""
FREEZE = """
Examples:

  voirdire gate freeze session --as judge.lock

  voirdire gate freeze ratings.csv --reference ann --items 200 --as judge.lock

  voirdire gate freeze ratings.csv --reference ann --looks 52 --as judge.lock

  voirdire gate freeze ratings.csv --reference ann --one-in 200 --as judge.lock
"""
CHECK = """
Examples:

  voirdire gate check study.toml --lock judge.lock

  voirdire gate check session --lock judge.lock

  voirdire gate check session --lock judge.lock --junit gate.xml --markdown gate.md

  voirdire gate check session --lock judge.lock --require "shift_low@Safety>=-0.1"

If the judges of a study ask a model, they are first asked about the canary again, and about
nothing else; calls and cost are printed before. Sessions, files and studies of ratings are read as
they are.

Exit codes: 0 nothing has changed, 3 a part of the canary has no score, 4 a change, or a judge that
is no longer good.
"""


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(name="gate", help=HELP, no_args_is_help=True)
    group.command("freeze", epilog=FREEZE)(freeze)
    group.command("check", epilog=CHECK)(check)
    app.add_typer(group)


@takes_read_options()
def freeze(
    source: SourceArgument,
    lock: Annotated[
        Path, typer.Option("--as", help="The lock file that is written.", show_default=False)
    ],
    reference: ReferenceOption = None,
    read: Any = None,
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
            help="A mean that has moved by fewer points than this counts as unchanged. "
            "[dim]\\[default: the study's, 5 % of the scale][/dim]",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha", help="The probability of any false alarm, over all planned looks together."
        ),
    ] = 0.05,
    looks: Annotated[
        int, typer.Option("--looks", min=1, help="How many looks are planned at this lock.")
    ] = 26,
    one_in: Annotated[
        int | None,
        typer.Option(
            "--one-in",
            min=2,
            help="In place of --alpha and --looks: one look in so many may raise a false alarm.",
            show_default=False,
        ),
    ] = None,
    cascade: Annotated[
        Path | None,
        typer.Option(
            "--cascade",
            help="The cascade.toml of voirdire cascade: the lock holds what was certified, and "
            "each check says whether it still holds.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the draw of items.")] = 0,
) -> None:
    """Freeze the judges of a session: model, prompt, rubric, canary items and their scores."""
    from voirdire.examining import changing
    from voirdire.examining.certificate import read_certificate
    from voirdire.report.printing import print_sections

    certified = None if cascade is None else read_certificate(cascade)
    frozen = answered(
        lambda asked, named: changing.freeze(
            source,
            reference=named,
            read=asked,
            judges=judge or (),
            items=items,
            margin=margin,
            alpha=alpha,
            looks=looks,
            one_in=one_in,
            cascade=certified,
            seed=seed,
        ),
        read,
        reference,
    )
    changing.write_lock(lock, frozen)
    anchors = sum(bool(one.humans) for one in frozen.canary)
    names = ", ".join(one.name for one in frozen.judges)
    typer.echo(
        f"Frozen in {lock}: {names}, on {len(frozen.canary)} responses, {anchors} of them with "
        "labels of humans."
    )
    if not anchors:
        typer.echo("Without labels a change of the judge cannot be told from one of a system.")
    if certified is not None:
        typer.echo(
            f"Certified: ask {certified.steps}, then a person; agreement of at least "
            f"{certified.agree:g} at a risk of {certified.risk:g}."
        )
    sections = changing.freeze_sections(frozen)
    if sections:
        print_sections("Frozen", sections)
    warnings = changing.freeze_warnings(frozen)
    for warning in warnings:
        typer.secho(warning, fg="red", bold=True, err=True)
    count = len(frozen.canary)
    step = {"say": "Check today's judges.", "command": f"voirdire gate check FILE --lock {lock}"}
    told = f"Frozen in {lock}: {names}, on {count} responses."
    collect(
        answer_of(told, next=[step], sentences=[told, *warnings][:MOST]),
        {
            "lock": str(lock),
            "judges": [one.name for one in frozen.judges],
            "responses": count,
            "anchors": anchors,
            "warnings": list(warnings),
        },
    )


@takes_read_options()
def check(
    source: SourceArgument,
    lock: Annotated[
        Path, typer.Option("--lock", help="The lock file of the freeze.", show_default=False)
    ],
    reference: ReferenceOption = None,
    read: Any = None,
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
    session: Annotated[
        Path | None,
        typer.Option(
            "--session",
            help="The folder for today's replies, if a study asks a model. Name the same folder to "
            "continue after an interruption. [dim]\\[default: a new folder in LOCK.looks][/dim]",
            show_default=False,
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="The most that the canary may cost.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show the calls of the canary and what they cost. No model is asked."
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail on another model, prompt or rubric too (exit code 4)."),
    ] = False,
    require: Annotated[
        list[str] | None,
        require_option(': "shift_low@Safety>=-0.1" or "good=yes"'),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare today's judges with a lock file: has a judge or a system changed?

    It also says whether each judge is still good.
    """
    from tempfile import TemporaryDirectory

    from voirdire.examining import changing
    from voirdire.examining.gates import hold_gates, must_hold, read_gates
    from voirdire.examining.sources import no_columns

    wanted, locked = read_gates(require or []), changing.read_lock(lock)
    if dry_run:
        with TemporaryDirectory() as place:
            _print_cost(changing.canary_study(source, locked, place), session, err=as_json)
        return
    folder = session or new_folder(lock)
    study = changing.canary_study(source, locked, folder)
    _print_cost(study, folder, err=as_json)
    if study is not None and read:
        raise no_columns(read)
    today = source if study is None else _ask(study, folder, max_cost)
    outcome, remembered = answered(
        lambda asked, named: changing.check_lock(
            today, locked, reference=named, read=asked, look=look
        ),
        read,
        reference,
    )
    # A lock that remembers its looks spends its alpha over them; with --look the caller remembers.
    if look is None:
        changing.write_lock(lock, remembered)
    held = hold_gates(wanted, (*changing.check_values(outcome), *_probed(Path(today))))
    code = outcome.exit_code(strict=strict)
    _show(outcome, held, junit, markdown, as_json=as_json, failed=code == UNMET)
    for line in must_hold(held):
        typer.echo(line, err=as_json)
    raise typer.Exit(code)


def new_folder(lock: Path) -> Path:
    """A folder of its own for each check, since a session that is there would not ask again."""
    import datetime as dt

    now = dt.datetime.now(dt.UTC)
    return lock.with_name(f"{lock.name}.looks") / f"{now:%Y-%m-%dT%H%M%S%f}"


def canary_cost(study: Study, folder: Path | None) -> str:
    """Calls and cost of a canary that is to be asked about, as a sentence."""
    from voirdire import running

    plan = running.dry_run(study, None if folder is None else folder / "session")
    calls, cost = sum(rater.calls for rater in plan), money(plan_cost(plan))
    where = "" if folder is None else f"; replies are kept in {folder}"
    return f"The canary: {calls:,} calls, cost {cost}{where}."


def ask_canary(study: Study, folder: Path, max_cost: float | None) -> RunResult:
    """Today's replies, in ``FOLDER/session``; one that was cut goes on."""
    from voirdire import running
    from voirdire.store import is_session

    place = folder / "session"
    return running.run(study, place, resume=is_session(place), max_cost=max_cost, quiet=True)


def _print_cost(study: Study | None, folder: Path | None, *, err: bool) -> None:
    if study is not None:
        typer.echo(canary_cost(study, folder), err=err)


def _ask(study: Study, folder: Path, max_cost: float | None) -> str:
    """The session of today's replies; exit code 3 where it was cut."""
    result = ask_canary(study, folder, max_cost)
    if not result.complete:
        typer.echo(f"The canary is not complete; continue it with --session {folder}.", err=True)
        raise typer.Exit(3)
    return str(result.folder)


def _probed(source: Path) -> tuple[GateValue, ...]:
    """Effects of probes that a session keeps."""
    from voirdire.examining.probing import probing_values, read_effects
    from voirdire.probes import PROBES_FILE

    return probing_values(read_effects(source / PROBES_FILE))


def _show(
    outcome: GateCheck,
    held: Sequence[GateResult],
    junit: Path | None,
    markdown: Path | None,
    *,
    as_json: bool,
    failed: bool,
) -> None:
    from voirdire.cli.showing import with_gates
    from voirdire.examining import changing
    from voirdire.examining.gates import gates_section
    from voirdire.files import write_text
    from voirdire.report.printing import print_sections
    from voirdire.report.sections import markdown_text

    title, sections = f"Gate: {outcome.source}", changing.gate_sections(outcome)
    if held:
        sections = (*sections, gates_section(held))
    if junit is not None:
        write_text(junit, changing.junit_text(outcome, held) + "\n")
    if markdown is not None:
        write_text(markdown, markdown_text(title, sections, outcome.findings) + "\n")
    if as_json:
        rows = [changing.gate_sentence(row) for row in outcome.rows]
        answer = sections_answer(title, sections, held)
        first = answer["sentence"] if answer["state"] == "unmet" or not rows else rows[0]
        state = "unmet" if failed else answer["state"]
        told = {"sentence": first, "state": state, "sentences": rows[:MOST] or answer["sentences"]}
        emit({**answer, **told}, with_gates(outcome, held))
        return
    print_sections(title, sections, outcome.findings)
    for row in outcome.rows:
        typer.echo(changing.gate_sentence(row))
