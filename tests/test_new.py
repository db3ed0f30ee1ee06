"""`voirdire new`: each kind installs, passes its own tests and lint, runs, and keeps its contract."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import typed, typed_elsewhere

from voirdire import InputError, plugins
from voirdire.kit import KINDS, write_plugin

ROOT = Path(__file__).parents[1]
#: Kind -> the most lines of code that an author reads and changes.
SHORT = {"judge": 15, "annotator": 12, "tool": 12}


def around(path):
    """The environment of somebody who has installed what lies at the path."""
    mine = {key: value for key, value in os.environ.items() if key != "VOIRDIRE_LOAD_PLUGINS"}
    return {**mine, "PYTHONPATH": str(path), "COLUMNS": "100"}


def voirdire(*arguments, cwd, path=""):
    return subprocess.run(
        [sys.executable, "-m", "voirdire", *arguments],
        cwd=cwd,
        env=around(path),
        capture_output=True,
        text=True,
        check=False,
    )


def of(kind):
    return f"try-{kind}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All nine, written (one by the command) and installed as distributions into one folder."""
    folder = tmp_path_factory.mktemp("new")
    for kind in KINDS:
        if kind != "judge":
            write_plugin(kind, of(kind), folder / f"voirdire-{of(kind)}", plugins())
    done = voirdire("new", "judge", of("judge"), cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "voirdire run example/study.toml --out out" in done.stdout
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*install, "--target", "site", *(f"./voirdire-{of(kind)}" for kind in KINDS)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_their_own_tests_pass(site):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:langsmith_plugin",
            *(f"voirdire-{of(kind)}/tests" for kind in KINDS),
        ],
        cwd=site,
        env=around(site / "site"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "16 passed" in done.stdout


#: Kinds whose pages print a command to try them with.
TRIED = sorted(set(KINDS) - {"classifier", "tool"})


@pytest.fixture(scope="module")
def ended(site):
    """What each said to `plugins check`, and to the command that it prints: in one process."""
    tried = {kind: KINDS[kind].tries.replace("@name@", of(kind)).split()[1:] for kind in TRIED}
    lines = {
        ("check", kind): (["plugins", "check", of(kind), "--ask", "--json"], site) for kind in KINDS
    }
    lines |= {
        ("try", kind): (words, site / f"voirdire-{of(kind)}") for kind, words in tried.items()
    }
    return dict(zip(lines, typed_elsewhere([*lines.values()], around(site / "site")), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_each_keeps_its_contract_as_it_is_installed(kind, ended):
    done = ended["check", kind]
    assert done.returncode == 0, done.stderr
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert (outcome["kind"], outcome["name"], outcome["state"]) == (kind, of(kind), "holds")


@pytest.mark.parametrize("kind", TRIED)
def test_the_command_that_it_prints_runs(kind, site, ended):
    folder, done = site / f"voirdire-{of(kind)}", ended["try", kind]
    words = done.args[1:]
    assert f"voirdire {' '.join(words)}" in (folder / "README.md").read_text("utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    if "out" in words:
        assert any((folder / "out").iterdir())


def test_they_are_typed_and_tidy(site):
    folders = [str(site / f"voirdire-{of(kind)}") for kind in KINDS]
    for tool in (
        [
            "ruff",
            "check",
            "--isolated",
            "--select",
            "E,F,B,UP",
            "--ignore",
            "B008",
            "--line-length",
            "120",
        ],
        ["ruff", "format", "--isolated", "--check", "--line-length", "120"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *tool, *folders], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
    packages = [next(Path(one).glob("voirdire_*")) for one in folders]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *packages],
        cwd=ROOT,  # where what mypy knows of voirdire itself is kept
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kind", SHORT)
def test_what_an_author_changes_is_short(kind, site):
    source = (site / f"voirdire-{of(kind)}" / f"voirdire_try_{kind}" / f"{kind}.py").read_text()
    lines = source.splitlines()
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    bodies = {row for one in functions for row in range(one.lineno, (one.end_lineno or 0) + 1)}
    assert len([row for row in bodies if lines[row - 1].strip()]) <= SHORT[kind]


def test_a_broken_judge_is_named_with_exit_code_four(site, tmp_path):
    package = tmp_path / "broken"
    assert write_plugin("judge", "broken", package, plugins())
    module = package / "voirdire_broken" / "judge.py"
    module.write_text(
        module.read_text("utf-8").replace("parse_scores(last.text", "float(last.text")
    )
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "--target",
            str(tmp_path / "site"),
            str(package),
        ],
        check=True,
    )
    done = voirdire("plugins", "check", "voirdire-broken", cwd=tmp_path, path=tmp_path / "site")
    assert done.returncode == 4
    assert "broken breaks its contract" in done.stderr
    assert "parse raises on the reply" in done.stdout
    assert "Replies are hostile text" in done.stdout


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("jury", "mine", "kind of plugin 'jury' is unknown"),
        ("judge", "My Judge", "small letters"),
        ("judge", "rubric", "is registered by plugin 'judges' already"),
        ("tool", "mentalalign", "there is a plugin 'mentalalign' already"),
    ],
)
def test_names_that_cannot_be_are_refused(kind, name, said, tmp_path):
    with pytest.raises(InputError, match=said):
        write_plugin(kind, name, tmp_path / "new", plugins())


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    done = typed("new", "judge", "mine", "--out", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert "is there already, and not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_plugin_that_there_is_not(tmp_path):
    done = typed("plugins", "check", "nobody", cwd=tmp_path)
    assert done.returncode == 1
    assert "nobody" in done.stderr
