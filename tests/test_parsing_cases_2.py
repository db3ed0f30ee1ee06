"""Every parsing case of the second shared file of bug reports: what is right, and nothing surer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from voirdire.parsing import parse_choice, parse_preferences, parse_scores, parse_yes_no
from voirdire.schema import Scale

_GIVEN = os.environ.get("VOIRDIRE_SHARED")
_SHARED = Path(_GIVEN) if _GIVEN else Path(__file__).resolve().parents[2] / "shared"
_FILE = _SHARED / "cases" / "bug_cases_2.jsonl"
_SCALES = {
    "1..5": Scale(1, 5),
    "1..5 step 0.5": Scale(1, 5, 0.5),
    "0..1": Scale(0, 1, 0),
    "0..100": Scale(0, 100),
}
_LEVELS = {"A": 1.0, "B": -1.0, "B>>A": -2.0}


def _calls() -> list[Any]:
    if not _FILE.is_file():
        return [pytest.param(None, None, marks=pytest.mark.skip(reason="shared cases not found"))]
    found = []
    for case in map(json.loads, _FILE.read_text("utf-8").splitlines()):
        pairs = [
            *zip(case["input"], case["expected"], strict=True),
            *((each["input"], each["expected"]) for each in case["right_already"]),
        ]
        calls = [pair for pair in pairs if case["kind"] == "a_parsing" and "call" in pair[0]]
        found += [
            pytest.param(*pair, id=f"{case['id']}-{number}") for number, pair in enumerate(calls)
        ]
    return found


def _allowed(expected: object) -> set[object]:
    """``"4 or null"`` as {4, None}; of ``"C, never I"`` the first word."""
    if not isinstance(expected, str):
        return {expected}
    words = expected.split(",")[0].split(" or ")
    return {None if w == "null" else float(w) if w[0].isdigit() else w for w in words}


def _read(given: dict[str, Any]) -> object:
    finish = given.get("finish", "stop")
    if given["call"] == "parse_scores":
        scale = _SCALES[given["scale"]]
        read = parse_scores(given["text"], given["attributes"], scale, finish_reason=finish)
        return read.scores["Empathy"]
    if given["call"] == "parse_choice":
        return parse_choice(given["text"], given["options"], finish_reason=finish).extra["choice"]
    if given["call"] == "parse_preferences":
        score = parse_preferences(given["text"], ["overall"], finish_reason=finish)
        return score.scores["overall"]
    assert given["call"] == "parse_yes_no"
    return parse_yes_no(given["text"], ["present"], finish_reason=finish).scores["present"]


@pytest.mark.shared
@pytest.mark.parametrize(("given", "expected"), _calls())
def test_a_shared_case_is_read_right(given: dict[str, Any], expected: object) -> None:
    allowed = _allowed(expected)
    if given["call"] == "parse_preferences":
        allowed = {_LEVELS.get(str(each)) for each in allowed}
    assert _read(given) in allowed
