"""Measures of corpora against other programs' values, and on corpora of known difference."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voirdire import StatisticsError, TableError
from voirdire.examining.labels.corpora import (
    adversarial_validation,
    class_divergences,
    jensen_shannon,
    median_gamma,
    mmd,
    mmd_pairings,
)

WORDS = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=8).map(" ".join)
TEXTS = st.lists(WORDS, min_size=1, max_size=6)


@pytest.fixture(scope="module")
def reference(shared):
    """stats_reference.json: made by scipy and scikit-learn, and by hand."""
    path = shared / "reference" / "stats_reference.json"
    return json.loads(path.read_text(encoding="utf-8"))["text_and_f1"]


@pytest.mark.shared
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize(("base", "name"), [(2.0, "2"), (math.e, "2.718")])
def test_divergence_equals_scipys(reference, n, smoothing, base, name):
    texts, expected = reference["texts"], reference["jsd"][f"n{n}_alpha{smoothing}_base{name}"]
    found = jensen_shannon(texts["A"], texts["B"], n=n, smoothing=smoothing, base=base)
    assert found.value == pytest.approx(expected["scipy_jensenshannon_squared"], abs=1e-9)
    assert found.details["vocabulary"] == expected["V"]
    root = jensen_shannon(texts["A"], texts["B"], n=n, smoothing=smoothing, base=base, root=True)
    assert root.value**2 == pytest.approx(found.value, abs=1e-9)
    assert (found.details["form"], root.details["form"]) == ("divergence", "root")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["gamma0.5", "gamma_median_1/(2 sigma^2)"])
def test_discrepancy_equals_the_reference(reference, name):
    rng = np.random.default_rng(42)
    x, y = rng.normal(0, 1, (50, 3)), rng.normal(0.5, 1.2, (60, 3))
    expected = reference["mmd_rbf"][name]
    found = mmd(x, y, gamma=0.5 if name == "gamma0.5" else None, permutations=200)
    assert found.value == pytest.approx(expected["unbiased_U"], abs=1e-9)
    assert found.details["biased"] == pytest.approx(expected["biased_V"], abs=1e-9)
    assert found.details["gamma"] == pytest.approx(expected["gamma"], abs=1e-9)
    assert found.details["p"] < 0.02


@pytest.mark.shared
def test_adversarial_validation_equals_scikit_learns(reference):
    texts = reference["texts"]
    found = adversarial_validation(texts["A"], texts["B"], ngrams=(1, 1), folds=4)
    assert found.roc_auc.value == pytest.approx(reference["adversarial_tfidf_lr"]["auc"], abs=1e-9)
    assert found.auc_of_labels == pytest.approx(found.accuracy.value)  # as Table 8's look


def slow_mmd(x, y, gamma):
    """The three sums, term by term."""

    def k(a, b):
        return math.exp(-gamma * sum((p - q) ** 2 for p, q in zip(a, b, strict=True)))

    within = [
        sum(k(a, b) for i, a in enumerate(side) for j, b in enumerate(side) if i != j)
        / (len(side) * (len(side) - 1))
        for side in (x, y)
    ]
    return sum(within) - 2 * sum(k(a, b) for a in x for b in y) / (len(x) * len(y))


def test_discrepancy_equals_its_slow_twin_and_forgets_order():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(7, 2)), rng.normal(1, 1, size=(5, 2))
    assert mmd(x, y, gamma=0.3, permutations=0).value == pytest.approx(slow_mmd(x, y, 0.3))
    assert mmd(y[::-1], x, gamma=0.3).value == pytest.approx(mmd(x, y, gamma=0.3).value)


def test_the_permutation_test_keeps_its_level_and_finds_a_shift():
    rng = np.random.default_rng(0)
    same = [
        mmd(rng.normal(size=(20, 2)), rng.normal(size=(20, 2)), permutations=99, seed=s).details[
            "p"
        ]
        for s in range(200)
    ]
    assert 0.01 <= np.mean(np.array(same) <= 0.05) <= 0.10  # 0.05 +- 3 s.e.
    shifted = mmd(rng.normal(size=(40, 2)), rng.normal(2, 1, size=(40, 2)), permutations=99)
    assert shifted.details["p"] == 0.01


def test_rows_are_drawn_where_there_are_too_many_and_lost_ones_are_counted():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(100, 2))
    x[0, 0] = np.nan
    found = mmd(x, y, permutations=0, most=80)
    assert (found.n, found.left_out, found.details["sampled"]) == (80, 1, True)
    assert mmd(x, y, permutations=0).details["sampled"] is False


def test_what_is_undefined_has_a_reason():
    assert mmd(np.ones((3, 2)), np.ones((3, 2))).reason == "zero_expected_disagreement"
    assert mmd([[1.0]], [[2.0], [3.0]]).reason == "no_data"
    assert jensen_shannon(["a"], [""]).reason == "no_data"
    assert jensen_shannon(["a"], ["b"], n=2).left_out == 2
    assert math.isnan(median_gamma([[1.0], [1.0]]))
    assert mmd_pairings(np.zeros((0, 2)), np.ones((2, 2)))[0].reason == "no_data"
    for wrong in ({"n": 0}, {"smoothing": -1}, {"base": 1}):
        with pytest.raises(StatisticsError, match="must be"):
            jensen_shannon(["a"], ["b"], **wrong)
    with pytest.raises(StatisticsError, match="of one width"):
        mmd(np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(StatisticsError, match="folds must be"):
        adversarial_validation(["a"], ["b"] * 9)


def test_pairings_are_drawn_once_each_and_are_not_zero_for_equal_classes():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 3))
    mean, median = mmd_pairings(x, x, runs=1000)
    assert mean.details["pairs"] == 1000
    assert mean.value > 0.5 > abs(mmd(x[:30], x[30:], permutations=0).value)
    assert 0 < median.value < 2
    assert mmd_pairings(x[:3], x[3:7])[0].details["pairs"] == 12
    assert mmd_pairings(x, x)[0].value == mmd_pairings(x, x)[0].value


@given(TEXTS, TEXTS, st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=30, deadline=None)
def test_divergence_is_symmetric_bounded_and_0_for_equal_corpora(a, b, smoothing):
    one = jensen_shannon(a, b, smoothing=smoothing).value
    assert one == pytest.approx(jensen_shannon(b, a, smoothing=smoothing).value)
    assert -1e-12 <= one <= 1 + 1e-12
    assert jensen_shannon(a, a[::-1], smoothing=smoothing).value == pytest.approx(0, abs=1e-12)


def test_classes_of_a_corpus_pair_by_pair():
    rng = np.random.default_rng(5)
    classes = ["a"] * 30 + ["b"] * 30 + ["c"] * 30 + [None] * 5
    words = {"a": "red green blue", "b": "red green grey", "c": "one two three"}
    texts = [" ".join(rng.permutation(words.get(c, "x").split())) for c in classes]
    frame = pl.DataFrame({"text": texts, "label": classes})
    vectors = np.concatenate([rng.normal(m, 1, (30, 4)) for m in (0, 0.2, 3)] + [np.ones((5, 4))])
    found = class_divergences(frame, vectors=vectors, permutations=99)
    pairs = found.select("class_a", "class_b").rows()
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    near, far = found.row(0, named=True), found.row(1, named=True)
    assert near["jsd_unigram"] < far["jsd_unigram"]
    assert near["mmd2"] < far["mmd2"]
    assert (far["p"], found["gamma"].n_unique()) == (0.01, 1)
    assert class_divergences(frame)["mmd2"].null_count() == 3
    with pytest.raises(TableError, match="no column 'tekst'"):
        class_divergences(frame, text="tekst")
    with pytest.raises(TableError, match="need as many vectors"):
        class_divergences(frame, vectors=vectors[:3])


def test_validation_tells_different_corpora_apart_and_not_equal_ones():
    rng = np.random.default_rng(7)
    vocabulary = np.array([f"w{i}" for i in range(40)])
    same = [" ".join(rng.choice(vocabulary, 12)) for _ in range(160)]
    equal = adversarial_validation(same[:80], [*same[80:], "", None], seed=1)
    assert abs(equal.roc_auc.value - 0.5) < 0.15
    assert (equal.left_out, equal.share_target) == (2, 0.5)
    changed = [text.replace("w1", "v1") for text in same[80:]]  # eleven of forty words
    other = adversarial_validation(same[:80], changed, seed=1)
    assert other.roc_auc.value > 0.95 < other.accuracy.value
    assert other.mcc.value > 0.9


def test_texts_in_both_corpora_are_held_out_together_and_counted():
    rng = np.random.default_rng(8)
    vocabulary = np.array([f"w{i}" for i in range(40)])
    texts = [" ".join(rng.choice(vocabulary, 12)) for _ in range(60)]
    found = adversarial_validation(texts, [text.upper() for text in texts])
    assert found.repeated == 60
    assert abs(found.roc_auc.value - 0.5) < 0.1  # split apart they would give about 0.05


@pytest.mark.parametrize(("size", "exact"), [(2, 2 / 6), (3, 2 / 20)])
def test_relabellings_that_give_the_same_sides_count_as_much(size, exact):
    """Of all relabellings of two far sides two come to as much: the observed one and its swap."""
    near = np.arange(size)[:, None] / 10
    found = mmd(near, near + 5, permutations=4000, seed=1)
    assert found.details["p"] == pytest.approx(exact, abs=0.03)


def test_a_corpus_of_one_text_over_and_over_is_too_small():
    with pytest.raises(
        StatisticsError, match="as many different texts, got 5 folds, 2 and 6 texts"
    ):
        adversarial_validation(["a day", "A  day", "tea"] * 4, [f"word {n}" for n in "abcdef"])
