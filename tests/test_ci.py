"""The action, its summary and the hooks of `examples/ci`, as a CI server runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import typed

CI = Path(__file__).resolve().parents[1] / "examples" / "ci"
GATE = CI.parent / "gate"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    """The example of a gate with its first session and its lock; to be copied."""
    folder = tmp_path_factory.mktemp("gate") / "good"
    shutil.copytree(GATE, folder)
    for words in (
        ("run", "study.toml", "--out", "first"),
        ("gate", "freeze", "first", "--as", "judge.lock"),
    ):
        assert typed(*words, cwd=folder).returncode == 0
    return folder


@pytest.fixture
def shell(tmp_path):
    """A shell in which `voirdire` and `python` are those of this Python."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for command, program in (
        ("voirdire", f"{sys.executable} -m voirdire"),
        ("python", sys.executable),
    ):
        script = commands / command
        script.write_text(f'#!/bin/sh\nexec {program} "$@"\n', "utf-8")
        script.chmod(0o755)

    def run(*words, cwd=tmp_path, **environment):
        path = f"{commands}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            list(words),
            cwd=cwd,
            env={**os.environ, "PATH": path, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def answer(sentence="Fine.", state="ok", **more):
    keys = {"sentences": [sentence], "states": {}, "numbers": [], "next": [], "ids": [], "more": 0}
    return {"sentence": sentence, "state": state, **keys, **more}


def summed(folder, **records):
    for name, record in records.items():
        (folder / f"{name}.json").write_text(json.dumps(record))
    done = subprocess.run(
        [sys.executable, CI / "summary.py", folder], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("count", [0, 1, 3, 500])
def test_a_summary_has_forty_lines_at_most_and_says_what_it_leaves_out(tmp_path, count):
    told = [f"sentence {at}" for at in range(min(count, 6))]
    finding = {"severity": "serious", "message": "a|b\n# c <img>", "consequence": "so"}
    change = {
        "judge": "j",
        "attribute": "a",
        "use": "gate",
        "target": "these systems",
        "before": "yes",
        "after": "no",
    }
    text = summed(
        tmp_path,
        gate={"answer": answer("Gate.", "unmet", sentences=told), "findings": [finding] * count},
        examine={
            "answer": answer("Use.", next=[{"say": "", "command": "voirdire look x"}]),
            "requirements": [{"requirement": "a>1", "state": "unmet", "said": "0"}] * count,
        },
        compare={"answer": answer("Same."), "verdicts": [change] * count},
    )
    lines = text.splitlines()
    assert len(lines) <= 40
    assert [line for line in lines if line.startswith("##")] == [
        "## ✗ Held to the lock",
        "## ✓ Held to requirements",
        "## Since the base branch",
    ]
    assert ("lines more, in the JSON" in text) == (count == 500)
    if count:
        assert "a\\|b # c &lt;img&gt; so" in text
        assert "- **j, a, gate of these systems**: yes → no" in text


def test_a_command_that_died_and_a_base_without_the_source_are_said(tmp_path):
    (tmp_path / "gate.json").write_text("")
    (tmp_path / "gate.log").write_text("first\nkilled by a signal\n")
    (tmp_path / "base.note").write_text("main has no session: nothing to compare with")
    text = summed(tmp_path, examine={"answer": answer("which?", "question")})
    assert "- it died: killed by a signal" in text
    assert "## ? Held to requirements" in text
    assert "nothing to compare with" in text


def test_a_pull_request_is_held_and_compared(shell, tmp_path):
    done = shell("sh", str(CI / "run.sh"), OUT=str(tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    before, _, after = done.stdout.partition("--- the pull request")
    assert "no change shown" in before
    assert re.search(
        r"## ✗ Held to the lock\n\n- judge on score: changed \(judge\) by \+0\.9", after
    )
    assert "- not met: verdict.single=yes" in after
    assert re.search(r"- \*\*judge, score, score of these systems\*\*: yes → no", after)
    assert "exit code 4" in after
    kinder = tmp_path / "out" / "kinder"
    assert 'failures="1"' in (kinder / "gate.xml").read_text()
    assert len((kinder / "summary.md").read_text().splitlines()) <= 40
    left = shell("git", "worktree", "list", cwd=tmp_path / "out" / "repository").stdout
    assert len(left.splitlines()) == 1


def test_a_branch_that_is_not_there_fails(shell, tmp_path):
    shell("git", "init", "-q", ".")
    done = shell("sh", str(CI / "check.sh"), SOURCE="x.csv", BASE="nowhere", OUT="ci")
    assert done.returncode == 1
    assert "nowhere" in (tmp_path / "ci" / "base.log").read_text()


def test_the_action_hands_over_every_variable_of_the_script():
    action, script = (CI / name for name in ("action.yml", "check.sh"))
    used = set(re.findall(r"\$\{?([A-Z_]+)", script.read_text())) - {"PATH"}
    block = action.read_text().partition("- name: Check")[2]
    given = set(re.findall(r"^ {8}([A-Z_]+):", block, re.MULTILINE))
    assert used == given
    inputs = set(
        re.findall(r"^  ([a-z-]+):$", action.read_text().partition("outputs:")[0], re.MULTILINE)
    )
    assert set(re.findall(r"inputs\.([a-z-]+)", action.read_text())) == inputs


def hooks():
    text = (CI / "pre-commit-config.yaml").read_text()
    return re.findall(r"- id: (\S+)\n.*\n(?: +#.*\n)* +entry: (.*)\n.*\n +files: (\S+)", text)


def test_the_hooks_refuse_what_is_not_sound(shell, frozen, tmp_path):
    found = {name: (entry, files) for name, entry, files in hooks()}
    assert set(found) == {"voirdire-study", "voirdire-lock", "voirdire-ratings"}
    good = tmp_path / "good"
    shutil.copytree(frozen, good)
    sound = {
        "voirdire-study": "study.toml",
        "voirdire-lock": "judge.lock",
        "voirdire-ratings": "ratings.csv",
    }
    lock = (good / "judge.lock").read_bytes()
    broken = {
        "study.toml": (good / "study.toml").read_text().replace("rubric", "rubrik"),
        "judge.lock": lock.decode().replace("margin", "margni", 1),
        "ratings.csv": 'item,human,judge\nq1,"1,1\nq2,2,2\n',
    }
    for name, file in sound.items():
        (good / file).write_text(broken[file])
        entry, pattern = found[name]
        assert re.search(pattern, file)
        done = shell("sh", "-c", f'{entry} "$@"', "sh", file, cwd=good)
        assert done.returncode == 1, (name, done.stdout, done.stderr)


def test_pre_commits_own_program_passes_what_is_sound(shell, frozen, tmp_path):
    """As the README says it: the file in a repository, and `pre-commit run`."""
    program = shutil.which("pre-commit", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("pip install pre-commit")
    good = tmp_path / "good"
    shutil.copytree(frozen, good)
    rows = "".join(f"q{at},{at % 5 + 1},{at % 4 + 1}\n" for at in range(40))
    (good / "ratings.csv").write_text("item,human,judge\n" + rows)
    lock = (good / "judge.lock").read_bytes()
    shutil.copy(CI / "pre-commit-config.yaml", good / ".pre-commit-config.yaml")
    # A session lies in the repository as well, with its own copy of the study.
    for words in (("git", "init", "-q", "."), ("git", "add", "-A")):
        assert shell(*words, cwd=good).returncode == 0
    home = {"PRE_COMMIT_HOME": str(tmp_path / "cache")}
    done = shell(program, "run", "--all-files", cwd=good, **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "studies can be run" in done.stdout
    assert done.stdout.count("Passed") == 3
    assert (good / "judge.lock").read_bytes() == lock
    study = good / "study.toml"
    study.write_text(study.read_text().replace("rubric", "rubrik"))
    shell("git", "add", "-A", cwd=good)
    done = shell(program, "run", "--all-files", cwd=good, **home)
    assert done.returncode == 1
    assert "rubrik" in done.stdout
