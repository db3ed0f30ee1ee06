"""Mean preference, win/tie/loss and position effect."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import preference as twin
from scipy.stats import ttest_1samp

from voirdire.errors import StatisticsError
from voirdire.stats import mean_preference, position_effect, win_tie_loss


def simulated(items, effect=0.5, merit=0.3, raters=1, seed=0):
    """Both orders of each comparison, with a planted effect in first-position coordinates."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), 2 * raters)
    pair = np.repeat(np.arange(items * raters), 2)
    first = np.tile([True, False], items * raters)
    own = merit + rng.normal(0, 0.5, items)[item] + rng.normal(0, 0.3, len(item))
    return np.clip(own + np.where(first, effect, -effect), -2, 2), first, item, pair


def test_mean_and_its_t_interval():
    scores = [2, 1, 0, -1, 1, 1, -2, 0]
    found = mean_preference(scores, ci="t")
    expected = ttest_1samp(scores, 0).confidence_interval()
    assert found.value == 0.25
    assert found.intervals[0].low == pytest.approx(expected.low, abs=1e-12)
    assert found.intervals[0].high == pytest.approx(expected.high, abs=1e-12)


def test_repeated_comparisons_of_an_item_are_no_new_evidence():
    rng = np.random.default_rng(1)
    once = rng.integers(-2, 3, 40)
    thrice, items = np.repeat(once, 3), np.repeat(np.arange(40), 3)
    single = mean_preference(once, ci=["t", "percentile"])
    clustered = mean_preference(thrice, items, ci=["t", "percentile"])
    assert clustered.value == pytest.approx(single.value)
    assert clustered.details["se"] == pytest.approx(single.details["se"])
    assert clustered.intervals[0].low == pytest.approx(single.intervals[0].low)
    assert clustered.intervals[1].low == pytest.approx(single.intervals[1].low)
    naive = mean_preference(thrice)
    assert naive.details["se"] < 0.6 * single.details["se"]


@pytest.mark.parametrize("scores", [[0, 0], [0.1] * 7, [1, -1, -1, 1]])
def test_a_spread_that_is_not_seen_is_unknown_and_not_zero(scores):
    items = [0, 0, 1, 1] if len(scores) == 4 else None
    found = mean_preference(scores, items, ci="t")
    assert found.value == pytest.approx(scores[0] if items is None else 0)
    assert math.isnan(found.details["se"])
    assert math.isnan(found.interval().low)


def test_win_tie_loss():
    found = win_tie_loss([2, 1, 0, None, -1, 1])
    assert (found.wins, found.ties, found.losses) == (3, 1, 1)
    assert (found.win.value, found.tie.value, found.loss.value) == (0.6, 0.2, 0.2)
    assert found.win.left_out == 1
    with pytest.raises(StatisticsError, match="use ci='percentile'"):
        win_tie_loss([1, 0, 1], ["x", "x", "y"])
    grouped = win_tie_loss([1, 0, 1], ["x", "x", "y"], ci="percentile")
    assert grouped.win.intervals[0].method == "percentile"
    assert win_tie_loss([]).win.reason == "no_data"


def test_both_orders_give_the_planted_effect_whatever_the_merits():
    scores, first, item, pair = simulated(300, raters=2)
    found = position_effect(scores, first, item, pairs=pair)
    assert found.details["design"] == "both orders"
    assert found.details["pairs"] == 600
    interval = found.intervals[0]
    assert interval.low < 0.5 < interval.high
    moved, *_ = simulated(300, raters=2, merit=-0.2)
    other = position_effect(moved, first, item, pairs=pair)
    assert other.value == pytest.approx(found.value, abs=0.02)
    expected, inconsistent = twin.position(list(zip(pair, first, scores, strict=True)))
    assert found.value == pytest.approx(expected)
    assert found.details["inconsistent"] == inconsistent


def test_two_orders_that_disagree_are_inconsistent_and_not_a_tie():
    # cases/README.md, conventions
    found = position_effect([1, -1, 0, 0, 2, 0], [1, 0] * 3, list("xxyyzz"), ci=None)
    assert found.details["inconsistent"] == 1
    assert found.details["consistent"] == 1
    assert found.details["tied_once"] == 1


def test_one_order_is_a_regression_and_names_what_it_cannot_say():
    rng = np.random.default_rng(3)
    scores, first, item, _ = simulated(2000)
    shown = rng.random(2000) < 0.5
    kept = np.stack([shown, ~shown], axis=1).ravel()
    scores, first, item = scores[kept], first[kept], item[kept]
    found = position_effect(scores, first, item)
    assert found.details["design"] == "one order"
    assert found.details["inconsistent"] is None
    slope = np.polyfit(np.where(first, 1, -1), scores, 1)[0]
    assert found.value == pytest.approx(slope)
    assert found.value == pytest.approx(0.5, abs=0.05)
    always = position_effect(scores, np.ones(len(scores), bool), item)
    assert always.reason == "not_estimable"
    assert math.isnan(always.intervals[0].low)


def test_missing_and_nothing():
    found = position_effect([1, None, 2, -2], [1, 0, 1, 0], list("xxyy"), ci=None)
    assert (found.details["pairs"], found.left_out, found.n) == (1, 2, 2)
    assert found.value == 2.0
    assert position_effect([], [], []).reason == "no_data"
    assert mean_preference([None, None], ci=["t", "percentile"]).reason == "no_data"
    one = mean_preference([1.0], ci="t")
    assert one.value == 1.0
    assert math.isnan(one.intervals[0].low)


def test_order_of_rows_is_nothing():
    scores, first, item, pair = simulated(50)
    order = np.random.default_rng(2).permutation(len(scores))
    found = position_effect(scores, first, item, pairs=pair)
    moved = position_effect(scores[order], first[order], item[order], pairs=pair[order])
    assert moved.value == pytest.approx(found.value, abs=1e-12)
    assert moved.intervals[0].low == pytest.approx(found.intervals[0].low, abs=1e-12)


@pytest.mark.slow
def test_coverage_of_the_position_effect():
    hits = 0
    for seed in range(300):
        scores, first, item, pair = simulated(40, effect=0.2, merit=0.1, seed=seed)
        found = position_effect(scores, first, item, pairs=pair, n_resamples=400, seed=seed)
        hits += found.intervals[0].low <= 0.2 <= found.intervals[0].high
    assert 0.91 <= hits / 300 <= 0.98


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_preference([1, 3]), "preference 3.0 of row 1 lies outside -2 .. 2"),
        (lambda: mean_preference([[1]]), "one-dimensional"),
        (lambda: mean_preference(["a"]), "numbers"),
        (lambda: mean_preference([1, 2], ["x"]), "one entry a row"),
        (lambda: position_effect([1], [2], ["x"]), "True or False"),
        (lambda: position_effect([1], [True, False], ["x"]), "a_first must hold"),
    ],
)
def test_unfit_input_is_named(call, message):
    with pytest.raises(StatisticsError, match=message):
        call()
