"""The ledger of looks, and units that a judge was shown: what `correct` says and leaves out."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire import InputError
from voirdire.examining.correcting import correct, escalate
from voirdire.running import run
from voirdire.store.ledger import LabelUse, keep_look, ledger_of, looks_at, unit_hash
from voirdire.study import ReadOptions, build_study

voirdire = partial(typed, COLUMNS="100")


def judged(items=240, labelled=120, seed=0):
    """Two judges on all rows, a person on the first, and the texts of both."""
    chance = np.random.default_rng(seed)
    truth = np.clip(np.rint(chance.normal(3.2, 1.1, items)), 1, 5)
    judges = {
        name: np.clip(np.rint(truth + chance.normal(0, noise, items)), 1, 5)
        for name, noise in (("judge_good", 0.5), ("judge_poor", 1.5))
    }
    frame = pl.DataFrame(
        {
            "ticket": [f"t{i}" for i in range(items)],
            "asked": [f"Question {i}?" for i in range(items)],
            "answer": [f"Answer number {i}." for i in range(items)],
            **judges,
            "human": np.where(np.arange(items) < labelled, truth, np.nan),
        }
    )
    return frame.with_columns(pl.col("human").fill_nan(None))


READ = ("--item", "ticket", "--context", "asked", "--response", "answer", "--reference", "human")


def test_what_labels_chose_is_kept_beside_them_and_named_by_correct(tmp_path):
    frame = judged()
    frame.write_csv(tmp_path / "labels.csv")
    asked = ("escalate", "labels.csv", *READ, "--agree", "0.7", "--gate", "4")
    assert voirdire(*asked, cwd=tmp_path).returncode == 0
    assert not ledger_of(tmp_path / "labels.csv").exists()
    # A queue that is written is something that labels chose.
    for _ in range(2):
        done = voirdire(*asked, "--out", "queue.csv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    (line,) = (tmp_path / "labels.csv.looks.jsonl").read_text("utf-8").splitlines()
    look = json.loads(line)
    assert (look["command"], look["question"], look["candidates"]) == ("escalate", "score", 2)
    assert look["chosen"].startswith("judge_good")
    assert len(look["units"]) == 120
    # One label more and another order clear nothing.
    more = frame.with_columns(
        human=pl.when(pl.col("ticket") == "t130").then(3.0).otherwise("human")
    ).sample(fraction=1.0, shuffle=True, seed=1)
    more.write_csv(tmp_path / "labels.csv")
    done = voirdire("correct", "labels.csv", *READ, "--judge", "judge_good", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (finding,) = (f for f in json.loads(done.stdout)["findings"] if f["kind"] == "labels_chose")
    assert "120 of 121 labels of score were used on" in finding["message"]
    assert "by escalate to choose judge_good" in finding["message"]
    # Other labels were never looked at.
    other = judged(seed=3).with_columns(pl.col("answer").str.replace("number", "no."))
    other.write_csv(tmp_path / "labels.csv")
    done = voirdire("correct", "labels.csv", *READ, "--judge", "judge_good", "--json", cwd=tmp_path)
    assert "labels_chose" not in done.stdout


@pytest.mark.parametrize("kind", ["labels", "comparisons"])
def test_labels_and_comparisons_keep_what_they_chose_as_scores_do(tmp_path, kind):
    chance = np.random.default_rng(2)
    words = ["safe", "unsure", "risky"] if kind == "labels" else ["new", "old"]
    said = chance.choice(words, 120)
    rows = [
        (f"i{n}", rater, said[n] if chance.random() < right else chance.choice(words))
        for rater, right in (("human", 1.0), ("judge", 0.8), ("poor", 0.3))
        for n in range(60 if rater == "human" else 120)
    ]
    name = "category" if kind == "labels" else "winner"
    frame = pl.DataFrame(rows, ["item", "rater", name], orient="row")
    if kind == "comparisons":
        frame = frame.with_columns(system_a=pl.lit("new"), system_b=pl.lit("old"))
    path = tmp_path / "said.csv"
    frame.write_csv(path)
    escalate(path, agree=0.6, reference=["human"], remember=True)
    findings = correct(path, reference=["human"]).findings
    # One question, one look, however many labels it has.
    (look,) = (one for one in findings if one.kind == "labels_chose")
    assert look.count == 60
    assert "to choose judge" in look.message


def test_a_look_is_kept_once_and_read_back(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("item\n", "utf-8")
    units = frozenset(unit_hash("Safety", str(n)) for n in range(5))
    look = LabelUse("tune", "Safety", 20, "prompt 7", units, at=1e9)
    keep_look(look, labels=[labels])
    keep_look(LabelUse("tune", "Safety", 20, "prompt 7", units), labels=[labels])
    keep_look(LabelUse("tune", "Safety", 30, "prompt 9", units), labels=[labels])
    some = sorted(units)[:2]
    found = looks_at(some, labels=[labels])
    assert [(one.look.chosen, one.units) for one in found] == [("prompt 7", 2), ("prompt 9", 2)]
    assert found[0].look == look
    assert looks_at([unit_hash("Empathy", "1")], labels=[labels]) == ()
    path = ledger_of(labels)
    for line, message in (
        ('{"version": 9}', "line 1: a newer voirdire wrote it"),
        ("{}", "line 1: no look of a ledger"),
        ("what?", "line 1: no look of a ledger"),
    ):
        path.write_text(line + "\n", "utf-8")
        with pytest.raises(InputError, match=message):
            looks_at(some, labels=[labels])


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A session whose judge was shown two labelled items in the instructions of every prompt."""
    folder = tmp_path_factory.mktemp("shown")
    names = [f"i{n}" for n in range(60)]
    texts = [f"The train of {n} o'clock was late, and we waited." for n in range(60)]
    pl.DataFrame({"id": names, "text": texts}).write_csv(folder / "items.csv")
    rows = [(n, "bot", f"I am sorry about your train, {n}.") for n in names]
    pl.DataFrame(rows, ["item", "system", "text"], orient="row").write_csv(folder / "responses.csv")
    labels = [(n, "bot", "ann", "Empathy", 2 + k % 3) for k, n in enumerate(names[:30])]
    columns = ["item", "system", "rater", "attribute", "score"]
    pl.DataFrame(labels, columns, orient="row").write_csv(folder / "human.csv")
    examples = " ".join(f"{texts[n]} {rows[n][2]} Empathy: 4." for n in (3, 7))
    study = build_study(
        {
            "name": "trains", "items": {"path": "items.csv"},
            "responses": {"path": "responses.csv"}, "rubric": {"attributes": ["Empathy"]},
            "panel": [
                {"name": "judge", "model": "simulated:a", "options": {"instructions": examples}},
                {"name": "ann", "kind": "human"},
            ],
            "data": {"reference": ["ann"], "sources": [{"path": "human.csv", "layout": "long"}]},
        },
        folder=str(folder),
    )  # fmt: skip
    run(study, folder / "session", quiet=True)
    return folder / "session"


def test_units_that_a_judge_was_shown_are_left_out_and_counted(shown):
    found = correct(shown)
    (finding,) = (one for one in found.findings if one.kind == "examples_left_out")
    assert finding.count == 2
    assert set(finding.places) == {"i3 of bot", "i7 of bot"}
    one = found.scores[0].corrected
    assert (one.n_labelled, one.n_unlabelled) == (28, 30)
    # Labels of a file that are joined to the session's ratings are those of the same units.
    human = pl.read_csv(shown.parent / "human.csv").with_columns(rater=pl.lit("ben"))
    human.write_csv(shown.parent / "ben.csv")
    joined = correct(
        shown,
        reference=["ben"],
        judges=["judge"],
        read=ReadOptions(human=(shown.parent / "ben.csv",)),
    )
    assert joined.scores[0].corrected.value == pytest.approx(one.value)
    assert [f.count for f in joined.findings if f.kind == "examples_left_out"] == [2]


def test_a_session_keeps_what_its_labels_chose(shown):
    escalate(shown, agree=0.5, tolerance=4, remember=True)
    found = correct(shown)
    (finding,) = (one for one in found.findings if one.kind == "labels_chose")
    assert finding.count == 28
    units = frozenset([unit_hash("Empathy", "x")])
    keep_look(LabelUse("tune", "Empathy", 3, "prompt 2", units, at=5.0), session=shown)
    (kept,) = looks_at(units, session=shown)
    assert (kept.look.chosen, kept.look.at) == ("prompt 2", 5.0)


def test_examples_of_a_file_are_named_by_a_list(tmp_path):
    frame = judged(labelled=40)
    frame.write_csv(tmp_path / "judged.csv")
    pl.DataFrame({"item": ["t1", "t2", "t200"]}).write_csv(tmp_path / "shots.csv")
    asked = ("correct", "judged.csv", *READ, "--judge", "judge_good")
    done = voirdire(*asked, "--examples", "shots.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    (finding,) = (f for f in record["findings"] if f["kind"] == "examples_left_out")
    assert finding["count"] == 2
    corrected = record["scores"][0]["corrected"]
    assert (corrected["n_labelled"], corrected["n_unlabelled"]) == (38, 199)
    (tmp_path / "shots.csv").write_text("what\nt1\n", "utf-8")
    done = voirdire(*asked, "--examples", "shots.csv", cwd=tmp_path)
    assert done.returncode != 0
    assert "item" in done.stderr
