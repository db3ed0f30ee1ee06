"""Labels planned from a pilot, and verdicts that may go out without a human: against truth."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, t

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


def slow_parts(y, f, every):
    """What the judge leaves over and what it explains, by fits of numpy's own."""
    slope = min(max(np.polyfit(f, y, 1)[0], 0.0), 1.0)
    squares = (y - y.mean() - slope * (f - f.mean())) ** 2
    left = np.polyval(np.polyfit(f, squares, 1), every).mean() * len(y) / (len(y) - 3)
    return left, slope**2 * np.var(every, ddof=1)


def test_equals_the_formula_searched_one_by_one():
    truth, judge = world(1, 800)
    labels = np.where(np.arange(800) < 60, truth, np.nan)
    plan = labels_needed(labels, judge, [0.3])[0]
    residual, explained = slow_parts(truth[:60], judge[:60], judge)
    s, r = math.sqrt(residual + explained), math.sqrt(explained / (residual + explained))

    def half(n, r):
        # What the judge leaves over counts more, for its weight is fitted to the same labels.
        part = (1 - r * r) * (n / (n - 2)) ** 2 + r * r * min(n / 800, 1) if r else 1.0
        return t.ppf(0.975, n - (2 if r else 1)) * s * math.sqrt(part / n)

    assert plan.with_judge == next(n for n in range(4, 9999) if half(n, r) <= 0.3)
    assert plan.without_judge == next(n for n in range(4, 9999) if half(n, 0) <= 0.3)
    assert plan.spread == pytest.approx(s)
    assert plan.correlation == pytest.approx(r)
    assert plan.with_judge < plan.upper < plan.without_judge * 1.5


def test_the_upper_bound_is_that_of_a_jackknife():
    """Against fits without each label in turn, by numpy; residuals keep the slope of all labels."""
    truth, judge = world(4, 900)
    y, f = truth[:50], judge[:50]
    plan = labels_needed(np.where(np.arange(900) < 50, truth, np.nan), judge, 0.2)[0]
    away = y - y.mean() - min(max(np.polyfit(f, y, 1)[0], 0.0), 1.0) * (f - f.mean())
    logs = []
    for i in range(50):
        rest = np.arange(50) != i
        line = np.polyfit(f[rest], away[rest] ** 2, 1)
        slope = min(max(np.polyfit(f[rest], y[rest], 1)[0], 0.0), 1.0)
        residual = np.polyval(line, judge).mean() * 49 / 46
        logs.append(math.log(residual + slope**2 * np.var(judge, ddof=1) * 50 / 900))
    away2 = (np.array(logs) - np.mean(logs)) ** 2
    # Degrees of freedom of a mean square; the labels to come stray by the same error.
    df = min(max(100 / max(np.mean(away2**2) / np.mean(away2) ** 2 - 1, 1), 3), 48)
    error = math.sqrt(49 * np.var(logs) * (1 + 50 / plan.with_judge))
    s, r = plan.spread * math.exp(t.ppf(0.86, df) * error / 2), plan.correlation

    def half(n):
        part = (1 - r * r) * (n / (n - 2)) ** 2 + r * r * n / 900
        return t.ppf(0.975, n - 2) * s * math.sqrt(part / n)

    assert plan.upper == next(n for n in range(4, 9999) if half(n) <= 0.2)


@pytest.mark.parametrize("level", [3.0, np.nan])
def test_a_judge_that_tells_nothing_saves_no_label(level):
    truth, _ = world(5, 300)
    labels = np.where(np.arange(300) < 40, truth, np.nan)
    plan = labels_needed(labels, np.full(300, level), 0.3)[0]
    assert plan.with_judge == plan.without_judge
    assert plan.spread == pytest.approx(np.std(truth[:40]) * math.sqrt(40 / 37))


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


def test_a_plan_of_a_pass_rate_is_what_strata_will_give():
    """Of 40 pilots: the width comes to lie within its interval in nine of ten, and `upper` is
    enough in four of five, up to chance.
    """
    chance, inside, enough, runs = np.random.default_rng(5), 0, 0, 40
    for _ in range(runs):
        truth, judge = ((chance.random(2000) < 0.8).astype(float) for _ in range(2))
        judge = np.where(chance.random(2000) < 0.85, truth, 1 - truth)
        known = np.arange(2000)
        (plan,) = labels_needed(
            np.where(known < 60, truth, np.nan), judge, [0.06], scale=(0, 1), method="strata"
        )
        later = chance.permutation(2000)
        truth, judge = truth[later], judge[later]

        def half(n, truth=truth, judge=judge, known=known):
            corrected = prediction_powered_mean(
                np.where(known < n, truth, np.nan), judge, scale=(0, 1), method="strata"
            )
            return corrected.interval.width / 2

        low, high = plan.width
        inside += low <= half(plan.with_judge) <= high
        enough += half(plan.upper) <= 0.06
        assert plan.with_judge < plan.without_judge
        assert plan.with_judge <= plan.upper
    # Binomial, three standard errors below.
    assert inside >= 0.9 * runs - 3 * np.sqrt(0.09 * runs)
    assert enough >= 0.8 * runs - 3 * np.sqrt(0.16 * runs)


def test_a_plan_of_a_pass_rate_counts_clusters_and_asks_for_a_scale():
    chance = np.random.default_rng(6)
    group = np.repeat(np.arange(200), 10)
    rate = (0.5 + 0.4 * chance.choice([-1, 1], 200))[group]
    truth = (chance.random(2000) < rate).astype(float)
    judge = np.where(chance.random(2000) < 0.8, truth, 1 - truth)
    labels = np.where(group < 12, truth, np.nan)
    options = {"scale": (0, 1), "method": "strata"}
    (single,) = labels_needed(labels, judge, [0.05], **options)
    (grouped,) = labels_needed(labels, judge, [0.05], clusters=group, **options)
    assert grouped.unit == "clusters"
    assert grouped.labels(grouped.with_judge) > 1.3 * single.with_judge
    with pytest.raises(StatisticsError, match="strata need the ends of the scale"):
        labels_needed(labels, judge, [0.05], method="strata")


@pytest.mark.parametrize("method", ["t", "strata"])
def test_a_judge_of_fewer_responses_than_need_labels_costs_none(method):
    """All that it judged are labelled then: 1,048 labels were asked for where 525 do."""
    rng = np.random.default_rng(4)
    truth = (rng.random(300) < 0.35).astype(float)
    judge = np.where(rng.random(300) < 0.9, truth, 1 - truth)
    labels = np.where(np.arange(300) < 200, truth, np.nan)
    wide, narrow = labels_needed(labels, judge, [0.07, 0.03], scale=(0, 1), method=method)
    assert wide.with_judge < wide.without_judge < 300
    assert narrow.with_judge == narrow.without_judge > 300
    assert narrow.upper == narrow.upper_without


def test_a_pilot_in_which_hardly_a_label_differs_promises_nothing():
    """It said that 3 labels do where all 50 were a 5, and 221,391 at most where one was a 4."""
    judge = np.where(np.arange(500) % 7, 5.0, 4.0)
    for other in range(4):
        labels = np.where(np.arange(500) < 50, 5.0, np.nan)
        labels[:other] = 4
        plan = labels_needed(labels, judge, 0.1, scale=(1, 5))[0]
        if other < 3:
            assert plan.few == other
            assert plan.least_pilot == math.ceil(150 / max(other, 1))
            assert np.isnan([plan.with_judge, plan.upper, plan.without_judge, *plan.width]).all()
        else:
            assert plan.few is None
            assert plan.with_judge <= plan.upper < 300


def test_a_plan_of_labels_at_an_end_counts_the_pseudo_labels_that_widen_them():
    """As `prediction_powered_mean` does: 40 of 40 labels at an end have half a one at each."""
    labels = np.where(np.arange(900) < 60, np.where(np.arange(900) % 19, 5.0, 4.0), np.nan)
    judge = np.resize([1.0, 2.0], 900)  # tells nothing
    plan = labels_needed(labels, judge, 0.1, scale=(1, 5))[0]
    n = int(plan.with_judge)
    assert n > 2 * labels_needed(labels, judge, 0.1)[0].with_judge
    squares, chance = [], np.random.default_rng(1)
    for _ in range(80):
        drawn = np.full(900, np.nan)
        drawn[:n] = chance.choice(labels[:60], n)
        one = prediction_powered_mean(drawn, judge, scale=(1, 5))
        # Before the interval is cut off at the end of the scale.
        squares.append((t.ppf(0.975, one.df) * one.standard_error) ** 2)
    assert np.sqrt(np.mean(squares)) == pytest.approx(0.1, rel=0.06)


def test_the_least_pilot_foretells_within_a_fifth():
    """A pilot as large as that asks for about itself; where few labels are asked for, none does."""
    truth, judge = world(7, 4000)
    small, wide = labels_needed(np.where(np.arange(4000) < 20, truth, np.nan), judge, [0.06, 0.5])
    assert 20 < small.least_pilot < 200
    assert math.isinf(wide.least_pilot)
    enough = labels_needed(
        np.where(np.arange(4000) < small.least_pilot, truth, np.nan), judge, [0.06]
    )[0]
    low, high = enough.width
    # Its own pilot says how far labels stray, so that both agree up to its error.
    assert max(high / 0.06, 0.06 / low) <= 1.3
