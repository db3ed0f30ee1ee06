"""Krippendorff's alpha: published values, the twin, metrics, bootstrap, memory."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import agreement as twin
from scipy import stats as scipy_stats

from voirdire.errors import StatisticsError
from voirdire.stats import krippendorff_alpha

METRICS = ["nominal", "ordinal", "interval", "ratio"]
NAN = math.nan
# Krippendorff (2011), section C: four observers, twelve units, values 1-5.
DATA_2011 = [
    [1, 1, NAN, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [NAN, 5, 5, 5], [NAN, NAN, 1, 1], [NAN, 3, NAN, NAN],
]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "published"),
    # Krippendorff (2011), sections C to E, prints .743, .815, .849, .797.
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_published_values_of_2011(metric, published):
    found = krippendorff_alpha(DATA_2011, metric)
    assert round(found.value, 3) == published
    assert (found.n, found.k, found.left_out) == (11, 4, 1)


def test_complete_data_keep_the_small_sample_correction():
    # R's irr::kripp.alpha 0.84.1 gives -0.0957 here; krippendorff 0.9 and irrCAC agree with us.
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = krippendorff_alpha(table, "nominal").value
    assert found == pytest.approx(-0.06481481481481466, abs=1e-12)


def test_missing_is_no_category():
    # bug_cases C04; 0.444444 by krippendorff 0.9
    found = krippendorff_alpha(np.array([[3, 3, NAN, 3, 2], [3, 3, 3, NAN, 4]]).T, "nominal")
    assert found.value == pytest.approx(4 / 9, abs=1e-12)


def test_constant_ratings_are_undefined_even_where_a_mean_would_round():
    for metric in METRICS:
        found = krippendorff_alpha(np.full((6, 3), 0.1), metric)
        assert found.reason == "zero_expected_disagreement"
        assert math.isnan(found.value)


def test_values_whose_squares_would_overflow():
    small = np.array([[3.0, 1.0], [2.0, 3.0], [1.0, 1.0]])
    for metric in ["interval", "ratio"]:
        expected = krippendorff_alpha(small, metric).value
        assert krippendorff_alpha(small * 1e300, metric).value == pytest.approx(expected)


def test_continuous_ratings_take_linear_memory():
    # bug_cases C07: krippendorff 0.9 took 66 s and a 20.8 GB peak for these 600 x 2 values.
    rng = np.random.default_rng(0)
    x = rng.random(600)
    R = np.stack([x, x + rng.normal(0, 0.1, 600)], axis=1)
    krippendorff_alpha(R, "interval")
    tracemalloc.start()
    found = krippendorff_alpha(R, "interval")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.value == pytest.approx(0.947426, abs=1e-6)
    assert peak < 2_000_000


def test_continuous_ratings_with_gaps_equal_the_twin():
    rng = np.random.default_rng(1)
    R = rng.random((40, 3))
    R[rng.random(R.shape) < 0.2] = np.nan
    for metric in ["interval", "ordinal", "ratio"]:
        expected = twin.krippendorff(R, metric)
        assert krippendorff_alpha(R, metric).value == pytest.approx(expected, abs=1e-10)


def test_bootstrap_is_that_of_items():
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    R = np.clip(truth[:, None] + rng.integers(-1, 2, (60, 3)), 1, 5).astype(float)
    R[rng.random(R.shape) < 0.1] = np.nan
    for metric in METRICS:
        found = krippendorff_alpha(R, metric, ci="percentile", n_resamples=2000)
        loop = np.random.default_rng(6)
        drawn = [krippendorff_alpha(R[loop.integers(0, 60, 60)], metric).value for _ in range(400)]
        low, high = np.quantile(drawn, [0.025, 0.975])
        assert found.intervals[0].low == pytest.approx(low, abs=0.05)
        assert found.intervals[0].high == pytest.approx(high, abs=0.05)


def test_jackknife_leaves_out_one_item_after_the_other():
    rng = np.random.default_rng(7)
    truth = rng.integers(1, 6, 16)
    R = np.clip(truth[:, None] + rng.integers(-1, 2, (16, 3)), 1, 5).astype(float)
    R[rng.random(R.shape) < 0.1] = np.nan
    R = R[(~np.isnan(R)).sum(axis=1) > 1]
    for metric in METRICS:
        found = krippendorff_alpha(R, metric, ci=["jackknife", "percentile"])
        slow = twin.jackknife_error(R, lambda rows, m=metric: twin.krippendorff(rows, m))
        assert found.details["se"] == pytest.approx(slow, rel=1e-9)
        assert found.intervals[0].low == pytest.approx(found.intervals[1].low, abs=0.2)
    rare = krippendorff_alpha([[1, 1], [1, 1], [1, 2]], "nominal", ci="jackknife")
    assert math.isnan(rare.intervals[0].low)  # without the third item nothing varies


def test_resamples_recompute_the_ordinal_metric():
    """A resample that holds each item once is the estimate itself, whatever was counted before."""
    R = np.array([[1, 2], [2, 2], [5, 4], [3, 3], [1, 1]])
    twice = np.repeat(R, 2, axis=0)
    expected = twin.krippendorff(twice, "ordinal")
    assert krippendorff_alpha(twice, "ordinal").value == pytest.approx(expected, abs=1e-12)


def test_seed_decides_and_the_order_of_items_does_not():
    R = np.array(DATA_2011)
    first = krippendorff_alpha(R, ci="percentile", seed=3)
    assert first == krippendorff_alpha(R[::-1], ci="percentile", seed=3)
    assert first != krippendorff_alpha(R, ci="percentile", seed=4)


def test_ordinal_words_take_the_declared_order():
    words = np.array([["low", "mid"], ["mid", "mid"], ["high", "mid"], ["low", None]], object)
    found = krippendorff_alpha(words, "ordinal", levels=["low", "mid", "high"])
    numbers = krippendorff_alpha([[0, 1], [1, 1], [2, 1], [0, NAN]], "ordinal")
    assert found.value == numbers.value


def test_a_matrix_of_differences_stands_for_any_metric():
    levels = np.arange(1, 6)
    squared = (levels[:, None] - levels[None]) ** 2
    found = krippendorff_alpha(DATA_2011, squared, levels=levels)
    expected = krippendorff_alpha(DATA_2011, "interval")
    assert found.value == pytest.approx(expected.value, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"R": [1, 2, 3]}, r"\(items, raters\)"),
        ({"R": [[1, 2]], "metric": "cosine"}, "cosine"),
        ({"R": [["a", "b"]], "metric": "interval"}, "numeric levels"),
        ({"R": [[1, 9]], "levels": [1, 2]}, "item 0, rater 1: rating 9.0 is unknown"),
        ({"R": [[1, 2]], "metric": [[0, 1], [2, 0]]}, "symmetric"),
        ({"R": [[1, 2]], "metric": [[0]]}, r"\(2, 2\)"),
        ({"R": [[1, 2]], "n_resamples": 0}, "at least 1"),
        ({"R": [[1, math.inf]], "metric": "interval"}, "infinite"),
        ({"R": [[{}, 2]]}, "numbers or words"),
        ({"R": [[1, 2], [2]]}, "rectangular"),
    ],
)
def test_unfit_input_is_named(arguments, message):
    with pytest.raises(StatisticsError, match=message):
        krippendorff_alpha(**arguments)


cells = st.sampled_from([NAN, 0.0, 1.0, 2.0, 3.5, 7.0])
tables = st.integers(1, 4).flatmap(
    lambda m: st.lists(st.lists(cells, min_size=m, max_size=m), min_size=1, max_size=12)
)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from(METRICS))
def test_twin(table, metric):
    found = krippendorff_alpha(table, metric)
    expected = twin.krippendorff(table, metric)
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert (found.reason is None) == (not math.isnan(expected))


def _degrees(R):
    """Satterthwaite's degrees of freedom of leaving one item out, and the jackknife's error."""
    left = np.array(
        [
            krippendorff_alpha(np.delete(R, i, axis=0), "nominal", levels=[0, 1]).value
            for i in range(len(R))
        ]
    )
    squares = (left - left.mean()) ** 2
    n = len(R)
    spread = n * (squares**2).sum() / squares.sum() ** 2 - 1
    return 2 * n / spread, math.sqrt((n - 1) / n * squares.sum())


@pytest.mark.parametrize(
    ("agreeing", "disagreeing", "capped"), [(21, 20, True), (24, 17, True), (38, 3, False)]
)
def test_a_jackknife_has_no_more_degrees_of_freedom_than_items_less_one(
    agreeing, disagreeing, capped
):
    """Where all items bear alike, their squares vary little and the formula goes far beyond n."""
    half = agreeing // 2
    R = [[0, 0]] * half + [[1, 1]] * (agreeing - half)
    R = np.array(R + [[0, 1], [1, 0]] * (disagreeing // 2) + [[0, 1]] * (disagreeing % 2))
    plain, error = _degrees(R)
    assert (plain > len(R) - 1) == capped
    found = krippendorff_alpha(R, "nominal", levels=[0, 1], ci="jackknife")
    assert found.details["se"] == pytest.approx(error)
    df = min(plain, len(R) - 1)
    half_width = scipy_stats.t.ppf(0.975, df) * error
    interval = found.intervals[0]
    assert interval.high - found.value == pytest.approx(half_width)
    assert found.value - interval.low == pytest.approx(half_width)
