"""Columns named by options, several files, and drafts: the command line as a new user finds it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib

import pytest
import xlsxwriter

HUMAN = [1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 2, 4]
JUDGE = [1, 2, 3, 4, 4, 4, 3, 2, 2, 5, 2, 5]


def voirdire(*args, cwd):
    return subprocess.run(
        [sys.executable, "-m", "voirdire", *args],
        cwd=cwd, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def workbook(path, scores, header="score"):
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet()
    page.write_row(0, 0, ["item", header])
    for at, score in enumerate(scores, 1):
        page.write_row(at, 0, [f"p{at}", score])
    book.close()


def test_two_workbooks_are_two_raters(tmp_path):
    """A psychologist has a workbook a rater; the file's name is the rater's."""
    workbook(tmp_path / "ada.xlsx", HUMAN)
    workbook(tmp_path / "judge.xlsx", JUDGE)
    files = ("ada.xlsx", "judge.xlsx", "--reference", "ada")
    done = voirdire("examine", *files, "--resamples", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [r["judge"] for r in record["results"]] == ["judge"]
    assert record["results"][0]["n_pairs"] == 12
    assert {f["kind"] for f in record["findings"]} >= {"study_drafted"}
    done = voirdire("init", *files, cwd=tmp_path)
    study = tomllib.loads((tmp_path / "study.toml").read_text())
    assert [s["path"] for s in study["data"]["sources"]] == ["ada.xlsx", "judge.xlsx"]
    assert voirdire("examine", "study.toml", "--resamples", "0", cwd=tmp_path).returncode == 0


QUESTION = "\n".join(
    ["post,who,name,points"]
    + [f"p{at},human,warm,{h}" for at, h in enumerate(HUMAN)]
    + [f"p{at},judge,toxic,{j}" for at, j in enumerate(JUDGE)]
)


def test_columns_are_named_by_options_and_questions_end_the_command(tmp_path):
    (tmp_path / "r.csv").write_text(QUESTION)
    named = ("r.csv", "--item", "post", "--rater", "who", "--score", "points")
    done = voirdire("audit", *named, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "--attribute 'name'" in done.stderr
    assert 'attribute = "name" under [[data.sources]]' in done.stderr
    done = voirdire("audit", *named, "--attribute", "name", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "reading_assumed" not in {f["kind"] for f in json.loads(done.stdout)}
    done = voirdire("audit", *named, "--assume", "--json", cwd=tmp_path)
    (note,) = [f for f in json.loads(done.stdout) if f["kind"] == "reading_assumed"]
    assert note["severity"] == "serious"
    done = voirdire("audit", *named, "--ignore", "name", "--json", cwd=tmp_path)
    assert done.returncode == 0
    done = voirdire("audit", *named[:-1], "pionts", cwd=tmp_path)
    assert "there is no column 'pionts' (did you mean 'points'?" in done.stderr


def test_a_question_is_drafted_as_a_remark(tmp_path):
    (tmp_path / "r.csv").write_text(QUESTION)
    named = ("r.csv", "--item", "post", "--rater", "who", "--score", "points")
    done = voirdire("init", *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "study.toml").read_text()
    assert "# Not decided: r.csv: column 'name' ('warm', 'toxic') may name what was rated" in text
    assert tomllib.loads(text)["data"]["sources"][0]["attribute"] == "name"


def test_init_drafts_what_it_cannot_read(tmp_path):
    (tmp_path / "r.csv").write_text("foo,bar\na,kind\nb,curt\n")
    done = voirdire("init", "r.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "study.toml").read_text()
    assert tomllib.loads(text)["data"]["sources"] == [{"path": "r.csv"}]
    assert "# item = one of 'foo', 'bar'" in text
    assert "no column of" in text
    assert "is not complete" in done.stdout


def test_strict_audits_end_with_code_4(tmp_path):
    rows = [f"x{at},human,{h}" for at, h in enumerate(HUMAN)]
    (tmp_path / "one.csv").write_text("\n".join(["item,rater,score", *rows]))
    assert voirdire("audit", "one.csv", cwd=tmp_path).returncode == 0
    done = voirdire("audit", "one.csv", "--strict", cwd=tmp_path)
    assert done.returncode == 4
    assert "--strict: 1 blocking finding: 'human' is the only rater." in done.stderr


@pytest.mark.parametrize("command", ["examine", "audit"])
def test_columns_of_a_study_are_named_in_the_study(tmp_path, command):
    (tmp_path / "s.toml").write_text('[[data.sources]]\npath = "r.csv"\n')
    done = voirdire(command, "s.toml", "--item", "post", cwd=tmp_path)
    assert done.returncode == 1
    assert "--item names columns of a file of ratings" in done.stderr
