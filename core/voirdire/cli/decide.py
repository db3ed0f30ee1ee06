"""`voirdire decide`: all that somebody asks who gates releases by a judge, in one command."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voirdire.cli.columns import answered, takes_read_options
from voirdire.cli.correct import pair_of
from voirdire.cli.examine import gate_asked
from voirdire.cli.machine import MOST, answer_of, emit
from voirdire.cli.options import JsonOption, ReferenceOption, SourceArgument
from voirdire.errors import InputError, QuestionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining import Examination
    from voirdire.examining.correcting import LabelPlan
    from voirdire.examining.correcting.corrected import CorrectedScore
    from voirdire.examining.correcting.planning import PlannedLabels
    from voirdire.examining.verdict.facts import Verdict

EPILOG = """
Examples:

  voirdire decide judged.csv --reference human --gate 4

  voirdire decide judged.csv --reference human --gate 4,0.9,0.8 --compare new,old

  voirdire decide labels.csv --reference ann,ben

  voirdire decide judged.csv --reference human --gate 4 --as judge.lock

It says whether the judge may act on single responses (gate, filter, pick the better, or act
without review), what people would say of all of them, which of two releases is better, how many
responses to label next, and how to freeze the judge. Every number is that of examine, correct,
plan and gate freeze on the same file.
"""
#: Sentences that an answer shows; `--json` has all.
SHOWN = 8


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("decide", epilog=EPILOG)(decide)


@takes_read_options()
def decide(
    source: SourceArgument,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            help="Scores at or above this one pass: 4, or 4,0.9,0.8 to ask for a sensitivity of "
            "0.9 and a specificity of 0.8 as well. Labels, preferences, probabilities, and scores "
            "of pass and fail need none.",
            show_default=False,
        ),
    ] = None,
    reference: ReferenceOption = None,
    read: Any = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            help="Two releases, as A,B: how much higher is A? May be repeated. "
            "[dim]\\[default: the two systems, where there are two][/dim]",
            show_default=False,
        ),
    ] = None,
    half_width: Annotated[
        float,
        typer.Option("--half-width", help="How exactly that number is wanted, for the plan."),
    ] = 0.05,
    lock: Annotated[
        Path | None,
        typer.Option(
            "--as", help="Freeze the judges in this lock file as well.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a judge may act, people's number, which release is better, and what to label."""
    from voirdire.cli.steps import command_like
    from voirdire.examining import changing, correcting, examine
    from voirdire.examining.spec import USES
    from voirdire.examining.spec.kind import KINDS
    from voirdire.report.first import correction_said, plan_said
    from voirdire.report.records import verdict_record

    wanted = gate_asked(gate)
    at = None if wanted is None else wanted.at
    found: Examination = answered(
        lambda asked, named: examine(source, reference=named, read=asked, gate=wanted, resamples=0),
        read,
        reference,
    )
    acting = [one for one in found.verdicts if USES[one.use].acts]
    _check_gate(found, acting, gated=wanted is not None)
    named, asked = found.inputs.reference, read
    pairs = [pair_of(text) for text in compare or ()] or _two_systems(found)
    corrected, why_not = _tried(
        lambda: correcting.correct(source, reference=named, read=asked, gate=at, compare=pairs)
    )
    planned, no_plan = _tried(
        lambda: correcting.plan_labels(source, [half_width], reference=named, read=asked, gate=at)
    )
    rates, differences = why_not, []
    if corrected is not None:
        scores, compared = _together(corrected.scores), _together(corrected.differences)
        rates = correction_said(replace(corrected, scores=scores, differences=()))
        differences = correction_said(replace(corrected, scores=(), differences=compared))
    if planned is not None:
        no_plan = plan_said(replace(planned, rows=_fewest(planned)))
    # By what is held against people the number of all responses is called.
    kind = next((one.kind for one in found.verdicts), "score")
    said = {
        **_acting_said(found, acting),
        KINDS[kind].corrected: rates,
        "Which release is better?": differences,
        "How many to label next?": no_plan,
    }
    drawn = f"{command_like('plan')} --half-width {half_width:g} --draw next.csv"
    steps = [{"say": "Draw them at random.", "command": drawn}]
    if lock is not None:
        frozen = changing.freeze(source, reference=named, read=asked)
        changing.write_lock(lock, frozen)
        said["Frozen"] = [f"The judges are frozen in {lock}, on {len(frozen.canary)} responses."]
        step = shlex.join(["voirdire", "gate", "check", source, "--lock", str(lock)])
        steps.append({"say": "Hold each release to the lock.", "command": step})
    else:
        said["Freeze"] = ["A lock holds the judges to what they are today."]
        frozen_by = f"{command_like('gate freeze')} --as judge.lock"
        steps.append({"say": "Freeze the judges.", "command": frozen_by})
    said = {title: sentences for title, sentences in said.items() if sentences}
    if as_json:
        sentences = [one for part in said.values() for one in part]
        ids = dict.fromkeys(f"verdict.{one.use}@{one.attribute}" for one in acting)
        emit(
            answer_of(
                sentences[0], sentences=sentences[:6], next=steps,
                states=_states(acting), ids=list(ids)[:MOST],
            ),
            {
                "verdicts": [verdict_record(one) for one in acting], "corrected": corrected,
                "plan": planned, "said": said, "lock": None if lock is None else str(lock),
            },
        )  # fmt: skip
        return
    _print(said, steps)


def _check_gate(found: Examination, acting: Sequence[Verdict], *, gated: bool) -> None:
    """Raise where a gate is lacking, or where one is given that means nothing."""
    scores = any(one.kind == "score" for one in found.verdicts)
    if scores and not acting:
        raise InputError("--gate: write where scores begin to pass, such as 4")
    if gated and found.verdicts and not scores:
        raise InputError("--gate is for scores, and this source holds none: leave it out")


def _states(acting: Sequence[Verdict]) -> dict[str, dict[str, str]]:
    """Judge -> attribute or label -> state, of the first six judges and of six of each."""
    states: dict[str, dict[str, str]] = {}
    for one in acting:
        if one.judge in states or len(states) < MOST:
            own = states.setdefault(one.judge, {})
            if len(own) < MOST:
                own[one.about] = one.state
    return states


def _tried(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a command gives, or in its place the sentence by which it refuses."""
    try:
        return call(), []
    except QuestionError:
        raise
    except InputError as error:
        return None, [f"{str(error)[:1].upper()}{str(error)[1:]}."]


def _two_systems(found: Examination) -> list[tuple[str, str]]:
    """The only two systems, the later named first; nothing where there are others.

    Of comparisons the win rate says it.
    """
    said = found.inputs.judgements
    held = found.ratings if said is None else said.labels
    names = held["system"].drop_nulls().unique(maintain_order=True).to_list()
    return [(str(names[1]), str(names[0]))] if len(names) == 2 else []


def _together(rows: Sequence[CorrectedScore]) -> tuple[CorrectedScore, ...]:
    """Of several judges the number that rests on all of them, where there is one."""
    from voirdire.examining.correcting.corrected import TOGETHER

    pooled = {(one.attribute, one.group, one.against) for one in rows if one.judge == TOGETHER}
    return tuple(
        one
        for one in rows
        if one.judge == TOGETHER or (one.attribute, one.group, one.against) not in pooled
    )


def _fewest(planned: LabelPlan) -> tuple[PlannedLabels, ...]:
    """Of several judges the one with which the fewest labels do."""
    best: dict[tuple[str, str], PlannedLabels] = {}
    for row in planned.rows:
        place = row.attribute, row.group
        if place not in best or row.plans[0].with_judge < best[place].plans[0].with_judge:
            best[place] = row
    return tuple(best.values())


def _acting_said(found: Examination, acting: Sequence[Verdict]) -> dict[str, list[str]]:
    """Question -> for each judge the sentence on that use alone, and the numbers behind it."""
    from voirdire.examining.spec import USES
    from voirdire.report.answers import answers
    from voirdire.report.sentences import next_text, reason_text

    said: dict[str, list[str]] = {}
    for use in dict.fromkeys(one.use for one in acting):
        own = tuple(one for one in acting if one.use == use)
        judges = answers(found.with_verdicts(own))
        told = [sentence for answer in judges for sentence in answer.sentences]
        for answer in judges:
            for one in answer.verdicts:
                why, step = reason_text(one), next_text(one.next, one.state)
                # What the sentence says already is not said again.
                known = why.rstrip(".").lower() in answer.sentence.lower()
                because = [part for part in (why, step) if part and not (part == why and known)]
                where = [answer.name] if len(judges) > 1 else []
                where += [one.about] if len(answer.attributes) > 1 else []
                if because:
                    told.append(": ".join([*(", ".join(where),) * bool(where), " ".join(because)]))
        said[USES[use].acts] = told
    return said or {"May it act?": ["No judge could be held against people."]}


def _print(said: dict[str, list[str]], steps: Sequence[dict[str, str]]) -> None:
    from rich.text import Text

    from voirdire.shown import terminal, visible

    console = terminal()
    # The last two answers are followed by the command that acts on them.
    acting = dict(zip(list(said)[-2:], steps, strict=True))
    for title, sentences in said.items():
        console.print(Text(title, style="bold"))
        for sentence in sentences[:SHOWN]:
            console.print(Text(f"  {visible(sentence)}"))
        if len(sentences) > SHOWN:
            left = f"  {len(sentences) - SHOWN} more: --json shows all."
            console.print(Text(left, style="dim"))
        if title in acting:
            step = acting[title]
            console.print(Text(f"  {step['say']} {visible(step['command'])}"), soft_wrap=True)
