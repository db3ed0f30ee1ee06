"""Columns named by options, several files, and drafts: the command line as a new user finds it."""

from __future__ import annotations

import csv
import json
import shutil
import tomllib
from functools import partial
from pathlib import Path

import pytest
import xlsxwriter
from command_line import typed

HUMAN = [1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 2, 4]
JUDGE = [1, 2, 3, 4, 4, 4, 3, 2, 2, 5, 2, 5]


voirdire = partial(typed, COLUMNS="80")


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
    assert "reading_assumed" not in {f["kind"] for f in json.loads(done.stdout)["findings"]}
    done = voirdire("audit", *named, "--assume", "--json", cwd=tmp_path)
    (note,) = [f for f in json.loads(done.stdout)["findings"] if f["kind"] == "reading_assumed"]
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


# Files of survey and crowd tools, by the command line


TRUTH = (1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 2, 4)


def _csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def _judge(path):
    _csv(path, [("item", "judge"), *((f"Q{at}", score) for at, score in enumerate(TRUTH, 1))])


def _qualtrics(path):
    """Three respondents; a preview and an unfinished answer; two further rows of headers."""
    about = (
        "StartDate",
        "Status",
        "Progress",
        "Duration (in seconds)",
        "Finished",
        "ResponseId",
        "LocationLatitude",
    )
    asked = [f"Q{at}" for at in range(1, 13)]
    rows = [
        (*about, *asked),
        (*about, *("How warm?" for _ in asked)),
        tuple(json.dumps({"ImportId": name}) for name in (*about, *asked)),
    ]
    for at, (status, done) in enumerate(
        [("IP Address", "True")] * 3 + [("Survey Preview", "True"), ("IP Address", "False")]
    ):
        shift = [max(1, score - 1) if at == 1 else score for score in TRUTH]
        scores = shift if at < 3 else [1] * 12
        rows.append(("2024-05-01", status, 100, 300 + at, done, f"R_{at}", 52.1, *scores))
    _csv(path, rows)


def test_qualtrics_beside_a_judge_is_a_question_and_then_a_verdict(tmp_path):
    _qualtrics(tmp_path / "survey.csv")
    _judge(tmp_path / "judge.csv")
    done = voirdire("examine", "survey.csv", "judge.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "--layout 'raters-by-items'" in done.stderr
    named = ("--layout", "raters-by-items", "--resamples", "0", "--json")
    record = json.loads(voirdire("examine", "survey.csv", "judge.csv", *named, cwd=tmp_path).stdout)
    (result,) = record["results"]
    assert (result["judge"], result["n_pairs"]) == ("judge", 12)
    (left,) = [f for f in record["findings"] if f["kind"] == "rows_withdrawn"]
    assert left["message"].startswith("2 rows of the survey are previews, tests, spam or not")
    assert set(record["verdicts"][0]["reference"]) == {"R_0", "R_1", "R_2"}


def test_a_form_of_google_beside_a_judge(tmp_path):
    asked = [f"How warm? [Q{at}]" for at in range(1, 13)]
    people = [("5/1/2024", f"p{at}@example.org", *TRUTH) for at in range(3)]
    _csv(tmp_path / "form.csv", [("Timestamp", "Email Address", *asked), *people])
    _csv(
        tmp_path / "judge.csv",
        [
            ("item", "attribute", "judge"),
            *((f"Q{at}", "How warm?", score) for at, score in enumerate(TRUTH, 1)),
        ],
    )
    done = voirdire("audit", "form.csv", cwd=tmp_path)
    assert "--layout 'raters-by-items'" in done.stderr
    named = ("form.csv", "judge.csv", "--layout", "raters-by-items", "--resamples", "0", "--json")
    record = json.loads(voirdire("examine", *named, cwd=tmp_path).stdout)
    assert [(r["judge"], r["attribute"], r["n_pairs"]) for r in record["results"]] == [
        ("judge", "How warm?", 12)
    ]


HELPFUL = (
    "Not at all helpful",
    "Slightly helpful",
    "Moderately helpful",
    "Very helpful",
    "Extremely helpful",
)
AGREE = (
    "Strongly disagree",
    "Somewhat disagree",
    "Neither agree nor disagree",
    "Somewhat agree",
    "Strongly agree",
)


@pytest.mark.parametrize("words", [HELPFUL, AGREE])
def test_a_form_answered_in_words_is_a_question_and_then_numbers(words, tmp_path):
    """Qualtrics and Google Forms export the words of a scale; one question had one answer only."""
    asked = [f"How good? [Q{at}]" for at in range(1, 13)]
    people = [
        (
            "5/1/2024",
            f"p{at}@example.org",
            *(words[score - 1] for score in TRUTH),
            words[2],
            "I had no questions.",
        )
        for at in range(3)
    ]
    _csv(
        tmp_path / "form.csv",
        [
            ("Timestamp", "Email Address", *asked, "How good? [Q13]", "Remarks"),
            *people,
        ],
    )
    done = voirdire("audit", "form.csv", cwd=tmp_path)
    assert "--layout 'raters-by-items'" in done.stderr
    named = ("form.csv", "--layout", "raters-by-items")
    done = voirdire("audit", *named, cwd=tmp_path)
    option = ",".join(f"{word.lower()}={at}" for at, word in enumerate(words, 1))
    assert f"Say --words '{option}'" in done.stderr
    voirdire("import", *named, "--words", option, "--out", "r.csv", cwd=tmp_path)
    with (tmp_path / "r.csv").open() as file:
        rows = list(csv.DictReader(file))
    mine = {row["item"]: float(row["score"]) for row in rows if row["rater"] == "p0@example.org"}
    assert mine == {f"Q{at}": score for at, score in enumerate(TRUTH, 1)} | {"Q13": 3}
    assert {row["attribute"] for row in rows} == {"How good?"}


def test_words_of_degree_behind_which_much_follows_are_no_scale(tmp_path):
    """They are sentences: `very` begins both."""
    rows = [(f"Q{at}", score, f"very {at} times as good") for at, score in enumerate(TRUTH, 1)]
    _csv(tmp_path / "a.csv", [("item", "human", "judge_note"), *rows])
    done = voirdire("audit", "a.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "which number" not in done.stdout + done.stderr


def test_a_judges_verdict_and_its_reason_are_of_one_judge(tmp_path):
    rows = [
        (f"Q{at}", "PASS" if score > 3 else "FAIL", "it is plain to see", int(score > 2))
        for at, score in enumerate(TRUTH, 1)
    ]
    _csv(tmp_path / "a.csv", [("item", "judge_verdict", "judge_reason", "human_label"), *rows])
    done = voirdire("audit", "a.csv", "--json", cwd=tmp_path)
    said = " ".join(one["message"] for one in json.loads(done.stdout)["findings"])
    assert "what raters said: those in column 'judge_reason'" in said
    assert "named like a rater" not in said


@pytest.mark.parametrize(("name", "program"), [("a.sav", "SPSS"), ("a.DTA", "Stata")])
def test_files_of_programs_that_write_tables_say_what_to_do(name, program, tmp_path):
    (tmp_path / name).write_bytes(b"$FL2")
    done = voirdire("audit", name, cwd=tmp_path)
    assert done.returncode == 1
    assert f"{name}: is a file of {program}, which is not read here; save it" in done.stderr


def test_json_that_was_cut_off_says_so(tmp_path):
    whole = json.dumps([{"item": at, "human": 3, "judge": score} for at, score in enumerate(TRUTH)])
    (tmp_path / "a.json").write_text(whole[: len(whole) // 2])
    done = voirdire("audit", "a.json", cwd=tmp_path)
    assert "a.json: is not valid JSON (it ends in the middle, column" in done.stderr
    (tmp_path / "a.json").write_text(whole.replace("3", "three", 1))
    done = voirdire("audit", "a.json", cwd=tmp_path)
    assert "ends in the middle" not in done.stderr
    assert "is not valid JSON" in done.stderr


def test_assignments_of_mturk_and_trials_of_prolific(tmp_path):
    header = (
        "HITId",
        "WorkerId",
        "AssignmentStatus",
        "WorkTimeInSeconds",
        "Input.item_id",
        "Answer.warmth",
    )
    rows = [
        (f"H{i}", w, "Rejected" if (i, w) == (3, "W1") else "Approved", 20, f"Q{i}", score)
        for i, score in enumerate(TRUTH, 1)
        for w in ("W0", "W1")
    ]
    _csv(tmp_path / "mturk.csv", [header, *rows])
    _csv(
        tmp_path / "judge.csv",
        [
            ("item", "attribute", "judge"),
            *((f"Q{at}", "warmth", score) for at, score in enumerate(TRUTH, 1)),
        ],
    )
    named = ("mturk.csv", "judge.csv", "--reference", "W0", "--reference", "W1", "--resamples", "0")
    record = json.loads(voirdire("examine", *named, "--json", cwd=tmp_path).stdout)
    assert [(r["judge"], r["n_pairs"]) for r in record["results"]] == [("judge", 12)]
    assert any("1 'rejected'" in f["message"] for f in record["findings"])
    rows = [
        (f"5f{k}", "RETURNED" if k == 2 else "APPROVED", at, f"Q{at}", score, 400)
        for k in range(3)
        for at, score in enumerate(TRUTH, 1)
    ]
    _csv(
        tmp_path / "prolific.csv",
        [("participant_id", "status", "trial", "stimulus_id", "response", "rt"), *rows],
    )
    done = voirdire("audit", "prolific.csv", cwd=tmp_path)
    assert "which column holds the ids of the items" in done.stderr
    named = ("--item", "stimulus_id", "--rater", "participant_id", "--score", "response", "--json")
    found = json.loads(voirdire("audit", "prolific.csv", *named, cwd=tmp_path).stdout)["findings"]
    said = " ".join(one["message"] for one in found)
    assert "12 rows whose 'status' says that they are no rating: 12 'returned'" in said


def test_a_file_for_each_rater_with_a_column_called_as_it(tmp_path):
    _judge(tmp_path / "b.csv")
    _csv(tmp_path / "a.csv", [("item", "human"), *((f"Q{n}", s) for n, s in enumerate(TRUTH, 1))])
    done = voirdire("examine", "a.csv", "b.csv", "--resamples", "0", "--json", cwd=tmp_path)
    (result,) = json.loads(done.stdout)["results"]
    assert (result["judge"], result["attribute"], result["n_pairs"]) == ("judge", "score", 12)


def test_an_old_workbook_is_read_and_what_is_none_is_named(tmp_path):
    shutil.copy(Path(__file__).parent / "data/ratings.xls", tmp_path / "a.xls")
    done = voirdire("examine", "a.xls", "--resamples", "0", "--json", cwd=tmp_path)
    assert [r["judge"] for r in json.loads(done.stdout)["results"]] == ["gpt"]
    whole = (tmp_path / "a.xls").read_bytes()
    (tmp_path / "cut.xls").write_bytes(whole[:600])
    (tmp_path / "text.xls").write_text("item\thuman\n1\t2\n")
    for name, said in (("cut", "cannot be read as a workbook"), ("text", "by its content it is")):
        done = voirdire("audit", f"{name}.xls", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{name}.xls: {said}" in done.stderr
