"""What these ratings can and cannot show, beside the published figures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.tabular import Section, Table, count, number, text

if TYPE_CHECKING:
    from voirdire.examining import Examination, PairResult

    Row = tuple[str, str, int, float, float, int, float, float, float]

MERGED = (
    "The human file holds one merged column of three experts, so neither their agreement with one "
    "another (the ceiling for any judge) nor the replaceability of an expert can be tested."
)
CLASSES = (
    "GR, MR and PR are the published classes: widths of the percentile interval of ICC(C,1) over "
    "nine systems, cut at tertiles of the widths observed in that study (0.355, 0.560). They "
    "measure precision relative to that study, not reliability."
)
OFF_SCALE = (
    "The published figures keep 231 zeros and 8 sixes of the human file as if they were ratings. "
    "Here off-scale values are {policy}; compare --off-scale keep with the default, missing."
)

#: From here on an ICC is "good" (Koo and Li 2016).
HIGH = 0.75
WIDTHS = ("GR", "MR", "PR")


def review(examination: Examination) -> Examination:
    """Add notes on the published figures, the guidance matrix, Table 9 and the exclusion rules."""
    policy = str(examination.options.get("off_scale", ""))
    notes = (MERGED, CLASSES, OFF_SCALE.format(policy="kept" if policy == "keep" else policy))
    return examination.replace(
        notes=(*examination.notes, *notes),
        sections=(
            *examination.sections,
            _guidance(examination),
            _over_judges(examination),
            _family(examination),
        ),
    )


def _guidance(examination: Examination) -> Section:
    """The pairs in the cells of the published matrix (section 5.4)."""
    found: dict[tuple[bool, str], list[str]] = {}
    for result in examination.results:
        cell = (result.icc_c1 >= HIGH, result.reliability_class)
        found.setdefault(cell, []).append(f"{result.judge} {result.attribute}")
    columns = tuple(map(text, ("ICC(C,1)", "narrow (GR)", "moderate (MR)", "wide (PR)")))
    rows = tuple(
        (name, *("; ".join(found.get((high, width), [])) or "none" for width in WIDTHS))
        for name, high in ((f"{HIGH:g} or more", True), (f"below {HIGH:g}", False))
    )
    return Section(
        title="The published guidance matrix",
        text=(
            "Section 5.4 reads a high ICC with a narrow interval as reliable, a high one with a "
            "wide interval as promising and to be validated, a low one with a narrow interval as "
            "unreliable, and a low one with a wide interval as poor. High is here ICC(C,1) from "
            f"{HIGH:g}, where Koo and Li's band of good begins; the paper names no limit. The "
            "verdicts above do not rest on it, and no cell licenses clinical use, whatever the "
            "paper says of the first."
        ),
        tables=(Table(columns, rows),),
    )


def _over_judges(examination: Examination) -> Section:
    """Every system's mean over the judges, with their own beside it."""
    judges, study = examination.judges, examination.study
    overall = {(seen.rater, seen.system): seen.overall for seen in examination.system_means}
    means = {
        system.name: math.fsum(overall.get((judge, system.name), math.nan) for judge in judges)
        / len(judges)
        for system in study.systems
    }
    order = sorted(means, key=lambda name: (math.isnan(means[name]), -means[name]))
    columns = (text("System"), *map(number, (*judges, "Mean")), count("Rank"))
    rows = tuple(
        (
            study.system(name).label,
            *(overall.get((judge, name)) for judge in judges),
            means[name],
            rank,
        )
        for rank, name in enumerate(order, start=1)
    )
    return Section(
        title="Systems over all judges (as Table 9)",
        text="The mean of the judges' overall means; no system is left out of any of them.",
        tables=(Table(columns, rows),),
    )


def _family(examination: Examination) -> Section:
    rows = tuple(row for result in examination.results if (row := _family_row(result)))
    shifts = [abs(row[-1]) for row in rows if not math.isnan(row[-1])]
    most = f"ICC(A,1) moves by up to {max(shifts):.3f}. " if shifts else ""
    columns = (
        text("Judge"),
        text("Attribute"),
        count("n"),
        number("ICC(C,1)"),
        number("ICC(A,1)"),
        count("n, family"),
        number("ICC(C,1), family"),
        number("ICC(A,1), family"),
        number("Difference of ICC(A,1)"),
    )
    return Section(
        title="Self-exclusion: one system, or the whole family",
        text=(
            "The published study leaves out one system a judge, so GPT-4o still judges GPT-4o-Mini "
            f"and o4-mini judges GPT-4o. Leaving out the judge's whole family changes: {most}"
            "Claude and Gemini have one system of their family each, so both rules agree on them."
        ),
        tables=(Table(columns, rows),),
    )


def _family_row(result: PairResult) -> Row | None:
    other = result.family_rule
    if other is None:
        return None
    return (
        result.judge,
        result.attribute,
        result.n_systems,
        result.icc_c1,
        result.icc_a1,
        other.n_systems,
        other.icc_c1,
        other.icc_a1,
        other.icc_a1 - result.icc_a1,
    )
