"""What the components of a verdict are now, less what they were, on the same responses.

Each component is a smooth function of sums over clusters. Both sides rest on the same responses,
labels and clusters, so a cluster is left out of both at once, and the error of the difference knows
how much the two have in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.examining.gates import GateValue
from voirdire.examining.spec import COMPONENTS, ground_of, is_for
from voirdire.examining.spec.margins import SURE_YES
from voirdire.examining.spec.scores.ground import RejudgedGround, ScoreGround
from voirdire.stats import adjust_p
from voirdire.stats.sums import above_t, jackknife, quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voirdire.examining.spec import ChangeRule, Estimated, Ground
    from voirdire.examining.spec.kind import JudgedCase
    from voirdire.study import Margins

Moved = Literal["same", "worse", "better", "open"]


@dataclass(frozen=True, slots=True)
class ComponentChange:
    """One component of a judge and attribute, after less before.

    Attributes
    ----------
    at : str
        The system that it is about; empty for all.
    clusters : int
        What was left out, one at a time.
    before, after, change : float
        Estimates on the natural scale, as they are in the sums (ORDER and AGREE: of the plain
        means, their noise not removed).
    low, high : float
        The 95 % interval of the change.
    margin : float
        Within which a change counts as none.
    p, p_holm : float
        One-sided, of no change for the worse beyond the margin; after Holm's method.
    state : {"same", "worse", "better", "open"}
        Same where the 90 % interval lies within the margin, worse where `p_holm` is at most alpha.
        For BIAS, LEVEL and SLOPE a change either way is one for the worse.
    """

    judge: str
    attribute: str
    component: str
    at: str
    clusters: int
    before: float
    after: float
    change: float
    low: float
    high: float
    margin: float
    p: float
    small: bool
    p_holm: float = math.nan
    state: Moved = "open"


def component_changes(
    before: JudgedCase, after: JudgedCase, margins: Margins, points: float
) -> tuple[ComponentChange, ...]:
    """Every component that the responses scored both times can tell.

    Parameters
    ----------
    before, after : JudgedCase
        One judge and attribute, on the same responses and labels.
    margins : Margins
        A correlation may change by `read`, a share by `gate`, the bias of a system by `system` of
        the scale, SLOPE by a tenth of its range.
    points : float
        By how much BIAS may.

    Returns
    -------
    tuple of ComponentChange
        Without `p_holm`; empty with too few clusters.
    """
    # On the same responses: else a change of what was answered would look like one of the judge.
    kept = before.paired & after.paired
    if not kept.any():
        return ()
    old, new = before.only(kept), after.only(kept)
    ground = ground_of(old, margins)
    if ground.kind == "nominal" or ground.few:
        return ()
    # The humans are those of before, whatever the judge does after.
    again: Ground = (
        RejudgedGround(ground, new.scores)
        if type(ground) is ScoreGround
        else ground_of(new, margins)
    )
    first, second = (_estimates(side) for side in (ground, again))
    return tuple(
        _change(old, key, (one, second[key, at]), rule.margin(margins, old.width, points))
        for (key, at), one in first.items()
        # Both sides must leave out the same clusters, one by one, for their difference to have an
        # error.
        if (key, at) in second and len(one.out) == len(second[key, at].out)
        for rule in [_rule(key)]
    )


def _rule(key: str) -> ChangeRule:
    """How a component is compared with before."""
    rule = COMPONENTS[key].change
    if rule is None:
        raise KeyError(key)
    return rule


def _estimates(ground: Ground) -> dict[tuple[str, str], Estimated]:
    """Values of one side, of those that can be told, by component and system."""
    return {
        (spec.key, one.at): one
        for spec in COMPONENTS.values()
        if spec.change is not None and is_for(spec.kinds, ground.kind)
        for one in spec.change.values(ground)
        if np.isfinite(one.value) and np.isfinite(one.out).all()
    }


def with_states(
    changes: Sequence[ComponentChange], alpha: float = 0.05
) -> tuple[ComponentChange, ...]:
    """Holm over all of them, and what each comes to."""
    adjusted = adjust_p([one.p for one in changes]) if changes else ()
    return tuple(
        replace(one, p_holm=float(p), state=_state(one, float(p), alpha))
        for one, p in zip(changes, adjusted, strict=True)
    )


def component_values(changes: Iterable[ComponentChange]) -> tuple[GateValue, ...]:
    """What gates may name: ``READ.change`` and its bounds, ``LEVEL.change_low@a system``."""
    return tuple(
        GateValue(
            f"{one.component}.{name}", tuple(filter(None, (one.attribute, one.judge, one.at))),
            value, f"{one.judge} on {one.attribute}" + (f", {one.at}" if one.at else ""),
        )
        for one in changes
        for name, value in (
            ("change", one.change), ("change_low", one.low), ("change_high", one.high),
        )
    )  # fmt: skip


def _state(one: ComponentChange, p: float, alpha: float) -> Moved:
    if p <= alpha:
        return "worse"
    if one.small:
        return "same"
    return "better" if not _rule(one.component).both_ways and one.low > one.margin else "open"


def _change(
    case: JudgedCase, key: str, sides: tuple[Estimated, Estimated], margin: float
) -> ComponentChange:
    before, after = sides
    jackknifed = jackknife(after.value - before.value, after.out - before.out)
    change, se, df = after.value - before.value, float(jackknifed.se), jackknifed.df
    # The 95 % interval is shown; equivalence within a margin is decided by the 90 % one (Schuirmann
    # 1987).
    half, inner = quantile(0.975, df) * se, quantile(SURE_YES, df) * se
    return ComponentChange(
        judge=case.judge,
        attribute=case.attribute,
        component=key,
        at=before.at,
        clusters=len(before.out),
        before=before.value,
        after=after.value,
        change=change,
        low=change - half,
        high=change + half,
        margin=margin,
        p=_beyond(key, change, se, df, margin),
        small=bool(abs(change) + inner <= margin),
    )


def _beyond(key: str, change: float, se: float, df: float, margin: float) -> float:
    """One-sided p of no change for the worse beyond the margin."""
    # A move either way is for the worse: two tests, hence twice the p.
    worse, times = (abs(change), 2) if _rule(key).both_ways else (-change, 1)
    if math.isnan(se) or math.isnan(change):
        return math.nan
    if not se > 0:
        return float(worse <= margin)
    return min(1.0, times * float(above_t((worse - margin) / se, df)))
