"""READ_s of scores: reading has to be shown in every system, or the system is named."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import SURE_NO
from voirdire.late import dataclass
from voirdire.stats.reading_by_system import (
    SURE_HERE,
    answered_by_item,
    beside_items,
    reading_in_systems,
    swapped,
)
from voirdire.stats.sums import above_t, natural, on_scale, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.spec.component import State
    from voirdire.stats.reading_by_system import SystemReading
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import Jackknifed
    from voirdire.study import Margins

#: Below these shares of what it, or another human, reads elsewhere.
_THIRD, _HALF = 1 / 3, 1 / 2


def reads_each_system(
    name: str, panel: ResponsePanel, humans: Sequence[int], margins: Margins
) -> Component | None:
    """Yes where reading is shown in each system in which a human's would have been.

    Held back where it is not shown although one more human would have been shown to read there in
    four of five tries; else the system is named in `not_shown`, and the claim is not made of it.
    Held back as well where hardly anything is left once what the answers to an item have in common
    is taken out: who answers by the question follows the items of a system, and no response. With
    one human nobody knows whether people read more there, and the system is named. And where the
    scores of two systems seem to lie under each other's name.
    No where the upper bound of some system lies below a third of the whole (Bonferroni); with one
    human never, as nobody knows what another would have read there.
    """
    whole, each = reading_in_systems(panel, humans)
    if not each:
        return None
    unread = _by_question(panel, humans)
    rows = [_SystemRow.of(one, whole, margins, len(each)) for one in each]
    rows = [
        row.by_items(held=len(humans) > 1)
        if row.state == "yes" and row.reading.system in unread
        else row
        for row in rows
    ]
    held = [row for row in rows if row.state != "yes"]
    not_shown = tuple(row.reading.system for row in rows if not row.shown)
    # The worst of those that decide; where none does, the worst of all.
    order = ("no", "open", "yes")
    worst = min(rows, key=lambda row: (order.index(row.state), row.reading.judge.at))
    judge = worst.reading.judge
    p = max((row.p for row in rows if row.powered), default=0.0)
    under_other = swapped(panel)
    # Systems that are not read follow each other's people as little as their own.
    if under_other is not None and not {*under_other} & {*not_shown} and worst.state != "no":
        return Component(
            name,
            "open",
            float(judge.value),
            margin=0.0,
            df=float(judge.df),
            at=under_other,
            reason="swapped",
        )
    reason = "by question" if worst.by_question else ""
    if reason:
        p, judge = 1.0, unread[worst.reading.system]
    elif panel.counted is not None and panel.crossed:
        # Rows that stand for many responses do not say which of them answer one item.
        reason = "items apart"
    return Component(
        name,
        worst.state,
        float(judge.value),
        float(judge.bound(1 - SURE_HERE)),
        float(judge.bound(SURE_HERE)),
        0.0,
        float(judge.se),
        float(judge.df),
        p,
        at=(worst.reading.system,),
        count=len(rows) - len(not_shown),
        times=max((row.times for row in held), default=math.inf),
        not_shown=not_shown,
        reason=reason,
    )


def _by_question(panel: ResponsePanel, humans: Sequence[int]) -> dict[str, Jackknifed]:
    """Systems that it answers by the question, and what it follows of their responses."""
    each = beside_items(panel, humans)
    return {name: each[name].correlation for name in answered_by_item(each)}


@dataclass(frozen=True, slots=True)
class _SystemRow:
    """One system: whether reading is shown, would have been of a human, and what follows."""

    reading: SystemReading
    shown: bool
    powered: bool
    state: State
    p: float
    times: float
    by_question: bool = False

    def by_items(self, *, held: bool) -> _SystemRow:
        """Held back, or named, as a system that is answered by the question."""
        if held:
            return replace(self, state="open", by_question=True)
        return replace(self, shown=False, powered=False)

    @classmethod
    def of(cls, one: SystemReading, whole: Jackknifed, margins: Margins, many: int) -> _SystemRow:
        at, se, df = float(one.judge.at), float(one.judge.se), one.judge.df
        powered, shown = one.would_show(one.human), one.low > 0
        third = float(on_scale(_THIRD * float(natural(whole.at, "fisher")), "fisher"))
        # Where people themselves read little, half of what they read is no reason to refuse.
        least = min(max(float(on_scale(margins.read, "fisher")), third), _HALF * one.human)
        high = at + quantile(1 - (1 - SURE_NO) / many, df) * se
        state: State = "open" if powered and not shown else "yes"
        # With one human nobody knows what another would have read there.
        if powered and one.known and high < least:
            state = "no"
        # Shown at 2.5 %: twice the one-sided p, so that 5 % is the limit here as everywhere.
        p = min(2 * float(above_t(at / se, df)), 1.0) if se > 0 and state != "no" else 1.0
        times = (quantile(SURE_HERE, df) * se / at) ** 2 if at > 0 else math.inf
        return cls(one, shown, powered, state, p, float(times))
