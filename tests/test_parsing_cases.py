"""Every parsing case of the shared bug reports (cases/README.md gives the conventions)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from voirdire.parsing import (
    LabelSet,
    combine_orders,
    parse_choice,
    parse_labels,
    parse_preferences,
    parse_questionnaire,
    parse_scores,
    parse_yes_no,
)
from voirdire.schema import Scale

_GIVEN = os.environ.get("VOIRDIRE_SHARED")
_SHARED = Path(_GIVEN) if _GIVEN else Path(__file__).resolve().parents[2] / "shared"
_FILE = _SHARED / "cases" / "bug_cases.jsonl"
_SCORES = {"A01", "A02", "A04", "A05", "A07", "A08", "A10", "A11", "A13", "A14", "A20"}


def _variants(ids: set[str]) -> list[Any]:
    if not _FILE.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="shared cases not found"))]
    cases = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
    return [
        pytest.param(variant, id=f"{case['id']}-{n}")
        for case in cases
        if case["kind"] == "a_parsing" and case["id"] in ids
        for n, variant in enumerate(case["variants"])
    ]


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants(_SCORES))
def test_scores(variant: dict[str, Any]) -> None:
    given, expected = variant["input"], dict(variant["expected"])
    text, finish = (
        (given["text"], given["finish_reason"]) if isinstance(given, dict) else (given, "stop")
    )
    status, keys, flag = (expected.pop(key, None) for key in ("status", "keys", "flag"))
    fields = {key: expected.pop(key) for key in ("Explanation",) if key in expected}
    scale = Scale(0, 100) if "Total" in expected else Scale(1, 5)
    parsed = parse_scores(text, list(expected), scale, finish_reason=finish)
    assert parsed.scores == expected
    assert fields.items() <= parsed.extra.get("fields", {}).items()
    assert status is None or status in {parsed.status, *parsed.reasons.values()}
    assert keys is None or list(parsed.extra["keys"]) == keys
    assert flag is None or any(each.kind == flag for each in parsed.flags)


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A02"}))
def test_text_beside_the_scores_comes_back_byte_for_byte(variant: dict[str, Any]) -> None:
    parsed = parse_scores(variant["input"], ["Empathy"], Scale())
    assert parsed.extra["fields"]["Explanation"] == json.loads(variant["input"])["Explanation"]
    assert parsed.status == "ok"


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A05"}))
def test_mended_syntax_is_said(variant: dict[str, Any]) -> None:
    assert parse_scores(variant["input"], ["Empathy"], Scale()).status == "repaired"


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A16"}))
def test_yes_no(variant: dict[str, Any]) -> None:
    parsed = parse_yes_no(variant["input"], ["present"])
    expected = variant["expected"]["present"]
    assert parsed.scores["present"] == (None if expected is None else float(expected))
    assert (expected is None) == ("present" in parsed.reasons)


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A17"}))
def test_choice(variant: dict[str, Any]) -> None:
    parsed = parse_choice(variant["input"], "ABCD")
    assert parsed.extra["choice"] == variant["expected"]
    assert (variant["expected"] is None) == (set(parsed.scores.values()) == {None})


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A19"}))
def test_two_orders(variant: dict[str, Any]) -> None:
    given, expected = variant["input"], variant["expected"]
    first = parse_preferences(given["order_AB"], ["overall"]).scores["overall"]
    second = parse_preferences(given["order_BA"], ["overall"], swapped=True).scores["overall"]
    orders = combine_orders(first, second)
    if expected == "inconsistent":
        assert (orders.status, orders.winner, orders.score) == ("inconsistent", None, None)
    elif isinstance(expected, str):
        assert (orders.status, orders.winner) == ("ok", expected)
    else:
        assert orders.winner == expected["winner"]
        assert orders.status == expected.get("status", "ok")
        assert list(orders.levels) == expected.get("levels", list(orders.levels))


@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A22"}))
def test_labels(variant: dict[str, Any]) -> None:
    given = variant["input"]
    parsed = parse_labels(given["text"], LabelSet(tuple(given["labels"])))
    assert list(parsed.ranks) == variant["expected"]
    assert {label for label, score in parsed.scores.items() if score} == set(variant["expected"])


# Item ranges as the notes of the case name them: PHQ-9 (nine items, 0-3) and MADRS (0-6).
@pytest.mark.shared
@pytest.mark.parametrize("variant", _variants({"A23"}))
def test_questionnaire(variant: dict[str, Any]) -> None:
    expected = dict(variant["expected"])
    items = [Scale(0, 6)] * 10 if "MADRS" in variant.get("note", "") else [Scale(0, 3)] * 9
    parsed = parse_questionnaire(variant["input"], items)
    status = expected.pop("status", None)
    assert status is None or set(parsed.reasons.values()) == {status}
    for key in ("total", "complete"):
        if key in expected:
            assert parsed.extra[key] == expected.pop(key)
    assert list(parsed.extra["missing"]) == expected.pop("missing", list(parsed.extra["missing"]))
    assert expected.items() <= parsed.scores.items()
