"""Labels, preferences and probabilities from a file to verdicts, as a user types it."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from command_line import typed

from voirdire.errors import QuestionError
from voirdire.examining import examine
from voirdire.examining.preferences import Preferences
from voirdire.study import ReadOptions, build_study
from voirdire.tables import read_judged

WORDS = np.array(["refund", "delivery", "other"])


def labels_file(folder, seed=1, n=260, judge=0.92, blind=False):
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=[0.55, 0.33, 0.12])

    def person(right):
        return np.where(rng.random(n) < right, truth, rng.integers(0, 3, n))

    said = person(judge)
    if blind:
        said = np.where(said == 2, 0, said)
    columns = {"ann_1": person(0.9), "ann_2": person(0.9), "ann_3": person(0.9), "gpt": said}
    table = pl.DataFrame({"id": range(n), **{k: WORDS[v] for k, v in columns.items()}})
    path = folder / "labels.csv"
    table.write_csv(path)
    return path


def battles_file(folder, n=320, lean=0.0, texts=True):
    rng = np.random.default_rng(2)
    names, rows = np.array(["alpha", "beta", "gamma", "delta"]), []
    strength = np.array([0.7, 0.2, -0.2, -0.7])
    for k in range(n):
        a, b = rng.choice(4, 2, replace=False)
        gap = strength[a] - strength[b] + rng.normal(0, 0.9)
        sizes = rng.integers(20, 200, 2)
        for judge in ("human_1", "human_2", "gpt-4"):
            own = gap + rng.normal(0, 0.7) + (lean if judge == "gpt-4" else 0.0)
            winner = "model_a" if own > 0.3 else "model_b" if own < -0.3 else "tie"
            shown = ["x" * int(size) for size in sizes] if texts else ["", ""]
            rows.append((k, names[a], names[b], judge, winner, *shown))
    heads = ["question_id", "model_a", "model_b", "judge", "winner", "response_a", "response_b"]
    table = pl.DataFrame(rows, schema=heads, orient="row")
    path = folder / "battles.csv"
    (table if texts else table.drop("response_a", "response_b")).write_csv(path)
    return path


def probabilities_file(folder, n=500, sharp=1.0):
    rng = np.random.default_rng(3)
    odds = rng.normal(0.3, 1.8, n)
    people = {
        f"human_{k}": np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no") for k in (1, 2)
    }
    claims = 1 / (1 + np.exp(-sharp * odds))
    table = pl.DataFrame({"id": range(n), **people, "gpt_probability": np.round(claims, 4)})
    path = folder / "claims.csv"
    table.write_csv(path)
    return path


def verdicts(path, *options, code=0):
    done = typed("examine", path, "--json", *options)
    assert done.returncode == code, done.stderr
    return {(one["use"], one.get("label", "")): one for one in json.loads(done.stdout)["verdicts"]}


def test_labels_end_in_verdicts(tmp_path):
    path = labels_file(tmp_path)
    found = verdicts(path)
    assert found["single", ""]["state"] == "yes"
    assert found["filter", "refund"]["state"] == "yes"
    assert {label for use, label in found if use == "filter"} == set(WORDS.tolist())
    assert found["estimate", "refund"]["state"] == "yes"
    said = typed("examine", path).stdout.replace("\n", " ")
    assert "replace a human" in said
    assert "filter for" in said


def test_a_judge_that_never_says_a_label_is_refused_by_name(tmp_path):
    path = labels_file(tmp_path, blind=True)
    found = verdicts(path)
    single = found["single", ""]
    assert single["state"] == "no"
    assert "other" in single["why"]
    assert found["filter", "other"]["state"] == "no"


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("verdict.filter@label:refund=yes", 0),
        ("verdict.filter@label:refund=no", 4),
        ("verdict.single@label=yes", 0),
    ],
)
def test_verdicts_on_one_label_are_gates(tmp_path, gate, code):
    done = typed("examine", labels_file(tmp_path), "--require", gate)
    assert done.returncode == code, done.stdout + done.stderr


def test_an_unknown_label_in_a_gate_names_those_there_are(tmp_path):
    done = typed("examine", labels_file(tmp_path), "--require", "verdict.filter@label:refnd=yes")
    assert done.returncode == 1
    assert "label:refund" in done.stderr + done.stdout


def test_preferences_end_in_verdicts(tmp_path):
    path = battles_file(tmp_path)
    found = verdicts(path, "--first", "a")
    assert found["order", ""]["state"] == "yes"
    assert found["pick", ""]["state"] == "yes"
    said = typed("examine", path, "--first", "a").stdout
    assert "People's ranking (preference)" in said
    assert {part["name"] for part in found["single", ""]["components"]} >= {
        "READ",
        "ITEM",
        "POSITION",
        "LENGTH",
        "TIE",
    }


def test_a_judge_that_leans_to_the_first_is_no_stand_in(tmp_path):
    path = battles_file(tmp_path, lean=0.9)
    leaning = verdicts(path, "--first", "a")
    # In one order alone everybody is shown a first: what leans to it cannot be told from taste.
    assert leaning["single", ""]["state"] in {"no", "open"}
    assert leaning["pick", ""]["state"] in {"no", "open"}


def test_an_order_that_is_not_recorded_is_not_tested_and_said(tmp_path):
    """No column may say it, so nobody is asked: what rests on it is open, with what would do."""
    path = battles_file(tmp_path, texts=False)
    done = typed("examine", path, "--json")
    assert done.returncode == 0, done.stderr
    by_use = {one["use"]: one for one in json.loads(done.stdout)["verdicts"]}
    assert by_use["single"]["state"] == by_use["pick"]["state"] == "not tested"
    assert "who was shown first is not recorded" in typed("examine", path).stdout
    # Who says that nobody knows gets the same.
    told = json.loads(typed("examine", path, "--first", "unknown", "--json").stdout)
    assert {one["use"]: one["state"] for one in told["verdicts"]} == {
        use: one["state"] for use, one in by_use.items()
    }


@pytest.mark.parametrize(
    ("head", "cells", "asked"),
    [
        ("mostrado_primero", ("A", "B"), False),
        ("display_order", ("1", "2"), False),
        ("on_top", ("strong", "weak"), True),
        ("Reihenfolge", ("model_a", "model_b"), False),
        ("shown_first", ("left", "right"), False),
    ],
)
def test_a_column_may_say_who_was_shown_first(tmp_path, head, cells, asked):
    """Cells and header say it; cells alone are asked about. Either way it is systems that count."""
    rows = [
        "id,model_a,model_b,human,llm," + head,
        *(
            f"q{at},strong,weak,{'A' if at % 3 else 'B'},{'A' if at % 4 else 'tie'},{cells[at % 2]}"
            for at in range(40)
        ),
    ]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    read = ReadOptions()
    if asked:
        with pytest.raises(QuestionError) as question:
            read_judged(tmp_path / "pairs.csv", reference=("human",), read=read)
        assert (question.value.key, question.value.choices[0]) == ("first", head)
        read = ReadOptions(first=head)
    said = read_judged(tmp_path / "pairs.csv", reference=("human",), read=read)
    assert said is not None
    first = said[1].preferences["shown_first"].to_list()
    assert first[:4] == ["strong", "weak", "strong", "weak"]
    assert set(said[1].raters) == {"human", "llm"}


def test_an_order_that_was_drawn_is_said_beside_a_yes(tmp_path):
    path = battles_file(tmp_path)
    done = typed("examine", path, "--first", "drawn", "--json")
    said = json.loads(done.stdout)
    by_use = {one["use"]: one for one in said["verdicts"]}
    assert by_use["pick"]["state"] == "yes"
    assert "Whether it leans to the response shown first is not known" in " ".join(
        said["answer"]["sentences"]
    )


def test_a_study_names_files_of_labels_and_of_comparisons(tmp_path):
    labels_file(tmp_path)
    battles_file(tmp_path)
    for name, options in (("labels.csv", ()), ("battles.csv", ("--first", "a"))):
        study = tmp_path / f"{name}.toml"
        drafted = typed("init", tmp_path / name, "--out", study, *options)
        assert drafted.returncode == 0, drafted.stderr
        assert "not complete" not in drafted.stdout
        assert verdicts(study) == verdicts(tmp_path / name, *options)
    study.write_text(study.read_text().replace(', first = "a"', ""))
    assert verdicts(study)["single", ""]["state"] == "not tested"  # as nobody said it


def test_a_word_off_the_list_spares_a_judge_nothing(tmp_path):
    path = labels_file(tmp_path, judge=0.75)
    table = pl.read_csv(path)
    alone = ~pl.any_horizontal(pl.col("gpt") == pl.col(f"ann_{k}") for k in (1, 2, 3))
    odd = table.with_columns(pl.when(alone).then(pl.lit("ignored")).otherwise("gpt").alias("gpt"))
    odd.write_csv(path)
    listed = "refund, delivery, other"
    off, on = verdicts(path, "--labels", listed), verdicts(path, "--labels", f"{listed}, ignored")

    def value(found, name):
        return next(p["estimate"] for p in found["single", ""]["components"] if p["name"] == name)

    # As if it were a label of the list that nobody else gives.
    assert value(off, "ITEM") == pytest.approx(value(on, "ITEM"), rel=1e-12)
    assert value(off, "READ") == pytest.approx(value(on, "READ"), rel=1e-12)
    assert value(on, "COVER") == 1
    assert value(off, "COVER") == pytest.approx(1 - (odd["gpt"] == "ignored").mean())


def test_two_labels_say_nothing_of_hard_items(tmp_path):
    path = labels_file(tmp_path, n=600)
    table = pl.read_csv(path).with_columns(pl.col("^ann.*|gpt$").replace("other", "refund"))
    table.write_csv(path)
    done = typed("examine", path)
    assert "Nothing is vouched for where people find it hard." in " ".join(done.stdout.split())


def test_an_order_that_nobody_knows_leaves_single_untested(tmp_path):
    path = battles_file(tmp_path, texts=False)
    found = verdicts(path, "--first", "unknown")
    assert found["pick", ""]["state"] == "not tested"
    assert found["pick", ""]["reason"] == "order not recorded"
    assert "--first" in found["pick", ""]["next"]
    assert found["order", ""]["state"] == "yes"


def test_probabilities_are_held_against_what_they_claim(tmp_path):
    calibrated = verdicts(probabilities_file(tmp_path))
    assert calibrated["confidence", ""]["state"] == "yes"
    assert "Expected calibration error" in typed("examine", tmp_path / "claims.csv").stdout
    surer = verdicts(probabilities_file(tmp_path, sharp=3.0))
    assert surer["confidence", ""]["state"] == "no"
    assert "CSLOPE" in surer["confidence", ""]["deciding"]
    assert {label for use, label in surer if use == "release"} == {"above", "below"}


def test_labels_of_annotators_get_verdicts_beside_their_scores(tmp_path):
    rng = np.random.default_rng(5)
    truth = rng.choice(3, 200, p=[0.55, 0.33, 0.12])

    def person(right):
        return np.where(rng.random(200) < right, truth, rng.integers(0, 3, 200))

    rows = [
        (str(item), rater, str(word), float(word == WORDS[said]))
        for rater, right in (("ada", 0.9), ("ben", 0.9), ("model", 0.93))
        for item, said in enumerate(person(right))
        for word in WORDS
    ]
    table = pl.DataFrame(rows, schema=["item", "rater", "attribute", "score"], orient="row")
    table.write_csv(tmp_path / "said.csv")
    (tmp_path / "study.toml").write_text(
        'name = "mail"\n[data]\nsources = [{path = "said.csv"}]\nreference = ["ada", "ben"]\n'
        '[rubric]\nscale = [0, 1]\nattributes = ["refund", "delivery", "other"]\n'
        '[[panel]]\nname = "ada"\nkind = "human"\n[[panel]]\nname = "ben"\nkind = "human"\n'
        '[[panel]]\nname = "model"\nkind = "annotator"\n'
    )
    done = typed("examine", tmp_path / "study.toml", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["verdicts"]
    of_labels = {(one["use"], one["label"]): one["state"] for one in found if one.get("kind")}
    assert of_labels["single", ""] == "yes"
    assert of_labels["filter", "refund"] == "yes"


def test_nested_numbers_are_examined_as_scores(tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 80)
    people = {
        f"student_{k}": {
            f"{i}": int(np.clip(t + rng.integers(-1, 2), 1, 5)) for i, t in enumerate(truth)
        }
        for k in (1, 2, 3)
    }
    gpt = {"gpt": {f"{i}": int(t) for i, t in enumerate(truth)}}
    files = [tmp_path / "human_annotations.json", tmp_path / "llm_annotations.json"]
    for path, said in zip(files, (people, gpt), strict=True):
        path.write_text(json.dumps(said))
    done = typed("examine", *files, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["verdicts"]
    assert {one["use"] for one in found} >= {"single", "estimate"}
    assert all(math.isfinite(one["p"]) for one in found)


def test_an_arena_of_hundreds_of_voters_has_no_table_for_each_two_of_them():
    rng = np.random.default_rng(6)
    rows = []
    for k in range(300):
        a, b = rng.choice(["x", "y", "z"], 2, replace=False)
        vote = rng.choice(["model_a", "model_b", "tie"])
        rows += [(k, a, b, f"arena_user_{k}", vote), (k, a, b, "gpt-4", vote)]
    columns = ["question_id", "model_a", "model_b", "judge", "winner"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    found = examine(table, resamples=0, read=ReadOptions(first="a"))
    assert len(found.inputs.reference) == 300
    assert {one.judge for one in found.verdicts} == {"gpt-4"}
    (compared,) = [part for part in found.parts if isinstance(part, Preferences)]
    assert {cell.rater for cell in compared.cells} == {"gpt-4"}
    assert not compared.agreement


def test_each_list_of_labels_in_one_session_has_verdicts_of_its_own(tmp_path):
    rng = np.random.default_rng(3)
    lists = {"topic": ("billing", "delivery", "returns"), "tone": ("calm", "angry")}
    rows = []
    for item in range(120):
        for asked, labels in lists.items():
            truth = labels[item % len(labels)]
            for rater in ("human", f"gpt {asked}"):
                said = truth if rng.random() < 0.93 else labels[rng.integers(len(labels))]
                rows += [(item, rater, label, int(label == said)) for label in labels]
    columns = ["item", "rater", "attribute", "score"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(tmp_path / "named.csv")
    panel = [
        {
            "name": f"gpt {asked}",
            "kind": "annotator",
            "use": "labels",
            "model": "simulated:a",
            "options": {"labels": list(labels)},
        }
        for asked, labels in lists.items()
    ]
    study = build_study({
        "name": "lists", "panel": [{"name": "human", "kind": "human"}, *panel],
        "data": {"reference": ["human"], "sources": [{"path": "named.csv", "layout": "long"}]},
        "rubric": {"scale": [0, 1], "attributes": [label for own in lists.values() for label in own]},
    }, folder=str(tmp_path))  # fmt: skip
    verdicts = examine(study, resamples=0).verdicts
    found = {
        (one.judge, one.attribute, one.label): one.state for one in verdicts if one.use == "filter"
    }
    assert set(found) == {
        (f"gpt {asked}", f"labels {'/'.join(labels)}", label)
        for asked, labels in lists.items()
        for label in labels
    }
    assert "yes" in found.values()
    # Nobody is asked twice, once as a label and once as a score of 0 and 1.
    assert {one.kind for one in verdicts} == {"label"}
