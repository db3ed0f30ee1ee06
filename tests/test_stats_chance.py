"""Chance baselines of weighted F1, by theory and by simulation, and kappa_F1."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from reference import chance as twin
from scipy.stats import ks_2samp

from voirdire.errors import StatisticsError
from voirdire.stats import (
    best_constant_f1,
    kappa_f1,
    random_f1,
    simulate_random_f1,
    simulate_random_f1_sets,
)

# Sharma et al., Table 8, GPT-4 at 0.5: ranked prompt (dominant labels), then multi-label prompt;
# the eleventh number is No Distortion.
RANKED = [103, 959, 218, 53, 274, 8, 211, 159, 656, 45, 708]
MULTI = [380, 947, 555, 73, 298, 31, 312, 217, 713, 80, 812]
MULTI_ITEMS = 2530 - 81 - 1


def scaled(support, n):
    """The same shares at another number of items."""
    return np.round(np.array(support) * n / sum(support)).astype(int)


@pytest.mark.shared
def test_reference_values(shared):
    """stats_reference.json, text_and_f1: sums of squares and the exact expectation."""
    path = shared / "reference" / "stats_reference.json"
    for values in json.loads(path.read_text())["text_and_f1"]["random_f1"].values():
        support = values["class_counts"]
        permuted, drawn = random_f1(support), random_f1(support, draws="independent")
        assert permuted.value == pytest.approx(values["sum_q2"], abs=1e-12)
        assert drawn.value == pytest.approx(values["exact_expectation_iid"], abs=1e-12)
        kappa = kappa_f1(0.60, permuted)
        assert kappa.value == pytest.approx(values["kappa_F1_for_F1_0.60"]["theory"], abs=1e-12)
        found = simulate_random_f1(support)
        error = math.hypot(found.details["se"], values["sim_iid_se"])
        assert abs(found.value - values["sim_iid_mean"]) < 3 * error
        assert found.details["sd"] == pytest.approx(values["sim_iid_sd"], rel=0.15)


@pytest.mark.shared
def test_the_twelve_multi_label_kappas_of_table_5(shared):
    """From the printed F1 and baselines within 0.0012; the other 20 cells do not follow."""
    path = shared / "reference" / "paper_checks.json"
    cells = json.loads(path.read_text())["paper_000"]["kappa_f1"]["cells"]
    multi = [cell for cell in cells if cell["task"] == "multilabel"]
    assert len(multi) == 12
    for cell in cells:
        found = kappa_f1(cell["f1"], cell["f1_random"]).value
        assert found == pytest.approx(cell["kappa_derived"], abs=5e-5)
        near = abs(found - cell["kappa_printed"]) <= 0.0012
        assert near or cell["task"] != "multilabel"


@pytest.mark.shared
def test_baselines_of_the_published_multi_label_sets(shared):
    """paper_checks.json, paper_002: on primary beliefs every label named scores 0.793."""
    found = json.loads((shared / "reference" / "paper_checks.json").read_text())["paper_002"]
    sets = next(part for part in found.values() if "core_major" in part)
    for name in ["distortions", "core_major", "core_fine"]:
        checked = sets[name]
        support = list(checked["label_counts_file"].values())
        n = checked["examples"]["file"]
        assert round(random_f1(support, n).value, 4) == checked["F1_random"]
        assert (
            round(best_constant_f1(support, n).value, 4) == checked["F1_of_predicting_every_label"]
        )


@pytest.mark.parametrize("n", [272, 356, 100_000])
@pytest.mark.parametrize("task", ["binary", "multi-class", "multi-label"])
def test_theory_and_simulation_agree(n, task):
    """Within three standard errors, at N of the paper's test sets and at 100,000."""
    if task == "multi-label":
        arguments = (np.round(np.array(MULTI) * n / MULTI_ITEMS).astype(int), n)
    else:
        support = RANKED if task == "multi-class" else [sum(RANKED[:-1]), RANKED[-1]]
        arguments = (scaled(support, n),)
    for draws in ["independent", "permuted"]:
        found = simulate_random_f1(*arguments, draws=draws, seed=11)
        expected = random_f1(*arguments, draws=draws).value
        assert abs(found.value - expected) < 3 * found.details["se"]


def test_the_gap_of_independent_draws_is_of_first_order_in_one_over_n():
    # paper_checks.json, theory_vs_independent_draws
    support = scaled(RANKED, 356)
    permuted, drawn = random_f1(support), random_f1(support, draws="independent")
    gap = (1 - permuted.value) / (4 * permuted.n)
    assert permuted.value - drawn.value == pytest.approx(gap, rel=0.1)


@pytest.mark.parametrize("support", [[3, 5, 2], [10, 0, 1], [7], [1, 1, 1, 1, 30]])
def test_expectation_term_by_term(support):
    found = random_f1(support, draws="independent")
    assert found.value == pytest.approx(twin.expected_independent(support), abs=1e-12)


def test_multi_label_expectation_is_that_of_separate_draws():
    rng = np.random.default_rng(4)
    Y = (rng.random((60, 3)) < [0.5, 0.2, 0.05]).astype(int)
    expected = random_f1(Y.sum(axis=0), len(Y), draws="independent").value
    drawn = twin.separate(Y, 400, rng)
    assert abs(drawn.mean() - expected) < 3 * drawn.std() / 20


@pytest.mark.parametrize("draws", ["independent", "permuted"])
def test_rows_of_the_confusion_matrix_have_the_distribution_of_drawn_labels(draws):
    support = [40, 25, 10, 5]
    rng = np.random.default_rng(3)
    slow = getattr(twin, draws)(support, 400, rng)
    found = simulate_random_f1(support, draws=draws, runs=4000, seed=2)
    assert found.details["sd"] == pytest.approx(slow.std(), rel=0.12)
    assert abs(found.value - slow.mean()) < 3 * slow.std() / 20
    low, high = np.quantile(slow, [0.025, 0.975])
    assert (found.intervals[0].low, found.intervals[0].high) == pytest.approx((low, high), abs=0.03)


def test_sets_keep_the_mean_and_change_the_spread():
    rng = np.random.default_rng(5)
    first = (rng.random(80) < 0.4).astype(int)
    Y = np.stack([first, first, (rng.random(80) < 0.2).astype(int)], axis=1)
    together = simulate_random_f1_sets(Y, runs=3000, seed=1)
    apart = simulate_random_f1(Y.sum(axis=0), len(Y), runs=3000, seed=1)
    error = math.hypot(together.details["se"], apart.details["se"])
    assert abs(together.value - apart.value) < 3 * error
    assert together.details["sd"] > 1.15 * apart.details["sd"]
    assert (together.details["drawn"], apart.details["drawn"]) == ("sets", "labels, separately")
    slow = twin.sets(Y, 400, rng)
    assert together.details["sd"] == pytest.approx(slow.std(), rel=0.12)
    assert apart.details["sd"] == pytest.approx(twin.separate(Y, 400, rng).std(), rel=0.12)


def test_sets_drawn_by_rows_and_by_items_have_one_distribution():
    from voirdire.stats.chance_simulation import _sets_by_items, _sets_by_rows

    sets, counts = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([5, 20, 30, 25])
    rng = np.random.default_rng(6)
    rows, items = (draw(sets, counts, 3000, rng) for draw in (_sets_by_rows, _sets_by_items))
    for one, other in zip(rows, items, strict=True):
        assert one.mean(axis=0) == pytest.approx(other.mean(axis=0), abs=0.3)
        assert one.std(axis=0) == pytest.approx(other.std(axis=0), rel=0.06)


def test_single_runs_pass_for_drawn_labels():
    """Kolmogorov-Smirnov on single runs, from seeds of their own."""
    slow = twin.independent([30, 20, 10], 300, np.random.default_rng(8))
    fast = [simulate_random_f1([30, 20, 10], runs=1, seed=seed).value for seed in range(300)]
    assert ks_2samp(slow, fast).pvalue > 0.01


def test_best_constant_predictor():
    # Naming class 0 everywhere: F1 2 * .6 / 1.6, weight .6.
    found = best_constant_f1([60, 30, 10])
    assert found.value == pytest.approx(0.6 * 1.2 / 1.6)
    assert found.details["named"] == [0]
    several = best_constant_f1([60, 30, 0], n=100)
    assert several.details["named"] == [0, 1]
    assert several.value == pytest.approx((60 * 1.2 / 1.6 + 30 * 0.6 / 1.3) / 90)


def test_kappa_names_its_baseline_and_carries_intervals():
    baseline = best_constant_f1([60, 40])
    reached = simulate_random_f1([60, 40])
    found = kappa_f1(reached, baseline)
    assert found.details["baseline"] == "best constant weighted F1"
    assert "best constant" in found.statistic
    floor = baseline.value
    assert found.intervals[0].low == pytest.approx((reached.intervals[0].low - floor) / (1 - floor))
    assert kappa_f1(0.2, 0.5).value == pytest.approx(-0.6)  # below chance, not clipped
    assert kappa_f1(1.0, 0.5).value == 1.0


def test_undefined_has_a_reason():
    assert random_f1([0, 0]).reason == "no_data"
    assert random_f1([]).reason == "no_data"
    assert simulate_random_f1([0, 0], n=5).reason == "no_data"
    assert simulate_random_f1_sets(np.zeros((0, 2))).reason == "no_data"
    assert best_constant_f1([0]).reason == "no_data"
    assert kappa_f1(1.0, random_f1([9])).reason == "zero_expected_disagreement"
    assert kappa_f1(math.nan, 0.3).reason == "no_data"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_f1([1.5, 2]), "whole numbers"),
        (lambda: random_f1([-1, 2]), "whole numbers"),
        (lambda: random_f1([[1, 2]]), "one number a class"),
        (lambda: random_f1([5, 2], n=4), "n = 4"),
        (lambda: random_f1([5], draws="sets"), "'sets'"),
        (lambda: simulate_random_f1([5], draws="sets"), "'sets'"),
        (lambda: simulate_random_f1([5], runs=0), "at least 1"),
        (lambda: simulate_random_f1([2 * 10**9, 5], draws="permuted"), "10\\^9"),
        (lambda: simulate_random_f1_sets([[0, 2]]), "0 and 1"),
        (lambda: kappa_f1(1.2, 0.5), "1.2"),
        (lambda: kappa_f1(0.5, -0.1), "-0.1"),
    ],
)
def test_unfit_input_is_named(call, message):
    with pytest.raises(StatisticsError, match=message):
        call()
