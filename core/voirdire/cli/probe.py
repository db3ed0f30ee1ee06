"""`voirdire probe`: change responses in one way each, and see what the scores make of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voirdire.cli.machine import answer_of, collect
from voirdire.cli.options import (
    FamilyOption,
    JsonOption,
    SectionFormats,
    parts,
    require_option,
)
from voirdire.cli.run import money, plan_cost
from voirdire.cli.showing import show_sections

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.probing import StoredRatings, Suite
    from voirdire.probes import Probe

EPILOG = """
Examples:

  voirdire probe study.toml --out probed --dry-run

  voirdire probe study.toml --out probed --items 200

  voirdire probe session --out probed --probes length,authority,typos

  voirdire probe session --out probed --probes position,self_preference

  voirdire probe study.toml --out probed --require "reading@authority=robust"

Calls and cost are printed before any model is asked; position and self_preference ask none. A suite
that was interrupted continues when the same command is run again.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("probe", epilog=EPILOG)(probe)


def probe(
    source: Annotated[
        str,
        typer.Argument(
            help="A study with items, and responses or annotators, or a session.",
            metavar="STUDY",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The folder for the sessions and the report.", show_default=False
        ),
    ],
    probes: Annotated[
        str,
        typer.Option(
            "--probes",
            help="The probes to try, separated by commas. "
            "[dim]\\[default: all that are registered][/dim]",
            show_default=False,
        ),
    ] = "",
    items: Annotated[
        int | None,
        typer.Option(
            "--items",
            min=2,
            help="The number of items to draw. [dim]\\[default: all][/dim]",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="How many times each text is judged.")
    ] = 2,
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            help="An effect of fewer points than this counts as none. "
            "[dim]\\[default: 5 % of the scale][/dim]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the draw of items.")] = 0,
    family: FamilyOption = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="The most that each session may cost.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the calls and what they cost. No model is asked."),
    ] = False,
    require: Annotated[
        list[str] | None,
        require_option(': "reading@authority=robust" or "effect_high@length<=0.2"'),
    ] = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Probe judges for bias: change responses in one way each, and compare the scores."""
    from voirdire.examining import probing
    from voirdire.examining.gates import hold_gates, read_gates
    from voirdire.probes import PROBES_FILE
    from voirdire.store import is_session

    wanted = read_gates(require or [])
    names = parts(probes)
    chosen = probing.chosen_probes(names)
    suite = None
    if _asks(chosen):
        suite = probing.make_suite(source, chosen, out, items=items, runs=runs, seed=seed)
        _print_cost(suite, out, max_cost, err=as_json)
    if dry_run:
        # What it would cost is said above, as a note.
        collect(
            answer_of("No model was asked: this was a dry run."), {"effects": [], "findings": []}
        )
        return
    stored = _stored(source, chosen, family or [], named=bool(names))
    sessions = {} if suite is None else _run(suite, out, max_cost)
    measured = probing.measure_probes(suite, sessions, margin=margin, stored=stored)
    sections = probing.probe_sections(measured)
    if suite is not None:
        sections += probing.wording_sections(suite, sessions)
    for folder in (out, Path(source)):
        if folder == out or is_session(folder):
            probing.write_effects(folder / PROBES_FILE, measured.effects)
    show_sections(
        "Judges probed",
        "probes",
        sections,
        measured,
        out / "report",
        formats,
        as_json=as_json,
        held=hold_gates(wanted, probing.probing_values(measured.effects)),
    )


def _asks(probes: Sequence[Probe]) -> bool:
    """Whether any asks a judge; `identity` alone is there to be subtracted."""
    from voirdire.probes import StoredProbe

    return any(not isinstance(one, StoredProbe) for one in probes[1:]) or len(probes) == 1


def _stored(
    source: str, probes: Sequence[Probe], family: Sequence[str], *, named: bool
) -> StoredRatings | None:
    """What is in data already there; a source without any is an error where it was asked for."""
    from voirdire.errors import InputError
    from voirdire.examining import examine
    from voirdire.examining.probing import stored_pairs
    from voirdire.identity import answers
    from voirdire.probes import StoredProbe
    from voirdire.study import ReadOptions

    kept = [one for one in probes if isinstance(one, StoredProbe)]
    if not kept:
        return None
    read = ReadOptions(families=answers(family))
    # By default every probe is tried, and a study that was never run has nothing stored.
    try:
        stored = stored_pairs(examine(source, read=read, resamples=0), kept)
    except InputError:
        if named:
            raise
        return None
    if named and not stored.pairs and not _asks(probes):
        raise InputError(f"{source}: {' '.join(one.message for one in stored.findings)}")
    return stored


def _print_cost(suite: Suite, out: Path, max_cost: float | None, *, err: bool) -> None:
    """Calls and cost of both sessions, before anything is asked."""
    from voirdire import running

    plan = [
        rater
        for arm, study in suite.studies.items()
        for rater in running.dry_run(study, out / arm, max_cost=max_cost)
    ]
    typer.echo(
        f"{len(suite.probes)} probes, {', '.join(_who(suite))}: "
        f"{sum(rater.calls for rater in plan):,} calls, "
        f"cost {money(plan_cost(plan))}.",
        err=err,
    )


def _who(suite: Suite) -> list[str]:
    judges = len(suite.judges) + len(suite.comparers)
    said = [f"{judges} judges", f"{suite.n_responses:,} responses"] if judges else []
    if suite.labellers:
        said += [f"{len(suite.labellers)} annotators", f"{suite.n_items:,} items"]
    return said


def _run(suite: Suite, out: Path, max_cost: float | None) -> dict[str, Path]:
    """The sessions of both studies; those that are there already go on."""
    from voirdire import running
    from voirdire.store import is_session

    sessions = {}
    for arm, study in suite.studies.items():
        result = running.run(
            study, out / arm, resume=is_session(out / arm), max_cost=max_cost, quiet=True
        )
        if not result.complete:
            typer.echo(f"{arm}: not complete; the same command goes on with it.", err=True)
        sessions[arm] = result.folder
    return sessions
