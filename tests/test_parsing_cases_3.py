"""Replies of the third round of public bug reports (`../shared/cases/bug_cases_3.jsonl`), and what
they have in common: values that nothing closes, channels of gpt-oss without their tokens.
"""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import pytest

from voirdire.parsing import LabelSet, parse_labels
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.questionnaires import parse_questionnaire
from voirdire.parsing.scores import parse_scores
from voirdire.schema import Scale

CASES = Path(os.environ.get("VOIRDIRE_SHARED", "../shared")) / "cases" / "bug_cases_3.jsonl"
FEELINGS = LabelSet(("Anger", "Fear", "Joy"))
#: What a case's right behaviour says, where it is no value: a sentence's winner.
WINNERS = {
    "Antwort B ist besser.": -1.0, "La réponse A est meilleure.": 1.0,
    "La respuesta B es mejor.": -1.0, "助手A的回答更好。": 1.0, "回答Bの方が優れています。": -1.0,
    "Ответ A лучше.": 1.0, "الإجابة B أفضل.": -1.0, "답변 A가 더 좋습니다.": 1.0,
    "Response 1 is better.": 1.0, "The latter is better.": -1.0,
}  # fmt: skip


def _labels(text: str) -> Any:
    scores = parse_labels(text, FEELINGS).scores
    named = [name for name, score in scores.items() if score]
    return named or None


def _score(text: str, high: float = 5) -> float | None:
    return parse_scores(text, ["Empathy"], Scale(1, high)).scores["Empathy"]


@pytest.mark.shared
@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
def test_no_reply_of_the_cases_is_read_wrongly() -> None:
    rows = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    parsed = [row for row in rows if row["command"].startswith("parse_")]
    assert len(parsed) >= 55
    for row in parsed:
        text, right, command = row["input"], row["right"], row["command"]
        if "parse_labels" in command:
            wanted = ast.literal_eval(right.partition("]")[0] + "]") if "[" in right else None
            assert _labels(text) in (wanted, None if "missing" in right else wanted), row["id"]
        elif "parse_scores" in command:
            value = _score(text, 10 if "1..10" in command else 5)
            number = float(right.split()[0]) if right[:1].isdigit() else None
            assert value in (number, None if "missing" in right else number), row["id"]
        elif "parse_preferences" in command:
            level = parse_preferences(text, ["overall"]).scores["overall"]
            assert level == WINNERS.get(text, -1.0), row["id"]
        else:
            assert parse_choice(text, "ABCD").extra["choice"] in ("B", None), row["id"]


@pytest.mark.parametrize(
    "text",
    [
        '{"Empathy": %s',
        '{"scores": {"Empathy": %s',
        "[[%s",
        r"\boxed{%s",
        "<score>%s",
        "| Empathy | %s",
        '{"Empathy": {"score": %s',
        "Empathy: (%s",
    ],
)
@pytest.mark.parametrize(
    ("digits", "high", "score"),
    [
        ("1", 10, None),
        ("8", 100, None),
        ("4", 5, 4.0),
        ("7", 10, 7.0),
        ("10", 10, 10.0),
        ("1", 5, 1.0),
        ("0", 10, None),
    ],
)
def test_a_value_that_nothing_closes_may_go_on(
    text: str, digits: str, high: float, score: float | None
) -> None:
    """Some servers say *stop* of every reply, so that the text alone tells."""
    assert _score(text % digits, high) == score
    closed = {"{": "}", "[[": "]]", "\\": "}", "<": "</score>", "|": " |", "E": ")"}
    whole = text % digits
    ends = closed["[[" if text.startswith("[[") else text[0]]
    assert _score(whole + ends * whole.count("{") if ends == "}" else whole + ends, high) == (
        score if digits in ("4", "7", "10", "0") else float(digits)
    )


def test_an_item_that_nothing_closes_may_go_on() -> None:
    items = [Scale(0, 3), Scale(0, 27)]
    assert parse_questionnaire('{"1": 1, "2": 2', items).scores == {"1": 1.0, "2": None}
    assert parse_questionnaire('{"2": 1, "1": 2', items).scores == {"1": 2.0, "2": 1.0}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("analysisThe reply is warm. Maybe 2.assistantfinal4", 4.0),
        ("analysis\nScore: 2\nassistantfinal\n4", 4.0),
        ("analysisScore: 2. Let me check the rubric again", None),
        ("analysis\nEmpathy: 2", None),
        ('analysisMaybe 2.assistantcommentary to=tool{"a": 1}assistantfinal{"Empathy": 3}', 3.0),
        ("analysisScore: 2assistantfinalassistantfinalScore: 5", 5.0),
        ("analysis of the reply: it is warm.\nEmpathy: 4", 4.0),
        ("Analysis: it is warm.\nEmpathy: 4", 4.0),
    ],
)
def test_channels_without_their_tokens(text: str, score: float | None) -> None:
    """What gpt-oss says where a server takes the tokens of its channels out."""
    assert _score(text) == score
