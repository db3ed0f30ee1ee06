"""Agents and debates in batches, by several workers, killed, cut and merged: as asked one by one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter

import polars as pl
import pytest
from agent_work import study_of
from wire_server import Answer, WireServer

from voirdire.running import run, session_status, sharing
from voirdire.store import ratings_frame, replies_frame
from voirdire.store.merging import merge_sessions

FORMATS = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}
#: 100 tokens in and 20 out, by the prices below.
EACH = 140e-6
#: Replies a task: an agent's call and its answer; the judge alone, two openings, the verdict.
AGENT, DEBATE = 2, 4


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "held-for-tests-1234567890")


def answers(seen):
    """An agent that calculates once, advocates of two minds, a judge that says 4."""
    body = json.dumps(seen.body)
    if seen.model == "adv":
        return json.dumps({"Empathy": 2 if "the critic" in body else 5})
    if seen.model == "m" and "RESULT" not in body:
        return Answer("", calls=[("calculate", '{"expression": "6 * 7"}')])
    if seen.model == "m":
        assert "42" in body
    return '{"Empathy": 4}'


def panel(form, server):
    pytest.importorskip(FORMATS[form])
    url = server.openai if form == "openai" else server.url
    asked = {"model_options": {"base_url": url}}
    voices = {
        role: {"model": f"{form}:{name}", "options": asked["model_options"]}
        for role, name in (("judge", "judge"), ("advocate", "adv"))
    }
    return [
        {
            "name": "looker",
            "use": "agent",
            "model": f"{form}:m",
            **asked,
            "options": {"tools": ["calculate"]},
        },
        {"name": "arguing", "use": "debate", "models": voices, "options": {"rounds": 1}},
    ]


def study(folder, form, server, items=6, **more):
    folder.mkdir(parents=True, exist_ok=True)
    prices = {f"{form}:{name}": {"input": 1.0, "output": 2.0} for name in ("m", "judge", "adv")}
    limits = {"prices": prices, "batch_poll": 0.01, "backoff": 0.02, "retries": 1, "timeout": 60}
    return study_of(folder, *panel(form, server), items=items, run={**limits, **more})


def alone(folder, form, items=6):
    """The ratings of the same study, asked live by one process."""
    with WireServer(answers) as server:
        result = run(study(folder, form, server, items), folder / "live", quiet=True)
        assert result.complete
        assert server.count == items * (AGENT + DEBATE)
    return ratings_frame(folder / "live")


def steps(folder):
    """How many replies count for each task of each rater."""
    kept = replies_frame(folder).filter((pl.col("final") == 1) & (pl.col("current") == 1))
    return {
        rater: set(kept.filter(kept["rater"] == rater).group_by("item").len()["len"].to_list())
        for rater in ("looker", "arguing")
    }


@pytest.mark.parametrize("form", FORMATS)
def test_first_steps_go_in_batches_and_further_ones_live(tmp_path, form):
    with WireServer(answers) as server:
        made = study(tmp_path / "b", form, server)
        result = run(made, tmp_path / "b" / "a", batch=True, quiet=True)
        assert result.complete
        # The agent's answer and the debate's verdict are asked live, the rest in batches.
        assert server.count == 6 * 2
        assert sum(server.batches.answered.values()) == 6 * (1 + 3)
    assert result.cost == pytest.approx(6 * (2 + 4 / 2) * EACH, rel=1e-9)
    assert session_status(tmp_path / "b" / "a").cost == pytest.approx(result.cost, rel=1e-9)
    assert steps(tmp_path / "b" / "a") == {"looker": {AGENT}, "arguing": {DEBATE}}
    assert ratings_frame(tmp_path / "b" / "a").equals(alone(tmp_path / "c", form))


def command(folder, *arguments):
    return [
        sys.executable,
        "-m",
        "voirdire",
        "run",
        str(folder / "study.toml"),
        "--out",
        str(folder / "a"),
        *arguments,
    ]


def kept_calls(folder):
    """(Rater, item, step) of what is on the disk, in the session and in pieces of workers.

    Both openings of a debate are one step here, and there once both are kept.
    """
    frames = [replies_frame(path.parent) for path in folder.rglob("session.sqlite")]
    kept = pl.concat(frames).filter(pl.col("error").is_null())
    found = set(kept.select("rater", "item", "step").iter_rows())
    openings = {("arguing", item, 1) for _, item, _ in found}
    whole = {(r, i, 1) for r, i, _ in openings if {(r, i, 1), (r, i, 2)} <= found}
    return {one for one in found - openings if one[0] == "looker" or one[2] in (0, 3)} | whole


def call_of(seen):
    """The same of a request that the server saw."""
    body = json.dumps(seen.body)
    item = re.search(r"I slept badly, (i[0-9]+)", body)[1]
    if seen.model == "m":
        return "looker", item, int("RESULT" in body)
    return "arguing", item, 1 if seen.model == "adv" else 3 if "ARGUMENT" in body else 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("way", [("--batch",), ("--workers", "2")])
def test_a_kill_amid_the_further_steps_pays_no_kept_call_twice(tmp_path, way):
    """Killed while a tool's result is on its way: what is on the disk is never asked again."""
    held, waits = threading.Event(), threading.Event()

    def slow(seen):
        if seen.model == "m" and "RESULT" in json.dumps(seen.body) and not waits.is_set():
            held.set()
            waits.wait(300)
        return answers(seen)

    with WireServer(slow) as server:
        study(tmp_path, "openai", server, concurrency=2, start_concurrency=2)
        process = subprocess.Popen(
            command(tmp_path, *way), start_new_session=True, stdout=subprocess.DEVNULL
        )
        assert held.wait(300)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        waits.set()
        kept = kept_calls(tmp_path / "a")
        done = subprocess.run(
            command(tmp_path, *way, "--resume"),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        asked = Counter(json.dumps(seen.body, sort_keys=True) for seen in server.requests)
        twice = {
            call_of(seen)
            for seen in server.requests
            if asked[json.dumps(seen.body, sort_keys=True)] > 1
        }
    # A step is asked only when the one before is on the disk: at least the call of that tool is.
    assert any(rater == "looker" and step == 0 for rater, _, step in kept)
    assert twice  # the call that was on its way
    assert not twice & kept
    if way[0] == "--batch":
        assert max(server.batches.answered.values()) == 1
    assert steps(tmp_path / "a") == {"looker": {AGENT}, "arguing": {DEBATE}}
    assert ratings_frame(tmp_path / "a").equals(alone(tmp_path / "c", "openai"))


def test_workers_that_a_budget_cuts_come_to_what_one_process_comes_to(tmp_path, monkeypatch):
    monkeypatch.setattr(sharing, "CHUNK", 4)
    with WireServer(answers) as server:
        made = study(tmp_path, "openai", server, items=12)
        first = run(made, tmp_path / "a", workers=2, max_calls=31, quiet=True)
        assert (first.stopped, server.count) == ("budget", 31)
        rest = run(made, tmp_path / "a", workers=2, resume=True, quiet=True)
        assert rest.complete
        assert server.count == 12 * (AGENT + DEBATE)
    assert rest.cost == pytest.approx(12 * (AGENT + DEBATE) * EACH, rel=1e-9)
    assert steps(tmp_path / "a") == {"looker": {AGENT}, "arguing": {DEBATE}}
    assert ratings_frame(tmp_path / "a").equals(alone(tmp_path / "c", "openai", 12))


def test_sessions_cut_amid_their_steps_are_merged_and_go_on(tmp_path):
    """One is cut amid debates and agents, one is whole: a task is one or the other, never a mix."""
    with WireServer(answers) as server:
        made = study(tmp_path, "openai", server)
        cut = run(made, tmp_path / "a", max_calls=17, quiet=True)
        assert cut.stopped == "budget"
        other = run(made, tmp_path / "b", max_calls=26, quiet=True)
        assert other.stopped == "budget"
        merge_sessions([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
        assert session_status(tmp_path / "all").cost == pytest.approx(43 * EACH, rel=1e-9)
        asked = server.count
        rest = run(made, tmp_path / "all", resume=True, quiet=True)
        assert rest.complete
        assert server.count - asked <= 6 * (AGENT + DEBATE) - 26
        assert run(made, tmp_path / "whole", quiet=True).complete
    assert steps(tmp_path / "all") == {"looker": {AGENT}, "arguing": {DEBATE}}
    assert ratings_frame(tmp_path / "all").equals(alone(tmp_path / "c", "openai"))
    # Of a task that both have finished, one counts, whole; the other's attempts stay on file.
    merge_sessions([tmp_path / "all", tmp_path / "whole"], tmp_path / "both")
    assert ratings_frame(tmp_path / "both").equals(ratings_frame(tmp_path / "all"))
    assert session_status(tmp_path / "both").cost == pytest.approx(
        session_status(tmp_path / "all").cost + 6 * (AGENT + DEBATE) * EACH, rel=1e-9
    )
