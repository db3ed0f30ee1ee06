"""report.html: one file that needs nothing else and asks nothing of a network."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from voirdire.examining.spec import USES
from voirdire.report._cards import CardRow, card_of
from voirdire.report._grid import grid_of
from voirdire.report._methods import REFERENCES, margins_section, methods, settings_section
from voirdire.report._tables import evidence
from voirdire.report._texts import (
    COLUMNS,
    Disagreement,
    Text,
    cut,
    disagreements,
    shown_texts,
    texts_title,
)
from voirdire.report.answers import (
    answers,
    best_text,
    components_section,
    expected_text,
    leads,
    points,
    scope_text,
    sureness_section,
    why_section,
    without_verdict,
)
from voirdire.report.choices import choices_of, notes_of
from voirdire.report.page import Templates
from voirdire.report.saying import listed
from voirdire.report.words import (
    SEVERITIES,
    STATES,
    StateWords,
    brief,
    plural,
    rater_of,
    reference_of,
)
from voirdire.schema import SEVERITIES as WORST_FIRST
from voirdire.shown import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.examining.verdict.facts import State
    from voirdire.report.answers import JudgeAnswer, Point
    from voirdire.report.figures.style import Drawing
    from voirdire.schema import Finding
    from voirdire.tabular import Column, Section

# A command in our own sentences: `voirdire calibrate`.
_COMMAND = re.compile(r"`(voirdire [a-z -]+)`")
_PLACES = 12
#: Sections that the page shows judge by judge.
_FIRST = ("answers", "why", "components", "sureness")
_NO_TEXTS = (
    "Texts were asked for and none is shown: there are none, or the study sets data.excerpt = 0."
)


def write_html(
    examination: Examination, folder: Path, drawings: Sequence[Drawing], *, with_text: bool
) -> list[Path]:
    """Write the report."""
    path = folder / "report.html"
    html = render_html(examination, drawings, with_text=with_text)
    path.write_text(html, encoding="utf-8")
    return [path]


def render_html(
    examination: Examination, drawings: Sequence[Drawing] = (), *, with_text: bool = False
) -> str:
    """The report as text. Whatever comes from data is escaped; only our own parts are not."""
    page = build_page(examination, _figures(drawings), with_text=with_text)
    return _rendered("report.html.j2", page=page)


def render_cards(examination: Examination) -> str:
    """The sentences and a card a judge, for a notebook: no page, no script, names escaped."""
    judges = [
        {"name": one.name, "said": one.sentence, "card": card_of(one)}
        for one in answers(examination)
    ]
    return _TEMPLATES.render(
        "cards.html.j2",
        title=examination.study.title or examination.study.name,
        judges=judges,
        findings=[f for f in examination.findings if f.severity != "note"][:_PLACES],
    )


def render_result(
    title: str, said: Sequence[str], sections: Sequence[Section], findings: Sequence[Finding] = ()
) -> str:
    """The sentences and tables of a result, for a notebook: no page, no script, names escaped."""
    grave = [finding for finding in findings if finding.severity != "note"][:_PLACES]
    return _TEMPLATES.render(
        "result.html.j2", title=title, said=said, sections=sections, findings=grave
    )


def render_sections(
    title: str,
    sections: Sequence[Section],
    findings: Sequence[Finding] = (),
    drawings: Sequence[Drawing] = (),
) -> str:
    """Sections, findings and figures as a page of the same kind."""
    return _rendered(
        "sections.html.j2",
        title=title,
        sections=sections,
        findings=findings,
        figures=_figures(drawings),
    )


def _figures(drawings: Sequence[Drawing]) -> list[dict[str, Any]]:
    return [
        {
            "name": drawing.name,
            "title": drawing.title,
            "caption": drawing.caption,
            # Safe: text is drawn as paths, so that no name from the data is markup here.
            "svg": Markup(drawing.inline),  # noqa: S704 - drawn here, text as paths
        }
        for drawing in drawings
    ]


def _rendered(template: str, **values: Any) -> str:
    return _TEMPLATES.render(template, **_TEMPLATES.inlined("style.css", "script.js"), **values)


def _commands(text: str) -> Markup:
    """What a sentence says to run stands as code; everything else is escaped."""
    shown = str(escape(visible(text, keep="\n\t\r")))
    return Markup(_COMMAND.sub(r"<code>\1</code>", shown))  # noqa: S704 - escaped above


_TEMPLATES = Templates("voirdire.report", "templates", {"brief": brief, "commands": _commands})


@dataclass(frozen=True, slots=True)
class JudgePage:
    """One judge's part of the report."""

    id: str
    name: str
    sentence: str
    facts: str
    card: tuple[CardRow, ...]
    points: tuple[Point, ...]
    sections: Mapping[str, Section]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The page's content, in the order of its sections."""

    title: str
    version: str
    date: str
    facts: str
    sentences: tuple[str, ...]
    audit_summary: str
    findings: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    grid: dict[str, Any]
    expected: str
    scope: str
    states: Mapping[str, StateWords]
    several: bool
    judges: tuple[JudgePage, ...]
    drawings: tuple[dict[str, Any], ...]
    sections: Mapping[str, Section]
    disagreements: tuple[Disagreement, ...]
    columns: tuple[Column, ...]
    texts: tuple[Text, ...]
    texts_title: str
    methods: tuple[str, ...]
    margins: Section
    settings: Section
    references: tuple[str, ...]


def build_page(
    examination: Examination, drawings: Sequence[dict[str, Any]], *, with_text: bool
) -> ReportPage:
    """The content of the report."""
    study, own = examination.study, answers(examination)
    shown = evidence(examination)
    texts = shown_texts(examination) if with_text else ()
    untold = (_NO_TEXTS,) if with_text and not texts else ()
    return ReportPage(
        title=study.title or study.name,
        version=examination.versions.get("voirdire", ""),
        date=examination.date[:10],
        facts=_facts(examination),
        sentences=leads(own) or (without_verdict(examination),),
        audit_summary=_audit_summary(examination),
        findings=tuple(_findings(examination)),
        notes=(*choices_of(examination), *notes_of(examination), *untold),
        grid=_marks(examination, own),
        expected=f"{expected_text(examination)} {best_text(examination)}".strip(),
        scope=scope_text(examination),
        states=STATES,
        several=len({verdict.attribute for verdict in examination.verdicts}) > 1,
        judges=tuple(_judge_page(examination, one, at) for at, one in enumerate(own, start=1)),
        drawings=tuple(drawings),
        sections={name: one for name, one in shown.items() if name not in _FIRST},
        disagreements=disagreements(examination, with_text=with_text),
        columns=COLUMNS,
        texts=texts,
        texts_title=texts_title(examination),
        methods=methods(examination),
        margins=margins_section(examination),
        settings=settings_section(examination),
        references=REFERENCES,
    )


def _facts(examination: Examination) -> str:
    ratings = examination.ratings
    systems = ratings["system"].drop_nulls().n_unique()
    scores, items = ratings["score"].drop_nulls().len(), ratings["item"].n_unique()
    raters = examination.inputs.raters.height
    parts = [
        examination.date[:10],
        f"{scores:,} scores" if scores else "",
        plural(items, "item") if items else "",
        plural(systems, "system") if systems else "",
        plural(raters, "rater") if raters else "",
    ]
    return " · ".join(part for part in parts if part)


def _audit_summary(examination: Examination) -> str:
    counts = Counter(finding.severity for finding in examination.findings)
    if not counts:
        return "The audit found nothing odd."
    nouns = {"blocking": "blocking finding", "serious": "serious finding", "note": "note"}
    phrases = [plural(counts[name], nouns[name]) for name in WORST_FIRST if counts[name]]
    rule = (
        " A blocking finding forbids any verdict on what it touches." if counts["blocking"] else ""
    )
    return f"The audit reports {listed(phrases)}.{rule}"


def _findings(examination: Examination) -> list[dict[str, Any]]:
    groups = []
    for severity in WORST_FIRST:
        findings = [f for f in examination.findings if f.severity == severity]
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
            for f in findings
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


def _marks(examination: Examination, answers: Sequence[JudgeAnswer]) -> dict[str, Any]:
    """The grid, each mark with its sign and colour."""
    grid = grid_of(examination, answers)
    links = [f"j{at + 1}" for at in grid.places]
    in_rows = grid.judges == "rows"
    rows = [
        {
            "id": links[at] if in_rows else "",
            "name": name,
            "cells": [[_mark(use, state) for use, state in cell] for cell in cells],
        }
        for at, (name, cells) in enumerate(grid.rows)
    ]
    heads = [
        {"name": name, "id": "" if in_rows else links[at]} for at, name in enumerate(grid.heads)
    ]
    return {
        "corner": grid.corner,
        "columns": heads,
        "rows": rows,
        "uses": grid.titles,
        "by_use": grid.by_use,
        "untested": grid.untested,
    }


def _mark(use: str, state: State) -> dict[str, str]:
    return {
        "use": USES[use].title,
        "state": state,
        "sign": STATES[state].sign,
        "tone": STATES[state].tone,
    }


def _judge_page(examination: Examination, answer: JudgeAnswer, at: int) -> JudgePage:
    why = {
        f"why-j{at}": why_section((answer,)),
        f"components-j{at}": components_section((answer,)),
        f"sureness-j{at}": sureness_section((answer,)),
    }
    return JudgePage(
        id=f"j{at}",
        name=answer.name,
        sentence=answer.sentence,
        facts=_judge_facts(examination, answer),
        card=card_of(answer),
        points=points(answer),
        sections=why,
    )


def _judge_facts(examination: Examination, answer: JudgeAnswer) -> str:
    results = [
        result
        for result in examination.results
        if rater_of(result) == answer.judge and result.reference == answer.verdicts[0].reference
    ]
    if not results:
        return ""
    pairs = sum(result.n_pairs for result in results)
    clauses = [f"{plural(pairs, 'pair')} of ratings over {plural(len(results), 'attribute')}"]
    names = reference_of(examination, results[0])
    if names:
        several = "the mean of " if len(names) > 1 else ""
        clauses.append(f"held against {several}{', '.join(names)}")
    left_out = list(dict.fromkeys(name for r in results for name in r.excluded_systems))
    labels = [examination.study.system(name).label or name for name in left_out]
    clauses.append(f"left out: {', '.join(labels)}" if labels else "no system left out")
    return "; ".join(clauses)
