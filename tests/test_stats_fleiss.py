"""Fleiss' kappa, Scott's pi, AC1/AC2, Brennan-Prediger and joint agreement."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import agreement as twin
from scipy.stats import binomtest, kurtosis
from scipy.stats import t as student

from voirdire.errors import StatisticsError
from voirdire.stats import (
    brennan_prediger,
    fleiss_kappa,
    gwet_ac,
    joint_agreement,
    krippendorff_alpha,
    scott_pi,
)

NAN = math.nan
FAMILY = {"fleiss": fleiss_kappa, "ac": gwet_ac, "bp": brennan_prediger}
# Gwet (2014), irrCAC::cac.raw4raters; documented AC1 = .77544, Fleiss = .76117.
GWET = [
    [1, 1, NAN, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [NAN, 5, 5, 5], [NAN, NAN, 1, 1], [NAN, NAN, 3, NAN],
]  # fmt: skip


def test_documented_values_of_irrcac():
    assert round(gwet_ac(GWET).value, 5) == 0.77544
    assert round(fleiss_kappa(GWET).value, 5) == 0.76117


def test_raw_ratings_are_never_taken_for_counts():
    # bug_cases C02: fed to statsmodels' fleiss_kappa as they are, these give -0.142857.
    found = fleiss_kappa([[2, 2, 2], [2, 2, 2], [1, 1, 4], [2, 2, 2]])
    assert found.value == pytest.approx(0.586207, abs=1e-6)


def test_unequal_numbers_of_ratings_take_a_named_generalisation():
    # bug_cases C02, counts [[3, 0], [2, 0], [0, 3]]: all pairs agree.
    R = [[0, 0, 0], [0, 0, NAN], [1, 1, 1]]
    assert fleiss_kappa(R, unequal="gwet").value == 1.0
    assert fleiss_kappa(R, unequal="pooled").value == 1.0
    assert fleiss_kappa(GWET, unequal="pooled").value == pytest.approx(
        twin.fleiss_pooled(GWET, [1, 2, 3, 4, 5]), abs=1e-12
    )


def test_a_declared_and_unused_level_moves_what_counts_levels():
    # degenerate_expected.json, about: with two or more declared, one occurring category gives 1.
    same = np.ones((6, 3))
    assert gwet_ac(same).reason == "one_category_declared"
    assert gwet_ac(same, levels=[1, 2]).value == 1.0
    assert brennan_prediger(same, levels=[1, 2]).value == 1.0
    assert fleiss_kappa(same, levels=[1, 2]).reason == "zero_expected_disagreement"
    three = brennan_prediger(GWET, levels=[1, 2, 3, 4, 5, 6]).value
    assert three == pytest.approx(twin.gwet_family(GWET, [1, 2, 3, 4, 5, 6], "bp"), abs=1e-12)


def test_prevalence_stands_beside():
    R = [[1, 1]] * 19 + [[1, 0]]
    found = fleiss_kappa(R)
    assert found.value == pytest.approx(-1 / 39)  # exact: 1 - 0.05 / (2 * 0.025 * 0.975)
    assert found.details["prevalence"] == pytest.approx([0.025, 0.975])
    assert found.details["agreement"] == 0.95
    assert gwet_ac(R).value == pytest.approx(0.9474375821287779, abs=1e-12)


@pytest.mark.parametrize("coefficient", FAMILY)
def test_standard_error_is_near_the_jackknife(coefficient):
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 5, 80)
    R = np.where(rng.random((80, 3)) < 0.7, truth[:, None], rng.integers(1, 5, (80, 3))).astype(
        float
    )
    statistic = FAMILY[coefficient]
    for weights in [None, "linear"]:
        options = {"weights": weights, "levels": [1, 2, 3, 4]}
        found = statistic(R, **options, ci=["t", "percentile"])
        expected = twin.jackknife_error(R, lambda rows, o=options: statistic(rows, **o).value)
        assert found.details["se"] == pytest.approx(expected, rel=0.05)
        t, percentile = found.intervals
        assert percentile.low == pytest.approx(t.low, abs=0.03)
        assert percentile.high == pytest.approx(t.high, abs=0.03)


@pytest.mark.parametrize("coefficient", FAMILY)
def test_jackknife_interval_has_the_degrees_of_freedom_of_the_items_that_bear_it(coefficient):
    rng = np.random.default_rng(5)
    R = (rng.random((40, 3)) < np.where(np.arange(40) < 4, 0.7, 0.02)[:, None]).astype(float)
    statistic = FAMILY[coefficient]
    found = statistic(R, levels=[0, 1], ci=["t", "jackknife"]).intervals
    slow = twin.jackknife_interval(R, lambda rows: statistic(rows, levels=[0, 1]).value)
    assert (found[1].low, found[1].high) == pytest.approx(slow, rel=1e-9)
    assert found[1].high - found[1].low > found[0].high - found[0].low


@pytest.mark.parametrize("coefficient", FAMILY)
def test_degrees_of_freedom_never_exceed_those_of_the_items(coefficient):
    """Where every item bears alike, the kurtosis would give more than n - 1."""
    rng = np.random.default_rng(2)
    R = (rng.random((12, 3)) < 0.5).astype(float)
    statistic = partial(FAMILY[coefficient], R, levels=[0, 1])
    left = [FAMILY[coefficient](np.delete(R, i, axis=0), levels=[0, 1]).value for i in range(12)]
    assert 24 / (kurtosis(left, fisher=False) - 1) > 11
    found = statistic(ci="jackknife").intervals[0]
    error = twin.jackknife_error(R, lambda rows: FAMILY[coefficient](rows, levels=[0, 1]).value)
    expected = student.interval(0.95, 11, statistic().value, error)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("coefficient", FAMILY)
@pytest.mark.parametrize(("named", "items"), [(3, 6), (50, 100), (3, 200)])
def test_agreement_without_any_disagreement_has_an_exact_lower_bound(coefficient, named, items):
    """Six items that all agree do not say that a seventh would."""
    alike = [[1, 1]] * named + [[0, 0]] * (items - named)
    found = FAMILY[coefficient](alike, levels=[0, 1], ci="jackknife")
    assert found.value == 1
    # Clopper and Pearson: none of n items differs; a share of u would in 2.5 % of such samples.
    share = binomtest(0, items).proportion_ci(0.95).high
    expected = 1 - share / (1 - found.details["expected_agreement"])
    bound = found.intervals[0]
    assert (bound.method, bound.high) == ("clopper_pearson", 1)
    assert bound.low == pytest.approx(expected, rel=1e-9)


def test_an_agreement_that_rests_on_one_item_has_no_spread_to_see():
    assert math.isnan(fleiss_kappa([[1, 0], [0, 0], [0, 0]], ci="jackknife").intervals[0].low)
    assert fleiss_kappa([[1, 1]], ci="jackknife").intervals[0].high is not None
    assert fleiss_kappa([], ci="jackknife").reason == "no_data"


def test_an_interval_that_a_handful_of_items_bears_is_flagged():
    few = [[1, 1], [1, 0], [1, 1], *[[0, 0]] * 60]
    assert fleiss_kappa(few, ci="jackknife").intervals[0].flags == ("few_informative_items",)
    many = [[1, 1], [1, 0], [0, 0], [0, 1]] * 20
    assert fleiss_kappa(many, ci="jackknife").intervals[0].flags == ()


def test_pooled_standard_error_is_near_the_jackknife_with_missing_ratings():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 120)
    R = np.where(rng.random((120, 4)) < 0.6, truth[:, None], rng.integers(0, 3, (120, 4))).astype(
        float
    )
    R[rng.random(R.shape) < 0.2] = NAN
    found = fleiss_kappa(R, unequal="pooled")
    expected = twin.jackknife_error(R, lambda rows: fleiss_kappa(rows, unequal="pooled").value)
    assert found.details["se"] == pytest.approx(expected, rel=0.05)


def test_scott_is_fleiss_of_two_on_complete_pairs():
    a, b = [1, 2, 2, 3, NAN], [1, 2, 3, 3, 1]
    found = scott_pi(a, b)
    assert found.value == fleiss_kappa(np.array([a, b]).T[:4]).value
    assert (found.n, found.left_out) == (4, 1)
    assert scott_pi([1, NAN], [NAN, 2]).reason == "no_pairable_item"
    assert scott_pi([], []).reason == "no_data"


def test_joint_agreement():
    found = joint_agreement(GWET, ci=["t", "percentile"])
    assert found.n == 11
    assert found.details["unanimous"] == pytest.approx(8 / 11)
    # items 2, 6 and 8: 3/6, 0 and 3/6 of the pairs agree
    assert found.value == pytest.approx((8 + 0.5 + 0 + 0.5) / 11)
    with pytest.raises(StatisticsError, match="two raters, got 4"):
        joint_agreement(GWET, ci="wilson")
    # statsmodels 0.15 proportion_confint(1, 3, method="wilson")
    wilson = joint_agreement([[1, 1], [1, 2], [2, 1]], ci="wilson").intervals[0]
    assert (wilson.low, wilson.high) == pytest.approx((0.06149194472039624, 0.7923403991979523))
    assert joint_agreement([[1, NAN]]).reason == "no_pairable_item"
    assert joint_agreement([]).reason == "no_data"


def test_unfit_input_is_named():
    with pytest.raises(StatisticsError, match="'median'"):
        fleiss_kappa(GWET, unequal="median")
    with pytest.raises(StatisticsError, match="'wald'"):
        gwet_ac(GWET, ci="wald")
    with pytest.raises(StatisticsError, match="allowed: 1, 2"):
        brennan_prediger(GWET, levels=[1, 2])


cells = st.sampled_from([NAN, 1.0, 2.0, 3.0, 4.0])
tables = st.integers(1, 4).flatmap(
    lambda m: st.lists(st.lists(cells, min_size=m, max_size=m), min_size=1, max_size=12)
)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from(list(FAMILY)), st.sampled_from([None, "linear", "quadratic"]))
def test_twin(table, coefficient, weights):
    found = FAMILY[coefficient](table, weights=weights, levels=[1, 2, 3, 4])
    expected = twin.gwet_family(table, [1, 2, 3, 4], coefficient, weights)
    assert found.value == pytest.approx(expected, abs=1e-11, nan_ok=True)
    assert (found.reason is None) == (not math.isnan(expected))


@settings(max_examples=30, deadline=None)
@given(tables)
def test_nominal_alpha_is_fleiss_plus_its_small_sample_term(table):
    """Alpha = k_F + (1 - k_F) / N, with N ratings on items of two or more (pooled)."""
    found = fleiss_kappa(table, unequal="pooled", levels=[1, 2, 3, 4])
    alpha = krippendorff_alpha(table, "nominal", levels=[1, 2, 3, 4])
    if found.reason is None:
        n = sum(len(row) for row in map(twin.present, table) if len(row) > 1)
        assert alpha.value == pytest.approx(found.value + (1 - found.value) / n, abs=1e-12)
    else:
        assert found.reason == alpha.reason


def test_a_table_of_counts_is_flagged():
    """The textbook's ten items by five categories of fourteen raters, kappa .210 by the raters."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert "counts" in fleiss_kappa(counts).flags
    ratings = [[c for c, n in enumerate(row) for _ in range(n)] for row in counts]
    found = fleiss_kappa(ratings)
    assert found.value == pytest.approx(0.2099, abs=5e-5)
    assert "counts" not in found.flags
