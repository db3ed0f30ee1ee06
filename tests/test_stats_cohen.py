"""Cohen's kappa: published values, weights, declared levels, missing, hostile inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import agreement as twin

from voirdire.errors import StatisticsError
from voirdire.stats import cohen_kappa

# Cohen (1960; 1968), n = 200: kappa .492; with disagreement weights 0/1/3/6 kappa_w .348.
TABLE_1960 = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])


def unfolded(table):
    rows, columns = np.divmod(np.repeat(np.arange(table.size), table.ravel()), table.shape[1])
    return rows, columns


def test_published_values_of_1960_and_1968():
    a, b = unfolded(TABLE_1960)
    assert round(cohen_kappa(a, b).value, 3) == 0.492
    weighted = cohen_kappa(a, b, weights=[[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert round(weighted.value, 3) == 0.348


def test_wald_interval_of_fleiss_cohen_and_everitt():
    # stats_reference.json, cohen_1960: statsmodels 0.15, DescTools 0.99.59 agree; psych 2.2.9
    # prints 0.3284 for the quadratic one, a different (wrong) interval.
    a, b = unfolded(TABLE_1960)
    low = cohen_kappa(a, b, weights="quadratic", ci="wald").intervals[0].low
    assert low == pytest.approx(0.32429863198684905, rel=1e-9)


def test_weights_follow_declared_levels_and_not_those_that_occur():
    # scikit-learn weighs by the labels that occur: 0.5714 for a scale whose level 2 nobody used.
    a, b = [1, 1, 3, 4, 4, 3], [1, 3, 3, 4, 3, 4]
    declared = cohen_kappa(a, b, weights="linear", levels=[1, 2, 3, 4])
    by_hand = twin.cohen(a, b, [1, 2, 3, 4], lambda i, j: abs(i - j))
    assert declared.value == pytest.approx(by_hand, abs=1e-12)
    assert declared.value != pytest.approx(cohen_kappa(a, b, weights="linear").value, abs=1e-3)


def test_numeric_levels_from_ten_on_keep_their_order():
    # R's irr::kappa2 0.84.1 sorts levels as text: 1, 10, 2, ...
    a, b = [1, 2, 10, 11, 9, 10], [2, 2, 9, 11, 10, 8]
    levels = list(range(1, 12))
    expected = twin.cohen(a, b, levels, lambda i, j: abs(i - j))
    found = cohen_kappa(a, b, weights="linear", levels=levels).value
    assert found == pytest.approx(expected, abs=1e-12)


def test_constant_ratings_are_undefined_with_raw_agreement_beside():
    # bug_cases C01
    same = cohen_kappa([4] * 6, [4] * 6)
    assert math.isnan(same.value)
    assert same.reason == "zero_expected_disagreement"
    assert same.details["agreement"] == 1.0
    other = cohen_kappa([4] * 6, [3] * 6, weights="quadratic")
    assert other.value == 0.0
    assert other.details["agreement"] == 0.0


def test_missing_ratings_leave_the_whole_formula():
    found = cohen_kappa([1, 2, None, 2, 1], [1, 2, 2, None, 2])
    assert (found.n, found.left_out) == (3, 2)
    assert found.value == cohen_kappa([1, 2, 1], [1, 2, 2]).value
    nothing = cohen_kappa([1, 2], [None, None])  # bug_cases C04
    assert nothing.reason == "no_pairable_item"
    assert cohen_kappa([], []).reason == "no_data"


def test_a_quarter_million_int8_labels_do_not_overflow():
    # bug_cases C08
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 5, (2, 250_000)).astype(np.int8)
    assert abs(cohen_kappa(a, b).value) < 0.01


def test_words_take_the_declared_order():
    a, b = ["low", "mid", "high", "mid"], ["low", "high", "high", None]
    found = cohen_kappa(a, b, weights="linear", levels=["low", "mid", "high"])
    numbers = cohen_kappa([0, 1, 2, 1], [0, 2, 2, np.nan], weights="linear", levels=[0, 1, 2])
    assert found.value == numbers.value
    assert found.left_out == 1


def test_percentile_interval_counts_undefined_resamples():
    found = cohen_kappa([1, 1, 1, 2], [1, 1, 1, 2], ci=["wald", "percentile"], n_resamples=500)
    interval = found.interval("percentile")
    assert interval.n_resamples == 500
    # A resample without the last item has one level: (3/4)^4 of them.
    assert interval.n_undefined == pytest.approx(500 * 0.75**4, abs=40)
    assert "unreliable_interval" in interval.flags


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "one length"),
        ({"a": [1, 7], "b": [1, 2], "levels": [1, 2]}, "item 1, rater 0: rating 7.0 is unknown"),
        ({"a": ["x"], "b": ["y"], "levels": ["x"]}, "item 0, rater 1: rating 'y' is unknown"),
        ({"a": [1, 2], "b": [1, 2], "weights": "cubic"}, "'cubic'"),
        ({"a": [1, 2], "b": [1, 2], "weights": [[1, 0], [0, 1]]}, "zero on the diagonal"),
        ({"a": [1, 2], "b": [1, 2], "weights": [[0, 1, 1]] * 3}, r"\(2, 2\)"),
        ({"a": [1, 2], "b": [1, 2], "ci": "f"}, "ci 'f' is unknown"),
        ({"a": [1, 2], "b": [1, 2], "level": 95}, "between 0 and 1"),
        ({"a": [1, 2], "b": [1, 2], "levels": [1, 1, 2]}, "must differ"),
        ({"a": [1, math.inf], "b": [1, 2]}, "infinite"),
    ],
)
def test_unfit_input_is_named(arguments, message):
    with pytest.raises(StatisticsError, match=message):
        cohen_kappa(**arguments)


scores = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)


@settings(max_examples=30, deadline=None)
@given(scores)
def test_quadratic_kappa_is_concordance_with_n_moments(pairs):
    a, b = np.array(pairs, float).T
    denominator = a.var() + b.var() + (a.mean() - b.mean()) ** 2
    found = cohen_kappa(a, b, weights="quadratic", levels=[1, 2, 3, 4, 5])
    if denominator == 0:
        assert found.reason == "zero_expected_disagreement"
    else:
        concordance = 2 * ((a - a.mean()) * (b - b.mean())).mean() / denominator
        assert found.value == pytest.approx(concordance, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(scores, st.sampled_from([None, "linear", "quadratic"]))
def test_twin(pairs, weights):
    a, b = np.array(pairs, float).T
    power = {"linear": 1, "quadratic": 2}.get(weights)
    expected = twin.cohen(
        a, b, [1, 2, 3, 4, 5], lambda i, j: abs(i - j) ** power if power else float(i != j)
    )
    found = cohen_kappa(a, b, weights=weights, levels=[1, 2, 3, 4, 5]).value
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
