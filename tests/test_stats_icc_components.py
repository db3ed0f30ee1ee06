"""Variance components: REML on incomplete ratings, item x rater x run, and what they decide."""

from __future__ import annotations

import json
import math
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import reml as slow
from scipy import optimize
from scipy import stats as scipy_stats

from voirdire import stats
from voirdire.errors import StatisticsError
from voirdire.stats.reml import Sums, deviance

SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]
FORMS = ("1", "1,k", "C,1", "C,k", "A,1", "A,k")


def made(seed, n=9, k=3, gaps=0.2):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, 1)) + rng.normal(0, 0.7, size=(1, k)) + rng.normal(size=(n, k))
    return np.where(rng.random((n, k)) < gaps, np.nan, Y)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 20), st.integers(2, 5))
def test_reml_equals_anova_where_no_component_is_negative(seed, n, k):
    Y = made(seed, n, k, gaps=0)
    squares = stats.icc(Y, "A,1").details
    if squares["ms_rows"] > squares["ms_error"] and squares["ms_raters"] > squares["ms_error"]:
        for form in ("C,k", "A,1"):
            found = stats.icc(Y, form, missing="reml", ci=None)
            assert found.value == pytest.approx(stats.icc(Y, form).value, abs=1e-9)
            assert found.flags == ()
    if squares["ms_rows"] > squares["ms_within"]:
        found = stats.icc_reml(Y, "1", ci=None)
        assert found.value == pytest.approx(stats.icc(Y, "1").value, abs=1e-9)


def test_a_negative_component_lies_at_the_edge():
    Y = [[1, 5], [5, 1], [2, 4], [4, 2], [3, 3.5]]
    found = stats.icc_reml(Y, "C,1")
    assert stats.icc(Y, "C,1").value < 0
    assert (found.value, found.flags) == (0.0, ("boundary",))
    assert found.interval().low == 0.0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 5), st.floats(0, 5))
def test_likelihood_equals_the_dense_one(seed, subject, rater):
    Y = made(seed)
    Y = Y[~np.isnan(Y).all(axis=1)]
    ours = deviance(Sums.of(Y), subject, rater)
    assert ours == pytest.approx(slow.deviance(Y, subject, rater), abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_incomplete_ratings_reach_the_dense_maximum(seed):
    Y = made(seed)
    Y = Y[~np.isnan(Y).all(axis=1)]
    best = min(
        optimize.minimize(
            lambda logs: slow.deviance(Y, *np.exp(logs)),
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
        ).fun
        for start in ([0, 0], [-3, 0], [0, -3])
    )
    d = stats.icc_reml(Y, "A,1").details
    at = deviance(Sums.of(Y), d["var_subjects"] / d["var_error"], d["var_raters"] / d["var_error"])
    assert at <= best + 1e-8


def test_profile_interval_is_the_set_that_the_test_keeps():
    Y = made(3, n=12)
    for form in ("1", "C,1", "A,1"):
        found = stats.icc_reml(Y, form)
        low, value, high = found.interval().low, found.value, found.interval().high
        assert low <= value <= high
        wider = stats.icc_reml(Y, form, level=0.99).interval()
        assert wider.low <= low
        assert wider.high >= high
    one = stats.icc_reml(Y, "C,1").interval()
    mean = stats.icc_reml(Y, "C,k").interval()
    assert mean.low == pytest.approx(3 * one.low / (1 + 2 * one.low))


def test_reml_uses_what_listwise_leaves_out():
    Y = made(11, n=40, gaps=0.3)
    found = stats.icc(Y, "C,1", missing="reml")
    assert found.n > stats.icc(Y, "C,1").n
    assert found.details["n_ratings"] == int((~np.isnan(Y)).sum())
    assert found.interval("profile") is not None


def test_what_reml_cannot_say():
    nan = math.nan
    assert stats.icc_reml([[1], [2]]).reason == "too_few_raters"
    assert stats.icc_reml([[1, 2]]).reason == "too_few_items"
    assert stats.icc_reml([[1, nan], [nan, 2]]).reason == "no_pairable_item"
    assert stats.icc_reml([[0.1, 0.1], [0.1, nan], [0.1, 0.1]]).reason == "zero_variance"
    assert stats.icc_reml([[1, 3], [2, nan]]).reason == "not_estimable"
    assert stats.icc_reml([[1, 1], [2, nan], [3, 3]]).value == 1.0
    shifted = [[1, 2], [2, 3], [3, 4], [4, 5]]
    for form in ("C,1", "A,1"):  # no error at all: the ANOVA's values
        assert stats.icc_reml(shifted, form).value == pytest.approx(stats.icc(shifted, form).value)
    assert stats.icc_reml([[1, 2], [2, 3], [nan, 4], [4, 5]], "C,1").value == 1.0
    with pytest.raises(StatisticsError, match="ci must be 'profile' or None"):
        stats.icc_reml(shifted, ci="f")


# Components.


def test_components_recover_what_was_put_in():
    rng = np.random.default_rng(0)
    p, r, o = 400, 60, 4

    def draw(sd, *shape):
        return rng.normal(0, sd, shape)

    Y = (
        draw(1, p, 1, 1)
        + draw(0.8, 1, r, 1)
        + draw(0.5, 1, r, o)
        + draw(0.6, p, r, 1)
        + draw(0.7, p, r, o)
    )
    found = stats.variance_components(Y)
    expected = {"item": 1, "rater": 0.64, "run": 0.25, "item_rater": 0.36, "error": 0.49}
    for name, variance in expected.items():
        assert getattr(found, name) == pytest.approx(variance, rel=0.3)
    assert found.error == pytest.approx(0.49, rel=0.02)


def test_crossed_components_recover_what_was_put_in():
    rng = np.random.default_rng(8)
    p, r, o = 150, 50, 40
    sds = {
        "item": 1,
        "rater": 0.8,
        "run": 0.6,
        "item_rater": 0.7,
        "item_run": 0.5,
        "rater_run": 0.4,
        "error": 0.9,
    }
    shapes = ((p, 1, 1), (1, r, 1), (1, 1, o), (p, r, 1), (p, 1, o), (1, r, o), (p, r, o))
    Y = sum(rng.normal(0, sd, shape) for sd, shape in zip(sds.values(), shapes, strict=True))
    found = stats.variance_components(Y, "crossed")
    for (name, sd), shape in zip(sds.items(), shapes, strict=True):
        tolerance = 5 * math.sqrt(2 / math.prod(n - 1 for n in shape if n > 1))
        assert getattr(found, name) == pytest.approx(sd**2, rel=tolerance), name


def solved_mean_squares(Y):
    """The slow way: a projection for each effect, and its expected mean square solved."""
    effects = {
        "item": (1, 0, 0), "rater": (0, 1, 0), "run": (0, 0, 1), "item_rater": (1, 1, 0),
        "item_run": (1, 0, 1), "rater_run": (0, 1, 1), "error": (1, 1, 1),
    }  # fmt: skip
    squares, expected = [], np.zeros((7, 7))
    for row, own in enumerate(effects.values()):
        means = [np.full((n, n), 1 / n) for n in Y.shape]
        parts = [
            np.eye(len(mean)) - mean if kept else mean
            for mean, kept in zip(means, own, strict=True)
        ]
        onto = reduce(np.kron, parts)
        squares.append(Y.ravel() @ onto @ Y.ravel() / np.trace(onto))
        for column, other in enumerate(effects.values()):
            if all(b >= a for a, b in zip(own, other, strict=True)):
                expected[row, column] = np.prod(
                    [n for n, b in zip(Y.shape, other, strict=True) if not b]
                )
    return dict(zip(effects, np.linalg.solve(expected, squares), strict=True))


def test_crossed_components_are_the_solution_of_the_expected_mean_squares():
    """Brennan (2001), table 3.1: all effects random, a number of levels of its own for each."""
    Y = np.random.default_rng(12).normal(size=(6, 3, 4))
    found = stats.variance_components(Y, "crossed")
    for name, value in solved_mean_squares(Y).items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-12), name


def test_nested_runs_take_up_what_crossed_ones_tell_apart():
    Y = np.random.default_rng(4).normal(size=(5, 3, 4)) + np.arange(5)[:, None, None]
    crossed, nested = (stats.variance_components(Y, d) for d in ("crossed", "nested"))
    assert nested.item == pytest.approx(crossed.item + crossed.item_run / 4, abs=1e-9)
    assert math.isnan(nested.item_run)
    assert crossed.negative == tuple(
        name
        for name in ("item", "rater", "run", "item_rater", "item_run", "rater_run", "error")
        if getattr(crossed, name) < 0
    )


def test_one_run_per_rater_gives_the_icc_of_means():
    # With the run within rater averaged, Φ at the observed design is ICC(A,k) of the means.
    Y = np.random.default_rng(5).normal(size=(30, 3, 4)) + np.random.default_rng(6).normal(
        size=(30, 1, 1)
    )
    found = stats.variance_components(Y)
    means = Y.mean(axis=2)
    assert found.reliability(3, 4, agreement=False) == pytest.approx(
        stats.icc(means, "C,k").value, abs=1e-12
    )
    assert found.reliability(3, 4) == pytest.approx(stats.icc(means, "A,k").value, abs=1e-12)


def test_decisions_follow_spearman_and_brown():
    nan = math.nan
    found = stats.VarianceComponents("nested", 1.0, 0.0, 0.0, 0.0, nan, nan, 1.0, 50, 2, 2, 0)
    # k = t (1 - r) / (r (1 - t)) with r = 0.5: 3 runs for 0.75, 9 for 0.9.
    assert [stats.runs_needed(found, t).runs for t in (0.4, 0.75, 0.9)] == [1, 3, 9]
    assert stats.raters_needed(found, 0.9, runs=3).raters == 3
    stuck = stats.VarianceComponents("nested", 1.0, 0.5, 0.0, 0.5, nan, nan, 0.1, 50, 2, 2, 0)
    assert stats.runs_needed(stuck, 0.8).runs is None
    assert math.isnan(stats.runs_needed(stuck, 0.8).reliability)
    assert (
        stats.raters_needed(stuck, 0.8, agreement=False).raters
        < stats.raters_needed(stuck, 0.8).raters
    )
    assert json.dumps([stats.runs_needed(stuck, 0.8).to_dict(), stuck.to_dict()])
    with pytest.raises(StatisticsError, match="target must lie strictly between 0 and 1"):
        stats.runs_needed(found, 1)
    with pytest.raises(StatisticsError, match="at least 1, got 0 and 1"):
        found.reliability(0)


@pytest.mark.parametrize(
    ("single", "target", "runs"),
    # Spearman and Brown by hand: k = t (1 - r) / (r (1 - t)), rounded up.
    [
        (0.5, 0.8, 4),
        (0.5, 0.75, 3),
        (0.79, 0.8, 2),
        (0.8, 0.8, 1),
        (1.0, 0.9, 1),
        (0.01, 0.99, 9801),
        (0.0, 0.8, None),
        (-0.2, 0.8, None),
        (math.nan, 0.8, None),
    ],
)
def test_runs_needed_of_the_reliability_of_one_run(single, target, runs):
    found = stats.runs_needed(single, target)
    assert found.runs == runs
    if runs is not None:
        assert found.reliability >= target - 1e-12
        same = stats.VarianceComponents(
            "nested", single, 0.0, 0.0, 0.0, math.nan, math.nan, 1 - single, 50, 2, 2, 0
        )
        assert stats.runs_needed(same, target).runs == runs


def test_one_reliability_is_that_of_one_rater():
    with pytest.raises(StatisticsError, match="one rater in one run, got one of 2"):
        stats.runs_needed(0.5, 0.8, raters=2)


@pytest.mark.parametrize("icc", [0.9, 0.8, 0.76, 0.74, 0.6, 0.2])
@pytest.mark.parametrize("k", [2, 5])
def test_subjects_needed_is_the_first_number_that_settles_it(icc, k):
    """Beside a plain count upwards from 2, with the F interval of McGraw and Wong (1996)."""
    from scipy.stats import f

    found = stats.subjects_needed(icc, k=k, threshold=0.75)
    ratio = (1 + (k - 1) * icc) / (1 - icc)

    def beyond(n):
        df = n - 1, (n - 1) * (k - 1)
        low, high = ratio / f.ppf(0.975, *df), ratio * f.ppf(0.975, *df[::-1])
        bounds = [(x - 1) / (x + k - 1) for x in (low, high)]
        return bounds[0] >= 0.75 or bounds[1] <= 0.75

    assert found.side == ("above" if icc > 0.75 else "below")
    assert beyond(found.n)
    assert found.n == 2 or not beyond(found.n - 1)


def test_what_components_cannot_say():
    Y = np.random.default_rng(1).normal(size=(6, 3, 2))
    assert stats.variance_components(Y[:1]).reason == "too_few_items"
    assert stats.variance_components(Y[:, :1]).reason == "too_few_raters"
    assert stats.variance_components(Y[:, :, :1]).reason == "not_estimable"
    assert stats.variance_components(np.full((4, 2, 2), 0.1)).reason == "zero_variance"
    Y[0, 1, 1] = np.nan
    assert stats.variance_components(Y).left_out == 1
    with pytest.raises(StatisticsError, match="design 'mixed' is unknown"):
        stats.variance_components(Y, "mixed")


# How many more subjects settle it.


def test_subjects_needed_is_the_first_n_that_clears_the_bar():
    assert stats.subjects_needed(0.90, 2).n == 18
    for icc, k, side in (
        (0.9, 2, "above"),
        (0.8, 4, "above"),
        (0.6, 2, "below"),
        (0.7, 3, "below"),
    ):
        found = stats.subjects_needed(icc, k)
        assert found.side == side
        for n, settled in ((found.n, True), (found.n - 1, False)):
            low, high = bounds(icc, n, k)
            assert settled == (low >= 0.75 if side == "above" else high <= 0.75)
    assert stats.subjects_needed(0.75, 2).n is None
    assert stats.subjects_needed(1.0, 2).n == 2


def bounds(icc, n, k):
    """The F interval of ICC(C,1) as McGraw and Wong (1996), table 7, print it."""
    F = (1 + (k - 1) * icc) / (1 - icc)
    low = F / scipy_stats.f.ppf(0.975, n - 1, (n - 1) * (k - 1))
    high = F * scipy_stats.f.ppf(0.975, (n - 1) * (k - 1), n - 1)
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def test_subjects_needed_in_a_simulation():
    # A true 0.90 at the n it asks for: about half of all studies observe at least that and pass.
    n = stats.subjects_needed(0.90, 2).n
    rng = np.random.default_rng(0)
    Y = rng.normal(0, 3, size=(400, n, 1)) + rng.normal(size=(400, n, 2))
    passed = [row[0].interval("f").low >= 0.75 for row in stats.icc_batch(list(Y), ("C,1",))]
    assert np.mean(passed) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.9, 1), "at least 2 raters"),
        ((1.2, 2), r"lies in \(-1, 1\], got 1.2"),
        ((0.9, 2, 1.0), r"threshold must lie in \(-1, 1\)"),
    ],
)
def test_subjects_needed_names_what_is_allowed(arguments, message):
    with pytest.raises(StatisticsError, match=message):
        stats.subjects_needed(*arguments)


@pytest.mark.parametrize("offset", [[1, 2], [0.1, 0.3], [1e-200, 3e-200]])
@pytest.mark.parametrize("form", ["C,1", "C,k"])
def test_raters_that_differ_and_subjects_that_do_not(offset, form):
    """0 / 0 by definition, also where round-off would leave a little of each."""
    found = stats.icc_reml([offset] * 3, form)
    assert (math.isnan(found.value), found.reason) == (True, "zero_variance")
    agreement = stats.icc_reml([[1, 2], [1, 2], [1, 2]], "A" + form[1:])
    assert (agreement.value, agreement.reason) == (0.0, None)


def test_negative_components_reach_no_reliability():
    """-1 / -0.6 is above any target, and no reliability."""
    nan = math.nan
    found = stats.VarianceComponents("nested", -1, 0.1, 0, 0.1, nan, nan, 0.2, 100, 3, 2, 0)
    assert math.isnan(found.reliability(1))
    assert stats.raters_needed(found, 0.8).raters is None


def test_many_raters_are_searched_as_far_as_the_limit():
    nan = math.nan
    found = stats.VarianceComponents("nested", 1, 0, 0, 2250, nan, nan, 0, 100, 3, 2, 0)
    assert stats.raters_needed(found, 0.8).raters == 9000  # 0.8 / 0.2 * 2250
