"""The page beside other tools: every row of it is one script, and says what that script gave."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import typed

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "compared.md").read_text("utf-8")
RESULTS = (ROOT / "benchmarks" / "results" / "compared.md").read_text("utf-8")
FOLDER = ROOT / "benchmarks" / "compared"


@pytest.fixture(scope="module")
def measure():
    spec = importlib.util.spec_from_file_location("compared_measure", FOLDER / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_row_has_its_script_and_every_script_its_row(measure):
    rows = re.findall(r"^\| \w+ \| .* \| ([\d.]+) \| (\d+) \| `(\S+)` \|$", RESULTS, re.MULTILINE)
    assert [name for *_, name in rows] == list(measure.PEERS)
    scripts = {path.name for path in (FOLDER / "peers").iterdir() if path.suffix in {".sh", ".py"}}
    assert scripts == set(measure.PEERS)
    for seconds, lines, name in rows:
        assert float(seconds) > 0
        assert int(lines) == measure.lines_of(FOLDER / "peers" / name), name


def test_the_page_shows_the_results_as_they_were_measured():
    assert RESULTS in PAGE
    assert "benchmarks/compared/measure.py VENVS benchmarks/results/compared.md" in PAGE


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    subprocess.run([sys.executable, FOLDER / "make_files.py", folder], check=True)
    return folder


@pytest.mark.parametrize("name", ["labels", "scores", "pairs", "sure"])
def test_what_the_page_says_of_voirdire_is_said_today(measure, name, files):
    script = f"{name}_voirdire.sh"
    command, *words = (FOLDER / "peers" / script).read_text("utf-8").split()
    assert command == "voirdire"
    done = typed(*words, cwd=files, COLUMNS="400")
    assert done.returncode == 0, done.stderr
    word = measure.PEERS[script][1]
    said = next(line for line in done.stdout.splitlines() if word in line)
    (row,) = re.findall(rf"^\| {name} \| voirdire .*$", RESULTS, re.MULTILINE)
    assert " ".join(said.split())[:120] in row
