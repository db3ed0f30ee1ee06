"""Judge against reference: differences, concordance, correlation, limits, equivalence, exclusion."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats

from voirdire import stats
from voirdire.errors import StatisticsError

scores = arrays(np.int64, st.tuples(st.integers(6, 25), st.just(2)), elements=st.integers(1, 5))

# Bland and Altman (1986), table 1: peak expiratory flow, large and mini meter, first readings.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def test_bland_altman_published():
    # The paper: mean difference -2.1, sd 38.8, limits -79.7 and 75.5 (it uses 2 sd); its
    # intervals: bias -22.0 to 17.8, lower limit -114.3 to -45.1, upper 40.9 to 110.1 (se √(3/n) s).
    found = stats.bland_altman(LARGE, MINI)
    assert found.bias.value == pytest.approx(-2.1, abs=0.05)
    assert found.sd == pytest.approx(38.8, abs=0.05)
    assert found.low.value == pytest.approx(-2.1176 - 1.95996 * 38.7651, abs=1e-2)
    interval = found.bias.intervals[0]
    assert (interval.low, interval.high) == pytest.approx((-22.0, 17.8), abs=0.1)
    # Our standard error has z² / 2 where the paper rounds to 2, and n - 1 where it has n.
    low = found.low.intervals[0]
    assert low.width / 2 == pytest.approx((114.3 - 45.1) / 2, rel=0.02)
    assert json.dumps(found.to_dict())


def test_reasons_instead_of_invented_values():
    constant = [0.1] * 6
    assert stats.ccc(constant, constant).reason == "zero_variance"
    assert stats.ccc([1], [2]).reason == "too_few_items"
    for correlation in (stats.pearson, stats.spearman, stats.kendall):
        assert correlation(constant, range(6)).reason == "zero_variance"
        assert correlation([], []).reason == "too_few_items"
        assert math.isnan(correlation([1, 2], [1, 2]).intervals[0].low)
        assert correlation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]).value == 1.0
    for difference in (stats.bias, stats.mae, stats.mse, stats.rmse):
        assert difference([np.nan], [1]).reason == "no_data"
    alone = stats.bias([3], [1])
    assert alone.value == 2
    assert math.isnan(alone.intervals[0].low)
    assert stats.bland_altman([1], [2]).low.reason == "too_few_items"
    assert stats.bland_altman([], []).low.reason == "no_data"
    assert stats.equivalence([1], [2], 1).conclusion == "undefined"
    assert stats.equivalence([2, 2, 2], [2, 2, 2], 0.1).conclusion == "equivalent"
    assert stats.paired_t([1, 2], [2, 3]).reason == "zero_variance"
    assert stats.paired_t([0.3, 0.3], [0.1 + 0.2, 0.3]).reason == "zero_variance"
    assert stats.wilcoxon([1, 2], [1, 2]).reason == "zero_variance"
    assert "do not vary" in str(stats.wilcoxon([1, 2], [1, 2]))


def test_a_difference_is_one_of_two_raters():
    for difference in (stats.bias, stats.mae, stats.mse, stats.rmse):
        assert difference([4, 5, 3], [3, 5, 4]).k == 2
    assert stats.normalised_bias([4, 5, 3], [3, 5, 4], (1, 5)).k == 2


def test_unusable_arrays_are_named():
    with pytest.raises(StatisticsError, match="must be paired, got 2 and 3 values"):
        stats.bias([1, 2], [1, 2, 3])
    with pytest.raises(StatisticsError, match=r"judge is infinite at \(0,\)"):
        stats.ccc([math.inf], [1])
    with pytest.raises(StatisticsError, match=r"low < high, got \(5, 1\)"):
        stats.bias([1], [1], scale=(5, 1))
    with pytest.raises(StatisticsError, match="margin must be a positive number, got 0"):
        stats.equivalence([1, 2], [1, 2], 0)
    with pytest.raises(StatisticsError, match="one entry a row"):
        stats.bias([1, 2], [1, 2], clusters=[1])
    with pytest.raises(StatisticsError, match="outcomes of 0 or 1"):
        stats.mcnemar([2], [1])


@settings(max_examples=30, deadline=None)
@given(scores)
def test_against_scipy(Y):
    x, y = Y.T.astype(float)
    if not np.ptp(x) or not np.ptp(y):
        return
    assert stats.pearson(x, y).value == pytest.approx(
        scipy_stats.pearsonr(x, y).statistic, abs=1e-12
    )
    assert stats.spearman(x, y).value == pytest.approx(
        scipy_stats.spearmanr(x, y).statistic, abs=1e-12
    )
    interval = stats.pearson(x, y).intervals[0]
    if abs(stats.pearson(x, y).value) < 1:
        right = scipy_stats.pearsonr(x, y).confidence_interval(0.95)
        assert (interval.low, interval.high) == pytest.approx(tuple(right), abs=1e-12)
    differences = x - y
    if np.ptp(differences):
        right = scipy_stats.ttest_rel(x, y)
        found = stats.paired_t(x, y)
        assert (found.statistic, found.p) == pytest.approx(
            (right.statistic, right.pvalue), rel=1e-9
        )
        ends = right.confidence_interval(0.95)
        assert (found.interval.low, found.interval.high) == pytest.approx(tuple(ends), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(scores)
def test_quadratic_kappa_on_equal_levels_is_concordance(Y):
    # Cohen's weights 1 - (d / (q - 1))² on levels 1..5 and Lin's 1/n moments: one number.
    found = stats.ccc(*Y.T)
    kappa = stats.cohen_kappa(*Y.T, weights="quadratic", levels=[1, 2, 3, 4, 5])
    assert found.value == pytest.approx(kappa.value, abs=1e-12, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(scores)
def test_error_measures_belong_together(Y):
    x, y = Y.T
    bias, spread = stats.bias(x, y).value, (x - y).var()
    assert stats.mse(x, y).value == pytest.approx(bias**2 + spread, abs=1e-12)
    assert stats.rmse(x, y).value ** 2 == pytest.approx(stats.mse(x, y).value)
    assert abs(bias) <= stats.mae(x, y).value <= stats.rmse(x, y).value + 1e-12
    assert stats.bias(y, x).value == -bias
    assert stats.normalised_bias(x, y, (1, 5)).value == pytest.approx(abs(bias) / 4)


def test_missing_pairs_are_left_out_and_counted():
    found = stats.bias([1, None, 3, 4], [2, 2, np.nan, 3])
    assert (found.value, found.n, found.left_out) == (0.0, 2, 2)


def test_clusters_of_one_are_independent_pairs():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 30))
    alone = stats.bias(x, y, clusters=np.arange(30)).intervals[0]
    plain = stats.bias(x, y).intervals[0]
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high))
    assert alone.method == "cluster_t"
    # Every pair three times: the clusters know that nothing was learnt, the pairs do not.
    thrice = stats.bias(np.repeat(x, 3), np.repeat(y, 3), clusters=np.repeat(np.arange(30), 3))
    assert thrice.intervals[0].width == pytest.approx(plain.width)
    assert stats.bias(np.repeat(x, 3), np.repeat(y, 3)).intervals[0].width < plain.width


@settings(max_examples=30, deadline=None)
@given(scores, st.floats(0.05, 3))
def test_equivalence_is_the_ninety_percent_interval(Y, margin):
    x, y = Y.T
    found = stats.equivalence(x, y, margin)
    if found.bias.details["standard_error"] > 0:
        low = scipy_stats.ttest_1samp(x - y, -margin, alternative="greater").pvalue
        high = scipy_stats.ttest_1samp(x - y, margin, alternative="less").pvalue
        assert found.p == pytest.approx(max(low, high), rel=1e-6, abs=1e-12)
        if abs(found.p - 0.05) > 1e-9:
            assert (found.conclusion == "equivalent") == (found.p < 0.05)
    assert found.bias.intervals[0].level == pytest.approx(0.9)


def test_equivalence_at_its_edges():
    """Without spread the bias is known exactly, and on the margin it is not inside."""
    for x, y in (([2, 2, 2], [1, 1, 1]), ([1, 1, 1], [2, 2, 2])):
        on = stats.equivalence(x, y, 1.0)
        assert (on.conclusion, on.p) == ("different", 1.0)
        inside = stats.equivalence(x, y, 1.5)
        assert (inside.conclusion, inside.p) == ("equivalent", 0.0)
    assert math.isnan(stats.equivalence([1], [2], 1).p)
    low = stats.equivalence([1, 2, 3, 1, 2, 3], [4, 5, 5, 4, 4, 6], 0.5, alpha=0.1)
    assert low.conclusion == "different"
    assert low.bias.intervals[0].level == pytest.approx(0.8)
    for alpha in (0, 0.5):
        with pytest.raises(StatisticsError, match="alpha must lie strictly between 0 and"):
            stats.equivalence([1, 2], [1, 2], 1, alpha=alpha)
    with pytest.raises(StatisticsError, match="margin must be a positive number, got inf"):
        stats.equivalence([1, 2], [1, 2], math.inf)
    with pytest.raises(StatisticsError, match=r"low < high, got \(3, 3\)"):
        stats.bias([1], [1], scale=(3, 3))


def test_self_exclusion_says_before_and_after():
    Y = np.array([[5, 3], [2, 2], [4, 4], [1, 1.5]])
    systems = ["own", "a", "b", "c"]
    found = stats.self_exclusion(stats.icc, Y, systems=systems, excludes=["own"], form="A,1")
    assert found.before == stats.icc(Y, "A,1")
    assert found.after == stats.icc(Y[1:], "A,1")
    assert found.change == found.after.value - found.before.value
    assert (found.excluded, found.rows_excluded) == (("own",), 1)
    nothing = stats.self_exclusion(stats.bias, *Y.T, systems=systems, excludes=["other"])
    assert (nothing.change, nothing.excluded) == (0.0, ())
    with pytest.raises(StatisticsError, match="systems must name each row: 2 names"):
        stats.self_exclusion(stats.bias, *Y.T, systems=["a", "b"], excludes=[])


def test_corrections_of_p_values():
    # Published examples' arithmetic, done by hand: Holm steps down, BH up, BY times 1 + 1/2 + 1/3.
    p = [0.01, 0.04, 0.03]
    assert stats.adjust_p(p, "holm") == pytest.approx([0.03, 0.06, 0.06])
    assert stats.adjust_p(p, "bh") == pytest.approx([0.03, 0.04, 0.04])
    assert stats.adjust_p(p, "by") == pytest.approx(np.array([0.03, 0.04, 0.04]) * 11 / 6)
    assert stats.adjust_p(p, "none") == pytest.approx(p)
    assert stats.adjust_p([0.01, np.nan, 0.03, 0.04]) == pytest.approx(
        [0.03, np.nan, 0.06, 0.06], nan_ok=True
    )
    assert stats.adjust_p([]).shape == (0,)
    assert stats.adjust_p([np.nan], "bh").shape == (1,)
    with pytest.raises(StatisticsError, match="correction 'bonferroni' is unknown"):
        stats.adjust_p(p, "bonferroni")
    with pytest.raises(StatisticsError, match=r"lie in \[0, 1\]"):
        stats.adjust_p([1.5])


@settings(max_examples=40, deadline=None)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)))
def test_corrections_order_and_bound(p):
    holm, bh, by = (stats.adjust_p(p, method) for method in ("holm", "bh", "by"))
    assert (p <= bh + 1e-15).all()
    assert (bh <= by + 1e-15).all()
    assert (bh <= holm + 1e-15).all()
    assert (holm <= 1).all()
    assert (np.diff(holm[np.argsort(p)]) >= 0).all()


def test_compare_systems_is_one_family():
    rng = np.random.default_rng(2)
    values = rng.normal([0, 0.1, 0.8, 0], size=(40, 4))
    values[3, 1] = np.nan
    values[:, 3] = values[:, 0]
    found = stats.compare_systems(values, ["a", "b", "c", "d"])
    by_name = {(one.first, one.second): one for one in found}
    assert len(found) == 6
    assert by_name["a", "d"].reason == "zero_variance"
    assert by_name["a", "c"].family == 5
    assert by_name["a", "b"].left_out == 1
    defined = [one for one in found if one.reason is None]
    assert [one.p_adjusted for one in defined] == pytest.approx(
        list(stats.adjust_p([one.p for one in defined]))
    )
    assert json.dumps([one.to_dict() for one in found])
    with pytest.raises(StatisticsError, match="3 system names for 4 columns"):
        stats.compare_systems(values, ["a", "b", "c"])
    with pytest.raises(StatisticsError, match="test 'z' is unknown"):
        stats.compare_systems(values, ["a", "b", "c", "d"], test="z")


def test_mcnemar_against_the_binomial():
    first, second = np.repeat([1, 0, 1, 0], [3, 9, 5, 6]), np.repeat([0, 1, 1, 0], [3, 9, 5, 6])
    assert stats.mcnemar(first, second).p == pytest.approx(scipy_stats.binomtest(3, 12).pvalue)
    assert stats.mcnemar([1, 0], [1, 0]).p == 1.0
    assert stats.mcnemar([], []).reason == "no_data"
