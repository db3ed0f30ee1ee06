"""What a watched folder says, as a report's sections, its sentence and its gates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.gates import GateValue
from voirdire.examining.planning.drawing import draw_section
from voirdire.tabular import (
    Section,
    SectionFigure,
    Table,
    count,
    interval,
    number,
    share_text,
    text,
)

if TYPE_CHECKING:
    from voirdire.examining.correcting.watching import Watching

_WHO = {
    "system": "The system moved",
    "judge": "The judge moved",
    "both": "The system and the judge moved",
    "cannot tell": "Something moved: the system or the judge, which cannot be told yet",
}
#: Evidence beyond it is written as this: it is an alarm many times over.
_MOST = 9999.0
_HOW = (
    "Each mean is that of people, corrected by the judge, with an interval that holds however "
    "often one looks. A system that moves changes what people say, and the judge's scores with "
    "it; a judge that moves changes its scores alone."
)
#: From which chance on it is said that the other one may have moved as well.
_LIKELY = 0.5


def watching_sentence(watching: Watching) -> str:
    """Whether anything has moved, and who."""
    now, risk = watching.now, share_text(watching.alpha).replace(".0", "")
    if now is None:
        last = watching.periods[-1].name
        if len(watching.periods) > watching.baseline:
            return (
                f"All {watching.looks} looks are spent since {watching.periods[0].name}: move "
                "watch.json away, and begin anew."
            )
        left = watching.baseline + 1 - len(watching.periods)
        return (
            f"The baseline is not over: {left} more {watching.every}"
            f"{'' if left == 1 else 's'} after {last}, and changes are looked for."
        )
    if math.isnan(now.mean):
        return (
            f"All labels of each {watching.every} are alike so far: nothing can be seen to move "
            "yet. Label more responses, drawn at random."
        )
    if not now.alarm:
        return (
            f"Nothing is seen to have moved. A false alarm comes in at most {risk} of series of "
            f"{watching.looks} looks."
        )
    sentence = f"{_WHO[now.moved]} (first seen in {watching.first_alarm})."
    if now.moved == "cannot tell":
        return (
            f"{sentence} One of both is {share_text(now.sure)} likely, and .95 is asked for: "
            "label more responses of the newest periods."
        )
    other = {"system": "the judge", "judge": "the system"}.get(now.moved, "")
    if now.other >= _LIKELY:
        sentence += f" That {other} moved as well is {share_text(now.other)} likely."
    return (
        f"{sentence} People's mean changed by {now.change:+.2f} [{now.change_low:.2f}, "
        f"{now.change_high:.2f}], the judge beside people by {now.drift:+.2f} "
        f"[{now.drift_low:.2f}, {now.drift_high:.2f}]."
    )


def watching_sections(watching: Watching, where: str = "") -> tuple[Section, ...]:
    """What is known, period by period; what to label next, where a budget is given."""
    rows = tuple(
        (
            one.name,
            one.labels,
            one.judged,
            one.judge_mean,
            math.nan if one.known is None else one.known.mean,
            None
            if one.known is None or math.isnan(one.known.mean)
            else (one.known.low, one.known.high),
            math.nan if one.known is None else min(one.known.evidence, _MOST),
            "" if one.known is None or not one.known.alarm else one.known.moved,
        )
        for one in watching.periods
    )
    columns = (
        text(watching.every.capitalize()), count("Labels"), count("Judged"), number("Judge's mean"),
        number("Mean of people"), interval("At any time"), number("Evidence", 1), text("Moved"),
    )  # fmt: skip
    limit = 1 / watching.alpha
    sentence = f"{watching_sentence(watching)} {_HOW} Evidence of {limit:g} or more is an alarm."
    known = [
        one for one in watching.periods if one.known is not None and not math.isnan(one.known.mean)
    ]
    figure = SectionFigure(
        "intervals",
        tuple(one.name for one in known),
        (
            ("Judge alone", tuple(one.judge_mean for one in known)),
            ("People, corrected", tuple(one.known.mean for one in known if one.known)),
        ),
        y="Mean score",
        caption="The judge's mean of each period, and people's mean since the likeliest change, "
        "with an interval that holds at any time.",
        intervals=(
            (None,) * len(known),
            tuple((one.known.low, one.known.high) for one in known if one.known),
        ),
    )
    section = Section(
        f"{watching.attribute}, {watching.judge}",
        sentence,
        (Table(columns, rows),),
        (figure,) if known else (),
        leading=True,
    )
    drawn = () if watching.draw is None else (draw_section(watching.draw, where),)
    return (section, *drawn)


def watching_values(watching: Watching) -> tuple[GateValue, ...]:
    """What gates may name: ``alarm`` (0 or 1), ``moved``, ``people_mean_low``, ``change``."""
    now = watching.now
    of = (watching.judge, watching.attribute)
    where = f"{watching.attribute}, {watching.judge}"
    if now is None:
        return (GateValue("alarm", of, math.nan, where),)
    return (
        GateValue("alarm", of, float(now.alarm), where),
        GateValue("moved", of, now.moved or "nothing", where),
        GateValue("people_mean", of, now.mean, where),
        GateValue("people_mean_low", of, now.low, where),
        GateValue("people_mean_high", of, now.high, where),
        GateValue("change", of, now.change, where),
    )
