"""`voirdire annotators` and `voirdire corpora`: labels of people adjudicated, corpora compared."""

from __future__ import annotations

import json

import polars as pl
import pytest
from angst_posts import posts
from command_line import invoke

from voirdire.tables import QuestionColumns, read_questions

LABELS = ("--label", "depression", "--label", "anxiety")


def call(*arguments):
    return invoke(list(map(str, arguments)))


def voirdire(*arguments):
    found = call(*arguments)
    assert found.exit_code == 0, found.output + str(found.exception)
    return found.output


def test_a_second_rater_verifies_and_what_is_not_confirmed_is_filtered(tmp_path):
    questions = [
        {"id": f"q{n}", "question": f"Which {n}?", "choices": ["tea", "rain"], "answer": "A"}
        for n in range(5)
    ]
    (tmp_path / "exam.jsonl").write_text("\n".join(map(json.dumps, questions)))
    said = {  # by question: what ann and ben say of it; ben has not looked at the last one
        "q0": ("yes", "yes"), "q1": ("yes", "no"), "q2": ("no", "no"), "q3": ("yes", "yes"),
        "q4": ("yes", None),
    }  # fmt: skip
    rows = [(q, who, one) for q, both in said.items() for who, one in zip("ab", both, strict=True)]
    checks = pl.DataFrame(rows, schema=["item", "annotator", "sound"], orient="row")
    checks.write_csv(tmp_path / "checks.csv")
    asked = (
        "annotators",
        tmp_path / "checks.csv",
        "--primary",
        "a",
        "--primary",
        "b",
        "--rule",
        "unanimous",
        "--items",
        tmp_path / "exam.jsonl",
        "--json",
        "--keep",
    )
    found = json.loads(voirdire(*asked, "sound", "--out", tmp_path / "kept.csv"))["tables"]
    counts = {row["What"]: row["Count"] for row in found[1]["rows"]}
    assert (counts["items"], counts["left"]) == (5, 2)
    assert (counts["removed: not confirmed"], counts["removed: not to be kept"]) == (2, 1)
    kept = read_questions(tmp_path / "kept.csv", QuestionColumns(id="id"))
    assert [(one.id, one.choices) for one in kept] == [(q, ("tea", "rain")) for q in ("q0", "q3")]
    first = {row["Coefficient"]: row for row in found[0]["rows"]}
    assert first["agreement"]["Value"] == 0.75
    assert len(first["agreement"]["Interval"]) == 2
    assert "'good'" in str(call(*asked, "good").exception)


def test_annotators_are_compared_and_their_conflicts_settled(tmp_path):
    rows = [
        (str(n), who, int((n + (who == "b" and n == 3)) % 2 == 0), 0, "calm" if n == 0 else "", 0)
        for n in range(8)
        for who in "abc"
    ]
    names = ["item", "annotator", "depression", "anxiety", "evidence", "flag"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "labels.csv")
    texts = pl.DataFrame({"id": [str(n) for n in range(8)], "text": ["A calm day."] * 8})
    texts.write_csv(tmp_path / "posts.csv")
    found = json.loads(
        voirdire(
            "annotators",
            tmp_path / "labels.csv",
            "--primary",
            "a",
            "--primary",
            "b",
            "--secondary",
            "c",
            "--items",
            tmp_path / "posts.csv",
            "--out",
            tmp_path / "gold.csv",
            "--json",
        )
    )["tables"]
    first = {(row["Label"], row["Coefficient"]): row for row in found[0]["rows"]}
    assert first["depression", "agreement"]["Value"] == pytest.approx(7 / 8)
    assert first["anxiety", "alpha"]["Value"] is None  # nobody ever says yes
    assert first["anxiety", "alpha"]["Reason"] == "zero_expected_disagreement"
    counts = {row["What"]: row["Count"] for row in found[1]["rows"]}
    assert (counts["conflicts on depression"], counts["adjudicated on depression"]) == (1, 1)
    assert (counts["spans of evidence"], counts["spans not in their text"]) == (3, 0)
    gold = pl.read_csv(tmp_path / "gold.csv")
    assert gold["depression"].to_list() == [1, 0] * 4
    assert gold["text"].to_list() == ["A calm day."] * 8  # so that a study can be written of it
    assert "Agreement" in voirdire(
        "annotators", tmp_path / "labels.csv", "--primary", "a", "--primary", "c"
    )


def test_final_labels_are_not_left_unwritten_in_silence(tmp_path):
    rows = [("1", who, "yes", "No") for who in "ab"]
    names = ["item", "annotator", "depression", "anxiety"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "labels.csv")
    asked = ["annotators", tmp_path / "labels.csv", "--primary", "a", "--primary", "b"]
    found = call(*asked, "--out", tmp_path / "gold.csv")
    assert found.exit_code == 1
    assert "--out and --keep need final labels" in str(found.exception)
    voirdire(*asked, "--rule", "majority", "--out", tmp_path / "gold.csv")
    assert pl.read_csv(tmp_path / "gold.csv")["depression"].to_list() == [1]
    pl.DataFrame({"id": ["2"], "text": ["x"]}).write_csv(tmp_path / "posts.csv")
    found = call(
        *asked,
        "--rule",
        "majority",
        "--items",
        tmp_path / "posts.csv",
        "--out",
        tmp_path / "gold.csv",
    )
    assert "there is no item '1', which has labels" in str(found.exception)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--label", "klass"), "no column 'klass'"),
        (("--label", "class", "--text", "body"), "no column 'body'"),
    ],
)
def test_a_misspelled_column_is_not_replaced_by_another(tmp_path, flags, message):
    posts(12, 1, "a").write_csv(tmp_path / "one.csv")
    found = call("corpora", tmp_path / "one.csv", *flags)
    assert found.exit_code == 1
    assert message in str(found.exception)


def test_a_corpus_is_analysed_by_class_and_against_others(tmp_path):
    posts(120, 1, "a").write_csv(tmp_path / "one.csv")
    posts(60, 2, "b").with_columns(text=pl.col("text").str.replace_all("the", "ze")).write_csv(
        tmp_path / "two.csv"
    )
    said = voirdire(
        "corpora",
        tmp_path / "one.csv",
        *LABELS,
        "--against",
        f"two={tmp_path / 'two.csv'}",
        "--json",
    )
    classes, others = json.loads(said)["tables"]
    assert len(classes["rows"]) == 6
    assert {row["mmd2"] for row in classes["rows"]} == {None}
    assert others["rows"][0]["ROC-AUC"] > 0.95
    assert others["rows"][0]["Repeated"] == 0
    both = json.loads(
        voirdire(
            "corpora",
            tmp_path / "one.csv",
            *LABELS,
            f"b={tmp_path / 'two.csv'}",
            "--json",
        )
    )["tables"]
    assert [row["Corpus"] for row in both[0]["rows"]] == ["one"] * 6 + ["b"] * 6
    found = call("corpora", tmp_path / "one.csv", tmp_path / "one.csv", *LABELS)
    assert "two corpora have the name 'one'" in str(found.exception)
