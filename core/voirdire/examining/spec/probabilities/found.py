"""Components of a verdict on probabilities: calibration, skill, and what may be released unseen.

The rule and its rates: docs/verdict_kinds.md. A number that claims to be a probability is held
against what it claims; that it orders responses well is another question, and SLOPE of scores none.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import SURE_NO, SURE_YES, above, inside, untested
from voirdire.stats import probability as stats
from voirdire.stats.special import special
from voirdire.stats.sums import above_t, quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.examining.spec.component import State
    from voirdire.stats.probability import ProbabilityPanel, Side
    from voirdire.stats.sums import Jackknifed
    from voirdire.study import Margins

#: What the slope of calibration must lie within: the reference's 1.43 is 1 / .7, rounded.
SLOPE = (0.7, 1 / 0.7)
#: Of calibration in the large, and of a subgroup's less elsewhere.
LARGE, LARGE_APART = 0.05, 0.10
#: A slope in a subgroup refuses below this.
LEAST_APART = 0.49
#: Above which a judge is sure, and what share of its sure answers must then be right.
SURE, TARGET = 0.90, 0.85
#: Responses that a side must hold.
FEWEST_RELEASED = 20
#: Spread of calibration between systems from which it is no longer one calibration.
SPREAD = 0.04


def probability_components(
    panel: ProbabilityPanel,
    read: Component,
    margins: Margins,
    *,
    threshold: float = SURE,
    target: float = TARGET,
    subgroups: NDArray[np.str_] | None = None,
) -> dict[str | tuple[str, Side], Component]:
    """Every component of the probabilities of one judge.

    `read` is READ of the scores' rule on the same numbers, systems taken out. TOP and TAIL have one
    component a side.
    """
    found: dict[str | tuple[str, Side], Component] = {"READ": read}
    if panel.n_clusters < margins.clusters:
        few: tuple[str, ...] = ("CSLOPE", "CLARGE", "SKILL")
        found |= {name: untested(name, "few clusters", count=panel.n_clusters) for name in few}
        return found
    large = stats.calibration_in_the_large(panel)
    found["CSLOPE"] = _slope(stats.calibration_slope(panel))
    found["CLARGE"] = inside("CLARGE", large, LARGE)
    found["SKILL"] = above("SKILL", stats.skill(panel), 0.0)
    spread = _homogeneous(panel)
    if spread is not None:
        found["HOM"] = spread
    apart = _apart(panel, subgroups, margins)
    if apart is not None:
        found["CSUB"] = apart
    sides: tuple[Side, ...] = ("yes", "no")
    for side in sides:
        found["TOP", side] = top(panel, threshold, target, side)
        tail = _tail(panel, side)
        if tail is not None:
            found["CTAIL", side] = tail
    return found


def _slope(found: Jackknifed | None) -> Component:
    """On the plain scale, on which a slope is nearly normal."""
    if found is None:
        return Component("CSLOPE", "no", 0.0, margin=SLOPE, reason="one answer")
    low, high = (found.at + sign * quantile(SURE_YES, found.df) * found.se for sign in (-1, 1))
    least, most = (found.at + sign * quantile(SURE_NO, found.df) * found.se for sign in (-1, 1))
    state: State = "open"
    if low >= SLOPE[0] and high <= SLOPE[1]:
        state = "yes"
    elif most < SLOPE[0] or least > SLOPE[1]:
        state = "no"
    ends = np.array([found.at - SLOPE[0], SLOPE[1] - found.at])
    p = float(max(above_t(ends / max(found.se, 1e-300), found.df)))
    return Component("CSLOPE", state, found.at, low, high, SLOPE, found.se, found.df, p)


def top(panel: ProbabilityPanel, threshold: float, target: float, side: Side) -> Component:
    """TOP: how often humans agree where the judge is sure, against a target."""
    found = stats.released(panel, threshold, side, target)
    at = (side,) if side != "both" else ()
    facts: dict[str, Any] = {"judge": found.claimed, "count": found.count}
    if found.count < FEWEST_RELEASED:
        return untested("TOP", "few released", estimate=found.right, margin=target, at=at, **facts)
    df = float(FEWEST_RELEASED)
    p = found.as_good
    state: State = "yes" if p <= 1 - SURE_YES else "no" if found.as_bad <= 1 - SURE_NO else "open"
    reach = quantile(SURE_YES, df) * found.error
    return Component(
        "TOP",
        state,
        found.right,
        found.right - reach,
        found.right + reach,
        target,
        found.error,
        df,
        p,
        at=at,
        **facts,
    )


def _homogeneous(panel: ProbabilityPanel) -> Component | None:
    """HOM: calibration in the large that differs by system looks bad; it never refuses."""
    found = stats.homogeneity(panel)
    if found is None:
        return None
    limit = float(special().chdtri(found.df, 0.01))
    state: State = "open" if found.q > limit and found.tau > SPREAD else "yes"
    worst = int(np.nanargmax(np.abs(found.biases)))
    return Component(
        "HOM",
        state,
        found.tau,
        margin=SPREAD,
        df=found.df,
        p=0.0,
        at=(str(panel.systems[worst]),),
        judge=float(found.biases[worst]),
    )


def _tail(panel: ProbabilityPanel, side: Side) -> Component | None:
    """TAIL: more than twice the errors that it claims, where it is surest."""
    found = stats.tail_errors(panel, side)
    if found is None:
        return None
    reach = quantile(SURE_NO, found.df) * found.se
    state: State = "no" if found.at - reach > 0 else "open" if found.at > 0 else "yes"
    return Component(
        "CTAIL",
        state,
        found.at,
        found.at - reach,
        found.at + reach,
        0.0,
        found.se,
        found.df,
        0.0,
        at=(side,),
    )


def _apart(
    panel: ProbabilityPanel, subgroups: NDArray[np.str_] | None, margins: Margins
) -> Component | None:
    """SUB: calibration in a declared subgroup; it may only refuse."""
    if subgroups is None:
        return None
    worst: Component | None = None
    for name in filter(None, np.unique(subgroups)):
        members = np.asarray(subgroups == name)
        if len(np.unique(panel.cluster[members])) < margins.clusters:
            continue
        large = inside("CSUB", stats.large_contrast(panel, members), LARGE_APART)
        slope = stats.slope_within(panel, members)
        # Probabilities that do not vary at all are refused by CSLOPE already.
        unsure = slope is not None and (
            slope.at + quantile(SURE_NO, slope.df) * slope.se < LEAST_APART
        )
        state: State = "no" if large.state == "no" or unsure else "yes"
        part = replace(
            large,
            state=state,
            p=0.0,
            at=(str(name),),
            judge=math.nan if slope is None else float(slope.at),
        )
        if worst is None or (part.state == "no" and worst.state != "no"):
            worst = part
    return worst
