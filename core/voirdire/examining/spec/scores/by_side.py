"""SENS and SPEC where so many were labelled of what the judge passes, and so many of what it fails.

Of such labels the plain shares are wrong: they hold too many of the side that was labelled more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import SURE_NO, SURE_YES, untested
from voirdire.examining.spec.reasons import EACH_SIDE
from voirdire.stats.intervals import share_interval
from voirdire.stats.sums import Jackknifed, mean_of, quantile

if TYPE_CHECKING:
    from voirdire.examining.spec.component import State
    from voirdire.stats.response_panel import ResponsePanel


def rate(
    name: str,
    bits: ResponsePanel,
    human: int,
    sides: tuple[int, int],
    least: float,
    *,
    passes: bool,
) -> Component:
    """P(judge passes | label passes), or of failing, from both sides of the judge.

    With q the share of labels that pass (fail) among what the judge says to be so, and among the
    rest, and N what there is of either, labelled or not: N q / (N q + N' q'). Its bounds are those
    of both shares, each at half the level, which is careful.

    Parameters
    ----------
    sides : (int, int)
        What the judge fails and passes, labelled or not.
    least : float
        What is needed.

    Source: Begg and Greenes (1983), Biometrics 39, 207-215.
    """
    judge, label = bits.judge[0], bits.humans[human]
    found = []
    for own in (passes, not passes):
        kept = np.asarray((judge == own) & ~np.isnan(label))
        columns = np.stack([(label == passes) * 1.0, np.ones(len(judge))], axis=1)
        table, n = bits.by_cluster(columns, kept, where=1), bits.size(kept)
        if min(n, len(table)) < EACH_SIDE:
            return untested(name, "few failures", count=n, margin=least)
        found.append((table.jackknife(mean_of), n))
    size, rest = sides[passes], sides[not passes]

    def share(q: float, other: float) -> float:
        there = size * q + rest * other
        return size * q / there if there > 0 else math.nan

    def ends(level: float) -> tuple[float, float]:
        both = [_interval(one, n, level) for one, n in found]
        return share(both[0][0], both[1][1]), share(both[0][1], both[1][0])

    value = share(*(float(one.at) for one, _ in found))
    if math.isnan(value):
        return untested(name, "few such", count=0, margin=least)
    (low, high), surely = ends(SURE_YES), ends(SURE_NO)
    state: State = "yes" if low >= least else "no" if surely[1] < least else "open"
    df = min(float(one.df) for one, _ in found)
    return Component(
        name,
        state,
        value,
        low,
        high,
        least,
        (high - low) / (2 * quantile(SURE_YES, df)),
        df,
        0.0 if state == "yes" else 1.0,
        judge=value,
        count=sum(n for _, n in found),
        times=math.inf,
    )


def _interval(one: Jackknifed, n: int, sure: float) -> tuple[float, float]:
    """One-sided bounds of a share, each with half of what may be wrong."""
    made = share_interval(float(one.at), float(one.se), float(one.df), n, 1 - (1 - sure))
    return made.low, made.high
