"""What is asked of labels and preferences: is a confidence a probability, are codes classes, what
does *none* say in a set, who was shown first; and what is shown of one item.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from voirdire import examine
from voirdire.errors import QuestionError, TableError
from voirdire.examining.annotating import read_annotations
from voirdire.examining.correcting import correct
from voirdire.examining.item import item_sections
from voirdire.examining.source import open_source
from voirdire.report.first import correction_said
from voirdire.study import ReadOptions

WORDS = ("praise", "refund", "shipping")
RATERS = ("human_1", "human_2", "gpt")


def said(rng, truth, right, words=WORDS):
    other = rng.choice(words, len(truth))
    return np.where(rng.random(len(truth)) < right, truth, other)


def labels(n=240, seed=3):
    """A judge that is as right as it is sure, beside two people."""
    rng = np.random.default_rng(seed)
    truth, sure = rng.choice(WORDS, n), rng.uniform(0.4, 1.0, n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "human_1": said(rng, truth, 0.9),
            "human_2": said(rng, truth, 0.9),
            "gpt": np.where(rng.random(n) < sure, truth, rng.choice(WORDS, n)),
            "confidence": sure.round(3),
        }
    )


def question(table, **options):
    with pytest.raises(QuestionError) as asked:
        open_source(table, read=ReadOptions(**options))
    return asked.value


def kinds(table, **options):
    """Attribute -> kind of what is read."""
    found = open_source(table, read=ReadOptions(**options)).judgements
    return {} if found is None else {one.attribute: one.kind for one in found.questions}


def test_a_confidence_beside_labels_is_asked_about_and_no_probability_by_its_name():
    table = labels()
    asked = question(table)
    assert (asked.key, asked.choices) == ("probability", ("confidence", "none"))
    assert kinds(table, probability="none") == {"label": "label"}
    assert kinds(table, kind="label") == {"label": "label"}
    assert sorted(kinds(table, probability="confidence").values()) == ["label", "probability"]


def test_it_is_asked_of_yes_and_no_of_rows_and_of_several_judges():
    table = labels()
    two = table.with_columns(
        pl.when(pl.col(c) == "refund").then(pl.lit("yes")).otherwise(pl.lit("no")).alias(c)
        for c in RATERS
    )
    assert question(two).choices == ("confidence", "none")
    rows = table.unpivot(
        RATERS, index=["id", "confidence"], variable_name="rater", value_name="label"
    )
    rows = rows.with_columns(pl.when(pl.col("rater") == "gpt").then("confidence"))
    assert question(rows).choices == ("confidence", "none")
    several = table.rename({"confidence": "gpt_confidence"}).with_columns(
        pl.col("human_1").alias("llama"), pl.col("gpt_confidence").alias("llama_confidence")
    )
    assert (question(several).key, question(several).choices) == ("kind", ("probability", "label"))


def test_a_confidence_of_another_kind_is_not_asked_about():
    rng = np.random.default_rng(1)
    percent = labels().with_columns((pl.col("confidence") * 5).round().alias("confidence"))
    assert kinds(percent) == {"label": "label"}
    grades = {name: rng.integers(1, 6, 80) for name in RATERS}
    table = pl.DataFrame({"id": range(80), **grades}).with_columns(pl.lit(0.5).alias("confidence"))
    assert kinds(table) == {}


def comparisons(n=60, seed=2):
    rng = np.random.default_rng(seed)
    better = rng.choice(["model_a", "model_b"], n)
    rows = [
        {"question_id": k, "model_a": "x", "model_b": "y", "judge": rater, "winner": str(who)}
        for rater in RATERS
        for k, who in enumerate(better)
    ]
    return pl.DataFrame(rows).with_columns(
        pl.Series("confidence", rng.uniform(0.5, 1, 3 * n).round(3)),
        pl.Series("shown_first", rng.choice(["model_a", "model_b"], 3 * n)),
    )


def test_a_confidence_beside_winners_is_asked_about():
    assert question(comparisons()).choices == ("confidence", "none")
    found = open_source(comparisons(), read=ReadOptions(probability="none"))
    assert found.preferences is not None


@pytest.mark.parametrize("words", [("model_a", "model_b"), ("A", "B"), ("x", "y"), ("1", "2")])
def test_who_was_shown_first_is_a_system_or_the_column_or_place_that_it_stands_in(words):
    table = comparisons().drop("confidence")
    told = table.with_columns(
        pl.col("shown_first").replace({"model_a": words[0], "model_b": words[1]})
    )
    shown = open_source(told).preferences.table["shown_first"]
    expected = table["shown_first"].replace({"model_a": "x", "model_b": "y"})
    assert shown.to_list() == expected.to_list()
    assert question(table.with_columns(pl.lit("z").alias("shown_first"))).key == "first"


def coded(near, n=300, right=0.8, seed=5):
    """Two people and a judge who give 1 to 5; where they differ, one step off or any."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, n)
    step = rng.choice([-1, 1], (3, n)) if near else rng.integers(1, 5, (3, n))
    off = np.clip(truth + step, 1, 5) if near else (truth + step - 1) % 5 + 1
    given = np.where(rng.random((3, n)) < right, truth, off)
    return pl.DataFrame({"id": range(n), **dict(zip(RATERS, given, strict=True))})


def test_bare_codes_are_grades_until_people_who_differ_are_as_often_far_apart():
    asked = [question(coded(near=False, seed=seed)).choices for seed in range(6)]
    assert set(asked) == {("label", "score")}
    assert all(kinds(coded(near=True, seed=seed)) == {} for seed in range(12))
    rng = np.random.default_rng(0)  # nobody agrees: neither is shown
    nobody = pl.DataFrame({"id": range(300), **{n: rng.integers(1, 6, 300) for n in RATERS}})
    assert kinds(nobody) == {}
    assert kinds(coded(near=False), kind="score") == {}
    assert kinds(coded(near=False), kind="label") == {"label": "label"}


def sets(n=200, seed=4):
    rng = np.random.default_rng(seed)
    true = rng.random((n, 3)) < 0.35

    def cells():
        noisy = true ^ (rng.random((n, 3)) < 0.08)
        return [
            ";".join(w for w, one in zip(WORDS, row, strict=True) if one) or "none" for row in noisy
        ]

    return pl.DataFrame({"id": range(n), **{r: cells() for r in RATERS}})


def test_none_in_the_place_of_a_set_is_no_label_or_no_answer_and_that_is_asked():
    table = sets()
    none = int((table["gpt"] == "none").sum())
    assert none > 20
    assert (question(table).key, question(table).choices) == ("empty", ("none", "missing"))

    def empty(**options):
        rows = open_source(table, read=ReadOptions(**options)).judgements
        own = rows.labels.filter(pl.col("rater") == "gpt")["labels"]
        return int((own.list.len() == 0).sum()), own.null_count(), rows.questions[0].labels

    assert empty(empty="none") == (none, 0, WORDS)
    assert empty(empty="missing") == (0, none, WORDS)
    assert empty(labels=(*WORDS, "none")) == (0, 0, ("none", *WORDS))
    blanks = table.with_columns(
        pl.when(pl.col("id") < 20).then(None).otherwise("human_1").alias("human_1")
    )
    own = open_source(blanks, read=ReadOptions(empty="none")).judgements.labels
    assert own.filter(pl.col("rater") == "human_1")["labels"].null_count() == 20


def test_one_item_is_shown_in_the_words_of_its_kind():
    table = labels().drop("confidence")
    (section,) = item_sections(table, "7")
    row = table.row(7, named=True)
    assert dict(section.tables[0].rows) == {r: row[r] for r in RATERS}
    (section,) = item_sections(comparisons().drop("confidence"), "3")
    heads = [column.name for column in section.tables[0].columns]
    assert heads == ["Rater", "A", "B", "Shown first", "Prefers", "Score"]
    assert {cells[4] for cells in section.tables[0].rows} <= {"x", "y"}


def test_what_people_would_have_said_is_a_share_and_the_audit_is_of_the_file():
    table = labels().drop("confidence")
    corrected = correct(table)
    sentence = correction_said(corrected)[0]
    assert sentence.startswith("People would have said praise in ")
    assert {one.kind for one in corrected.findings} == {"reading", "label_origin_unknown"}
    assert examine(table).findings[0].message.startswith("240 rows = 240 items")


def test_nested_words_of_two_sides_are_no_labels_and_yes_and_no_are_read(tmp_path):
    keys = [f"{k}__x__y__1" for k in range(40)]
    rng = np.random.default_rng(1)
    for name, raters in (("human_annotations", ("ann", "ben")), ("llm_annotations", ("gpt",))):
        sides = {
            r: dict(zip(keys, rng.choice(["model_a", "model_b", "tie"], 40), strict=True))
            for r in raters
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(sides))
    files = [tmp_path / "human_annotations.json", tmp_path / "llm_annotations.json"]
    with pytest.raises(TableError, match="say by --parts which parts of 'item' are item, system_a"):
        open_source(files)
    parts = ReadOptions(parts=("item", "system_a", "system_b", "turn"), first="unknown")
    assert open_source(files, read=parts).preferences is not None
    for file in files:
        file.write_text(
            file.read_text()
            .replace("model_a", "yes")
            .replace("model_b", "no")
            .replace('"tie"', '"no"')
        )
    found = open_source(files)
    assert set(found.tables.ratings["score"]) == {0.0, 1.0}
    assert found.study.data.reference == ("ann", "ben")


def test_annotators_read_a_column_that_names_the_label(tmp_path):
    words = ["all-or-nothing", "mind-reading"] * 10
    rows = [(k, who, word) for k, word in enumerate(words) for who in ("anna", "ben")]
    table = pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row")
    other = pl.col("annotator") == "ben"
    table = table.with_columns(
        pl.when(other).then(pl.col("label").str.replace_all("-", "_")).otherwise("label")
    )
    table.write_csv(tmp_path / "ann.csv")
    read, labels = read_annotations(tmp_path / "ann.csv", (), ("anna", "ben"))
    assert labels == ["all-or-nothing", "mind-reading"]
    by_rater = read.group_by("annotator").agg(pl.col(labels[0]).sum()).sort("annotator")
    assert by_rater.rows() == [("anna", 10), ("ben", 10)]


def test_a_judge_column_called_judge_keeps_its_declared_probability():
    frame = labels().rename({"gpt": "judge"})
    read = ReadOptions(probability="confidence")
    found = examine(frame, reference=["human_1", "human_2"], read=read)
    assert {one.use for one in found.verdicts} >= {"confidence", "release", "filter"}


def test_a_declared_probability_of_nobody_is_an_error():
    frame = labels().with_columns(claude=pl.col("gpt"))
    read = ReadOptions(probability="confidence")
    with pytest.raises(TableError, match=r"none of the judges .'gpt', 'claude'. is 'confidence'"):
        examine(frame, reference=["human_1", "human_2"], read=read)


def long_table(column="label", words=("yes", "no")):
    """Two people's words, and a judge that says how probable the first is and nothing else."""
    rng = np.random.default_rng(4)
    rows = []
    for item, share in enumerate(rng.uniform(size=200).round(3)):
        says = [words[0] if rng.random() < share else words[1] for _ in range(2)]
        rows += [(item, "ann", says[0], None), (item, "ben", says[1], None)]
        rows.append((item, "gpt", None, share))
    return pl.DataFrame(rows, schema=["item", "rater", column, "probability"], orient="row")


def test_a_judge_of_probabilities_alone_is_examined_beside_peoples_labels():
    found = examine(long_table(), reference=["ann", "ben"])
    assert {(one.judge, one.use) for one in found.verdicts} == {
        ("gpt", "confidence"),
        ("gpt", "release"),
    }
    with pytest.raises(TableError, match=r"'gpt' gives numbers in 'probability' and no label"):
        examine(long_table(words=("spam", "ham")), reference=["ann", "ben"])


def test_probabilities_in_the_column_of_peoples_zeros_and_ones_are_what_they_are_said_to_be():
    table = (
        long_table(words=("1", "0"))
        .with_columns(
            pl.coalesce(pl.col("label").cast(pl.Float64), "probability").alias("probability")
        )
        .drop("label")
    )
    found = examine(table, reference=["ann", "ben"], read=ReadOptions(kind="probability"))
    assert {one.use for one in found.verdicts} == {"confidence", "release"}


def test_numbers_of_a_frame_beside_zeros_and_ones_are_scores_unless_somebody_says_otherwise():
    table = (
        long_table(words=("1", "0"))
        .with_columns(pl.coalesce(pl.col("label").cast(pl.Float64), "probability").alias("score"))
        .drop("label", "probability")
    )
    uses = {one.use for one in examine(table, reference=["ann", "ben"]).verdicts}
    assert "single" in uses
    assert "confidence" not in uses
