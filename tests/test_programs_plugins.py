"""What plugins' commands give a program that ends well, each by its published schema."""

from __future__ import annotations

import json

import polars as pl
import pytest
from command_line import typed
from json_documents import checked
from simulated_sessions import session_of, study_of

POSTS = [
    (f"p{n}", f"I worry about exam {n}" if n % 2 else f"a quiet garden {n}", n % 2)
    for n in range(12)
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small files of every kind that the commands read."""
    folder = tmp_path_factory.mktemp("files")
    posts = pl.DataFrame(POSTS, schema=["id", "text", "anxiety"], orient="row")
    posts.write_csv(folder / "posts.csv")
    gold = posts.with_columns(depression=pl.lit(0), anxiety=pl.col("anxiety"))
    gold.write_csv(folder / "gold.csv")
    words = posts.with_columns(
        depression=pl.lit(0), text=pl.concat_str("text", pl.lit(" word" * 80))
    )
    words.write_csv(folder / "long.csv")
    letters = pl.DataFrame({"id": ["1", "2"], "text": ["I always fail.", "They hate me."]})
    letters.write_csv(folder / "letters.csv")
    talk = {
        "id": "t",
        "messages": [
            {"role": "user", "content": "I am sad."},
            {"role": "assistant", "content": "Tell me more."},
        ],
    }
    (folder / "talks.jsonl").write_text(json.dumps(talk) + "\n")
    exam = {"id": "1", "question": "Which?", "choices": ["x", "y"], "answer": "a"}
    (folder / "exam.jsonl").write_text(json.dumps(exam) + "\n")
    predicted = pl.DataFrame(
        {
            "item": [f"i{n}" for n in range(30)],
            "gold": ["a", "b"] * 15,
            "judge": ["a", "a", "b"] * 10,
        }
    )
    predicted.write_csv(folder / "predicted.csv")
    return folder


MODEL = ("--model", "simulated:one")


@pytest.mark.parametrize(
    ("command", "words", "holds"),
    [
        ("corpora", ("gold=gold.csv", "long=long.csv", "--label", "anxiety"), "tables"),
        ("paper mentalalign-scenarios", (), "tables"),
        ("paper angst study", ("gold.csv", *MODEL, "--out", "angst"), "lines"),
        ("paper angst conversations",
         ("talks.jsonl", "--task", "depression", "--unit", "turn", *MODEL, "--out", "turns"),
         "lines"),
        ("paper cbt_bench conversations",
         ("talks.jsonl", "--task", "cd", "--unit", "turn", *MODEL, "--out", "cd"), "lines"),
        ("paper cbt_bench questions", ("exam.jsonl", *MODEL, "--out", "qa"), "study"),
        ("paper distortions study", ("letters.csv", *MODEL, "--out", "letters"), "study"),
    ],
)  # fmt: skip
def test_a_declared_command_gives_what_it_made(files, command, words, holds):
    done = typed(*command.split(), *words, "--json", cwd=files)
    assert done.returncode == 0, done.stdout + done.stderr
    record = checked(command, done.stdout, done.stderr)
    assert record["answer"]["state"] == "ok"
    assert record[holds]
    if holds == "study":
        assert (files / record["study"]).is_file()
        steps = [step["command"] for step in record["answer"]["next"]]
        assert [step.split()[:2] for step in steps] == [
            ["voirdire", "run"],
            ["voirdire", "examine"],
        ]


def test_labels_give_their_scores(files):
    done = typed(
        "labels", "predicted.csv", "--draws", "50", "--resamples", "50", "--json", cwd=files
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = checked("labels", done.stdout, done.stderr)
    assert record["scores"][0]["n"] == 30


def test_a_dry_run_of_probes_and_of_a_run_say_that_nobody_was_asked(tmp_path):
    study_of(tmp_path / "study", items=4)
    study = tmp_path / "study" / "asked.toml"
    study.write_text(
        'name = "calm"\n[items]\npath = "items.csv"\n[responses]\npath = "responses.csv"\n'
        '[rubric]\nattributes = ["Empathy"]\n[[panel]]\nname = "judge"\nmodel = "simulated:a"\n'
    )
    for command, words in (
        ("probe", (study, "--probes", "length", "--dry-run", "--out", tmp_path / "probed")),
        ("run", (study, "--dry-run")),
    ):
        done = typed(command, *words, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        record = checked(command, done.stdout, done.stderr)
        assert record["answer"]["state"] == "ok"


def test_sessions_are_checked_and_their_status_is_told(tmp_path):
    session = session_of(tmp_path, "s", items=4)
    for command in ("session status", "session check", "jury"):
        done = typed(*command.split(), session, "--json", cwd=tmp_path)
        record = checked(command, done.stdout, done.stderr)
        assert record["answer"]["sentence"]
