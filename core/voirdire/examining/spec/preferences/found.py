"""Components of a verdict on preferences: reading within pairs, place, length, order, picking.

The rule and its rates: docs/verdict_kinds.md. A preference is a signed number in its pair of
systems; what is known of a system alone is taken out, so that its name cannot be read for it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import (
    FEWEST_SHARED,
    SURE_NO,
    SURE_READ,
    SURE_YES,
    above,
    inside,
    untested,
)
from voirdire.stats import comparisons, strengths
from voirdire.stats.followed import followed as comparisons_followed
from voirdire.stats.sums import above_t, natural, on_scale, quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import State
    from voirdire.stats.comparisons import ComparisonPanel, PairReading
    from voirdire.stats.followed import Followed
    from voirdire.stats.sums import Jackknifed
    from voirdire.study import Margins

#: Comparisons a pair below which strengths of systems are taken out in place of pairs' means.
DENSE = 3
#: Comparisons beyond what was taken out, from which reading can be told.
FEWEST_BEYOND = 20
#: Margins in shares of the scale: of place, of length, of one system and of one pair.
PLACE = LENGTH = FAVOUR = 0.10
PAIR = 0.15
#: How far below a held-out human's picks; how much oftener ties, and flips that look bad.
PICK, TIE, FLIP = 0.10, 0.15, 0.05
#: The same where it may only refuse that a judge stands in for one human.
PICK_ONE = 0.05
#: Comparisons of a pair from which its own bias can refuse.
FEWEST_IN_PAIR = 10


def compared_components(
    panel: ComparisonPanel,
    margins: Margins,
    subgroups: NDArray[np.str_] | None = None,
    *,
    drawn: bool = False,
) -> dict[str, Component]:
    """Every component that the comparisons can tell.

    `drawn` says that an order which is not recorded was drawn each time.
    """
    names = [str(name) for name in panel.systems]
    of_systems = _system_groups(panel)
    of_subgroups = _subgroup_groups(subgroups)
    groups = [here for _, here in (*of_systems, *of_subgroups)]
    read, *each = comparisons.readings(panel, groups, by_strengths=panel.n < DENSE * panel.n_pairs)
    apart = list(zip((*of_systems, *of_subgroups), each, strict=True))
    parts = [
        _reading(read, margins),
        *_shared(panel, margins),
        _position(panel, drawn=drawn),
        _length(panel),
        *_ordered(panel, margins, names),
        replace(inside("LEVEL", comparisons.favour_by_system(panel), FAVOUR * panel.width, names)),
        *_family(panel),
        *_picks(panel),
        *_flips(panel),
        *_ties(panel),
        *_pairs(panel, names),
        *_everywhere(
            "READ_s", apart[: len(of_systems)], read, len(names), _unfollowed(panel, of_systems)
        ),
        *_everywhere("SUB", apart[len(of_systems) :], read, 1),
    ]
    return {part.name: part for part in parts}


def _reading(read: PairReading, margins: Margins) -> Component:
    if read.beyond < FEWEST_BEYOND or read.correlation.df + 1 < margins.clusters:
        return untested("READ", "few clusters", count=read.beyond)
    if not read.varies:
        df = read.correlation.df
        return Component("READ", "no", 0.0, 0.0, 0.0, 0.0, 0.0, df, 1.0, "choices alike")
    return above("READ", read.correlation, 0.0, margins.read, SURE_READ)


def _shared(panel: ComparisonPanel, margins: Margins) -> list[Component]:
    """HUMANS and ITEM."""
    if len(panel.humans) < 2:
        return [untested("ITEM", "one human")]
    found = comparisons.shared_within(panel, comparisons.TIMES)
    if found.pairs < FEWEST_SHARED or found.beyond.df + 1 < margins.clusters:
        reason = "one human" if not found.pairs else "few shared"
        return [untested("ITEM", reason, count=found.pairs)]
    limit = float(natural(0.02, "fisher"))
    humans = replace(above("HUMANS", found.reliability, limit, margins.read), margin=limit)
    share = float(found.reliability.value)
    item = above("ITEM", found.beyond, 0.0)
    return [
        humans,
        replace(item, margin=comparisons.TIMES, judge=found.worth, human=share),
    ]


def _position(panel: ComparisonPanel, *, drawn: bool) -> Component:
    found = comparisons.position(panel)
    if found is None:
        return untested("POSITION", "order drawn" if drawn else "order not recorded")
    return inside("POSITION", found, PLACE * panel.width)


def _length(panel: ComparisonPanel) -> Component:
    found = comparisons.length_effect(panel)
    if found is None:
        return untested("LENGTH", "no texts")
    return inside("LENGTH", found, LENGTH * panel.width)


def _ordered(panel: ComparisonPanel, margins: Margins, names: Sequence[str]) -> list[Component]:
    """ORDER and REVERSE, on strengths by least squares."""
    if not strengths.connected(panel):
        return [untested("ORDER", "not connected"), untested("REVERSE", "not connected")]
    humans = strengths.least_squares(panel, panel.mean_human)
    judge = strengths.least_squares(panel, panel.mean_order)
    reverse = _reverse(panel, humans, judge, names)
    if len(names) < 3:
        return [untested("ORDER", "two systems"), reverse]
    found = strengths.strength_order(humans, judge)
    if not found.humans_differ:
        return [untested("ORDER", "humans alike"), reverse]
    part = above("ORDER", found.correlation, margins.order)
    # Strengths of a judge that does not tell systems apart are noise, and their correlation too.
    if not found.judge_varies or (part.state == "yes" and not found.judge_differs):
        part = replace(part, state="open", reason="judge alike", p=1.0)
    return [part, reverse]


def _reverse(
    panel: ComparisonPanel,
    humans: strengths.FittedStrengths,
    judge: strengths.FittedStrengths,
    names: Sequence[str],
) -> Component:
    """Pairs that humans hold apart by more than the margin, and the judge the other way."""
    first, second = np.triu_indices(len(names), 1)
    apart, own = (side.differences(first, second) for side in (humans, judge))
    margin = FAVOUR * panel.width
    sign = np.where(apart.at < 0, -1.0, 1.0)
    dh, dj, df = np.abs(apart.at), own.at * sign, apart.df
    far = quantile(1 - (1 - SURE_NO) / len(first), df)
    turned = (dh - far * apart.se > margin) & (dj + far * own.se < 0)
    # Yes is about pairs twice as far apart, none of which may look reversed.
    unclear = (dh > 2 * margin) & (dj <= 0)
    state: State = "no" if turned.any() else "open" if unclear.any() else "yes"
    worst = int(np.argmin(np.where(turned, -1e9, np.where(unclear, -1e6, 0.0)) + dj))
    pair = (names[first[worst]], names[second[worst]])
    p = np.minimum(above_t((2 * margin - dh) / np.maximum(apart.se, 1e-12), df), 1.0)
    p = np.minimum(p, above_t(dj / np.maximum(own.se, 1e-12), df)) * 2
    return Component(
        "REVERSE",
        state,
        float(turned.sum()),
        margin=margin,
        se=0.0,
        df=df,
        p=float(min(p.max(), 1.0)),
        at=() if state == "yes" else pair[:: int(sign[worst])],
        judge=float(dj[worst]),
        human=float(dh[worst]),
        count=int(turned.sum()),
    )


def _family(panel: ComparisonPanel) -> list[Component]:
    found = comparisons.favour_of_family(panel)
    if found is None:
        return []
    ahead = {int(s) for s in panel.a[panel.own > 0]} | {int(s) for s in panel.b[panel.own < 0]}
    margin = strengths.taste_margin(panel, FAVOUR * panel.width, len(ahead))
    return [inside("FAM", found, margin)]


def _picks(panel: ComparisonPanel) -> list[Component]:
    """PICK, and PICK1, which may only refuse."""
    found = comparisons.picks(panel)
    if found is None:
        vote = comparisons.vote_agreement(panel)
        value = math.nan if vote is None else float(vote.at)
        return [untested("PICK", "one human", judge=value, margin=PICK)]
    facts: dict[str, Any] = {"judge": found.judge, "human": found.human, "count": found.count}
    one = above("PICK1", found.difference, -PICK_ONE)
    refuses: State = "no" if one.state == "no" else "yes"
    return [
        replace(above("PICK", found.difference, -PICK), **facts),
        replace(one, state=refuses, p=0.0, **facts),
    ]


def _flips(panel: ComparisonPanel) -> list[Component]:
    """Opposite winners in the two orders, beside those of two humans: looks bad, or not."""
    found = comparisons.flips(panel)
    if found is None:
        return []
    judge, human = found
    off = judge - (0.0 if math.isnan(human) else human)
    state: State = "open" if off > FLIP else "yes"
    return [Component("FLIP", state, off, margin=FLIP, p=0.0, judge=judge, human=human)]


def _ties(panel: ComparisonPanel) -> list[Component]:
    part = inside("TIE", comparisons.ties(panel), TIE)
    return [part]


def _pairs(panel: ComparisonPanel, names: Sequence[str]) -> list[Component]:
    found = comparisons.pair_bias(panel, FEWEST_IN_PAIR)
    if found is None:
        return []
    places, jackknifed = found
    row = {int(pair): at for at, pair in enumerate(panel.pair)}
    of = [f"{names[panel.a[row[int(k)]]]} / {names[panel.b[row[int(k)]]]}" for k in places]
    part = inside("PAIR", jackknifed, PAIR * panel.width, of)
    return [replace(part, state="no" if part.state == "no" else "yes", p=0.0)]


def _system_groups(panel: ComparisonPanel) -> list[tuple[str, NDArray[np.bool_]]]:
    """The comparisons of each system, where there are more than two and people vary in them."""
    if len(panel.systems) < 3:
        return []
    human, groups = panel.centred(panel.mean_human), []
    for place, name in enumerate(panel.systems):
        here = (panel.a == place) | (panel.b == place)
        if int(here.sum()) >= FEWEST_BEYOND and np.nansum(human[here] ** 2) > 1e-9:
            groups.append((str(name), here))
    return groups


def _subgroup_groups(subgroups: NDArray[np.str_] | None) -> list[tuple[str, NDArray[np.bool_]]]:
    """The comparisons of each declared subgroup that has enough."""
    if subgroups is None:
        return []
    each = [(str(name), np.asarray(subgroups == name)) for name in np.unique(subgroups) if name]
    return [(name, here) for name, here in each if int(here.sum()) >= FEWEST_BEYOND]


def _everywhere(
    name: str,
    each: Sequence[tuple[tuple[str, NDArray[np.bool_]], PairReading]],
    read: PairReading,
    many: int,
    unfollowed: Mapping[str, Followed] | None = None,
) -> list[Component]:
    if not read.varies:
        return []
    rows = [(group, own.correlation, int(here.sum())) for (group, here), own in each]
    made = reads_everywhere(name, rows, read.correlation, many)
    if not (unfollowed and made) or made[0].state == "no":
        return made
    group, found = min(unfollowed.items(), key=lambda one: one[1].judge)
    return [
        replace(
            made[0],
            state="open",
            estimate=math.tanh(found.judge),
            low=math.nan,
            high=math.nan,
            margin=math.tanh(found.human / LESS_THAN_HUMAN),
            se=math.nan,
            df=math.nan,
            at=(group,),
            reason="follows less",
        )
    ]


#: Errors of Fisher's z by which reading in a group lies below that of all where it looks absent.
LOOKS_BELOW = 2.8
#: A system looks as if it were not looked at where choices follow people's that many times less
#: than another human's do, and by as many errors. Of 120 panels of ten systems and 300 comparisons
#: all but 2 of who is blind on one look so, and none of one human more.
LESS_THAN_HUMAN, ERRORS_LESS = 2.5, 2.2


def _unfollowed(
    panel: ComparisonPanel, groups: Sequence[tuple[str, NDArray[np.bool_]]]
) -> dict[str, Followed]:
    """The systems in whose comparisons it follows people far less than another human does."""
    found = {name: comparisons_followed(panel, here) for name, here in groups}
    return {
        name: one
        for name, one in found.items()
        if one is not None
        and one.judge < one.human / LESS_THAN_HUMAN
        and one.judge < one.human - ERRORS_LESS / math.sqrt(max(one.n - 3, 1))
    }


def reads_everywhere(
    name: str,
    each: Sequence[tuple[str, Jackknifed, int]],
    whole: Jackknifed,
    many: int,
) -> list[Component]:
    """One component for all groups: no where one does not read, open where one does not look so.

    Shown not to read: the upper bound lies below the larger of .10 and a third of the whole. Looks
    so: z below a third of the whole's, and by more than 2.8 errors of Fisher's z below it.
    """
    tested = [one for one in each if math.isfinite(one[1].se)]
    if not tested:
        return []
    z = float(whole.at)
    least = max(float(on_scale(0.10, "fisher")), float(on_scale(math.tanh(z) / 3, "fisher")))
    rows = []
    for group, found, size in tested:
        sure = quantile(1 - (1 - SURE_NO) / many, found.df)
        below = found.at < z / 3 and found.at < z - LOOKS_BELOW / math.sqrt(max(size - 3, 1))
        state: State = "no" if found.at + sure * found.se < least else "open" if below else "yes"
        rows.append((("no", "open", "yes").index(state), found.at, group, found, state))
    _, _, group, found, state = min(rows, key=lambda row: row[:2])
    return [
        Component(
            name,
            state,
            float(found.value),
            float(found.bound(1 - SURE_YES)),
            float(found.bound(SURE_YES)),
            math.tanh(z) / 3,
            float(found.se),
            float(found.df),
            0.0,
            at=(group,),
        )
    ]
