"""An estimate meets its margin, and becomes yes, no, open or not tested."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.stats.sums import above_t, on_scale, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.spec.component import State
    from voirdire.stats.sums import Jackknifed

#: One-sided levels at which an estimate is shown to be inside, and outside, its margin.
SURE_YES, SURE_NO = 0.95, 0.975
#: READ asks for more: a fluke there would license a blind judge for everything.
SURE_READ = 0.995
#: How many times a human's error variance a judge may have on one label, for all labels together
#: (worth above a quarter of a human), where a label alone is pulled out it is `times_gate`.
TIMES_LABEL = 4.0
#: Responses that two humans must share for ITEM.
FEWEST_SHARED = 50


def untested(name: str, reason: str, **facts: Any) -> Component:
    return Component(name, "not tested", reason=reason, **facts)


def above(
    name: str,
    jackknifed: Jackknifed,
    limit: float,
    fail: float | None = None,
    sure: float = SURE_YES,
    many: int = 1,
) -> Component:
    """Yes where it is shown to reach `limit`, no where shown to lie below `fail` (or `limit`).

    `many` is how many such estimates each may say no: Bonferroni's correction.
    """
    # No error, no decision: an estimate alone, however large, is never a yes.
    if not (math.isfinite(jackknifed.at) and math.isfinite(jackknifed.se)):
        return Component(name, "open", float(jackknifed.value), margin=limit, reason="no interval")
    asked = float(on_scale(limit, jackknifed.scale))
    least = asked if fail is None else float(on_scale(fail, jackknifed.scale))
    # Both bounds on the scale of the test, where the error is nearly normal; only what is printed
    # goes back to the natural scale.
    low = jackknifed.at - quantile(sure, jackknifed.df) * jackknifed.se
    sure_no = 1 - (1 - SURE_NO) / many
    high = jackknifed.at + quantile(sure_no, jackknifed.df) * jackknifed.se
    state: State = "yes" if low >= asked else "no" if high < least else "open"
    # Without any spread the estimate is certain, and its p is 0 or 1.
    p = float(jackknifed.at < asked)
    if jackknifed.se > 0:
        p = float(above_t((jackknifed.at - asked) / jackknifed.se, jackknifed.df))
    return Component(
        name,
        state,
        float(jackknifed.value),
        float(jackknifed.bound(1 - sure)),
        float(jackknifed.bound(sure)),
        limit,
        float(jackknifed.se),
        float(jackknifed.df),
        p,
        times=min(
            _times(jackknifed.at - asked, sure, jackknifed),
            _times(least - jackknifed.at, sure_no, jackknifed),
        ),
    )


def _times(distance: float, sure: float, jackknifed: Jackknifed, se: float | None = None) -> float:
    """How many times as many units show an estimate to lie that far from a limit.

    Infinite where it lies at the limit, or on its other side.
    """
    if not distance > 0:
        return math.inf
    error = float(jackknifed.se) if se is None else se
    # The error falls with the root of the number of units: as many times as square the ratio.
    return float((quantile(sure, jackknifed.df) * error / distance) ** 2)


def inside(
    name: str,
    jackknifed: Jackknifed,
    margin: float,
    names: Sequence[str] = (),
    margin_yes: float | None = None,
    many: int | None = None,
) -> Component:
    """Equivalence of one or several estimates.

    Yes where all lie inside, an intersection-union test that needs no correction; no where one
    lies outside, with Bonferroni's correction over them, or over `many`.
    """
    at, se = np.atleast_1d(jackknifed.at), np.atleast_1d(jackknifed.se)
    finite = np.isfinite(at) & np.isfinite(se)
    if not finite.any():
        return Component(name, "open", margin=margin, reason="no interval")
    # The stricter margin for yes leaves a strip between the two in which the answer stays open.
    inner = margin if margin_yes is None else margin_yes
    reach = quantile(SURE_YES, jackknifed.df) * se
    # Of many systems one lies outside by chance sooner or later: Bonferroni, since any of them is a
    # no.
    far = quantile(1 - (1 - SURE_NO) / (many or len(at)), jackknifed.df) * se
    state: State = "open"
    if (np.abs(at) - far > margin)[finite].any():
        state = "no"
    # A yes needs every one of them to be known: what cannot be tested must not pass unseen.
    elif finite.all() and (np.abs(at) + reach <= inner).all():
        state = "yes"
    # All have to be shown inside for a yes, any one outside for a no.
    sizes = list(zip(np.abs(at[finite]).tolist(), se[finite].tolist(), strict=True))
    all_in = max(_times(inner - size, SURE_YES, jackknifed, error) for size, error in sizes)
    sure_no = 1 - (1 - SURE_NO) / (many or len(at))
    one_out = min(_times(size - margin, sure_no, jackknifed, error) for size, error in sizes)
    # The one that is shown is the farthest out, be the answer yes or no.
    k = int(np.argmax(np.where(finite, np.abs(at), -1)))
    # The largest p is that of the intersection-union test (Berger 1982): all must lie inside.
    p = float(np.nanmax(above_t((inner - np.abs(at)) / np.maximum(se, 1e-300), jackknifed.df)))
    return Component(
        # The margin that decided: an open answer inside the wider one would seem to be a yes.
        name,
        state,
        float(at[k]),
        float(at[k] - reach[k]),
        float(at[k] + reach[k]),
        margin if state == "no" else inner,
        float(se[k]),
        float(jackknifed.df),
        p,
        at=tuple(names[k : k + 1]),
        times=min(all_in if finite.all() else math.inf, one_out),
    )


def inside_range(name: str, jackknifed: Jackknifed, margin: tuple[float, float]) -> Component:
    """Equivalence of a ratio: on the log, where a half and a double are equally far from one."""
    low, high = math.log(margin[0]), math.log(margin[1])
    reach, far = (quantile(sure, jackknifed.df) * jackknifed.se for sure in (SURE_YES, SURE_NO))
    state: State = "open"
    if jackknifed.at - reach >= low and jackknifed.at + reach <= high:
        state = "yes"
    elif jackknifed.at + far < low or jackknifed.at - far > high:
        state = "no"
    ends = np.array([jackknifed.at - low, high - jackknifed.at])
    # A judge that never errs has no error; its estimate is certain.
    p = float(max(above_t(ends / max(float(jackknifed.se), 1e-300), jackknifed.df)))
    all_in = max(_times(end, SURE_YES, jackknifed) for end in ends.tolist())
    one_out = min(_times(-end, SURE_NO, jackknifed) for end in ends.tolist())
    return Component(
        name,
        state,
        jackknifed.value,
        jackknifed.bound(1 - SURE_YES),
        jackknifed.bound(SURE_YES),
        margin,
        jackknifed.se,
        jackknifed.df,
        p,
        times=min(all_in, one_out),
    )
