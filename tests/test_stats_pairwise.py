"""Bradley-Terry with Davidson's ties: the likelihood, its limits, and separation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import preference as twin

from voirdire.errors import StatisticsError
from voirdire.stats import bradley_terry

NAMES = np.array(["w", "x", "y", "z"])


def simulated(n=200, seed=0, nu=0.6):
    rng = np.random.default_rng(seed)
    strengths = np.array([1.0, 0.3, -0.2, -1.1])
    pairs = np.array(list(itertools.combinations(range(4), 2)))[rng.integers(0, 6, n)]
    first, second = np.exp(strengths[pairs]).T
    tie = nu * np.sqrt(first * second)
    draw = rng.random(n) * (first + second + tie)
    return (
        pairs[:, 0],
        pairs[:, 1],
        np.where(draw < first, 1, np.where(draw < first + second, -1, 0)),
    )


def test_maximum_of_the_likelihood():
    a, b, outcome = simulated()
    found = bradley_terry(NAMES[a], NAMES[b], outcome)
    strengths, nu = twin.davidson(a, b, outcome, 4)
    assert [found[name].value for name in NAMES] == pytest.approx(strengths, abs=1e-6)
    assert found.tie.value == pytest.approx(nu, abs=1e-6)
    assert found.systems == ("w", "x", "y", "z")
    assert sum(part.value for part in found.strengths) == pytest.approx(0, abs=1e-12)


def test_standard_errors_are_those_of_the_information():
    a, b, outcome = simulated()
    found = bradley_terry(NAMES[a], NAMES[b], outcome)
    theta = np.array([*(found[name].value for name in NAMES), math.log(found.tie.value)])

    def at(point):
        return twin.log_likelihood(point[:4], math.exp(point[4]), a, b, outcome)

    step, eye = 1e-3, np.eye(5) * 1e-3
    hessian = [
        [
            (at(theta + p + q) - at(theta + p - q) - at(theta - p + q) + at(theta - p - q))
            / (4 * step**2)
            for q in eye
        ]
        for p in eye
    ]
    errors = np.sqrt(np.diag(np.linalg.pinv(-np.array(hessian), rcond=1e-6)))
    assert [found[name].details["se"] for name in NAMES] == pytest.approx(errors[:4], rel=1e-3)
    assert found.tie.details["se"] == pytest.approx(found.tie.value * errors[4], rel=1e-3)


def test_two_systems_in_closed_form():
    # pi_x / pi_y = wins / losses; nu = ties / sqrt(wins * losses)
    found = bradley_terry(["x"] * 14, ["y"] * 14, [1] * 8 + [-1] * 2 + [0] * 4)
    assert found["x"].value - found["y"].value == pytest.approx(math.log(4), abs=1e-10)
    assert found.tie.value == pytest.approx(4 / math.sqrt(16), abs=1e-10)


def test_without_ties_nu_is_zero():
    found = bradley_terry(["x"] * 5, ["y"] * 5, [1, 1, 1, -1, -1])
    assert found.tie.value == 0.0
    assert found["x"].value == pytest.approx(math.log(1.5) / 2, abs=1e-10)


def test_separation_is_unbounded_and_its_groups_are_named():
    a, b = list("xxyzz"), list("yzzww")
    found = bradley_terry(a, b, [1, 1, 1, -1, 1])
    assert found.groups == (("x",), ("y",), ("w", "z"))
    for part in found.strengths:
        assert (part.reason, part.flags) == ("not_estimable", ("unbounded",))
        assert math.isnan(part.value)
    ties = bradley_terry(["x", "x"], ["y", "y"], [0, 0])
    assert ties["x"].flags == ("unbounded",)
    assert ties.groups == (("x", "y"),)


def test_systems_never_compared_are_not_estimable():
    found = bradley_terry(list("xxzz"), list("yyww"), [1, -1, 1, -1])
    assert found["x"].reason == "not_estimable"
    assert found["x"].flags == ()


def test_missing_and_nothing():
    found = bradley_terry(list("xxx"), list("yyy"), [1, -1, None])
    assert found["x"].left_out == 1
    assert found["x"].value == pytest.approx(0, abs=1e-12)
    assert bradley_terry([], [], []).tie.reason == "no_data"


def test_bootstrap_draws_whole_items_and_counts_what_is_unbounded():
    a, b, outcome = simulated(120)
    items = np.arange(120) // 2
    found = bradley_terry(
        NAMES[a], NAMES[b], outcome, items, ci=["wald", "percentile"], n_resamples=300
    )
    wald, percentile = found["w"].intervals
    assert percentile.low == pytest.approx(wald.low, abs=0.3)
    assert percentile.high == pytest.approx(wald.high, abs=0.5)
    few = bradley_terry(list("xxxx"), list("yyyy"), [1, 1, 1, -1], ci="percentile", n_resamples=200)
    # resamples without the loss, (3/4)^4, or with nothing else
    assert few["x"].intervals[0].n_undefined == pytest.approx(200 * 0.32, abs=25)


outcomes = st.lists(
    st.tuples(st.sampled_from([(0, 1), (0, 2), (1, 2)]), st.sampled_from([1, 0, -1])),
    min_size=1,
    max_size=9,
)


@settings(max_examples=30, deadline=None)
@given(outcomes)
def test_finite_exactly_where_the_likelihood_has_a_maximum(rows):
    """A maximum is finite where no far point in any direction is as likely (on a grid)."""
    a = np.array([pair[0] for pair, _ in rows])
    b = np.array([pair[1] for pair, _ in rows])
    outcome = np.array([sign for _, sign in rows])
    found = bradley_terry(NAMES[a], NAMES[b], outcome, ci=None)
    used = len(set(a) | set(b))
    if used < 3:
        return
    steps = np.arange(-4, 5) / 4
    tied = (outcome == 0).any()
    best = max(
        _climb(np.array([p, q, 0.0]), nu, a, b, outcome)
        for p in steps
        for q in steps
        for nu in (steps if tied else [0])
        if (p, q, nu) != (0, 0, 0)
    )
    assert (found.strengths[0].reason is None) == (best < -1e-6)


def _climb(direction, nu, a, b, outcome):
    """Least slack of the observed outcomes' utilities along a direction: below 0 it falls."""
    first, second = direction[a], direction[b]
    tie = (first + second) / 2 + (nu if (outcome == 0).any() else -9.0)
    seen = np.where(outcome == 1, first, np.where(outcome == -1, second, tie))
    return float((seen - np.maximum(np.maximum(first, second), tie)).min())


def test_unfit_input_is_named():
    with pytest.raises(StatisticsError, match="row 1 compares system 'y' with itself"):
        bradley_terry(["x", "y"], ["y", "y"], [1, 1])
    with pytest.raises(StatisticsError, match="one entry a row"):
        bradley_terry(["x"], ["y", "z"], [1, 1])
