"""Who is a person and who a judge, and what is neither: by names, asked about where they say both."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from functools import partial

import polars as pl
import pytest
import xlsxwriter
from command_line import typed

from voirdire import examine
from voirdire.errors import QuestionError
from voirdire.examining import audit_source
from voirdire.examining.spoken import in_python
from voirdire.study import ReadOptions
from voirdire.tables import read_file

SCORES = [1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 2, 4, 3, 3, 1, 5]


def write(path, header, *columns):
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def wide(folder, *names):
    ids = [f"q{i}" for i in range(len(SCORES))]
    shifted = [[1 + (s + at * (n % 3 == 0)) % 5 for n, s in enumerate(SCORES)] for at in range(9)]
    return write(folder / "r.csv", ",".join(("item", *names)), ids, *shifted[: len(names)])


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (("doctor", "gpt-4o"), ["doctor"]),
        (("nurse", "model"), ["nurse"]),
        (("crowd", "LLM"), ["crowd"]),
        (("annotator 1", "annotator 2", "judge"), ["annotator 1", "annotator 2"]),
        (("human", "rater"), ["human"]),
        (("human", "deepseek-coder"), ["human"]),
        (("teacher_1", "teacher_2", "prometheus", "gpt-4o"), ["teacher_1", "teacher_2"]),
    ],
)
def test_names_of_people_and_of_judges(tmp_path, names, people):
    study, _ = read_file(wide(tmp_path, *names))
    assert [rater.name for rater in study.panel] == list(names)
    assert [rater.name for rater in study.panel if rater.kind == "human"] == people
    assert list(study.data.reference) == people


@pytest.mark.parametrize(
    ("names", "unsure"),
    [
        (("human", "rater_a", "gpt-4o"), "'rater_a'"),
        (("expert 1", "alice", "judge"), "'alice'"),
        (("human", "reviewer 1", "reviewer 2"), "'reviewer 1', 'reviewer 2'"),
    ],
)
def test_names_that_may_be_either_are_asked_about(tmp_path, names, unsure):
    path = wide(tmp_path, *names)
    with pytest.raises(QuestionError, match=f"and {unsure} may be either") as raised:
        examine(path, resamples=0)
    asked = raised.value
    assert asked.key == "reference"
    option = asked.option("reference", asked.choices[1])
    said = re.findall(r"--reference '([^']+)'", option)
    assert in_python(option) in str(asked)
    found = examine(path, resamples=0, reference=tuple(said))
    assert not set(found.judges) & set(said)
    assumed = examine(path, resamples=0, read=ReadOptions(assume=True))
    (note,) = [each for each in assumed.findings if each.kind == "reading_assumed"]
    assert note.severity == "serious"
    assert set(note.places) <= set(assumed.judges)


def test_a_reference_that_is_named_asks_nothing(tmp_path):
    found = examine(wide(tmp_path, "human", "rater_a", "gpt-4o"), reference=("human",), resamples=0)
    assert set(found.judges) == {"rater_a", "gpt-4o"}


@pytest.mark.parametrize("header", ["total", "mean", "Average score", "consensus", "gpt_conf"])
def test_sums_and_confidences_are_no_raters_and_stretch_no_scale(tmp_path, header):
    ids = [f"q{i}" for i in range(len(SCORES))]
    other = [2 * score for score in SCORES]
    path = write(tmp_path / "r.csv", f"item,human,gpt,{header}", ids, SCORES, SCORES[::-1], other)
    study, _ = read_file(path)
    assert [rater.name for rater in study.panel] == ["human", "gpt"]
    assert study.rubric.scale == (1, 5)
    said = {each.kind: each.places for each in audit_source(path)}
    assert (header,) in (said.get("columns_unread"), said.get("columns_of_raters"))


def test_a_sum_of_attributes_is_no_attribute(tmp_path):
    ids = [f"q{i}" for i in range(len(SCORES))]
    total = [a + b for a, b in zip(SCORES, SCORES[::-1], strict=True)]
    rows = [ids, ["ada"] * len(ids), SCORES, SCORES[::-1], total]
    study, _ = read_file(write(tmp_path / "r.csv", "item,rater,Calm,Warm,Total", *rows))
    assert [each.name for each in study.rubric.attributes] == ["Calm", "Warm"]
    assert study.rubric.scale == (1, 5)


def test_words_of_no_usual_order_are_asked_about_and_given_by_an_option(tmp_path):
    words = ["meh", "fab", "okay"]
    ids = [f"q{i}" for i in range(24)]
    human = [words[i % 3] for i in range(24)]
    path = write(tmp_path / "r.csv", "item,human,gpt", ids, human, [1 + i % 3 for i in range(24)])
    with pytest.raises(
        QuestionError, match=r"words=\{'meh': NUMBER, 'fab': NUMBER, 'okay': NUMBER\}"
    ):
        examine(path, resamples=0, read=ReadOptions(assume=True))
    given = {"words": {"meh": 1, "fab": 2, "okay": 3}}
    (result,) = examine(path, resamples=0, read=ReadOptions(**given)).results
    assert result.n_pairs == 24


WORDS = ("pass", "fail")


def at_a_terminal(*args, cwd, say):
    """What the command writes where a person sits at the terminal and types `say`; its exit code."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "voirdire", *args]
    ran = subprocess.Popen(command, cwd=cwd, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    said, typed = "", False
    until = time.monotonic() + 240
    while time.monotonic() < until:
        try:
            said += os.read(master, 65536).decode(errors="replace")
        except OSError:  # Linux: the other end is closed
            break
        if not typed and "]:" in said:
            os.write(master, f"{say}\n".encode())
            typed = True
    os.close(master)
    return ran.wait(timeout=60), said.replace("\r", "")


def test_a_terminal_is_asked_and_told_the_option_for_next_time(tmp_path):
    wide(tmp_path, "human", "rater_a", "gpt-4o")
    args = ("audit", "r.csv", "--strict")
    code, said = at_a_terminal(*args, cwd=tmp_path, say="human, rater_a")
    assert code == 0, said
    assert "may be either" in said
    assert "Next time: --reference 'human' --reference 'rater_a'" in said
    assert "reading_assumed" not in said


def test_a_word_that_nobody_knows_is_asked_about_at_a_terminal(tmp_path):
    rows = [f"q{i},{WORDS[i % 2]},{WORDS[i % 3 % 2]}" for i in range(20)]
    text = "\n".join(["item,human,judge", *rows, "q20,maybe,pass"])
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    code, said = at_a_terminal("audit", "r.csv", cwd=tmp_path, say="maybe=missing")
    assert code == 0, said
    assert "column 'human', line 22 (item 'q20') holds 'maybe' where a number is needed" in said
    assert "Next time: --words 'maybe=missing'" in said
    told = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 240}
    probed = ("probe", "r.csv", "--out", "probed", "--probes", "self_preference")
    done = subprocess.run([sys.executable, "-m", "voirdire", *probed], **told, check=False)
    instead = "voirdire import FILE --words 'maybe=missing' --out read.parquet"
    assert (done.returncode, instead in done.stderr) == (1, True)
    run = [sys.executable, "-m", "voirdire", "import", "r.csv", "--out", "r.jsonl"]
    done = subprocess.run(run, **told, check=False)
    assert (done.returncode, "--words 'maybe=missing'" in done.stderr) == (1, True)
    subprocess.run([*run, "--words", "maybe=0.5"], **told, check=True)
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [row["score"] for row in rows if row["item"] == "q20"] == [0.5, 1]


def test_assume_takes_the_first_choice_and_says_so(tmp_path):
    wide(tmp_path, "human", "rater_a", "gpt-4o")
    done = subprocess.run(
        [sys.executable, "-m", "voirdire", "audit", "r.csv", "--assume", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["findings"]
    (note,) = [each for each in found if each["kind"] == "reading_assumed"]
    assert (note["severity"], note["places"]) == ("serious", ["rater_a"])


def test_a_judge_on_all_and_labels_of_people_on_a_part(tmp_path):
    """The commonest file: releases, words, 600 judged and 200 of them labelled."""
    rows = [
        f"T-{i},r{1 + i % 2},{WORDS[i * 7 % 3 == 0]},{WORDS[(i * 7 + (i % 9 == 0)) % 3 == 0]}"
        for i in range(600)
    ]
    rows = [row if i < 200 else row.rpartition(",")[0] + "," for i, row in enumerate(rows)]
    header = "ticket_id,release,judge,label"
    (tmp_path / "all.csv").write_text("\n".join([header, *rows]))
    (tmp_path / "some.csv").write_text("\n".join([header, *rows[:200]]))
    study, _ = read_file(tmp_path / "all.csv")
    assert [(rater.name, rater.kind) for rater in study.panel] == [
        ("judge", "judge"),
        ("label", "human"),
    ]
    assert [system.name for system in study.systems] == ["r1", "r2"]
    whole, part = (examine(tmp_path / name, resamples=0) for name in ("all.csv", "some.csv"))
    said = [[(v.use, v.target, v.state, v.reason) for v in f.verdicts] for f in (whole, part)]
    # What an estimate would gain does rest on how many are judged and not labelled.
    said = [[line for line in lines if line[0] != "estimate"] for lines in said]
    assert said[0] == said[1] != []
    assert [whole.results[0].n_pairs, part.results[0].n_pairs] == [200, 200]
    (hint,) = [each for each in whole.findings if each.kind == "unlabelled"]
    assert (hint.count, "voirdire correct" in hint.consequence) == (400, True)


def divided_work(layout):
    """Each of 60 items by one of three people and by a judge."""
    scores = [1 + i * 7 % 5 for i in range(60)]
    if layout == "wide":
        cells = [["" if i % 3 != who else str(s) for who in range(3)] for i, s in enumerate(scores)]
        rows = [
            f"q{i},{','.join(c)},{1 + (s + i) % 5}"
            for i, (c, s) in enumerate(zip(cells, scores, strict=True))
        ]
        return "\n".join(["item,expert_0,expert_1,expert_2,judge", *rows])
    rows = [f"q{i},expert_{i % 3},{s}\nq{i},judge,{1 + (s + i) % 5}" for i, s in enumerate(scores)]
    return "\n".join(["item,rater,score", *rows])


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_division_of_labour_is_a_design_and_no_fault(tmp_path, layout):
    (tmp_path / "r.csv").write_text(divided_work(layout))
    found = examine(tmp_path / "r.csv", resamples=0)
    (result,) = found.results
    assert result.n_pairs == 60
    assert {f.kind for f in found.findings if f.severity != "note"} == set()
    kinds = {f.kind: f for f in found.findings}
    assert kinds["labour_divided"].count == 60
    assert not {"missing_scores", "unlabelled", "responses_unrated"} & kinds.keys()


def test_both_layouts_of_divided_labour_give_the_same(tmp_path):
    results = []
    for layout in ("wide", "long"):
        (tmp_path / "r.csv").write_text(divided_work(layout))
        results.append(examine(tmp_path / "r.csv", resamples=0))
    one, other = (found.results[0] for found in results)
    assert (one.icc_c1, one.bias, one.n_pairs) == (other.icc_c1, other.bias, other.n_pairs)


def book_of_sheets(path, *names, hidden=()):
    book = xlsxwriter.Workbook(str(path))
    for at, name in enumerate(names):
        page = book.add_worksheet(name)
        page.write_row(0, 0, ["item", "human", "judge"])
        for row, score in enumerate(SCORES, 1):
            page.write_row(row, 0, [f"{name}{row}", score, SCORES[(row + at) % len(SCORES)]])
        if name in hidden:
            page.hide()
    book.close()
    return path


def test_several_sheets_with_the_same_columns_are_asked_about(tmp_path):
    path = book_of_sheets(tmp_path / "r.xlsx", "May", "June", "old", hidden=("old",))
    with pytest.raises(
        QuestionError,
        match=r"or read=ReadOptions\(sheet='May'\) or read=ReadOptions\(sheet='June'\)",
    ):
        examine(path, resamples=0)
    for sheet in ("May", "June"):
        found = examine(path, resamples=0, read=ReadOptions(sheet=sheet))
        assert found.ratings["item"][0] == f"{sheet}1"
    assumed = examine(path, resamples=0, read=ReadOptions(assume=True))
    assert assumed.ratings["item"][0] == "May1"
    (note,) = [each for each in assumed.findings if each.kind == "reading_assumed"]
    assert (note.severity, note.places) == ("serious", ("June",))
    alone = book_of_sheets(tmp_path / "s.xlsx", "May", "old", hidden=("old",))
    assert examine(alone, resamples=0).ratings["item"][0] == "May1"


voirdire = partial(typed, COLUMNS="80")


def test_a_counter_and_unknown_ids_reach_a_verdict_in_two_commands(tmp_path):
    """`Nr.` ruined a study; `ticket_id` was unknown to examine and to init."""
    rows = [f"{i + 1},T-{i},{s},{SCORES[i - 3]}" for i, s in enumerate(SCORES)]
    (tmp_path / "t.csv").write_text("\n".join(["Nr.,ticket_id,human,judge", *rows]))
    assert voirdire("init", "t.csv", cwd=tmp_path).returncode == 0
    done = voirdire("examine", "study.toml", "--resamples", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert [(r["judge"], r["attribute"], r["n_pairs"]) for r in record["results"]] == [
        ("judge", "score", len(SCORES))
    ]
    assert record["verdicts"]
    assert 'item = "ticket_id"' in (tmp_path / "study.toml").read_text()


@pytest.mark.parametrize(
    ("cell", "end"), [("1.0000000000000002", "1"), ("1.0000001192092896", "1"), ("-1e-17", "0")]
)
@pytest.mark.parametrize("declared", [True, False])
def test_round_off_at_an_end_changes_no_number(tmp_path, cell, end, declared):
    """N10, with and without a declared scale: the same as with the end itself."""
    human = [round(0.025 * i, 3) for i in range(40)]
    found = []
    for value in (cell, end):
        judge = [str(round(0.064 + 0.024 * i, 3)) for i in range(40)]
        judge[-1 if end == "1" else 0] = value
        ids = [f"q{i}" for i in range(40)]
        path = write(tmp_path / "r.csv", "item,human,judge", ids, human, judge)
        if declared:
            path = tmp_path / "s.toml"
            path.write_text(
                '[data]\nreference = ["human"]\nsources = [{path = "r.csv"}]\n[rubric]\n'
                'scale = [0, 1]\nstep = 0\nattributes = [{name = "score"}]\n[[panel]]\n'
                'name = "human"\nkind = "human"\n[[panel]]\nname = "judge"\n'
            )
        found.append(examine(path, resamples=0))
    one, other = (each.results[0] for each in found)
    assert (one.bias, one.bias_normalised, one.icc_c1) == (
        other.bias,
        other.bias_normalised,
        other.icc_c1,
    )
    assert "out_of_scale" not in {each.kind for each in found[0].findings}


def test_facts_about_ratings_are_in_what_is_written_and_are_read_again(tmp_path):
    facts = ["origin", "label_probability", "labelled_by", "labelled_at", "cluster", "subgroup"]
    rows = [
        f"q{i},{rater},{s},random,0.5,ada,2026-01-0{1 + i % 9},c{i // 4},g{i % 2}"
        for i, s in enumerate(SCORES)
        for rater in ("human", "judge")
    ]
    (tmp_path / "r.csv").write_text("\n".join(["item,rater,score," + ",".join(facts), *rows]))
    first = examine(tmp_path / "r.csv", resamples=0)
    args = ("examine", "r.csv", "--resamples", "0", "--out", "out", "--format", "parquet")
    assert voirdire(*args, "--no-figures", cwd=tmp_path).returncode == 0
    again = examine(tmp_path / "out" / "ratings.parquet", resamples=0)
    key = ["item", "rater"]
    assert set(facts) <= set(first.ratings.columns)
    for found in (first, again):
        assert found.ratings.select(pl.col(facts).null_count()).row(0) == (0,) * len(facts)
    one, other = (f.ratings.sort(key).select(*key, *facts) for f in (first, again))
    assert one.equals(other)


def test_a_second_answer_that_no_person_rated_is_unlabelled_and_not_missing(tmp_path):
    rows = [f"q{i // 2},s{i % 2},{1 + i * 3 % 5 if i % 2 else ''},{1 + i % 5}" for i in range(120)]
    (tmp_path / "r.csv").write_text("\n".join(["item,system,human,gpt", *rows]))
    found = {(each.kind, each.severity, each.count) for each in audit_source(tmp_path / "r.csv")}
    assert ("unlabelled", "note", 60) in found
    assert "responses_unrated" not in {kind for kind, _, _ in found}
