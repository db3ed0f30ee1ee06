"""Labels, targets, splits, thresholds and the TF-IDF baseline."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_encoder import LABELS, multi_hot, one_hot, sentences

from voirdire.errors import InputError, StudyError, TableError
from voirdire.examining.labels import (
    SPLITS,
    choose_thresholds,
    decide,
    stratified_split,
    weighted_f1,
)
from voirdire.stats import classification_scores
from voirdire.study import build_study
from voirdire_judges.classifiers import evaluate_grid, fit_grid, read_dataset, tfidf


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=60),
    st.integers(0, 5),
    st.sampled_from([(0.7, 0.15, 0.15), (0.5, 0.25, 0.25), (0.9, 0.1, 0.0), (1.0, 0.0, 0.0)]),
)
def test_splits_are_exact_to_rounding_and_ignore_the_order_of_rows(strata, seed, fractions):
    ids = [f"item {i}" for i in range(len(strata))]
    split = stratified_split(ids, strata, fractions, seed)
    for part, share in zip(SPLITS, fractions, strict=True):
        assert abs((split == part).sum() - share * len(ids)) <= 1
        for stratum in set(strata):
            here = np.array(strata) == stratum
            assert abs((split[here] == part).sum() - share * here.sum()) < 2
    order = np.random.default_rng(1).permutation(len(ids))
    again = stratified_split([ids[i] for i in order], [strata[i] for i in order], fractions, seed)
    assert (again == split[order]).all()


def test_the_split_of_the_paper():
    # Table 3 of paper 000: 1771 / 379 / 380 of 2,530, which 70:15:15 gives to rounding.
    ids = [str(i) for i in range(2530)]
    split = stratified_split(ids, ["x"] * 2530)
    assert [int((split == part).sum()) for part in SPLITS] == [1771, 379, 380]


@given(st.integers(2, 25), st.integers(1, 4), st.integers(0, 10**6))
def test_thresholds_are_as_good_as_any_by_trying_all(n, q, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 8, (n, q)) / 8  # ties
    truth = (rng.random((n, q)) < 0.4).astype(np.int8)
    tried = [t for value in np.unique(scores) for t in (value, value + 1e-6)]
    if not truth.any():
        assert choose_thresholds(scores, truth, "shared").tolist() == [0.5] * q
        return
    best = max(weighted_f1(truth, (scores >= t).astype(float)) for t in tried)
    shared = choose_thresholds(scores, truth, "shared")
    assert weighted_f1(truth, decide(scores, "multi-label", shared)) == pytest.approx(best)
    each = choose_thresholds(scores, truth, "each")
    assert weighted_f1(truth, decide(scores, "multi-label", each)) >= best - 1e-12
    absent = ~truth.any(axis=0)
    assert (each[absent] == shared[absent]).all()


def test_weighted_f1_is_that_of_the_statistics_room():
    rng = np.random.default_rng(0)
    truth, predicted = ((rng.random((40, 5)) < 0.3).astype(np.int8) for _ in range(2))
    expected = classification_scores(truth, predicted)["f1_weighted"].value
    assert weighted_f1(truth, predicted.astype(float)) == pytest.approx(expected)


def test_a_missing_score_is_a_missing_decision():
    scores = np.array([[0.9, 0.1], [np.nan, 0.4]])
    for task in ("binary", "multi-label"):
        assert np.isnan(decide(scores, task)[1]).all()
    truth = np.array([[1, 0], [1, 1]], dtype=np.int8)
    assert choose_thresholds(scores, truth, "fixed").tolist() == [0.5, 0.5]


def study_of(folder, rows, **classify):
    pl.DataFrame(rows).write_csv(folder / "data.csv")
    part = {
        "data": [{"name": "mild", "path": "data.csv"}],
        "label_sets": [{"name": "gold", "column": "gold"}],
        "models": [{"name": "words", "use": "tfidf"}],
        "labels": [*LABELS, "none of these"],
        "none": "none of these",
        **classify,
    }
    return build_study({"name": "grid", "classify": part}, folder=str(folder))


def dataset_of(folder, rows, **classify):
    study = study_of(folder, rows, **classify)
    return read_dataset(study.classify, study.classify.data[0], folder)


ROWS = {
    "id": list("abcdefg"),
    "text": ["one", "two", "", "four", "five", "six", "one"],
    "gold": ["Music; garden", '["Kitchen"]', "garden", "", "None of these", "jazz", "garden"],
    "split": ["train", "Validation", "test", "train", "train", "test", "test"],
}
TASKS = ("binary", "multi-class", "multi-label")


def test_labels_are_read_in_order_and_what_is_missing_is_counted(tmp_path):
    sets = [{"name": "gold", "column": "gold", "tasks": TASKS}]
    data = dataset_of(tmp_path, ROWS, label_sets=sets, split="split")
    several = data.targets["gold", "multi-label"]
    assert several.classes == (*LABELS, "none of these")  # weather is declared and never used
    assert several.values[0].tolist() == [1, 1, 0, 0, 0]
    assert several.reasons.tolist() == ["", "", "", "blank", "", "undeclared label", ""]
    dominant = data.targets["gold", "multi-class"]
    assert dominant.values[0].tolist() == [0, 1, 0, 0, 0]
    binary = data.targets["gold", "binary"]
    assert binary.classes == ("none of these", "any")
    assert binary.values[[0, 4]].tolist() == [[0, 1], [1, 0]]
    assert data.split.tolist() == ["train", "dev", "test", "train", "train", "test", "test"]
    assert any("'jazz' 1x" in note for note in data.notes)
    assert any("1 test text is in train or dev too" in note for note in data.notes)


def test_rows_that_are_used_and_left_out_are_counted_by_reason(tmp_path):
    sets = [{"name": "gold", "column": "gold", "tasks": ["multi-label"]}]
    study = study_of(tmp_path, ROWS, label_sets=sets, split="split", seeds=[0])
    fit_grid(study, tmp_path / "grid", quiet=True)
    (result,) = (tmp_path / "grid").glob("cells/*/result.json")
    assert json.loads(result.read_text("utf-8"))["rows"] == {
        "train": {"used": 2, "no text": 0, "incomplete": 0, "blank": 1},
        "dev": {"used": 1, "no text": 0, "incomplete": 0},
        "test": {"used": 2, "no text": 1, "incomplete": 0, "undeclared label": 1},
    }
    # A test item without a text stays, to be counted as missing; one without labels cannot.
    tested = evaluate_grid(tmp_path / "grid").predictions
    assert tested["item"].unique(maintain_order=True).to_list() == ["c", "g"]


@pytest.mark.parametrize("none", ["none of these", "None"])
def test_neither_none_nor_a_label_and_both_are_missing_in_every_task(tmp_path, none):
    rows = {
        "id": list("abcd"),
        "text": list("wxyz"),
        "gold": ["[]", f"{none}; music", none, "music"],
        "m": [0, 1, 0, 1],
        "n": [0, 1, 1, 0],
    }
    declared = {"labels": ["music", none], "none": none if none != "None" else ""}
    sets = [
        {"name": "list", "column": "gold", "tasks": TASKS},
        {"name": "columns", "columns": {"music": "m", none: "n"}, "none": none, "tasks": TASKS},
    ]
    data = dataset_of(tmp_path, rows, label_sets=sets, **declared)
    for name in ("list", "columns"):
        for task in TASKS:
            target = data.targets[name, task]
            assert target.reasons.tolist() == ["no label", "contradiction", "", ""]
            assert target.known.tolist() == [False, False, True, True]
        assert data.targets[name, "binary"].values[2:].tolist() == [[1, 0], [0, 1]]
    assert any("2 rows without labels (no label 1, contradiction 1)" in n for n in data.notes)


def test_a_row_without_labels_in_one_set_leaves_all_where_asked(tmp_path):
    rows = {**ROWS, "other": ["music", "", "music", "music", "garden", "music", "music"]}
    sets = [{"name": name, "column": name} for name in ("gold", "other")]
    kept = dataset_of(tmp_path, rows, label_sets=sets, split="split")
    assert kept.usable.all()
    cut = dataset_of(tmp_path, rows, label_sets=sets, split="split", complete=True)
    assert cut.usable.tolist() == [True, False, True, False, True, False, True]
    assert any("3 rows lack labels in some label set" in note for note in cut.notes)


def test_columns_of_0_and_1_and_classes_of_exact_sets(tmp_path):
    rows = {
        "id": list("abcd"), "text": list("wxyz"), "d": [0, 1, 1, None], "a": ["no", "yes", "0", "1"],
    }  # fmt: skip
    columns = {"depression": "d", "anxiety": "a"}
    classes = {
        "control": [],
        "depression": ["depression"],
        "anxiety": ["anxiety"],
        "comorbid": ["depression", "anxiety"],
    }
    sets = [
        {"name": "four", "columns": columns, "classes": classes, "tasks": ["multi-class"]},
        {"name": "one", "columns": {"depression": "d"}, "tasks": ["binary"]},
    ]
    wider = {"labels": [*columns, "control"], "none": "control", "tasks": TASKS}
    sets.append({"name": "calm", "columns": columns, **wider})
    data = dataset_of(tmp_path, rows, label_sets=sets, labels=list(columns), none="")
    calm = data.targets["calm", "multi-label"]
    assert calm.values[:3].tolist() == [[0, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert data.targets["calm", "binary"].values[0].tolist() == [1, 0]
    four = data.targets["four", "multi-class"]
    assert four.values[:3].argmax(axis=1).tolist() == [0, 3, 1]
    assert four.reasons.tolist() == ["", "", "", "blank"]
    assert data.targets["one", "binary"].classes == ("not depression", "depression")


def test_a_test_file_of_its_own(tmp_path):
    gold = {"id": ["a", "x"], "text": ["one", "nine"], "gold": ["garden", "music"]}
    pl.DataFrame(gold).write_csv(tmp_path / "gold.csv")
    silver = {"id": [str(i) for i in range(20)], "text": [f"t{i}" for i in range(20)]}
    silver["gold"] = ["garden", "music"] * 10
    data = [{"name": "mild", "path": "data.csv", "test": "gold.csv"}]
    found = dataset_of(tmp_path, silver, data=data, fractions=[0.8, 0.2, 0.0])
    counts = [int((found.split == part).sum()) for part in SPLITS]
    assert counts == [16, 4, 2]
    with pytest.raises(StudyError, match=r"third of classify\.fractions must be 0"):
        dataset_of(tmp_path, silver, data=data)
    # The test file needs no column of splits, but every column of labels.
    silver["split"] = ["train"] * 15 + ["dev"] * 5
    found = dataset_of(tmp_path, silver, data=data, split="split")
    assert [int((found.split == part).sum()) for part in SPLITS] == [15, 5, 2]
    pl.DataFrame(gold).drop("gold").write_csv(tmp_path / "gold.csv")
    with pytest.raises(
        TableError,
        match=r"gold\.csv: there is no column 'gold' .*it is named by \"label set 'gold'\"",
    ):
        dataset_of(tmp_path, silver, data=data, split="split")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": list("abcdefa")}, r"line 8, column 'id': item 'a' occurs more than once"),
        ({"id": [*"abcdef", " a"]}, r"line 8, column 'id': item 'a' occurs more than once"),
        ({"id": [*"abcdef", "  "]}, r"line 8, column 'id': the item's id is empty"),
        (
            {"split": ["train"] * 6 + ["later"]},
            r"data\.csv, item 'g', column 'split': split 'later' is unknown .allowed: train, dev",
        ),
    ],
)
def test_tables_that_cannot_be_used(tmp_path, change, message):
    with pytest.raises(TableError, match=message):
        dataset_of(tmp_path, {**ROWS, **change}, split="split")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"fractions": [0.5, 0.2, 0.2]}, "must add up to 1"),
        ({"stratify": "silver"}, "stratify must name a label set, got 'silver'"),
        ({"label_sets": [{"name": "x"}]}, "needs either column or columns"),
        ({"seeds": [1, 1]}, r"seeds names \['1'\] twice"),
        ({"none": "None of those"}, r"classify\.none: label 'None of those' is unknown"),
        (
            {"label_sets": [{"name": "x", "column": "gold", "none": "nothing"}]},
            "label set 'x', key 'none': label 'nothing' is unknown",
        ),
        ({"models": [{"name": "a", "use": "tfidf", "grid": {"c": []}}]}, r"grid\.c.*at least 1"),
        (
            {"models": [{"name": "a", "use": "llm", "options": {"api_key": "x"}}]},
            "environment only",
        ),
    ],
)
def test_studies_that_cannot_be_meant(tmp_path, part, message):
    with pytest.raises(StudyError, match=message):
        study_of(tmp_path, ROWS, **part)


@pytest.mark.parametrize("task", ["multi-class", "multi-label"])
def test_the_baseline_learns_and_is_the_same_after_saving(tmp_path, task):
    texts, labels = sentences(300)
    truth = one_hot(labels) if task == "multi-class" else multi_hot(labels)
    made = tfidf.make(LABELS, task=task)
    known = made.fit(texts[:200], truth[:200], validation=(texts[200:250], truth[200:250]))
    scores = known.predict(texts[250:])
    assert weighted_f1(truth[250:], decide(scores, task)) > 0.7
    assert (scores[:, 3] == 0).all()  # no text is about the weather
    known.save(tmp_path / "kept")
    assert np.array_equal(made.load(tmp_path / "kept").predict(texts[250:]), scores)
    assert np.isnan(known.predict(["  "])).all()


def test_the_baseline_agrees_with_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    texts, labels = sentences(200)
    truth = multi_hot(labels)[:, :3]
    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, strip_accents="unicode")
    rows = vectors.fit_transform(texts[:150])
    peer = OneVsRestClassifier(LogisticRegression(C=10.0, max_iter=2000)).fit(rows, truth[:150])
    ours = tfidf.make(LABELS[:3], task="multi-label", c=10.0).fit(texts[:150], truth[:150])
    expected = peer.predict_proba(vectors.transform(texts[150:]))
    assert np.allclose(ours.predict(texts[150:]), expected)


def test_one_class_only_and_no_words():
    only = tfidf.make(["a", "b", "c"], task="multi-class")
    known = only.fit(["some words", "more words"], np.array([[0, 1, 0], [0, 1, 0]], dtype=np.int8))
    assert known.predict(["whatever comes"]).tolist() == [[0, 1, 0]]
    with pytest.raises(InputError, match="hold no words"):
        only.fit(["!", "?"], np.eye(3, dtype=np.int8)[:2])
    with pytest.raises(InputError, match=r"labels must have shape \(1, 3\), got \(2, 3\)"):
        only.fit(["one"], np.eye(3, dtype=np.int8)[:2])
    with pytest.raises(InputError, match="not trained yet"):
        only.predict(["one"])
    rows = np.array([[0, 1, 0], [0, 0, 0]], dtype=np.int8)
    with pytest.raises(InputError, match="a multi-class text has one class, text 1 has 0"):
        only.fit(["some words", "more words"], rows)


def test_what_was_saved_for_other_classes_is_not_loaded(tmp_path):
    made = tfidf.make(["a", "b"], task="binary", ngrams=[1, 1])
    known = made.fit(["some words", "other words"], np.eye(2, dtype=np.int8))
    known.save(tmp_path)
    again = tfidf.make(["a", "b"], task="binary").load(tmp_path)
    assert again.ngrams == (1, 1)
    assert np.array_equal(again.predict(["some"]), known.predict(["some"]))
    with pytest.raises(InputError, match=r"holds a binary classifier for \['a', 'b'\], not a"):
        tfidf.make(["a", "c"], task="binary").load(tmp_path)
    with pytest.raises(InputError, match=r"no trained tfidf classifier \(no tfidf\.json\)"):
        made.load(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": -1.0}, r"c must be one number above 0 or several, got -1\.0"),
        ({"c": []}, "c must be one number above 0 or several"),
        ({"ngrams": [2, 1]}, r"ngrams must be two whole numbers.*got \[2, 1\]"),
        ({"min_df": 0}, "min_df 1 or more, got .* and 0"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        tfidf.make(["a", "b"], task="binary", **options)


def test_two_classes_of_the_same_labels(tmp_path):
    classes = {"calm": ["music"], "loud": ["music"]}
    sets = [{"name": "gold", "column": "gold", "classes": classes, "tasks": ["multi-class"]}]
    with pytest.raises(StudyError, match="two of its classes hold the same labels"):
        dataset_of(tmp_path, ROWS, label_sets=sets)


def test_lists_from_parquet_are_labels_too(tmp_path):
    frame = pl.DataFrame({"id": ["a", "b"], "text": ["x", "y"], "gold": [["music", "garden"], []]})
    frame.write_parquet(tmp_path / "data.parquet")
    parts = {"data": [{"name": "mild", "path": "data.parquet"}], "labels": LABELS, "none": ""}
    study = study_of(tmp_path, ROWS, **parts)
    data = read_dataset(study.classify, study.classify.data[0], tmp_path)
    assert data.targets["gold", "multi-label"].values.tolist() == [[1, 1, 0, 0], [0] * 4]
    assert json.loads(study.model_dump_json())["classify"]["complete"] is False
