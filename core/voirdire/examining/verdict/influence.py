"""What each response does to a component of a verdict: the estimate with it less that without.

The sums behind the components are taken response by response instead of cluster by cluster, so the
value without each of N responses is one subtraction. Where scores are centred by means of systems
and items, the sums without a response are those about the means without it (`stats.without_one`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.verdict.components import kept_panel
from voirdire.stats import held_out, within
from voirdire.stats import system_means as means
from voirdire.stats.bias_by_system import specific
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import leave_one_out, mean_of
from voirdire.stats.without_one import item_total, item_totals, reading_total, reading_totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from voirdire.examining.verdict.case import Case
    from voirdire.examining.verdict.facts import Component, Verdict
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.study import Margins

    Floats = NDArray[np.float64]
    Statistic = Callable[[Floats], Floats]

_READING = {"READ", "GREAD"}
_ITEMS = {"ITEM", "GITEM", "SLOPE", "HUMANS"}
_RATES = {"SENS", "SPEC"}
_GATED = {"GREAD", "GITEM", *_RATES}
_OFFSETS = {"BIAS", "BIAS1", "SUB"}
_MOMENTS = {"ORDER": means.correlation, "ORDER+": means.correlation, "AGREE": means.agreement}


def deciding(verdict: Verdict) -> Component | None:
    """The component that decided; of a yes, the one that came closest to its margin."""
    wanted = set(verdict.deciding)
    parts = [part for part in verdict.components if part.name in wanted]
    # A yes has no deciding component: the largest p came closest to its margin.
    if not parts:
        parts = sorted(verdict.components, key=lambda part: -part.p)
    return parts[0] if parts else None


def weakest(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The first no, else the first that is open, not tested, and only then a yes."""
    order = ("no", "open", "not tested", "yes")
    return min(verdicts, key=lambda one: order.index(one.state), default=None)


def influences(case: Case, component: Component, margins: Margins) -> Floats:
    """By how much each response raises the estimate of a component.

    Parameters
    ----------
    case : Case
        One judge and attribute.
    component : Component
        One of its verdict's; `at` says of which system, pair or subgroup.
    margins : Margins
        The study's.

    Returns
    -------
    (N,) float64
        One value a response of the case: the estimate less what it would be without it. Of ORDER
        and AGREE that of the plain means, their noise not removed. 0 for a response that plays no
        part; NaN throughout for COVER, RUN, GAIN and SUBITEM, which are no such sum.
    """
    kept = case.paired
    influence = np.full(len(kept), np.nan)
    # The bias of labels without an order is one of shares, and no mean of their codes.
    if not kept.any() or (case.nominal and component.name in _OFFSETS):
        return influence
    panel, humans = kept_panel(case, margins)
    values = _of_panel(case, panel, humans, component)
    if values is not None:
        influence[kept] = values
    return influence


def _of_panel(
    case: Case, panel: ResponsePanel, humans: tuple[int, ...], part: Component
) -> Floats | None:
    name = part.name
    if name in _GATED and case.gate is not None:
        panel = panel.passing(case.gate.at)
    if name in _READING:
        return _moved(reading_total(panel), reading_totals(panel), within.ratio)
    if name in _ITEMS:
        return _of_items(panel, humans, part)
    if name in _RATES:
        return _change(*_rates(panel, humans, passes=name == "SENS"))
    if name in _OFFSETS:
        return _change(*_offsets(case, panel, part))
    return _of_means(case, panel, part)


def _offsets(case: Case, panel: ResponsePanel, part: Component) -> tuple[Floats, Statistic]:
    """Columns and statistic of the bias, or of that in a subgroup less that outside."""
    off = panel.mean_run - panel.mean_human
    there = ~np.isnan(off)
    if part.name != "SUB" or case.subgroups is None:
        return _counted(off, there), mean_of
    inside = np.asarray(case.subgroups[case.paired].astype(str) == part.at[0])
    columns = np.concatenate(
        [_counted(off, there & inside), _counted(off, there & ~inside)], axis=1
    )
    return columns, lambda sums: mean_of(sums[..., :2]) - mean_of(sums[..., 2:])


def _of_items(panel: ResponsePanel, humans: tuple[int, ...], part: Component) -> Floats | None:
    statistic = {"SLOPE": within.slope, "HUMANS": within.reliability}.get(part.name)
    if statistic is None:
        if not isinstance(part.margin, float | int):
            return None
        statistic = partial(within.beyond, times=float(part.margin))
    panel = panel.only_humans(humans)
    return _moved(item_total(panel), item_totals(panel), statistic)


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


def _of_means(case: Case, panel: ResponsePanel, part: Component) -> Floats | None:
    """Components of the means of systems, of which one response changes one."""
    count = len(panel.systems)
    if count < 2 or case.nominal:
        return None
    names = [str(name) for name in panel.systems]
    # Each response as its own cluster: what leaving a cluster out does is then what a response
    # does.
    alone = replace(panel, cluster=np.arange(panel.n), clusters=np.arange(panel.n))
    reference = panel.mean_human
    # The judge's mean is over the responses that humans scored too, as in the components.
    both = np.where(np.isnan(reference), np.nan, panel.mean_run)
    left_out = means.system_means(alone, [reference, both])
    (human, judge), (human_out, judge_out) = left_out.means, left_out.out.swapaxes(0, 1)
    statistic = _statistic(case, part, names)
    if statistic is None:
        return None
    return np.asarray(statistic(human, judge) - statistic(human_out, judge_out))


def _statistic(
    case: Case, part: Component, names: list[str]
) -> Callable[[Floats, Floats], Floats] | None:
    """From means (..., S) of humans and judge to the estimate."""
    if part.name in _MOMENTS:
        coefficient = _MOMENTS[part.name]
        return lambda human, judge: coefficient(means.moments(human, judge))
    at = [names.index(name) for name in part.at if name in names]
    own = np.array([case.family.get(name, False) for name in names])
    of_bias: dict[str, Statistic] = {
        "LEVEL+": lambda bias: np.asarray(bias.mean(axis=-1)),
        "FAM": lambda bias: np.asarray(
            bias[..., own].mean(axis=-1) - bias[..., ~own].mean(axis=-1)
        ),
    }
    if at:
        of_bias["LEVEL"] = lambda bias: bias[..., at[0]]
        of_bias["SYS"] = lambda bias: specific(bias)[..., at[0]]
    if part.name == "REVERSE" and len(at) == 2:
        return lambda _, judge: np.asarray(judge[..., at[0]] - judge[..., at[1]])
    statistic = of_bias.get(part.name)
    return None if statistic is None else lambda human, judge: statistic(judge - human)


def _change(columns: Floats, statistic: Statistic) -> Floats:
    return _moved(columns.sum(axis=0), leave_one_out(columns), statistic)


def _moved(whole: Floats, without: Floats, statistic: Statistic) -> Floats:
    return np.asarray(statistic(whole) - statistic(without))


def _counted(values: Floats, kept: NDArray[Any]) -> Floats:
    """(N, 2): the values kept, and ones; 0 elsewhere."""
    return np.stack([np.where(kept, values, 0.0), kept * 1.0], axis=1)
