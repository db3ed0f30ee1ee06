"""Annotators and judges of pairs are tuned; examples out of the labels, and a rubric's own words."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

pytest.importorskip("openai")

from test_tune import label, tuned_in, world
from wire_server import WireServer

from voirdire.errors import InputError
from voirdire.examining.changing import read_lock
from voirdire.examining.correcting.fresh import without_examples
from voirdire.examining.source import inputs_of, open_source
from voirdire.study import build_study, load_study, study_to_toml
from voirdire_plugins.tune.tuning import tune

KINDS = ("Praise", "Question", "Report")
ITEMS = 30


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789abcdef")


def written(folder, raw):
    path = folder / "study.toml"
    path.write_text(study_to_toml(build_study(raw, folder=str(folder))), encoding="utf-8")
    return path


def panel(url, **more):
    return [{"name": "gpt", "model": "openai:gpt", "model_options": {"base_url": url}, **more}]


def kind_said(seen):
    """The kind that a note states; of each third note another, unless it is to be exact."""
    kind, number = re.findall(r"of kind (\w+) number (\d+)", seen.prompt)[-1]
    wrong = int(number) % 3 == 0 and "Be exact" not in str(seen.texts)
    return KINDS[(KINDS.index(kind) + wrong) % 3]


def notes(folder, url):
    kinds = [KINDS[at % 7 % 3] for at in range(ITEMS)]
    names = [f"n{at:02}" for at in range(ITEMS)]
    pl.DataFrame(
        {"id": names, "text": [f"A note of kind {k} number {at}." for at, k in enumerate(kinds)]}
    ).write_csv(folder / "items.csv")
    # What people say, in words: ben errs on one, and gives a label that nobody asked for.
    ben = ["Report" if at == 4 else "Joke" if at == 9 else kind for at, kind in enumerate(kinds)]
    pl.DataFrame({"id": names, "ann": kinds, "ben": ben}).write_csv(folder / "labels.csv")
    (folder / "exact.txt").write_text("Be exact: {labels}?\n{text}\n", encoding="utf-8")
    return written(folder, {
        "name": "notes", "items": {"path": "items.csv"},
        "data": {"reference": ["ann", "ben"], "sources": [{"path": "labels.csv"}]},
        "panel": panel(url, kind="annotator", use="labels", runs=1, options={"labels": KINDS}),
    })  # fmt: skip


def test_an_annotator_is_tuned_by_labels_in_words(tmp_path):
    with WireServer(kind_said) as server:
        study = notes(tmp_path, server.openai)
        given = {"candidates": [tmp_path / "exact.txt"], "out": tmp_path / "out"}
        with pytest.raises(InputError, match="it is tuned --for single or gate or filter"):
            tune(study, "gpt", use="pick", **given)
        found = tune(study, "gpt", use="single", **given)
        assert server.count == 2 * ITEMS
        one = tune(study, "gpt", use="filter", attributes=["Praise"], **given)
        # The same replies serve another use, and are paid once.
        assert server.count == 2 * ITEMS
    assert found.decision == "adopt"
    # Three labels of each note: a wrong kind errs on two of them, on each third note.
    assert found.before.goodness == pytest.approx(1 - 2 / 9, abs=0.03)
    assert found.after.goodness > 0.98
    (unknown,) = (one for one in found.findings if one.kind == "label_unknown")
    assert "'Joke'" in unknown.message
    assert "Be exact" in found.text_diff
    assert load_study(found.files["study"]).rater("gpt exact").options["prompt"].startswith("Be ex")
    # What people said in words is kept with the session as 0 and 1, so that it can be frozen.
    assert len(list((tmp_path / "out" / "locks").glob("*.lock"))) == 2
    assert read_lock(tmp_path / "out" / "judge.lock").judges[0].name == "gpt exact"
    assert one.labels == ITEMS
    assert one.after.goodness > 0.9 > one.before.goodness


def test_sets_of_labels_are_drawn_where_they_differ(tmp_path):
    """A text is drawn with all of its labels, and its gain is the mean over them."""
    with WireServer(kind_said) as server:
        study = notes(tmp_path, server.openai)
        labels = pl.read_csv(tmp_path / "labels.csv")
        labels.head(21).write_csv(tmp_path / "labels.csv")
        given = {"candidates": [tmp_path / "exact.txt"], "out": tmp_path / "out", "use": "single"}
        found = tune(study, "gpt", differ=3, **given)
        # Of nine notes without a label a third is judged otherwise.
        assert (found.drawn.units, found.drawn.differ, found.drawn.number) == (9, 3, 3)
        people = load_study(found.drawn.people)
        assert set(KINDS) < {*people.humans.labels, people.humans.none}
        drawn = pl.read_csv(tmp_path / "out" / "differ.csv")["item"].to_list()
        # As `voirdire humans import` writes them.
        truth = labels.filter(pl.col("id").is_in(drawn))
        rows = [
            (item, who, label, float(said == label))
            for item, *both in truth.rows()
            for who, said in zip(("ann", "ben"), both, strict=True)
            for label in KINDS
        ]
        pl.DataFrame(rows, schema=["item", "rater", "attribute", "score"], orient="row").write_csv(
            tmp_path / "more.csv"
        )
        measured = tune(study, "gpt", measure=[tmp_path / "more.csv"], **given).drawn
    # Two of three labels are wrong on each third note; all that differ were labelled.
    assert measured.gain.value == pytest.approx(3 / 9 * 2 / 3)
    assert measured.gain.bounds == pytest.approx((2 / 9, 2 / 9))


def pair_said(seen):
    """The better of two by the quality that each states; each third pair turned round."""
    a, b = map(int, re.findall(r"quality (\d)", seen.prompt)[-2:])
    wrong = int(re.findall(r"number (\d+)", seen.prompt)[-1]) % 3 == 0
    better = (a > b) != (wrong and "Be exact" not in seen.system)
    return json.dumps({"Warmth": "A>B" if better else "B>A"})


def pairs_written(folder, number, labelled):
    """Items with two responses each, that state their quality, and two people's choices of some."""
    names = [f"p{at:02}" for at in range(number)]
    good = [(1 + at % 5, 1 + (at + 2) % 5) for at in range(number)]
    pl.DataFrame({"id": names, "text": [f"Post {n}" for n in names]}).write_csv(
        folder / "items.csv"
    )
    pl.DataFrame(
        [
            (n, s, f"Of quality {q[at]} to number {i}.")
            for i, (n, q) in enumerate(zip(names, good, strict=True))
            for at, s in enumerate("zx")
        ],
        schema=["item", "system", "text"],
        orient="row",
    ).write_csv(folder / "responses.csv")
    pl.DataFrame(
        [
            (n, who, "x", "z", "Warmth", 1 if q[1] > q[0] else -1)
            for n, q in zip(names[:labelled], good, strict=False)
            for who in ("ann", "ben")
        ],
        schema=["item", "rater", "system_a", "system_b", "attribute", "score"],
        orient="row",
    ).write_csv(folder / "labels.csv")


def test_a_judge_of_pairs_is_tuned_by_choices(tmp_path):
    pairs_written(tmp_path, ITEMS, ITEMS)
    (tmp_path / "exact.txt").write_text("Be exact.", encoding="utf-8")
    with WireServer(pair_said) as server:
        study = written(tmp_path, {
            "name": "pairs", "items": {"path": "items.csv"}, "responses": {"path": "responses.csv"},
            "rubric": {"attributes": ["Warmth"]}, "comparisons": {"order": "both"},
            "data": {"reference": ["ann", "ben"], "sources": [{"path": "labels.csv"}]},
            "panel": panel(server.openai, use="pairwise"),
        })  # fmt: skip
        given = {"candidates": [tmp_path / "exact.txt"], "out": tmp_path / "out"}
        with pytest.raises(InputError, match="gpt judges pairs: it is tuned --for pick"):
            tune(study, "gpt", use="single", **given)
        found = tune(study, "gpt", use="pick", **given)
        # Both orders of each pair, by two judges.
        assert server.count == 4 * ITEMS
    assert (found.before.goodness, found.after.goodness) == (pytest.approx(2 / 3), 1.0)
    assert found.decision == "adopt"
    assert found.labels == ITEMS
    assert load_study(found.files["study"]).rater("gpt exact").options["instructions"]


def taught(seen):
    """Exact where it was shown examples or told in other words; else off by up to one."""
    quality, number = map(int, re.findall(r"quality (\d) of number (\d+)", seen.prompt)[-1])
    told = "How it feels" in seen.system or any(role == "assistant" for role, _ in seen.texts)
    off = 0 if told else (number * 7) % 3 - 1
    return json.dumps({"Empathy": min(max(quality + off, 1), 5)})


class Numbers:
    """An embedder of the numbers in a text."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        at = sum(map(int, re.findall(r"\d+", text)))
        return [1.0, at % 7 / 7, at % 11 / 11, at % 13 / 13]


def test_examples_measure_nothing_and_a_rubric_has_its_own_words(tmp_path):
    pytest.importorskip("faiss")
    pytest.importorskip("langchain_core")
    (tmp_path / "feels.toml").write_text(
        "[[attributes]]\nname = 'Empathy'\ndescription = 'How it feels.'\n", encoding="utf-8"
    )
    asked = []

    def answer(seen):
        asked.append(seen.texts)
        return taught(seen)

    with WireServer(answer) as server:
        study = world(tmp_path, server.openai, items=45)
        label(tmp_path / "few.csv", range(21), [3, 4, 1] * 7)
        with pytest.raises(InputError, match="label 9 items more"):
            tuned_in(tmp_path, study, shots=[2], labels=[tmp_path / "few.csv"])
        found = tuned_in(
            tmp_path,
            study,
            candidates=[tmp_path / "feels.toml"],
            shots=[2],
            shots_options={"embedder": "langchain:test_tune_kinds:Numbers", "max_similarity": None},
        )
    # A third is shown, and the rest measures all three judges.
    assert server.count == 3 * 30
    assert found.labels == 30
    by_name = {one.name: one.goodness for one in found.ways}
    assert by_name["gpt feels"] == by_name["gpt 2 examples"] > by_name["gpt"] + 0.1
    pool = pl.read_ndjson(tmp_path / "out" / "examples.jsonl")
    assert pool.height == 15
    shown = [texts for texts in asked if any(role == "assistant" for role, _ in texts)]
    assert {len([1 for role, _ in texts if role == "assistant"]) for texts in shown} == {2}
    measured = {re.findall(r"I slept badly, (i\d+)\.", texts[-1][1])[-1] for texts in shown}
    assert len(measured) == 30
    assert not measured & set(pool["id"])
    # Whoever corrects by these labels leaves out what the judge was shown.
    tuned = (
        tune(
            found.files["study"],
            "gpt 2 examples",
            use="single",
            out=tmp_path / "again",
            reference=("ann", "ben"),
        )
        if found.chosen == "gpt 2 examples"
        else None
    )
    inputs = inputs_of(open_source(str(tmp_path / "out" / "session")))
    _, (left,) = without_examples(inputs, ["gpt 2 examples"], None, [inputs.session])
    assert 0 < left.count <= 15
    assert tuned is None or tuned.before.goodness == pytest.approx(by_name["gpt 2 examples"])


def test_a_rubric_of_other_attributes_is_no_candidate(tmp_path):
    (tmp_path / "other.toml").write_text("[[attributes]]\nname = 'Tone'\n", encoding="utf-8")
    with WireServer(taught) as server:
        study = world(tmp_path, server.openai)
        with pytest.raises(InputError, match=r"must have its attributes .*'Empathy'.*'Tone'"):
            tuned_in(tmp_path, study, candidates=[tmp_path / "other.toml"])
        assert server.count == 0
