"""Sessions merged by their keys: nothing lost, nothing doubled, costs added up."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest
from test_running_wire import EACH, KEY, study_of
from wire_server import WireServer, rubric_answer, rubric_text

from voirdire.errors import InputError, SessionError
from voirdire.running import run, session_status
from voirdire.store import ratings_frame, replies_frame, session_study
from voirdire.store.merging import merge_sessions

PRICES = {"prices": {"compatible:m": {"input": 1.0, "output": 2.0}}}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    pytest.importorskip("orjson")
    monkeypatch.setenv("OTHER_KEY", KEY)


def member(server, **more):
    options = {"base_url": server.openai, "api_key_env": "OTHER_KEY"}
    return {"name": "gpt", "model": "compatible:m", "model_options": options, **more}


def some(tmp_path, server, *limits, runs=2, **more):
    """Sessions of one study, each ended by a limit on its calls, one after another in its own."""
    folders = []
    for number, calls in enumerate(limits):
        study = study_of(tmp_path, member(server, runs=runs), items=6, run={**PRICES, **more})
        folders.append(tmp_path / f"part{number}")
        run(study, folders[-1], max_calls=calls, quiet=True)
    return folders


def test_what_both_asked_stands_once_and_costs_twice(tmp_path):
    with WireServer(rubric_answer) as server:
        parts = some(tmp_path, server, 5, 12)
        rows = merge_sessions(parts, tmp_path / "all")
        asked = server.count
    merged = session_status(tmp_path / "all")
    assert asked == 17
    assert (merged.raters[0].done, merged.raters[0].calls) == (12, 17)
    assert merged.cost == pytest.approx(17 * EACH, rel=1e-12)
    assert rows["ratings"] == 12 * 7
    whole = ratings_frame(tmp_path / "part1")
    assert ratings_frame(tmp_path / "all").equals(whole)
    kept = replies_frame(tmp_path / "all")
    assert kept.height == 17
    assert kept.filter(pl.col("final") == 1).height == 12


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_merged_session_goes_on_where_both_ended(tmp_path, order):
    with WireServer(rubric_answer) as server:
        parts = some(tmp_path, server, 5, 3)
        merge_sessions([parts[at] for at in order], tmp_path / "all")
        before = server.count
        result = run(session_study(tmp_path / "all"), tmp_path / "all", resume=True, quiet=True)
        assert result.complete
        assert server.count - before == 12 - 5
    assert result.cost == pytest.approx(server.count * EACH, rel=1e-12)


def test_a_session_merged_with_itself_is_itself(tmp_path):
    with WireServer(rubric_answer) as server:
        server.fault("server", times=2)
        (part,) = some(tmp_path, server, 9, retries=1, backoff=0.01)
    merge_sessions([part, part], tmp_path / "all")
    merge_sessions([tmp_path / "all", part], tmp_path / "again")
    for folder in ("all", "again"):
        assert replies_frame(tmp_path / folder).equals(replies_frame(part))
        assert session_status(tmp_path / folder).cost == session_status(part).cost


def test_of_two_finished_tasks_the_later_counts_whole(tmp_path):
    texts = iter([rubric_text(Empathy=1)] * 2 + [rubric_text(Empathy=5)] * 2)
    with WireServer(lambda seen: next(texts)) as server:
        parts = some(tmp_path, server, 2, 2, runs=1, concurrency=1, start_concurrency=1)
    for order in ([0, 1], [1, 0]):
        out = tmp_path / f"all{order[0]}"
        merge_sessions([parts[at] for at in order], out)
        scores = ratings_frame(out).filter(pl.col("attribute") == "Empathy")["score"]
        assert scores.drop_nulls().to_list() == [5.0, 5.0]
        assert session_status(out).cost == pytest.approx(4 * EACH, rel=1e-12)


def test_only_sessions_of_one_study_and_the_same_texts_are_merged(tmp_path):
    with WireServer(rubric_answer) as server:
        first, second = some(tmp_path, server, 2, 2)
        other = study_of(tmp_path, member(server, temperature=0.7), items=6, run=PRICES)
        run(other, tmp_path / "other", max_calls=1, quiet=True)
    with pytest.raises(
        SessionError, match=r"its study differs .* in panel; only sessions of one study"
    ):
        merge_sessions([first, tmp_path / "other"], tmp_path / "all")
    with sqlite3.connect(second / "session.sqlite") as connection:
        connection.execute("UPDATE items SET body = 'Another.' WHERE id = 'i003'")
    connection.close()
    with pytest.raises(SessionError, match="its text of item 'i003' differs"):
        merge_sessions([first, second], tmp_path / "all")
    with pytest.raises(SessionError, match="it exists already; give --out a new folder"):
        merge_sessions([first], first)
    with pytest.raises(InputError, match="name the sessions"):
        merge_sessions([], tmp_path / "all")
    with pytest.raises(SessionError, match=r"there is no session\.sqlite"):
        merge_sessions([tmp_path / "nothing"], tmp_path / "all")
