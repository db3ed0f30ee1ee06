"""Labels planned from a pilot, and verdicts that may go out without a human: against truth."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from voirdire import StatisticsError
from voirdire.stats import automated_share, labels_needed, prediction_powered_mean


def world(seed, n, noise=0.8):
    chance = np.random.default_rng(seed)
    truth = np.clip(np.rint(chance.normal(3, 1.1, n)), 1, 5)
    return truth, np.clip(np.rint(truth + chance.normal(0, noise, n)), 1, 5)


def test_the_planned_half_width_comes_out():
    within = holds = 0
    for seed in range(150):
        truth, judge = world(seed, 3000)
        pilot = np.where(np.arange(3000) < 50, truth, np.nan)
        plan = labels_needed(pilot, judge, 0.1)[0]
        half = [
            prediction_powered_mean(np.where(np.arange(3000) < n, truth, np.nan), judge).interval
            for n in (plan.with_judge, plan.upper)
        ]
        within += abs(half[0].width / 2 / 0.1 - 1) <= 0.2
        holds += half[1].width / 2 <= 0.1
    assert within / 150 >= 0.93
    assert 0.70 <= holds / 150 <= 0.95


def test_equals_the_formula_searched_one_by_one():
    truth, judge = world(1, 800)
    labels = np.where(np.arange(800) < 60, truth, np.nan)
    plan = labels_needed(labels, judge, [0.3])[0]
    s, r = np.std(truth[:60], ddof=1), np.corrcoef(truth[:60], judge[:60])[0, 1]

    def half(n, r):
        from scipy.stats import t

        share = max(800 - n, 0) / 800
        return t.ppf(0.975, n - (2 if r else 1)) * s * math.sqrt((1 - r * r * share) / n)

    assert plan.with_judge == next(n for n in range(4, 9999) if half(n, r) <= 0.3)
    assert plan.without_judge == next(n for n in range(4, 9999) if half(n, 0) <= 0.3)
    assert plan.spread == pytest.approx(s)
    assert plan.correlation == pytest.approx(r)
    assert plan.with_judge < plan.upper < plan.without_judge * 1.5


def test_narrower_intervals_and_power_cost_more():
    truth, judge = world(2, 1000)
    labels = np.where(np.arange(1000) < 80, truth, np.nan)
    plans = labels_needed(labels, judge, [0.4, 0.2, 0.1])
    assert [p.with_judge for p in plans] == sorted(p.with_judge for p in plans)
    assert labels_needed(labels, judge, 0.2, power=0.8)[0].with_judge > plans[1].with_judge


def test_clusters_are_what_is_counted():
    truth, judge = world(3, 600)
    group = np.arange(600) // 6
    labels = np.where(group < 20, truth, np.nan)
    plan = labels_needed(labels, judge, 0.3, clusters=group)[0]
    assert plan.unit == "clusters"
    assert plan.n_pilot == 20


@pytest.mark.parametrize(
    ("labels", "width", "message"),
    [([1, 2, 3, None], 0.1, "four labelled"), ([1, 2, 3, 4], 0, "above 0")],
)
def test_a_plan_that_cannot_be_made_says_why(labels, width, message):
    with pytest.raises(StatisticsError, match=message):
        labels_needed(labels, [1, 2, 3, 4], width)


def test_the_target_is_missed_no_more_often_than_the_risk_allows():
    chance = np.random.default_rng(5)
    confidence = chance.random(50_000)
    chances = 0.55 + 0.4 * confidence  # agreement rises with confidence; 0.85 holds above 0.5
    missed = given_out = 0
    for _ in range(500):
        rows = chance.integers(0, 50_000, 300)
        agrees = chance.random(300) < chances[rows]
        found = automated_share(agrees, confidence[rows], confidence, target=0.85, risk=0.1)
        if found.share:
            given_out += 1
            missed += chances[confidence >= found.threshold].mean() < 0.85
    assert missed / 500 <= 0.12
    assert given_out / 500 > 0.3


def test_bounds_are_those_of_clopper_and_pearson():
    confidence = np.linspace(0, 1, 300)
    agrees = np.arange(300) % 10 > 0
    found = automated_share(agrees, confidence, confidence, target=0.8)
    agreed = int(agrees[confidence >= found.threshold].sum())
    assert found.share == 1
    assert found.low == pytest.approx(beta.ppf(0.1, agreed, found.n_automated - agreed + 1))
    assert binom.sf(agreed - 1, found.n_automated, found.low) == pytest.approx(0.1, abs=1e-6)


def test_no_share_is_an_answer_and_too_few_labels_a_reason():
    confidence = np.linspace(0, 1, 300)
    none = automated_share(np.arange(300) % 2, confidence, confidence, target=0.9)
    assert (none.share, none.reason, none.n_automated) == (0, None, 0)
    few = automated_share([1] * 10, confidence[:10], confidence, target=0.9)
    assert (few.share, few.reason) == (0, "too_few_items")
    assert automated_share([], [], confidence, target=0.9).reason == "too_few_items"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [0.5], [0.5]), "equally long"),
        (([1, 2], [0.5, 0.5], [0.5]), "0 and 1 only"),
        (([1, 0], [0.5, None], [0.5]), "needs a confidence"),
        (([1, 0], [0.5, 0.4], []), "needs a confidence"),
    ],
)
def test_what_cannot_be_tested_is_said(arguments, message):
    with pytest.raises(StatisticsError, match=message):
        automated_share(*arguments, target=0.9)
    with pytest.raises(StatisticsError, match="target must lie"):
        automated_share([1], [0.5], [0.5], target=1)
