"""Every parsing case of the shared bug reports (cases/README.md gives the conventions)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from voirdire.parsing import parse_scores
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
    assert flag is None or any(each.startswith(f"{flag}:") for each in parsed.flags)


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
