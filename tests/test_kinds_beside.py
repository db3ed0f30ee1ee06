"""Codes beside names, probabilities beside labels and comparisons, and what else stands next to."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from voirdire.errors import QuestionError, TableError
from voirdire.examining import examine
from voirdire.examining.changing import compare
from voirdire.examining.juries import examine_jury
from voirdire.examining.labels import read_results
from voirdire.running import run
from voirdire.store.frames import label_claims
from voirdire.study import ReadOptions, load_study
from voirdire.tables.judged import read_judged

WORDS = np.array(["calm", "tense", "sad"])


def coded(heads, seed=1, n=60):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n)

    def said():
        return np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n))

    columns = (WORDS[truth], WORDS[said()], said())
    return pl.DataFrame(
        {"id": range(n), **dict(zip(heads, columns, strict=True)), "turn": rng.choice(3, n)}
    )


def test_a_judge_of_codes_is_never_left_out_beside_names_whatever_it_is_called(tmp_path):
    table = coded(("truth", "gpt", "svm"))
    path = tmp_path / "labels.csv"
    table.write_csv(path)
    both = r"'svm' says .*'0'.* and 'truth' says .*'calm'.*ignore"
    with pytest.raises(TableError, match=both):
        read_results([path])
    with pytest.raises(TableError, match=both):
        examine(table)
    # Left out by somebody, and a column of numbers that go with nothing, it is no judge.
    found = examine(table, read=ReadOptions(ignore=("svm",)))
    assert {one.judge for one in found.verdicts} == {"gpt"}
    # Which code is which label's may be said.
    named = ReadOptions(
        kind="label", words={"calm": 0.0, "tense": 1.0, "sad": 2.0}, judge=("gpt", "svm")
    )
    both = examine(table, reference=["truth"], read=named)
    assert {one.judge for one in both.verdicts} == {"gpt", "svm"}


STUDY = """
name = "tickets"
[items]
path = "items.csv"
[data]
reference = ["ann"]
[[data.sources]]
path = "ann.csv"
[[panel]]
name = "ann"
kind = "human"
[[panel]]
name = "decider"
kind = "annotator"
use = "choice"
model = "simulated:m"
runs = 2
options = { options = ["calm", "tense", "sad"], named = true }
"""


def test_a_session_holds_what_models_report_of_options_and_votes_where_somebody_says_so(tmp_path):
    n, rng = 30, np.random.default_rng(5)
    items = [f"t{k}" for k in range(n)]
    pl.DataFrame({"id": items, "text": [f"Ticket {k}." for k in range(n)]}).write_csv(
        tmp_path / "items.csv"
    )
    people = dict(zip(items, rng.choice(WORDS, n), strict=True))
    pl.DataFrame(
        [(i, "ann", w, float(people[i] == w)) for i in items for w in WORDS],
        schema=["item", "rater", "attribute", "score"],
        orient="row",
    ).write_csv(tmp_path / "ann.csv")
    (tmp_path / "study.toml").write_text(STUDY)
    folder = run(load_study(tmp_path / "study.toml"), tmp_path / "session", quiet=True).folder

    def too_high(examination):
        """How much too high the probabilities of each label are on the whole."""
        return {
            one.attribute: next(c.estimate for c in one.components if c.name == "CLARGE")
            for one in examination.evidence
            if one.attribute.startswith("labels: ")
        }

    claims = pl.DataFrame(
        label_claims(folder),
        orient="row",
        schema=["item", "system", "rater", "run", "label", "p"],
    )
    assert claims.group_by("item", "run").agg(pl.col("p").sum())["p"].to_numpy() == pytest.approx(1)
    votes = (
        pl.read_parquet(folder / "ratings.parquet")
        .filter(rater="decider")
        .group_by("item", pl.col("attribute").alias("label"))
        .agg(pl.col("score").mean().alias("p"))
    )
    for read, table in ((None, claims), (ReadOptions(probability="votes"), votes)):
        expected = {
            f"labels: {w}": float(
                table.filter(label=w)["p"].mean() - np.mean([people[i] == w for i in items])
            )
            for w in WORDS
        }
        found = examine(folder, read=read)
        assert too_high(found) == pytest.approx(expected, abs=1e-9)
        said = [one for one in found.findings if one.kind == "votes_as_probabilities"]
        assert bool(said) is (read is not None)


def test_votes_of_runs_in_a_file_are_probabilities_where_somebody_says_so():
    rng = np.random.default_rng(7)
    rows = []
    for k in range(60):
        word, share = rng.choice(WORDS), rng.choice([0.9, 0.6])
        rows.append((k, "human", 1, word))
        rows += [(k, "gpt", r, word if rng.random() < share else "calm") for r in (1, 2, 3, 4)]
    table = pl.DataFrame(rows, schema=["item", "rater", "run", "label"], orient="row")
    plain = {one.attribute for one in examine(table).verdicts}
    found = examine(table, read=ReadOptions(probability="votes"))
    claimed = {one.attribute for one in found.verdicts} - plain
    assert claimed == {f"label: {word}" for word in WORDS}
    assert "votes_as_probabilities" in {one.kind for one in found.findings}
    with pytest.raises(TableError, match="no judge labels in several runs"):
        examine(table.filter(pl.col("run") == 1), read=ReadOptions(probability="votes"))


def test_probabilities_beside_comparisons_are_chosen_between_where_one_is_taken():
    rng = np.random.default_rng(3)
    n = 60
    p = rng.random(n).round(3)

    def votes():
        return np.where(rng.random(n) < p, "model_a", "model_b")

    table = pl.DataFrame(
        {
            "id": range(n),
            "model_a": "new",
            "model_b": "old",
            "human": votes(),
            "gpt_p_a": p,
            "llama": votes(),
            "gpt": votes(),
        }
    )
    kinds = ("preference", "probability")
    for ask in (
        lambda read: compare(table, table, read=read),
        lambda read: examine_jury(table, ["gpt", "llama"], read=read),
    ):
        with pytest.raises(QuestionError, match="takes one of both") as asked:
            ask(None)
        assert (asked.value.key, asked.value.choices) == ("kind", kinds)
    found = {kind: examine(table, read=ReadOptions(kind=kind)) for kind in kinds}
    uses = {kind: {one.use for one in one_.verdicts} for kind, one_ in found.items()}
    assert "pick" in uses["preference"]
    assert "confidence" not in uses["preference"]
    assert uses["probability"] == {"confidence", "release"}
    assert examine_jury(table, ["gpt", "llama"], read=ReadOptions(kind="preference")).results


def test_winners_marked_in_three_columns_are_one_column_of_winners():
    rng = np.random.default_rng(4)
    says = rng.choice(["model_a", "model_b", "tie"], 60)
    marks = {f"winner_{word}": (says == word).astype(int) for word in ("model_a", "model_b", "tie")}
    pairs = {"model_a": rng.choice(["p", "q"], 60), "model_b": ["r"] * 60}
    table = pl.DataFrame({"id": range(60), **pairs, **marks, "gpt": rng.permutation(says)})
    _, found = read_judged(table, reference=["winner"], read=ReadOptions())
    human = found.preferences.filter(rater="winner").sort(pl.col("item").cast(pl.Int64))
    word = {"model_a": 1.0, "model_b": -1.0, "tie": 0.0}
    assert human["score"].to_list() == [word[one] for one in says]


def test_numbers_of_a_place_under_any_name_are_taken_where_they_go_with_a_raters():
    rng = np.random.default_rng(4)
    says = rng.choice([0, 1, 2], 80)
    table = pl.DataFrame({
        "id": range(80), "model_1": rng.choice(["p", "q"], 80), "model_2": "r", "h1": says,
        "gpt-4o-mini": np.where(rng.random(80) < 0.8, says, 0), "turn": rng.choice([1, 2], 80),
    })  # fmt: skip
    read = ReadOptions(words={"0": 0.0, "1": 1.0, "2": -1.0})
    _, found = read_judged(table, reference=["h1"], read=read)
    assert found.raters == ("h1", "gpt-4o-mini")


def test_a_list_that_names_a_label_twice_is_several_peoples(tmp_path):
    lists = [["calm", "calm", "sad"], ["sad", "sad"], ["sad", "calm", "calm"]] * 10
    said = {f"t{k}": {"humans": one, "gpt": one[0]} for k, one in enumerate(lists)}
    path = tmp_path / "said.json"
    path.write_text(json.dumps(said))
    found = read_judged(path, read=ReadOptions())[1]
    assert found.people == ("human 1", "human 2", "human 3")
    third = found.labels.filter(rater="human 3")["labels"].drop_nulls().to_list()
    assert third == [["sad"], ["calm"]] * 10
    runs = {item: {"humans": one["gpt"], "gpt": one["humans"]} for item, one in said.items()}
    path.write_text(json.dumps(runs))
    with pytest.raises(TableError, match="a row for each with a column run"):
        read_judged(path, read=ReadOptions())


def test_what_stands_beside_the_list_of_workers_is_none_of_them(tmp_path):
    words = ["calm", "sad"] * 15
    rows = [
        {
            "id": k,
            "prediction": word,
            "annotations": [{"worker": f"w{r}", "label": word} for r in (1, 2)],
        }
        for k, word in enumerate(words)
    ]
    path = tmp_path / "said.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(QuestionError, match="'prediction' may be people or judges") as asked:
        read_judged(path, read=ReadOptions())
    assert asked.value.choices == ("w1, w2",)
    found = read_judged(path, reference=["w1", "w2"], read=ReadOptions())[1]
    assert [one for one in found.raters if one not in found.people] == ["prediction"]


def test_a_confidence_is_of_whoever_gives_the_labels_beside_it():
    rng = np.random.default_rng(2)
    truth = WORDS[rng.choice(3, 60)]
    table = pl.DataFrame({
        "id": range(60), "human": truth,
        "gpt_label": np.where(rng.random(60) < 0.8, truth, "calm"),
        "gpt_confidence": rng.choice([0.6, 0.75, 0.9], 60),
    })  # fmt: skip
    found = examine(table, read=ReadOptions(probability="gpt_confidence"))
    assert ("gpt_label", "confidence") in {(one.judge, one.use) for one in found.verdicts}


def test_codes_of_raters_without_a_name_are_asked_about_where_they_show_no_order():
    rng = np.random.default_rng(6)
    truth = rng.choice(4, 100)

    def said():
        return np.where(rng.random(100) < 0.7, truth, rng.integers(0, 4, 100))

    table = pl.DataFrame({"nr": range(100), "rater1": said(), "rater2": said(), "claude": said()})
    with pytest.raises(QuestionError, match="are they classes, or grades") as asked:
        read_judged(table, read=ReadOptions())
    assert asked.value.choices == ("label", "score")


def test_a_judge_of_one_word_alone_is_read_beside_people_who_say_it_too():
    table = coded(("ann", "ben", "code")).drop("code")
    constant = table.with_columns(gpt=pl.lit("calm"), llama=pl.col("ann"), source=pl.lit("forum"))
    found = examine(constant, reference=["ann", "ben"])
    assert {one.judge for one in found.verdicts} == {"gpt", "llama"}
    assert next(v for v in found.verdicts if (v.judge, v.use) == ("gpt", "single")).state == "no"


def votes_of(rng, n=80):
    return rng.choice(["model_a", "model_b", "tie"], n)


def test_columns_of_others_stand_beside_both_orders_and_beside_voters():
    rng = np.random.default_rng(8)
    pairs = {"item": range(80), "model_1": rng.choice(["p", "q"], 80), "model_2": "r"}
    said = {name: votes_of(rng) for name in ("human", "g1_winner", "g2_winner")}
    word = {"model_a": "model_1", "model_b": "model_2", "tie": "tie"}
    both = pl.DataFrame({**pairs, **{k: [word[x] for x in v] for k, v in said.items()}})
    found = read_judged(both, read=ReadOptions())[1]
    assert found.people == ("human",)
    assert found.preferences.group_by("rater").len().sort("rater").rows() == [
        ("human", 80),
        ("judge", 160),
    ]
    voters = [f"user_{k % 9}" for k in range(80)]
    arena = pl.DataFrame(
        {
            "item": range(80),
            "model_a": pairs["model_1"],
            "model_b": "r",
            "voter": voters,
            "winner": votes_of(rng),
            "gpt": votes_of(rng),
        }
    )
    found = read_judged(arena, read=ReadOptions(rater="voter"))[1]
    assert set(found.raters) - set(voters) == {"gpt"}
    assert found.preferences.filter(rater="gpt").height == 80


def test_two_systems_that_nothing_compares_are_no_two_raters():
    rng = np.random.default_rng(9)
    names = np.array(["p", "q", "r", "s"])
    first = rng.choice(4, 60)
    second = (first + rng.integers(1, 4, 60)) % 4
    table = pl.DataFrame({"id": range(60), "a": names[first], "b": names[second]})
    with pytest.raises(TableError, match="two systems that are compared"):
        read_judged(table, read=ReadOptions())
    declared = ReadOptions(kind="label")
    assert read_judged(table, reference=["a"], read=declared)[1].raters == ("a", "b")


def test_rows_of_a_label_each_are_a_set_where_somebody_says_so():
    rows = [(k, r, w) for k in range(30) for r in ("human", "gpt") for w in ("calm", "sad")]
    rows = [row for row in rows if not (row[0] % 3 == 0 and row[1:] == ("gpt", "sad"))]
    rows = [row for row in rows if not (row[0] == 7 and row[1] == "gpt")]
    table = pl.DataFrame(rows, schema=["ticket", "rater", "label"], orient="row")
    with pytest.raises(TableError, match="--kind 'label set'"):
        read_judged(table, read=ReadOptions())
    with pytest.raises(QuestionError, match="no label applies") as asked:
        read_judged(table, read=ReadOptions(kind="label set"))
    assert asked.value.key == "empty"
    read = ReadOptions(kind="label set", empty="none")
    found = read_judged(table, read=read)[1].labels.filter(rater="gpt")
    by_item = dict(zip(found["item"], found["labels"].to_list(), strict=True))
    assert (by_item["3"], by_item["4"], by_item["7"]) == (["calm"], ["calm", "sad"], [])


def test_a_probability_beside_peoples_words_is_of_the_label_with_which_it_rises():
    rng = np.random.default_rng(10)
    p = rng.random(120).round(3)
    truth = np.where(rng.random(120) < p, "spam", "ham")
    shown = [f"{100 * one:.1f}%" for one in p]
    table = pl.DataFrame({"id": range(120), "label": truth, "p_gpt": p, "p_llama": shown})
    found = read_judged(table, read=ReadOptions())[1]
    assert [one.attribute for one in found.questions] == ["ham"]
    claimed = found.labels.filter(pl.col("rater") != "label").group_by("rater").agg("probability")
    for _, values in claimed.rows():
        assert values == pytest.approx((1 - p).tolist())
    nothing = table.with_columns(p_gpt=rng.random(120).round(3)).drop("p_llama")
    with pytest.raises(QuestionError, match="of which label: ham or spam") as asked:
        read_judged(nothing, read=ReadOptions())
    assert asked.value.key == "claims"


@pytest.mark.parametrize("settled", [0, 1])
def test_a_gold_label_made_of_the_others_is_no_further_person(settled):
    rng = np.random.default_rng(11)
    truth = rng.choice(3, 60)
    people = np.stack([np.where(rng.random(60) < 0.75, truth, rng.choice(3, 60)) for _ in range(3)])
    gold = np.array([np.bincount(one, minlength=3).argmax() for one in people.T])
    differ = np.flatnonzero([len(set(one)) == 2 for one in people.T])
    gold[differ[:settled]] = (gold[differ[:settled]] + 1) % 3
    columns = {f"ann_{k + 1}": WORDS[one] for k, one in enumerate(people)}
    table = pl.DataFrame({"id": range(60), **columns, "gold": WORDS[gold], "gpt": WORDS[truth]})
    if settled:
        with pytest.raises(QuestionError, match="'gold' may hold what was agreed on") as asked:
            read_judged(table, read=ReadOptions())
        assert asked.value.choices == ("ann_1, ann_2, ann_3", "gold")
        return
    found = read_judged(table, read=ReadOptions())[1]
    assert found.people == ("ann_1", "ann_2", "ann_3")
    assert "raters_derived" in {one.kind for one in found.findings}
    assert "gold" not in found.raters
    # Nobody's own column is taken for one.
    apart = table.drop("gold").with_columns(ann_4=WORDS[np.roll(people[0], 1)])
    assert len(read_judged(apart, read=ReadOptions())[1].people) == 4
