"""What people and models wrote is its owner's alone, whatever the umask says."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from humans_work import write_study

from voirdire.files import PRIVATE, mode_like, own_folder

ROOT = Path(__file__).parents[1]
posix = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")

#: A session, rating work and a label, each by the command that a user types; then a kill in the
#: middle of a run, whose write-ahead log stays.
WRITES = """
import os
from command_line import typed
os.umask({umask})
def voirdire(*words):
    done = typed(*words)
    assert done.returncode == 0, done.stdout + done.stderr
voirdire("run", "study.toml", "--out", "s", "-q", {shared})
voirdire("session", "reparse", "s")
voirdire("session", "merge", "s", "--out", "merged", {shared})
voirdire("humans", "export", "people/study.toml", "--out", "work", {shared})
from voirdire.tables.hand_labels import HandLabel, hand_labels_path, keep_hand_label
keep_hand_label(hand_labels_path("answers.csv"), HandLabel("p01", "plain", "Calm", "ada", 3.0, "ada"))
from voirdire.humans import DATABASE, PageServer
from voirdire.humans.plan import read_plan
with PageServer(read_plan(__import__("pathlib").Path("work/plan.json")), __import__("pathlib").Path("work") / DATABASE):
    pass
"""
MADE = ("s", "merged", "work", "answers.csv.voirdire")


def written(tmp_path, umask, shared):
    shutil.copytree(ROOT / "examples" / "run", tmp_path, dirs_exist_ok=True)
    write_study(tmp_path / "people", "pointwise")
    code = WRITES.format(umask=umask, shared='"--shared"' if shared else "")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
    )
    assert done.returncode == 0, done.stderr
    folders = [tmp_path / name for name in MADE]
    return [*folders, *(path for folder in folders for path in folder.rglob("*"))]


@pytest.fixture(scope="module")
def private():
    """What is written under the most open of umasks, in a folder that everybody reaches."""
    folder = Path(tempfile.mkdtemp(prefix="voirdire-test-"))
    folder.chmod(0o755)
    yield written(folder, 0, shared=False)
    shutil.rmtree(folder)


@posix
def test_nobody_else_may_read_what_is_written(private):
    assert len(private) > 20
    for path in private:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, f"{path}: {mode:o}"


@posix
def test_shared_work_is_open_as_the_umask_says_and_keys_and_answers_are_not(tmp_path):
    paths = {path.relative_to(tmp_path).as_posix(): path for path in written(tmp_path, 0o022, True)}
    modes = {name: stat.S_IMODE(path.stat().st_mode) for name, path in paths.items()}
    for name in ("s", "merged", "work", "work/sheets"):
        assert modes[name] == 0o755, name
    for name in ("s/session.sqlite", "s/ratings.parquet", "s/study.toml", "work/plan.json"):
        assert modes[name] == 0o644, name
    assert modes["work/key.json"] == 0o600
    assert modes["work/answers.sqlite"] == 0o600


@posix
def test_as_another_user_no_text_can_be_read(private):
    if os.getuid() != 0:
        pytest.skip("only root may become another user")
    files = [path for path in private if path.is_file()]
    who = {"user": 4242, "group": 4242, "extra_groups": [], "cwd": "/"}
    for path in files:
        read = subprocess.run(["cat", str(path)], capture_output=True, check=False, **who)
        assert (read.returncode, read.stdout) == (1, b""), path


@posix
def test_what_is_written_beside_a_file_is_as_private_as_it(tmp_path):
    file = tmp_path / "a"
    assert mode_like(file) == PRIVATE
    file.touch()
    file.chmod(0o640)
    assert mode_like(file) is None
    file.chmod(0o600)
    assert mode_like(file) == PRIVATE
    assert stat.S_IMODE(own_folder(tmp_path / "b" / "c").stat().st_mode) == 0o700
    (tmp_path / "b").chmod(0o755)
    assert stat.S_IMODE(own_folder(tmp_path / "b").stat().st_mode) == 0o755
