"""The components of the verdict on scores: each of them whole, in the order of their record."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.examining.spec import in_brackets, kinds_change
from voirdire.examining.spec.component import (
    COMPONENTS,
    ChangeRule,
    ComponentSpec,
    Next,
    ground_of,
)
from voirdire.examining.spec.kind import KINDS, KindSpec
from voirdire.examining.spec.margins import SURE_YES
from voirdire.examining.spec.scores import by_side, change, influence, needs, responses, systems
from voirdire.examining.spec.words import (
    correlates,
    covered,
    gain,
    new_system,
    off,
    pair_apart,
    rate,
    reversed_pairs,
    worth,
)
from voirdire.stats import runs_needed, within
from voirdire.stats import system_means as means

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.examining.spec.component import Component
    from voirdire.examining.spec.scores.case import GateRule
    from voirdire.examining.spec.scores.ground import ScoreGround
    from voirdire.study import Margins

__all__ = ["COMPONENTS", "KINDS", "ground_of"]

_SCORES = KindSpec(
    key="score",
    name="score",
    ground="voirdire.examining.spec.scores.ground:ScoreGround",
    cases="voirdire.examining.rated_cases:cases_of_scores",
    beside="voirdire.examining.verdict.judging:beside_scores",
    pairs="voirdire.examining.verdict.judging:human_pairs",
)
KINDS.register(_SCORES)
KINDS.register(replace(_SCORES, key="nominal", name="nominal", cases="", pairs=""))
#: The kinds that `ScoreGround` holds; labels without an order have no points and no means.
_BESIDE_OTHERS = "taken with the other systems it lies inside"
SCORES, BOTH = frozenset({"score"}), frozenset({"score", "nominal"})
#: Labels, sets of labels and probabilities have a ground derived from that of scores.
READ_AS_SCORES = BOTH | {"label", "label set", "probability"}
#: Preferences have a ground of their own, with components under the same keys.
EVERY = READ_AS_SCORES | {"preference"}
COMPARED = SCORES | {"preference"}


_CLUSTERS = (needs.clusters,)
_OF_SYSTEMS = (
    needs.clusters, needs.two_systems, needs.every_system,
    needs.connected,
)  # fmt: skip


def _has_gate(ground: ScoreGround) -> bool:
    return ground.gate is not None


def _gate_of(ground: ScoreGround) -> GateRule:
    if ground.gate is None:
        raise ValueError("there is no gate")
    return ground.gate


def _margin_of_system(ground: ScoreGround) -> float:
    return ground.margins.system * ground.case.width


def _by_read(margins: Margins, _width: float, _points: float) -> float:
    return margins.read


def _by_gate(margins: Margins, _width: float, _points: float) -> float:
    return margins.gate


def _trust_nothing(_ground: ScoreGround, _part: Component) -> Next:
    return Next("trust it with nothing")


def _cover_rest(_ground: ScoreGround, part: Component) -> Next:
    return Next("rate the rest", needed=part.count, now=round(part.count * part.estimate))


def _coverage(ground: ScoreGround) -> Component:
    asked, answered = ground.answered
    return responses.coverage("COVER", asked, answered, ground.margins)


def _reading(ground: ScoreGround) -> Component:
    case, panel = ground.read_scores
    return responses.reading("READ", case, panel, ground.margins)


COVERAGE = COMPONENTS.register(
    ComponentSpec(
        key="COVER",
        name="coverage",
        title="share answered",
        plain="It answered.",
        asked="90 % of what was asked",
        kinds=EVERY,
        needs=(needs.asked,),
        find=_coverage,
        says=covered,
        any_chance=True,
        unit="share",
        side="least",
        after_no=_cover_rest,
    )
)
TRACKS_RESPONSES = COMPONENTS.register(
    ComponentSpec(
        key="READ",
        name="tracks_responses",
        title="follows responses",
        plain="Its scores follow the responses.",
        asked="a correlation above nothing",
        kinds=EVERY,
        needs=(needs.clusters, needs.enough_of_each),
        find=_reading,
        says=correlates("its single scores correlate {value} with people's within systems"),
        says_of={
            "label": correlates("its single labels correlate {value} with people's"),
            "label set": correlates("its single sets of labels correlate {value} with people's"),
            "preference": correlates("its choices correlate {value} with people's within pairs"),
            "probability": correlates("its probabilities correlate {value} with people's verdicts"),
        },
        any_chance=True,
        in_brackets=in_brackets.named("correlation"),
        unit="correlation",
        side="above 0",
        unread=True,
        after_no=_trust_nothing,
        influence=influence.of_reading(gated=False),
        change=ChangeRule(change.reading, _by_read, of_kind={"preference": kinds_change.reading}),
    )
)
HUMANS_AGREE = COMPONENTS.register(
    ComponentSpec(
        key="HUMANS",
        name="humans_agree",
        title="humans agree",
        plain="Humans agree on single responses.",
        asked="a correlation above nothing",
        kinds=EVERY,
        declared=lambda g: not g.few and len(g.humans) > 1,
        find=lambda g: responses.humans_agree("HUMANS", g.shared, g.margins),
        says=correlates("single scores of one human have a reliability of {value}"),
        says_of={
            "label": correlates("single labels of one human have a reliability of {value}"),
            "label set": correlates("single sets of one human have a reliability of {value}"),
            "preference": correlates("single choices of one human have a reliability of {value}"),
            "probability": correlates("single verdicts of one human have a reliability of {value}"),
        },
        any_chance=True,
        unit="correlation",
        side="least",
        stops_all="humans disagree",
        influence=influence.of_shared(within.reliability),
    )
)
BESIDE_ONE_HUMAN = COMPONENTS.register(
    ComponentSpec(
        key="ITEM",
        name="beside_one_human",
        title="beside one human",
        plain="Its error on one response is at most twice a human's.",
        asked="two judges replace one human",
        kinds=EVERY - {"probability"},
        needs=(needs.clusters, needs.two_humans),
        find=lambda g: responses.item("ITEM", g.shared, g.times, g.margins),
        says=worth(),
        in_brackets=in_brackets.worth,
        unit="excess",
        side="above 0",
        influence=influence.of_shared(),
        change=ChangeRule(change.item, _by_read, of_kind={"preference": kinds_change.item}),
    )
)
POINTS_PER_POINT = COMPONENTS.register(
    ComponentSpec(
        key="SLOPE",
        name="points_per_point",
        title="points per point",
        plain="One point more for humans is about one point more for it.",
        asked="half a point to two",
        kinds=SCORES,
        needs=(needs.clusters, needs.two_humans),
        find=lambda g: responses.slope("SLOPE", g.shared, g.margins),
        says=correlates("where people move by one point it moves by {value}"),
        unit="ratio",
        side="range",
        influence=influence.of_shared(within.slope),
        # A tenth of the range that is allowed.
        change=ChangeRule(
            change.slope, lambda m, *_: 0.1 * (m.slope[1] - m.slope[0]), both_ways=True
        ),
    )
)


def _mean_off() -> Callable[[Component], str]:
    scores = off("{at} scores {points} points higher than people",
                 "{at} scores {points} points lower than people")  # fmt: skip
    shares = off("its share of {at} is {points} higher than people's",
                 "its share of {at} is {points} lower than people's")  # fmt: skip
    return lambda part: (shares if part.at else scores)(part)


def _bias(key: str, *, beside_human: bool) -> Callable[[ScoreGround], Component]:
    def find(ground: ScoreGround) -> Component:
        if ground.case.nominal:
            return systems.label_bias(key, ground.panel, ground.margins.system)
        margin = ground.margins.bias * ground.case.width
        if not beside_human or np.isnan(ground.spread.leniency):
            return systems.bias(key, ground.off, margin)
        # One run takes the place of one human, and humans differ in leniency by as much. By how
        # much is itself hardly known of a few: no one is refused for what one more might show.
        inner = max(margin, ground.spread.leniency)
        return systems.bias(key, ground.off, max(inner, ground.spread.reach_of_leniency), inner)

    return find


BIAS = COMPONENTS.register(
    ComponentSpec(
        key="BIAS",
        name="bias",
        title="bias",
        plain="It is not more lenient or severe on the whole.",
        asked="5 % of the scale",
        kinds=BOTH,
        needs=(needs.clusters, needs.connected),
        find=_bias("BIAS", beside_human=False),
        says=_mean_off(),
        in_brackets=in_brackets.off,
        unit="points",
        side="within",
        calibrated=True,
        influence=influence.of_offset,
        change=ChangeRule(change.bias, lambda _m, _width, points: points, both_ways=True),
    )
)
BIAS_BESIDE_A_HUMAN = COMPONENTS.register(
    ComponentSpec(
        key="BIAS1",
        name="bias_beside_a_human",
        title="bias beside a human",
        plain="The same, for one that takes a human's place.",
        asked="5 % of the scale, or what humans differ by",
        kinds=BOTH,
        needs=(needs.clusters, needs.connected),
        find=_bias("BIAS1", beside_human=True),
        says=_mean_off(),
        unit="points",
        side="within",
        influence=influence.of_offset,
    )
)
ORDER_OF_SYSTEMS = COMPONENTS.register(
    ComponentSpec(
        key="ORDER",
        name="order_of_systems",
        title="order of systems",
        plain="Its means follow the humans' means.",
        asked="a correlation of 0.80, from five systems",
        kinds=COMPARED,
        declared=lambda g: not g.few_systems,
        needs=(*_OF_SYSTEMS, needs.systems_apart),
        find=lambda g: systems.moment("ORDER", g.moments, means.correlation, g.margins.order),
        says=correlates("its averages correlate {value} with people's"),
        says_of={
            "preference": correlates("its strengths of systems correlate {value} with people's")
        },
        in_brackets=in_brackets.named("correlation"),
        unit="correlation",
        side="least",
        influence=influence.of_moments(means.correlation),
        change=ChangeRule(
            change.moments(means.correlation),
            _by_read,
            of_kind={"preference": kinds_change.nothing},
        ),
    )
)
AGREEMENT_OF_MEANS = COMPONENTS.register(
    ComponentSpec(
        key="AGREE",
        name="agreement_of_means",
        title="agreement of means",
        plain="Its means are the humans' means.",
        asked="0.75, from five systems",
        kinds=SCORES,
        declared=lambda g: not g.few_systems,
        needs=(*_OF_SYSTEMS, needs.systems_apart),
        find=lambda g: systems.moment("AGREE", g.moments, means.agreement, g.margins.agree),
        says=correlates("the agreement of its averages with people's is {value}"),
        unit="correlation",
        side="least",
        skipped_untested=True,
        calibrated=True,
        influence=influence.of_moments(means.agreement),
        change=ChangeRule(change.moments(means.agreement), _by_read),
    )
)
PAIRS_IN_ORDER = COMPONENTS.register(
    ComponentSpec(
        key="PAIRS",
        name="pairs_in_order",
        title="pairs of systems",
        plain="Two to four systems: it puts each pair as humans do.",
        asked="both intervals on one side of 0",
        kinds=SCORES,
        declared=lambda g: g.few_systems,
        needs=_OF_SYSTEMS,
        find=lambda g: systems.pairs("PAIRS", g.means, _margin_of_system(g), g.system_names),
        says=pair_apart,
        in_brackets=in_brackets.apart,
        unit="points",
        side="above 0",
        influence=influence.of_pair,
    )
)
PAIRS_APART = COMPONENTS.register(
    ComponentSpec(
        key="APART",
        name="pairs_apart",
        title="distances of systems",
        plain="Three or four systems: it holds them as far apart as humans do.",
        asked="0.75, shown as the pair that is most off",
        kinds=SCORES,
        declared=lambda g: g.few_systems,
        needs=(*_OF_SYSTEMS, needs.systems_apart),
        find=lambda g: systems.apart("APART", g.means, g.moments, g.margins.agree, g.system_names),
        says=pair_apart,
        unit="points",
        side="none",
        skipped_untested=True,
        calibrated=True,
        influence=influence.of_pair,
    )
)
BIAS_BY_SYSTEM = COMPONENTS.register(
    ComponentSpec(
        key="LEVEL",
        name="bias_by_system",
        title="bias by system",
        plain="It is right on every single system.",
        asked="10 % of the scale",
        kinds=COMPARED,
        needs=_OF_SYSTEMS,
        find=lambda g: systems.level(
            "LEVEL", g.means, g.spread, _margin_of_system(g), g.system_names
        ),
        says=off(
            "it puts {at} {points} points too high",
            "it puts {at} {points} points too low",
            _BESIDE_OTHERS,
        ),
        in_brackets=in_brackets.off,
        unit="points",
        side="within",
        skipped_untested=True,
        calibrated=True,
        influence=influence.of_system(influence.plain),
        change=ChangeRule(
            change.level,
            lambda m, width, _: m.system * width,
            both_ways=True,
            of_kind={"preference": kinds_change.level},
        ),
    )
)
REVERSED_PAIRS = COMPONENTS.register(
    ComponentSpec(
        key="REVERSE",
        name="reversed_pairs",
        title="reversed pairs",
        plain="It reverses no pair of systems that humans keep apart.",
        asked="10 % of the scale, twice for *yes*",
        kinds=COMPARED,
        needs=_OF_SYSTEMS,
        find=lambda g: systems.reversals(
            "REVERSE", g.means, g.spread.allow(_margin_of_system(g), 2.0, 1), g.system_names
        ),
        says=reversed_pairs,
        in_brackets=in_brackets.unreversed,
        unit="pairs",
        side="none",
        skipped_untested=True,
        influence=influence.of_pair,
    )
)
FAVOURED_SYSTEM = COMPONENTS.register(
    ComponentSpec(
        key="SYS",
        name="favoured_system",
        title="favoured system",
        plain="It treats no system better or worse than the others.",
        asked="10 % of the scale",
        kinds=SCORES,
        needs=_OF_SYSTEMS,
        find=lambda g: systems.favour(
            "SYS", g.means, g.spread, _margin_of_system(g), g.system_names
        ),
        says=off(
            "it favours {at} by {points} points",
            "it marks {at} down by {points} points",
            _BESIDE_OTHERS,
        ),
        unit="points",
        side="within",
        skipped_untested=True,
        influence=influence.of_system(influence.beside_others),
    )
)  # fmt: skip
OWN_FAMILY = COMPONENTS.register(
    ComponentSpec(
        key="FAM",
        name="own_family",
        title="own family",
        plain="It does not favour its own family.",
        asked="10 % of the scale",
        kinds=COMPARED,
        declared=lambda g: g.has_family,
        needs=_OF_SYSTEMS,
        find=lambda g: systems.family("FAM", g.means, g.own_family, g.spread, _margin_of_system(g)),
        says=off(
            "it favours its own family by {points} points",
            "it marks its own family down by {points} points",
        ),
        unit="points",
        side="within",
        influence=influence.of_family,
    )
)
ORDER_TO_COME = COMPONENTS.register(
    ComponentSpec(
        key="ORDER+",
        name="order_of_systems_to_come",
        title="order, systems to come",
        plain="Its means would follow the humans' on other systems, too.",
        asked="a correlation of 0.80",
        kinds=SCORES,
        needs=(*_OF_SYSTEMS, needs.many_systems),
        find=lambda g: systems.order_to_come("ORDER+", g.means, g.margins.order),
        says=correlates("over systems to come its averages correlate {value} with people's"),
        in_brackets=in_brackets.named("correlation"),
        unit="correlation",
        side="least",
        falls_with="systems",
        influence=influence.of_moments(means.correlation),
    )
)
BIAS_TO_COME = COMPONENTS.register(
    ComponentSpec(
        key="LEVEL+",
        name="bias_of_a_system_to_come",
        title="bias of a new system",
        plain="It would be right on a new system.",
        asked="10 % of the scale, for nine in ten",
        kinds=SCORES,
        needs=(*_OF_SYSTEMS, needs.many_systems),
        find=lambda g: systems.level_to_come(
            "LEVEL+", g.means.bias, g.spread, _margin_of_system(g)
        ),
        says=new_system,
        unit="points",
        side="within",
        falls_with="systems",
        influence=influence.of_means(lambda human, judge: (judge - human).mean(axis=-1)),
    )
)
BIAS_BY_SUBGROUP = COMPONENTS.register(
    ComponentSpec(
        key="SUB",
        name="bias_by_subgroup",
        title="bias by subgroup",
        plain="It treats no subgroup differently.",
        asked="10 % of the scale",
        kinds=BOTH | {"preference"},
        declared=lambda g: g.case.subgroups is not None,
        needs=_CLUSTERS,
        find=lambda g: g.subgroups["SUB"],
        says=off(
            "subgroup {at} comes out {points} points higher than the rest",
            "subgroup {at} comes out {points} points lower than the rest",
        ),
        unit="points",
        side="within",
        influence=influence.of_subgroup_offset,
    )
)
SUBGROUP_BESIDE_A_HUMAN = COMPONENTS.register(
    ComponentSpec(
        key="SUBITEM",
        name="subgroup_beside_a_human",
        title="subgroup beside a human",
        plain="It reads in each subgroup, too.",
        asked="four times a human's error",
        kinds=BOTH | {"label", "label set"},
        declared=lambda g: g.case.subgroups is not None and not g.few and "SUBITEM" in g.subgroups,
        find=lambda g: g.subgroups["SUBITEM"],
        says=worth(),
        unit="excess",
        side="above 0",
        skipped_untested=True,
    )
)
GATE_TRACKS_RESPONSES = COMPONENTS.register(
    ComponentSpec(
        key="GREAD",
        name="gate_tracks_responses",
        title="gate follows responses",
        plain="READ of pass and fail.",
        asked="a correlation above nothing",
        kinds=SCORES,
        declared=_has_gate,
        needs=(needs.clusters, needs.enough_at_gate),
        find=lambda g: responses.reading("GREAD", g.case, g.bits, g.margins),
        says=correlates("its passes correlate {value} with people's within systems"),
        any_chance=True,
        unit="correlation",
        side="above 0",
        unread=True,
        after_no=_trust_nothing,
        influence=influence.of_reading(gated=True),
        change=ChangeRule(change.reading_at_gate, _by_read),
    )
)
GATE_BESIDE_ONE_HUMAN = COMPONENTS.register(
    ComponentSpec(
        key="GITEM",
        name="gate_beside_one_human",
        title="gate beside one human",
        plain="ITEM of pass and fail.",
        asked="three times a human's error",
        kinds=SCORES,
        declared=_has_gate,
        needs=(needs.clusters, needs.two_humans_at_gate),
        find=lambda g: responses.item("GITEM", g.gated_shared, g.margins.times_gate, g.margins),
        says=worth("at the gate "),
        unit="excess",
        side="above 0",
        influence=influence.of_shared(gated=True),
        change=ChangeRule(change.item_at_gate, _by_read),
    )
)


def _gate_rate(key: str, *, passes: bool) -> Callable[[ScoreGround], Component]:
    def find(ground: ScoreGround) -> Component:
        rule = _gate_of(ground)
        if ground.unequal:
            return _gate_rate_by_side(key, ground, passes=passes)
        part = responses.gate_rate(
            key, rule, ground.bits, ground.gated_humans, ground.margins, passes=passes
        )
        # Minima that nobody declared do not refuse a judge that another person might be.
        if part.state != "no" or not (rule.by_default and ground.labels_alone):
            return part
        # Reading that is likely is enough not to be refused, though not to be trusted.
        reads = any(one.p <= 1 - SURE_YES for one in ground.of(GATE_TRACKS_RESPONSES.key))
        if reads and responses.errs_both_ways(ground.bits, ground.gated_humans[0]):
            return replace(part, state="open", reason="labels alone", times=math.inf)
        return part

    return find


def _gate_rate_by_side(key: str, ground: ScoreGround, *, passes: bool) -> Component:
    rule, sides = _gate_of(ground), ground.case.sides()
    least = rule.sensitivity if passes else rule.specificity
    if sides is None or least is None or not ground.labels_alone:
        return COMPONENTS[key].untested("unequal chances")
    part = by_side.rate(key, ground.bits, ground.gated_humans[0], sides, least, passes=passes)
    return replace(part, reason=part.reason or ("default minima" if rule.by_default else ""))


PASSES_WHAT_PASSES = COMPONENTS.register(
    ComponentSpec(
        key="SENS",
        name="passes_what_passes",
        title="passes what passes",
        plain="It passes what humans pass.",
        asked="10 points below a human",
        kinds=SCORES,
        declared=_has_gate,
        needs=_CLUSTERS,
        find=_gate_rate("SENS", passes=True),
        says=rate("passes", "good"),
        any_chance=True,
        in_brackets=in_brackets.share("passes {share} of the good"),
        unit="share",
        side="least",
        influence=influence.of_rate(passes=True),
        change=ChangeRule(change.rate(passes=True), _by_gate),
    )
)
STOPS_WHAT_FAILS = COMPONENTS.register(
    ComponentSpec(
        key="SPEC",
        name="stops_what_fails",
        title="stops what fails",
        plain="It fails what humans fail.",
        asked="10 points below a human",
        kinds=SCORES,
        declared=_has_gate,
        needs=_CLUSTERS,
        find=_gate_rate("SPEC", passes=False),
        says=rate("catches", "bad"),
        any_chance=True,
        in_brackets=in_brackets.share("catches {share} of the bad"),
        unit="share",
        side="least",
        influence=influence.of_rate(passes=False),
        change=ChangeRule(change.rate(passes=False), _by_gate),
    )
)


def _average_runs(ground: ScoreGround, part: Component) -> Next:
    runs = runs_needed(part.estimate, ground.margins.run).runs or 0
    return Next("average runs", needed=runs or None, now=len(ground.case.scores), unit="runs")


def _label_instead(_ground: ScoreGround, part: Component) -> Next:
    # A gain of g is as many labels as g times those at hand: 1 - 1/g of them come from the judge.
    return Next("label instead", share=1 - 1 / part.estimate)


RUNS_REPEAT = COMPONENTS.register(
    ComponentSpec(
        key="RUN",
        name="runs_repeat",
        title="runs repeat",
        plain="Its runs agree.",
        asked="0.80",
        kinds=BOTH,
        needs=(needs.few_and_cold, needs.clusters, needs.several_runs, needs.ordered, needs.warm),
        find=lambda g: responses.repeated_runs("RUN", g.panel, g.margins),
        says=correlates("one run has a reliability of {value}"),
        any_chance=True,
        in_brackets=in_brackets.named("reliability"),
        unit="correlation",
        side="least",
        after_no=_average_runs,
    )
)


def _labels_saved(ground: Any) -> Component:
    case, panel = ground.as_scores
    return responses.labels_saved("GAIN", case, panel, ground.margins)


LABELS_SAVED = COMPONENTS.register(
    ComponentSpec(
        key="GAIN",
        name="labels_saved",
        title="labels it is worth",
        plain="A label counts for more with its scores beside it.",
        asked="1.2 labels",
        kinds=EVERY,
        needs=_CLUSTERS,
        find=_labels_saved,
        says=gain,
        in_brackets=in_brackets.labels,
        unit="labels",
        side="least",
        after_no=_label_instead,
    )
)

# The other kinds register theirs behind those of scores.
from voirdire.examining.spec.labels import specs as label_specs  # noqa: E402, F401
from voirdire.examining.spec.preferences import specs as preference_specs  # noqa: E402, F401
from voirdire.examining.spec.probabilities import specs as probability_specs  # noqa: E402, F401
from voirdire.examining.spec.scores import tail  # noqa: E402, F401
