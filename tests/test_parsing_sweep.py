"""Three sweeps of replies in sixteen languages: none is read wrongly in silence, few are lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from voirdire.parsing import LabelSet, parse_labels
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no
from voirdire.schema import Scale


def _rows(name: str) -> list[dict[str, Any]]:
    path = Path(__file__).parent / "data" / "replies" / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


ROWS, SECOND, THIRD = map(_rows, ("sweep.jsonl", "sweep_2.jsonl", "sweep_3.jsonl"))


def _score(text: str, row: dict[str, Any]) -> str:
    score = parse_scores(text, [row["key"]], Scale()).scores[row["key"]]
    return "-" if score is None else f"{score:g}"


def _labels(text: str, row: dict[str, Any]) -> str:
    scores = parse_labels(text, LabelSet(tuple(row["labels"]))).scores
    if all(score is None for score in scores.values()):
        return "-"
    if None in scores.values():
        return f"in part: {scores}"
    return "+".join(label for label, score in scores.items() if score) or "none"


def _preference(text: str, row: dict[str, Any]) -> str:
    del row
    level = parse_preferences(text, ["overall"]).scores["overall"]
    return "-" if level is None else "A" if level > 0 else "B" if level < 0 else "="


def _yes(text: str, row: dict[str, Any]) -> str:
    del row
    return {1.0: "y", 0.0: "n"}.get(parse_yes_no(text, ["present"]).scores["present"], "-")


def _choice(text: str, row: dict[str, Any]) -> str:
    del row
    return parse_choice(text, "ABCD").extra["choice"] or "-"


READ = {"S": _score, "L": _labels, "P": _preference, "Y": _yes, "C": _choice}


@pytest.mark.parametrize("rows", [ROWS, THIRD], ids=["first", "third"])
def test_the_sweep_is_as_large_as_it_says(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 400
    assert min(Counter(row["language"] for row in rows).values()) >= 15
    assert sum(row["right"] == "-" for row in rows) >= 0.3 * len(rows)


def test_the_second_sweep_is_as_large_as_it_says() -> None:
    assert len(SECOND) == 239
    assert sum(row["right"] == "-" for row in SECOND) >= 0.3 * len(SECOND)


@pytest.mark.parametrize("half", ["open", "held"])
@pytest.mark.parametrize("sweep", [ROWS, SECOND, THIRD], ids=["first", "second", "third"])
def test_none_is_wrong_and_few_are_lost(sweep: list[dict[str, Any]], half: str) -> None:
    rows = [row for row in sweep if row["half"] == half]
    got = [(row, READ[row["kind"]](row["text"], row)) for row in rows]
    assert [(row["text"], said) for row, said in got if said not in (row["right"], "-")] == []
    # What replaces its value in its own words may be missing.
    answers = [said for row, said in got if row["right"] != "-" and not row.get("revises")]
    assert answers.count("-") < 0.1 * len(answers)


@pytest.mark.parametrize("sweep", [ROWS, SECOND, THIRD], ids=["first", "second", "third"])
def test_no_sentence_of_another_language_is_an_entry_outside_the_set(
    sweep: list[dict[str, Any]],
) -> None:
    for row in (row for row in sweep if row["kind"] == "L"):
        labels = LabelSet((*row["labels"], "Other"), other="Other")
        scores = parse_labels(row["text"], labels).scores
        assert scores["Other"] != 1.0, row["text"]
        if row["right"] == "-":
            assert set(scores.values()) == {None}, row["text"]
