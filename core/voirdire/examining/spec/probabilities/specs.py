"""The components of the verdict on probabilities."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.examining.spec import in_brackets, kinds_change
from voirdire.examining.spec.component import COMPONENTS, ChangeRule, Component, ComponentSpec
from voirdire.examining.spec.kind import KINDS, KindSpec
from voirdire.examining.spec.probabilities import ABOVE
from voirdire.examining.spec.scores import needs
from voirdire.examining.spec.words import correlates, percent
from voirdire.tabular import number_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.examining.spec.probabilities.ground import ProbabilityGround

#: Their cases are read with those of labels.
KINDS.register(
    KindSpec(
        key="probability",
        name="probability",
        ground="voirdire.examining.spec.probabilities.ground:ProbabilityGround",
        shown="voirdire.examining.verdict.shown:calibrations",
        unread="its probabilities do not follow the responses",
        corrected="How often would people say yes?",
    )
)
PROBABILITIES = frozenset({"probability"})
_CLUSTERS = (needs.clusters,)


def _has(key: str) -> Callable[[ProbabilityGround], bool]:
    return lambda ground: not ground.few and key in ground.parts


def _large(part: Component) -> str:
    way = "high" if part.estimate > 0 else "low"
    points = number_text(100 * abs(part.estimate), 1)
    where = f"in subgroup {part.at[0]}" if part.at else "on the whole"
    return f"its probabilities are {points} points too {way} {where}"


def _skill(part: Component) -> str:
    way = "better" if part.estimate > 0 else "worse"
    told = f"its Brier score is {way} than the base rate's by {{value}}"
    return correlates(told)(part if part.estimate > 0 else _turned(part))


def _turned(part: Component) -> Component:
    """The same counted the other way."""
    return replace(part, estimate=-part.estimate, low=-part.high, high=-part.low)


def _top(part: Component) -> str:
    side = part.at[0] if part.at else ABOVE
    counted = "response" if part.count == 1 else "responses"
    if part.reason == "few released":
        return f"it puts only {part.count} {counted} {side} the threshold"
    claimed = "" if math.isnan(part.judge) else f"; it claims {percent(part.judge)}"
    return (
        f"of {part.count:,} {counted} {side} the threshold people agree with "
        f"{percent(part.estimate)}{claimed}"
    )


def _slope(part: Component) -> str:
    told = correlates("its calibration slope is {value}")(part)
    if part.state != "no":
        return told
    sure = "surer" if part.estimate < 1 else "less sure"
    return f"it is {sure} than it is right: {told}"


def _tail(part: Component) -> str:
    side = part.at[0] if part.at else ABOVE
    many = "more" if part.estimate > 0 else "fewer"
    found = number_text(abs(part.estimate), 1)
    return f"{side} the threshold it makes {found} {many} errors than twice the number it claims"


for _spec in (
    ComponentSpec(
        key="CSLOPE",
        name="calibration_slope",
        title="slope of calibration",
        plain="It is as sure as it may be.",
        asked="0.7 to 1.43",
        kinds=PROBABILITIES,
        needs=_CLUSTERS,
        says=_slope,
        in_brackets=in_brackets.slope,
        unit="ratio",
        side="range",
        change=ChangeRule(kinds_change.slope, lambda *_: 0.1, both_ways=True),
    ),
    ComponentSpec(
        key="CLARGE",
        name="calibration_in_the_large",
        title="calibration in the large",
        plain="Its mean probability is what people say.",
        asked="5 points",
        kinds=PROBABILITIES,
        needs=_CLUSTERS,
        says=_large,
        unit="share",
        side="within",
        change=ChangeRule(kinds_change.large, lambda _m, _width, points: points, both_ways=True),
    ),
    ComponentSpec(
        key="SKILL",
        name="skill",
        title="skill",
        plain="It says more than the base rate.",
        asked="a Brier score below that of the base rate",
        kinds=PROBABILITIES,
        needs=_CLUSTERS,
        says=_skill,
        unit="ratio",
        side="above 0",
        change=ChangeRule(kinds_change.skill, lambda m, *_: m.read),
    ),
    ComponentSpec(
        key="CSUB",
        name="calibration_by_subgroup",
        title="calibration by subgroup",
        plain="It is calibrated in each subgroup, too.",
        asked="10 points and a slope of 0.49; it may only refuse",
        kinds=PROBABILITIES,
        declared=_has("CSUB"),
        needs=_CLUSTERS,
        says=_large,
        unit="share",
        side="within",
    ),
    ComponentSpec(
        key="TOP",
        name="right_where_sure",
        title="right where it is sure",
        plain="Where it is sure, people agree.",
        asked="85 % above .9, or the declared target",
        kinds=PROBABILITIES,
        needs=_CLUSTERS,
        says=_top,
        in_brackets=in_brackets.right,
        unit="share",
        side="least",
    ),
    ComponentSpec(
        key="HOM",
        name="calibration_by_system",
        title="calibration by system",
        plain="It is calibrated alike in every system.",
        asked="a spread of 4 points; it may look bad",
        kinds=PROBABILITIES,
        declared=_has("HOM"),
        needs=_CLUSTERS,
        says=lambda part: (
            f"its calibration differs between systems by {number_text(100 * part.estimate, 0)} "
            f"points, most in {part.at[0] if part.at else 'one'}"
        ),
        unit="share",
        side="within",
    ),
    ComponentSpec(
        key="CTAIL",
        name="errors_where_surest",
        title="errors where it is surest",
        plain="Where it is surest it errs no more than twice as often as it claims.",
        asked="twice what it claims; it may refuse, or look bad",
        kinds=PROBABILITIES,
        declared=_has("CTAIL"),
        needs=_CLUSTERS,
        says=_tail,
        unit="ratio",
        side="within",
    ),
):
    COMPONENTS.register(_spec)
