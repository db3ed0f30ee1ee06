"""A run that is through is known by its seal: going on with it asks for no prompt again."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import polars as pl
import pytest
from scripted import RECEIVED, Digit, go, judge, rated, study_of


@pytest.fixture
def rendered(monkeypatch):
    """Tasks whose prompts were made."""
    seen = []
    whole = Digit.requests

    def requests(self, task):
        seen.append(task.item.id)
        return whole(self, task)

    monkeypatch.setattr(Digit, "requests", requests)
    return seen


def test_a_finished_session_is_gone_on_with_without_its_prompts(tmp_path, rendered):
    study = study_of(tmp_path, judge("ann"), items=30)
    first = go(tmp_path, study)
    made = len(rendered)
    again = go(tmp_path, study, resume=True)
    # One prompt tells the rater by: that of a subject that does not exist.
    assert len(rendered) - made <= 2 < made
    assert again.raters == first.raters
    assert again.complete
    assert RECEIVED["ann"] == 0


@pytest.mark.parametrize("change", ["prompt", "item", "table", "reply"])
def test_any_change_is_looked_through_task_by_task(tmp_path, rendered, change):
    study = study_of(tmp_path, judge("ann"), items=10)
    first = go(tmp_path, study)
    folder = first.folder
    before, made = rated(tmp_path), len(rendered)
    if change == "prompt":
        study = study_of(tmp_path, judge("ann", options={"prompt": "Grade:"}), items=10)
        go(tmp_path, study, resume=True, ask_again=True)
    elif change == "item":
        study = study_of(tmp_path, judge("ann"), items=11)
        assert go(tmp_path, study, resume=True).raters[0].done == 22
    elif change == "table":
        (folder / "ratings.parquet").unlink()
        go(tmp_path, study, resume=True)
        assert pl.read_parquet(folder / "ratings.parquet").height == before.height
    else:
        with closing(sqlite3.connect(folder / "session.sqlite")) as connection, connection:
            connection.execute("UPDATE calls SET final = NULL, status = NULL WHERE id = 3")
        assert go(tmp_path, study, resume=True).raters[0].done == 20
    assert len(rendered) - made >= 20


def test_going_on_with_what_is_finished_is_a_small_part_of_the_run(tmp_path):
    study = study_of(tmp_path, judge("ann"), items=2000)
    spent = []
    for again in (False, True, True):
        began = time.process_time()
        go(tmp_path, study, resume=again)
        spent.append(time.process_time() - began)
    assert min(spent[1:]) < 0.2 * spent[0], spent
