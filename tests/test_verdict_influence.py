"""What each response does to a component, against the estimate computed anew without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.facts import Component
from voirdire.examining.verdict.influence import deciding, influences
from voirdire.stats import within
from voirdire.study import Margins

SYSTEMS, ITEMS = ("north", "south", "west", "east"), 40


@pytest.fixture(scope="module")
def case():
    """Three humans with gaps, a judge of two runs, four systems, two subgroups."""
    rng = np.random.default_rng(5)
    system = np.repeat(SYSTEMS, ITEMS)
    item = np.tile([f"i{k}" for k in range(ITEMS)], len(SYSTEMS))
    quality = rng.normal(0, 1, len(item)) + np.repeat([0.0, 0.6, 1.2, -0.4], ITEMS)

    def scores(noise):
        return np.clip(np.round(3 + quality + rng.normal(0, noise, len(item))), 1, 5)

    humans = np.array([scores(0.6) for _ in range(3)])
    humans[rng.random(humans.shape) < 0.2] = np.nan
    runs = np.array([scores(0.8), scores(0.8)])
    runs[0, 7] = runs[:, 11] = np.nan
    return Case(
        "judge",
        "Calm",
        ("a", "b", "c"),
        runs,
        humans,
        item,
        4.0,
        systems=system,
        subgroups=np.where(rng.random(len(item)) < 0.4, "short", "long"),
        family={name: name == "east" for name in SYSTEMS},
        gate=GateRule(4.0),
    )


def without(case, at):
    """The case, one response being gone."""
    return replace(
        case,
        scores=np.delete(case.scores, at, axis=1),
        humans=np.delete(case.humans, at, axis=1),
        items=np.delete(case.items, at),
        systems=np.delete(case.systems, at),
        subgroups=np.delete(case.subgroups, at),
    )


def means_of(case):
    """System -> (human, judge) over what both scored, by loops."""
    found = {}
    for name in SYSTEMS:
        pairs = [
            (np.nanmean(case.humans[:, k]), np.nanmean(case.scores[:, k]))
            for k in np.flatnonzero(case.systems == name)
            if not np.isnan(case.humans[:, k]).all() and not np.isnan(case.scores[:, k]).all()
        ]
        found[name] = np.mean(pairs, axis=0)
    return found


def off_of(case, inside=None):
    return np.mean(
        [
            np.nanmean(case.scores[:, k]) - np.nanmean(case.humans[:, k])
            for k in range(case.humans.shape[1])
            if not np.isnan(case.humans[:, k]).all()
            and not np.isnan(case.scores[:, k]).all()
            and (inside is None or inside(case.subgroups[k]))
        ]
    )


def rate_beside_human(case, passes):
    """Judge's rate less a held-out human's, by loops over humans and responses."""
    judge_hits = own_hits = total = 0.0
    for human in range(3):
        for k in range(case.humans.shape[1]):
            own, rest = case.humans[human, k], np.delete(case.humans[:, k], human)
            rest, runs = rest[~np.isnan(rest)], case.scores[:, k]
            runs = runs[~np.isnan(runs)]
            if np.isnan(own) or not len(rest) or not len(runs):
                continue
            share, judge, said = np.mean(rest >= 4), np.mean(runs >= 4), float(own >= 4)
            if not passes:
                share, judge, said = 1 - share, 1 - judge, 1 - said
            judge_hits, own_hits = judge_hits + judge * share, own_hits + said * share
            total += share
    return (judge_hits - own_hits) / total


def correlation_of(case):
    return np.corrcoef(np.array(list(means_of(case).values())).T)[0, 1]


def bias_at(name):
    return lambda case: means_of(case)[name][1] - means_of(case)[name][0]


def favoured(case):
    bias = {name: bias_at(name)(case) for name in SYSTEMS}
    return bias["west"] - np.mean([bias[name] for name in SYSTEMS if name != "west"])


def own_family(case):
    return bias_at("east")(case) - np.mean([bias_at(name)(case) for name in SYSTEMS[:3]])


def agreement_of(case):
    human, judge = np.array(list(means_of(case).values())).T
    bias = np.mean(judge - human) ** 2
    covariance = np.cov(human, judge)
    return 2 * covariance[0, 1] / (covariance[0, 0] + covariance[1, 1] + bias)


SLOW = {
    ("BIAS", ()): off_of,
    ("BIAS1", ()): off_of,
    ("ORDER", ()): correlation_of,
    ("ORDER+", ()): correlation_of,
    ("LEVEL+", ()): lambda c: np.mean([bias_at(name)(c) for name in SYSTEMS]),
    ("AGREE", ()): agreement_of,
    ("LEVEL", ("south",)): bias_at("south"),
    ("SYS", ("west",)): favoured,
    ("FAM", ()): own_family,
    ("REVERSE", ("north", "west")): lambda c: means_of(c)["north"][1] - means_of(c)["west"][1],
    ("SUB", ("short",)): lambda c: (
        off_of(c, lambda s: s == "short") - off_of(c, lambda s: s != "short")
    ),
    ("SENS", ()): lambda c: rate_beside_human(c, passes=True),
    ("SPEC", ()): lambda c: rate_beside_human(c, passes=False),
}


@pytest.mark.parametrize("key", SLOW, ids=lambda key: key[0])
def test_influence_is_the_estimate_less_that_computed_without_the_response(case, key):
    found = influences(case, Component(key[0], "open", margin=0.1, at=key[1]), Margins())
    whole = SLOW[key](case)
    for at in (0, 7, 33, 41, 90, 159):
        assert found[at] == pytest.approx(whole - SLOW[key](without(case, at)), abs=1e-9)


def test_a_response_without_a_score_has_no_influence(case):
    assert np.isnan(influences(case, Component("BIAS", "open"), Margins())[11])


@pytest.mark.parametrize("name", ["READ", "ITEM", "SLOPE", "HUMANS", "GREAD", "GITEM"])
def test_of_centred_scores_too_the_means_being_those_without_it(case, name):
    """Every centre is computed anew from the case without the response."""
    part = ScoreGround(case, Margins()).components[name]
    found = influences(case, part, Margins())

    def value(of):
        panel = of.panel().passing(4.0) if name.startswith("G") else of.panel()
        if name.endswith("READ"):
            columns, usable = within.reading_columns(panel)
            return within.ratio(columns[usable].sum(axis=0))
        sums = within.item_table(panel, beside=True).total
        c, _, j, _ = within.moments(sums)
        if name == "SLOPE":
            return j / c
        return within.reliability(sums) if name == "HUMANS" else within.beyond(sums, part.margin)

    whole = value(case)
    for at in (0, 7, 50, 121, 151, *np.flatnonzero(case.paired)[::9]):
        assert found[at] == pytest.approx(float(whole - value(without(case, at))), abs=1e-9)


def test_components_that_are_no_sum_of_responses_say_nothing(case):
    for name in ("COVER", "RUN", "GAIN", "SUBITEM"):
        assert np.isnan(influences(case, Component(name, "open"), Margins())).all()


def test_of_a_yes_the_component_nearest_its_margin_decides():
    from voirdire.examining.verdict.facts import Next, Verdict

    parts = (Component("READ", "yes", p=0.001), Component("BIAS", "yes", p=0.03))
    verdict = Verdict(
        "judge", "Calm", "score", "these systems", "yes", (), "", Next("use it"), 0.03, parts
    )
    assert deciding(verdict).name == "BIAS"
    assert deciding(replace(verdict, state="no", deciding=("READ",))).name == "READ"
    assert deciding(replace(verdict, components=())) is None
