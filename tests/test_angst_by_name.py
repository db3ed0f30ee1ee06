"""Posts through the `datasets` library, from a folder that it wrote."""

from __future__ import annotations

import sys

import pytest

from voirdire import InputError, MissingExtraError
from voirdire_plugins.angst.labels import read_posts

POSTS = {
    "post": ["1", "2", "3"],
    "text": ["One calm day.", "One tense day.", "One slow day."],
    "depression": [0, 0, 1],
    "anxiety": ["no", "yes", None],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()
    (tmp_path / "posts").mkdir()
    datasets.Dataset.from_dict(POSTS).to_parquet(tmp_path / "posts" / "test.parquet")
    return tmp_path / "posts"


@pytest.mark.parametrize("split", ["", ":test"])
def test_posts_are_read_by_name(folder, split):
    posts = read_posts(f"datasets:{folder}{split}", {"id": "post"})
    assert posts.rows() == [
        ("1", "One calm day.", 0, 0, "control"),
        ("2", "One tense day.", 0, 1, "anxiety"),
        ("3", "One slow day.", 1, None, None),
    ]


def test_a_split_that_is_not_there_is_an_error(folder):
    with pytest.raises(InputError, match="cannot be loaded: Unknown split"):
        read_posts(f"datasets:{folder}:gold")


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"voirdire\[datasets\]"):
        read_posts("datasets:owner/name")
