"""`voirdire run`: ask the panel, keep every reply, derive the tables."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from voirdire.cli.options import InsecureOption, SharedOption, WorkersOption
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.running import DryRater, RunResult
    from voirdire.study import Study

EPILOG = """
Examples:

  voirdire run study.toml --dry-run

  voirdire run study.toml --out a --pilot 20

  voirdire run study.toml --out a --max-cost 20

  voirdire run study.toml --out a --resume

  voirdire run out/study.toml --cascade out/cascade.toml --out a

Ctrl-C ends a run cleanly, as SIGTERM and SIGHUP do: every reply is kept, and --resume asks only for
what is missing.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("run", epilog=EPILOG)(run)


def run(
    study: Annotated[Path, typer.Argument(help="The study file, study.toml.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder of the session.", show_default=False),
    ] = None,
    only: Annotated[
        Literal["generate", "judge", "annotate"] | None,
        typer.Option("--only", help="Run only this stage.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show how many calls and tokens each rater needs and "
            "what they cost. No model is asked.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue a session: ask only for the replies that are missing."
        ),
    ] = False,
    ask_again: Annotated[
        bool,
        typer.Option(
            "--ask-again",
            help="With --resume, ask again where stored replies no longer fit the edited study.",
        ),
    ] = False,
    max_cost: Annotated[
        float | None,
        typer.Option(
            "--max-cost",
            min=0,
            help="The most that the whole session may cost.",
            show_default=False,
        ),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(
            "--max-calls",
            min=0,
            help="The most calls that the whole session may make.",
            show_default=False,
        ),
    ] = None,
    pilot: Annotated[
        int | None,
        typer.Option(
            "--pilot",
            min=1,
            help="Ask only about this many items, drawn at random, once each, and show what each "
            "rater refuses. Go on with --resume.",
            show_default=False,
        ),
    ] = None,
    cascade: Annotated[
        Path | None,
        typer.Option(
            "--cascade",
            help="Ask one judge after another, as this file of `voirdire cascade` says: each about "
            "what those before it were not sure of.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Ask OpenAI, Anthropic and Google in batches: half the price, within a day.",
        ),
    ] = False,
    resubmit: Annotated[
        bool,
        typer.Option(
            "--resubmit",
            help="With --batch, submit again what may have been submitted before. "
            "It may be paid twice.",
        ),
    ] = False,
    end_within: Annotated[
        float | None,
        typer.Option(
            "--end-within",
            min=1,
            help="Have the run killed if it has not ended this many seconds after Ctrl-C or "
            "SIGTERM.",
            show_default=False,
        ),
    ] = None,
    shared: SharedOption = False,
    workers: WorkersOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Run a study: generate responses, judge and annotate them. Then examine the session."""
    from voirdire import running
    from voirdire.errors import InputError
    from voirdire.store import is_session

    asked: Study | Path = study
    whole = 0
    if pilot is not None:
        from voirdire.running.pilot import pilot_study

        if resume:
            raise InputError("run: give --pilot or --resume: a pilot begins a session")
        asked, whole = pilot_study(study, pilot)
    if dry_run:
        _print_plan(running.dry_run(asked, out, only=only, max_cost=max_cost))
        return
    if out is None:
        raise InputError("run: give the session folder by --out (or --dry-run to ask nothing)")
    if cascade is not None:
        from voirdire.cli.run_cascade import run_cascade

        if pilot is not None or only is not None:
            raise InputError("run: a cascade asks its judges alone: leave --pilot and --only out")
        run_cascade(
            study,
            cascade,
            out,
            resume=resume,
            max_cost=max_cost,
            max_calls=max_calls,
            shown=print_result,
            ask_again=ask_again,
            quiet=quiet,
            batch=batch,
            resubmit=resubmit,
            end_within=end_within,
            shared=shared,
            workers=workers,
            insecure=insecure,
        )
    if resume and not is_session(out):
        raise InputError(f"--resume: there is no session {out} (leave --resume out to begin one)")
    try:
        result = running.run(
            asked,
            out,
            resume=resume,
            ask_again=ask_again,
            only=only,
            max_cost=max_cost,
            max_calls=max_calls,
            quiet=quiet,
            batch=batch,
            resubmit=resubmit,
            end_within=end_within,
            shared=shared,
            workers=workers,
            insecure=insecure,
        )
    except KeyboardInterrupt:
        typer.echo("Interrupted at once. Every reply that was committed is kept.")
        typer.echo(f"Go on with: voirdire run {study} --out {out} --resume")
        raise typer.Exit(130) from None
    print_result(result)
    _print_broken(result)
    if pilot is not None:
        _print_pilot(result, pilot, whole, study)
        raise typer.Exit(result.exit_code)
    _print_next(result, study)
    _collect(result, study)
    raise typer.Exit(result.exit_code)


def _collect(result: RunResult, study: Path) -> None:
    """The same for a program."""
    from voirdire.cli.machine import MOST, answer_of, collect

    calls = sum(rater.calls for rater in result.raters)
    end = result.stopped or ("complete" if result.complete else "not complete")
    session = str(result.folder)
    words = ["run", str(study), "--out", session, "--resume"]
    step = shlex.join(["voirdire", *(["examine", session] if result.complete else words)])
    sentence = f"The run is {end}: {calls:,} calls, cost {money(result.cost, result.currency)}."
    numbers = [
        {
            "rater": one.name,
            "stage": one.stage,
            "tasks": one.tasks,
            "done": one.done,
            "calls": one.calls,
            "cost": one.cost,
        }
        for one in result.raters
    ]
    collect(
        answer_of(
            sentence,
            "interrupted" if result.stopped == "interrupted" else "ok",
            numbers=numbers[:MOST],
            more=max(len(numbers) - MOST, 0),
            next=[{"say": "", "command": step}],
        ),
        {
            "session": result.folder,
            "raters": result.raters,
            "calls": calls,
            "cost": result.cost,
            "complete": result.complete,
            "stopped": result.stopped,
        },
    )


def _print_pilot(result: RunResult, items: int, whole: int, study: Path) -> None:
    """What each rater refused, and how the whole study goes on from there."""
    from voirdire.report.printing import print_section
    from voirdire.running.pilot import pilot_section
    from voirdire.shown import terminal

    print_section(pilot_section(result.raters, items, whole), terminal(), most=None)
    typer.echo(f"Go on with the whole: voirdire run {study} --out {result.folder} --resume")


def print_result(result: RunResult) -> None:
    """A table of the raters, and what was suspended."""
    from voirdire.report import print_fitted
    from voirdire.shown import terminal, visible
    from voirdire.tabular import Table, count, text

    rows = tuple(
        (
            rater.name,
            rater.stage,
            f"{rater.done}/{rater.tasks}",
            _counts(rater.statuses),
            _counts(rater.faults),
            rater.calls,
            rater.input + rater.output,
            money(rater.cost, result.currency, rater.blind),
        )
        for rater in result.raters
    )
    words = map(text, ("rater", "stage", "done", "status", "failed"))
    columns = (*words, count("calls"), count("tokens"), text("cost"))
    print_fitted(terminal(), Table(columns, rows))
    for rater in result.raters:
        for one in rater.models:
            typer.echo(
                f"{visible(rater.name)} asked {visible(one.model)} as {visible(one.role)}: "
                f"{one.calls:,} calls, {one.input + one.output:,} tokens, cost {money(one.cost)}"
            )
        if rater.missing:
            typer.echo(
                f"{visible(rater.name)} cannot be made here ({visible(rater.missing)}): counted is "
                "what is on file, and how many tasks it has is not known"
            )
        if rater.suspended:
            typer.echo(f"{visible(rater.name)} was suspended: {visible(rater.suspended)}")
        if rater.nothing_read:
            statuses = ", ".join(f"{name} {n:,}" for name, n in sorted(rater.statuses.items()))
            typer.echo(
                f"{visible(rater.name)}: not one of its {rater.done:,} replies could be read "
                f"({statuses}). See them: voirdire session show {result.folder} "
                f"--rater {visible(rater.name)}"
            )
    typer.echo(f"Cost of the session: {money(result.cost, result.currency)}")


def _counts(counts: Mapping[str, int]) -> str | None:
    return " ".join(f"{name} {count}" for name, count in sorted(counts.items())) or None


def _print_broken(result: RunResult) -> None:
    """Raters whose own parser broke: their replies are kept, and can be read again."""
    from voirdire.store.findings import reply_findings_frame

    for row in reply_findings_frame(result.folder).iter_rows(named=True):
        if row["kind"] == "parser_raised":
            typer.echo(
                f"{visible(row['rater'])}: its own parser broke on {row['count']:,} replies "
                f"({visible(row['detail'])}). They are kept: correct it, then "
                f"voirdire session reparse {result.folder}"
            )


def _print_next(result: RunResult, study: Path) -> None:
    """What to do now."""
    if result.stopped == "interrupted":
        typer.echo("Interrupted. Every reply that came is kept.")
        if not (result.folder / "ratings.parquet").exists():
            typer.echo(f"Tables of what is there: voirdire session reparse {result.folder}")
    if result.stopped == "budget":
        typer.echo("Stopped: the budget is used up.")
    if result.complete:
        typer.echo(f"Complete. Examine it with: voirdire examine {result.folder}")
    elif any(rater.done < rater.tasks for rater in result.raters) or result.stopped:
        typer.echo(f"Go on with: voirdire run {study} --out {result.folder} --resume")
    else:
        typer.echo("Every task has a reply, but the run is not complete: see above.")


def _print_plan(plan: tuple[DryRater, ...]) -> None:
    from voirdire.report import print_fitted
    from voirdire.shown import terminal, visible
    from voirdire.tabular import Table, count, text

    rows = [
        (
            rater.name,
            rater.stage,
            rater.model,
            rater.tasks,
            rater.on_file,
            rater.calls,
            rater.input,
            rater.output,
            money(rater.cost),
        )
        for rater in plan
    ]
    counts = map(count, ("tasks", "on file", "calls", "tokens in", "out"))
    columns = (*map(text, ("rater", "stage", "model")), *counts, text("cost"))
    print_fitted(terminal(), Table(columns, tuple(rows)))
    calls = sum(rater.calls for rater in plan)
    typer.echo(f"In all {calls:,} calls, cost {money(plan_cost(plan))}.")
    typer.echo(
        "Estimates: four characters a token, replies as long as their cap, no retries, first steps."
    )
    for finding in dict.fromkeys(finding for rater in plan for finding in rater.findings):
        typer.echo(
            f"{finding.severity}: {visible(f'{finding.message} {finding.consequence}'.strip())}"
        )
    _collect_plan(plan, calls)


def _collect_plan(plan: tuple[DryRater, ...], calls: int) -> None:
    """The same for a program."""
    from voirdire.cli.machine import MOST, answer_of, collect

    cost = plan_cost(plan)
    numbers = [
        {
            "rater": one.name,
            "stage": one.stage,
            "model": one.model,
            "calls": one.calls,
            "cost": one.cost,
        }
        for one in plan
    ]
    sentence = f"Nobody was asked: the run would make {calls:,} calls, cost {money(cost)}."
    collect(
        answer_of(sentence, numbers=numbers[:MOST], more=max(len(numbers) - MOST, 0)),
        {
            "session": None,
            "raters": plan,
            "calls": calls,
            "cost": cost,
            "complete": False,
            "stopped": "",
        },
    )


def plan_cost(plan: Iterable[DryRater]) -> float | None:
    """What all raters would cost; None where a price is not known."""
    costs = [rater.cost for rater in plan]
    return None if None in costs else sum(cost or 0.0 for cost in costs)


def money(cost: float | None, currency: str = "", blind: int = 0) -> str:
    """A cost to four decimals, and how many replies it leaves out because nobody counted them."""
    if cost is None:
        return "unknown"
    more = f" + {blind} replies of unknown length" if blind else ""
    return f"{cost:.4f} {currency}".strip() + more
