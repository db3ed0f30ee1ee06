"""What preferences add to an examination, and an examination that holds nothing else."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import polars as pl

from voirdire.examining.examination import Examination
from voirdire.examining.preferences.results import examine_preferences
from voirdire.examining.preferences.sections import preference_findings, preference_sections
from voirdire.schema import SEVERITIES
from voirdire.tables import RATERS, RATINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from voirdire.examining.preferences.source import Compared
    from voirdire.schema import Finding
    from voirdire.study import Study


def without_ratings(
    study: Study, versions: Mapping[str, str], options: Mapping[str, Any]
) -> Examination:
    """An examination of a study that has no ratings: no results, no verdicts."""
    return Examination(
        study=study,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        seed=study.analysis.seed,
        versions=versions,
        options=options,
        input_hashes={},
        findings=(),
        results=(),
        composites=(),
        ceiling=(),
        system_means=(),
        tests=(),
        measures=(),
        verdicts=(),
        ratings=RATINGS.to_frame(),
        raters=RATERS.to_frame(),
    )


def with_preferences(
    examination: Examination, compared: Compared | None, *, grouped: bool = True
) -> Examination:
    """The examination with the tables and findings of its preferences.

    Not `grouped` where a benchmark breaks them down by groups of its own.
    """
    if compared is None or compared.table.is_empty():
        return examination
    table, analysis = compared.table, examination.study.analysis
    found = examine_preferences(
        table,
        compared.groups if grouped else None,
        level=analysis.level,
        resamples=analysis.resamples,
        seed=analysis.seed,
    )
    return examination.replace(
        findings=worst_first(
            (*preference_findings(table), *without_comparers(examination.findings, table))
        ),
        sections=(*preference_sections(found), *examination.sections),
        raters=_raters(examination, table),
        preferences=table,
        input_hashes={**examination.input_hashes, **compared.hashes},
    )


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by severity, those of one severity as they came."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def without_comparers(findings: Iterable[Finding], table: pl.DataFrame) -> tuple[Finding, ...]:
    """The findings, but for raters said to have no rating that are there to compare."""
    comparers = set(table["rater"].unique())
    return tuple(
        finding
        for finding in findings
        if finding.kind != "rater_missing" or not comparers.issuperset(finding.places)
    )


def _raters(examination: Examination, table: pl.DataFrame) -> pl.DataFrame:
    """Raters that only compare stand beside those that rate."""
    known = set(examination.raters["rater"])
    names = [name for name in table["rater"].unique(maintain_order=True) if name not in known]
    rows = []
    for name in names:
        spec = examination.study.rater(name)
        kind, family = ("", "") if spec is None else (spec.kind, spec.family)
        rows.append((name, kind or None, family, None, spec.model or None if spec else None))
    more = pl.DataFrame([(*row, None, None) for row in rows], schema=dict(RATERS), orient="row")
    return pl.concat([examination.raters.select(list(RATERS)), more])
