"""The tutorials are run as written, each in a copy of its example; what they print must be printed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import typed
from paper_pages import typed as wrong_with

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
#: Page -> the folder of examples in which it is read.
TUTORIALS = {"examine": "examine", "correct": "correct", "run": "run", "gate": "gate", "extend": ""}
FENCE = re.compile(r"```(sh|text)\n(.*?)```", re.DOTALL)


def plain(text):
    """Words in their order: how wide a terminal is says nothing of what was printed."""
    return " ".join(re.sub(r"[^\w.%+✓✕?·-]+", " ", text).split())


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_does_and_prints_what_it_says(page, tmp_path, monkeypatch):
    folder = tmp_path / "work"
    if TUTORIALS[page]:
        shutil.copytree(ROOT / "examples" / TUTORIALS[page], folder)
    else:
        folder.mkdir()
    monkeypatch.setenv("COLUMNS", "80")
    printed = ""
    for kind, block in FENCE.findall((DOCS / "tutorials" / f"{page}.md").read_text("utf-8")):
        if kind == "sh":
            for line in block.strip().splitlines():
                command, *words = line.split()
                assert command == "voirdire"
                done = typed(*words, cwd=folder)
                assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
                printed += done.stdout
        else:
            for line in block.strip().splitlines():
                assert plain(line) in plain(printed), f"{line!r} is not in\n{printed}"


@pytest.mark.parametrize("page", sorted((DOCS / "howto").glob("*.md")), ids=lambda path: path.stem)
def test_every_command_of_a_how_to_exists(page):
    lines = re.findall(r"^voirdire .*$", page.read_text("utf-8"), re.MULTILINE)
    assert lines or page.stem in {"private-model", "first-change"}
    for line in lines:
        assert not wrong_with(line.partition(" # ")[0]), line


def test_the_pictures_are_those_that_the_script_draws(tmp_path):
    shutil.copy(DOCS / "pictures" / "draw.py", tmp_path)
    subprocess.run([sys.executable, tmp_path / "draw.py"], check=True)
    drawn = {path.name for path in tmp_path.glob("*.svg")}
    assert drawn == {path.name for path in (DOCS / "pictures").glob("*.svg")}
    shown = set(re.findall(r"pictures/(\w+\.svg)", (DOCS / "tour.md").read_text("utf-8")))
    assert shown == drawn
