"""The whole run that docs/running.md shows, command by command, on examples/run."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from voirdire.cli import main
from voirdire.study import RunSpec, build_study, load_study

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")


def commands():
    """The command lines of the page's first shell block."""
    block = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [shlex.split(line) for line in block[1].splitlines()]


def test_every_command_of_the_page_does_what_it_says(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "examples" / "run", tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    monkeypatch.setenv("COLUMNS", "120")
    codes, shown = [], []
    for words in commands():
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        codes.append(ended.value.code or 0)
        shown.append(capsys.readouterr().out)
    assert codes == [0, 3, 0, 0, 0, 0, 0]
    plan, cut, status, rest, south, tables, examined = shown
    assert "In all 624 calls" in plan
    assert "Go on with: voirdire run study.toml --out a --resume" in cut
    assert "Not complete." in status
    assert "Complete. Examine it with: voirdire examine a" in rest
    assert "simulated: no model was asked" in south
    assert "ratings: 720 rows" in tables
    assert "preferences: 192 rows" in tables
    assert "Report: report/report.html" in examined
    page = Path("report/report.html").read_text(encoding="utf-8")
    assert "Simulated, no model was asked" in page
    assert load_study("study.toml") == load_study("a/study.toml").model_copy(
        update={"folder": load_study("study.toml").folder}
    )


def test_the_study_of_the_page_is_valid():
    import tomllib

    block = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert build_study(tomllib.loads(block[1])).panel[0].name == "o4-mini"


def test_the_page_names_every_key_of_run_with_its_default():
    table = PAGE[PAGE.index("| key of `[run]`") : PAGE.index("Requests with a `seed`")]
    named = dict(_defaults(table))
    fields = RunSpec.model_fields
    assert set(named) == set(fields) - {"prices", "models"}
    for name, said in named.items():
        default = fields[name].default
        if isinstance(default, tuple):
            assert said.split() == list(default)
        elif default is None:
            assert said == "none"
        else:
            assert said == (default if isinstance(default, str) else f"{default:g}")


def _defaults(table):
    for line in table.splitlines()[2:]:
        if line.startswith("|"):
            names, values = line.split("|")[1:3]
            keys, said = re.findall(r"`(\w+)`", names), [v.strip() for v in values.split(",")]
            yield from zip(keys, said * len(keys) if len(said) == 1 else said, strict=True)
