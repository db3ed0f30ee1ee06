"""What a study says that cannot be: one sentence that names the key."""

from __future__ import annotations

import pytest

import voirdire
from voirdire.errors import StudyError
from voirdire.report.records import examination_record
from voirdire.study import (
    Humans,
    Study,
    Thresholds,
    build_study,
    load_study,
    successor,
    thresholds_hash,
)


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        ({"scale": [1, float("inf")]}, r"rubric: scale must be \[low, high\] with low < high"),
        ({"scale": [float("nan"), 5]}, r"rubric: scale must be \[low, high\] with low < high"),
        ({"scale": "1-5"}, "key 'rubric.scale' is '1-5': input should be a list"),
        (
            {"attributes": ["Calm", "Clear"], "composites": {"Calm": ["Calm", "Clear"]}},
            "rubric: composite 'Calm' has the name of an attribute",
        ),
    ],
)
def test_rubrics_that_cannot_be(rubric, message):
    with pytest.raises(StudyError, match=f"^t.toml: {message}"):
        build_study({"name": "t", "rubric": rubric}, "t.toml")


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({"panle": []}, r"unknown key 'panle' \(did you mean 'panel'\? allowed: name, title,"),
        (
            {"data": {"sources": [{"pth": "r.csv"}]}},
            r"unknown key 'data.sources.0.pth' \(did you mean 'path'\? .* \(and 1 more problem\)$",
        ),
        ({"data": {"zzz": 1}}, r"unknown key 'data.zzz' \(allowed: sources,"),
        (
            {"data": {"sources": {"path": "r.csv"}}},
            r"input should be a list of tables, each under \[\[data\.sources\]\]$",
        ),
        ({"data": [{"reference": []}]}, r"input should be a table, under \[data\]$"),
        ({"rubric": {"scale": [1, 3, 5]}}, "list should have at most 2 items, not 3$"),
        ({"rubric": {"attributes": [1]}}, "key 'rubric.attributes.0' is 1: input should be a table$"),
        ({"rubric": {"step": 10}}, "rubric: step must be at most the scale's width, got 10$"),
    ],
)  # fmt: skip
def test_misspelt_keys_and_wrong_brackets(study, message):
    with pytest.raises(StudyError, match=f"^t.toml: .*{message}"):
        build_study({"name": "t", **study}, "t.toml")


def test_a_backslash_in_a_path(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('[[data.sources]]\npath = "C:\\Users\\r.csv"\n')
    with pytest.raises(StudyError, match=r"not valid TOML: .* in paths write '/'"):
        load_study(path)


def test_a_reference_is_named_once():
    with pytest.raises(StudyError, match=r"data.reference: names a rater twice: \['a', 'a'\]$"):
        build_study({"name": "t", "data": {"reference": ["a", "a"]}}, "t.toml")


def old_study(folder, thresholds):
    """A study as version 0.1 took it, beside a file of ratings."""
    rows = "".join(f"q{k},{1 + k % 5},{1 + (k + k // 7) % 5}\n" for k in range(60))
    (folder / "ratings.csv").write_text("item,human,judge\n" + rows)
    (folder / "study.toml").write_text(
        'name = "old"\n[data]\nreference = ["human"]\n[[data.sources]]\npath = "ratings.csv"\n'
        '[rubric]\nattributes = ["score"]\n[analysis]\nresamples = 0\nmeasures = ["alpha"]\n'
        f"[thresholds]\n{thresholds}"
    )
    return folder / "study.toml"


def test_a_study_of_version_0_1_opens_and_one_line_says_which_keys_are_others_now(tmp_path):
    given = "icc_c = 0.8\nalpha = 0.8\nwinning_rate = 0.4\nepsilon = 0.1\nbias = 0.1\n"
    found = voirdire.examine(old_study(tmp_path, given))
    (said,) = [one for one in found.findings if one.kind == "keys_without_effect"]
    assert said.severity == "serious"
    assert said.message == (
        "The study has keys of an earlier version: thresholds.icc_c is now margins.order; "
        "thresholds.bias is now margins.bias; thresholds.winning_rate has no effect any longer."
    )  # alpha is what it was by default, and epsilon still has a meaning
    assert {verdict.judge for verdict in found.verdicts} == {"judge"}


def test_every_key_that_is_said_to_be_another_leads_to_one_that_exists():
    study = Study(name="")
    keys = [*(f"thresholds.{name}" for name in Thresholds.model_fields), "humans.seed"]
    assert "seed" in Humans.model_fields
    said = list(filter(None, map(successor, keys)))
    assert len(said) > 8
    for sentence in said:
        _, now, new = sentence.partition(" is now ")
        part = study
        for name in new.split(".") if now else ():
            assert name in type(part).model_fields, sentence
            part = getattr(part, name)


def test_a_key_that_has_gone_altogether_is_met_with_the_new_one(tmp_path, monkeypatch):
    # No key has gone altogether yet, so one is made up.
    monkeypatch.setattr("voirdire.study._load.RENAMED", {"thresholds.icc": "margins.order"})
    with pytest.raises(
        StudyError, match=r"unknown key 'thresholds.icc': thresholds.icc is now margins.order$"
    ):
        load_study(old_study(tmp_path, "icc = 0.8\n"))


def test_what_is_asked_for_is_hashed_from_the_study_alone(tmp_path):
    """The hash before any data are read is the one that results.json holds."""
    study = old_study(tmp_path, "")
    study.write_text(study.read_text() + "[margins]\nbias = 0.1\n")
    before = thresholds_hash(load_study(study))
    declared = examination_record(voirdire.examine(study))["declared"]
    assert declared["sha256"] == before
    assert declared["margins"]["bias"] == 0.1
    study.write_text(study.read_text().replace("bias = 0.1", "bias = 0.2"))
    assert thresholds_hash(load_study(study)) != before
