"""The effects of probes as a report's sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.changing.measured import measured_of
from voirdire.examining.probing.names import WHOLE, changed_name
from voirdire.examining.probing.suite import REQUESTS, RESPONSES
from voirdire.examining.prompts import Worded, sections_of_prompts
from voirdire.probes import RequestProbe
from voirdire.tabular import Section, Table, count, interval, number, share, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.probing.effects import ProbeEffect, Probing
    from voirdire.examining.probing.suite import Suite

#: The prompt that no probe has changed.
AS_IT_IS = "as it is"


def probe_sections(probing: Probing) -> tuple[Section, ...]:
    """Effects, the noise of asking again, and what each probe changes."""
    noise = Table(
        (
            text("Judge"),
            text("Attribute"),
            count("n"),
            number("Shift", signed=True),
            share("Flips"),
        ),
        tuple((one.judge, one.attribute, one.n, one.effect, one.flips) for one in probing.noise),
    )
    probes = Table(tuple(map(text, ("Probe", "Strength", "What it does"))), probing.probes)
    parts = (
        effects_section(probing.effects),
        _graded(probing.effects),
        Section(
            "The noise of asking again",
            "The identity probe asks about the same text once more. Its flips are subtracted from "
            "those of the other probes.",
            (noise,),
        ),
        Section("The probes", "", (probes,)),
    )
    return tuple(part for part in parts if part.has_rows)


def effects_section(effects: Sequence[ProbeEffect]) -> Section:
    """The table of effects."""
    table = Table(
        (
            text("Probe"), text("Judge"), text("Attribute"), count("n"),
            number("Effect", signed=True), interval("95 % interval"), number("p"),
            share("Flips beyond noise"), text("Reading"),
        ),
        tuple(
            (
                one.probe, one.judge, one.attribute, one.n, one.effect, (one.low, one.high),
                one.p_holm, max(one.flips_net, 0.0), one.reading,
            )
            for one in effects
        ),
    )  # fmt: skip
    margins = " or ".join(f"{margin:g}" for margin in dict.fromkeys(one.margin for one in effects))
    of_labels = (
        f" Of annotators the effect on {WHOLE} is the share of runs in which it is another, less "
        "that on asking again; on a label, how much more often it is named."
        if any(one.attribute == WHOLE for one in effects)
        else ""
    )
    return Section(
        "What the probes do",
        "An effect is the changed response's score less that of the response as it is, in points, "
        "paired on the same items. It counts as none where its 90 % interval lies within "
        f"{margins} points. p is by Holm's method over probes, judges and attributes.{of_labels}",
        (table,),
        leading=True,
    )


def _graded(effects: Sequence[ProbeEffect]) -> Section:
    """The effect at each strength of the probes that have several."""
    columns = (
        text("Probe"), text("Judge"), text("Attribute"), text("Strength"),
        number("Effect", signed=True), interval("95 % interval"),
        number("Largest rise", signed=True), number("p of a rise"),
    )  # fmt: skip
    rows = tuple(
        (
            one.probe,
            one.judge,
            one.attribute,
            f"{at} of {len(one.doses)}",
            dose,
            (low, high),
            one.rise,
            one.p_rise_holm,
        )
        for one in effects
        for at, (dose, low, high) in enumerate(
            zip(one.doses, one.doses_low, one.doses_high, strict=True), start=1
        )
    )
    return Section(
        "Graded damage",
        "The effect at each strength, the weakest first, on the responses to which all apply. A "
        "sound judge's score falls further each time; a rise is the change from one strength to "
        "the next where that is upwards.",
        (Table(columns, rows),),
    )


def wording_sections(suite: Suite, sessions: Mapping[str, str | Path]) -> tuple[Section, ...]:
    """How much of the scores' variance is the prompt's: judge x prompt x item.

    The prompts are the judge's own and those of the probes that change requests and expect the
    same score.
    """
    probes = [
        probe.name
        for probe in suite.probes
        if isinstance(probe, RequestProbe) and probe.expects == "same"
    ]
    if not probes or REQUESTS not in sessions:
        return ()
    groups = [
        Worded(name, {AS_IT_IS: name, **{one: changed_name(name, one) for one in probes}})
        for name in suite.judges
    ]
    own = measured_of(sessions[RESPONSES], verdicts=False)
    changed = measured_of(sessions[REQUESTS], verdicts=False)
    ratings = pl.concat(
        [
            one.ratings.select(
                pl.col("item", "system", "rater", "attribute").cast(pl.String), "run", "score"
            )
            for one in (own, changed)
        ]
    )
    present = set(changed.judges)
    kept = [one for one in groups if set(one.prompts.values()) - {one.name} <= present]
    return sections_of_prompts(
        kept, ratings.filter(pl.col("system").is_in(suite.systems)), own.cube.attributes
    )
