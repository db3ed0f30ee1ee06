"""The runner over real SDKs and the wire formats: kills, storms, a panel with sick members."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import polars as pl
import pytest

pytest.importorskip("openai")

from wire_server import WireServer, rubric_answer, rubric_text

from voirdire.running import run, session_status
from voirdire.running.tasks import COMMITTING, WAITING
from voirdire.store import ratings_frame, replies_frame, write_tables
from voirdire.study import build_study, load_study, study_to_toml

KEY = "sk-planted-0123456789abcdef"
CLI = """
import typer
from voirdire.cli import run, session
app = typer.Typer()
run.register(app)
session.register(app)
app()
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def judge(name, url, prefix="openai", **more):
    return {"name": name, "model": f"{prefix}:{name}", "model_options": {"base_url": url}, **more}


def study_of(tmp_path, *panel, items=40, run=None, **more):
    names = [f"i{number:03}" for number in range(items)]
    pl.DataFrame({"id": names, "text": [f"I slept badly, {n}." for n in names]}).write_csv(
        tmp_path / "items.csv"
    )
    rows = [(n, "x", f"Keep a fixed bedtime, {n}.") for n in names]
    pl.DataFrame(rows, schema=["item", "system", "text"], orient="row").write_csv(
        tmp_path / "responses.csv"
    )
    raw = {
        "name": "calm", "panel": list(panel), "items": {"path": "items.csv"},
        "responses": {"path": "responses.csv"}, "rubric": {"use": "mentalalign"},
        "run": {"backoff": 0.02, "retries": 2, "timeout": 20, **(run or {})}, **more,
    }  # fmt: skip
    study = build_study(raw, folder=str(tmp_path))
    (tmp_path / "study.toml").write_text(study_to_toml(study), encoding="utf-8")
    return study


def started(tmp_path, *options):
    command = [sys.executable, "-c", CLI, "run", "study.toml", "--out", "a", *options]
    return subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def after(server, count, process):
    """Wait until the server has seen so many requests."""
    ends = time.monotonic() + 120
    while server.count < count and time.monotonic() < ends and process.poll() is None:
        time.sleep(0.002)
    assert server.count >= count, process.communicate()


PRICES = {"openai:gpt": {"input": 1.0, "output": 2.0}}
EACH = (100 * 1.0 + 20 * 2.0) / 1e6


@pytest.mark.parametrize("points", [(1, 30, 31), (64, 110)])
def test_kill_at_any_moment_loses_at_most_what_was_in_flight(tmp_path, points):
    with WireServer(latency=0.02) as server:
        limits = {"prices": PRICES, "concurrency": 8, "start_concurrency": 8}
        study_of(tmp_path, judge("gpt", server.openai), items=120, run=limits)
        for number, point in enumerate(points):
            process = started(tmp_path, "-q", *(["--resume"] if number else []))
            after(server, point, process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        before = replies_frame(tmp_path / "a").height if (tmp_path / "a").exists() else 0
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "a", resume=True, quiet=True)
        assert result.complete
        kept = replies_frame(tmp_path / "a")
        assert kept.height == kept["item"].n_unique() == 120
        open_tasks = 8 + WAITING + COMMITTING  # what is in flight or not yet committed
        assert before >= points[-1] - open_tasks * len(points)
        assert server.count - 120 <= open_tasks * len(points)
        assert result.cost == pytest.approx(120 * EACH, rel=1e-12)
        assert ratings_frame(tmp_path / "a").height == 120 * 7


@pytest.mark.parametrize(
    ("fault", "fewer"),
    [("server", False), ("unavailable", False), ("drop", False), ("overloaded", True)],
)
def test_calls_that_fail_now_and_then_leave_all_others_open(tmp_path, fault, fewer):
    """Only 429 and 529 say that there are too many calls: one 500 in ten says nothing of the rest."""
    open_calls = []

    def answer(seen):
        open_calls.append(server.in_flight)
        return rubric_answer(seen)

    with WireServer(answer, latency=0.4) as server:
        server.fault(fault, every=10, times=None)
        limits = {"concurrency": 40, "start_concurrency": 40, "retries": 5}
        study = study_of(tmp_path, judge("gpt", server.openai), items=400, run=limits)
        result = run(study, tmp_path / "a", quiet=True)
    assert result.complete
    # At most, since a busy machine leaves fewer open than it may; a limit that sinks stays below.
    if fewer:
        assert sorted(open_calls[100:350])[125] <= 30
    else:
        assert max(open_calls[100:350]) > 30


def test_status_says_how_many_calls_are_open_and_why_not_more(tmp_path):
    with WireServer(latency=0.3) as server:
        limits = {"concurrency": 12, "start_concurrency": 4, "requests_per_minute": 600}
        study_of(tmp_path, judge("gpt", server.openai), items=200, run=limits)
        process = started(tmp_path)
        after(server, 20, process)
        (calls,) = session_status(tmp_path / "a").calls
        shown = subprocess.run(
            [sys.executable, "-c", CLI, "session", "status", "a"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    assert (calls.model, calls.concurrency) == ("openai:gpt", 12)
    assert calls.open <= 12
    assert calls.held in {"rising", "allowance"}
    assert "openai:gpt: " in shown
    assert "of 12 calls open (" in shown
    assert session_status(tmp_path / "a").calls == ()


def test_ctrl_c_keeps_what_came_and_says_how_to_go_on(tmp_path):  # F04
    with WireServer(latency=0.05) as server:
        study_of(
            tmp_path,
            judge("gpt", server.openai),
            items=100,
            run={"concurrency": 4, "start_concurrency": 4},
        )
        process = started(tmp_path)
        after(server, 40, process)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert time.monotonic() - began < 120
        assert process.returncode == 130, err
        assert "Go on with: voirdire run study.toml --out a --resume" in out
        done = session_status(tmp_path / "a").raters[0].done
        assert 40 <= done <= 44 + 4
        assert server.count == done  # calls under way came back within the grace period
        process = started(tmp_path, "--resume")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "Complete. Examine it with: voirdire examine a" in out
        assert server.count == 100


def test_two_processes_cannot_work_one_folder(tmp_path):
    with WireServer(latency=0.05) as server:
        study_of(
            tmp_path,
            judge("gpt", server.openai),
            items=600,
            run={"concurrency": 1, "start_concurrency": 1},
        )
        first = started(tmp_path)
        after(server, 5, first)
        second = started(tmp_path, "--resume")
        _, err = second.communicate(timeout=120)
        assert second.returncode != 0
        assert f"process {first.pid} works in it already" in err
        status = subprocess.run(
            [sys.executable, "-c", CLI, "session", "status", "a"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "rater" in status.stdout
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
        assert first.returncode == 130


def test_a_panel_of_four_with_sick_members(tmp_path):
    """One healthy, one down, one that refuses 5 %, one in a 429 storm: all good ratings are there."""
    with WireServer() as server, WireServer() as stormy:
        server.fault("server", times=None, when=lambda seen: seen.model == "down")
        server.fault("refusal", times=None, every=20, when=lambda seen: seen.model == "picky")
        stormy.storm(rate=60, retry_after=0.3)
        panel = (
            judge("good", server.openai), judge("down", server.openai),
            judge("picky", server.url, "anthropic", max_tokens=300), judge("late", stormy.openai),
        )  # fmt: skip
        result = run(study_of(tmp_path, *panel, items=200), tmp_path / "a", quiet=True)
        good, down, picky, late = result.raters
        assert result.exit_code == 3
        assert good.statuses == late.statuses == {"ok": 200}
        assert picky.statuses == {"ok": 190, "refused": 10}
        assert (down.done, picky.suspended, late.suspended) == (0, "", "")
        assert down.suspended.startswith("5 calls failed in a row, the last by server")
        assert stormy.count < 200 * 2
        frame = pl.read_parquet(tmp_path / "a" / "ratings.parquet")
        assert frame.height == 4 * 200 * 7
        assert frame.group_by("rater", "status").len().sort("rater", "status").rows() == [
            ("down", "failed", 1400), ("good", "ok", 1400), ("late", "ok", 1400),
            ("picky", "ok", 1330), ("picky", "refused", 70),
        ]  # fmt: skip
        server.clear()
        again = run(study_of(tmp_path, *panel, items=200), tmp_path / "a", quiet=True, resume=True)
        assert again.complete
        assert again.raters[1].statuses == {"ok": 200}


def test_reparsing_asks_nothing_and_gives_the_same_tables(tmp_path):
    with WireServer() as server:
        run(study_of(tmp_path, judge("gpt", server.openai), items=20), tmp_path / "a", quiet=True)
        before, count = pl.read_parquet(tmp_path / "a" / "ratings.parquet"), server.count
        assert write_tables(tmp_path / "a") == {
            "responses": 20,
            "raters": 1,
            "ratings": 140,
            "preferences": 0,
        }
        assert pl.read_parquet(tmp_path / "a" / "ratings.parquet").equals(before)
        assert server.count == count


def test_hostile_replies_do_no_harm(tmp_path):
    texts = [
        "{" * 50_000,
        "\x00\ud800",
        '{"Empathy": 1e999}',
        "__import__('os').abort()",
        rubric_text(Empathy=5),
    ]
    with WireServer(lambda seen: texts[hash(seen.prompt) % 5]) as server:
        result = run(
            study_of(tmp_path, judge("gpt", server.openai), items=40), tmp_path / "a", quiet=True
        )
    assert result.raters[0].done == 40
    assert ratings_frame(tmp_path / "a").height == 280
