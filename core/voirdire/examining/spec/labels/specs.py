"""The components of the verdict on labels and label sets."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from voirdire.examining.spec import in_brackets, kinds_change
from voirdire.examining.spec.component import COMPONENTS, ChangeRule, Component, ComponentSpec
from voirdire.examining.spec.kind import KINDS, KindSpec
from voirdire.examining.spec.margins import TIMES_LABEL
from voirdire.examining.spec.scores import needs
from voirdire.examining.spec.words import correlates, needed_text, percent, worth
from voirdire.tabular import number_text, share_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.examining.spec.labels.ground import LabelGround

_LABELS = KindSpec(
    key="label",
    name="label",
    ground="voirdire.examining.spec.labels.ground:LabelGround",
    cases="voirdire.examining.judgements:cases_of_labels",
    holds=lambda inputs: inputs.judgements is not None or (inputs.labelled and inputs.reference),
    unread="its labels do not follow the items",
    corrected="How often would people say each label?",
)
KINDS.register(_LABELS)
KINDS.register(replace(_LABELS, key="label set", name="label_set", cases=""))
#: Labels and label sets alike; EMPTY is of sets alone.
LABELS = frozenset({"label", "label set"})
_CLUSTERS = (needs.clusters,)
_TWO = (needs.clusters, needs.two_humans)


def _each(key: str) -> Callable[[LabelGround], tuple[Component, ...]]:
    return lambda ground: ground.of_labels.parts.get(key, ())


def _refusing(key: str) -> Callable[[LabelGround], tuple[Component, ...]]:
    return lambda ground: ground.of_labels.refusing.get(key, ())


def _points(part: Component) -> str:
    return f"{number_text(100 * abs(part.estimate), 0)} points"


def _share(part: Component) -> str:
    way = "more" if part.estimate > 0 else "less"
    said = f"it says {part.at[0]} {_points(part)} {way} often than people"
    allowed = (
        ""
        if not isinstance(part.margin, float)
        else (f" (allowed: {number_text(100 * part.margin, 0)})")
    )
    return said + allowed


def _at(say: Callable[[Component], str]) -> Callable[[Component], str]:
    """With the label namedin the place of @."""
    return lambda part: say(part).replace("@", part.at[0] if part.at else "the label")


def _rate(what: str, other: str) -> Callable[[Component], str]:
    def say(part: Component) -> str:
        label = part.at[0] if part.at else "it"
        if part.reason == "never used":
            return f"it never says {label}"
        if math.isnan(part.human):  # held against a limit, from which a rounded share may not stray
            return what.format(label=label, judge=share_text(part.judge)) + needed_text(part)
        told = what.format(label=label, judge=percent(part.judge))
        return f"{told}; {other.format(human=percent(part.human))}"

    return say


#: Recall and precision: the judge's, and those of another human.
_FOUND = "of what people call {label} it finds {judge}", "another human finds {human}"
_AGREED = (
    "people agree with {judge} of what it calls {label}",
    "they agree with {human} of another human's",
)


def _worth(part: Component) -> str:
    where = f"on {part.at[0]} " if part.at else ""
    return where + worth()(replace(part, at=()))


def _vouched(part: Component) -> str:
    *others, last = part.at or ("",)
    # The last may be "joy and 11 others".
    word = ", " if " and " in last else " or "
    out = f"{', '.join(others)}{word}{last}" if others else last
    if out and not part.estimate:
        return f"it is not cleared for {out}"
    told = f"it is cleared for labels that make up {percent(part.estimate)} of what people say"
    return f"{told}, not for {out}" if out else told


def _differing(part: Component) -> str:
    beside = "" if math.isnan(part.human) else f", a third human in {percent(part.human)}"
    told = f"where two humans differ it sides with one of them in {percent(part.judge)} of cases"
    return f"{told}{beside}"


def _shift(part: Component) -> str:
    label, group = (*part.at, "", "")[:2]
    way = "more" if part.estimate > 0 else "less"
    return f"in {group} it says {label} {_points(part)} {way} often beside people than elsewhere"


def _empty(part: Component) -> str:
    way = "more" if part.estimate > 0 else "less"
    return f"it gives no label {_points(part)} {way} often than people"


def _leaked(part: Component) -> str:
    if part.reason == "seen answers":
        return (
            f"its squared correlation with what people share is {number_text(part.estimate, 2)} "
            f"[{number_text(part.low, 2)}, {number_text(part.high, 2)}]; whoever sees the "
            "responses alone reaches 1 at most"
        )
    human = part.at[0] if part.at else "one human"
    return f"it follows {human} beyond what people share: it may have seen those labels"


def _in_system(part: Component) -> str:
    where = part.at[0] if part.at else "one system"
    return correlates(f"within {where} it correlates {{value}} with people")(part)


def _shown_of(parts: Sequence[Component]) -> str:
    # Of several attributes that of which least is known.
    least = min(parts, key=lambda part: part.count)
    shown, all_ = least.count, least.count + len(least.not_shown)
    return f"That it reads was shown for {shown} of {all_} systems."


def _has_subgroups(ground: LabelGround) -> bool:
    return ground.case.subgroups is not None


for _spec in (
    ComponentSpec(
        key="READ_k",
        name="tracks_label",
        title="follows the label",
        plain="It says the label where people do.",
        asked="a correlation above nothing",
        kinds=LABELS,
        needs=_CLUSTERS,
        find=_each("READ_k"),
        says=_at(correlates("its use of @ correlates {value} with people's")),
        unit="correlation",
        side="above 0",
    ),
    ComponentSpec(
        key="HUMANS_k",
        name="humans_agree_on_label",
        title="humans agree on the label",
        plain="People agree on the label.",
        asked="a correlation above nothing",
        kinds=LABELS,
        declared=lambda g: len(g.humans) > 1,
        needs=_CLUSTERS,
        find=_each("HUMANS_k"),
        says=_at(correlates("one human's use of @ has a reliability of {value}")),
        unit="correlation",
        side="least",
    ),
    ComponentSpec(
        key="LABEL",
        name="label_beside_one_human",
        title="a label beside one human",
        plain="On each label its error is at most four times a human's.",
        asked="worth above a quarter of a human",
        kinds=LABELS,
        needs=_TWO,
        find=lambda g: g.may_refuse(),
        says=_worth,
        unit="excess",
        side="above 0",
        change=ChangeRule(kinds_change.label_items(TIMES_LABEL), lambda m, *_: m.read),
    ),
    ComponentSpec(
        key="ITEM_k",
        name="label_pulled_out",
        title="the label beside one human",
        plain="On the label its error is at most three times a human's.",
        asked="three judges replace one human",
        kinds=LABELS,
        declared=lambda g: len(g.humans) > 1,
        needs=_CLUSTERS,
        find=_each("ITEM_k"),
        says=_worth,
        unit="excess",
        side="above 0",
        influence=lambda g, part: kinds_change.moved_by_each(
            kinds_change.label_items(g.margins.times_gate)
        )(g, part),
    ),
    ComponentSpec(
        key="SHARE",
        name="share_of_labels",
        title="share of each label",
        plain="It says each label as often as people do.",
        asked="a fifth of a standard deviation, or what people differ by",
        kinds=LABELS,
        needs=_CLUSTERS,
        find=_each("SHARE"),
        says=_share,
        unit="share",
        side="within",
        change=ChangeRule(kinds_change.shares, lambda _m, _width, points: points, both_ways=True),
    ),
    ComponentSpec(
        key="RECALL",
        name="recall",
        title="recall",
        plain="It finds what people call so.",
        asked="10 points below a human; 80 % against one column of labels",
        kinds=LABELS,
        needs=_CLUSTERS,
        find=_each("RECALL"),
        says=_rate(*_FOUND),
        in_brackets=in_brackets.share("finds {share}"),
        unit="share",
        side="least",
        change=ChangeRule(kinds_change.rate_of_labels(recall=True), lambda m, *_: m.gate),
    ),
    ComponentSpec(
        key="PRECISION",
        name="precision",
        title="precision",
        plain="What it calls so people call so.",
        asked="10 points below a human; 80 % against one column of labels",
        kinds=LABELS,
        needs=_CLUSTERS,
        find=_each("PRECISION"),
        says=_rate(*_AGREED),
        in_brackets=in_brackets.share("right in {share}"),
        unit="share",
        side="least",
        change=ChangeRule(kinds_change.rate_of_labels(recall=False), lambda m, *_: m.gate),
    ),
    ComponentSpec(
        key="RECALL1",
        name="recall_beside_a_human",
        title="recall beside a human",
        plain="RECALL, for one that takes a human's place: it may only refuse.",
        asked="20 points below a human",
        kinds=LABELS,
        needs=_CLUSTERS,
        find=_refusing("RECALL1"),
        says=_rate(*_FOUND),
        unit="share",
        side="within",
        influence=kinds_change.moved_by_each(kinds_change.rate_of_labels(recall=True)),
    ),
    ComponentSpec(
        key="PRECISION1",
        name="precision_beside_a_human",
        title="precision beside a human",
        plain="PRECISION, for one that takes a human's place: it may only refuse.",
        asked="20 points below a human",
        kinds=LABELS,
        needs=_CLUSTERS,
        find=_refusing("PRECISION1"),
        says=_rate(*_AGREED),
        unit="share",
        side="within",
        influence=kinds_change.moved_by_each(kinds_change.rate_of_labels(recall=False)),
    ),
    ComponentSpec(
        key="VOUCHED",
        name="labels_vouched_for",
        title="labels vouched for",
        plain="Most of what people say is vouched for, and no other label looks bad.",
        asked="80 % of what people say",
        kinds=LABELS,
        needs=_TWO,
        find=lambda g: g.vouched_for(),
        says=_vouched,
        unit="share",
        side="least",
    ),
    ComponentSpec(
        key="DIV",
        name="reads_where_humans_differ",
        title="where humans differ",
        plain="Where two humans differ it says what one of them says.",
        asked="60 % of a third human's lead over chance (50 % with three labels)",
        kinds=LABELS,
        needs=_TWO,
        find=lambda g: g.differing(),
        says=_differing,
        unit="share",
        side="least",
        skipped_untested=True,
    ),
    ComponentSpec(
        key="SUBSHARE",
        name="share_by_subgroup",
        title="share by subgroup",
        plain="It says each label as often as people in each subgroup, too.",
        asked="twice the margin of SHARE; it may only refuse",
        kinds=LABELS,
        declared=_has_subgroups,
        needs=_CLUSTERS,
        find=lambda g: g.share_shift("SUBSHARE"),
        says=_shift,
        unit="share",
        side="within",
        skipped_untested=True,
    ),
    ComponentSpec(
        key="SYSSHARE",
        name="share_by_system",
        title="share by system",
        plain="It says each label as often as people of each system.",
        asked="twice the margin of SHARE; it may refuse, or look bad",
        kinds=LABELS,
        declared=lambda g: g.systems > 1,
        needs=_CLUSTERS,
        find=lambda g: g.share_shift("SYSSHARE") or None,
        says=_shift,
        unit="share",
        side="within",
        skipped_untested=True,
    ),
    ComponentSpec(
        key="EMPTY",
        name="share_of_empty_sets",
        title="empty sets",
        plain="It gives no label as often as people.",
        asked="8 points; it may only refuse",
        kinds=frozenset({"label set"}),
        needs=_CLUSTERS,
        find=lambda g: g.silent_sets(),
        says=_empty,
        unit="share",
        side="within",
    ),
    ComponentSpec(
        key="LEAK",
        name="has_not_seen_the_labels",
        title="follows one human alone",
        plain="It has not seen what people say, or one of them.",
        asked="a slope of 0.10 on what one human alone says; of scores a correlation of 1 as well",
        kinds=LABELS | {"score"},
        needs=_CLUSTERS,
        find=lambda g: g.leak(),
        says=_leaked,
        stops_all="seen answers",
        any_chance=True,
        unit="ratio",
        side="within",
        skipped_untested=True,
    ),
    ComponentSpec(
        key="READ_s",
        name="tracks_each_system",
        title="follows in each system",
        plain="READ in every single system.",
        asked="of scores: more than nothing in each; else a third of READ",
        kinds=LABELS | {"score", "preference"},
        declared=lambda g: g.systems > (1 if g.kind == "score" else 2),
        needs=_CLUSTERS,
        find=lambda g: g.by_system(),
        says=correlates("among the responses of one system it correlates {value} with people"),
        says_of={"score": _in_system},
        spared=_shown_of,
        unit="correlation",
        side="least",
        skipped_untested=True,
        any_chance=True,
    ),
):
    COMPONENTS.register(_spec)
