"""The first sentences on corrected numbers, on plans and on what has changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.changing.sections import reading
from voirdire.examining.correcting.corrected import TOGETHER
from voirdire.tabular import interval_text, number_text

if TYPE_CHECKING:
    from voirdire.examining.changing import SourceComparison
    from voirdire.examining.correcting import Correction, LabelPlan
    from voirdire.examining.correcting.corrected import CorrectedScore
    from voirdire.stats._results import Interval

#: What a row of a comparison comes to, as a sentence says it.
_READINGS = {
    "same": "no change",
    "small change": "a change, but a small one",
    "changed": "a change",
    "open": "too few to tell",
    "too few pairs": "too few to tell",
}


def correction_said(correction: Correction) -> list[str]:
    """What people would have said of all responses, and the differences that were asked for."""
    said = [_score(one, correction) for one in correction.scores if not one.group or one.wins]
    return [*said, *(_difference(one, correction) for one in correction.differences)]


def _score(one: CorrectedScore, correction: Correction) -> str:
    made = one.corrected
    if made.reason is not None or not math.isfinite(made.value):
        return f"The labels do not say what people would have given on {one.attribute}."
    number, ends = _written(made.value, made.interval, correction)
    alone, _ = _written(made.judge.value, None, correction)
    if one.wins:
        return f"People would have preferred {one.group} in {number}{ends}; {one.judge} in {alone}."
    if one.share and correction.gate is None:
        return f"People would have said {one.attribute} in {number}{ends}; {one.judge} in {alone}."
    does = "passed" if correction.gate is not None else "scored"
    told = f"People would have {does} {number}{ends} on {one.attribute}"
    says = "say" if one.judge == TOGETHER else "says"
    return f"{told}; {one.judge} {says} {alone}."


def _difference(one: CorrectedScore, correction: Correction) -> str:
    made, names = one.corrected, f"{one.group} and {one.against}"
    if made.interval is None or not math.isfinite(made.value):
        return f"The labels do not say how {names} differ."
    # Counted up in the direction of the better one, its interval too.
    sign = math.copysign(1.0, made.value)
    low, high = sorted(sign * bound for bound in (made.interval.low, made.interval.high))
    better, worse = (one.group, one.against) if sign > 0 else (one.against, one.group)
    points = 1 if correction.gate is None else 100
    size = number_text(points * abs(made.value), 2 if points == 1 else 1)
    ends = interval_text(points * low, points * high, 2 if points == 1 else 1)
    if low <= 0:
        return f"It is open which of {names} is better: {better} by {size} points {ends}."
    return f"{better} is better than {worse} by {size} points {ends}."


def _written(value: float, interval: Interval | None, correction: Correction) -> tuple[str, str]:
    """A number and its interval: rates in per cent."""
    if correction.gate is None:
        ends = "" if interval is None else f" {interval_text(interval.low, interval.high, 2)}"
        return number_text(value, 2), ends
    ends = "" if interval is None else f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
    return f"{100 * value:.1f} %", ends


def plan_said(plan: LabelPlan) -> list[str]:
    """How many labels each half width takes."""
    drawn = () if plan.rows or plan.draw is None else plan.draw.strata
    said = [f"Label {one.drawn:,} of the {one.size:,} responses that {one.name}." for one in drawn]
    for row in plan.rows:
        for one in row.plans:
            for_what = f"for ±{one.half_width:g} on {row.group or row.attribute}"
            if plan.power is not None:
                for_what = f"to see {one.half_width:g} on {row.group or row.attribute}"
            if one.few is not None:
                said.append(
                    f"The pilot is too small to plan from {for_what}: {one.few or 'none'} of its "
                    f"{one.n_pilot:,} {one.unit} differ{'s' if one.few == 1 else ''} from the "
                    f"others, or from what {row.judge} said. Label {one.least_pilot:,} or so first."
                )
                continue
            if not math.isfinite(one.with_judge):
                said.append(f"With {row.judge} no number of labels is enough {for_what}.")
                continue
            labels, alone = (
                f"{math.ceil(count * one.each):,}" if math.isfinite(count) else "endlessly many"
                for count in (one.with_judge, one.without_judge)
            )
            if one.with_judge >= one.without_judge or labels == alone:
                told = f"Label about {alone} responses {for_what}; {row.judge} saves none of them."
            else:
                told = f"With {row.judge}, label about {labels} responses {for_what}"
                told = f"{told}; without it {alone}."
            said.append(told)
    return said


def comparison_said(comparison: SourceComparison) -> list[str]:
    """What has changed on each attribute, and how sure that is."""
    said = []
    for one in comparison.changes:
        if not one.system:
            change = number_text(one.difference, 2, signed=True)
            ends = interval_text(one.low, one.high, 2)
            told = _READINGS[reading(one)]
            said.append(f"{one.judge} on {one.attribute}: {told}, {change} points {ends}.")
    return said
