"""What each response does to a component: the estimate with it less that without.

The sums behind the components are taken response by response instead of cluster by cluster, so the
value without each of N responses is one subtraction. Where scores are centred by means of systems
and items, the sums without a response are those about the means without it (`stats.without_one`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats import held_out, within
from voirdire.stats import system_means as means
from voirdire.stats.bias_by_system import specific
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import leave_one_out, mean_of
from voirdire.stats.without_one import item_total, item_totals, reading_total, reading_totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import Component
    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.stats.response_panel import ResponsePanel

    Floats = NDArray[np.float64]
    Statistic = Callable[[Floats], Floats]
    Influence = Callable[[ScoreGround, Component], Floats | None]


def _panel(ground: ScoreGround, *, gated: bool) -> ResponsePanel | None:
    """Scores, or 1[score >= gate]; None without a gate."""
    if not gated:
        return ground.panel
    return None if ground.gate is None else ground.panel.passing(ground.gate.at)


def of_reading(*, gated: bool) -> Influence:
    """READ, or the same at the gate."""

    def influence(ground: ScoreGround, _: Component) -> Floats | None:
        panel = _panel(ground, gated=gated)
        if panel is None:
            return None
        return _moved(reading_total(panel), reading_totals(panel), within.ratio)

    return influence


def of_shared(statistic: Statistic | None = None, *, gated: bool = False) -> Influence:
    """A statistic of what judge and humans share; by default ITEM's, at the component's margin."""

    def influence(ground: ScoreGround, part: Component) -> Floats | None:
        panel, asked = _panel(ground, gated=gated), statistic
        if asked is None and isinstance(part.margin, float | int):
            asked = partial(within.beyond, times=float(part.margin))
        if panel is None or asked is None:
            return None
        panel = panel.only_humans(ground.humans)
        return _moved(item_total(panel), item_totals(panel), asked)

    return influence


def of_rate(*, passes: bool) -> Influence:
    """SENS (SPEC)."""

    def influence(ground: ScoreGround, _: Component) -> Floats | None:
        bits = _panel(ground, gated=True)
        return None if bits is None else _change(*_rates(bits, ground.humans, passes=passes))

    return influence


def of_offset(ground: ScoreGround, _: Component) -> Floats | None:
    """The bias; that of labels without an order is one of shares, and no mean of their codes."""
    if ground.case.nominal:
        return None
    off = ground.panel.mean_run - ground.panel.mean_human
    return _change(_counted(off, ~np.isnan(off)), mean_of)


def of_subgroup_offset(ground: ScoreGround, part: Component) -> Floats | None:
    """The bias in a subgroup less that outside."""
    case, panel = ground.case, ground.panel
    if case.nominal or case.subgroups is None or not part.at:
        return None
    off = panel.mean_run - panel.mean_human
    there = ~np.isnan(off)
    inside = np.asarray(case.subgroups[case.paired].astype(str) == part.at[0])
    columns = np.concatenate(
        [_counted(off, there & inside), _counted(off, there & ~inside)], axis=1
    )
    return _change(columns, lambda sums: mean_of(sums[..., :2]) - mean_of(sums[..., 2:]))


def _rates(
    bits: ResponsePanel, humans: tuple[int, ...], *, passes: bool
) -> tuple[Floats, Statistic]:
    """Columns and statistic of SENS (SPEC): beside a held-out human, or against one column."""
    if len(humans) > 1:
        return held_out.beside_columns(bits, humans, passes=passes).sum(axis=0), _rate_beside
    human, judge = bits.humans[humans[0]], mean_present(bits.judge)
    such = (human == float(passes)) & ~np.isnan(judge)
    return _counted(judge if passes else 1 - judge, such), mean_of


def _rate_beside(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((sums[..., 0] - sums[..., 1]) / sums[..., 2])


def of_means(statistic: Callable[[Floats, Floats], Floats]) -> Influence:
    """A statistic of the means (..., S) of humans and judge."""
    return lambda ground, _: _of_means(ground, statistic)


def of_moments(coefficient: Callable[[Floats], Floats]) -> Influence:
    """A coefficient of the moments of the means."""
    return of_means(lambda human, judge: coefficient(means.moments(human, judge)))


def of_system(bias: Callable[[Floats], Floats]) -> Influence:
    """A bias by system, of the one that the component is about."""

    def influence(ground: ScoreGround, part: Component) -> Floats | None:
        at = _places(ground, part)
        if not at:
            return None
        return _of_means(ground, lambda human, judge: bias(judge - human)[..., at[0]])

    return influence


def of_pair(ground: ScoreGround, part: Component) -> Floats | None:
    """The judge's difference between the two systems that the component is about."""
    at = _places(ground, part)
    if len(at) != 2:
        return None
    return _of_means(ground, lambda _, judge: np.asarray(judge[..., at[0]] - judge[..., at[1]]))


def of_family(ground: ScoreGround, _: Component) -> Floats | None:
    """The bias of the judge's own family less that of the others."""
    own = ground.own_family

    def contrast(human: Floats, judge: Floats) -> Floats:
        bias = judge - human
        return np.asarray(bias[..., own].mean(axis=-1) - bias[..., ~own].mean(axis=-1))

    return _of_means(ground, contrast)


def plain(bias: Floats) -> Floats:
    """The bias of each system as it is."""
    return bias


#: The bias of each system beside the mean of the others'.
beside_others = specific


def _places(ground: ScoreGround, part: Component) -> list[int]:
    names = ground.system_names
    return [names.index(name) for name in part.at if name in names]


def _of_means(ground: ScoreGround, statistic: Callable[[Floats, Floats], Floats]) -> Floats | None:
    """What one response changes: it changes the mean of one system."""
    panel = ground.panel
    if len(panel.systems) < 2 or ground.case.nominal:
        return None
    # Each response as its own cluster: what leaving a cluster out does is then what a response
    # does.
    alone = replace(panel, cluster=np.arange(panel.n), clusters=np.arange(panel.n))
    reference = panel.mean_human
    # The judge's mean is over the responses that humans scored too, as in the components.
    both = np.where(np.isnan(reference), np.nan, panel.mean_run)
    left_out = means.system_means(alone, [reference, both])
    (human, judge), (human_out, judge_out) = left_out.means, left_out.out.swapaxes(0, 1)
    return np.asarray(statistic(human, judge) - statistic(human_out, judge_out))


def _change(columns: Floats, statistic: Statistic) -> Floats:
    return _moved(columns.sum(axis=0), leave_one_out(columns), statistic)


def _moved(whole: Floats, without: Floats, statistic: Statistic) -> Floats:
    return np.asarray(statistic(whole) - statistic(without))


def _counted(values: Floats, kept: NDArray[Any]) -> Floats:
    """(N, 2): the values kept, and ones; 0 elsewhere."""
    return np.stack([np.where(kept, values, 0.0), kept * 1.0], axis=1)
