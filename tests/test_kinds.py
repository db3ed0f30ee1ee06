"""Kinds of judgements: what a column is recognised as, and vectors that mean the same for each."""

import numpy as np
import polars as pl
import pytest

from voirdire.errors import StatisticsError
from voirdire.kinds import KINDS, LABEL, MISSING, SCORE, Cells, encode, recognised
from voirdire.parsing import LabelSet
from voirdire.schema import Scale

LABELS = LabelSet(("negative", "neutral", "positive"))


def cells(*texts):
    return Cells.of("judge", [pl.Series(list(texts))])


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["1", "2", "5", "4", "2"], ["score"]),
        (["4/5", "3/5", "3/5", "n/a"], ["score"]),
        (["yes", "no", "yes", "No"], ["label"]),
        (["positive", "neutral"] * 4 + ["n/a"], ["label"]),
        (["a text that nobody has written twice", "another one of these"], []),
        (["gpt", "claude", "llama", "qwen"], []),  # nothing repeats
        (["7", "7", "7", "7"], []),  # one value says nothing
        (["+", "++", "+", "++"], []),  # signs have no spelling
        ([None, "", " "], []),
    ],
)
def test_a_column_is_recognised_by_its_distinct_cells(column, kind):
    assert list(recognised(cells(*column))) == kind


def test_what_is_open_is_a_question_and_not_a_default():
    of_none = LABEL.recognise(cells(*["good", "bad", "None"] * 3))
    assert of_none.question == "is 'None' a label, or is it no answer?"
    assert of_none.domain.labels == ("bad", "good")
    among_numbers = SCORE.recognise(cells("1", "2", "3", "2", "often"))
    assert among_numbers.question == "which number is each of often?"


def test_a_scale_is_suggested_with_its_step():
    assert SCORE.recognise(cells("1", "5", "2")).domain == Scale(1, 5, 1)
    assert SCORE.recognise(cells("1", "4.5", "2")).domain == Scale(1, 4.5, 0.5)
    assert SCORE.recognise(cells("0.113", "0.93714", "0.5")).domain.continuous


def test_spellings_are_folded_and_words_off_the_list_are_missing():
    checked = LABEL.check(cells("Positive", "positive ", "NEUTRAL", "n/a", "mixed"), LABELS)
    by_status = dict(
        zip(
            cells("Positive", "positive ", "NEUTRAL", "n/a", "mixed").texts,
            checked.statuses,
            strict=True,
        )
    )
    assert by_status == {
        "Positive": "ok",
        "positive": "ok",
        "NEUTRAL": "ok",
        "n/a": "blank",
        "mixed": "out_of_scale",
    }
    assert set(checked.values) == {"positive", "neutral", None}


def test_a_label_that_is_declared_may_be_spelled_none():
    labels = LabelSet(("none", "tedium"))
    assert LABEL.check(cells("none"), labels).values == ("none",)


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_decodes_what_it_encodes(name):
    kind = KINDS[name]
    domain, column = {
        "score": (Scale(1, 5, 0.5), ["1", "2.5", "5"]),
        "label": (LABELS, ["neutral", "negative", "positive"]),
    }[name]
    values = [value for value in kind.check(cells(*column), domain).values if value is not None]
    vectors = kind.vectors(values, domain)
    assert [kind.decode(vector, domain) for vector in vectors] == values
    assert sorted(kind.worded(value, domain) for value in values) == sorted(column)


@pytest.fixture
def said():
    rng = np.random.default_rng(5)
    words = [*LABELS.labels, "Positive", None, "n/a", "mixed"]
    columns = {name: pl.Series(rng.choice(len(words), 500)) for name in ("ann", "ben", "gpt")}
    texts = {name: pl.Series([words[at] for at in column]) for name, column in columns.items()}
    return texts, encode(LABEL, texts, LABELS, "sentiment")


def test_codes_are_those_of_a_loop_over_all_cells(said):
    texts, judgements = said
    for rater, column in texts.items():
        slow = [LABELS.forms.get((cell or "").casefold()) for cell in column]
        codes = judgements.codes[judgements.raters.index(rater)]
        assert [None if c == MISSING else judgements.values[c] for c in codes] == slow
        rows = judgements.rows(rater)
        assert [None if np.isnan(row).any() else LABEL.decode(row, LABELS) for row in rows] == slow
    assert judgements.strange["mixed"][0] == "out_of_scale"
    assert judgements.strange["n/a"][0] == "blank"
    assert judgements.strange["mixed"][1] == sum(
        (column == "mixed").sum() for column in texts.values()
    )


def test_sums_over_patterns_are_sums_over_units(said):
    _, judgements = said
    system = np.arange(500) % 3
    patterns = judgements.patterns(system)
    assert len(patterns.counts) < 400
    assert patterns.counts.sum() == 500
    # The slow twin: every unit by itself, with numpy's own means.
    people = np.stack([judgements.rows("ann"), judgements.rows("ben")])
    present = ~np.isnan(people).any(axis=2)
    with np.errstate(invalid="ignore"):
        mean = np.where(present[..., None], people, 0).sum(axis=0) / present.sum(axis=0)[:, None]
    slow = (mean * judgements.rows("gpt")).sum(axis=1)
    fast = patterns.products(patterns.mean(["ann", "ben"]), patterns.mean(["gpt"]))
    np.testing.assert_allclose(fast[patterns.place], slow)
    np.testing.assert_array_equal(system[patterns.first][patterns.place], system)
    by_system = np.bincount(system[patterns.first], np.nan_to_num(fast) * patterns.counts)
    np.testing.assert_allclose(by_system, np.bincount(system, np.nan_to_num(slow)))


def test_a_dot_product_of_two_labels_is_their_agreement():
    columns = {"ann": pl.Series(["yes", "no", "no"]), "gpt": pl.Series(["yes", "yes", "no"])}
    judgements = encode(LABEL, columns, LabelSet(("no", "yes")))
    patterns = judgements.patterns()
    same = patterns.products(patterns.mean(["ann"]), patterns.mean(["gpt"]))
    assert (same * patterns.counts).sum() / 3 == pytest.approx(2 / 3)


def test_scores_are_read_from_numbers_and_from_texts_alike():
    scale = Scale(1, 5)
    texts = encode(SCORE, {"gpt": pl.Series(["4/5", "3", None, "9"])}, scale)
    numbers = encode(SCORE, {"gpt": pl.Series([4.0, 3.0, np.nan, 9.0])}, scale)
    np.testing.assert_array_equal(texts.rows("gpt"), numbers.rows("gpt"))
    np.testing.assert_array_equal(texts.rows("gpt")[:, 0], [4, 3, np.nan, np.nan])
    assert texts.strange == {"9": ("out_of_scale", 1)}


def test_errors_say_what_is_wrong():
    with pytest.raises(StatisticsError, match=r"differ in length: \[1, 2\]"):
        encode(SCORE, {"a": pl.Series(["1"]), "b": pl.Series(["1", "2"])}, Scale())
    judgements = encode(SCORE, {"a": pl.Series(["1"])}, Scale())
    with pytest.raises(StatisticsError, match="needs a rater"):
        judgements.patterns().mean([])
