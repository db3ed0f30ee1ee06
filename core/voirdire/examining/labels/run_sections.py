"""Consistency as a report's tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import polars as pl

from voirdire.examining.labels.between import between_sections, sweep_section
from voirdire.examining.labels.final import (
    UNSURE,
    agreement_frame,
    final_labels,
    joint_agreement_frame,
    label_agreements,
    label_distribution,
    largest_counts,
    threshold_of,
)
from voirdire.examining.labels.runs import reply_states, unknown_labels
from voirdire.stats._results import REASONS
from voirdire.tabular import Section, SectionFigure, count, frame_table, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire.examining.labels.runs import LabelRuns

DETERMINISTIC = (
    "Sampled at temperature 0: {names}. Repeated runs of a deterministic configuration agree "
    "because decoding collapses to one answer, whatever the text says. Their agreement is no "
    "evidence of consistency (Sharma et al., appendix C)."
)
UNDECLARED = (
    "No temperature is declared for {names}; whether their runs may vary at all is not known."
)


def consistency_sections(
    runs: LabelRuns,
    *,
    at_least: int | None = None,
    unsure: tuple[str, str] = UNSURE,
    level: float = 0.95,
    families: Mapping[str, str] | None = None,
) -> tuple[Section, ...]:
    """Replies, largest counts, kappas, final labels, labels outside the set, pairs of annotators.

    `families` (annotator -> its model's family) adds agreement by family. Sections without rows are
    left out.
    """
    final = final_labels(runs, at_least=at_least, unsure=unsure)
    sections = (
        _replies(runs),
        _largest(runs),
        _kappas(runs, level),
        _distribution(runs, final, at_least, unsure),
        _unknown(runs),
        sweep_section(runs, unsure),
        _pairs(final, level),
        *between_sections(runs, families or {}, level),
    )
    return tuple(section for section in sections if section.has_rows)


def temperature_notes(raters: pl.DataFrame, names: tuple[str, ...]) -> tuple[str, ...]:
    """What the temperatures of annotators (columns ``rater, temperature``) say of their runs."""
    temperatures = dict(raters.select("rater", "temperature").iter_rows())
    frozen = [name for name in names if temperatures.get(name) == 0]
    silent = [name for name in names if temperatures.get(name) is None]
    notes = ((DETERMINISTIC, frozen), (UNDECLARED, silent))
    return tuple(text.format(names=", ".join(whose)) for text, whose in notes if whose)


def _replies(runs: LabelRuns) -> Section:
    columns = {
        "rater": text("Annotator"),
        "items": count("Items"),
        "runs": count("Runs"),
        "replies": count("Replies"),
        "read": count("Read"),
        "missing": count("Missing"),
        "reasons": text("Why missing"),
        "contradictions": count("Contradictions"),
        "too_many": count("Too many labels"),
        "unknown": count("With a label outside the set"),
    }
    frame = reply_states(runs)
    none = (
        f" A reply that names {runs.none!r} beside another label contradicts itself."
        if runs.none
        else ""
    )
    shown = {key: column for key, column in columns.items() if key in frame.columns}
    return Section(
        "Labels: what became of the replies",
        "Every item was to be labelled in every run. A reply that names no label, and a run "
        f"without a reply, are missing and never a label.{none}",
        (frame_table(frame, shown),),
    )


def _largest(runs: LabelRuns) -> Section:
    frame = largest_counts(runs)
    columns = {
        "rater": text("Annotator"),
        "largest": count("Largest count"),
        "items": count("Items"),
        "share": number("Share"),
        "at_least": number("This or more"),
        "incomplete": count("Incomplete"),
    }
    return Section(
        "Largest label count per item",
        "In how many runs the most often named label of an item was named: the distribution of "
        "figure 2 of Sharma et al. Incomplete items have a run that says nothing.",
        (frame_table(frame, columns),),
        (_largest_figure(frame),),
    )


def _largest_figure(largest: pl.DataFrame) -> SectionFigure:
    """Shares of items by largest count; an annotator with fewer runs ends earlier."""
    counts = range(cast("int", largest["largest"].max()) + 1)
    shares = {(r, n): s for r, n, s in largest.select("rater", "largest", "share").iter_rows()}
    raters = largest["rater"].unique(maintain_order=True)
    return SectionFigure(
        kind="grouped_bars",
        labels=tuple(map(str, counts)),
        series=tuple((r, tuple(shares.get((r, n), math.nan) for n in counts)) for r in raters),
        x="Runs that name the most often named label",
        y="Share of items",
    )


def _kappas(runs: LabelRuns, level: float) -> Section:
    frame = agreement_frame(label_agreements(runs, level=level)).with_columns(
        pl.col("reason").replace(dict(REASONS)).fill_null("")
    )
    columns = {
        "rater": text("Annotator"),
        "label": text("Label"),
        "kappa": number("Kappa"),
        "low": number("Low"),
        "high": number("High"),
        "prevalence": number("Prevalence"),
        "ac1": number("AC1"),
        "named": count("Items named"),
        "n": count("Items"),
        "k": count("Runs"),
        "reason": text("Undefined because"),
    }
    return Section(
        "Fleiss' kappa of each label over runs",
        f"Each label is a task of its own, named or not; intervals are {100 * level:g}% jackknife "
        "intervals over items, with as few degrees of freedom as the items that bear the label, "
        "and an exact lower bound where no item is disagreed on. Kappa is low for a rare label "
        "even where runs seldom differ: read it beside prevalence and AC1. Runs that agree are "
        "consistent, which is not the same as right.",
        (frame_table(frame, columns),),
        leading=True,
    )


def _distribution(
    runs: LabelRuns, final: pl.DataFrame, at_least: int | None, unsure: tuple[str, str]
) -> Section:
    sizes = dict(final.select("rater", "runs").unique(maintain_order=True).iter_rows())
    rules = sorted({(threshold_of(size, at_least), size) for size in sizes.values()})
    thresholds = " or ".join(f"{least} of {size}" for least, size in rules)
    named = f"named {runs.none!r}" if runs.none else "named no label"
    columns = {
        "rater": text("Annotator"),
        "label": text("Label"),
        "items": count("Items"),
        "share": number("Share"),
    }
    return Section(
        "Final labels",
        f"Labels that recur in at least {thresholds} runs. Without one, an item is {unsure[0]!r} "
        f"where a run {named}, and {unsure[1]!r} where none did; it is incomplete where a missing "
        "run could decide. Shares are of all items; an item may have several labels.",
        (frame_table(label_distribution(final, runs.labels), columns),),
    )


def _unknown(runs: LabelRuns) -> Section:
    columns = {"rater": text("Annotator"), "label": text("Label"), "count": count("Times")}
    return Section(
        "Labels outside the set",
        "Entries of replies that are no declared label. Beside a declared label they are dropped; "
        f"alone they count as {runs.other!r}.",
        (frame_table(unknown_labels(runs), columns),),
    )


def _pairs(final: pl.DataFrame, level: float) -> Section:
    columns = {
        "rater_a": text("Annotator"),
        "rater_b": text("And"),
        "on": text("On"),
        "agreement": number("Agreement"),
        "low": number("Low"),
        "high": number("High"),
        "n": count("Items"),
        "left_out": count("Left out"),
    }
    return Section(
        "Joint agreement of two annotators",
        f"Share of items with equal final labels, with {100 * level:g}% Wilson intervals; items "
        "that either is unsure of are left out. Not corrected for chance.",
        (frame_table(joint_agreement_frame(final, level=level), columns),),
    )
