"""Corrected pass rates: strata beside a slow posterior, clusters, differences and coverage."""

import numpy as np
import pytest

from voirdire.errors import StatisticsError
from voirdire.stats import (
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_means,
)


def drawn(chance, rate, right, labels, rows=1000):
    """Pass/fail truth, a judge that is `right` so often, and labels of the first rows."""
    truth = (chance.random(rows) < rate).astype(float)
    judge = np.where(chance.random(rows) < right, truth, 1 - truth)
    return np.where(np.arange(rows) < labels, truth, np.nan), judge


def rates(labels, judge, **options):
    return prediction_powered_mean(labels, judge, scale=(0, 1), method="strata", **options)


def slow_posterior(labels, judge, draws=400_000, seed=0):
    """Beta(1/3, 1/3) in each of two strata, and Dirichlet shares of the strata, drawn by chance."""
    chance = np.random.default_rng(seed)
    total = np.zeros(draws)
    shares = chance.dirichlet([np.sum(judge == said) for said in (0, 1)], draws)
    for said in (0, 1):
        own = labels[(judge == said) & ~np.isnan(labels)]
        total += shares[:, said] * chance.beta(own.sum() + 0.35, (1 - own).sum() + 0.35, draws)
    return total


@pytest.mark.parametrize(
    ("rate", "right", "n"), [(0.5, 0.8, 60), (0.9, 0.9, 50), (0.97, 0.95, 40), (0.97, 0.6, 20)]
)
def test_the_mean_and_bounds_are_those_of_a_posterior_drawn_by_chance(rate, right, n):
    labels, judge = drawn(np.random.default_rng(7), rate, right, n)
    corrected = rates(labels, judge)
    points = slow_posterior(labels, judge)
    assert corrected.value == pytest.approx(points.mean(), abs=5e-4)
    # Rates in the middle get up to a few hundredths more than their posterior.
    assert 0.99 <= corrected.standard_error / points.std() <= 1.035
    low, high = np.quantile(points, [0.025, 0.975])
    width = high - low
    assert corrected.interval.low == pytest.approx(low, abs=0.04 * width)
    assert corrected.interval.high == pytest.approx(high, abs=0.04 * width)
    assert corrected.interval.method == "prediction_powered_strata"


@pytest.mark.parametrize(("rate", "right", "n"), [(0.9, 0.9, 20), (0.97, 0.9, 50), (0.97, 0.6, 50)])
def test_few_failures_are_covered_where_a_t_interval_misses_them(rate, right, n):
    chance, hits = np.random.default_rng(n), np.zeros(2)
    for _ in range(150):
        labels, judge = drawn(chance, rate, right, n, 400)
        # Without a scale the interval is that of t alone, as published.
        made = rates(labels, judge), prediction_powered_mean(labels, judge, method="t")
        hits += [one.interval.low <= rate <= one.interval.high for one in made]
    strata, t = hits / 150
    # 150 runs: .95 less three standard errors.
    assert strata >= 0.897
    assert t < strata


def test_labels_that_all_agree_claim_no_certainty_and_stay_on_the_scale():
    corrected = rates([1.0] * 30 + [None] * 100, [1.0] * 130)
    assert corrected.interval.high <= 1
    assert corrected.interval.width > 0.03
    none = rates([0.0] * 30 + [None] * 100, [0.0] * 130)
    assert none.interval.low >= 0
    assert none.value == pytest.approx(1 - corrected.value)
    assert none.interval.low == pytest.approx(1 - corrected.interval.high, abs=1e-3)


def test_the_scale_and_names_of_levels_do_not_matter():
    labels, judge = drawn(np.random.default_rng(3), 0.8, 0.9, 60)
    plain = rates(labels, judge)
    other = prediction_powered_mean(1 + 4 * labels, 1 + 4 * judge, scale=(1, 5), method="strata")
    assert other.value == pytest.approx(1 + 4 * plain.value)
    assert other.interval.low == pytest.approx(1 + 4 * plain.interval.low)
    # What the judge's levels are called is nothing: its strata are the same.
    assert rates(labels, judge * 7 - 3).value == pytest.approx(plain.value)
    order = np.random.default_rng(4).permutation(len(labels))
    assert rates(labels[order], judge[order]).value == pytest.approx(plain.value)


def test_responses_without_a_score_are_a_stratum_of_their_own():
    labels, judge = drawn(np.random.default_rng(5), 0.9, 0.9, 200)
    silent = np.arange(len(labels)) % 4 == 0
    # All that the judge is silent on fails, among labels and elsewhere.
    labels = np.where(silent & ~np.isnan(labels), 0.0, labels)
    corrected = rates(labels, np.where(silent, np.nan, judge))
    spoken = np.nanmean(labels[~silent])
    assert corrected.n_unjudged == silent.sum()
    assert corrected.value == pytest.approx(0.75 * spoken, abs=0.03)


def test_clusters_widen_and_single_rows_as_clusters_change_nothing():
    chance = np.random.default_rng(6)
    group = np.repeat(np.arange(100), 10)
    truth = (chance.random(1000) < (0.5 + 0.45 * chance.choice([-1, 1], 100))[group]).astype(float)
    judge = np.where(chance.random(1000) < 0.8, truth, 1 - truth)
    labels = np.where(group < 12, truth, np.nan)
    alone, grouped = rates(labels, judge), rates(labels, judge, clusters=group)
    assert grouped.interval.width > 1.5 * alone.interval.width
    assert (grouped.n_clusters, grouped.df) == (12, 11)
    singles = rates(labels, judge, clusters=np.arange(1000))
    assert singles.interval == alone.interval


def test_groups_stand_by_themselves_and_one_labelled_row_has_no_interval():
    labels, judge = drawn(np.random.default_rng(8), 0.9, 0.9, 100)
    groups = np.where(np.arange(len(labels)) % 2, "a", "b")
    by_group = prediction_powered_means(labels, judge, groups, scale=(0, 1), method="strata")
    for name, corrected in by_group.items():
        own = rates(labels[groups == name], judge[groups == name])
        assert corrected.interval == own.interval
    single = rates([1.0, None, None], [1.0, 0.0, 1.0])
    assert (single.interval, single.reason) == (None, "too_few_items")
    assert rates([None, None], [1.0, 0.0]).reason == "no_data"


def test_a_difference_on_the_same_items_is_sharper_and_turns_with_its_sides():
    chance = np.random.default_rng(9)
    hard = chance.normal(size=500)
    a, b = ((hard + 0.5 * chance.normal(size=500) < limit).astype(float) for limit in (1.2, 1.6))
    seen = [np.where(chance.random(500) < 0.9, truth, 1 - truth) for truth in (a, b)]
    known = np.arange(500) < 80
    labels = [np.where(known, truth, np.nan) for truth in (a, b)]

    def difference(first, second):
        return prediction_powered_difference(
            labels[first],
            seen[first],
            labels[second],
            seen[second],
            scale=(0, 1),
            method="strata",
        )

    ours, turned = difference(0, 1), difference(1, 0)
    assert ours.value == pytest.approx(-turned.value)
    apart = [rates(labels[side], seen[side]) for side in (0, 1)]
    assert ours.value == pytest.approx(apart[0].value - apart[1].value)
    assert ours.standard_error < np.hypot(*(one.standard_error for one in apart))
    assert -1 <= ours.interval.low <= ours.value <= ours.interval.high <= 1


def test_known_probabilities_of_labelling_are_weighed():
    chance = np.random.default_rng(10)
    labels, judge = drawn(chance, 0.8, 0.9, 1000)
    chances = np.where(judge == 1, 0.1, 0.4)
    labels = np.where(chance.random(1000) < chances, labels, np.nan)
    # Within a stratum all were as likely, so that the rate is the plain one of each stratum.
    weighed = rates(labels, judge, probabilities=chances)
    assert weighed.value == pytest.approx(rates(labels, judge).value, abs=0.02)


def test_strata_ask_for_a_scale_and_methods_are_named():
    with pytest.raises(StatisticsError, match=r"strata need the ends of the scale"):
        prediction_powered_mean([1.0, 0.0], [1.0, 0.0], method="strata")
    with pytest.raises(StatisticsError, match=r"strat.*t, normal, strata|method"):
        prediction_powered_mean([1.0, 0.0], [1.0, 0.0], method="strat")
