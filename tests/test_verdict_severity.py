"""People who divide the work unevenly and differ in severity: means of systems are freed of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from voirdire.examining.spec import COMPONENTS
from voirdire.examining.spec.scores.case import Case
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.decide import AskedUse, decide
from voirdire.stats.severity import apart, severities
from voirdire.stats.system_means import Means
from voirdire.study import Margins

SEVERITY = np.array([-0.6, -0.2, 0.2, 0.6])


def divided(seed, systems=10, items=120, own=SEVERITY):
    """Each response by two of four; who rates a system depends on the system."""
    rng = np.random.default_rng([seed, 31])
    quality = 3 + rng.normal(0, 0.4, (systems, 1)) + rng.normal(0, 0.5, (systems, items))
    humans = quality + own[:, None, None] + rng.normal(0, 0.6, (4, systems, items))
    for at in range(systems):
        share = rng.dirichlet(np.full(4, 0.6)) + 0.02
        for k in range(items):
            two = rng.choice(4, 2, replace=False, p=share / share.sum())
            humans[[r for r in range(4) if r not in two], at, k] = np.nan
    judge = quality + rng.normal(0, 0.6, quality.shape)
    system, item = (part.ravel() for part in np.indices(quality.shape))
    case = Case(
        "judge",
        "tone",
        tuple("abcd"),
        judge.reshape(1, -1),
        humans.reshape(4, -1),
        item,
        4.0,
        systems=system,
    )
    return ScoreGround(case, Margins()), quality.mean(axis=1)


def test_severities_are_those_of_a_slow_least_squares():
    found, _ = divided(1, systems=3, items=40)
    scores = found.case.humans
    there = np.argwhere(~np.isnan(scores))
    design = np.zeros((len(there), scores.shape[1] + 4))
    design[np.arange(len(there)), 4 + there[:, 1]] = design[np.arange(len(there)), there[:, 0]] = 1
    effects = np.linalg.lstsq(design, scores[tuple(there.T)], rcond=None)[0][:4]
    assert severities(found.panel, found.humans) == pytest.approx(effects - effects.mean())


def test_means_of_systems_are_freed_and_the_order_is_told():
    yes, raw, free = 0, [], []
    for seed in range(8):
        found, truth = divided(seed)
        off = found.panel.mean_human.reshape(len(truth), -1).mean(axis=1) - truth
        raw.append((off - off.mean()).std())
        off = found.means.human - truth
        free.append((off - off.mean()).std())
        yes += decide(found, AskedUse("order", "these systems")).state == "yes"
    assert np.mean(raw) > 0.12
    assert np.mean(free) < 0.08
    assert yes >= 6


def test_where_all_rate_all_nothing_changes():
    found, _ = divided(2)
    whole = found.case.humans.copy()
    rng = np.random.default_rng(0)
    whole = np.where(np.isnan(whole), rng.normal(3, 1, whole.shape), whole)
    case = Case(
        "judge",
        "tone",
        tuple("abcd"),
        found.case.scores,
        whole,
        found.case.items,
        4.0,
        systems=found.case.systems,
    )
    ground = ScoreGround(case, Margins())
    assert ground.levelled is ground.panel


def test_raters_who_share_no_response_are_named_and_levels_are_not_tested():
    found, _ = divided(3)
    humans = found.case.humans.copy()
    half = np.arange(humans.shape[1]) % 2 == 0
    humans[2:, half], humans[:2, ~half] = np.nan, np.nan
    case = Case(
        "judge",
        "tone",
        tuple("abcd"),
        found.case.scores,
        humans,
        found.case.items,
        4.0,
        systems=found.case.systems,
    )
    ground = ScoreGround(case, Margins())
    assert len(apart(ground.panel, ground.humans)) == 2
    for key in ("BIAS", "LEVEL", "SYS", "ORDER", "AGREE", "REVERSE"):
        (part,) = COMPONENTS[key].found(ground)
        assert (part.state, part.reason, len(part.at)) == ("not tested", "raters apart", 2)
    assert decide(ground, AskedUse("order", "these systems")).reason == "raters apart"


def paired(seed, linked, systems=4, items=100):
    """Two of four rate all of a system, but for a share `linked` with one of either two."""
    rng = np.random.default_rng([seed, 37])
    quality = 3 + rng.normal(0, 0.4, (systems, 1)) + rng.normal(0, 0.5, (systems, items))
    humans = quality + SEVERITY[:, None, None] + rng.normal(0, 0.6, (4, systems, items))
    own = np.arange(systems)[:, None] % 2 * 2
    mixed = rng.random((systems, items)) < linked
    first = np.where(mixed, rng.integers(0, 2, mixed.shape), own)
    second = np.where(mixed, rng.integers(2, 4, mixed.shape), own + 1)
    raters = np.arange(4)[:, None, None]
    humans[(raters != first) & (raters != second)] = np.nan
    judge = quality + rng.normal(0, 0.6, quality.shape)
    system, item = (part.ravel() for part in np.indices(quality.shape))
    return Case(
        "judge",
        "tone",
        tuple("abcd"),
        judge.reshape(1, -1),
        humans.reshape(4, -1),
        item,
        4.0,
        systems=system,
    )


def test_the_error_of_severities_is_that_of_leaving_each_item_out_and_estimating_again():
    case = paired(3, 0.2)
    means = ScoreGround(case, Margins()).means
    again = []
    for item in range(100):
        kept = case.items != item
        part = replace(
            case,
            scores=case.scores[:, kept],
            humans=case.humans[:, kept],
            items=case.items[kept],
            systems=case.systems[kept],
        )
        again.append(ScoreGround(part, Margins()).means.human)
    off = np.array(again) - np.mean(again, axis=0)
    slow = np.sqrt(99 / 100 * (off**2).sum(axis=0))
    assert means.jackknife(lambda human, _: human).se == pytest.approx(slow, rel=0.02)


def test_intervals_of_levels_hold_where_few_responses_link_the_raters():
    covered, without = [], []
    for seed in range(40):
        ground = ScoreGround(paired(seed, 0.05), Margins())
        for found, means in ((covered, ground.means), (without, Means.of(ground.levelled))):
            # No system is favoured: how far two lie apart is the same for people and the judge.
            apart = means.jackknife(lambda human, judge: (judge - human) @ [1, -1, 0, 0])
            found.append(abs(apart.at) <= 1.98 * apart.se)
    assert np.mean(covered) >= 0.88
    assert np.mean(without) <= 0.85


def test_the_bias_over_all_systems_has_that_error_too():
    ground = ScoreGround(paired(5, 0.05), Margins())
    off = ground.off.jackknife(lambda sums: sums[..., 0] / sums[..., 1])
    levels = ground.means.jackknife(lambda human, judge: (judge - human).mean(axis=-1))
    assert off.at == pytest.approx(levels.at, abs=1e-9)
    assert off.se == pytest.approx(levels.se, rel=1e-6)
