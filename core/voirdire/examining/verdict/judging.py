"""Cases to verdicts and the evidence behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.verdict.components import find_components
from voirdire.examining.verdict.facts import Evidence, Verdict
from voirdire.examining.verdict.steps import next_step
from voirdire.examining.verdict.uses import asked_uses, verdict_of, with_holm
from voirdire.stats.responses import human_agreement, response_agreement

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.components import Found
    from voirdire.stats import ResponseAgreement
    from voirdire.study import Margins, Use


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts on judges and attributes, and what they rest on, in the order of the cases."""

    verdicts: tuple[Verdict, ...]
    evidence: tuple[Evidence, ...]


def judge_cases(
    cases: Iterable[Case],
    margins: Margins,
    *,
    uses: Sequence[Use] = (),
    critical: Collection[str] = (),
    blocked: Collection[str] = (),
    level: float = 0.95,
) -> Judged:
    """Examine each case for each use.

    Parameters
    ----------
    cases : iterable of Case
        One judge and attribute each.
    margins : Margins
        What is asked for.
    uses : sequence of str
        Those that the study cares about; by default all that there are.
    critical : collection of str
        Attributes that are declared safety-critical: no yes for SINGLE or GATE.
    blocked : collection of str
        Judges on whom a finding of the audit forbids a verdict.
    level : float
        Of the intervals of agreement on single responses, which decide nothing.

    Returns
    -------
    Judged
        Deterministic: no seed is involved.
    """
    verdicts: list[Verdict] = []
    evidence: list[Evidence] = []
    for case in cases:
        found = find_components(case, margins)
        evidence.append(_evidence(case, found, level))
        for use, target in asked_uses(uses, case):
            made = verdict_of(
                case,
                found,
                use,
                target,
                critical=case.attribute in critical,
                blocked=case.judge in blocked,
            )
            verdicts.append(replace(made, next=next_step(case, found, made, margins)))
    return Judged(with_holm(verdicts), tuple(evidence))


def _evidence(case: Case, found: Found, level: float) -> Evidence:
    gated, humans, graded = _responses(case, found, level)
    return Evidence(
        judge=case.judge,
        attribute=case.attribute,
        reference=tuple(case.reference[k] for k in found.humans),
        systems=tuple(str(name) for name in found.panel.systems)
        if case.systems is not None
        else (),
        n_responses=int(case.paired.sum()),
        n_labelled=int(case.labelled.sum()),
        n_judged=int(case.judged.sum()),
        clusters=len(found.panel.clusters),
        clustered=case.clusters is not None,
        runs=len(case.scores),
        width=case.width,
        gate=float("nan") if case.gate is None else case.gate.at,
        constant=case.constant,
        humans_below=found.humans_below,
        careless=found.careless,
        components=tuple(found.components.values()),
        responses=gated,
        humans_responses=humans,
        graded=graded,
    )


def _responses(
    case: Case, found: Found, level: float
) -> tuple[ResponseAgreement | None, ResponseAgreement | None, ResponseAgreement | None]:
    """Agreement at the gate, a held-out human's, and that of the scores as they are."""
    if not case.paired.any():
        return None, None, None
    humans = np.ascontiguousarray(case.humans[list(found.humans)].T)
    scores, groups = case.scores.T, case.groups()
    gated = own = graded = None
    if case.gate is not None and not case.nominal:
        at = case.gate.at
        gated = response_agreement(scores, humans, gate=at, clusters=groups, level=level)
        if len(found.humans) > 1:
            own = human_agreement(humans, gate=at, clusters=groups, level=level)
    seen = np.unique(case.humans[~np.isnan(case.humans)])
    if len(seen) > 2 or case.gate is None:
        graded = response_agreement(scores, humans, clusters=groups, level=level)
    return gated, own, graded
