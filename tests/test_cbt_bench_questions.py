"""CBT-Bench, level I: questions of any file through the whole path."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from cbt_bench_work import (
    QUICK,
    question_file,
    run_at,
    terminal,
)
from wire_server import WireServer

from voirdire import TableError
from voirdire.examining import examine
from voirdire.running import run
from voirdire.study import load_study
from voirdire.tables import QuestionColumns, read_questions
from voirdire_plugins.cbt_bench.prepare import (
    write_question_study,
)

pytestmark = pytest.mark.usefixtures("invented_key")


def test_questions_through_the_whole_path(tmp_path):
    path = question_file(tmp_path)

    def answer(seen):
        if "select all" in seen.prompt:
            assert "more than one right choice" in seen.prompt
            return "a, c"
        assert "Each question has only one right choice." in seen.prompt
        number = int(re.search(r"Question (\d+)\?", seen.prompt)[1])
        if number == 3:
            return "I would have to think about that one."
        if number == 4:
            return "a, b"
        return "abc"[number % 3] if number % 5 else "Answer: d"

    columns = {"type": "kind"}
    study = write_question_study(
        tmp_path / "study", path, ["compatible:sim"], columns=columns, more=QUICK
    )
    with WireServer(answer) as server:
        session = run_at(server, study, tmp_path / "session")
    assert examine(session).verdicts == ()  # A to D are no attributes, and the key is no rater
    found = examine("cbt_bench", data=session)
    assert "(Wilson)" in terminal(found)
    assert "Questions: accuracy" in terminal(found).partition("ICC(C,1)")[0]
    accuracy, errors = found.sections[:2]
    whole, basic, case = accuracy.table.rows
    # 41 questions: 3 gave prose and 4 two letters; of the other 39 every fifth of 40 is wrong.
    assert whole[:4] == ("sim", "all", 39, 2)
    assert whole[4] == pytest.approx(31 / 39)
    assert whole[6] == pytest.approx(31 / 41)
    assert basic[1:4] == ("basic", 19, 1)
    assert case[1:4] == ("case", 20, 1)
    assert len(errors.table.rows) == 10
    assert accuracy.figures[0].labels == ("all", "basic", "case")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "Why?", "choices": ["a"], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "b"], "answer": "C"},
            "line 2: answer 'C' is none of the options",
        ),
        (
            {"question": "Why?", "choices": "a, b", "answer": "A"},
            r"line 2: a text and 2 to 26 options are needed, got 'Why\?', \['a, b'\]",
        ),
        (
            {"question": "Why?", "choices": [["a", "b"], ["c"]], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "", "c"], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "b"], "answer": 1},
            "line 2: answer .*1.* is none of the options .* say what number the first one has",
        ),
        (
            {"question": "Which group?", "choices": ["B", "A", "AB"], "answer": "A"},
            "line 2: answer 'A' may be A or B, by the text of one option",
        ),
        (
            {"question": "", "choices": ["a", "b"], "answer": "A"},
            "line 2: a text and 2 to 26 options",
        ),
        (
            {"question": "Why?", "choices": ["a", "b"], "answer": None},
            "line 2: answer None is none",
        ),
    ],
)
def test_a_bad_question_is_named_by_its_row(tmp_path, row, message):
    path = tmp_path / "exam.jsonl"
    good = {"question": "How?", "choices": ["a", "b"], "answer": "B"}
    path.write_text(json.dumps(good) + "\n" + json.dumps(row))
    with pytest.raises(TableError, match=f"exam.jsonl, {message}"):
        read_questions(path)


def test_any_file_of_questions_maps_in(tmp_path):
    pl.DataFrame(
        {
            "nr": ["q1", "q2"],
            "stem": ["Why?", "How?"],
            "A": ["x", "u"],
            "B": ["y", "v"],
            "C": ["z", None],
            "key": ["A, c", "v"],
        }
    ).write_csv(tmp_path / "exam.csv")
    columns = QuestionColumns("stem", ["A", "B", "C"], "key", id="nr")
    first, second = read_questions(tmp_path / "exam.csv", columns)
    assert (first.id, first.choices, first.answer, first.several) == (
        "q1",
        ("x", "y", "z"),
        ("A", "C"),
        True,
    )
    assert (second.choices, second.answer, second.several) == (("u", "v"), ("B",), False)
    rows = [{"question": "Why?", "choices": {"A": "x", "B": "y"}, "answer": ["B"]}]
    (tmp_path / "exam.json").write_text(json.dumps(rows))
    assert read_questions(tmp_path / "exam.json")[0].answer == ("B",)
    rows = [
        {"question": "Why?", "choices": ["tea, hot", "rain", "song"], "answer": answer}
        for answer in (["rain"], ["song", "tea, hot"], "tea, hot", " rain ", "(b), C")
    ]
    (tmp_path / "exam.jsonl").write_text("\n".join(map(json.dumps, rows)))
    answers = [question.answer for question in read_questions(tmp_path / "exam.jsonl")]
    assert answers == [("B",), ("A", "C"), ("A",), ("B",), ("B", "C")]
    with pytest.raises(TableError, match="no column 'question'"):
        read_questions(tmp_path / "exam.csv")


@pytest.mark.parametrize(
    ("choices", "answer", "right"),
    [
        ({"text": ["Oak", "Apple"], "label": ["1", "2"]}, "2", "B"),  # as ARC
        ([{"label": "A", "text": "Oak"}, {"label": "B", "text": "Apple"}], "B", "B"),
        ({"B": "Apple", "A": "Oak", "C": None}, "B", "B"),  # as MedQA, an option less
        ({str(n): f"Tree {n}" for n in range(1, 12)}, 10, "J"),  # not 1, 10, 11, 2
        (["Oak", "Apple", "Pear"], "AC", "AC"),
        (["Oak", "Apple", "Pear"], "oak; PEAR", "AC"),
        (["Oak", "Apple", "Pear"], "b and c", "BC"),
        (["True", "False"], False, "B"),
        ([2.0, 3.0], 3.0, "B"),
    ],
)
def test_options_and_answers_of_other_files(tmp_path, choices, answer, right):
    path = tmp_path / "exam.json"
    path.write_text(json.dumps([{"question": "Which?", "choices": choices, "answer": answer}]))
    assert "".join(read_questions(path)[0].answer) == right


@pytest.mark.parametrize("use", ["choice", "cbt-qa"])
def test_an_exam_of_any_subject_is_a_study_of_any_annotator(tmp_path, monkeypatch, use):
    """The page's example, run: a general ability that this paper's first level only names."""
    text = (Path(__file__).parent.parent / "docs" / "cbt_bench.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exam = {"question": ["Which is a fruit? Select all that apply.", "Which is a tree?"],
            "A": ["oak", "oak"], "B": ["apple", "pear"], "C": ["pear", None],
            "answer": ["B, C", "A"]}  # fmt: skip
    pl.DataFrame(exam).write_csv("exam.csv")
    asked = f'["simulated:a"], use="{use}", model_options={{"answers": ["a", "b"]}}'
    exec(code.replace('["openai:gpt-4o"]', asked), {})
    written = load_study("exam/study.toml")
    asked = next(rater for rater in written.panel if rater.kind == "annotator")
    assert (asked.use, asked.options) == (use, {"letters": 3, "several": True})
    assert run("exam/study.toml", "session", quiet=True).exit_code == 0
    ratings = pl.read_parquet("session/ratings.parquet")
    said = ratings.filter(pl.col("rater") == "a")
    assert said["score"].null_count() == 0
    assert sorted(said.select("item", "attribute").rows()) == [
        (item, letter) for item in ("1", "2") for letter in "ABC"
    ]
    assert pl.read_csv("exam/key.csv")["score"].to_list() == [0, 1, 1, 1, 0, 0]


def test_answers_may_count_the_options(tmp_path):
    path = tmp_path / "exam.json"
    rows = [{"question": "Which?", "choices": ["x", "y", "1"], "answer": n} for n in range(3)]
    path.write_text(json.dumps(rows))
    found = read_questions(path, QuestionColumns(first=0))
    assert [question.answer for question in found] == [("A",), ("B",), ("C",)]
    with pytest.raises(TableError, match=r"record 1: answer '?0'? is none of the options"):
        read_questions(path, QuestionColumns(first=1))
