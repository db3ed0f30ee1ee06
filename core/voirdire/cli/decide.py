"""`voirdire decide`: all that somebody asks who gates releases by a judge, in one command."""

from __future__ import annotations

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
    from voirdire.examining.verdict.facts import Verdict

EPILOG = """
Examples:

  voirdire decide judged.csv --reference human --gate 4

  voirdire decide judged.csv --reference human --gate 4,0.9,0.8 --compare new,old

  voirdire decide judged.csv --reference human --gate 4 --as judge.lock

It says whether the judge may gate, what the pass rate is, which of two releases is better, how many
responses to label next, and how to freeze the judge. Every number is that of examine, correct, plan
and gate freeze on the same file.
"""
#: The use that is asked about.
USE = "gate"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("decide", epilog=EPILOG)(decide)


@takes_read_options()
def decide(
    source: SourceArgument,
    gate: Annotated[
        str,
        typer.Option(
            "--gate",
            help="Scores at or above this one pass: 4, or 4,0.9,0.8 to ask for a sensitivity of "
            "0.9 and a specificity of 0.8 as well.",
            show_default=False,
        ),
    ],
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
        typer.Option("--half-width", help="How exactly the pass rate is wanted, for the plan."),
    ] = 0.05,
    lock: Annotated[
        Path | None,
        typer.Option(
            "--as", help="Freeze the judges in this lock file as well.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a judge may gate, the pass rate, which release is better, and what to label."""
    from voirdire.cli.steps import command_like
    from voirdire.examining import changing, correcting, examine
    from voirdire.examining.as_ratings import check_scores
    from voirdire.report.first import correction_said, plan_said
    from voirdire.report.records import verdict_record

    wanted = gate_asked(gate)
    if wanted is None:
        raise InputError("--gate: write where scores begin to pass, such as 4")
    at = wanted.at
    found: Examination = answered(
        lambda asked, named: examine(
            source, reference=named, read=asked, gate=wanted, resamples=0
        ), read, reference,
    )  # fmt: skip
    check_scores(found.inputs, "decide is about a gate on scores")
    named, asked = found.inputs.reference, read
    pairs = [pair_of(text) for text in compare or ()] or _two_systems(found)
    corrected, why_not = _tried(lambda: correcting.correct(
        source, reference=named, read=asked, gate=at, compare=pairs))  # fmt: skip
    planned, no_plan = _tried(lambda: correcting.plan_labels(
        source, [half_width], reference=named, read=asked, gate=at))  # fmt: skip
    gates = [one for one in found.verdicts if one.use == USE]
    rates, differences = why_not, []
    if corrected is not None:
        rates = correction_said(replace(corrected, differences=()))
        differences = correction_said(replace(corrected, scores=()))
    drawn = f"{command_like('plan')} --half-width {half_width:g} --draw next.csv"
    steps = [{"say": "Draw them at random.", "command": drawn}]
    said = {
        "May it gate?": _gate_said(found, gates),
        "What is the pass rate?": rates,
        "Which release is better?": differences,
        "How many to label next?": no_plan or plan_said(planned),
    }
    if lock is not None:
        frozen = changing.freeze(source, reference=named, read=asked)
        changing.write_lock(lock, frozen)
        said["Frozen"] = [f"The judges are frozen in {lock}, on {len(frozen.canary)} responses."]
        step = f"voirdire gate check {source} --lock {lock}"
        steps.append({"say": "Hold each release to the lock.", "command": step})
    else:
        said["Freeze"] = ["A lock holds the judges to what they are today."]
        steps.append({"say": "Freeze the judges.", "command": _freeze(source, named)})
    said = {title: sentences for title, sentences in said.items() if sentences}
    if as_json:
        sentences = [one for part in said.values() for one in part]
        emit(
            answer_of(
                sentences[0], sentences=sentences[:6], next=steps,
                states=_states(gates),
                ids=[f"verdict.{USE}@{one.attribute}" for one in gates[:6]],
            ),
            {
                "verdicts": [verdict_record(one) for one in gates], "corrected": corrected,
                "plan": planned, "said": said, "lock": None if lock is None else str(lock),
            },
        )  # fmt: skip
        return
    _print(said, steps)


def _states(gates: Sequence[Verdict]) -> dict[str, dict[str, str]]:
    """Judge -> attribute -> state, of the first six judges."""
    states: dict[str, dict[str, str]] = {}
    for one in gates:
        if one.judge in states or len(states) < MOST:
            states.setdefault(one.judge, {})[one.attribute] = one.state
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
    """The only two systems, the later named first; nothing where there are others."""
    names = found.ratings["system"].drop_nulls().unique(maintain_order=True).to_list()
    return [(str(names[1]), str(names[0]))] if len(names) == 2 else []


def _gate_said(found: Examination, gates: Sequence[Verdict]) -> list[str]:
    """For each judge the sentence on the gate alone, and the numbers that it rests on."""
    from voirdire.report.answers import answers
    from voirdire.report.sentences import next_text, reason_text

    told: list[str] = []
    for answer in answers(found.with_verdicts(tuple(gates))):
        told += answer.lead
        for one in answer.verdicts:
            where = f"{one.attribute}: " if len(answer.attributes) > 1 else ""
            because = f"{where}{reason_text(one)} {next_text(one.next, one.state)}"
            told += [because.strip()]
    return told or ["No judge could be held to the gate."]


def _freeze(source: str, reference: Sequence[str]) -> str:
    import shlex

    names = [word for name in reference for word in ("--reference", name)]
    return shlex.join(["voirdire", "gate", "freeze", source, *names, "--as", "judge.lock"])


def _print(said: dict[str, list[str]], steps: Sequence[dict[str, str]]) -> None:
    from rich.text import Text

    from voirdire.shown import terminal, visible

    console = terminal()
    # The last two answers are followed by the command that acts on them.
    acting = dict(zip(list(said)[-2:], steps, strict=True))
    for title, sentences in said.items():
        console.print(Text(title, style="bold"))
        for sentence in sentences:
            console.print(Text(f"  {visible(sentence)}"))
        if title in acting:
            step = acting[title]
            console.print(Text(f"  {step['say']} {visible(step['command'])}"), soft_wrap=True)
