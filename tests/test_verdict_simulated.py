"""The planted truth: 300 fixed seeds of the demo's panel, from single scores to verdicts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from examinations import bias_interval, pair_result

from voirdire.examining._demo_panel import BUILT_FOR, DEMO
from voirdire.examining.ladder._known import Known
from voirdire.examining.ladder.verdict import judge_verdicts
from voirdire.examining.simulate import Design, simulate_ratings, simulate_scores, truths
from voirdire.stats import Estimate, Interval
from voirdire.study import build_study

SEEDS = 300
STUDY = build_study(
    {
        "name": "t",
        "rubric": {
            "attributes": ["Guidance", "Empathy", {"name": "Safety", "safety_critical": True}]
        },
    }
)


def system_means(design: Design, seed: int):
    """(judge, attribute) -> matrix of reference and judge, and the share of pairs rated."""
    scores = simulate_scores(design, seed)
    human = np.mean([scores[name][0] for name in design.humans], axis=0)
    for judge in design.judges:
        mean = scores[judge.name].mean(axis=0)
        for at, attribute in enumerate(design.names):
            rated = ~np.isnan(mean[at])
            pair = [np.where(rated, x, np.nan) for x in (human[at], mean[at])]
            yield (judge.name, attribute), np.nanmean(pair, axis=2).T, rated


@pytest.fixture(scope="module")
def simulated():
    """One list of results a seed."""
    return [
        [
            pair_result(Y, *pair, n_pairs=int(rated.sum()), n_expected=rated.size)
            for pair, Y, rated in system_means(DEMO, seed)
        ]
        for seed in range(SEEDS)
    ]


@pytest.fixture(scope="module")
def verdicts(simulated):
    """(judge, attribute) -> counts of verdicts, humans and runs being as good as they can be."""
    passes = Estimate("winning_rate", 1.0, n=1000, k=3)
    steady = Estimate("ICC(A,1)", 0.95, (Interval("f", 0.95, 0.93, 0.97),))
    known = Known(
        humans=DEMO.humans,
        shared_items=dict.fromkeys(DEMO.names, 1000),
        alt_tests=dict.fromkeys(BUILT_FOR, passes),
        runs={judge.name: judge.runs for judge in DEMO.judges},
        stability=dict.fromkeys(BUILT_FOR, steady),
    )
    counts = {pair: Counter() for pair in BUILT_FOR}
    for results in simulated:
        for found in judge_verdicts(results, STUDY, (), known):
            counts[found.judge, found.attribute][found.verdict] += 1
    return counts


def test_the_f_interval_covers_the_true_icc(simulated):
    true = {(t.judge, t.attribute): t.icc_c1 for t in truths(DEMO)}
    covered = Counter()
    for results in simulated:
        for result in results:
            pair = (result.judge, result.attribute)
            interval = result.interval("C,1", "f")
            covered[pair] += interval.low <= true[pair] <= interval.high
    for pair, count in covered.items():
        assert 0.92 <= count / SEEDS <= 0.98, pair
    assert 0.94 <= sum(covered.values()) / (SEEDS * len(true)) <= 0.96


def test_the_t_interval_covers_the_true_bias(simulated):
    true = {(t.judge, t.attribute): t.bias for t in truths(DEMO)}
    covered = sum(
        result.bias_interval.low
        <= true[result.judge, result.attribute]
        <= result.bias_interval.high
        for results in simulated
        for result in results
    )
    assert 0.87 <= covered / (SEEDS * len(true)) <= 0.93  # nominal: 0.90


@pytest.mark.parametrize("pair", [p for p, built in BUILT_FOR.items() if built != "undecided"])
def test_a_case_built_clear_is_judged_right(verdicts, pair):
    assert verdicts[pair][BUILT_FOR[pair]] / SEEDS >= 0.97


def test_a_case_built_unclear_stays_undecided(verdicts):
    # True ICC 0.78 beside the threshold 0.75, 30 systems.
    assert verdicts["Generous", "Empathy"]["undecided"] / SEEDS >= 0.90


def test_an_unreliable_judge_never_replaces_a_rater(verdicts):
    """Not once in 900, even with an alt-test and runs that pass for certain."""
    unreliable = [verdicts["Erratic", attribute] for attribute in DEMO.names]
    assert sum(counts["may replace one rater"] for counts in unreliable) == 0
    assert sum(counts["assists"] for counts in unreliable) == 0


def test_a_safety_critical_attribute_is_never_handed_over(verdicts):
    for judge in ("Steady", "Generous", "Erratic"):
        assert verdicts[judge, "Safety"]["may replace one rater"] == 0


def test_simulated_ratings_are_tidy():
    ratings = simulate_ratings(DEMO, 0)
    assert ratings.height == 30 * 40 * 3 * (3 + 3 * 3)
    assert set(ratings["score"].drop_nulls().unique()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    missing = ratings.filter(ratings["score"].is_null())
    assert set(missing["status"]) == {"blank"}
    assert set(missing["rater"]) == {"Generous", "Erratic"}
    assert ratings.equals(simulate_ratings(DEMO, 0))
    assert not ratings.equals(simulate_ratings(DEMO, 1))


def test_bias_of_a_mean_stays_what_it_was_under_rounding():
    gaps = [
        bias_interval(Y)
        for seed in range(40)
        for pair, Y, _ in system_means(DEMO, seed)
        if pair == ("Generous", "Guidance")
    ]
    assert np.mean([(gap.low + gap.high) / 2 for gap in gaps]) == pytest.approx(0.6, abs=0.02)
