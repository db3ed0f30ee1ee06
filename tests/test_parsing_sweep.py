"""400 replies in sixteen languages: none is read wrongly in silence, and few are lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from voirdire.parsing.choices import parse_choice
from voirdire.parsing.labels import LabelSet, parse_labels
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no
from voirdire.schema import Scale

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "replies" / "sweep.jsonl")
    .read_text("utf-8")
    .splitlines()
]


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


def test_the_sweep_is_as_large_as_it_says() -> None:
    assert len(ROWS) == 400
    assert min(Counter(row["language"] for row in ROWS).values()) >= 15
    assert sum(row["right"] == "-" for row in ROWS) >= 0.3 * len(ROWS)


@pytest.mark.parametrize("half", ["open", "held"])
def test_none_is_wrong_and_few_are_lost(half: str) -> None:
    rows = [row for row in ROWS if row["half"] == half]
    got = [(row, READ[row["kind"]](row["text"], row)) for row in rows]
    assert [(row["text"], said) for row, said in got if said not in (row["right"], "-")] == []
    answers = [said for row, said in got if row["right"] != "-"]
    assert answers.count("-") < 0.1 * len(answers)
