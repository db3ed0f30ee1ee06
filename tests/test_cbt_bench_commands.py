"""CBT-Bench: prompts and commands."""

from __future__ import annotations

import pytest
from cbt_bench_work import (
    belief_folder,
    exercise_file,
    question_file,
)
from command_line import invoke

from voirdire import InputError
from voirdire.schema import Item, Reply
from voirdire.study import load_study
from voirdire_plugins.cbt_bench.annotators import make_cd, make_fc, make_pc, make_qa
from voirdire_plugins.cbt_bench.labels import TASKS
from voirdire_plugins.cbt_bench.prepare import (
    write_label_study,
)

pytestmark = pytest.mark.usefixtures("invented_key")


@pytest.mark.parametrize(
    ("make", "key", "line"),
    [
        (
            make_cd,
            "cd",
            "Question: what distortions this patient has?\nChoices:\na: all-or-nothing",
        ),
        (make_pc, "pc", "Question: what core beliefs this patient has?\na: helpless\nb: unlovable"),
        (make_fc, "fc", "s: I don't deserve to live\nAnswer:"),
    ],
)
def test_prompts_of_level_two(make, key, line):
    annotator = make()
    (request,) = annotator.requests(Item("1", "I am late.", {"situation": "At home."}))
    text = request.messages[0].content
    assert line in text
    assert "Situation: At home.\nThoughts: I am late.\n" in text
    assert request.temperature == 0.0
    assert tuple(annotator.parse([Reply("a")]).scores) == TASKS[key].labels


def test_the_prompt_of_level_one():
    (request,) = make_qa().requests(Item("1", "Which?", {"choices": ["x", "y"]}))
    assert request.messages[0].content == (
        "You are taking a CBT exam and doing multiple-choice questions. Each question has only one "
        "right choice.\nWhich?\na: x\nb: y\nAnswer:\n"
        "Please only output the letter corresponding to the choice."
    )


def test_a_study_that_was_edited_is_not_written_over(tmp_path):
    belief_folder(tmp_path, 3)
    study = write_label_study(tmp_path / "pc", "pc", tmp_path, ["simulated:a"])
    assert write_label_study(tmp_path / "pc", "pc", tmp_path, ["simulated:a"]) == study
    study.write_text(study.read_text("utf-8") + "# mine\n", "utf-8")
    with pytest.raises(InputError, match=r"study.toml: another study lies there"):
        write_label_study(tmp_path / "pc", "pc", tmp_path, ["simulated:a"])
    assert study.read_text("utf-8").endswith("# mine\n")


def test_commands_write_studies(tmp_path):
    belief_folder(tmp_path, n=5)
    question_file(tmp_path, n=3)
    exercise_file(tmp_path, n=10)
    model = ["--model", "simulated:one"]
    for given in (
        ["labels", "pc", "--data", str(tmp_path), *model],
        ["questions", str(tmp_path / "exam.jsonl"), *model],
        ["exercises", str(tmp_path / "practice.csv"), *model, "--judge", "simulated:two"],
    ):
        out = tmp_path / given[0]
        result = invoke(["paper", "cbt_bench", *given, "--out", str(out), "--json"])
        assert result.exit_code == 0, result.output
        assert "voirdire run" in result.output
        assert (out / "study.toml").is_file()
    with pytest.raises(InputError, match="--model 'a:x' is given more than once"):
        write_label_study(tmp_path / "twice", "pc", tmp_path, ["a:x", "a:x"])
    other = write_label_study(tmp_path / "two", "pc", tmp_path, ["a:x", "b:x"])
    assert [rater.name for rater in load_study(other).panel] == ["Experts", "a:x", "b:x"]
    with pytest.raises(InputError, match="task 'zz' is unknown"):
        write_label_study(tmp_path / "zz", "zz", tmp_path, ["a:x"])
