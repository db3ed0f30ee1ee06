"""The effects of probes as a report's sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.tabular import Section, Table, count, interval, number, share, text

if TYPE_CHECKING:
    from voirdire.examining.probing.effects import Probing


def probe_sections(found: Probing) -> tuple[Section, ...]:
    """Effects, the noise of asking again, and what each probe changes."""
    effects = Table(
        (
            text("Probe"), text("Judge"), text("Attribute"), count("n"),
            number("Effect", signed=True), interval("95 % interval"), number("p"),
            share("Flips beyond noise"), text("Reading"),
        ),
        tuple(
            (
                one.probe, one.judge, one.attribute, one.change.n, one.change.difference,
                (one.change.low, one.change.high), one.p_holm, max(one.flips_net, 0.0),
                one.reading,
            )
            for one in found.effects
        ),
    )  # fmt: skip
    noise = Table(
        (text("Judge"), text("Attribute"), count("n"), number("Shift", signed=True),
         share("Flips")),
        tuple(
            (one.judge, one.attribute, one.change.n, one.change.difference, one.flips)
            for one in found.noise
        ),
    )  # fmt: skip
    probes = Table(tuple(map(text, ("Probe", "Strength", "What it does"))), found.probes)
    return (
        Section("What the probes do", _said(found), (effects,), leading=True),
        Section(
            "The noise of asking again",
            "The identity probe asks about the same text once more. Its flips are subtracted from "
            "those of the other probes.",
            (noise,),
        ),
        Section("The probes", "", (probes,)),
    )


def _said(found: Probing) -> str:
    return (
        f"An effect is the changed response's score less that of the response as it is, in points, "
        f"paired over {found.n_responses} responses. It counts as none where its 90 % interval "
        f"lies within {found.margin:g} points. p is by Holm's method over probes, judges and "
        f"attributes."
    )
