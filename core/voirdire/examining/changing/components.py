"""What the components of a verdict are now, less what they were, on the same responses.

Each component is a smooth function of sums over clusters. Both sides rest on the same responses,
labels and clusters, so a cluster is left out of both at once, and the error of the difference knows
how much the two have in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.examining.gates import GateValue
from voirdire.examining.verdict.components import kept_panel
from voirdire.examining.verdict.margins import (
    FEWEST_IN_SYSTEM,
    FEWEST_SHARED,
    FEWEST_SUCH,
    SURE_YES,
)
from voirdire.stats import adjust_p, held_out, within
from voirdire.stats import system_means as means
from voirdire.stats.sums import above_t, jackknife, mean_of, quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.facts import ComponentName
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import ClusterSums
    from voirdire.study import Margins

    Floats = NDArray[np.float64]

Moved = Literal["same", "worse", "better", "open"]
#: Where a move either way is one away from what was frozen.
_BOTH_WAYS = ("BIAS", "LEVEL", "SLOPE")
#: The part of SLOPE's allowed range within which a change counts as none.
_OF_RANGE = 0.1


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
    component: ComponentName
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
    before: Case, after: Case, margins: Margins, points: float
) -> tuple[ComponentChange, ...]:
    """Every component that the responses scored both times can tell.

    Parameters
    ----------
    before, after : Case
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
    old, new = _only(before, kept), _only(after, kept)
    if not kept.any() or old.nominal:
        return ()
    # The humans are those of before, whatever the judge does after.
    panel, humans = kept_panel(old, margins)
    if panel.n_clusters < margins.clusters:
        return ()
    values = [
        {
            (one.name, one.at): one
            for one in _estimates(side, humans, old, margins)
            if np.isfinite(one.value) and np.isfinite(one.out).all()
        }
        for side in (panel, replace(panel, judge=new.scores))
    ]
    limits = _Limits(margins, points, old.width)
    return tuple(
        _change(old, one, values[1][key], limits.of(one.name))
        for key, one in values[0].items()
        # Both sides must leave out the same clusters, one by one, for their difference to have an
        # error.
        if key in values[1] and len(one.out) == len(values[1][key].out)
    )


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
    return "better" if one.component not in _BOTH_WAYS and one.low > one.margin else "open"


@dataclass(frozen=True, slots=True)
class _Limits:
    margins: Margins
    points: float
    width: float

    def of(self, name: ComponentName) -> float:
        """Within which a change of the component counts as none."""
        low, high = self.margins.slope
        return {
            "BIAS": self.points,
            "LEVEL": self.margins.system * self.width,
            "SLOPE": _OF_RANGE * (high - low),
            "SENS": self.margins.gate,
            "SPEC": self.margins.gate,
        }.get(name, self.margins.read)


@dataclass(frozen=True, slots=True, eq=False)
class _Estimate:
    """A value, and the values (G,) without each cluster."""

    name: ComponentName
    value: float
    out: Floats
    at: str = ""


def _only(case: Case, kept: NDArray[np.bool_]) -> Case:
    """The case on some of its responses."""
    return replace(
        case,
        scores=case.scores[:, kept],
        humans=case.humans[:, kept],
        items=case.items[kept],
        systems=None if case.systems is None else case.systems[kept],
        clusters=None if case.clusters is None else case.clusters[kept],
        subgroups=None if case.subgroups is None else case.subgroups[kept],
    )


def _estimates(
    panel: ResponsePanel, humans: tuple[int, ...], case: Case, margins: Margins
) -> Iterator[_Estimate]:
    """Components of one side, of those that can be told."""
    yield from _of(
        "READ", within.reading_sums(panel), within.ratio, margins.clusters
    )  # fmt: skip
    yield from _shared(panel, humans, margins, "ITEM", margins.times)
    off = panel.mean_run - panel.mean_human
    there = ~np.isnan(off)
    columns = np.stack([np.where(there, off, 0.0), there * 1.0], axis=1)
    yield from _of("BIAS", panel.by_cluster(columns, where=1), mean_of, margins.clusters)
    yield from _of_systems(panel)
    if case.gate is not None:
        yield from _of_gate(panel.passing(case.gate.at), humans, margins)


def _shared(
    panel: ResponsePanel,
    humans: tuple[int, ...],
    margins: Margins,
    name: ComponentName,
    times: float,
) -> Iterator[_Estimate]:
    """ITEM (or GITEM), and beside ITEM the SLOPE, where two humans share enough responses."""
    table = within.item_table(panel.only_humans(humans), beside=True)
    if len(humans) < 2 or table.total[0] < FEWEST_SHARED:
        return
    yield from _of(name, table, partial(within.beyond, times=times), margins.clusters)
    if name == "ITEM":
        yield from _of("SLOPE", table, within.slope, margins.clusters)


def _of_gate(bits: ResponsePanel, humans: tuple[int, ...], margins: Margins) -> Iterator[_Estimate]:
    """GREAD, GITEM, SENS and SPEC on 1[score >= gate]."""
    yield from _of(
        "GREAD", within.reading_sums(bits), within.ratio, margins.clusters
    )  # fmt: skip
    yield from _shared(bits, humans, margins, "GITEM", margins.times_gate)
    kinds: tuple[tuple[ComponentName, bool], ...] = (("SENS", True), ("SPEC", False))
    for name, passes in kinds:
        # What a human passes is the same both times, so their own rate plays no part.
        columns = held_out.beside_columns(bits, humans, passes=passes).sum(axis=0)[:, [0, 2]]
        if len(humans) < 2:
            columns = held_out.against_columns(bits, humans[0], passes=passes)
        if columns[:, 1].sum() >= FEWEST_SUCH:
            yield from _of(name, bits.by_cluster(columns, where=1), mean_of, 2)


def _of_systems(panel: ResponsePanel) -> Iterator[_Estimate]:
    """ORDER, AGREE, and the LEVEL of each system."""
    if len(panel.systems) < 2:
        return
    observed = means.Means.of(panel)
    if observed.met.min() < FEWEST_IN_SYSTEM:
        return
    moments = observed.moments()
    whole, out = moments.whole, moments.out
    apart = moments.jackknife(lambda each: each[..., 0])
    # As in the verdict: no order of systems that the humans do not tell apart.
    if len(panel.systems) > 2 and apart.at - quantile(SURE_YES, apart.df) * apart.se > 0:
        yield _Estimate("ORDER", float(means.correlation(whole)), means.correlation(out))
        yield _Estimate("AGREE", float(means.agreement(whole)), means.agreement(out))
    for at, name in enumerate(panel.systems):
        yield _Estimate("LEVEL", float(observed.bias[at]), observed.bias_out[:, at], str(name))


def _of(
    name: ComponentName, table: ClusterSums, statistic: Callable[[Floats], Floats], fewest: int
) -> Iterator[_Estimate]:
    if len(table) >= fewest:
        yield _Estimate(name, float(statistic(table.total)), statistic(table.without))


def _change(case: Case, before: _Estimate, after: _Estimate, margin: float) -> ComponentChange:
    jackknifed = jackknife(after.value - before.value, after.out - before.out)
    change, se, df = after.value - before.value, float(jackknifed.se), jackknifed.df
    # The 95 % interval is shown; equivalence within a margin is decided by the 90 % one (Schuirmann
    # 1987).
    half, inner = quantile(0.975, df) * se, quantile(SURE_YES, df) * se
    return ComponentChange(
        judge=case.judge, attribute=case.attribute, component=before.name, at=before.at,
        clusters=len(before.out), before=before.value, after=after.value, change=change,
        low=change - half, high=change + half, margin=margin,
        p=_beyond(before.name, change, se, df, margin), small=bool(abs(change) + inner <= margin),
    )  # fmt: skip


def _beyond(name: ComponentName, change: float, se: float, df: float, margin: float) -> float:
    """One-sided p of no change for the worse beyond the margin."""
    # A move either way is for the worse: two tests, hence twice the p.
    worse, times = (abs(change), 2) if name in _BOTH_WAYS else (-change, 1)
    if math.isnan(se) or math.isnan(change):
        return math.nan
    if not se > 0:
        return float(worse <= margin)
    return min(1.0, times * float(above_t((worse - margin) / se, df)))
