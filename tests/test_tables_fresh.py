"""Files that were written before the code was looked at: what was not read rightly at first, and a
set of thirty written after those faults were mended.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import polars as pl
import pytest
from command_line import typed
from reading_check import outcome
from reading_files_5 import cases as fifth_cases
from reading_files_6 import cases as sixth_cases
from simulated_sessions import session_of

from voirdire import tables
from voirdire.errors import TableError
from voirdire.study import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

    from reading_files import Case

#: Those of the fifth set that were read wrongly, or not at all, at the first look.
WRONG_ONCE = (
    "engineer deploy", "engineer parquet", "engineer nested", "workbook rows of raters",
    "shape lists within", "shape grid bars", "shape grid doubled", "shape grid scored",
    "shape long with times", "shape a file a rater by system", "language ερώτηση",
    "language سؤال", "language प्रश्न", "preferences winner beside judge", "preferences graded",
)  # fmt: skip
FIFTH = [case for case in fifth_cases() if case.name in WRONG_ONCE]
SIXTH = sixth_cases()
ASKED = {
    "workbook rows of raters",
    "preferences graded",
    "engineer marks within",
    "engineer checkpoints",
    "workbook words",
}


@pytest.mark.parametrize("case", [*FIFTH, *SIXTH], ids=lambda case: case.name)
def test_a_fresh_file_is_read_rightly_or_asked_about(case: Case, tmp_path: Path):
    found, why = outcome(case, tmp_path)
    assert found == ("asked" if case.name in ASKED else "right"), why


def test_the_fifth_set_is_whole():
    assert len(FIFTH) == len(WRONG_ONCE)
    assert len(fifth_cases()) == 60


@pytest.mark.parametrize("name", sorted(ASKED - {"preferences graded"}))
def test_the_command_that_ends_a_question_of_a_fresh_file_works(name: str, tmp_path: Path):
    (case,) = [one for one in [*FIFTH, *SIXTH] if one.name == name]
    (path,) = case.make(tmp_path)
    asked = typed("examine", path.name, "--reference", *case.reference, cwd=tmp_path)
    assert asked.returncode == 1
    command = asked.stderr.rpartition("To take the first answers: ")[2].strip()
    done = typed(*shlex.split(command)[1:], "--resamples", "0", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {one["judge"] for one in json.loads(done.stdout)["results"]} == set(case.judges)


def _read(tmp_path: Path, value: object, reference: str = "human", **keys: object):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return tables.read_file(path, reference=[reference], read=ReadOptions(**keys))[1]


def _scores(at: int) -> tuple[int, int]:
    return at % 5 + 1, (at + at // 7) % 5 + 1


@pytest.mark.parametrize(
    "record",
    [
        lambda human, judge: {"checks": {"human": human, "llm": judge}},
        lambda human, judge: {"by": {"human": {"score": human}, "llm": {"score": judge}}},
        lambda human, judge: {
            "all": [{"by": "human", "value": human}, {"by": "llm", "value": judge}]
        },
        lambda human, judge: {
            "all": [{"rater": "llm", "grade": judge}, {"rater": "human", "grade": human}]
        },
        lambda human, judge: {"human": human, "extra": {"note": "x"}, "llm": judge},
    ],
)
def test_objects_are_opened_where_a_rater_stands_within_them(tmp_path, record):
    rows = [{"case": f"c{at}", **record(*_scores(at))} for at in range(40)]
    rated = _read(tmp_path, rows)
    wide = rated.ratings.pivot("rater", index="item", values="score")
    assert {i: (h, j) for i, h, j in wide.select("item", "human", "llm").iter_rows()} == {
        f"c{at}": _scores(at) for at in range(40)
    }
    assert [account.open for account in rated.accounts] == [(0, 0)]


def test_an_object_an_item_is_a_row_each_and_one_a_rater_is_not(tmp_path):
    by_item = {f"c{at}": dict(zip(("human", "llm"), _scores(at), strict=True)) for at in range(40)}
    assert _read(tmp_path, by_item).ratings.height == 80


@pytest.mark.parametrize("name", ["Build", "release", "model_version"])
@pytest.mark.parametrize("values", [("1.4", "1.5"), (1.4, 1.5), ("2", "3")])
def test_a_version_that_looks_like_a_number_is_a_system(tmp_path, name, values):
    scores = [_scores(at) for at in range(60)]
    frame = pl.DataFrame({
        "ticket": [f"T-{at // 2}" for at in range(60)], name: [*values] * 30,
        "human": [h for h, _ in scores], "llm": [j for _, j in scores],
    })  # fmt: skip
    frame.write_csv(tmp_path / "r.csv")
    _, rated = tables.read_file(tmp_path / "r.csv", reference=["human"])
    assert rated.ratings["item"].n_unique() == 30
    assert set(rated.ratings["system"]) == {str(value) for value in values}


def _labels_beside(folder: Path) -> None:
    words = ["refund", "repair", "other"]
    said = [words[at * 7 % 11 % 3] for at in range(120)]
    judged = [word if at % 5 else "other" for at, word in enumerate(said)]
    lines = [f"t{at},{word}" for at, word in enumerate(judged)]
    (folder / "judged.csv").write_text("\n".join(["ticket,gpt", *lines]))
    lines = [f"t{at},{word},random" for at, word in enumerate(said) if at % 2]
    (folder / "clerk.csv").write_text("\n".join(["ticket,label,origin", *lines]))
    both = [f"{line.rpartition(',')[0]},{who}" for who in ("ann", "ben") for line in lines]
    (folder / "two.csv").write_text("\n".join(["ticket,label,annotator", *both]))


@pytest.mark.parametrize(
    ("labels", "more", "people"),
    [
        ("clerk.csv", ["--key", "ticket"], {"clerk"}),
        ("clerk.csv", [], {"clerk"}),
        ("two.csv", ["--key", "ticket=ticket"], {"ann", "ben"}),
    ],
)
def test_words_of_people_in_a_file_of_their_own_are_labels(tmp_path, labels, more, people):
    _labels_beside(tmp_path)
    line = ("examine", "judged.csv", "--human", labels, *more, "--resamples", "0", "--json")
    done = typed(*line, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert {one["judge"] for one in record["verdicts"]} == {"gpt"}
    assert set(record["options"]["reference"]) == people


def test_words_of_people_correct_shares_of_labels(tmp_path):
    _labels_beside(tmp_path)
    done = typed("correct", "judged.csv", "--human", "clerk.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"refund", "repair", "other"} == {
        one["attribute"] for one in json.loads(done.stdout)["scores"]
    }


def test_labels_are_joined_to_a_session_as_to_its_ratings(tmp_path):
    made = session_of(tmp_path, "s")
    ratings = pl.read_parquet(made / "ratings.parquet")
    items = ratings["item"].unique(maintain_order=True).to_list()
    lines = [f"{item},{at % 5 + 1}" for at, item in enumerate(items)]
    (tmp_path / "ann.csv").write_text("\n".join(["item,score", *lines]))
    said = [
        typed("audit", source, "--human", "ann.csv", "--key", "item", cwd=tmp_path)
        for source in ("s", "s/ratings.parquet")
    ]
    assert said[0].returncode == said[1].returncode
    # A slow machine's lines of how far it is come as often as it is slow.
    told = [re.sub(r"^voirdire: .*, \d+ s\n", "", one.stderr, flags=re.MULTILINE) for one in said]
    assert told[0] == told[1]


def test_objects_without_a_rater_that_is_known_stay_whole(tmp_path):
    rows = [{"case": f"c{at}", "out": {"warm": at % 5 + 1}} for at in range(40)]
    with pytest.raises(TableError, match="name that one by --reference"):
        _read(tmp_path, rows)
