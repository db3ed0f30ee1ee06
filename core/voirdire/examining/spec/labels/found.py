"""Components of a verdict on labels and label sets: what holds of each label, and of all of them.

The rule and its rates: docs/verdict_kinds.md. Vectors of 0 and 1 take the place of scores in READ,
HUMANS and ITEM; what a dot product over labels cannot see, a rare label, is tested label by label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec.component import Component
from voirdire.examining.spec.margins import (
    FEWEST_SHARED,
    SURE_NO,
    SURE_YES,
    TIMES_LABEL,
    above,
    inside,
    untested,
)
from voirdire.examining.spec.reasons import FEWEST_SUCH
from voirdire.examining.spec.scores import responses
from voirdire.stats import label_responses, within
from voirdire.stats.held_out import rate_against
from voirdire.stats.intervals import share_interval
from voirdire.stats.label_responses import LabelRates, LabelShares
from voirdire.stats.sums import above_t

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.examining.spec.component import State
    from voirdire.examining.spec.scores.case import Case
    from voirdire.stats.response_panel import ResponsePanel
    from voirdire.study import Margins

    Floats = NDArray[np.float64]

#: What humans say must be vouched for to this share before a judge may stand in for one.
VOUCHED = 0.80
#: Margins of a label's share: of its standard deviation, of the share itself, and at least.
OF_DEVIATION, OF_SHARE, LEAST_SHARE = 0.2, 0.5, 0.02
#: Beyond this, recall or precision below a held-out human's refuses.
FAR_BELOW = 0.20
#: Responses with a label from which a label that is left out must not look bad.
SEEN = 10
#: What a judge must reach against one column of labels.
LEAST_RECALL = LEAST_PRECISION = 0.80
#: The share of a third human's lead over chance that a judge must keep where two humans differ.
OF_LEAD, OF_LEAD_OF_THREE = 0.60, 0.50
#: Of empty label sets.
EMPTY = 0.08


@dataclass(frozen=True, slots=True, eq=False)
class OfLabels:
    """What was found of each label, in the order of the labels, and what of them is vouched for.

    Attributes
    ----------
    labels : tuple of str
        All of the list, those that nobody uses included.
    parts : mapping of name to tuple of Component
        One a label. SENS and PREC are those of *filter*; `refusing` holds those of *single*.
    shares : LabelShares
        Of the humans and of the judge.
    margins : (D,) float64
        How far a share may be off.
    vouched : (D,) bool
        Shown to be read, to have the right share, and not refused.
    """

    labels: tuple[str, ...]
    parts: Mapping[str, tuple[Component, ...]]
    refusing: Mapping[str, tuple[Component, ...]]
    shares: LabelShares
    margins: Floats
    vouched: NDArray[np.bool_]

    def of(self, place: int) -> dict[str, Component]:
        """The components of one label."""
        return {name: parts[place] for name, parts in self.parts.items()}


def of_labels(
    case: Case, panel: ResponsePanel, humans: Sequence[int], margins: Margins
) -> OfLabels:
    """Every component of every label."""
    shares = label_responses.shares(panel, humans)
    p = shares.humans
    narrow = np.minimum(OF_DEVIATION * np.sqrt(p * (1 - p)), OF_SHARE * p)
    allowed = np.maximum(np.maximum(narrow, LEAST_SHARE), shares.between)
    parts: dict[str, list[Component]] = {}
    refusing: dict[str, list[Component]] = {}
    for place, label in enumerate(case.labels):
        bits = panel.label(place)
        found = _single_label(case, bits, humans, margins)
        found["SHARE"] = inside(
            "SHARE", shares.difference[place], float(allowed[place]), many=len(case.labels)
        )
        for into, each in ((parts, found), (refusing, _refusals(case, bits, humans, found))):
            for name, part in each.items():
                into.setdefault(name, []).append(replace(part, at=(label,)))
    vouched = _vouched(parts, refusing)
    return OfLabels(
        case.labels,
        {name: tuple(each) for name, each in parts.items()},
        {name: tuple(each) for name, each in refusing.items()},
        shares,
        allowed,
        vouched,
    )


def _single_label(
    case: Case, bits: ResponsePanel, humans: Sequence[int], margins: Margins
) -> dict[str, Component]:
    """READ_k, HUMANS_k, LABEL, ITEM_k, RECALL and PRECISION of one label."""
    found = {"READ_k": responses.reading("READ_k", replace(case, width=1.0), bits, margins)}
    if len(humans) < 2:
        found |= {name: untested(name, "one human") for name in ("HUMANS_k", "LABEL", "ITEM_k")}
        found |= _against_labels(bits, humans[0])
        return found
    table = within.item_table(bits.only_humans(humans), beside=True)
    agree = responses.humans_agree("HUMANS_k", table, margins)
    # On a label of which people are not shown to agree nobody can be held against them.
    found["HUMANS_k"] = (
        agree
        if agree.state in ("yes", "not tested")
        else replace(agree, state="not tested", reason="humans unclear of it")
    )
    many = len(case.labels)
    for name, times, tests in (("LABEL", TIMES_LABEL, many), ("ITEM_k", margins.times_gate, 1)):
        if table.total[0] < FEWEST_SHARED or table.met(0) < margins.clusters:
            found[name] = untested(name, "few shared", count=int(table.total[0]))
            continue
        jackknifed = table.jackknife(partial(within.beyond, times=times))
        jackknifed = replace(jackknifed, df=min(jackknifed.df, table.met(0) - 1))
        part = above(name, jackknifed, 0.0, many=tests)
        c, v, _, _ = (float(moment) for moment in within.moments(table.total))
        share = c / v if v > 0 else math.nan
        found[name] = replace(part, margin=times, judge=within.worth_of(table.total), human=share)
    return found | _beside_human(bits, humans, margins)


def _beside_human(
    bits: ResponsePanel, humans: Sequence[int], margins: Margins
) -> dict[str, Component]:
    """SENS and PREC of a label, as whoever pulls it out needs them."""
    rates = LabelRates.of(bits, humans)
    found: dict[str, Component] = {}
    for name, (jackknifed, between), (judge, human), size, least in (
        ("RECALL", rates.recall(), rates.recalls, rates.given, 2 * FEWEST_SUCH),
        ("PRECISION", rates.precision(), rates.precisions, rates.said, FEWEST_SUCH),
    ):
        part = above(name, jackknifed, -max(margins.gate, between))
        part = replace(part, judge=judge, human=human, count=math.floor(size + 1e-6))
        # Few can refuse, as a judge that never says a label is refused; they cannot license.
        too_few = rates.given < FEWEST_SUCH or (size < least and part.state == "yes")
        if too_few:
            part = replace(part, state="not tested", reason="few such", p=1.0)
        found[name] = part
    return found


def _against_labels(bits: ResponsePanel, human: int) -> dict[str, Component]:
    """SENS and PREC against one column of labels, which are taken as right."""
    found: dict[str, Component] = {}
    for name, (jackknifed, n), least in (
        ("RECALL", rate_against(bits, human, passes=True), LEAST_RECALL),
        ("PRECISION", label_responses.precision_against(bits, human), LEAST_PRECISION),
    ):
        if n == 0:
            found[name] = untested(name, "few such", margin=least)
            continue
        value, se, df = float(jackknifed.at), float(jackknifed.se), float(jackknifed.df)
        sure = share_interval(value, se, df, n, 2 * SURE_YES - 1)
        high = share_interval(value, se, df, n, 2 * SURE_NO - 1).high
        state: State = "yes" if sure.low >= least else "no" if high < least else "open"
        facts: dict[str, Any] = {"judge": value, "count": n, "se": se, "df": df}
        # Few labels may refuse where they are missed by far, and not license.
        few = n < FEWEST_SUCH and not (name == "RECALL" and n >= 8 and high < 0.5)
        if few:
            found[name] = Component(
                name, "not tested", value, sure.low, sure.high, least, reason="few such", **facts
            )
            continue
        p = responses.share_p(value, se, df, n, least) if n > 0 else 1.0
        found[name] = Component(name, state, value, sure.low, sure.high, least, p=p, **facts)
    return found


def _refusals(
    case: Case,
    bits: ResponsePanel,
    humans: Sequence[int],
    found: Mapping[str, Component],
) -> dict[str, Component]:
    """SENS and PREC as *single* reads them: they may only refuse, and only far below."""
    if len(humans) < 2:
        # Against one column of labels only a label that is never used refuses.
        given = np.nansum(bits.judge, axis=0) * (1.0 if bits.weight is None else bits.weight)
        never = float(given.sum()) / max(len(bits.judge), 1) < 0.5
        recall = found["RECALL"]
        state: State = "no" if never and recall.state == "no" else "yes"
        reason = "never used" if state == "no" else ""
        return {"RECALL1": replace(recall, name="RECALL1", state=state, reason=reason)}
    rates = LabelRates.of(bits, humans)
    made: dict[str, Component] = {}
    for name, (jackknifed, between) in (
        ("RECALL", rates.recall()),
        ("PRECISION", rates.precision()),
    ):
        margin = max(FAR_BELOW, between)
        part = inside(f"{name}1", jackknifed, margin, many=2 * len(case.labels))
        # Above a human's is no fault.
        state = "no" if part.state == "no" and part.estimate < 0 else "yes"
        own = found[name]
        made[f"{name}1"] = replace(
            part, state=state, p=0.0, reason="", judge=own.judge, human=own.human, count=own.count
        )
    return made


def _vouched(
    parts: Mapping[str, Sequence[Component]],
    refusing: Mapping[str, Sequence[Component]],
) -> NDArray[np.bool_]:
    """(D,) LABEL and SHARE yes, humans agree on the label, SENS and PREC not no."""
    shown = [
        all(parts[name][place].state == "yes" for name in ("HUMANS_k", "LABEL", "SHARE"))
        and all(each[place].state != "no" for each in refusing.values())
        for place in range(len(parts["SHARE"]))
    ]
    return np.array(shown, dtype=np.bool_)


# --- of all labels together


def may_refuse(found: OfLabels) -> tuple[Component, ...]:
    """LABEL of each label as *single* reads it: where people do not agree it cannot refuse."""
    return tuple(
        part if part.state != "no" or known.state == "yes" else replace(part, state="open")
        for part, known in zip(found.parts["LABEL"], found.parts["HUMANS_k"], strict=True)
    )


def vouched_for(found: OfLabels) -> Component:
    """VOUCHED: the share of what humans say that is vouched for; nothing else may look bad."""
    weights = found.shares.humans / max(float(found.shares.humans.sum()), 1e-300)
    share = float(weights[found.vouched].sum())
    bad = looks_bad(found) & ~found.vouched
    state: State = "yes" if share >= VOUCHED and not bad.any() else "open"
    left = [
        (label, int(given))
        for label, vouched, given in zip(
            found.labels, found.vouched, found.shares.given, strict=True
        )
        if not vouched and given > 0
    ]
    # The rarest last would hide the most frequent one that is missing.
    left.sort(key=lambda one: -one[1])
    out = [label for label, _ in left]
    counted = [f"{label} ({given:,} items)" for label, given in left]
    return Component(
        "VOUCHED",
        state,
        share,
        share,
        share,
        VOUCHED,
        p=_largest_needed(found, weights),
        at=tuple(out),
        count=int(found.vouched.sum()),
        not_shown=tuple(counted),
        reason="looks bad" if bad.any() and share >= VOUCHED else "",
    )


def looks_bad(found: OfLabels) -> NDArray[np.bool_]:
    """(D,) labels of 10 responses or more whose estimates lie beyond what is allowed."""
    estimates = {
        name: np.array([part.estimate for part in found.parts[name]]) for name in ("LABEL", "SHARE")
    } | {name: np.array([part.estimate for part in each]) for name, each in found.refusing.items()}
    bad = np.abs(estimates["SHARE"]) > found.margins
    bad |= estimates["LABEL"] < 0
    for name in ("RECALL1", "PRECISION1"):
        if name in estimates:
            bad |= np.nan_to_num(estimates[name]) < -FAR_BELOW
    return np.asarray(bad & (found.shares.given >= SEEN))


def _largest_needed(found: OfLabels, weights: Floats) -> float:
    """The p-value at which labels of enough weight would all be shown."""
    each = np.array(
        [
            max(found.parts[name][place].p for name in ("HUMANS_k", "LABEL", "SHARE"))
            for place in range(len(found.labels))
        ]
    )
    order = np.argsort(each, kind="stable")
    enough = np.flatnonzero(np.cumsum(weights[order]) >= VOUCHED - 1e-12)
    return float(each[order][enough[0]]) if len(enough) else 1.0


def differing(case: Case, panel: ResponsePanel, humans: Sequence[int]) -> Component:
    """DIV: whether the judge still reads where two humans differ."""
    used = int((label_responses.shares(panel, humans).humans >= LEAST_SHARE).sum())
    if case.kind == "label set" or used < 3 or len(humans) < 3:
        # With two labels one of them is always taken; sets have too many ways to differ.
        return untested("DIV", "hard items")
    floor = OF_LEAD_OF_THREE if used == 3 else OF_LEAD
    found = label_responses.where_humans_differ(panel, humans, floor)
    if found is None or found.df < FEWEST_SUCH - 1:
        return untested("DIV", "hard items")
    low, high = found.bounds(SURE_YES, SURE_NO)
    state: State = "yes" if low > 0 else "no" if high < 0 else "open"
    p = float(above_t(found.excess / found.error, found.df)) if found.error > 0 else 1.0
    return Component(
        "DIV",
        state,
        found.kept,
        margin=floor,
        se=found.error,
        df=found.df,
        p=p,
        judge=found.judge,
        human=found.human,
        count=found.count,
    )


def subgroup_shares(
    case: Case,
    panel: ResponsePanel,
    humans: Sequence[int],
    found: OfLabels,
    groups: NDArray[Any],
    margins: Margins,
    name: str = "SUBSHARE",
) -> list[Component]:
    """SUBSHARE or SYSSHARE: shares in a group less elsewhere, which refuse or look bad.

    One component over all groups and labels, at the label and group farthest beyond.
    """
    p = found.shares.humans
    narrow = 2 * np.minimum(OF_DEVIATION * np.sqrt(p * (1 - p)), OF_SHARE * p)
    allowed = np.maximum(narrow, found.shares.between)
    names = [str(group) for group in np.unique(groups) if str(group)]
    by_system = name == "SYSSHARE"
    # Of systems all are looked at, and any of them refuses; a subgroup is declared and asked about.
    many = len(case.labels) * (len(names) if by_system else 1)
    worst: Component | None = None
    for group in names:
        members = np.asarray(groups == group)
        if panel.only(members).present_clusters < margins.clusters:
            continue
        jackknifed = label_responses.share_contrast(panel, humans, members)
        for place, label in enumerate(case.labels):
            one = jackknifed[place]
            if not (math.isfinite(one.at) and math.isfinite(one.se)):
                continue
            part = inside(name, one, float(allowed[place]), many=many)
            looks = by_system and abs(part.estimate) > allowed[place]
            state: State = "no" if part.state == "no" else "open" if looks else "yes"
            part = replace(part, state=state, p=0.0, at=(label, group))
            if worst is None or _rank(part) > _rank(worst):
                worst = part
    if worst is None:
        return [] if by_system else [untested(name, "few in subgroup")]
    return [worst]


def _rank(part: Component) -> tuple[int, float]:
    margin = part.margin if isinstance(part.margin, float) else 1.0
    return ("yes", "open", "no").index(part.state), abs(part.estimate) - margin


def silent_sets(panel: ResponsePanel, humans: Sequence[int]) -> Component:
    """EMPTY: the judge's share of empty sets less the humans'; it may only refuse."""
    part = inside("EMPTY", label_responses.empty_sets(panel, humans), EMPTY)
    return replace(part, state="no" if part.state == "no" else "yes", p=0.0)


def item_times(case: Case, panel: ResponsePanel, margins: Margins) -> float:
    """How many times a human's error variance: two labels are as coarse as pass and fail."""
    codes = panel.humans[~np.isnan(panel.humans)]
    return (
        margins.times_gate
        if case.kind != "label set" and len(np.unique(codes)) == 2
        else margins.times
    )
