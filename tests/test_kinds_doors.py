"""Shapes of files that are met and were not read, or read wrongly in silence."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import polars as pl
import pytest

from voirdire.errors import QuestionError, TableError
from voirdire.examining.changing import check_lock, freeze
from voirdire.examining.judgements import compared_cases, label_cases
from voirdire.examining.source import inputs_of, open_source
from voirdire.study import ReadOptions
from voirdire.tables.judged import read_judged

SYSTEMS = ("alpha", "beta", "gamma")
WORDS = ("calm", "tense", "flat")


def read(source, reference=(), **keys):
    found = read_judged(source, reference=reference, read=ReadOptions(**keys))
    return None if found is None else found[1]


def orders(n=20, seed=0):
    """An order of three systems for each of n items, and the sign of each pair of them."""
    rng = np.random.default_rng(seed)
    every = [list(rng.permutation(SYSTEMS)) for _ in range(n)]
    wins = Counter((a, b) for own in every for k, a in enumerate(own) for b in own[k + 1 :])
    return every, wins


def won(found, rater):
    """How often a rater prefers a to b."""
    rows = found.preferences.filter(pl.col("rater") == rater, pl.col("score") != 0)
    return Counter(
        (a, b) if score > 0 else (b, a)
        for a, b, score in rows.select("system_a", "system_b", "score").iter_rows()
    )


@pytest.mark.parametrize("write", [" > ".join, json.dumps])
def test_orders_in_a_column_a_rater_are_comparisons(write):
    every, wins = orders()
    cells = [write([str(name) for name in own]) for own in every]
    table = pl.DataFrame({"id": range(20), "human_1": cells, "human_2": cells, "gpt": cells})
    found = read(table)
    assert found.people == ("human_1", "human_2")
    assert won(found, "gpt") == wins
    assert found.preferences["cluster"].n_unique() == 20


def test_ties_in_an_order_are_ties():
    cells = ["alpha > beta = gamma", "beta > gamma = alpha"] * 5
    found = read(pl.DataFrame({"id": range(10), "human_1": cells, "gpt": cells[::-1]}))
    own = found.preferences.filter(pl.col("rater") == "gpt")
    assert own.filter(pl.col("score") == 0).height == 10
    assert own.height == 30


def test_ranks_in_a_column_a_rater_are_comparisons_and_scores_with_ties_are_none():
    every, wins = orders()
    rows = [(k, name, own.index(name) + 1) for k, own in enumerate(every) for name in SYSTEMS]
    table = pl.DataFrame(rows, schema=["item", "system", "human_1"], orient="row").with_columns(
        human_2="human_1", gpt="human_1"
    )
    assert won(read(table), "gpt") == wins
    scores = table.with_columns(gpt=pl.lit(3))
    assert read(scores) is None


def test_lists_of_annotations_with_a_rater_inside(tmp_path):
    rng = np.random.default_rng(1)
    said = rng.choice(WORDS, (30, 3)).tolist()
    path = tmp_path / "a.jsonl"
    records = [
        {
            "id": k,
            "annotations": [{"annotator": "anna", "label": a}, {"annotator": "ben", "label": b}],
            "gpt-4o": c,
        }
        for k, (a, b, c) in enumerate(said)
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    found = read(path)
    assert found.people == ("anna", "ben")
    for rater, column in (("anna", 0), ("ben", 1), ("gpt-4o", 2)):
        rows = found.labels.filter(pl.col("rater") == rater)
        assert [own[0] for own in rows["labels"]] == [row[column] for row in said]


def marked(n=30, seed=3):
    rng = np.random.default_rng(seed)
    return {label: (rng.random((3, n)) < 0.4).astype(int) for label in ("toxic", "threat", "rude")}


@pytest.mark.parametrize("name", ["{rater}_{label}", "{label}_{rater}"])
def test_columns_of_0_and_1_are_asked_about(name):
    bits, raters = marked(), ("human_1", "human_2", "gpt")
    table = pl.DataFrame(
        {
            "id": range(30),
            **{
                name.format(rater=rater, label=label): own[r]
                for label, own in bits.items()
                for r, rater in enumerate(raters)
            },
        }
    )
    with pytest.raises(QuestionError, match=r"'toxic', 'threat', 'rude' are columns of 0 and 1"):
        read(table)
    found = read(table, kind="label set")
    assert found.people == ("human_1", "human_2")
    gpt = found.labels.filter(pl.col("rater") == "gpt")["labels"].to_list()
    assert [set(own) for own in gpt] == [
        {label for label, own in bits.items() if own[2][k]} for k in range(30)
    ]
    assert read(table, kind="score") is None


def test_columns_of_0_and_1_of_which_each_row_marks_one_are_no_set():
    once = np.eye(3, dtype=int)[np.arange(30) % 3]
    rows = {"item": [*range(30)] * 2, "rater": ["human"] * 30 + ["gpt"] * 30}
    table = pl.DataFrame(rows | {w: [*once[:, k]] * 2 for k, w in enumerate(WORDS)})
    assert read(table) is None


def test_one_humans_names_beside_a_judges_codes_show_both_lists(tmp_path):
    table = pl.DataFrame({"id": range(9), "human": WORDS * 3, "gpt": [0, 1, 2] * 3})
    table.write_csv(tmp_path / "names.csv")
    with pytest.raises(QuestionError, match=r"'calm', 'tense', 'flat'.*'gpt' says '0', '1', '2'"):
        inputs_of(open_source(tmp_path / "names.csv"))
    with pytest.raises(TableError, match=r"'gpt' says '0', '1', '2', and 'human' says 'calm'"):
        read(table, kind="label")
    # Somebody says which code is which label's: they are the same labels then.
    codes = {"calm": 0.0, "tense": 1.0, "flat": 2.0}
    for asked in (table, table.unpivot(index="id", variable_name="rater", value_name="label")):
        found = read(asked, kind="label", words=codes)
        (question,) = found.questions
        assert question.labels == ("calm", "flat", "tense")
        said = found.labels.filter(pl.col("rater") == "gpt")["labels"]
        assert [own[0] for own in said] == list(WORDS) * 3


def test_a_record_that_is_an_answer_with_probabilities(tmp_path):
    rng = np.random.default_rng(4)
    shares = rng.uniform(size=40).round(3)
    records = [
        {
            "id": k,
            "human": "yes" if rng.random() < p else "no",
            "choice": "yes" if p > 0.5 else "no",
            "probabilities": {"yes": p, "no": round(1 - p, 3)},
        }
        for k, p in enumerate(shares.tolist())
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    found = read(path)
    assert found.people == ("human",)
    (case,) = [one for one in label_cases(found, found.people) if one.kind == "probability"]
    assert case.scores[0] == pytest.approx(shares)


def test_words_of_people_and_numbers_of_a_judge_in_one_column_are_asked_about():
    rng = np.random.default_rng(5)
    shares = rng.uniform(0.01, 0.99, 40).round(3)
    people = np.where(rng.random((2, 40)) < shares, "yes", "no")
    rows = [
        (k, rater, cell)
        for rater, cells in (("human_1", people[0]), ("human_2", people[1]), ("gpt", shares))
        for k, cell in enumerate(map(str, cells))
    ]
    table = pl.DataFrame(rows, schema=["item", "rater", "answer"], orient="row")
    with pytest.raises(QuestionError, match="are they probabilities"):
        read(table)
    (case,) = label_cases(read(table, kind="probability"), ("human_1", "human_2"))
    assert case.scores[0] == pytest.approx(shares)
    assert (case.humans == (people == "yes")).all()


@pytest.mark.parametrize(("header", "of_first"), [("gpt_p_a", True), ("gpt_p_b", False)])
def test_a_probability_that_a_system_is_preferred(header, of_first):
    rng = np.random.default_rng(6)
    pairs = [tuple(rng.permutation(SYSTEMS)[:2]) for _ in range(60)]
    share = rng.uniform(0.01, 0.99, 60).round(3)
    people = np.where(rng.random((2, 60)) < share, "A", "B").astype(object)
    people[0, 0] = "tie"
    table = pl.DataFrame(
        {
            "id": range(60),
            "model_a": [a for a, _ in pairs],
            "model_b": [b for _, b in pairs],
            "human_1": people[0],
            "human_2": people[1],
            header: share if of_first else 1 - share,
        }
    )
    found = read(table, first="a")
    (case,) = label_cases(found, found.people)
    turned = np.array([a > b for a, b in pairs])
    order = np.argsort([int(item) for item in case.items])
    assert case.scores[0][order] == pytest.approx(np.where(turned, 1 - share, share))
    # A tie says neither.
    assert np.isnan(case.humans[0][order][0])
    assert set(case.systems) <= {"alpha over beta", "alpha over gamma", "beta over gamma"}
    (compared,) = compared_cases(found.preferences, found.people)
    assert compared.judge == "gpt"
    assert compared.compared.first is not None
    wins = np.sign(np.where(turned, 1 - share, share) - 0.5)
    order = np.argsort([int(item) for item in compared.items])
    assert compared.scores[0][order] == pytest.approx(wins)


def test_a_column_called_judge_or_model_beside_labels_holds_judgements():
    words = {"id": range(30), "label": WORDS * 10}
    for judge in ("judge", "model"):
        found = read(pl.DataFrame({**words, judge: WORDS[::-1] * 10}))
        assert (found.people, found.raters) == (("label",), ("label", judge))


def battles(folder, lean=0.0, seed=1, n=200):
    """Three people and a judge that leans to the response shown first, with texts."""
    rng, own = np.random.default_rng(8), np.random.default_rng(seed)
    rows = []
    for k in range(n):
        a, b = rng.permutation(SYSTEMS)[:2]
        edge = SYSTEMS.index(b) - SYSTEMS.index(a) + 1.5 * rng.normal()
        said = [edge + 0.4 * rng.normal() for _ in range(3)] + [edge + lean + 0.4 * own.normal()]
        texts = ["word " * int(size) for size in rng.integers(20, 60, 2)]
        rows.append((k, a, b, *texts, a, *("A" if x > 0 else "B" for x in said)))
    path = folder / f"battles-{lean:g}-{seed}.csv"
    pl.DataFrame(
        rows,
        orient="row",
        schema=[
            "id",
            "model_a",
            "model_b",
            "response_a",
            "response_b",
            "shown_first",
            "human_1",
            "human_2",
            "human_3",
            "gpt",
        ],
    ).write_csv(path)
    return path


def test_a_lock_of_comparisons_keeps_what_single_and_pick_rest_on(tmp_path):
    lock = freeze(battles(tmp_path))
    (judge,) = lock.judges
    assert judge.verdicts["preference"]["pick"] == "yes"
    same, _ = check_lock(battles(tmp_path), lock)
    assert not same.failed
    # A lean to the first moves no win rate where the order was drawn: winners alone hide it.
    leaning, _ = check_lock(battles(tmp_path, lean=0.9), lock)
    (row,) = leaning.rows
    assert not row.changed
    assert ("single", "no") in {(use.use, use.now) for use in row.lost}
    moved = {one.component: one for one in row.components}
    assert moved["POSITION"].change > 0.1


def test_the_account_of_a_file_of_labels(tmp_path):
    path = tmp_path / "labels.csv"
    pl.DataFrame(
        {"id": range(30), "human": WORDS * 10, "gpt": WORDS[::-1] * 10, "tint": range(30)}
    ).write_csv(path)
    inputs = inputs_of(open_source(path))
    assert list(inputs.hashes) == ["labels.csv"]
    (card,) = [one for one in inputs.findings if one.kind == "reading"]
    assert card.message == (
        "30 rows = 30 items; judge: 'gpt'; human: 'human'; label: labels 'calm', 'flat', 'tense'."
    )
    assert card.consequence == "Not read: 'tint'."


def test_a_study_with_a_rubric_reads_comparisons_by_their_columns(tmp_path):
    path = battles(tmp_path)
    table = pl.read_csv(path)
    names = [
        pl.when(pl.col(c) == "A").then("model_a").otherwise("model_b").alias(c)
        for c in ("human_1", "human_2", "human_3", "gpt")
    ]
    table.with_columns(names).write_csv(path)  # winners by the names of systems
    (tmp_path / "study.toml").write_text(
        'name = "x"\n[rubric]\nattributes = ["Overall"]\nscale = [1, 5]\n[data]\n'
        f'reference = ["human_1", "human_2", "human_3"]\nsources = [{{ path = "{path.name}" }}]\n'
    )
    inputs = inputs_of(open_source(tmp_path / "study.toml"))
    assert inputs.preferences.table["rater"].n_unique() == 4
    assert inputs.tables is None
