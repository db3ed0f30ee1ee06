"""How a run ends that would not end by itself, and what a session says without its plugins."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time

import pytest
from scripted import judge, scripted_plugins, study_of

from voirdire.running import run, session_status
from voirdire.store import replies_frame
from voirdire.study import study_to_toml

#: A plugin whose model never comes back on one item: it counts in C, where no signal is handled.
STUCK = """
import itertools, pathlib
from voirdire import hookimpl
from voirdire.schema import Reply, Usage

class Model:
    async def complete(self, request):
        if "i3" in request.messages[-1].content and not pathlib.Path("free").exists():
            pathlib.Path("stuck").touch()
            sum(itertools.repeat(0))
        return Reply('{"tone": 4}', usage=Usage(1, 1))

def make(name):
    return Model()

@hookimpl
def voirdire_register_models(register):
    register("stuck", "stuck_plugin:make")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_run_that_does_not_end_is_killed_by_its_supervisor_and_goes_on(tmp_path):
    (tmp_path / "stuck_plugin.py").write_text(STUCK)
    info = tmp_path / "stuck_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stuck_plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[voirdire]\nstuck = stuck_plugin\n")
    (tmp_path / "items.csv").write_text(
        "id,text\n" + "".join(f"i{n},text i{n}\n" for n in range(6))
    )
    (tmp_path / "responses.csv").write_text(
        "item,system,text\n" + "".join(f"i{n},x,answer\n" for n in range(6))
    )
    (tmp_path / "study.toml").write_text(
        'name = "stuck"\nrubric = {attributes = ["tone"]}\nitems = {path = "items.csv"}\n'
        'responses = {path = "responses.csv"}\n[[panel]]\nname = "a"\nmodel = "stuck:m"\n'
        "[run]\nconcurrency = 1\n"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "VOIRDIRE_LOAD_PLUGINS": "stuck"}
    command = [sys.executable, "-m", "voirdire", "run", "study.toml", "--out", "s", "-q"]
    process = subprocess.Popen(
        [*command, "--end-within", "1"], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True
    )
    ends = time.monotonic() + 120
    while not (tmp_path / "stuck").exists() and process.poll() is None:
        assert time.monotonic() < ends, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == -signal.SIGKILL
    assert "had not ended 1 s after it was told to, and was killed" in said
    kept = replies_frame(tmp_path / "s").height
    (tmp_path / "free").touch()
    ended = subprocess.run(
        [*command, "--resume", "--end-within", "1"],
        cwd=tmp_path,
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert replies_frame(tmp_path / "s").height == 6
    assert kept <= 3


def state(folder):
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


def test_without_its_plugin_a_session_says_what_is_on_file_and_stays_as_it_is(tmp_path):
    study = study_of(
        tmp_path, judge("ann"), judge("ben", model_options={"fails": {"0": "bad_request"}})
    )
    (tmp_path / "study.toml").write_text(study_to_toml(study))
    result = run(study, tmp_path / "a", quiet=True, plugins=scripted_plugins())
    with_it = {one.name: one for one in result.raters}
    before = state(tmp_path / "a")
    status = session_status(tmp_path / "a")  # the plugins that are installed, without ours
    assert state(tmp_path / "a") == before
    assert not status.complete
    for one in status.raters:
        known = with_it[one.name]
        assert one.missing
        assert (one.done, one.failed, one.statuses, one.faults) == (
            known.done,
            known.failed,
            known.statuses,
            known.faults,
        )
        assert (one.calls, one.stage) == (known.calls, known.stage)
        assert one.tasks == known.done + known.failed  # those that were begun
    shown = subprocess.run(
        [sys.executable, "-m", "voirdire", "session", "status", "a"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "ann cannot be made here (" in shown
    assert "counted is what is on file" in shown
    assert state(tmp_path / "a") == before
