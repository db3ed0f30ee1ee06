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
    left_of_items,
    reading_in_systems,
    swapped,
)
from voirdire.stats.sums import above_t, natural, on_scale, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.examining.spec.component import State
    from voirdire.stats.reading_by_system import LeftOfSystem, SystemReading
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.stats.sums import Jackknifed
    from voirdire.study import Margins

#: Below this share of what it reads on the whole, or of what another human reads there.
_THIRD, _HALF = 1 / 3, 1 / 2
#: How seldom a judge that reads alike everywhere is held back for some system, items taken out.
SELDOM = 0.02


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
    under_other = swapped(panel)
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
    if under_other is not None and worst.state != "no":
        return Component(
            name, "open", float(judge.value), margin=0.0, df=float(judge.df), at=under_other,
            reason="swapped",
        )  # fmt: skip
    reason = "by question" if worst.by_question else ""
    if reason:
        p, judge = 1.0, unread[worst.reading.system]
    return Component(
        name, worst.state, float(judge.value), float(judge.bound(1 - SURE_HERE)),
        float(judge.bound(SURE_HERE)), 0.0, float(judge.se), float(judge.df), p,
        at=(worst.reading.system,), count=len(rows) - len(not_shown),
        times=max((row.times for row in held), default=math.inf), not_shown=not_shown,
        reason=reason,
    )  # fmt: skip


def _by_question(panel: ResponsePanel, humans: Sequence[int]) -> dict[str, Jackknifed]:
    """Systems in which it reads less than a third of what it or a human does, items taken out.

    And surely less: as seldom as in one of fifty grids in which it reads alike everywhere. Of
    responses that are read in parts the effects of items are not known system by system.
    """
    if panel.counted is not None or not panel.crossed:
        return {}
    usual, each = left_of_items(panel)
    far = quantile(1 - SELDOM / max(len(each), 1), panel.n_clusters - 1)
    # What items have in common holds a part of every system: of one that is not read as much is
    # left as that part.
    part = 1 / len(panel.systems)
    share = part + (1 - part) * _THIRD
    low = {name: one for name, one in each.items() if one.far_below(usual, share, far)}
    if low and len(humans) > 1:
        # Where people are seen to read less than half as well, nothing is wrong with the judge.
        people = [left_of_items(_held_out(panel, humans, human)) for human in humans]
        least = _HALF * sum(float(whole.correlation.at) for whole, _ in people) / len(people)
        low = {name: one for name, one in low.items() if _of_people(people, name) >= least}
    return {name: one.correlation for name, one in low.items()}


def _of_people(
    people: Sequence[tuple[LeftOfSystem, dict[str, LeftOfSystem]]], system: str
) -> float:
    """What one of them reads of the others in a system, on average (Fisher's z)."""
    found = [float(each[system].correlation.at) for _, each in people if system in each]
    return sum(found) / len(found) if found else -math.inf


def _held_out(panel: ResponsePanel, humans: Sequence[int], human: int) -> ResponsePanel:
    """One human in place of the judge, beside the others."""
    others = [other for other in humans if other != human]
    return replace(panel, judge=panel.humans[[human]], humans=panel.humans[others])


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
