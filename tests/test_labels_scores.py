"""Choices and labels against a key: scores, intervals, baselines and error cases."""

from __future__ import annotations

import math
import re

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import precision_recall_fscore_support

from voirdire import TableError
from voirdire.examining.labels import (
    accuracy_section,
    baselines,
    choice_accuracy,
    constant_sentence,
    error_section,
    label_errors,
    label_scores,
    label_sections,
    matrix_of_ratings,
    matrix_of_values,
    ratings_of,
    with_texts,
)
from voirdire.tabular import Spread

NAMES = ["item", "rater", "run", "attribute", "score", "status"]
LABELS = ("warm", "cold", "dry")


def matrix(values, name="key", labels=LABELS):
    items = [f"i{n}" for n in range(len(values))]
    return matrix_of_values(values, labels, items=items, rater=name)


def ratings(rows):
    return pl.DataFrame(rows, schema=NAMES, orient="row", strict=False)


def drawn(seed, n=200, recall=(0.9, 0.6, 0.5), prevalence=(0.6, 0.4, 0.3), precision=None):
    """A key and labels of declared recall and precision, from which the false alarms follow."""
    rng = np.random.default_rng(seed)
    precision = precision or (0.9, 0.7, 0.5)
    truth = (rng.random((n, 3)) < prevalence).astype(float)
    p, r, v = map(np.asarray, (prevalence, recall, precision))
    alarm = p * r * (1 - v) / v / (1 - p)
    given = (rng.random((n, 3)) < np.where(truth == 1, r, alarm)).astype(float)
    return matrix(truth), matrix(given, "model")


def test_scores_are_those_of_scikit_learn():
    truth, given = drawn(1)
    found = label_scores(truth, given, resamples=0)
    for average, suffix in (("weighted", "_weighted"),):
        expected = precision_recall_fscore_support(
            truth.values[0], given.values[0], average=average, zero_division=0
        )
        for name, value in zip(("precision", "recall", "f1"), expected, strict=False):
            assert found.mean(name + suffix) == pytest.approx(value)
    each = precision_recall_fscore_support(truth.values[0], given.values[0], zero_division=0)
    assert [label.f1.value for label in found.labels] == pytest.approx(each[2].tolist())
    assert [label.recall.value for label in found.labels] == pytest.approx(each[1].tolist())
    assert [label.true for label in found.labels] == each[3].tolist()


def test_declared_recall_and_precision_lie_within_their_intervals():
    truth, given = drawn(5, n=400)
    found = label_scores(truth, given)
    for label, recall, precision in zip(
        found.labels, (0.9, 0.6, 0.5), (0.9, 0.7, 0.5), strict=True
    ):
        f1 = 2 * recall * precision / (recall + precision)
        for estimate, value in (
            (label.recall, recall),
            (label.precision, precision),
            (label.f1, f1),
        ):
            interval = estimate.interval()
            assert interval.low < value < interval.high
    assert {i.method for label in found.labels for i in label.recall.intervals} == {"wilson"}


def test_what_needs_no_reading_stands_beside():
    truth, _ = drawn(2)
    everything = matrix(np.ones_like(truth.values[0]), "always")
    found = label_scores(truth, everything, resamples=0)
    assert found.beyond_constant.value == pytest.approx(0)
    assert found.kappa.value > 0  # chance is a lower bar than the constant
    assert found.baselines.named == LABELS
    perfect = label_scores(truth, truth, resamples=0)
    assert perfect.kappa.value == perfect.beyond_constant.value == pytest.approx(1)


def test_missing_labels_are_left_out_and_counted():
    truth, given = drawn(3, n=50)
    values = given.values[0].copy()
    values[:10] = np.nan
    found = label_scores(truth, matrix(values, "model"), resamples=0)
    assert (found.n, found.missing) == (40, 10)
    rest = label_scores(matrix(truth.values[0][10:]), matrix(values[10:], "model"), resamples=0)
    assert found.f1.value == pytest.approx(rest.f1.value)
    assert found.kappa.value == pytest.approx(rest.kappa.value)


def test_labels_that_never_occur_are_undefined():
    truth = matrix([[1, 0, 0], [1, 0, 0]])
    given = matrix([[1, 1, 0], [0, 0, 0]], "model")
    warm, cold, dry = label_scores(truth, given).labels
    assert (warm.recall.value, warm.precision.value) == (0.5, 1.0)
    assert (cold.recall.reason, cold.precision.value, cold.f1.value) == ("no_data", 0.0, 0.0)
    assert dry.recall.reason == dry.precision.reason == dry.f1.reason == "no_data"


def test_matrices_of_ratings():
    rows = [
        ("1", "key", 1, "warm", 1, "ok"), ("1", "key", 1, "cold", 0, "ok"),
        ("2", "key", 1, "warm", 0, "ok"), ("2", "key", 1, "cold", 1, "ok"),
        ("1", "model", 1, "warm", 1, "ok"), ("1", "model", 1, "cold", 0, "ok"),
        ("1", "model", 2, "warm", None, "blank"), ("1", "model", 2, "cold", None, "blank"),
    ]  # fmt: skip
    found = matrix_of_ratings(ratings(rows), "model", ["warm", "cold"], items=["1", "2"])
    assert [found.name(place) for place in (0, 1)] == ["model (run 1)", "model (run 2)"]
    assert found.statuses.tolist() == [["ok", "failed"], ["blank", "failed"]]
    assert found.named(0) == ("warm",)
    assert found.named(1) is None
    assert [one.runs for one in found.each_run()] == [(1,), (2,)]
    key = matrix_of_ratings(ratings(rows), "key", ["warm", "cold"])
    scores = label_scores(key, found, resamples=0)
    assert (scores.runs, scores.n, scores.missing) == (2, 1, 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("1", "m", 1, "hot", 1, "ok"), "rater 'm', item '1': label 'hot' is not declared"),
        (
            ("1", "m", 1, "warm", 0.5, "ok"),
            "rater 'm', item '1', 'warm': a label is 0 or 1, not 0.5",
        ),
    ],
)
def test_undeclared_labels_and_scores_are_named(row, message):
    with pytest.raises(TableError, match=message):
        matrix_of_ratings(ratings([row]), "m", LABELS)
    with pytest.raises(TableError, match="rater 'x' has no labels"):
        matrix_of_ratings(ratings([row]), "x", LABELS)


def test_other_items_are_refused():
    truth, given = drawn(1, n=5)
    with pytest.raises(TableError, match="the same items and labels"):
        label_scores(truth, matrix(given.values[0, :4], "model"))


def test_accuracy_by_type_and_unanswered_questions():
    letters = ("A", "B", "C")
    truth = matrix([[1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], labels=letters)
    nan = [np.nan] * 3
    given = matrix([[1, 0, 0], [1, 1, 0], [0, 1, 1], nan], "m", letters)
    types = {"i0": "basic", "i1": "basic", "i2": "case", "i3": "case"}
    whole, basic, case = choice_accuracy(truth, given, types)
    # i1 names two options where one is right: no answer. i2 names both right ones.
    assert (whole.answered.value, whole.answered.n, whole.answered.left_out) == (1.0, 2, 2)
    assert whole.strict.value == 0.5
    assert (basic.part, basic.answered.n, basic.strict.value) == ("basic", 1, 0.5)
    assert (case.answered.n, case.strict.interval().method) == (1, "wilson")
    section = accuracy_section([whole, basic, case])
    assert [row[1] for row in section.table.rows] == ["all", "basic", "case"]
    wrong = choice_accuracy(truth, matrix([[0, 1, 0]] * 4, "n", letters))
    assert wrong[0].answered.value == 0.25
    with pytest.raises(TableError, match="question 'i0' has no right choice"):
        choice_accuracy(matrix([[0, 0, 0]], labels=letters), matrix([[1, 0, 0]], "m", letters))


def test_wilson_interval_of_a_published_accuracy():
    """Table 5 of Zhang et al.: 209 of 220; statsmodels 0.15 proportion_confint(method="wilson")."""
    truth = matrix(np.tile([1.0, 0.0], (220, 1)), labels=("A", "B"))
    values = np.tile([1.0, 0.0], (220, 1))
    values[:11] = [0.0, 1.0]
    found = choice_accuracy(truth, matrix(values, "m", ("A", "B")))[0].answered
    assert found.value == 0.95
    assert (found.interval().low, found.interval().high) == pytest.approx(
        (0.9127001, 0.9718545), abs=1e-6
    )


def test_the_sentence_says_whom_the_constant_beats():
    truth = matrix([[1, 1, 0], [1, 0, 1], [1, 1, 1]])
    floor = baselines(truth)
    value = floor.constant.value
    said = constant_sentence({"a": value - 0.1, "b": value + 0.05, "Human": 0.5}, floor, "Human")
    assert said == (
        f"Naming warm, cold, dry for every item, without reading one, scores {value:.3f}: "
        "above 1 of 2 models (a) and above Human's 0.500."
    )
    assert constant_sentence({"b": 0.99}, floor).endswith(": below b's 0.990.")
    equal = floor.constant.value
    assert constant_sentence({"b": equal}, floor).endswith(f": as much as b's {equal:.3f}.")
    assert ": above none of 2 models." in constant_sentence({"a": 0.98, "b": 0.99}, floor)


def test_sections_show_the_baselines_as_rows():
    truth, given = drawn(4)
    weighted, by_label, full = label_sections(
        [label_scores(truth, given)], "Weather", "Human", {"Human": 0.4}
    )
    assert [row[0] for row in weighted.table.rows] == [
        "model",
        "Human",
        "Best constant predictor",
        "Chance",
    ]
    assert weighted.table.rows[2][-1] == pytest.approx(0)
    assert weighted.table.rows[3][-2] == pytest.approx(0)
    assert by_label.table.names == ("Label", "True", "model", "Always named", "Chance")
    assert len(by_label.table.rows) == len(full.table.rows) == 3
    assert [name for name, _ in by_label.figures[0].series] == ["model", "Always named"]
    assert by_label.figures[0].series[0][1] == tuple(row[2] for row in by_label.table.rows)
    assert label_sections([]) == ()


def test_a_rater_of_several_runs_is_one_row_with_its_deviation():
    truth, one = drawn(6)
    _, other = drawn(7)
    runs = np.concatenate([one.values, other.values])
    both = matrix_of_values(runs, LABELS, items=truth.items, rater="model")
    found = label_scores(truth, both, resamples=20)
    weighted, _, full = label_sections([found])
    row = weighted.table.records()[0]
    assert row["F1"] == Spread(found.f1.value, found.f1.details["sd"])
    assert (row["n"], row["Missing"]) == (200, 0)
    assert "means over runs (model 2)" in weighted.text
    assert full.table.records()[0]["Named"] == found.labels[0].named
    errors = label_errors(truth, both)
    assert errors["run"].unique().sort().to_list() == [1, 2]
    assert "means over runs" not in label_sections([label_scores(truth, one)])[0].text


def test_error_cases_stand_beside_their_replies():
    truth = matrix([[1, 0, 1], [0, 1, 0], [1, 1, 0], [np.nan] * 3])
    given = matrix([[1, 1, 0], [0, 1, 0], [np.nan] * 3, [1, 0, 0]], "model")
    errors = label_errors(truth, given)
    assert errors["item"].to_list() == ["i0", "i2"]  # i1 is right, i3 has no key
    first, second = errors.to_dicts()
    assert (first["expected"], first["given"]) == (["warm", "dry"], ["warm", "cold"])
    assert (first["missed"], first["wrong"]) == (["dry"], ["cold"])
    assert (second["given"], second["missed"], second["status"]) == (None, None, "blank")
    items = pl.DataFrame({"item": ["i0"], "text": ["A mild day."]})
    replies = pl.DataFrame({"item": ["i0"], "rater": ["model"], "run": [1], "reply": ["a, b"]})
    full = with_texts(errors, items, replies).to_dicts()
    assert (full[0]["text"], full[0]["reply"]) == ("A mild day.", "a, b")
    assert full[1]["reply"] is None
    bare = with_texts(errors, None, None)
    assert bare["text"].null_count() == bare["reply"].null_count() == 2
    section = error_section([errors])
    assert "A mild day." not in str(section)
    assert section.table.rows[0] == ("model", "i0", "warm; dry", "warm; cold", "dry", "cold", "ok")
    assert section.table.rows[1][3] is None


def test_a_rater_who_answers_nothing_keeps_no_other_from_being_shown():
    truth = matrix([[1, 0], [1, 1], [0, 1], [1, 0]], labels=("a", "b"))
    given = {"none": np.full((4, 2), np.nan), "sim": [[1, 0], [1, 0], [0, 1], [0, 0]]}
    scores = [
        label_scores(truth, matrix(said, name, ("a", "b")), resamples=20)
        for name, said in given.items()
    ]
    for few in (scores, scores[:1]):
        weighted, by_label, _ = label_sections(few, floor=baselines(truth))
        assert [row[:3] for row in weighted.table.rows[: len(few)]] == [
            ("none", 0, 4),
            ("sim", 4, 0),
        ][: len(few)]
        assert weighted.table.rows[-2][5] == pytest.approx(baselines(truth).constant.value)
        assert by_label.table.rows[0][-2] == pytest.approx(6 / 7)
    assert math.isnan(label_sections(scores[:1])[0].table.rows[-1][5])
    assert constant_sentence({"none": math.nan}, baselines(truth)).endswith("scores 0.781.")


def test_questions_without_a_type_stand_together():
    truth = matrix([[1, 0], [1, 0], [0, 1]], labels=("a", "b"))
    found = choice_accuracy(truth, truth, {"i0": "case", "i1": "", "i2": ""})
    assert [(part.part, part.answered.n) for part in found] == [
        ("", 3),
        ("case", 1),
        ("(no type)", 2),
    ]


def test_runs_are_averaged_and_no_further_items():
    truth, one = drawn(6)
    _, other = drawn(7)
    both = matrix_of_values(
        np.concatenate([one.values, other.values]), LABELS, items=truth.items, rater="model"
    )
    found = label_scores(truth, both, resamples=50)
    alone = [label_scores(truth, run, resamples=0) for run in both.each_run()]
    f1s = [single.f1.value for single in alone]
    assert found.f1.value == pytest.approx(np.mean(f1s))
    assert found.f1.details["sd"] == pytest.approx(np.std(f1s, ddof=1))
    assert found.mean("f1_macro") == pytest.approx(
        np.mean([single.mean("f1_macro") for single in alone])
    )
    assert found.sd("f1_macro") == pytest.approx(
        np.std([single.mean("f1_macro") for single in alone], ddof=1)
    )
    for place, label in enumerate(found.labels):
        singles = [single.labels[place] for single in alone]
        for name in ("precision", "recall", "f1"):
            values = [getattr(single, name).value for single in singles]
            assert getattr(label, name).value == pytest.approx(np.mean(values))
        assert label.recall.intervals == ()  # runs are no further items
    twice = matrix_of_values(np.concatenate([one.values] * 2), LABELS, items=truth.items)
    single = label_scores(truth, one, resamples=50)
    doubled = label_scores(truth, twice, resamples=50)
    assert doubled.f1.interval().low == pytest.approx(single.f1.interval().low)
    assert doubled.labels[0].f1.interval().high == pytest.approx(
        single.labels[0].f1.interval().high
    )


def test_classes_that_exclude_one_another_have_the_random_predictor_of_their_task():
    key = matrix(np.eye(3)[[0, 0, 0, 1, 1, 2]])
    said = matrix(np.eye(3)[[0, 0, 1, 1, 1, 0]], "model")
    found = label_scores(key, said, task="multi-class", resamples=0)
    # Random: the sum of squared shares. Constant: 2 p / (1 + p) of the largest class, times p.
    assert found.baselines.chance.value == pytest.approx((9 + 4 + 1) / 36)
    assert found.baselines.constant.value == pytest.approx(0.5 * 2 * 0.5 / 1.5)
    assert found.baselines.named == ("warm",)
    # Gorodkin's MCC is defined for classes, and not for label sets.
    assert np.isfinite(found.by_run[0]["mcc"].value)
    assert label_scores(key, said, resamples=0).by_run[0]["mcc"].reason == "not_applicable"


def test_one_label_is_two_classes_of_a_binary_task():
    key, said = (
        matrix([[1], [1], [0], [0]], labels=("rain",)),
        matrix([[1], [0], [0], [np.nan]], "model", ("rain",)),
    )
    found = label_scores(
        key.two_classes("dry"), said.two_classes("dry"), task="binary", resamples=0
    )
    # Of three items: rain has TP 1, FN 1; dry has TP 1, FP 1. F1 2/3 each.
    assert found.f1.value == pytest.approx(2 / 3)
    assert (found.n, found.missing, found.keyed) == (3, 1, 4)
    assert [label.label for label in found.labels] == ["dry", "rain"]
    assert [key.two_classes("dry").named(item) for item in (0, 2)] == [("rain",), ("dry",)]
    with pytest.raises(TableError, match="two classes are made of one label"):
        key.two_classes().two_classes()


def test_a_key_of_several_runs_is_refused():
    truth, _ = drawn(1, n=4)
    runs = matrix_of_values(np.concatenate([truth.values] * 2), LABELS, items=truth.items)
    with pytest.raises(TableError, match="a key holds one answer an item, and '' has 2 runs"):
        label_scores(runs, truth)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1, 0]], {}, "must have the shape (items, 3) or (runs, items, 3), got (1, 2)"),
        ([[1, 0, 2]], {"items": ["a"]}, "rater '', item 'a', 'dry': a label is 0 or 1, not 2"),
        ([[1, 0, 0]] * 2, {"items": ["a", "a"]}, "2 items of '' need as many different names"),
    ],
)
def test_arrays_that_are_no_labels_are_named(values, options, message):
    with pytest.raises(TableError, match=re.escape(message)):
        matrix_of_values(values, LABELS, **options)


def test_a_share_that_one_run_lacks_is_the_mean_of_the_others():
    key = matrix([[1, 0, 0], [1, 1, 0]])
    runs = np.array([[[0, 1, 0], [0, 0, 0]], [[1, 1, 0], [1, 1, 0]]], float)
    both = matrix_of_values(runs, LABELS, items=key.items, rater="model")
    warm = label_scores(key, both, resamples=0).labels[0]
    assert (warm.precision.value, warm.recall.value) == (1.0, 0.5)  # never named in the first run


def test_ratings_in_any_order_with_their_worst_status_and_the_label_ranked_first():
    rows = [
        ("2", "m", 2, "warm", 0, "ok", 2), ("2", "m", 2, "cold", 1, "ok", 1),
        ("1", "m", 1, "warm", None, "unparsable", None), ("1", "m", 1, "cold", 0, "ok", None),
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=[*NAMES, "rank"], orient="row", strict=False)
    found = matrix_of_ratings(frame, "m", ["warm", "cold"], items=["1", "2"])
    assert found.runs == (1, 2)
    assert found.statuses.tolist() == [["unparsable", "failed"], ["failed", "ok"]]
    assert found.first.tolist() == [[-1, -1], [-1, 1]]
    assert found.named(1, 1) == ("cold",)
    again = matrix_of_ratings(ratings_of(found), "m", ["warm", "cold"])
    assert np.array_equal(again.values, found.values, equal_nan=True)
    assert again.statuses.tolist() == found.statuses.tolist()
    assert again.first.tolist() == found.first.tolist()
