"""What a study says that cannot be: one sentence that names the key."""

from __future__ import annotations

import pytest

from voirdire.errors import StudyError
from voirdire.study import build_study, load_study


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
