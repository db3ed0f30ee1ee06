"""Studies written beside their files: what a paper's command and a user's script both need."""

from __future__ import annotations

import polars as pl
import pytest

from voirdire import InputError, TableError
from voirdire.study import keyed_study, load_study, model_entries, named_models, write_study
from voirdire.tables import read_labelled, yes_no


def test_a_study_with_a_key_lies_beside_its_files_and_loads(tmp_path):
    labels = ("calm", "tense")
    truth = [("1", ["calm"]), ("2", [])]
    panel = model_entries(["simulated:a"], "yes-no", {"labels": list(labels)}, runs=2)
    answers = [("1", "ann", "calm", 1), ("1", "ann", "tense", 0)]
    names = ["item", "rater", "attribute", "score"]
    people = pl.DataFrame(answers, schema=names, orient="row")
    raw, tables = keyed_study("moods", "Moods", labels, truth, panel, people=people)
    path = write_study(tmp_path / "out", raw, tables)
    study = load_study(path)
    assert study.data.reference == ("Key",)
    assert [rater.name for rater in study.panel] == ["Key", "a", "ann"]
    with pytest.raises(InputError, match="nobody can be called 'ann'"):
        keyed_study("moods", "Moods", labels, truth, panel, key="ann", people=people)
    assert pl.read_csv(tmp_path / "out" / "key.csv")["score"].to_list() == [1.0, 0.0, 0.0, 0.0]
    assert write_study(tmp_path / "out", study, {}) == path  # the same study again


def test_another_study_is_not_written_over_and_a_wrong_one_leaves_no_folder(tmp_path):
    write_study(tmp_path / "a", {"name": "one"})
    with pytest.raises(InputError, match="another study lies there"):
        write_study(tmp_path / "a", {"name": "two"}, {"key.csv": pl.DataFrame({"x": [1]})})
    assert not (tmp_path / "a" / "key.csv").exists()
    with pytest.raises(InputError, match="colour"):
        write_study(tmp_path / "b", {"name": "one", "colour": "red"})
    assert not (tmp_path / "b").exists()


def test_models_are_named_without_their_provider_where_that_tells_them_apart():
    assert [n for n, _ in named_models(["a:x", "b:x", "c:y"])] == ["a:x", "b:x", "y"]
    with pytest.raises(InputError, match="'a:x' is given more than once"):
        named_models(["a:x", "a:x"])
    with pytest.raises(InputError, match="name at least one model"):
        named_models([])


def test_labelled_texts_name_what_they_lack(tmp_path):
    pl.DataFrame(
        {"nr": [1, 2], "body": ["x", "y"], "calm": ["yes", ""], "who": ["a", "b"]}
    ).write_csv(tmp_path / "t.csv")
    found = read_labelled(tmp_path / "t.csv", ["calm"], {"id": "nr", "text": "body"})
    assert found.columns == ["id", "text", "calm", "who"]
    assert found["calm"].to_list() == [1, None]
    with pytest.raises(TableError, match="no column 'tense'"):
        read_labelled(tmp_path / "t.csv", ["tense"], {"id": "nr", "text": "body"})
    with pytest.raises(TableError, match=r"file, column 'x': 2 is neither yes nor no"):
        yes_no(pl.Series("x", [1, 2]), "file")
