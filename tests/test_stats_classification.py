"""Classification scores and ROC-AUC: reference values, undefined cases, hostile labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from voirdire.errors import StatisticsError
from voirdire.stats import classification_scores, random_f1, roc_auc


def test_macro_means_run_over_declared_labels_that_occur():
    # bug_cases C10
    found = classification_scores(["a", "b", "a"], ["a", "b", "a"], labels=["a", "b", "c"])
    assert found["f1_macro"].value == 1.0
    assert found["f1_macro"].details["zero_filled"] == pytest.approx(0.666667, abs=1e-6)
    assert found["f1_macro"].details["absent"] == ["c"]


def test_undeclared_predictions_are_wrong_and_listed():
    # bug_cases C10: as a class of its own the misspelt label pulls macro F1 to 0.555556.
    truth, predicted = ["a", "b", "a", "b"], ["a", "b", "a", "B"]
    found = classification_scores(truth, predicted, labels=["a", "b"])
    assert found.undeclared == {"B": 1}
    assert found["accuracy"].value == 0.75
    assert found["f1_macro"].value == pytest.approx((1 + 2 / 3) / 2)
    raw = classification_scores(truth, predicted)
    assert raw["f1_macro"].value == pytest.approx(0.555556, abs=1e-6)
    with pytest.raises(StatisticsError, match="true label 'b' is unknown"):
        classification_scores(truth, predicted, labels=["a"])


def test_undefined_parts_are_shown_and_warn_of_nothing():
    found = classification_scores(["a", "b", "b"], ["b", "b", "b"], labels=["a", "b"])
    assert math.isnan(found.labels["a"]["precision"])
    assert found.labels["a"]["f1"] == 0.0
    assert found["f1_macro"].details["never_predicted"] == ["a"]
    assert found["mcc"].reason == "zero_expected_disagreement"  # scikit-learn says 0.0
    same = classification_scores([1, 1], [1, 1])
    assert same["mcc"].reason == "zero_expected_disagreement"
    assert same["accuracy"].value == 1.0


def test_mcc_of_large_counts_in_int32():
    # bug_cases C08
    cells = np.repeat([0, 1, 2, 3], [60000, 60000, 4000, 4000])
    truth = np.array([1, 0, 0, 1], np.int32)[cells]
    predicted = np.array([1, 0, 1, 0], np.int32)[cells]
    assert classification_scores(truth, predicted)["mcc"].value == pytest.approx(0.875, abs=1e-12)


def test_missing_is_left_out_and_counted():
    found = classification_scores(["a", "b", None, "a"], ["a", None, "b", "b"])
    assert (found["accuracy"].n, found["accuracy"].left_out) == (2, 2)
    nothing = classification_scores([None, "a"], ["a", None], ci="percentile")
    assert nothing["f1_weighted"].reason == "no_data"
    assert math.isnan(nothing["f1_weighted"].intervals[0].low)
    assert classification_scores([], [])["mcc"].reason == "no_data"


def test_multi_label():
    rng = np.random.default_rng(0)
    Y = (rng.random((50, 4)) < [0.5, 0.3, 0.1, 0.0]).astype(int)
    P = np.where(rng.random(Y.shape) < 0.8, Y, 1 - Y)
    P[:, 3] = 0
    found = classification_scores(Y, P, labels=["a", "b", "c", "d"])
    used = [0, 1, 2]
    for average in ["weighted", "macro"]:
        expected = metrics.f1_score(Y, P, average=average, labels=used, zero_division=0)
        assert found[f"f1_{average}"].value == pytest.approx(expected, abs=1e-12)
    assert found["hamming_loss"].value == pytest.approx(metrics.hamming_loss(Y, P), abs=1e-12)
    assert found["accuracy"].value == pytest.approx(metrics.accuracy_score(Y, P), abs=1e-12)
    assert found["mcc"].reason == "not_applicable"
    gaps = Y.astype(float)
    gaps[0, 0] = np.nan
    assert classification_scores(gaps, P)["accuracy"].left_out == 1


labels = st.sampled_from(["a", "b", "c"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=25))
def test_sums_give_what_scikit_learn_gives(pairs):
    """The bootstrap's formulas on the data themselves: items drawn once each."""
    from voirdire.stats.classification import _NAMES, classified, scores_of_sums

    truth, predicted = zip(*pairs, strict=True)
    found = classification_scores(truth, predicted, labels=["a", "b", "c"])
    collapsed = classified(np.array(truth), np.array(predicted), ["a", "b", "c"])
    sums = collapsed.counts @ collapsed.features()
    for name, value in zip(_NAMES, scores_of_sums(collapsed, sums[None])[0], strict=True):
        assert value == pytest.approx(found[name].value, abs=1e-12, nan_ok=True), name


def test_bootstrap_over_items():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 200)
    predicted = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    found = classification_scores(truth, predicted, ci="percentile", n_resamples=2000)
    slow = []
    for _ in range(300):
        drawn = rng.integers(0, 200, 200)
        slow.append(metrics.f1_score(truth[drawn], predicted[drawn], average="weighted"))
    interval = found["f1_weighted"].intervals[0]
    low, high = np.quantile(slow, [0.025, 0.975])
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.02)
    assert found["f1_weighted"].value > random_f1(np.bincount(truth)).value


def test_auc_says_which_labels_have_none():
    Y = np.array([[1, 0], [0, 0], [1, 0], [0, 0]])
    scores = np.array([[0.9, 0.1], [0.2, 0.5], [np.nan, 0.2], [0.3, 0.4]])
    found = roc_auc(Y, scores, labels=["a", "b"])
    assert found.details["undefined"] == ["b"]
    assert found.value == 1.0
    assert roc_auc([1, 1], [0.1, 0.2]).reason == "zero_expected_disagreement"
    assert roc_auc([], []).reason == "no_data"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: classification_scores([1, 2], [1]), "one shape"),
        (lambda: classification_scores([[1, 2]], [[0, 1]]), "got 2.0 for item 0, label 1"),
        (lambda: classification_scores([[1, 0]], [[0, 1]], labels=["a"]), "2 columns need 2"),
        (lambda: classification_scores([["x"]], [["y"]]), "numbers or NaN only"),
        (lambda: roc_auc([0, 2], [0.1, 0.2]), "0, 1 or missing"),
        (lambda: roc_auc([0, 1], [0.1]), "one shape"),
        (lambda: roc_auc([0, 1], [0.1, math.inf]), "finite"),
        (lambda: roc_auc([0, 1], ["a", "b"]), "numbers"),
        (lambda: roc_auc([[0, 1]], [[0, 1]], labels=["a"]), "2 columns need 2"),
    ],
)
def test_unfit_input_is_named(call, message):
    with pytest.raises(StatisticsError, match=message):
        call()


def test_means_over_no_label_are_not_estimable():
    """Nobody has a label: a weighted mean has no weights (scikit-learn says 0)."""
    silent = classification_scores([[0, 0], [0, 0]], [[0, 0], [0, 0]], ci="percentile")
    guessed = classification_scores([[0, 0], [0, 0]], [[0, 1], [0, 0]])
    assert silent["f1_macro"].reason == silent["f1_weighted"].reason == "not_estimable"
    assert guessed["f1_weighted"].reason == "not_estimable"
    assert guessed["f1_macro"].value == 0.0
    assert silent["accuracy"].value == 1.0
