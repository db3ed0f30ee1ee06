"""TAIL: a judge that is sharp but for the worst may not gate; one as good as a human may."""

from __future__ import annotations

import numpy as np
import pytest

from voirdire.examining.spec.scores.case import Case, GateRule
from voirdire.examining.spec.scores.ground import ScoreGround
from voirdire.examining.verdict.advise import next_step
from voirdire.examining.verdict.decide import AskedUse, decide, verdict_of
from voirdire.study import Margins


def panel(seed, items=1500):
    """Three humans, a fourth as the judge, a sharp judge, and the same but for the worst 4 %."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, items)
    seen = np.clip(np.rint(quality + rng.normal(0, 0.7, (4, items))), 1, 5)
    sharp = np.clip(np.rint(quality + rng.normal(0, 0.2, items)), 1, 5)
    blind = np.where(quality < np.quantile(quality, 0.04), 5.0, sharp)
    return seen[:3], {"peer": seen[3], "sharp": sharp, "passes the worst": blind}


def ground(humans, judge):
    items = np.arange(humans.shape[1])
    case = Case("j", "a", ("x", "y", "z"), judge[None], humans, items, 4.0, gate=GateRule(4.0))
    return ScoreGround(case, Margins())


def slow(humans, judge):
    """Response by response: the lowest tenth by the others, in the order of their mean."""
    n, less, count = humans.shape[1], 0.0, 0.0
    for k in range(3):
        mean = np.delete(humans, k, 0).mean(0)
        left = 0.1 * n
        for value in sorted(set(mean)):
            tied = [i for i in range(n) if mean[i] == value]
            share = min(left / len(tied), 1.0)
            left -= share * len(tied)
            less += share * sum((judge[i] >= 4) * 1 - (humans[k][i] >= 4) * 1 for i in tied)
            count += share * len(tied)
            if left <= 1e-12:
                break
    return less / count


def test_who_passes_the_worst_is_refused_and_who_is_as_good_as_a_human_is_not():
    states = {name: [] for name in ("peer", "sharp", "passes the worst")}
    for seed in range(10):
        humans, judges = panel(seed)
        for name, judge in judges.items():
            part = ground(humans, judge).one("TAIL")
            states[name].append(part.state)
            assert part.low <= part.estimate <= part.high
    assert states["passes the worst"] == ["no"] * 10
    assert states["sharp"].count("yes") == 10
    assert states["peer"].count("yes") >= 8


def test_the_estimate_is_that_of_the_slow_twin():
    humans, judges = panel(0, 300)
    for judge in judges.values():
        part = ground(humans, judge).one("TAIL")
        # The jackknife frees a ratio of its bias, of the order of one in so many.
        assert abs(part.estimate - slow(humans, judge)) < 0.003


def test_ties_are_broken_by_all_of_them_and_not_by_the_order_of_the_file():
    humans, judges = panel(3, 400)
    order = np.random.default_rng(0).permutation(400)
    for judge in judges.values():
        part = ground(humans, judge).one("TAIL")
        again = ground(humans[:, order], judge[order]).one("TAIL")
        assert again.estimate == pytest.approx(part.estimate, abs=1e-12)
        assert again.low == pytest.approx(part.low, abs=1e-12)


def test_few_in_the_tail_or_one_human_are_not_tested_and_the_gate_says_so():
    humans, judges = panel(1, 190)
    few = ground(humans, judges["sharp"])
    assert few.one("TAIL").reason == "few in tail"
    asked = AskedUse("gate", "these systems")
    verdict = verdict_of(few, asked, critical=False, blocked=False)
    assert verdict.state == "not tested"
    step = next_step(few, asked, verdict)
    assert (step.action, step.needed, step.now) == ("rate more", 200, 190)
    humans, judges = panel(1, 400)
    assert ground(humans[:1], judges["sharp"]).one("TAIL").reason == "one human"


def test_a_gate_is_refused_to_who_passes_the_worst_four_in_a_hundred():
    refused = []
    for seed in range(6):
        humans, judges = panel(50 + seed)
        each = {name: ground(humans, judge) for name, judge in judges.items()}
        asked = AskedUse("gate", "these systems")
        refused.append(decide(each["passes the worst"], asked).state)
        assert decide(each["sharp"], asked).state == "yes"
    assert refused == ["no"] * 6
