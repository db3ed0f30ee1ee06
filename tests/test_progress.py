"""What takes long says what it is doing: once nobody waits, on the right stream, and never twice."""

from __future__ import annotations

import io
import json
import sys
import time
from functools import partial
from types import ModuleType

import polars as pl
import pytest
from command_line import typed

from voirdire import ReadOptions, examine, progress
from voirdire.examining import changing, correcting, juries

QUICK = partial(progress.told, after=0.0, every=0.005)


@pytest.fixture
def ratings(tmp_path):
    rows = [(f"q{k}", 1 + k % 5, 1 + k * 3 % 5) for k in range(400)]
    path = tmp_path / "r.csv"
    pl.DataFrame(rows, schema=["item", "human", "judge"], orient="row").write_csv(path)
    return path


def test_what_is_quick_says_nothing():
    said = []
    with progress.told(said.append):
        progress.stage("reading")
    assert said == []


def test_what_takes_long_is_said_with_its_step_and_time():
    said = []
    with progress.told(said.append, after=0.01, every=0.01):
        progress.stage("ratings", 2, 9)
        time.sleep(0.2)
    assert said
    assert (said[0].name, said[0].at, said[0].of) == ("ratings", 2, 9)
    assert 0 < said[0].seconds < 5
    assert str(said[0]).startswith("ratings (2 of 9), ")


def test_one_listener_alone_is_told():
    outer, inner = [], []
    with (
        progress.told(outer.append, after=0.0, every=0.01),
        progress.told(inner.append, after=0.0, every=0.01),
    ):
        progress.stage("within")
        time.sleep(0.1)
    assert outer
    assert inner == []
    progress.stage("nobody listens")


def test_a_program_gets_events_and_a_person_lines(ratings, monkeypatch):
    monkeypatch.setattr(progress, "told", QUICK)
    words = ("examine", ratings, "--reference", "human", "--resamples", "2000")
    done = typed(*words, "--json")
    events = [json.loads(line) for line in done.stderr.splitlines()]
    stages = [one["stage"] for one in events if one["event"] == "progress"]
    assert any(stage.startswith("examining ") for stage in stages)
    assert json.loads(done.stdout)["answer"]["state"] == "ok"
    plain = typed(*words)
    assert "voirdire: examining " in plain.stderr
    assert "examining " not in plain.stdout


def test_a_notebook_is_told_and_another_process_is_not(ratings, monkeypatch):
    monkeypatch.setattr(progress, "told", QUICK)
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    examine(ratings, reference=["human"], resamples=500)
    assert said.getvalue() == ""
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    examine(ratings, reference=["human"], resamples=2000)
    assert "voirdire: examining " in said.getvalue()


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """A panel of which every room has something to do."""
    rows = []
    for k in range(160):
        human = 1 + k * 7 % 5
        near, day = min(5, human + (k % 5 == 0)), f"2026-0{1 + k % 8}-05"
        said = (f"q{k}", f"v{k % 2}", day, human if k < 120 else None, near, human)
        rows.append(said)
    folder = tmp_path_factory.mktemp("panel")
    frame = pl.DataFrame(rows, schema=["item", "system", "day", "ann", "one", "two"], orient="row")
    frame.write_csv(folder / "r.csv")
    (folder / "months").mkdir()
    frame.write_csv(folder / "months" / "r.csv")
    return folder


ROOMS = {
    "examining ": lambda path, ask: examine(path, **ask, resamples=0),
    "correcting the numbers": lambda path, ask: correcting.correct(path, **ask),
    "counting the labels": lambda path, ask: correcting.plan_labels(path, [0.2], **ask),
    "calibrating": lambda path, ask: correcting.calibrate_ratings(path, **ask),
    "testing shares": lambda path, ask: correcting.escalate(path, agree=0.8, **ask),
    "weighing cascades": lambda path, ask: correcting.cascade(
        path, agree=0.8, prices={"one": 0.1, "two": 0.2}, person=1.0, **ask
    ),
    "comparing": lambda path, ask: changing.compare(path, path, **ask),
    "holding": lambda path, ask: changing.check_lock(path, changing.freeze(path, **ask), **ask),
    "weighing": lambda path, ask: juries.examine_jury(path, ["one", "two"], **ask),
    "looking at": lambda path, ask: correcting.watch_folder(
        path.parent / "months", at="day", judge="one", every="month", baseline=4, **ask
    ),
}


@pytest.mark.parametrize("begins", list(ROOMS))
def test_every_room_says_what_it_does_after_it_has_read(panel, monkeypatch, begins):
    """Whatever takes long there is said by its own name, and not as reading."""
    begun = []

    class Listening:
        depth = 1

        def __setattr__(self, _, now):
            begun.append(now.name)

    monkeypatch.setattr(progress, "_listening", Listening())
    read = ReadOptions(judge=("one", "two"))
    ROOMS[begins](panel / "r.csv", {"reference": ["ann"], "read": read})
    assert any(name.startswith(begins) for name in begun), begun
