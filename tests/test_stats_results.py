"""Every frozen result: plain types, one readable text, equality by content; every page of help."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from voirdire import stats

NAN = float("nan")


def panel():
    return np.random.default_rng(0).integers(1, 6, (12, 3, 2)).astype(float)


def above_chance():
    truth = np.eye(2)[[0, 1, 0, 1, 1, 0]]
    return stats.f1_above_chance(truth, [truth[::-1]], multilabel=False, ci="percentile")


#: Each class of result, made anew at each call, among them some with undefined parts.
RESULTS = {
    "Interval": lambda: stats.Interval("f", 0.95, float("nan"), 0.5),
    "Estimate": lambda: stats.icc(panel()[..., 0], ci=("f", "percentile")),
    "Estimate, undefined": lambda: stats.icc(np.ones((5, 2))),
    "AutomatedShare": lambda: stats.automated_share([1] * 40, [0.5] * 40, [0.5], target=0.9),
    "BradleyTerry": lambda: stats.bradley_terry(list("xyxy"), list("yzzx"), [1, -1, 0, 0]),
    "Calibration": lambda: stats.calibrate([4, 5, 3, None], [3, 4, 2, 3], folds=2),
    "BesideHuman": lambda: stats.rates_beside_human([4, 2, 5], [[4, 5], [2, 3], [5, 4]], 4)[
        "sensitivity"
    ],
    "ClusterSums": lambda: stats.ClusterSums.of([[1.0, 2.0], [3.0, 4.0]], ["a", "b"]),
    "Jackknifed": lambda: stats.cluster_jackknife(
        [[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]], [1, 2, 3], lambda t: t[..., 0] / t[..., 1]
    ),
    "ResponseAgreement": lambda: stats.response_agreement([1, 1, 0, 1], [1, 0, 0, 1]),
    "ResponseAgreement, undefined": lambda: stats.response_agreement([1, 1], [1, 0]),
    "SystemBias": lambda: stats.system_bias([4, 3, 2, 5] * 3, [3, 3, 1, 5] * 3, list("aabb") * 3),
    "Classification": lambda: stats.classification_scores(
        ["a", "b", "b"], ["b", "b", "c"], labels=["a", "b"]
    ),
    "Corrected": lambda: stats.prediction_powered_mean([1, 2, 3, 2, None], [1, 2, 2, 2, 3]),
    "Corrected, undefined": lambda: stats.prediction_powered_mean([None, 1], [1, 2]),
    "Decision": lambda: stats.raters_needed(stats.variance_components(panel()), 0.8),
    "Equivalence": lambda: stats.equivalence([1, 2, 3, 4], [1, 2, 4, 4], 0.5),
    "Equivalence, undefined": lambda: stats.equivalence([1], [2], 0.5),
    "F1AboveChance": above_chance,
    "ExplainedGain": lambda: stats.explained_gain([1, 2] * 9, [1, 1, 2] * 6, [2, 1, 1] * 6),
    "F1Difference": lambda: stats.f1_difference(
        *[([[1, 0], [0, 1]] * 4, [[[1, 0], [0, 1]] * 4])] * 2, multilabel=False, n_resamples=20
    ),
    "FirstFailureAgreement": lambda: stats.first_failure_agreement(
        [2, 0], [[2, 0], [2, 5]], [6, 6]
    ),
    "JuryWorth": lambda: stats.jury_worth([[1, 2] * 9, [1, 1, 2] * 6], [1, 2] * 9, [2, 1, 1] * 6),
    "LabelAgreement": lambda: stats.fleiss_per_label(np.zeros((4, 3, 2)), ci="t"),
    "LabelsNeeded": lambda: stats.labels_needed([1, 2, 3, 2, None], [1, 2, 2, 2, 3], 0.5)[0],
    "LimitsOfAgreement": lambda: stats.bland_altman([1], [2]),
    "MissingBounds": lambda: stats.bias_bounds([None, 2], [None, 3], (1, 5)),
    "PanelMean": lambda: stats.panel_mean([[4, None], [None, None]]),
    "PairedTest": lambda: stats.wilcoxon([3, 4, 5, 1], [1, 1, 2, 2]),
    "PairedTest, undefined": lambda: stats.paired_t([1, 2], [2, 3]),
    "PreferenceAgreement": lambda: stats.preference_agreement([2, 1, 0], [1, -1, 0]),
    "SystemSums": lambda: stats.system_sums([[[1, 2, 4]]], [[1, 3, 4]], ["a", "b", "b"]),
    "SystemFeatures": lambda: stats.system_sums([[[1, 2, 4]]], [[1, 3, 4]], ["a", "b", "b"]).under(
        [[[True, True]]]
    ),
    "SelfExclusion": lambda: stats.self_exclusion(
        stats.bias, [4, 2], [3, 3], systems=["own", "a"], excludes=["own"]
    ),
    "ChosenGain": lambda: stats.chosen_gain([[1, 0, 1, 0] * 10, [1, 1, 0, 1] * 10]),
    "Period": lambda: stats.Period.of([1, 2, None], [2, 2, 3]),
    "Watched": lambda: stats.watch([stats.Period.of([1, 2, 3], [2, 2, 3])] * 5)[-1],
    "SubjectsNeeded": lambda: stats.subjects_needed(0.9, k=2, threshold=0.75),
    "VarianceComponents": lambda: stats.variance_components(panel()),
    "VarianceComponents, undefined": lambda: stats.variance_components(panel()[:, :1]),
    "WinTieLoss": lambda: stats.win_tie_loss([2, 1, 0, -1]),
}
CLASSES = {name for name in stats.__all__ if inspect.isclass(getattr(stats, name))}
#: Named in that list as callers of what is listed.
CALLERS = {"compare_systems", "icc", "icc_systems_batch"}
FUNCTIONS = [name for name in stats.__all__ if name not in CLASSES]


def test_every_class_of_result_is_here():
    assert {type(make()).__name__ for make in RESULTS.values()} == CLASSES


@pytest.mark.parametrize("name", RESULTS)
def test_results_compare_print_and_turn_plain(name):
    first, again = RESULTS[name](), RESULTS[name]()
    assert first is not again
    assert first == again
    assert hash(first) == hash(again)
    assert first != "something else"
    assert json.loads(json.dumps(first.to_dict(), allow_nan=False)) == first.to_dict()
    assert str(first) == str(again)
    assert not any(
        part in str(first) for part in ("(statistic=", "Estimate(", "array(", "np.float")
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(first, dataclasses.fields(first)[0].name, 0)


def test_results_of_other_data_differ():
    assert stats.bland_altman([1, 2], [2, 2]) != stats.bland_altman([1, 2], [2, 3])
    assert stats.Interval("f", 0.95, NAN, 0.5) != stats.Interval("t", 0.95, NAN, 0.5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_a_page(name):
    """Reading, parameters, what comes back (missing data with it), errors, example, source."""
    page = inspect.getdoc(getattr(stats, name))
    sections = ("Parameters", "Returns", "Raises", "Examples", "References")
    assert [part for part in sections if f"\n{part}\n{'-' * len(part)}\n" not in page] == []
    assert ">>> " in page.partition("\nExamples\n")[2]


def names_in(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Name | ast.Attribute):
            yield node.id if isinstance(node, ast.Name) else node.attr
        # Coefficients of the registry name their statistic, which loads when it is asked for.
        elif path.name == "coefficients.py" and isinstance(node, ast.Constant):
            yield node.value


def test_functions_that_no_command_calls_are_said_to_be_library_functions():
    """None is added unseen: a public statistic is what the product uses, or is listed."""
    root = Path(__file__).parent.parent
    used = set()
    for room in ("core", "judges", "retrieval", "plugins"):
        for path in (root / room).rglob("*.py"):
            if path.parent.name != "stats":
                used.update(names_in(path))
    page = (root / "docs" / "statistics.md").read_text("utf-8")
    said = page.partition("## Functions that no command calls\n")[2].partition("\n## ")[0]
    listed = {name for name in FUNCTIONS if f"`{name}`" in said} - CALLERS
    assert listed == set(FUNCTIONS) - used


def test_names_are_public_and_have_a_home():
    assert [name for name in stats.__all__ if name.startswith("_")] == []
    for name in FUNCTIONS:
        assert getattr(stats, name).__name__ == name
