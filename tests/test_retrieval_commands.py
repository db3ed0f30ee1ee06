"""`voirdire index`, as a user runs it."""

from __future__ import annotations

import json
import sys

import pytest
import word_embedder
from command_line import invoke

from voirdire import InputError, TableError

pytest.importorskip("faiss", reason="faiss is not installed")
pytest.importorskip("langchain_core", reason="langchain-core is not installed")

POOL = """id,text,author,anxiety
p1,I worry before every exam,x,1
p2,The garden is quiet in spring,y,0
p3,Exam week makes me worry,z,1
p4,,z,0
p5,The garden is QUIET in spring ,w,0
"""
ITEMS = """id,text,author
p3,Exam week makes me worry,z
t2,i worry before every exam,q
"""


class Words:
    """A LangChain-like embedder by import path, so that the command line needs no model."""

    def embed_documents(self, texts):
        return word_embedder.WordEmbedder().embed(texts).tolist()


@pytest.fixture
def run(tmp_path, monkeypatch):
    sys.modules.setdefault("retrieval_words", sys.modules[Words.__module__])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pool.csv").write_text(POOL, encoding="utf-8")
    (tmp_path / "items.csv").write_text(ITEMS, encoding="utf-8")

    def call(*arguments, fails=None):
        result = invoke(["index", *arguments])
        if fails is not None:
            assert isinstance(result.exception, fails), result.output
            return str(result.exception)
        assert result.exit_code == 0, result.output + repr(result.exception)
        return result

    return call


BUILD = ("build", "pool.csv", "--label", "anxiety", "--group", "author", "-o", "idx")
MODEL = ("--model", "langchain:retrieval_words:Words")


def test_build_says_what_it_did_and_what_it_left_out(run):
    first = run(*BUILD, *MODEL)
    assert "idx: built (there is no index yet); 3 examples, 64 dimensions, exact" in first.stdout
    assert "1 of 5 rows have an empty text and were left out" in first.stderr
    assert "1 of 5 rows repeat a text" in first.stderr
    assert "idx: up to date; 3 examples" in run(*BUILD, *MODEL).stdout
    other = run(*BUILD, *MODEL, "--kind", "hnsw", "--cache", "vectors")
    assert "idx: built (it is of kind exact" in other.stdout
    assert "recall at 2 against exact: 1.000" in other.stdout


def test_query_by_text_reads_well(run):
    run(*BUILD, *MODEL)
    shown = run("query", "idx", "--text", "I worry about the exam").stdout.splitlines()
    assert shown[0] == "text"
    assert shown[1].split("  ")[2:] == ["p1", "anxiety=1", "I worry before every exam"]
    bare = run("query", "idx", "--text", "I worry about the exam", "--no-text").stdout
    assert "every exam" not in bare


def test_query_by_file_keeps_the_test_split_out_and_counts_leaks(run):
    run(*BUILD, *MODEL)
    result = run("query", "idx", "--items", "items.csv", "-k", "1", "--group", "author", "--json")
    found = json.loads(result.stdout)["rows"]
    assert [one["item"] for one in found] == ["p3", "t2"]
    assert [[e["id"] for e in one["examples"]] for one in found] == [["p2"], ["p2"]]
    assert {e["id"]: e["reason"] for e in found[0]["excluded"]} == {
        "p3": "same_id",
        "p1": "test_split",
    }
    assert "2 of 3 examples of the pool are items of the test split" in result.stderr
    assert "Examples kept out of prompts: 1 (the item itself, by its id)" in result.stderr


def test_query_takes_a_test_split_and_other_selectors(run):
    run(*BUILD, *MODEL)
    text = ("query", "idx", "--text", "worry exam spring", "--json", "-k", "2")

    def only(*more):
        (one,) = json.loads(run(*text, *more).stdout)["rows"]
        return one["examples"]

    assert [example["id"] for example in only("--test", "items.csv")] == ["p2"]
    chosen = only("--select", "balanced", "--balance", "anxiety")
    assert sorted(example["anxiety"] for example in chosen) == [0, 1]
    for select in ("diverse", "random"):
        assert all("text" not in example for example in only("--select", select, "--no-text"))


def test_info_tells_the_card_and_checks_the_files(run, tmp_path):
    run(*BUILD, *MODEL)
    (facts,) = json.loads(run("info", "idx", "--json").stdout)["rows"]
    assert (facts["model"], facts["count"], facts["kind"]) == (MODEL[1], 3, "exact")
    assert facts["left_out"]["duplicates"] == 1
    told = run("info", "idx").stdout
    assert "dimension    64" in told
    assert (
        "left_out     rows 5, empty 1, duplicates 1, conflicts 0, unlabelled 0, truncated" in told
    )
    assert "recall       -" in told
    (tmp_path / "idx" / "index.faiss").write_bytes(b"cut")
    assert "is not the file that its card describes" in run("info", "idx", fails=InputError)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("build", "no.csv", "-o", "idx", *MODEL), TableError, "no.csv"),
        (
            ("build", "pool.csv", "--text", "body", "-o", "x", *MODEL),
            TableError,
            "no column 'body'",
        ),
        (
            ("query", "nowhere", "--text", "x"),
            InputError,
            "nowhere holds no index: there is no card.json in it",
        ),
        (("query", "idx"), InputError, "give either --text or --items"),
        (("query", "idx", "--text", "x", "--balance", "anxiety"), InputError, "go together"),
        (("info", "nowhere"), InputError, "nowhere holds no index: there is no card.json in it"),
    ],
)
def test_errors_are_plain(run, arguments, kind, message):
    assert message in run(*arguments, fails=kind)


@pytest.mark.parametrize("command", ["build", "query", "info"])
def test_help_shows_examples(run, command):
    assert f"voirdire index {command}" in run(command, "--help").stdout
