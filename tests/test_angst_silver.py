"""angst: silver labels and the names of disorders."""

from __future__ import annotations

import json

import polars as pl
import pytest

from voirdire import InputError
from voirdire.examining.annotating import consensus
from voirdire.parsing import labels_named
from voirdire.schema import Item, Reply
from voirdire_plugins.angst.labels import with_class
from voirdire_plugins.angst.silver import COLUMNS, PATTERNS, silver_corpus
from voirdire_plugins.angst.silver import make as make_silver


@pytest.mark.parametrize(
    ("answer", "name", "expected"),
    [
        ("Yes", "Major Depressive Disorder", (1, 1, 0)),
        ("Yes", "Generalized Anxiety Disorder (GAD)", (1, 0, 1)),
        ("**Yes**", "MDD and panic disorder", (1, 1, 1)),
        ("Yes", "Bipolar I disorder", (1, 0, 0)),
        ("yes.", "Borderline personality disorder, no depression", (1, 0, 0)),
        ("No", "None", (0, 0, 0)),
        ("No", "", (0, 0, 0)),
        ("No", "Depression", (None, None, None)),
        ("Yes", "", (1, None, None)),
        ("Perhaps", "Depression", (None, None, None)),
    ],
)
def test_three_lines_are_read(answer, name, expected):
    text = (
        f"Mental Health Disorder: {answer}\n\nName of Mental Health Disorder: {name}\n\n"
        "DSM5 Rationale: depressed mood is mentioned."
    )
    found = make_silver().parse([Reply(text)])
    assert tuple(found.scores.values()) == expected
    assert (found.status == "ok") == (None not in expected)


def test_silver_reads_what_comes_without_a_number_from_nowhere():
    annotator = make_silver()
    for text, finish, status in (
        ("", "error", "failed"), ("", "stop", "blank"), ("I cannot say.", "stop", "unparsable"),
        ("Mental Health", "length", "truncated"), ("", "content_filter", "filtered"),
    ):  # fmt: skip
        found = annotator.parse([Reply(text, finish)])
        assert found.status == status
        assert set(found.scores.values()) == {None}
    assert annotator.parse([]).status == "blank"
    assert annotator.requests(Item("1", "")) == []


def test_every_silver_post_is_accounted_for():
    posts = pl.DataFrame({"id": list("abcde"), "text": [f"post {x}" for x in "abcde"]})
    said = {"a": (1, 1, 0), "b": (0, 0, 0), "c": (1, 0, 0), "d": (1, None, None)}
    names = ("disorder", "depression", "anxiety")
    rows = [
        (i, "m", 1, n, v) for i, three in said.items() for n, v in zip(names, three, strict=True)
    ]
    columns = ["item", "rater", "run", "attribute", "score"]
    ratings = pl.DataFrame(rows, schema=columns, orient="row")
    kept, counts = silver_corpus(consensus(ratings, COLUMNS), posts)
    assert kept.rows() == [("a", "post a", 1, 0, "depression")]
    assert (counts.labelled, counts.kept, counts.discarded) == (5, 1, 4)
    assert (counts.no_disorder, counts.other_disorder, counts.unread) == (1, 1, 2)


@pytest.mark.shared
def test_the_papers_silver_counts_add_up(shared):
    path = shared / "reference" / "paper_checks.json"
    silver = json.loads(path.read_text(encoding="utf-8"))["paper_004"]["silver"]
    assert silver["kept"] + silver["discarded"] == silver["labelled"] == 25_000 - 2876


def test_classes_and_names():
    pairs = [(0, 0), (1, 0), (0, 1), (1, 1), (None, 1)]
    frame = pl.DataFrame(pairs, schema=["depression", "anxiety"], orient="row")
    assert with_class(frame)["class"].to_list() == [
        "control",
        "depression",
        "anxiety",
        "comorbid",
        None,
    ]


@pytest.mark.parametrize(
    ("name", "depression", "anxiety"),
    [
        ("social phobia rather than depression", False, True),
        ("Manic-depressive illness", False, False),
        ("bipolar-depression with panic attacks", False, True),
        ("Depressive disorder, not otherwise specified, with anxiety", True, True),
        ("not otherwise specified anxiety", False, True),
        ("no depression, not just anxiety", False, True),
    ],
)
def test_disorders_that_are_named_and_not_denied(name, depression, anxiety):
    assert labels_named(name, PATTERNS) == {"depression": depression, "anxiety": anxiety}


def answers(**said):
    """Ratings of runs by rater: (disorder, depression, anxiety) for each (post|item), run by run."""
    rows = [
        (item, rater, run, name, value)
        for rater, runs in said.items()
        for run, posts in enumerate(runs, 1)
        for item, three in posts.items()
        for name, value in zip(("disorder", "depression", "anxiety"), three, strict=True)
    ]
    columns = ["item", "rater", "run", "attribute", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def test_several_models_and_runs_label_by_what_enough_of_them_say():
    low, calm, tense = (1, 1, 0), (0, 0, 0), (1, 0, 1)
    ratings = answers(
        m=[{"a": low, "b": calm, "c": low}, {"a": low, "b": low, "c": tense}],
        n=[{"a": low, "b": calm, "c": (1, None, None)}],
    )
    most = consensus(ratings, COLUMNS).rows()
    assert most[0] == ("a", 1.0, 1.0, 0.0)
    assert most[1] == ("b", 0.0, 0.0, 0.0)  # two of three
    assert most[2] == ("c", 1.0, None, None)  # one yes and one no of three are no majority
    assert consensus(ratings, COLUMNS, 3).rows()[1][1:] == (None, None, 0.0)
    with pytest.raises(InputError, match="--at-least 4: only 3 answers are asked for"):
        consensus(ratings, COLUMNS, 4)


def test_controls_are_kept_where_they_are_asked_for_and_the_same_ones_each_time():
    posts = pl.DataFrame({"id": list("abcdef"), "text": [f"post {x}" for x in "abcdef"]})
    said = dict.fromkeys("abcde", (0, 0, 0)) | {"f": (1, 1, 0)}
    labels = consensus(answers(m=[said]), COLUMNS)
    kept, counts = silver_corpus(labels, posts, keep_controls=2)
    assert kept["class"].to_list() == ["depression", "control", "control"]
    assert (counts.controls, counts.no_disorder, counts.discarded) == (2, 3, 3)
    again, _ = silver_corpus(labels, posts, keep_controls=2)
    assert again.equals(kept)
    assert silver_corpus(labels, posts, keep_controls=99)[0].height == 6
