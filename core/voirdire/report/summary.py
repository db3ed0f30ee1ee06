"""What an examination comes to in a few lines, for programs, notebooks and frames."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from voirdire.examining.spec import ACTIONS, THESE, USES
from voirdire.report.answers import answers, without_verdict
from voirdire.report.records import plain
from voirdire.report.saying import worst_part
from voirdire.report.sentences import next_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import Component, Verdict
    from voirdire.report.answers import JudgeAnswer

#: Judges and numbers that a summary names; the record holds all.
MOST = 6


def examination_answer(examination: Examination) -> dict[str, Any]:
    """The first of what a program reads: sentences, states, numbers beside limits, what is next.

    Returns
    -------
    dict
        ``sentence`` and ``sentences`` (of the first judges), ``states`` (judge -> use -> state, or
        a count of each state over several attributes), ``numbers`` (what decided), ``next`` and
        ``ids`` (what ``--require`` holds to).
    """
    shown = answers(examination)
    said = [
        one for answer in shown for one in (answer.sentences if len(shown) == 1 else answer.lead)
    ]
    if not said:
        said = [without_verdict(examination)]
    unmet = [one.gate.text for one in examination.requirements if one.state != "met"]
    deciding = [_number(verdict) for answer in shown for verdict in _first(answer)]
    return {
        "sentence": f"A requirement is not met: {unmet[0]}." if unmet else said[0],
        "state": "unmet" if unmet else "ok",
        "sentences": said[:MOST],
        "states": {answer.name: _states(answer) for answer in shown[:MOST]},
        "numbers": [one for one in deciding if one is not None][:MOST],
        "next": _next(shown),
        "ids": list(dict.fromkeys(
            f"verdict.{one.use}@{one.attribute}" for answer in shown for one in answer.verdicts
            if one.target == THESE))[:MOST],
        "more": max(len(shown) - MOST, 0),
    }  # fmt: skip


def _next(shown: Sequence[JudgeAnswer]) -> list[dict[str, str]]:
    """The first next steps, in words and as the name of the command that takes them."""
    steps: dict[str, str] = {}
    for answer in shown:
        for verdict in answer.verdicts:
            said = next_text(verdict.next, verdict.state)
            if said:
                command = ACTIONS[verdict.next.action].command.format(needed=verdict.next.needed)
                steps.setdefault(said, command)
    return [{"say": said, "command": command} for said, command in list(steps.items())[:3]]


def _states(answer: JudgeAnswer) -> dict[str, Any]:
    """Use -> its state; of several attributes how many have each."""
    states: dict[str, Any] = {}
    for use in USES:
        found = Counter(v.state for v in answer.verdicts if (v.use, v.target) == (use, THESE))
        if found:
            states[use] = next(iter(found)) if found.total() == 1 else dict(found)
    return states


def _first(answer: JudgeAnswer) -> list[Verdict]:
    """The verdicts that decide most, a use each: those farthest from a yes."""
    found: dict[str, Verdict] = {}
    for verdict in answer.verdicts:
        if verdict.target == THESE and verdict.state != "not tested":
            before = found.get(verdict.use)
            if before is None or verdict.p > before.p:
                found[verdict.use] = verdict
    return list(found.values())


def deciding_part(verdict: Verdict) -> Component | None:
    """The component that decided, or by which a yes is explained: the one that sentences name."""
    if verdict.state == "no" and (part := worst_part([verdict])) is not None:
        return part
    named = verdict.deciding if verdict.state != "yes" else USES[verdict.use].shown
    found = (part for name in named for part in verdict.components if part.name == name)
    return next((part for part in found if math.isfinite(part.estimate)), None)


def _number(verdict: Verdict) -> dict[str, Any] | None:
    part = deciding_part(verdict)
    if part is None:
        return None
    return {
        "judge": verdict.judge, "attribute": verdict.about, "use": verdict.use,
        "state": verdict.state, "component": part.name, "estimate": plain(part.estimate),
        "low": plain(part.low), "high": plain(part.high), "limit": plain(part.margin),
    }  # fmt: skip


def summary_text(examination: Examination) -> str:
    """The sentences on all judges, a line each, and what is blocking or serious in the data."""
    lines = [answer.sentence for answer in answers(examination)]
    grave = [f"{f.severity}: {f.message}" for f in examination.findings if f.severity != "note"]
    return "\n".join(lines or [without_verdict(examination)]) + (
        "\n" + "\n".join(grave) if grave else ""
    )


def verdict_frame(examination: Examination) -> pl.DataFrame:
    """A row a verdict: judge, attribute, use, target, state, and the number that decided."""
    import polars as pl  # noqa: PLC0415 - kept out of the terminal's way

    texts = ("judge", "attribute", "label", "use", "target", "state", "component")
    numbers = ("estimate", "low", "high", "margin_low", "margin_high", "p", "p_holm")
    rows = []
    for one in examination.verdicts:
        part = deciding_part(one)
        ends: tuple[float | None, float | None] = (None, None)
        if part is not None and part.margin is not None:
            ends = part.margin if isinstance(part.margin, tuple) else (part.margin, None)
        values = (None, None, None) if part is None else (part.estimate, part.low, part.high)
        rows.append(
            (
                one.judge,
                one.attribute,
                one.label or None,
                one.use,
                one.target,
                one.state,
                None if part is None else part.name,
                *map(plain, (*values, *ends, one.p, one.p_holm)),
            )
        )
    schema = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def result_frame(entries: Sequence[object] | pl.DataFrame) -> pl.DataFrame:
    """A row an entry, in the columns of its JSON record; a field of a field has both names."""
    import polars as pl  # noqa: PLC0415 - kept out of the terminal's way

    if isinstance(entries, pl.DataFrame):
        return entries
    rows = [dict(_flat(plain(entry))) for entry in entries]
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(
        {name: pl.Series([row.get(name) for row in rows], strict=False) for name in names}
    )


def _flat(record: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Plain values and lists of them; lists of parts are left out."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}_")
        elif not (isinstance(value, list) and any(isinstance(one, dict | list) for one in value)):
            yield f"{before}{key}", value
