"""Made files at a command line: read rightly at once, or one question whose command works as it
stands; and none read wrongly without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from reading_check_7 import at_the_shell, outcome
from reading_files_7 import sixty
from reading_files_8 import cases as thirty
from reading_files_9 import cases as ninth
from reading_files_10 import cases

from voirdire.study import ReadOptions
from voirdire.tables import read_file, read_judged

if TYPE_CHECKING:
    from pathlib import Path

    from reading_files_7 import Made

SIXTY = cases()
#: What is not read at the first command is asked about.
ASKED = {
    "percent-judge", "pipes-na", "keyed-by-rater", "de-points", "de-commas-ka",
    "fr-mean-and-spread", "fr-nr", "fr-agreement", "jsonl-a-system", "heads-ja", "heads-ar",
    "heads-ru", "heads-hi", "heads-pt", "pl-commas", "gorilla", "dotted-codes", "win-loss",
}  # fmt: skip
#: Of the sets before it what is asked about, and what was once read wrongly without a word; all of
#: them are counted by benchmarks/reading.py.
ASKED_BEFORE = {
    "shares-parquet", "camel-json", "de-dates", "de-formulas", "de-sheet-a-version", "fr-hidden",
    "ragas-expert", "trulens-sme", "severity", "graded", "reviewers-parquet", "fr-long-words",
    "de-no-answer", "pandas-index", "signs", "file-a-system", "ones-twos",
}  # fmt: skip
READ_BEFORE = {
    "es-pairs", "sets", "nested-jsonl", "derived-tsv", "arena", "survey", "long-coders", "wide-summaries",
}  # fmt: skip
#: The first answer of a question that nothing in the file answers is not its writer's: a 0 on a
#: scale from 1 to 10 may be a score or a missing one, a column that tells rows apart what was
#: judged, columns of 0 and 1 a set. A column of confidence is a question beside the labels, which
#: are as they were.
OTHER_ANSWER = {"fr-sheets-shuffled", "reasons", "ja-long", "emotions-long", "slider"}
#: The tool's own reader calls its raters otherwise than the file does, and says how.
OTHER_NAMES = {"langfuse-csv"}
EARLIER = ASKED_BEFORE | READ_BEFORE | OTHER_ANSWER
BEFORE = [made for made in (*sixty(), *thirty(), *ninth()) if made.name in EARLIER]
#: One of each kind of question, and two that are read at once, are typed as people type them.
TYPED = {"de-dates", "severity", "graded", "arena", "jsonl-a-system"}


@pytest.mark.parametrize("made", [*SIXTY, *BEFORE], ids=lambda made: f"{made.family} {made.name}")
def test_a_file_is_read_rightly_or_asked_about(made: Made, tmp_path: Path):
    found, why = outcome(made, tmp_path)
    if made.name in OTHER_NAMES:
        assert (found, why[:22]) == ("wrong", "raters: found ['annota"), why
        return
    expected = "wrong answer" if made.name in OTHER_ANSWER else "right"
    assert found == ("asked" if made.name in ASKED | ASKED_BEFORE else expected), why


def test_a_file_of_each_sort_is_here():
    assert len(SIXTY) == len({made.name for made in SIXTY}) == 60
    assert {made.name for made in (*SIXTY, *BEFORE)} >= EARLIER | ASKED | OTHER_NAMES


@pytest.mark.parametrize(
    "made", [m for m in (*SIXTY, *BEFORE) if m.name in TYPED], ids=lambda made: made.name
)
def test_the_command_of_a_question_works_as_it_stands(made: Made, tmp_path: Path):
    found, printed = at_the_shell(made, tmp_path)
    assert found == ("asked" if made.name in ASKED | ASKED_BEFORE else "right"), printed


@pytest.mark.parametrize("head", ["ticket,Build", "case,arm", "Fall,Fassung", "N°,version"])
def test_a_table_with_a_persons_column_needs_no_reference(head: str, tmp_path: Path):
    """A column of small numbers beside both is no judge, whoever is named."""
    rows = "".join(
        f"t{at},v{build},{(at + build) % 5 + 1},{(at * 3 + build) % 5 + 1},{at % 7 + 1}\n"
        for at in range(30)
        for build in (1, 2)
    )
    (tmp_path / "r.csv").write_text(f"{head},human,llm,page\n{rows}", encoding="utf-8")
    _, rated = read_file(tmp_path / "r.csv")
    assert set(rated.ratings["rater"]) == {"human", "llm"}
    assert set(rated.ratings["system"]) == {"v1", "v2"}
    assert rated.ratings["item"].n_unique() == 30


def test_declared_words_decide_who_may_judge(tmp_path: Path):
    """A judge that says two words of three was left out once their numbers were declared."""
    words = ("low", "medium", "high")
    rows = "".join(f"q{at},{words[at % 3]},{words[at % 2]}\n" for at in range(12))
    (tmp_path / "r.csv").write_text(f"item,human,gpt_judge\n{rows}q12,maybe,high\n")
    read = ReadOptions(words={"low": 1.0, "medium": 2.0, "high": 3.0, "maybe": "missing"})
    _, rated = read_file(tmp_path / "r.csv", reference=("human",), read=read)
    assert rated.ratings["rater"].value_counts(sort=True)["count"].to_list() == [13, 13]
    assert rated.ratings["score"].null_count() == 1


def test_a_judge_called_model_is_no_system_where_nobody_is_named(tmp_path: Path):
    """Of labels a column that says people's words is a rater's, whatever it is called."""
    words = ("red", "green", "blue")
    rows = "".join(f"q{at},{words[at % 3]},{words[(at + at % 4) % 3]}\n" for at in range(40))
    (tmp_path / "r.csv").write_text(f"post,coder1,model\n{rows}")
    judged = read_judged(tmp_path / "r.csv", read=ReadOptions())
    assert judged is not None
    assert set(judged[1].raters) == {"coder1", "model"}
    assert judged[1].people == ("coder1",)
