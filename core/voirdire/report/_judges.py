"""What the report says of each judge: verdicts, components, what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from voirdire.report._display import reference_of
from voirdire.report._glyphs import interval_glyph
from voirdire.report._words import STATES, VERDICTS, plural
from voirdire.tabular import MISSING, Section, Table, interval, number_text, share_text, text

if TYPE_CHECKING:
    from voirdire.examining.examination import Component, Examination, PairResult, Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One attribute of a judge."""

    id: str
    attribute: str
    verdict: Verdict
    result: PairResult | None

    @property
    def cell(self) -> dict[str, str]:
        """For the grid."""
        word = VERDICTS[self.verdict.verdict]
        published = "" if self.result is None else self.result.reliability_class
        mark = "*" if self.result is not None and self.result.class_borderline else ""
        return {
            "id": self.id,
            "sign": word.sign,
            "tone": word.tone,
            "short": word.short,
            "class": published + mark,
        }


@dataclass(frozen=True, slots=True)
class JudgePage:
    """One judge's part of the report."""

    id: str
    name: str
    facts: str
    letters: tuple[dict[str, str], ...]
    rows: tuple[dict[str, Any], ...]
    steps: tuple[dict[str, Any], ...]
    table: Section


def judge_rows(examination: Examination) -> dict[str, list[Row]]:
    """Judge -> its rows, in the order of the verdicts."""
    results = {(r.judge, r.attribute): r for r in examination.results}
    attributes = list(dict.fromkeys(v.attribute for v in examination.verdicts))
    found: dict[str, list[Row]] = {}
    for verdict in examination.verdicts:
        rows = found.setdefault(verdict.judge, [])
        judge = list(found).index(verdict.judge) + 1
        at = attributes.index(verdict.attribute) + 1
        result = results.get((verdict.judge, verdict.attribute))
        rows.append(Row(f"j{judge}-a{at}", verdict.attribute, verdict, result))
    return found


def judge_pages(examination: Examination) -> tuple[JudgePage, ...]:
    """One page a judge."""
    return tuple(
        JudgePage(
            id=f"j{index}",
            name=name,
            facts=_facts(rows, examination),
            letters=tuple(_letter(part) for part in rows[0].verdict.components),
            rows=tuple(_overview(row) for row in rows),
            steps=tuple(_steps(rows)),
            table=_components(name, rows),
        )
        for index, (name, rows) in enumerate(judge_rows(examination).items(), start=1)
    )


def component_value(part: Component) -> str:
    """The component's value as its cell says it."""
    if part.state == "not tested" or math.isnan(part.value):
        return MISSING
    if part.letter in ("Data", "R"):
        return share_text(part.value)
    if part.letter == "P":
        return plural(round(part.value), "band")
    return number_text(part.value, 2, signed=part.letter == "B")


def _letter(part: Component) -> dict[str, str]:
    label = "Data, valid pairs" if part.letter == "Data" else f"{part.letter}, {part.name}"
    return {"letter": part.letter, "name": part.name, "label": label}


def _overview(row: Row) -> dict[str, Any]:
    word = VERDICTS[row.verdict.verdict]
    parts = [_part(part) for part in row.verdict.components]
    return {
        "id": row.id,
        "attribute": row.attribute,
        "sign": word.sign,
        "tone": word.tone,
        "short": word.short,
        "parts": parts,
    }


def _part(part: Component) -> dict[str, Any]:
    sign, tone = STATES[part.state]
    glyph = Markup()
    if part.interval is not None and part.letter in ("C", "A", "S"):
        glyph = interval_glyph(part.interval.low, part.interval.high, part.value, part.limit)
    return {
        "sign": sign,
        "tone": tone,
        "state": part.state,
        "said": component_value(part),
        "glyph": glyph,
    }


def _steps(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows with the same verdict and next step together, in the order of the attributes."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.verdict.verdict, row.verdict.next_step), []).append(row)
    return [
        {
            "name": name,
            "sign": VERDICTS[name].sign,
            "tone": VERDICTS[name].tone,
            "step": step,
            "rows": [
                {"attribute": r.attribute, "why": r.verdict.why, "needs": r.verdict.needs}
                for r in members
            ],
        }
        for (name, step), members in groups.items()
    ]


def _components(judge: str, rows: list[Row]) -> Section:
    cells = [
        (
            row.attribute,
            f"{part.letter}, {part.name}",
            part.state,
            part.threshold,
            part.note,
            component_value(part),
            part.interval,
        )
        for row in rows
        for part in row.verdict.components
    ]
    names = ("Attribute", "Component", "State", "Asked", "Note", "Value")
    columns = (*map(text, names), interval("Interval"))
    return Section(
        f"Components of {judge}",
        "State, what was asked, and what was found.",
        (Table(columns, tuple(cells)),),
    )


def _facts(rows: list[Row], examination: Examination) -> str:
    said = []
    results = [row.result for row in rows if row.result is not None]
    if results:
        pairs = sum(result.n_pairs for result in results)
        said.append(f"{plural(pairs, 'pair')} of ratings over {plural(len(rows), 'attribute')}")
        names = reference_of(examination, results[0])
        if names:
            several = "the mean of " if len(names) > 1 else ""
            said.append(f"held against {several}{', '.join(names)}")
        left_out = list(dict.fromkeys(name for r in results for name in r.excluded_systems))
        labels = [examination.study.system(name).label or name for name in left_out]
        said.append(f"left out: {', '.join(labels)}" if labels else "no system left out")
    return "; ".join(said)
