"""Everything the HTML page says, as plain values: the template only lays it out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.examining.ladder.multiplicity import state_multiplicity
from voirdire.examining.ladder.verdict import scope_sentence
from voirdire.report._display import rater_of
from voirdire.report._judges import JudgePage, judge_pages, judge_rows
from voirdire.report._methods import REFERENCES, methods, settings_section, thresholds_section
from voirdire.report._tables import evidence
from voirdire.report._texts import Text, cut, shown_texts, texts_title
from voirdire.report._words import SEVERITIES, STATES, VERDICTS, plural
from voirdire.schema import SEVERITIES as WORST_FIRST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.examining.examination import Examination
    from voirdire.tabular import Section

_PLACES = 12
_NO_TEXTS = (
    "Texts were asked for and none is shown: there are none, or the study sets data.excerpt = 0."
)


@dataclass(frozen=True, slots=True)
class Page:
    """The page's content, in the order of its sections."""

    title: str
    version: str
    date: str
    facts: str
    summary: str
    audit_summary: str
    findings: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    grid: dict[str, Any]
    legend: tuple[dict[str, str], ...]
    multiplicity: str
    scope: str
    states: tuple[dict[str, str], ...]
    judges: tuple[JudgePage, ...]
    drawings: tuple[dict[str, Any], ...]
    sections: Mapping[str, Section]
    texts: tuple[Text, ...]
    texts_title: str
    methods: tuple[str, ...]
    thresholds: Section
    settings: Section
    references: tuple[str, ...]


def build_page(
    examination: Examination, drawings: Sequence[dict[str, Any]], *, with_text: bool
) -> Page:
    """The content of the report."""
    study, verdicts = examination.study, examination.verdicts
    counted = state_multiplicity(examination.results, verdicts, study) if verdicts else ""
    texts = shown_texts(examination) if with_text else ()
    untold = (_NO_TEXTS,) if with_text and not texts else ()
    return Page(
        title=study.title or study.name,
        version=examination.versions.get("voirdire", ""),
        date=examination.date[:10],
        facts=_facts(examination),
        summary=summary(examination),
        audit_summary=_audit_summary(examination),
        findings=tuple(_findings(examination)),
        notes=(*examination.choices, *examination.notes, *untold),
        grid=_grid(examination),
        legend=tuple(_legend(examination)),
        multiplicity=str(counted),
        scope=scope_sentence(study, examination.date),
        states=tuple({"name": n, "sign": s, "tone": t} for n, (s, t) in STATES.items()),
        judges=judge_pages(examination),
        drawings=tuple(drawings),
        sections=evidence(examination),
        texts=texts,
        texts_title=texts_title(examination),
        methods=methods(examination),
        thresholds=thresholds_section(examination),
        settings=settings_section(examination),
        references=REFERENCES,
    )


def summary(examination: Examination) -> str:
    """The report in a sentence or two."""
    counts = Counter(verdict.verdict for verdict in examination.verdicts)
    if not counts:
        return "No verdict was reached: there is no judge to hold against a reference."
    ordered = sorted(counts, key=list(VERDICTS).index)
    said = [f"{counts[name]} “{name}”" for name in ordered]
    judges = len({rater_of(result) for result in examination.results})
    attributes = len(examination.attributes)
    text = (
        f"{plural(judges, 'judge')} on {plural(attributes, 'attribute')}: of "
        f"{plural(len(examination.verdicts), 'verdict')}, {_joined(said)}."
    )
    if counts.get("undecided", 0) > len(examination.verdicts) / 2:
        text += " Most are open: these data are too few to tell, which is no verdict on the judges."
    return text


def _facts(examination: Examination) -> str:
    ratings = examination.ratings
    systems = ratings["system"].drop_nulls().n_unique()
    said = [
        examination.date[:10],
        f"{ratings['score'].drop_nulls().len():,} scores",
        plural(ratings["item"].n_unique(), "item"),
        plural(systems, "system") if systems else "",
        plural(examination.raters.height, "rater"),
    ]
    return " · ".join(part for part in said if part)


def _audit_summary(examination: Examination) -> str:
    counts = Counter(found.severity for found in examination.findings)
    if not counts:
        return "The audit found nothing odd."
    nouns = {"blocking": "blocking finding", "serious": "serious finding", "note": "note"}
    said = [plural(counts[name], nouns[name]) for name in WORST_FIRST if counts[name]]
    rule = "A blocking finding forbids any verdict on what it touches."
    return f"The audit reports {_joined(said)}. {rule}"


def _findings(examination: Examination) -> list[dict[str, Any]]:
    groups = []
    for severity in WORST_FIRST:
        found = [f for f in examination.findings if f.severity == severity]
        sign, _, meaning = SEVERITIES[severity]
        shown = [
            {
                "message": f.message,
                "consequence": f.consequence,
                "table": f.table,
                "kind": f.kind.replace("_", " "),
                "times": "once" if f.count == 1 else f"{f.count:,} times",
                "places": [cut(place) for place in f.places[:_PLACES]],
                "more": len(f.places) > _PLACES,
            }
            for f in found
        ]
        if shown:
            groups.append(
                {
                    "title": severity.capitalize(),
                    "severity": severity,
                    "sign": sign,
                    "meaning": meaning,
                    "findings": shown,
                }
            )
    return groups


def _grid(examination: Examination) -> dict[str, Any]:
    columns = tuple(dict.fromkeys(v.attribute for v in examination.verdicts))
    rows = []
    for index, (judge, found) in enumerate(judge_rows(examination).items(), start=1):
        by_attribute = {row.attribute: row.cell for row in found}
        cells = [by_attribute.get(name) for name in columns]
        rows.append({"id": f"j{index}", "name": judge, "cells": cells})
    borderline = any(result.class_borderline for result in examination.results)
    return {"columns": columns, "rows": rows, "borderline": borderline}


def _legend(examination: Examination) -> list[dict[str, str]]:
    """The meaning of the verdicts that occur."""
    present = {verdict.verdict for verdict in examination.verdicts}
    return [
        {"name": name, "sign": word.sign, "tone": word.tone, "meaning": word.meaning}
        for name, word in VERDICTS.items()
        if name in present
    ]


def _joined(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
