"""`voirdire run --cascade`: each judge of a cascade is asked what those before it left open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.running import RunResult

#: Whose verdict goes out, beside the stages' sessions.
QUEUE = "queue.csv"


def run_cascade(
    study: Path,
    certificate: Path,
    out: Path,
    *,
    resume: bool,
    max_cost: float | None,
    max_calls: int | None,
    shown: Callable[[RunResult], None],
    **how: Any,
) -> None:
    """Run stage after stage, each into a session of its own, and write the queue after each.

    `shown` prints what a stage came to; `how` are options of `voirdire.run`.

    Raises
    ------
    InputError
        As `CascadeAsking`; the folder holds a cascade's run already, or none to resume.
    """
    from voirdire import running
    from voirdire.cli.machine import answer_of, collect
    from voirdire.errors import InputError
    from voirdire.examining.certificate import read_certificate
    from voirdire.examining.correcting import CascadeAsking
    from voirdire.files import write_csv
    from voirdire.shown import visible
    from voirdire.store import is_session
    from voirdire.study import load_study

    asking = CascadeAsking(read_certificate(certificate), load_study(study))
    first = out / _folder(1, asking.judge)
    if is_session(first) and not resume:
        raise InputError(f"{out} holds a cascade's run already: give --resume, or another --out")
    if resume and not is_session(first):
        raise InputError(f"--resume: there is no cascade's run in {out}")
    out.mkdir(parents=True, exist_ok=True)
    asked, spent, calls, stopped = len(asking.open), 0.0, 0, ""
    stages: list[dict[str, Any]] = []
    raters: list[Any] = []
    while asking.judge and not stopped:
        judge, place = asking.judge, out / _folder(asking.stage + 1, asking.judge)
        typer.echo(f"{visible(judge)} is asked about {len(asking.open):,} responses.")
        # Limits are of the whole cascade; each session knows of its own.
        result = running.run(
            asking.next_study(),
            place,
            resume=is_session(place),
            max_cost=None if max_cost is None else max(max_cost - spent, 0.0),
            max_calls=None if max_calls is None else max(max_calls - calls, 0),
            **how,
        )
        shown(result)
        raters += result.raters
        spent += result.cost or 0.0
        calls += sum(rater.calls for rater in result.raters)
        stages.append(
            {
                "judge": judge,
                "responses": len(asking.open),
                "session": str(place),
                "cost": result.cost,
                "complete": result.complete,
            }
        )
        if not result.complete:
            stopped = result.stopped or "partial"
            break
        asking.take(place)
        write_csv(out / QUEUE, asking.queue(), again=True)
    queue = asking.queue()
    write_csv(out / QUEUE, queue, again=True)
    goes = int((queue["decision"] == "automatic").sum())
    if stopped:
        sentence = f"The cascade is not through: {len(asking.open):,} responses are open."
        step = f"voirdire run {study} --cascade {certificate} --out {out} --resume"
    else:
        sentence = f"{goes:,} of {asked:,} verdicts go out, and {asked - goes:,} need a person."
        step = f"voirdire humans export {study} --queue {out / QUEUE} --out work"
    typer.echo(f"{sentence} Whose verdict goes out: {out / QUEUE}")
    if stopped or asked > goes:
        typer.echo(f"Next: {step}")
    collect(
        answer_of(sentence, "interrupted" if stopped == "interrupted" else "ok",
                  next=[{"say": "", "command": step}]),
        {"session": out, "raters": raters, "calls": calls, "cost": spent, "complete": not stopped,
         "stopped": stopped, "stages": stages, "queue": str(out / QUEUE), "automatic": goes,
         "human": asked - goes},
    )  # fmt: skip
    raise typer.Exit(130 if stopped == "interrupted" else 3 if stopped else 0)


def _folder(stage: int, judge: str) -> str:
    """A stage's session: its number, and the judge's name as far as a folder can bear it."""
    return f"{stage}-{''.join(sign if sign.isalnum() else '_' for sign in judge)}"
