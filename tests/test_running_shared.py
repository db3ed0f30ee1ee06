"""A study shared out among real processes: nothing lost, doubled or paid twice, whoever dies."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from test_running_wire import EACH, KEY, after, started, study_of
from wire_server import WireServer, rubric_answer

from voirdire.errors import InputError
from voirdire.running import run, sharing
from voirdire.running.tasks import COMMITTING, WAITING
from voirdire.store import ratings_frame, replies_frame
from voirdire.study import load_study

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
LIMITS = {
    "prices": {"compatible:m": {"input": 1.0, "output": 2.0}},
    "concurrency": 16,
    "start_concurrency": 16,
}
#: Calls of one worker that a kill may cost: in flight, in line and not yet committed.
OPEN = 16 // 2 + WAITING + COMMITTING


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    pytest.importorskip("orjson")
    monkeypatch.setenv("OTHER_KEY", KEY)
    monkeypatch.setattr(sharing, "CHUNK", 40)


def member(server, **more):
    options = {"base_url": server.openai, "api_key_env": "OTHER_KEY"}
    return {"name": "gpt", "model": "compatible:m", "model_options": options, **more}


def workers_of(pid):
    """Processes that were spawned by another to work for it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"spawn_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_workers_come_to_what_one_process_comes_to(tmp_path):
    with WireServer(rubric_answer) as server:
        study = study_of(tmp_path, member(server, runs=2), items=60, run=LIMITS)
        alone = run(study, tmp_path / "a", quiet=True)
        first = run(study, tmp_path / "b", workers=2, max_calls=70, quiet=True)
        assert (first.stopped, first.raters[0].calls, server.count) == ("budget", 70, 120 + 70)
        rest = run(study, tmp_path / "b", workers=2, resume=True, quiet=True)
    assert alone.complete
    assert rest.complete
    assert server.count == 240
    assert rest.cost == pytest.approx(120 * EACH, rel=1e-12)
    assert ratings_frame(tmp_path / "b").equals(ratings_frame(tmp_path / "a"))
    assert not (tmp_path / "b" / sharing.PIECES).exists()


def test_a_rater_that_is_parked_in_one_piece_is_left_out_of_the_next(tmp_path):
    with WireServer(rubric_answer) as server:
        server.fault("auth", times=None, when=lambda seen: seen.model == "bad")
        options = {"base_url": server.openai}
        bad = {"name": "bad", "model": "compatible:bad", "model_options": options}
        study = study_of(tmp_path, member(server), bad, items=400, run=LIMITS)
        result = run(study, tmp_path / "a", workers=2, quiet=True)
        refused = sum(seen.model == "bad" for seen in server.requests)
    good, suspended = result.raters
    assert (good.done, suspended.done, result.exit_code) == (400, 0, 3)
    assert "its key was refused" in suspended.suspended
    assert refused <= 2 * 2 * 2 * (16 + WAITING)  # pieces made before the first came back


def test_plugins_of_the_caller_cannot_follow_to_workers(tmp_path):
    with pytest.raises(InputError, match="leave plugins out"):
        run(study_of(tmp_path), tmp_path / "a", workers=2, plugins=object())


KILLS = 4


def test_workers_killed_again_and_again_cost_what_they_had_open(tmp_path):
    chance, killed = random.Random(4), []

    def kill(server):
        while len(killed) < KILLS:
            seen = server.count
            while server.count < seen + 15:  # the last to die leaves some for who comes after
                time.sleep(0.005)
            with contextlib.suppress(IndexError, ProcessLookupError):
                pid = chance.choice(workers_of(os.getpid()))
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    with WireServer(rubric_answer, latency=0.05) as server:
        study = study_of(tmp_path, member(server), items=60 * KILLS + 120, run=LIMITS)
        killer = threading.Thread(target=kill, args=[server], daemon=True)
        killer.start()
        result = run(study, tmp_path / "a", workers=2, quiet=True)
        killer.join(10)
    tasks = 60 * KILLS + 120
    assert (len(killed), len(set(killed))) == (KILLS, KILLS)
    assert result.complete
    kept = replies_frame(tmp_path / "a")
    assert kept.height == kept["item"].n_unique() == tasks
    # A pool that lost one worker ends the other too, which keeps what comes within its grace.
    assert server.count - tasks <= 2 * OPEN * KILLS
    assert result.cost == pytest.approx(tasks * EACH, rel=1e-12)
    assert ratings_frame(tmp_path / "a").height == tasks * 7


def test_a_run_that_is_killed_itself_leaves_no_workers_and_goes_on(tmp_path):
    with WireServer(rubric_answer, latency=0.1) as server:
        study_of(tmp_path, member(server), items=1100, run=LIMITS)
        process = started(tmp_path, "--workers", "2", "-q")
        after(server, 60, process)
        workers = workers_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert len(workers) == 2
        before = server.count
        monkey = load_study(tmp_path / "study.toml")
        result = run(monkey, tmp_path / "a", workers=2, resume=True, quiet=True, max_calls=300)
        kept = replies_frame(tmp_path / "a")
        assert (result.raters[0].calls, kept.height) == (300, 300)
        assert kept["item"].n_unique() == 300
        assert server.count - 300 <= 2 * OPEN
        assert before < 300
        ends = time.monotonic() + 30
        while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < ends:
            time.sleep(0.2)
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_a_second_ctrl_c_ends_the_workers_too(tmp_path):
    with WireServer(rubric_answer, latency=0.5) as server:
        study_of(tmp_path, member(server), items=1100, run=LIMITS)
        process = started(tmp_path, "--workers", "2", "-q")
        after(server, 20, process)
        workers = workers_of(process.pid)
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 130
        # A worker's piece of 550 calls at 8 at once takes over half a minute: none was waited for.
        assert server.count < 300
        assert len(workers) == 2
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_a_cluster_of_dask_loses_a_worker(tmp_path):
    pytest.importorskip("distributed")
    killed = []

    def kill(server):
        while server.count < 30:
            time.sleep(0.01)
        for nanny in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((nanny / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == os.getpid() and b"spawn_main" in (nanny / "cmdline").read_bytes():
                    killed.append(int(nanny.name))
        os.kill(killed[0], signal.SIGKILL)

    with WireServer(rubric_answer, latency=0.05) as server:
        study = study_of(tmp_path, member(server), items=200, run=LIMITS)
        killer = threading.Thread(target=kill, args=[server], daemon=True)
        killer.start()
        result = run(study, tmp_path / "a", workers="dask", quiet=True)
    assert killed
    assert result.complete
    kept = replies_frame(tmp_path / "a")
    assert kept.height == kept["item"].n_unique() == 200
    assert server.count - 200 <= 16 + WAITING + COMMITTING
    assert result.cost == pytest.approx(200 * EACH, rel=1e-12)
