"""Verdicts beside the numbers that labels, probabilities and comparisons were made into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec import TO_COME
from voirdire.examining.verdict.influence import influences

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from voirdire.examining.inputs import Inputs
    from voirdire.examining.spec import Component
    from voirdire.examining.spec.rated_question import RatedQuestion
    from voirdire.examining.spec.scores.case import Case
    from voirdire.examining.verdict.facts import Verdict

    Floats = NDArray[np.float64]


def verdicts_beside(inputs: Inputs, case: Case, verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that are shown beside a judge's numbers under one attribute."""
    asked = _asked(inputs, case.attribute)
    return [
        one
        for one in verdicts
        if one.judge == case.judge
        and (
            (one.attribute, one.reference) == (case.attribute, case.reference)
            if asked is None
            else asked.is_about(case.attribute, one.attribute, one.label)
        )
    ]


def use_key(verdict: Verdict) -> str:
    """A use among those beside one attribute: with + for systems to come, and its side."""
    side = f":{verdict.label}" if verdict.kind == "probability" and verdict.label else ""
    return f"{verdict.use}{side}" + "+" * (verdict.target == TO_COME)


def influences_in(inputs: Inputs, case: Case, component: Component) -> Floats:
    """(N,) what each response of a case under one attribute does to a component of its verdict."""
    asked, cube, margins = _asked(inputs, case.attribute), inputs.cube, inputs.study.margins
    if asked is None:
        return influences(case, component, margins)
    whole = asked.case(
        case.judge,
        case.reference,
        [cube.of(case.judge, name) for name in asked.attributes],
        [np.stack([cube.of(human, name) for human in case.reference]) for name in asked.attributes],
        case.items.astype(str),
        systems=case.systems,
        clusters=case.clusters,
    )
    return influences(whole, component, margins)


def _asked(inputs: Inputs, attribute: str) -> RatedQuestion | None:
    return next((one for one in inputs.questions if attribute in one.attributes), None)
