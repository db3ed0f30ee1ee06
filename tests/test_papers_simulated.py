"""Each paper's plugin from end to end with simulated models, by the commands of its page in docs."""

from __future__ import annotations

import json
from itertools import pairwise

import polars as pl
import pytest
from angst_posts import posts
from cbt_bench_work import belief_folder, exercise_file, question_file
from command_line import invoke
from word_embedder import WordEmbedder

from voirdire import InputError
from voirdire.examining import examine
from voirdire.examining.differing import shortened
from voirdire.examining.preferences import Preferences
from voirdire.study import load_study


def voirdire(*arguments):
    done = invoke([str(one) for one in arguments])
    assert done.exit_code == 0, done.output + str(done.exception)
    return done.output


def tables(found):
    return {section.title: section.table for section in found.sections if section.has_rows}


def option(name, value):
    return "--model-option", f"{name}={json.dumps(value)}"


def test_distortions_from_texts_to_tables(tmp_path):
    labels = ["Labeling", "Mind Reading", "No Distortion", "Fortune Telling"]
    pl.DataFrame(
        {
            "nr": range(24),
            "body": [f"Letter {n}: the bus was late." for n in range(24)],
            "first": [labels[n % 4] for n in range(24)],
        }
    ).write_csv(tmp_path / "letters.csv")
    said = voirdire(
        "paper",
        "distortions",
        "study",
        tmp_path / "letters.csv",
        "--id",
        "nr",
        "--text",
        "body",
        "--dominant",
        "first",
        "--model",
        "simulated:a",
        "--temperature",
        0.5,
        "--runs",
        5,
        *option("answers", labels),
        "--definitions",
        "with",
        "--out",
        tmp_path / "study",
    )
    assert "voirdire examine distortions --data SESSION" in said
    study = load_study(tmp_path / "study" / "study.toml")
    assert [rater.name for rater in study.panel] == [
        "People",
        "a 0.5 ranked defined",
        "a 0.5 multi defined",
    ]
    voirdire("run", tmp_path / "study" / "study.toml", "--out", tmp_path / "a", "--quiet")
    examined = examine("distortions", data=tmp_path / "a", resamples=0)
    # What people labelled is what the annotators' labels are held against, and not their scores.
    assert {one.kind for one in examined.verdicts} <= {"label", "label set"}
    assert {one.judge for one in examined.verdicts} == {rater.name for rater in study.panel[1:]}
    found = tables(examined)
    assert {"Average Fleiss' kappa (Table 2)", "Final labels (Table 8)"} <= set(found)
    sweep = found["Items with a label where 3 to all runs must agree"].rows
    assert [row[1] for row in sweep] == [3, 4, 5, 3, 4, 5]
    assert all(a[3] >= b[3] for a, b in pairwise(sweep) if a[0] == b[0])
    assert all(sum(row[3:7]) == 24 for row in sweep)
    shown = json.loads(voirdire("item", tmp_path / "a", "3", "--json"))["tables"]
    assert [row["Annotator"] for row in shown[0]["rows"]] == [
        "a 0.5 ranked defined",
        "a 0.5 multi defined",
    ]
    assert set(shown[0]["rows"][0]) == {
        "Annotator",
        *(f"Run {n}" for n in range(1, 6)),
        "Final",
    }
    missing = invoke(["item", str(tmp_path / "a"), "x"])
    assert isinstance(missing.exception, InputError)
    voirdire("paper", "distortions", "datasets", tmp_path / "a", "--out", tmp_path / "sets")
    assert (tmp_path / "sets" / "a-0.5_defined.parquet").is_file()


@pytest.mark.usefixtures("invented_key")
def test_level_two_with_people_beside_the_models(tmp_path):
    truth = belief_folder(tmp_path, n=40)
    rows = [
        (f"p{n}", who, label, float(label in labels) if (n + (who == "ben")) % 5 else 0.0)
        for n, labels in enumerate(truth.values())
        for who in ("ann", "ben")
        for label in ("helpless", "unlovable", "worthless")
    ]
    names = ["item", "rater", "attribute", "score"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv(tmp_path / "people.csv")
    voirdire(
        "paper",
        "cbt_bench",
        "labels",
        "pc",
        "--data",
        tmp_path,
        "--model",
        "simulated:a",
        *option("answers", ["a", "b, c", "c"]),
        "--people",
        tmp_path / "people.csv",
        "--definitions",
        "--out",
        tmp_path / "pc",
        "--json",
    )
    voirdire("run", tmp_path / "pc" / "study.toml", "--out", tmp_path / "session", "--quiet")
    found = tables(examine("cbt_bench", data=tmp_path / "session", resamples=0))
    swapped = found["CBT-PC: which label replaces which"].rows
    assert {row[0] for row in swapped} == {"a", "ann", "ben"}
    assert all(row[1] != row[2] for row in swapped)
    people = found["CBT-PC: agreement of people"].rows
    labels = ["helpless", "unlovable", "worthless"]
    assert [row[0] for row in people] == [*labels, "the whole answer"]
    assert all(0 < row[1] <= 1 and row[2] is not None and row[4] is not None for row in people)
    # Ben and Ann name the labels of four patients in five, and not the same ones.
    assert people[-1][1] == pytest.approx(3 / 5)


@pytest.mark.usefixtures("invented_key")
def test_level_one_with_held_out_questions_before_each(tmp_path):
    path = question_file(tmp_path)
    held = [
        {"question": f"Held out {n}?", "choices": ["one", "two"], "answer": "B"} for n in range(3)
    ]
    (tmp_path / "held.jsonl").write_text("\n".join(map(json.dumps, held)))
    asked = (
        "paper",
        "cbt_bench",
        "questions",
        path,
        "--model",
        "simulated:a",
        "--examples",
        tmp_path / "held.jsonl",
        *option("answers", ["a", "b"]),
    )
    voirdire(*asked, "-k", 2, "--out", tmp_path / "qa")
    study = load_study(tmp_path / "qa" / "study.toml")
    assert [x["answer"] for x in study.panel[1].options["examples"]] == [["two"], ["two"]]
    voirdire("run", tmp_path / "qa" / "study.toml", "--out", tmp_path / "session", "--quiet")
    assert "Questions: accuracy" in tables(examine("cbt_bench", data=tmp_path / "session"))
    refused = invoke([*map(str, asked), "-k", "9", "--out", str(tmp_path / "x")])
    assert "-k is 9, and it holds 3 questions" in str(refused.exception)
    asked = [str(path) if one == tmp_path / "held.jsonl" else str(one) for one in asked]
    refused = invoke([*asked, "--out", str(tmp_path / "x")])
    assert "their answers would be shown" in str(refused.exception)


def test_level_three_with_simulated_models(tmp_path):
    voirdire(
        "paper",
        "cbt_bench",
        "exercises",
        exercise_file(tmp_path, n=10),
        "--model",
        "simulated:a",
        "--judge",
        "simulated:b",
        "--out",
        tmp_path / "dp",
    )
    voirdire("run", tmp_path / "dp" / "study.toml", "--out", tmp_path / "session", "--quiet")
    found = examine("cbt_bench", data=tmp_path / "session", resamples=0)
    assert found.facts(Preferences) is not None
    assert "Length of responses against the reference" in tables(found)


@pytest.fixture
def words(monkeypatch):
    """Embeds by words, in place of a model: nearness is not what is tested here."""
    pytest.importorskip("faiss", reason="faiss is not installed")
    monkeypatch.setattr("voirdire_retrieval._ready._embedder", lambda *_: WordEmbedder())


@pytest.mark.usefixtures("words")
def test_angst_from_silver_labels_to_the_report(tmp_path):
    posts(30, 1, "s").select("id", "text").write_csv(tmp_path / "posts.csv")
    gold = posts(24, 2, "g").with_columns(evidence=pl.col("text").str.slice(20, 12))
    gold.write_csv(tmp_path / "gold.csv")
    posts(8, 3, "x").write_csv(tmp_path / "sample.csv")
    open_answers = [
        "Mental Health Disorder: No\nName of Mental Health Disorder: None\nDSM5 Rationale: calm",
        "Mental Health Disorder: Yes\nName of Mental Health Disorder: Major depression\nDSM5 Rationale: low",
    ]
    said = voirdire(
        "paper",
        "angst",
        "silver",
        tmp_path / "posts.csv",
        "--model",
        "simulated:a",
        "--model",
        "simulated:b",
        "--runs",
        2,
        "--temperature",
        1,
        "--at-least",
        2,
        "--keep-controls",
        3,
        "--gold",
        tmp_path / "sample.csv",
        *option("answers", open_answers),
        "--quiet",
        "--out",
        tmp_path / "silver",
        "--json",
    )
    counts, agreement = json.loads(said)["tables"]
    number = {row["What"].strip(): row["Posts"] for row in counts["rows"]}
    assert (
        number["posts"] == 30 == number["kept"] + number["kept as controls"] + number["discarded"]
    )
    assert number["kept as controls"] == 3
    assert {row["Rater"] for row in agreement["rows"]} == {"all together", "a", "b"}
    silver = pl.read_ndjson(tmp_path / "silver" / "silver.jsonl")
    assert not set(silver["id"]) & {f"x{n:04}" for n in range(8)}  # no gold post is silver
    voirdire(
        "paper",
        "angst",
        "study",
        tmp_path / "gold.csv",
        "--model",
        "simulated:a",
        "--silver",
        tmp_path / "silver" / "silver.jsonl",
        "--selector",
        "balanced",
        "--scale",
        "phq9=5",
        "--variant",
        "standard",
        "--runs",
        1,
        "--out",
        tmp_path / "angst",
    )
    study = load_study(tmp_path / "angst" / "study.toml")
    assert study.items.extra == ("evidence",)
    labels = [r.options["examples"]["label"] for r in study.panel if "examples" in r.options]
    assert labels == ["depression", "anxiety", "class"]
    voirdire("run", tmp_path / "angst" / "study.toml", "--out", tmp_path / "session", "--quiet")
    examination = examine("angst", data=tmp_path / "session", resamples=0)
    found = tables(examination)
    assert {"pool_lacks_class"} <= {finding.kind for finding in examination.findings}
    assert "Both labels (as Table 6)" in found
    together = found["Agreement of the methods with one another"].rows
    assert {row[0] for row in together} == {"depression", "anxiety"}
    sweep = found["Thresholds of questionnaires, swept"].rows
    assert [row[1] for row in sweep][:2] == [1, 3]  # 27 thresholds, every second
    assert all(row[2] + row[3] == 24 for row in sweep)


def test_an_excerpt_stands_around_the_evidence_and_keeps_its_length():
    text = "It was a long week. " * 20 + "I felt so low at the piano. " + "Then came spring. " * 20
    for most in (20, 40, 80):
        found = shortened(text, most, "not there|so low")
        assert "so low" in found
        assert len(found) <= most + len("«»")
    assert shortened(text, 20, "not there") == shortened(text, 20)
