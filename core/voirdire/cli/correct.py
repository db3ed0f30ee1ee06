"""`voirdire correct`, `calibrate`, `plan` and `escalate`: labels and judges together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.options import (
    AgreeOption,
    JsonOption,
    LevelOption,
    OutFolder,
    ReferenceOption,
    RiskOption,
    SectionFormats,
    SideOption,
    SourceArgument,
    SplitSeedOption,
    ToleranceOption,
    parts,
    require_option,
)
from voirdire.cli.showing import show_sections

CORRECT = """
Examples:

  voirdire correct ratings.csv --reference human --out out

  voirdire correct judged.csv --human labels.csv

  voirdire correct ratings.csv --reference human --compare old,new

  voirdire correct judged.csv --reference human --gate 4
  voirdire correct judged.csv --reference human --errors-from validation.csv --gate 4

  voirdire correct ratings.csv --reference human --require "corrected_mean_low@Safety>=4.0"

Labels must be a random part of the judged responses. Where each was drawn with a known probability,
a column label_probability says so.
"""
PLAN = """
Examples:

  voirdire plan pilot.csv --reference human --half-width 0.1

  voirdire plan pilot.csv --reference human --detect 0.2 --power 0.8 --by system

  voirdire plan pilot.csv --reference human --half-width 0.1,0.2,0.3 --cost 1.50

  voirdire plan pilot.csv --reference human --half-width 0.1 --draw next.csv
  voirdire humans export pilot.csv --queue next.csv --out work

  voirdire plan pilot.csv --reference human --gate 4 --each 15 --draw next.csv
"""
ESCALATE = """
Examples:

  voirdire escalate ratings.csv --reference human --agree 0.90 --out queue.csv

  voirdire humans serve study.toml --queue queue.csv --out work

  voirdire escalate ratings.csv --reference human --agree 0.90 --audit 60 --out queue.csv

The queue names every response that the judge scored, least confident first, and whether it may go
out without a human.
"""
CALIBRATE = """
Examples:

  voirdire calibrate ratings.csv --reference human

  voirdire calibrate ratings.csv --reference human --out out

  voirdire examine out/study.toml
"""
JudgeOption = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Use only this judge. May be repeated.", show_default=False),
]
LeaveOutOption = Annotated[
    bool,
    typer.Option(
        "--leave-out-chosen",
        help="Leave out the labels of responses that somebody picked, which are refused otherwise.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("correct", epilog=CORRECT)(correct)
    app.command("calibrate", epilog=CALIBRATE)(calibrate)
    app.command("plan", epilog=PLAN)(plan)
    app.command("escalate", epilog=ESCALATE)(escalate)


@takes_read_options()
def correct(
    source: SourceArgument,
    reference: ReferenceOption = None,
    read: Any = None,
    judge: JudgeOption = None,
    by: Annotated[
        str, typer.Option("--by", help="Give one number per system, or per value of this column.")
    ] = "system",
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            help="Two systems, as A,B: how much higher is A? May be repeated.",
            show_default=False,
        ),
    ] = None,
    errors_from: Annotated[
        str | None,
        typer.Option(
            "--errors-from",
            help="Other labelled and judged responses, whose sensitivity and specificity correct "
            "the pass rates here.",
            show_default=False,
        ),
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(
            "--gate",
            help="Scores at or above this one pass: give corrected pass rates.",
            show_default=False,
        ),
    ] = None,
    leave_out_chosen: LeaveOutOption = False,
    drawn: Annotated[
        Path | None,
        typer.Option(
            "--drawn",
            help="The list that labels were drawn by: it states the probability of each. "
            "plan --draw and escalate --audit write it.",
            show_default=False,
        ),
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            "--examples",
            help="A file whose column item (and system) names what a judge was shown as examples: "
            "these are left out. In a session they are found in the prompts.",
            show_default=False,
        ),
    ] = None,
    level: LevelOption = 0.95,
    out: OutFolder = None,
    require: Annotated[
        list[str] | None,
        require_option(': "corrected_mean_low@Safety>=4.0" (of an attribute, judge or system)'),
    ] = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Say what humans would have scored, from many judged responses and few human labels."""
    from voirdire.examining import correcting
    from voirdire.examining.gates import hold_gates, read_gates
    from voirdire.report.first import correction_said

    wanted = read_gates(require or [])
    correction = answered(
        lambda asked, named: correcting.correct(
            source,
            reference=named,
            read=asked,
            judges=judge or (),
            by=by,
            compare=[pair_of(text) for text in compare or ()],
            errors_from=errors_from,
            gate=gate,
            leave_out=leave_out_chosen,
            drawn=drawn,
            examples=examples,
            level=level,
        ),
        read,
        reference,
    )
    sections = correcting.correction_sections(correction)
    show_sections(
        "Corrected numbers",
        "corrected",
        sections,
        correction,
        out,
        formats,
        as_json=as_json,
        held=hold_gates(wanted, correcting.correction_values(correction)),
        said=correction_said(correction),
    )


@takes_read_options()
def calibrate(
    source: SourceArgument,
    reference: ReferenceOption = None,
    read: Any = None,
    judge: JudgeOption = None,
    method: Annotated[
        Literal["level_and_spread", "isotonic"],
        typer.Option("--method", help="Shift and stretch the scores, or fit any rising function."),
    ] = "level_and_spread",
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Also simulate what calibration does to the verdict's errors, with panels of this "
            "size whose truth is known. It takes up to a minute.",
        ),
    ] = False,
    out: OutFolder = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Bring judges to the humans' scale, and say whether their means may then be quoted."""
    from voirdire.examining import correcting

    made = answered(
        lambda asked, named: correcting.calibrate_ratings(
            source,
            reference=named,
            read=asked,
            judges=judge or (),
            method=method,
            simulate=simulate,
        ),
        read,
        reference,
    )
    sections = correcting.calibration_sections(made.calibrations)
    show_sections(
        "Calibration", "calibration", sections, made.calibrations, out, formats, as_json=as_json
    )
    if out is not None:
        study = correcting.write_calibrated(made, out)
        next_step = f"Examine the calibrated judges beside the raw: voirdire examine {study}"
        typer.echo(next_step, err=as_json)


@takes_read_options()
def plan(
    source: SourceArgument,
    half_width: Annotated[
        str,
        typer.Option(
            "--half-width",
            help="The half-width of the interval that you want, in "
            "points. Several are separated by commas.",
            show_default=False,
        ),
    ] = "",
    detect: Annotated[
        str,
        typer.Option(
            "--detect",
            help="Plan to detect these differences instead, in points. "
            "Several are separated by commas.",
            show_default=False,
        ),
    ] = "",
    each: Annotated[
        int | None,
        typer.Option(
            "--each",
            min=1,
            help="With --draw: this many more of what the judge fails, and of what it passes.",
            show_default=False,
        ),
    ] = None,
    power: Annotated[
        float,
        typer.Option(
            "--power", help="With --detect: the probability that the difference is detected."
        ),
    ] = 0.8,
    reference: ReferenceOption = None,
    read: Any = None,
    judge: JudgeOption = None,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="Make one plan per system, or per value of this column.",
            show_default=False,
        ),
    ] = "",
    judged: Annotated[
        int | None,
        typer.Option(
            "--judged",
            min=1,
            help="The number of responses that will have a judge's score. "
            "[dim]\\[default: those of the pilot][/dim]",
            show_default=False,
        ),
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", help="The cost of one label.", show_default=False)
    ] = None,
    gate: Annotated[
        float | None,
        typer.Option(
            "--gate",
            help="Scores at or above this one pass: plan for a pass rate.",
            show_default=False,
        ),
    ] = None,
    level: LevelOption = 0.95,
    draw: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            help="Draw the responses to label next, and write them to this CSV file, which humans "
            "export takes by --queue.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the draw.")] = 0,
    out: OutFolder = None,
    formats: SectionFormats = None,
    as_json: JsonOption = False,
) -> None:
    """Say how many human labels are needed, with the judge's scores and without them."""
    from voirdire.errors import InputError
    from voirdire.examining import correcting

    if bool(half_width) + bool(detect) + bool(each) != 1:
        raise InputError("plan: give one of --half-width, --detect and --each")
    if each and draw is None:
        raise InputError("plan: --each draws responses; say by --draw where the list goes")
    wanted = _numbers("--detect" if detect else "--half-width", detect or half_width or "1")

    def planned(asked: Any, named: Any) -> correcting.LabelPlan:
        shared: Any = {"reference": named, "read": asked, "judges": judge or (), "gate": gate}
        if each:
            return correcting.plan_sides(source, each, seed=seed, **shared)
        return correcting.plan_labels(
            source,
            wanted,
            power=power if detect else None,
            by=by,
            judged=judged,
            cost=cost,
            level=level,
            draw=draw is not None,
            seed=seed,
            **shared,
        )

    label_plan = answered(planned, read, reference)
    if draw is not None and label_plan.draw is not None:
        from voirdire.files import write_csv

        write_csv(draw, label_plan.draw.units, again=True)
    from voirdire.report.first import plan_said

    sections = correcting.plan_sections(label_plan, str(draw or ""))
    show_sections(
        "Labels needed",
        "plan",
        sections,
        label_plan,
        out,
        formats,
        as_json=as_json,
        said=plan_said(label_plan),
    )


@takes_read_options()
def escalate(
    source: SourceArgument,
    agree: AgreeOption,
    risk: RiskOption = 0.1,
    reference: ReferenceOption = None,
    read: Any = None,
    whose: Annotated[
        str,
        typer.Option(
            "--whose",
            help="The judge whose verdicts may go out; the others say how sure one can be of it. "
            "[dim]\\[default: the one that agrees most][/dim]",
            show_default=False,
        ),
    ] = "",
    on: Annotated[
        str,
        typer.Option(
            "--on",
            help="The attribute whose verdicts may go out, where there are several.",
            show_default=False,
        ),
    ] = "",
    tolerance: ToleranceOption = 0.0,
    gate: SideOption = None,
    seed: SplitSeedOption = 0,
    audit: Annotated[
        int,
        typer.Option(
            "--audit",
            min=0,
            help="Also give people this many of the verdicts that may go out, drawn at random, so "
            "that the labels of the queue can correct the numbers of all responses.",
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The CSV file for the queue.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which single verdicts may go out without a human, and which go to one."""
    from voirdire.examining import correcting

    escalation = answered(
        lambda asked, named: correcting.escalate(
            source,
            agree=agree,
            risk=risk,
            reference=named,
            read=asked,
            judge=whose,
            on=on,
            tolerance=tolerance,
            gate=gate,
            seed=seed,
            audit=audit,
            remember=out is not None,
        ),
        read,
        reference,
    )
    if out is not None:
        from voirdire.files import write_csv

        write_csv(out, escalation.queue, again=True)
    sections = correcting.escalation_sections(escalation, str(out or "QUEUE"))
    show_sections("Escalation", "escalation", sections, escalation, None, None, as_json=as_json)
    if out is not None and not as_json:
        typer.echo(f"Queue: {out}")


def pair_of(text: str) -> tuple[str, str]:
    """Two systems, as ``A,B``."""
    from voirdire.errors import InputError

    first, comma, second = (part.strip() for part in text.partition(","))
    if not (first and comma and second):
        raise InputError(f"--compare {text!r}: name two systems with a comma between them")
    return first, second


def _numbers(option: str, text: str) -> list[float]:
    from voirdire.errors import InputError

    try:
        return [float(part) for part in parts(text)]
    except ValueError:
        raise InputError(f"{option} {text!r}: give numbers, with commas between them") from None
