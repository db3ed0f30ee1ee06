"""A rater of whom nothing can be read is stopped; a model is made ready before a call's time."""

from __future__ import annotations

import asyncio
import copy

import polars as pl
import pytest

pytest.importorskip("openai")

from agent_work import study_of
from wire_server import WireServer

from voirdire import plugins
from voirdire.examining.session import _finding as finding_of
from voirdire.parsing.scores import parse_scores
from voirdire.running import run
from voirdire.schema import Reply
from voirdire.store import ratings_frame


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "held-for-tests-1234567890")


def judged(folder, address, items, **more):
    judge = {
        "name": "mute",
        "use": "rubric",
        "model": "openai:m",
        "model_options": {"base_url": address},
    }
    return study_of(folder, judge, items=items, **more)


def test_a_rater_whose_first_ten_texts_cannot_be_read_is_stopped(tmp_path):
    with WireServer("I would rather speak of the weather.") as server:
        once = {"run": {"reask": 0, "concurrency": 4, "backoff": 0.02}}
        result = run(judged(tmp_path, server.openai, 60, **once), tmp_path / "a", quiet=True)
        asked = server.count
    assert result.exit_code == 3
    assert 10 <= asked < 40
    assert "none of its first 10 texts could be read" in str(result.raters)


def test_a_reply_in_words_is_read_once_and_its_tables_say_the_same(tmp_path, monkeypatch):
    read = []

    def counted(text, *given, **more):
        read.append(text)
        return parse_scores(text, *given, **more)

    monkeypatch.setattr("voirdire_judges.rubric.parse_scores", counted)
    monkeypatch.setattr("voirdire.parsing.columns.parse_scores", counted)
    tones = ["warm", "kind", "calm", "cool", "curt", "mild", "soft", "firm", "fair", "dry", "odd"]
    words = [f"**Empathy:** {1 + n % 5}/5\n\nIts tone is {t}." for n, t in enumerate(tones)]
    said = iter([*words, '{"Empathy": 4}', "I would rather not."])
    with WireServer(lambda seen: next(said)) as server:
        once = {"run": {"reask": 0, "concurrency": 4}}
        run(judged(tmp_path, server.openai, 13, **once), tmp_path / "a", quiet=True)
    assert sorted(read) == sorted([*words, '{"Empathy": 4}', "I would rather not."])
    written = pl.read_parquet(tmp_path / "a" / "ratings.parquet")
    assert written["score"].null_count() == 1
    assert written.equals(ratings_frame(tmp_path / "a").select(written.columns))
    assert len(read) == 13 + 12  # tables alone read all again, but for the object


def test_one_that_can_be_read_goes_on(tmp_path):
    said = iter(['{"Empathy": 4}', *(["I would rather not."] * 29)])
    with WireServer(lambda seen: next(said)) as server:
        once = {"run": {"reask": 0, "concurrency": 1}}
        result = run(judged(tmp_path, server.openai, 30, **once), tmp_path / "a", quiet=True)
        assert server.count == 30
    assert result.raters[0].done == 30


class Slow:
    """Takes longer to be made ready than a call may take."""

    name = "slow"
    readied = 0

    def __init__(self, fails=False):
        self.fails, self.ready, self.progress = fails, None, ""

    async def prepare(self):
        if self.ready is None:
            self.ready = asyncio.ensure_future(self._load())
        await asyncio.shield(self.ready)

    async def _load(self):
        self.progress = "loading\x1b[31m"
        await asyncio.sleep(1.2)
        Slow.readied += 1
        self.progress = ""
        if self.fails:
            raise OSError("no such weights")

    async def complete(self, request):
        return Reply('{"Empathy": 4}', "stop")


def make(name, **options):
    return Slow(name == "fails")


@pytest.mark.parametrize(("name", "score"), [("works", 4.0), ("fails", None)])
def test_loading_takes_none_of_a_calls_time_and_is_shown(
    tmp_path, monkeypatch, capsys, name, score
):
    monkeypatch.setattr("voirdire.running._run.LINE_EVERY", 0.2)
    found = copy.deepcopy(plugins())
    found.add("model", "tests", "slow", f"{__name__}:make")
    Slow.readied = 0
    judge = {"name": "j", "use": "rubric", "model": f"slow:{name}"}
    study = study_of(tmp_path, judge, items=3, run={"timeout": 0.5, "retries": 0, "breaker": 9})
    result = run(study, tmp_path / "a", plugins=found)
    assert Slow.readied == 1
    shown = capsys.readouterr().err
    assert "3 of 64 calls open (16 at once, rising from start_concurrency; loading" in shown
    assert "\x1b" not in shown
    assert result.raters[0].done == (3 if score else 0)
    if not score:
        assert dict(result.raters[0].faults) == {"model": 3}


@pytest.mark.parametrize(
    ("count", "of", "severity"), [(9, 10, "serious"), (2, 10, "note"), (9, None, "note")]
)
def test_little_probability_on_the_levels_is_serious_where_it_is_the_rule(count, of, severity):
    row = {
        "rater": "vague",
        "kind": "low_mass",
        "count": count,
        "of": of,
        "detail": "",
        "places": [],
    }
    found = finding_of(row)
    assert found.severity == severity
    assert ("next to nothing" in found.consequence) == (severity == "serious")
