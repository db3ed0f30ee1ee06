"""Verdicts: what a judge can be trusted with on an attribute, and what that rests on."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from voirdire.examining.examination import Verdict
from voirdire.examining.ladder._components import (
    agreement_component,
    bias_component,
    consistency_component,
    data_component,
    precision_component,
)
from voirdire.examining.ladder._known import Known, replaceability_component, stability_component
from voirdire.examining.ladder._rules import decide, next_step, what_is_needed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from voirdire.examining.examination import Component, PairResult, VerdictName
    from voirdire.schema import Finding
    from voirdire.study import Study

_CAP: VerdictName = "assists"
_CAPPED: VerdictName = "may replace one rater"


def judge_verdicts(
    results: Sequence[PairResult],
    study: Study,
    findings: Sequence[Finding] = (),
    known: Known | None = None,
) -> tuple[Verdict, ...]:
    """One verdict a result, by the table of the design; pure, and in the order of the results.

    Parameters
    ----------
    results : sequence of PairResult
        One judge and attribute each.
    study : Study
        Its thresholds, scale, level of the intervals and safety-critical attributes count.
    findings : sequence of Finding
        A blocking one forbids a verdict on the rater it names, or on all where it names none.
    known : Known, optional
        Humans, alt-tests, runs; what is absent is "not tested".

    Returns
    -------
    tuple of Verdict
        Components pass or fail only when their whole interval lies on one side of the threshold.
        The intervals are not adjusted for the number of verdicts: see `state_multiplicity`.
    """
    judges = tuple(dict.fromkeys(result.judge for result in results))
    critical = {part.name for part in study.rubric.attributes if part.safety_critical}
    known = known or Known()
    return tuple(
        _verdict(result, study, _blocking(findings, result.judge, judges, study), critical, known)
        for result in results
    )


def scope_sentence(study: Study, date: str) -> str:
    """What the verdicts speak about, and what they do not."""
    about = f" ({study.scope.rstrip('.')})" if study.scope else ""
    return (
        f"These verdicts speak about this population of items{about}, these systems, and each "
        f"judge with this prompt and model version, on {date[:10]}. They say nothing about other "
        f"populations, later versions of a model or another wording of the prompt, and they do "
        f"not license clinical use."
    )


def _verdict(
    result: PairResult,
    study: Study,
    blocking: Sequence[Finding],
    critical: Collection[str],
    known: Known,
) -> Verdict:
    parts = {part.letter: part for part in _components(result, study, blocking, known)}
    name, why = decide(parts)
    capped = name == _CAPPED and result.attribute in critical
    if capped:
        name = _CAP
        why = f"{why} {result.attribute} is declared safety-critical, which caps it at {_CAP!r}."
    needs = what_is_needed(name, parts)
    step = next_step(name, parts, result.units)
    return Verdict(
        result.judge, result.attribute, name, tuple(parts.values()), capped, why, needs, step
    )


def _components(
    result: PairResult, study: Study, blocking: Sequence[Finding], known: Known
) -> tuple[Component, ...]:
    asked, level = study.thresholds, study.analysis.level
    width = study.rubric.scale[1] - study.rubric.scale[0]
    pair = (result.judge, result.attribute)
    return (
        data_component(result, blocking, asked),
        consistency_component(result, asked, level),
        agreement_component(result, asked, level),
        precision_component(result, asked, level),
        bias_component(result, asked, width),
        replaceability_component(pair, known, asked),
        stability_component(pair, known, asked),
    )


def _blocking(
    findings: Sequence[Finding], judge: str, judges: Sequence[str], study: Study
) -> list[Finding]:
    """Blocking findings that concern a judge: all but those that name another judge or its file."""
    rater_of = {source.path: source.rater for source in study.data.sources}
    rater_of |= {PurePath(path).name: rater for path, rater in rater_of.items()}
    others = set(judges) - {judge}
    return [
        found
        for found in findings
        if found.severity == "blocking" and (rater_of.get(found.table) or found.table) not in others
    ]
