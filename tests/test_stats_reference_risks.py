"""Tail errors, bounds under missing scores, and self-preference."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference.intraclass import draws
from scipy import stats as scipy_stats

from voirdire import stats
from voirdire.errors import StatisticsError


def test_tail_misses_count_the_bad_responses_only():
    judge = [4, 2, 1, 5, 2, None]
    reference = [1, 2, 2, 5, 4, 1]
    found = stats.tail_misses(judge, reference, 2)
    assert (found.value, found.n, found.left_out) == (1 / 3, 3, 1)
    assert found.details["false_alarm_rate"] == 0.5
    right = scipy_stats.binomtest(1, 3).proportion_ci(method="wilson")
    assert (found.interval().low, found.interval().high) == pytest.approx(tuple(right))
    never = stats.tail_misses([5, 5], [5, 4], 2)
    assert never.reason == "no_data"
    assert math.isnan(never.interval().low)
    perfect = stats.tail_misses([1, 1], [1, 1], 2)
    assert (perfect.value, perfect.interval().low) == (0.0, 0.0)
    assert stats.tail_misses([5, 5], [1, 1], 2).interval().high == 1.0


@settings(max_examples=30, deadline=None)
@given(
    arrays(np.int64, (8, 2), elements=st.integers(1, 5)),
    arrays(np.bool_, (8, 2)),
)
def test_bounds_hold_whatever_was_missing(Y, gaps):
    seen = np.where(gaps, np.nan, Y)
    found = stats.bias_bounds(*seen.T, (1, 5))
    assert found.low - 1e-12 <= (Y[:, 0] - Y[:, 1]).mean() <= found.high + 1e-12
    assert found.n_missing == gaps.any(axis=1).sum()
    assert found.width == pytest.approx(4 * gaps.sum() / 8)
    if not gaps.any():
        assert found.low == found.high == found.observed


def test_bounds_need_a_scale():
    with pytest.raises(StatisticsError, match=r"the score 6 lies off the scale 1\.\.5"):
        stats.bias_bounds([6], [1], (1, 5))
    with pytest.raises(StatisticsError, match="low < high"):
        stats.bias_bounds([1], [1], (5, 5))
    assert math.isnan(stats.bias_bounds([], [], (1, 5)).low)
    assert json.dumps(stats.bias_bounds([None], [None], (1, 5)).to_dict())


def favoured(extra, seed=0):
    rng = np.random.default_rng(seed)
    items = np.repeat(np.arange(60), 4)
    own = np.tile([1, 0, 0, 0], 60)
    reference = rng.normal(3, 1, size=240)
    judge = reference + 0.4 + extra * own + rng.normal(0, 0.5, size=240)
    return judge, reference, own, items


def test_self_preference_is_what_leniency_does_not_explain():
    none, some = (stats.self_preference(*favoured(extra)) for extra in (0.0, 0.6))
    assert none.interval().low < 0 < none.interval().high
    assert some.interval().low > 0.3
    assert some.value - none.value == pytest.approx(0.6)
    assert some.details["own"] - some.details["others"] == pytest.approx(some.value)
    assert some.flags == ()


def test_self_preference_by_copies_of_the_items():
    judge, reference, own, items = favoured(0.3, seed=5)
    found = stats.self_preference(judge, reference, own, items, n_resamples=40, seed=3)
    values = []
    for column in draws(3, 60, 40).T:
        weights = column[items]
        residuals = judge - reference
        values.append(
            np.average(residuals[own == 1], weights=weights[own == 1])
            - np.average(residuals[own == 0], weights=weights[own == 0])
        )
    assert [found.interval().low, found.interval().high] == pytest.approx(
        list(np.quantile(values, [0.025, 0.975])), abs=1e-12
    )


def test_self_preference_needs_both_kinds():
    assert stats.self_preference([1, 2], [1, 2], [1, 1], [1, 2]).reason == "not_applicable"
    assert stats.self_preference([1, 2], [1, 2], [0, 0], [1, 2]).reason == "not_applicable"
    assert stats.self_preference([], [], [], []).reason == "no_data"
    with pytest.raises(StatisticsError, match="own must hold one entry a row"):
        stats.self_preference([1, 2], [1, 2], [1], [1, 2])
