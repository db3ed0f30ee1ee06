"""What is built and installed: a wheel, also while it is zipped, holds all that is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*build, "-w", str(folder), str(ROOT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("voirdire-*.whl")
    return built


def test_the_wheel_holds_every_file_of_the_packages(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for room in (
        "core/voirdire",
        "judges/voirdire_judges",
        "retrieval/voirdire_retrieval",
        "plugins/voirdire_plugins",
    ):
        folder = ROOT / room
        there = {
            path.relative_to(folder.parent).as_posix()
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
        }
        assert there <= names, sorted(there - names)[:5]


PROGRAM = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import voirdire
assert ".whl" in voirdire.__file__, voirdire.__file__
from voirdire_judges.probes import probes
from voirdire_judges.questionnaires import load_questionnaire
from voirdire_judges.rubrics import load_rubric
from voirdire_plugins.distortions.labels import LABELS
from voirdire.kit import write_plugin
assert len(probes()) > 10 and load_rubric("mentalalign") and load_questionnaire("phq9") and LABELS
from pathlib import Path
assert write_plugin("judge", "zipped", Path("zipped"), voirdire.Plugins())
from voirdire.cli import main
sys.argv = ["voirdire", "examine", "ratings.csv", "--reference", "human", "--out", "out"]
main()
"""


def test_everything_can_be_imported_out_of_a_zip(wheel, tmp_path):
    rows = "".join(f"{item},{item % 5 + 1},{(item + item % 2) % 5 + 1}\n" for item in range(40))
    (tmp_path / "ratings.csv").write_text("item,human,robot\n" + rows, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(wheel)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "zipped" / "voirdire_zipped" / "judge.py").is_file()
