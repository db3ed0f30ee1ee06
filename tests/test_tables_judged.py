"""Files of labels, preferences and probabilities: every shape, and what is asked."""

from __future__ import annotations

import json
import math

import polars as pl
import pytest

from voirdire.errors import QuestionError, TableError
from voirdire.examining.judgements import compared_cases, label_cases
from voirdire.study import ReadOptions
from voirdire.tables import numbers_of
from voirdire.tables.judged import nested_table, read_judged

WORDS = ["positive", "negative", "neutral", "positive"] * 5


def read(source, reference=(), **keys):
    found = read_judged(source, reference=reference, read=ReadOptions(**keys))
    return None if found is None else found[1]


def wide(**columns):
    size = len(next(iter(columns.values())))
    return pl.DataFrame({"id": list(range(size)), **columns})


def test_wide_columns_that_share_words_are_labels():
    found = read(
        wide(ann_1=WORDS, ann_2=WORDS[::-1], gpt=WORDS, note=[f"row {k}" for k in range(20)])
    )
    assert found.people == ("ann_1", "ann_2")
    assert found.raters == ("ann_1", "ann_2", "gpt")
    question = found.questions[0]
    assert question.labels == ("negative", "neutral", "positive")
    first = found.labels.row(0, named=True)
    assert (first["item"], first["rater"], first["labels"]) == ("0", "ann_1", ["positive"])


def test_spellings_of_one_label_are_folded_and_said():
    spelled = [word.upper() + "s" if k % 2 else word for k, word in enumerate(WORDS)]
    found = read(wide(human_1=WORDS, gpt=spelled))
    assert found.questions[0].labels == ("negative", "neutral", "positive")
    assert [finding.kind for finding in found.findings] == ["reading", "labels_folded"]
    same = found.labels.group_by("rater").agg(pl.col("labels").list.first()).rows()
    assert {tuple(labels) for _, labels in same} == {tuple(WORDS)}
    under = [word.replace("positive", "all_or_nothing") for word in WORDS]
    hyphens = [word.replace("positive", "all-or-nothing") for word in WORDS]
    found = read(wide(human_1=under, gpt=hyphens))
    assert len(found.questions[0].labels) == 3


def test_codes_beside_names_are_an_error_that_shows_both():
    codes = ["012"[("positive", "negative", "neutral").index(word)] for word in WORDS]
    with pytest.raises(TableError, match=r"'gpt' says '0', '1', '2', and 'ann_1' says 'positive'"):
        read(wide(ann_1=WORDS, ann_2=WORDS, gpt=codes))


@pytest.mark.parametrize(
    "cells",
    [["yes", "no"] * 10, ["pass", "fail"] * 10, ["1", "0"] * 10, [3, 4, 5, 1] * 5],
)
def test_two_valued_scores_and_grades_are_no_labels(cells):
    assert read(wide(human_1=cells, gpt=cells)) is None


def test_two_values_are_labels_where_somebody_says_so():
    cells = ["yes", "no"] * 10
    found = read(wide(human_1=cells, gpt=cells), kind="label")
    assert found.questions[0].labels == ("no", "yes")


def test_who_may_be_either_is_asked():
    with pytest.raises(QuestionError, match="'anna', 'ben', 'carl' may be people or judges"):
        read(wide(anna=WORDS, ben=WORDS, carl=WORDS))
    found = read(wide(anna=WORDS, ben=WORDS, carl=WORDS), reference=["anna", "ben"])
    assert found.people == ("anna", "ben")


def test_several_questions_in_one_wide_table():
    tones = ["calm", "tense", "calm", "flat"] * 5
    found = read(wide(human_1_topic=WORDS, gpt_topic=WORDS, human_1_tone=tones, gpt_tone=tones))
    assert [question.attribute for question in found.questions] == ["topic", "tone"]
    assert found.raters == ("human_1", "gpt")


def long_rows(column="label"):
    rows = [
        (k, rater, WORDS[k if rater != "gpt" else k - 1])
        for k in range(20)
        for rater in ("human_1", "human_2", "gpt")
    ]
    return pl.DataFrame(rows, schema=["item", "rater", column], orient="row")


@pytest.mark.parametrize("column", ["label", "intent", "category", "annotation"])
def test_long_tables(column):
    found = read(long_rows(column))
    assert found.people == ("human_1", "human_2")
    assert found.labels.height == 60
    assert "one row a judgement" in found.reason


def test_two_columns_of_words_are_asked_about():
    table = long_rows("label").with_columns(pl.col("label").alias("category"))
    with pytest.raises(QuestionError, match="'label', 'category' hold words"):
        read(table)
    assert read(table, score="category").questions[0].attribute == "label"


def test_a_rater_who_labels_twice_is_an_error():
    with pytest.raises(TableError, match="labels item '0' more than once"):
        read(pl.concat([long_rows(), long_rows().head(1)]))


SETS = ["calm; tense", "calm", "tense", "calm;flat", "flat"] * 4


@pytest.mark.parametrize("sign", [";", ", ", "|", "json"])
def test_sets_of_labels_in_a_cell(sign):
    cells = [
        json.dumps([part.strip() for part in cell.split(";")])
        if sign == "json"
        else cell.replace("; ", ";").replace(";", sign)
        for cell in SETS
    ]
    found = read(wide(human_1=cells, human_2=cells, gpt=cells))
    question = found.questions[0]
    assert question.sets
    assert question.labels == ("calm", "flat", "tense")
    assert found.labels["labels"][0].to_list() == ["calm", "tense"]


def test_an_empty_cell_of_sets_is_asked_about():
    cells = [*SETS[:-1], ""]
    with pytest.raises(QuestionError, match="2 cells of label sets are empty"):
        read(wide(human_1=cells, gpt=cells))
    empty = read(wide(human_1=cells, gpt=cells), empty="none")
    assert empty.labels["labels"].list.len().min() == 0
    missing = read(wide(human_1=cells, gpt=cells), empty="missing")
    assert missing.labels.height == 38


def test_nested_annotations(tmp_path):
    people, judges = tmp_path / "human_annotations.json", tmp_path / "llm_annotations.json"
    said = {f"{k}__tone": word for k, word in enumerate(WORDS)}
    people.write_text(json.dumps({"w1": said, "w2": said}))
    judges.write_text(json.dumps({"gpt": said}))
    found = read([people, judges])
    assert found.people == ("w1", "w2")
    parted = read([people, judges], parts=("item", "attribute"))
    assert parted.questions[0].attribute == "tone"
    assert parted.labels["item"][3] == "3"
    numbers = tmp_path / "numbers.json"
    numbers.write_text(json.dumps({"w1": {"a": 1, "b": 2}, "gpt": {"a": 2, "b": 2}}))
    table, people_of_it = nested_table([numbers], ReadOptions())
    assert table.columns == ["rater", "item", "score"]
    assert people_of_it == ()
    with pytest.raises(TableError, match="--parts names 3 parts of a key, and a key has 2"):
        read([people, judges], parts=("item", "attribute", "system"))


def test_a_word_that_only_a_judge_says_is_missing_and_said():
    found = read(
        wide(
            human_1=["up", "down"] * 20,
            human_2=["up", "down"] * 20,
            gpt=["up", "error"] + ["up", "down"] * 19,
        )
    )
    assert found.questions[0].labels == ("down", "up")
    own = found.labels.filter(pl.col("rater") == "gpt")
    assert own["status"].to_list()[:3] == ["ok", "out_of_scale", "ok"]
    (said,) = [one for one in found.findings if one.kind == "words_off_the_list"]
    assert said.count == 1
    assert "error" in said.message
    declared = read(
        wide(human_1=["up", "down"] * 9, gpt=["up", "error"] * 9), labels=("up", "down", "error")
    )
    assert declared.labels["status"].unique().to_list() == ["ok"]


def test_words_that_may_be_no_answer_are_asked_about():
    table = wide(human_1=["up", "down", "n/a"] * 9, gpt=["up", "down", "down"] * 9)
    with pytest.raises(QuestionError, match="is that a label, or no answer") as asked:
        read(table)
    assert asked.value.choices == ("down, up", "down, up, n/a")
    # What the judge says as well is a class.
    both = wide(human_1=["up", "down", "unknown"] * 9, gpt=["up", "down", "unknown"] * 9)
    with pytest.raises(QuestionError, match="is that a label, or no answer") as asked:
        read(both)
    assert asked.value.choices == ("down, up, unknown", "down, up")
    assert read(table, labels=("up", "down")).labels["status"].to_list().count("out_of_scale") == 9


def test_names_against_codes_in_one_column_show_both_lists():
    rows = [(k, "human_1", "up" if k % 2 else "down") for k in range(20)]
    rows += [(k, "gpt", "north" if k % 2 else "south") for k in range(20)]
    table = pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row")
    with pytest.raises(TableError, match=r"'gpt' says .*'north'.*, and people say"):
        read(table)


def test_whole_numbers_called_labels_are_grades_or_classes():
    rows = [(k, who, k % 3) for k in range(30) for who in ("human_1", "gpt")]
    table = pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row")
    with pytest.raises(QuestionError, match="are they classes, or grades"):
        read(table)
    assert read(table, kind="label").questions[0].labels == ("0", "1", "2")
    assert read(table, kind="score") is None


def test_a_column_a_label_is_a_set_where_it_is_declared():
    bits = {f"{who}_{label}": [1, 0, 1] * 5 for who in ("human_1", "gpt") for label in "xyz"}
    table = pl.DataFrame({"id": list(range(15)), **bits})
    found = read(table, kind="label set")
    assert found.questions[0].sets
    assert found.labels["labels"].to_list()[:2] == [["x", "y", "z"], []]
    headed = pl.DataFrame(
        {
            "item": [1, 1, 2, 2],
            "rater": ["human_1", "gpt"] * 2,
            "label_x": [1, 0, 1, 1],
            "label_y": [0, 0, 1, None],
        }
    )
    assert read(headed).labels["labels"].to_list() == [["x"], [], ["x", "y"], None]


# --- preferences


def battles(**more):
    rows = {
        "question_id": [1, 2, 3, 4],
        "model_a": ["m1", "m2", "m1", "m2"],
        "model_b": ["m2", "m1", "m2", "m1"],
        **more,
    }
    return pl.DataFrame(rows)


def test_winners_by_place_and_by_name():
    table = battles(judge=["human_1", "gpt-4"] * 2, winner=["model_a", "model_b", "tie", "m2"])
    found = read(table)
    assert found.people == ("human_1",)
    assert found.preferences["score"].to_list() == [1.0, -1.0, 0.0, 1.0]
    assert found.preferences["shown_first"].null_count() == 4


@pytest.mark.parametrize("word", ["tie (bothbad)", "tie (inconsistent)", "TIE", "equal"])
def test_words_for_a_tie(word):
    table = battles(judge=["human_1", "gpt-4"] * 2, winner=["model_a", word, "model_b", word])
    assert read(table).preferences["score"].to_list() == [1.0, 0.0, -1.0, 0.0]


def test_an_error_is_missing_and_no_tie():
    table = battles(
        judge=["human_1", "gpt-4"] * 2, winner=["model_a", "model_b", "model_a", "model_b"]
    )
    many = pl.concat([table] * 5).with_columns(question_id=pl.int_range(20))
    wrong = many.with_columns(
        winner=pl.when(pl.col("question_id") == 3).then(pl.lit("error")).otherwise("winner")
    )
    assert read(wrong).preferences["score"].null_count() == 1


def test_who_was_shown_first_is_declared():
    table = battles(judge=["human_1", "gpt-4"] * 2, winner=["model_a", "model_b", "tie", "model_a"])
    found = read(table, first="a")
    assert found.preferences["shown_first"].to_list() == ["m1", "m2", "m1", "m2"]


def test_both_orders_in_two_columns():
    table = pl.DataFrame(
        {
            "question_id": [1, 1, 2, 2], "judge": ["human_1", "gpt-4"] * 2,
            "model_1": ["m1"] * 4, "model_2": ["m2"] * 4,
            "g1_winner": ["model_1", "model_1", "tie", "model_2"],
            "g2_winner": ["model_1", "model_2", "tie", "model_2"],
        }
    )  # fmt: skip
    found = read(table)
    assert found.preferences.height == 8
    case = next(compared_cases(found.preferences, found.people))
    # The inconsistent pair is kept: it is no tie.
    assert case.scores.tolist() == [[1.0, -1.0]]
    assert case.compared.swapped.tolist() == [[-1.0, -1.0]]
    assert case.compared.first.tolist() == [1.0, 1.0]


def test_wide_preferences_and_lengths():
    table = battles(
        response_a=["aa", "b", "cccc", "d"],
        response_b=["a", "bb", "c", "dd"],
        human_1=["A", "B", "tie", "A"],
        gpt=["A", "A", "tie", "B"],
    )
    found = read(table)
    assert found.raters == ("human_1", "gpt")
    assert found.preferences.filter(pl.col("rater") == "gpt")["length"].to_list() == [1, -1, 3, -1]


def test_graded_preferences():
    cells = ["[[A>>B]]", "[[B>A]]", "A=B", "A>B"]
    table = battles(judge=["human_1", "gpt-4"] * 2, preference=cells)
    assert read(table).preferences["score"].to_list() == [2.0, -1.0, 0.0, 1.0]


@pytest.mark.parametrize(("most", "scores"), [(2, [-2, 1, 0, 2]), (3, [-2, 2 / 3, 0, 2])])
@pytest.mark.parametrize("name", ["preference", "score", "strength"])
def test_grades_about_0_are_asked_which_side_they_favour(name, most, scores):
    """-3 says *the first is much better* in some sets of data, and the second in others."""
    table = battles(judge=["human_1", "gpt-4"] * 2, **{name: [-most, 1, 0, most]})
    with pytest.raises(QuestionError, match=f"which of both does {most} favour") as asked:
        read(table)
    first, second = map(numbers_of, asked.value.choices)
    assert read(table, words=first).preferences["score"].to_list() == pytest.approx(
        scores, abs=1e-3
    )
    turned = read(table, words=second).preferences["score"].to_list()
    assert turned == pytest.approx([-s for s in scores], abs=1e-3)


@pytest.mark.parametrize("columns", [("winner", "judge"), ("choice", "gpt_judge"), ("ann", "llm")])
def test_two_columns_that_say_who_is_better_are_two_raters(columns):
    """`judge` names the raters where names stand in it, and is one where it says who is better."""
    own = dict(
        zip(columns, (["model_a", "model_b", "tie", "model_a"], ["model_b"] * 4), strict=True)
    )
    found = read(battles(**own), reference=[columns[0]])
    assert (found.raters, found.people) == (columns, columns[:1])
    said = found.preferences.filter(pl.col("rater") == columns[0])["score"].to_list()
    assert said == [1.0, -1.0, 0.0, 1.0]


def test_grades_from_1_are_asked_which_side_they_favour():
    table = battles(judge=["human_1", "gpt-4"] * 2, preference=[1, 5, 3, 4])
    with pytest.raises(QuestionError, match="which of both does 5 favour") as asked:
        read(table)
    words = numbers_of(asked.value.choices[0])
    assert read(table, words=words).preferences["score"].to_list() == [2.0, -2.0, 0.0, -1.0]


def test_1_to_2_is_read_as_alpaca_eval_writes_it():
    table = battles(judge=["human_1", "gpt-4"] * 2, preference=[1.0, 2.0, 1.5, 1.25])
    assert read(table).preferences["score"].to_list() == [1.0, -1.0, 0.0, 0.5]


def test_rows_in_both_directions_were_shown_in_both_orders():
    found = read(
        pl.DataFrame(
            {
                "question_id": [1, 1, 1], "model_a": ["x", "y", "x"], "model_b": ["y", "x", "y"],
                "judge": ["gpt-4", "gpt-4", "human_1"], "winner": ["model_a", "model_a", "tie"],
            }
        )
    )  # fmt: skip
    assert found.preferences["shown_first"].to_list() == ["x", "y", None]


def test_a_and_b_without_systems_are_two_places():
    found = read(wide(human_1=["A", "B", "tie"] * 3, gpt=["A", "A", "tie"] * 3))
    assert found.preferences["score"].to_list()[:3] == [1.0, -1.0, 0.0]
    # Without a tie they may be answers to a question.
    assert read(wide(human_1=["A", "B"] * 5, gpt=["A", "B"] * 5)).questions


def test_ranks_in_a_column_a_system():
    table = pl.DataFrame(
        {
            "item": [1, 2, 1, 2],
            "rater": ["human_1"] * 2 + ["gpt"] * 2,
            "x": [1, 2, 3, 1],
            "y": [2, 1, 1, 2],
            "z": [3, 3, 2, 3],
        }
    )
    found = read(table)
    assert found.preferences.height == 12
    assert found.preferences["system_a"].to_list()[:3] == ["x", "x", "y"]


def test_chosen_and_rejected():
    table = pl.DataFrame(
        {
            "prompt": ["p", "q"], "chosen": ["a text", "z text, longer"],
            "rejected": ["b text", "c text"], "score_chosen": [0.9, 0.2],
            "score_rejected": [0.1, 0.8],
        }
    )  # fmt: skip
    found = read(table)
    assert found.people == ("chosen",)
    by_rater = dict(found.preferences.group_by("rater", maintain_order=True).agg("score").rows())
    # Their order says nothing of what they hold; the judge agrees on one of both.
    assert [abs(score) for score in by_rater["chosen"]] == [1.0, 1.0]
    both = zip(by_rater["chosen"], by_rater["judge"], strict=True)
    assert [one * other for one, other in both] == [1.0, -1.0]


def test_rankings_become_pairs_of_one_item():
    table = pl.DataFrame(
        {
            "item": [1] * 6, "rater": ["human_1"] * 3 + ["gpt"] * 3, "system": list("xyz") * 2,
            "rank": [1, 2, 3, 2, 1, 3],
        }
    )  # fmt: skip
    found = read(table)
    assert found.preferences.height == 6
    assert found.preferences["cluster"].unique().to_list() == ["1"]
    lists = pl.DataFrame(
        {"item": [1, 1], "rater": ["human_1", "gpt"], "ranking": ["x>y>z", '["y","x","z"]']}
    )
    same = read(lists)
    keys = ["rater", "system_a", "system_b", "score"]
    for one in (found, same):
        cases = list(compared_cases(one.preferences, one.people))
        assert cases[0].scores.tolist() == [[-1.0, 1.0, 1.0]]
    assert same.preferences.select(keys).height == 6


# --- probabilities


def test_probabilities_beside_yes_and_no():
    shares = [k / 20 for k in range(20)]
    table = wide(human_1=["yes", "no"] * 10, human_2=["no", "yes"] * 10, gpt_probability=shares)
    with pytest.raises(QuestionError, match="of which label: yes or no"):
        read(table)
    found = read(table, claims="yes")
    assert found.people == ("human_1", "human_2")
    case = next(label_cases(found, found.people))
    assert case.judge == "gpt"
    assert case.scores[0].tolist() == shares
    assert case.humans[0].tolist() == [1.0, 0.0] * 10


def test_a_confidence_is_no_probability_by_its_name():
    shares = [k / 20 for k in range(20)]
    table = wide(human_1=["yes", "no"] * 10, gpt_confidence=shares)
    assert read(table) is None
    found = read(table, probability="gpt_confidence", claims="yes")
    assert found.questions[0].probability


def test_per_cent_is_read_as_shares():
    table = wide(human_1=["yes", "no"] * 10, gpt_prob=[5 * k for k in range(20)])
    found = read(table, claims="yes")
    assert found.labels["probability"].max() == pytest.approx(0.95)


def test_a_probability_of_the_label_that_is_given_is_turned():
    said = ["yes", "no"] * 10
    sure = [0.6 + k / 50 for k in range(20)]
    found = read(wide(human_1=["yes", "no"] * 10, gpt=said, gpt_probability=sure))
    case = next(label_cases(found, found.people))
    wanted = [p if word == "yes" else 1 - p for p, word in zip(sure, said, strict=True)]
    assert case.scores[0].tolist() == pytest.approx(wanted)


def test_numbers_from_0_to_1_without_a_claim_are_asked_about():
    table = wide(human=["yes", "no"] * 10, gpt=[k / 20 for k in range(20)])
    with pytest.raises(QuestionError, match="are they probabilities"):
        read(table)
    assert read(table, kind="score") is None


def test_log_probabilities_of_each_label_are_read():
    p = [(k + 1) / 22 for k in range(20)]
    table = wide(
        human_1=["yes", "no"] * 10,
        human_2=["no", "yes"] * 10,
        gpt_logprob_yes=[math.log(x) for x in p],
        gpt_logprob_no=[math.log(1 - x) for x in p],
    )
    found = read(table)
    case = next(label_cases(found, found.people))
    assert case.judge == "gpt"
    assert case.scores[0].tolist() == pytest.approx(p)


def test_records_of_a_choice_and_probabilities():
    rows = [
        {"item": k, "rater": "human_1", "choice": "ab"[k % 2], "probabilities": None}
        for k in range(8)
    ] + [
        {
            "item": k,
            "rater": "gpt",
            "choice": "a",
            "probabilities": json.dumps({"a": 0.5 + k / 50, "b": 0.3 - k / 50, "c": 0.2}),
        }
        for k in range(8)
    ]
    rows += [{"item": 9, "rater": "human_1", "choice": "c", "probabilities": None}] * 1
    found = read(pl.DataFrame(rows), labels=("a", "b", "c"))
    asked = [question.attribute for question in found.questions]
    assert asked == ["label", "label: a", "label: b", "label: c"]
    by_name = {case.attribute: case for case in label_cases(found, found.people)}
    assert by_name["label: b"].scores[0][:2].tolist() == pytest.approx([0.3, 0.28])
    assert by_name["label: b"].humans[0][:2].tolist() == [0.0, 1.0]
    bad = pl.DataFrame(rows).with_columns(probabilities=pl.lit('{"a": 3}'))
    with pytest.raises(TableError, match=r"a probability \(0 to 1\) for each label"):
        read(bad)


# --- cases


def test_cases_of_labels_hold_vectors_of_distinct_answers():
    found = read(wide(human_1=SETS, human_2=SETS, gpt=SETS))
    case = next(label_cases(found, found.people))
    assert case.table.shape == (5, 3)
    vectors = case.table[case.humans.astype(int)]
    assert vectors[0, 0].tolist() == [1.0, 0.0, 1.0]  # calm, flat, tense
    assert case.reference == ("human_1", "human_2")


def test_many_voters_are_taken_in_their_order():
    rows = [(k, "m1", "m2", f"human_{k}", "model_a") for k in range(40)] + [
        (k, "m1", "m2", "gpt-4", "model_b") for k in range(40)
    ]
    table = pl.DataFrame(
        rows, schema=["question_id", "model_a", "model_b", "judge", "winner"], orient="row"
    )
    found = read(table)
    case = next(compared_cases(found.preferences, found.people))
    assert case.pooled
    assert case.humans.shape == (1, 40)


def test_codes_under_a_category_and_a_rater_are_asked_about():
    codes = [0, 1, 2, 3] * 10
    table = wide(category_human_1=codes, category_human_2=codes, category_gpt=codes)
    with pytest.raises(QuestionError, match="classes, or grades"):
        read(table)
    assert read(table, kind="label").questions[0].labels == ("0", "1", "2", "3")


def test_a_distribution_of_which_two_columns_may_be_the_choice_is_no_silence():
    told = ['{"yes": 0.9, "no": 0.1}', '{"yes": 0.2, "no": 0.8}'] * 10
    words = ["yes", "no"] * 10
    table = wide(human=words, choice=words, prediction=words, probabilities=told)
    with pytest.raises(TableError, match="no column says whose"):
        read(table)


def _with_choices():
    """Three people and a judge whose cells hold a label and its probabilities."""
    rows = []
    for k, word in enumerate(WORDS):
        rest = [other for other in ("negative", "neutral", "positive") if other != word]
        sure = 0.5 + 0.02 * k
        shares = {word: sure, rest[0]: 0.7 * (1 - sure), rest[1]: 0.3 * (1 - sure)}
        said = WORDS[k - 1] if k % 7 == 3 else word
        rows.append(
            {
                "id": str(k),
                "ann_1": word,
                "ann_2": said,
                "ann_3": word,
                "gpt": {"choice": word, "probabilities": shares},
            }
        )
    return rows


def _as_file(shape, tmp_path):
    rows, raters = _with_choices(), ("ann_1", "ann_2", "ann_3", "gpt")
    path = tmp_path / ("said.json" if shape == "nested" else "said.jsonl")
    if shape == "csv":
        cells = [{n: json.dumps(v) if n == "gpt" else v for n, v in row.items()} for row in rows]
        path = tmp_path / "said.csv"
        pl.DataFrame(cells).write_csv(path)
        return path
    if shape == "nested":
        path.write_text(json.dumps({r: {row["id"]: row[r] for row in rows} for r in raters}))
        return path
    if shape == "wide":
        made = rows
    else:
        made = [
            {"id": row["id"], "rater": r, **answer}
            for row in rows
            for r in raters
            for answer in [row[r] if r == "gpt" and shape == "two names" else {"label": row[r]}]
        ]
    path.write_text("\n".join(map(json.dumps, made)))
    return path


@pytest.mark.parametrize("shape", ["csv", "wide", "nested", "one name", "two names"])
def test_an_object_of_a_choice_and_probabilities_is_both(shape, tmp_path):
    found = read(_as_file(shape, tmp_path))
    assert found.people == ("ann_1", "ann_2", "ann_3")
    assert [one.attribute for one in found.questions] == [
        "label",
        "label: negative",
        "label: neutral",
        "label: positive",
    ]
    rows = found.labels.filter(pl.col("rater") == "gpt")
    said = rows.filter(pl.col("attribute") == "label").sort(pl.col("item").cast(pl.Int32))
    assert said["labels"].list.first().to_list() == WORDS
    for k, given in enumerate(_with_choices()):
        own = rows.filter((pl.col("item") == str(k)) & pl.col("probability").is_not_null())
        claimed = {
            a.removeprefix("label: "): p
            for a, p in own.select("attribute", "probability").iter_rows()
        }
        assert claimed == pytest.approx(given["gpt"]["probabilities"])


def test_an_object_that_is_a_distribution_claims_each_label_and_says_none():
    rows = [{**row, "gpt": json.dumps(row["gpt"]["probabilities"])} for row in _with_choices()]
    found = read(pl.DataFrame(rows).drop("ann_2", "ann_3"))
    assert all(one.probability for one in found.questions)
    assert len(found.questions) == 3
    assert found.people == ("ann_1",)


def test_an_object_among_such_ones_that_is_none_names_its_line():
    rows = [{**row, "gpt": json.dumps(row["gpt"])} for row in _with_choices()]
    rows[4]["gpt"] = '{"choice": "neutral", "probabilities": {"neutral": 1.4}}'
    with pytest.raises(TableError, match=r"4: 'gpt' is to hold a label and its probabilities"):
        read(pl.DataFrame(rows))


def test_a_plural_is_spelled_like_its_singular():
    said = ["billing", "refund"] * 8
    found = read(wide(human_1=said, human_2=said, gpt=["billings", "Refunds"] * 8))
    judge = found.labels.filter(pl.col("rater") == "gpt")
    assert judge["labels"].list.first().to_list() == said


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        ("gpt_probability", {}),
        ("gpt_confidence", {"probability": "gpt_confidence"}),
    ],
)
def test_how_probable_one_of_several_labels_is_stands_beside_it(column, keys):
    shares = [0.4 + k / 40 for k in range(20)]
    table = wide(human_1=WORDS, human_2=WORDS[::-1], gpt=WORDS, **{column: shares})
    found = read(table, **keys)
    assert [one.attribute for one in found.questions] == ["label", "label: what gpt says"]
    claimed = found.labels.filter(pl.col("probability").is_not_null())
    assert claimed["rater"].unique().to_list() == ["gpt"]
    assert claimed["probability"].to_list() == pytest.approx(shares)
    (case,) = (c for c in label_cases(found, found.people) if c.kind == "probability")
    agree = [a == b for a, b in zip(WORDS[::-1], WORDS, strict=True)]
    assert case.humans.tolist() == [[1.0] * 20, [float(one) for one in agree]]


@pytest.mark.parametrize(("head", "asked"), [("intent", "intent"), ("label", "label")])
def test_the_header_over_answers_says_what_is_asked(head, asked):
    rows = [{"item": k, "rater": r, head: WORDS[k]} for k in range(20) for r in ("human", "gpt")]
    assert [one.attribute for one in read(pl.DataFrame(rows)).questions] == [asked]


def test_names_of_one_rater_against_codes_of_another_show_both_lists():
    rows = [(k, "human_1", ("calm", "tense", "sad")[k % 3]) for k in range(21)]
    rows += [(k, "gpt", str(k % 3)) for k in range(21)]
    table = pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row")
    said = r"'gpt' says '0', '1', '2', and 'human_1' says 'calm', 'tense', 'sad'"
    with pytest.raises(TableError, match=said):
        read(table)
