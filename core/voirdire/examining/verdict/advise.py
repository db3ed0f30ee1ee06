"""The cheapest next step after a verdict; of it only the numbers are found here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voirdire.examining.spec import COMPONENTS, REASONS, THESE, Next
from voirdire.examining.spec.reasons import MOST_TIMES
from voirdire.examining.verdict.decide import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.spec import Component, Ground, State
    from voirdire.examining.verdict.decide import AskedUse
    from voirdire.examining.verdict.facts import Verdict

#: No advice on sample size below this many units.
FEWEST_UNITS = 5


def next_step(ground: Ground, asked: AskedUse, verdict: Verdict) -> Next:
    """What to do now."""
    # An action for each state; what stops all uses is dealt with as what was not tested.
    step = {"yes": _after_yes, "no": _after_no, "not tested": _untested, "open": _open}
    return step[verdict.state](ground, asked, verdict)


def _after_yes(ground: Ground, asked: AskedUse, _verdict: Verdict) -> Next:
    after = asked.spec.after_yes
    return (None if after is None else after(ground)) or Next("use it")


def _after_no(ground: Ground, asked: AskedUse, verdict: Verdict) -> Next:
    deciding = [COMPONENTS[key] for key in verdict.deciding]
    # A judge that does not follow the responses is lost whatever else is wrong with it; else a
    # component has advice of its own where it alone is wrong.
    own = [spec for spec in deciding if spec.unread] or (deciding if len(deciding) == 1 else [])
    after = own[0].after_no if own else None
    if after is not None:
        return after(ground, verdict.component(own[0].key))
    # Calibration moves level and spread alone: where anything else failed it would be advice in
    # vain.
    moved = all(spec.calibrated for spec in deciding)
    if asked.spec.calibrates and asked.target == THESE and deciding and moved:
        return Next("calibrate", after=_after_calibration(ground, asked))
    return Next("keep humans")


def _after_calibration(ground: Ground, asked: AskedUse) -> State | None:
    """The state after cross-fitted calibration on these ratings; None where that is not known."""
    after = ground.calibrated()
    if after is None:
        return None
    # One no is enough, and what looks at the responses again takes the longest.
    for wanted in asked.spec.required[asked.target]:
        spec = COMPONENTS[wanted.key]
        if not spec.unread and any(part.state == "no" for part in after.of(wanted.key)):
            return "no"
    return decide(after, asked).state


def _untested(ground: Ground, _asked: AskedUse, verdict: Verdict) -> Next:
    reason = REASONS.get(verdict.reason)
    if reason is not None and reason.next is not None:
        return reason.next(ground, _because_of(verdict))
    now, unit = ground.units
    return Next("rate more", now=now, unit=unit)


def _because_of(verdict: Verdict) -> Sequence[Component]:
    return [part for part in verdict.components if part.reason == verdict.reason]


def _open(ground: Ground, asked: AskedUse, verdict: Verdict) -> Next:
    """So many that each open component would be settled, were its estimate to stay as it is."""
    parts = [part for part in verdict.components if part.state == "open"]
    # More of the same does not settle what has a remedy of its own.
    for part in parts:
        reason = REASONS.get(part.reason)
        if reason is not None and reason.next is not None:
            return reason.next(ground, [part])
    of_systems = any(COMPONENTS[part.name].falls_with == "systems" for part in parts)
    now, unit = (ground.systems, "systems") if of_systems else asked.spec.counts(ground)
    # All have to be settled. One that no number of units settles makes all of the advice worthless.
    times = max((part.times for part in parts), default=math.inf)
    if now < FEWEST_UNITS or times > MOST_TIMES:
        return Next("rate more", now=now, unit=unit)
    return Next("rate more", needed=max(math.ceil(now * times), now + 1), now=now, unit=unit)
