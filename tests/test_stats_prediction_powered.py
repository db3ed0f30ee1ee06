"""Corrected means: against a slow twin, ppi_py, and simulated truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from voirdire import StatisticsError
from voirdire.stats import (
    combined_judge,
    prediction_powered_difference,
    prediction_powered_mean,
    prediction_powered_means,
    rogan_gladen,
)

#: Labels, the judge on the same items, the judge on items without a label.
Y = [4, 5, 1, 5, 3, 3, 4, 2, 5, 1, 2, 2, 3, 3, 1, 1, 1, 1, 1, 5, 1, 4, 4, 2, 2, 3, 2, 5, 1, 5]
F = [2, 5, 1, 4, 3, 2, 5, 2, 4, 1, 3, 1, 3, 2, 1, 1, 1, 1, 1, 4, 1, 3, 3, 2, 1, 4, 3, 3, 1, 4]
U = [
    3, 3, 2, 3, 5, 2, 4, 1, 2, 5, 5, 1, 5, 5, 3, 2, 5, 5, 4, 2, 2, 5, 2, 3, 4, 2, 2, 4, 1, 4,
    5, 4, 4, 3, 5, 2, 2, 4, 4, 1, 1, 4, 5, 4, 5, 2, 2, 4, 1, 1, 1, 2, 1, 4, 5, 2, 1, 4, 1, 4,
]  # fmt: skip


def columns(y, f, u):
    return np.r_[np.asarray(y, float), np.full(len(u), np.nan)], np.r_[f, u].astype(float)


def slow(y, f, u):
    """Weight, value and variance of independent items, by the formulas one at a time."""
    n, rest = len(y), len(u)
    every = [*f, *u]
    spread = np.var(every, ddof=1)

    def fit(rows):
        ys, fs = [y[i] for i in rows], [f[i] for i in rows]
        together = sum((a - np.mean(ys)) * (b - np.mean(fs)) for a, b in zip(ys, fs, strict=True))
        size = len(rows)
        weight = together / (size - 1) / ((1 + size / rest) * spread)
        weight = min(max(weight, 0.0), 1.0)
        return weight, np.mean(ys) + weight * (np.mean(u) - np.mean(fs))

    weight, value = fit(range(n))
    without = [fit([i for i in range(n) if i != left])[1] for left in range(n)]
    variance = (n - 1) / n * sum((v - np.mean(without)) ** 2 for v in without)
    return weight, value, variance + weight**2 * np.var(u, ddof=1) / rest


def test_equals_its_slow_twin():
    found = prediction_powered_mean(*columns(Y, F, U))
    weight, value, variance = slow(Y, F, U)
    assert found.weight == pytest.approx(weight, abs=1e-12)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-10)
    assert found.df == 28


@settings(max_examples=40, deadline=None)
@given(
    arrays(float, st.integers(4, 12), elements=st.integers(1, 5)),
    st.integers(0, 2**31),
)
def test_equals_its_slow_twin_on_any_labels(y, seed):
    chance = np.random.default_rng(seed)
    f = np.clip(y + chance.integers(-1, 2, len(y)), 1, 5)
    u = chance.integers(1, 6, 9).astype(float)
    if np.ptp(np.r_[f, u]) == 0:
        u[0] = 6 - u[0] if u[0] != 3 else 1
    found = prediction_powered_mean(*columns(y, f, u))
    weight, value, variance = slow(y, f, u)
    assert found.value == pytest.approx(value, abs=1e-9)
    if weight > 0:  # where the weight is clipped to 0 the labels stand alone
        assert found.standard_error**2 == pytest.approx(variance, rel=1e-8, abs=1e-12)


def test_equals_ppi_py_with_normal_quantiles():
    # ppi_py 0.2.3: ppi_mean_ci(Y, F, U, alpha=0.05, lam=0.55272208430585)
    found = prediction_powered_mean(*columns(Y, F, U), method="normal")
    assert found.weight == pytest.approx(0.55272208430585, abs=1e-12)
    assert found.interval.low == pytest.approx(2.701109826428375, abs=1e-10)
    assert found.interval.high == pytest.approx(3.5025196193127583, abs=1e-10)
    assert found.interval.method == "prediction_powered_normal"


def test_single_items_as_clusters_change_nothing():
    labels, judge = columns(Y, F, U)
    alone = prediction_powered_mean(labels, judge)
    names = [f"c{i}" for i in range(len(labels))]
    assert prediction_powered_mean(labels, judge, clusters=names) == alone


def test_equal_probabilities_change_the_value_little_and_unequal_ones_correct_it():
    chance = np.random.default_rng(1)
    truth = chance.normal(3, 1, 40_000)
    judge = truth + chance.normal(0, 1, 40_000)
    probability = np.where(truth > 3, 0.08, 0.02)  # good items were labelled more often
    labels = np.where(chance.random(40_000) < probability, truth, np.nan)
    plain = prediction_powered_mean(labels, judge)
    weighed = prediction_powered_mean(labels, judge, probabilities=probability)
    assert not plain.interval.low <= truth.mean() <= plain.interval.high
    assert weighed.interval.low <= truth.mean() <= weighed.interval.high


@pytest.mark.parametrize("clusters", [12, 40])
def test_intervals_cover_where_items_come_in_clusters(clusters):
    chance = np.random.default_rng(7)
    hit = alone = 0
    for _ in range(600):
        group = np.repeat(np.arange(clusters * 6), 5)
        shared = chance.normal(0, 1, clusters * 6)[group]
        truth = shared + chance.normal(0, 0.5, len(group))
        judge = truth + chance.normal(0, 0.7, len(group))
        labels = np.where(group < clusters, truth, np.nan)
        found = prediction_powered_mean(labels, judge, clusters=group)
        hit += found.interval.low <= 0 <= found.interval.high
        plain = prediction_powered_mean(labels, judge)
        alone += plain.interval.low <= 0 <= plain.interval.high
    assert 0.93 <= hit / 600 <= 0.98
    assert alone / 600 < 0.85  # what leaving the clusters out costs


def test_no_group_has_less_spread_than_all_have():
    labels = np.r_[
        np.full(8, 5.0), np.full(30, np.nan), [5, 4, 5, 3, 4, 5, 2, 5], np.full(30, np.nan)
    ]
    judge = np.r_[np.full(38, 5.0), np.tile([5.0, 4.0], 19)]
    found = prediction_powered_means(labels, judge, ["a"] * 38 + ["b"] * 38)
    assert found["a"].standard_error > 0.1
    assert found["a"].human.interval().width > 0
    assert list(found) == ["a", "b"]


def test_labels_that_all_agree_claim_no_certainty_where_the_scale_is_known():
    labels, judge = columns([5] * 20, [5] * 20, [5] * 50 + [4] * 50)
    assert prediction_powered_mean(labels, judge).interval.width == pytest.approx(0, abs=1e-9)
    known = prediction_powered_mean(labels, judge, scale=(1, 5))
    assert known.interval.width > 0.2


@pytest.mark.parametrize(
    "judge",
    [np.full(60, 3.0), np.full(60, np.nan), np.r_[np.full(30, np.nan), np.tile([1.0, 5.0], 15)]],
    ids=["constant", "silent", "silent where labelled"],
)
def test_a_judge_that_tells_nothing_leaves_the_labels(judge):
    labels = np.r_[np.tile([1.0, 2, 3, 4, 5], 6), np.full(30, np.nan)]
    found = prediction_powered_mean(labels, judge)
    assert found.weight == 0
    assert found.value == 3
    assert found.interval.low == pytest.approx(found.human.interval().low)
    assert found.df == 29


def test_a_perfect_judge_is_worth_all_its_judgements():
    labels = np.r_[np.tile([1.0, 2, 3, 4, 5], 10), np.full(950, np.nan)]
    judge = np.tile([1.0, 2, 3, 4, 5], 200)
    found = prediction_powered_mean(labels, judge)
    assert found.worth.value == pytest.approx(1000)
    assert found.value == pytest.approx(3)


def test_a_judge_missing_on_half_of_the_items_is_counted_and_still_right():
    chance = np.random.default_rng(3)
    hit = 0
    for _ in range(400):
        truth = chance.normal(0, 1, 400)
        judge = np.where(chance.random(400) < 0.5, truth + chance.normal(0, 0.5, 400), np.nan)
        judge = np.where(truth > 1.5, np.nan, judge)  # and not at random
        labels = np.where(np.arange(400) < 60, truth, np.nan)
        found = prediction_powered_mean(labels, judge)
        assert found.n_unjudged == np.isnan(judge).sum()
        hit += found.interval.low <= 0 <= found.interval.high
    assert 0.92 <= hit / 400 <= 0.98


def test_the_difference_of_two_systems_uses_their_items():
    chance = np.random.default_rng(2)
    item = chance.normal(0, 2, 300)
    a, b = item + 0.5 + chance.normal(0, 0.3, 300), item + chance.normal(0, 0.3, 300)
    known = np.arange(300) < 40
    shown = [np.where(known, a, np.nan), a + chance.normal(0, 0.3, 300),
             np.where(known, b, np.nan), b + chance.normal(0, 0.3, 300)]  # fmt: skip
    found = prediction_powered_difference(*shown)
    apart = [prediction_powered_mean(shown[k], shown[k + 1]) for k in (0, 2)]
    assert found.interval.low <= 0.5 <= found.interval.high
    assert found.interval.width < 0.3 * (apart[0].interval.width + apart[1].interval.width)


def test_several_judges_together_beat_each_and_no_label_shapes_its_own_score():
    chance = np.random.default_rng(4)
    truth = chance.normal(0, 1, 500)
    judges = [truth + chance.normal(0, 1, 500) for _ in range(4)]
    labels = np.where(np.arange(500) < 100, truth, np.nan)
    together = combined_judge(labels, judges)
    rest = np.arange(500) >= 100
    alone = max(np.corrcoef(judge[rest], truth[rest])[0, 1] for judge in judges)
    assert np.corrcoef(together[rest], truth[rest])[0, 1] > alone + 0.05
    changed = labels.copy()
    changed[0] += 100
    assert combined_judge(changed, judges)[0] == together[0]
    assert combined_judge(changed, judges)[1] != together[1]


def test_worth_is_that_of_the_formula():
    labels, judge = columns(Y, F, U)
    r = np.corrcoef(Y, F)[0, 1]
    found = prediction_powered_mean(labels, judge)
    assert found.correlation == pytest.approx(r)
    assert found.worth.value == pytest.approx(30 / (1 - r**2 * 60 / 90))
    assert found.worth.interval().low < found.worth.value < found.worth.interval().high


def test_rogan_gladen_by_hand():
    # (0.3 + 0.8 - 1) / (0.9 + 0.8 - 1)
    found = rogan_gladen(300, 1000, 90, 100, 80, 100)
    assert found.value == pytest.approx(1 / 7)
    assert found.interval().low < 1 / 7 < found.interval().high
    assert rogan_gladen(1, 2, 1, 2, 1, 2).reason == "not_estimable"
    assert rogan_gladen(0, 50, 45, 50, 40, 50).flags == ("outside_range",)


def test_rogan_gladen_covers():
    chance = np.random.default_rng(6)
    hit = 0
    for _ in range(1000):
        passed = chance.binomial(1000, 0.2 * 0.85 + 0.8 * 0.1)
        found = rogan_gladen(
            passed, 1000, chance.binomial(80, 0.85), 80, chance.binomial(80, 0.9), 80
        )
        hit += found.interval().low <= 0.2 <= found.interval().high
    assert 0.93 <= hit / 1000 <= 0.98


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2, 3]), "equally long"),
        (([1, math.inf], [1, 2]), "finite"),
        (([1, 7], [1, 2], {"scale": (1, 5)}), "off the scale 1 to 5"),
        (([1, 7], [1, 2], {"scale": (5, 1)}), "low < high"),
        (([1, None], [1, 2], {"probabilities": [0.0, 0.5]}), "in .0, 1."),
        (([1, None], [1, 2], {"probabilities": [0.5]}), "one a label"),
    ],
)
def test_what_cannot_be_taken_is_said(arguments, message):
    labels, judge, *options = arguments
    with pytest.raises(StatisticsError, match=message):
        prediction_powered_mean(labels, judge, **(options[0] if options else {}))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_labels_have_a_reason_and_no_interval(n):
    labels = np.r_[np.arange(1.0, n + 1), np.full(20, np.nan)]
    found = prediction_powered_mean(labels, np.tile([1.0, 2.0], 11)[: len(labels)])
    if n == 2:  # without a weight there is one degree of freedom left
        assert found.weight == 0
        assert found.interval.width > 1
    else:
        assert found.interval is None
        assert found.reason == ("no_data" if n == 0 else "too_few_items")


def test_skewed_labels_move_the_interval_and_keep_its_width():
    """Johnson (1978), eq. 2.7 with the squared deviation at its bounds, by hand for a weight of 0:
    skewness times the standard error times (1 + 2 z^2) / (6 sqrt n), on jackknife moments.
    """
    labels = np.array([1.0, 1, 1, 2, 2, 5, 1, 1, 1, 4, 2, 1])
    found = prediction_powered_mean(labels, np.full(12, 3.0))
    away, z = labels - labels.mean(), stats.norm.ppf(0.975)
    error = labels.std(ddof=1) / np.sqrt(12)
    # Without one label the mean lies 1/11 of its deviation to the other side.
    third = (away**3).sum() / 12**3
    middle = labels.mean() + third * (1 + 2 * z * z) / (6 * error**2)
    half = stats.t.ppf(0.975, 11) * error
    assert found.interval.low == pytest.approx(middle - half, abs=1e-12)
    assert found.interval.high == pytest.approx(middle + half, abs=1e-12)
    assert found.interval.width == pytest.approx(found.human.interval().width, abs=1e-12)
    turned = prediction_powered_mean(-labels, np.full(12, 3.0)).interval
    assert (-turned.high, -turned.low) == pytest.approx((found.interval.low, found.interval.high))


@pytest.mark.parametrize("labels", [[1.0] * 30 + [5.0], [5.0] * 9 + [1.0], [1, 1, 1, 5]])
def test_a_moved_interval_still_holds_the_corrected_mean(labels):
    for level in (0.5, 0.95, 0.9999):
        one = prediction_powered_mean(labels, labels, level=level, scale=(1, 5))
        assert one.interval.low <= one.value <= one.interval.high
