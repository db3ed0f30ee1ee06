"""The same statements in all shapes give the same reading in every parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from voirdire.parsing import (
    LabelSet,
    parse_choice,
    parse_labels,
    parse_preferences,
    parse_scores,
    parse_yes_no,
)
from voirdire.schema import Parsed, Scale

if TYPE_CHECKING:
    from collections.abc import Callable

FEELINGS = LabelSet(("Anger", "Fear", "Joy"))


def _score(text: str, finish: Any) -> tuple[object, Parsed]:
    parsed = parse_scores(text, ["Empathy"], Scale(), finish_reason=finish)
    return parsed.scores["Empathy"], parsed


def _choice(text: str, finish: Any) -> tuple[object, Parsed]:
    parsed = parse_choice(text, "ABC", finish_reason=finish)
    return parsed.extra["choice"], parsed


def _preference(text: str, finish: Any) -> tuple[object, Parsed]:
    parsed = parse_preferences(text, ["overall"], finish_reason=finish)
    return parsed.scores["overall"], parsed


def _yes(text: str, finish: Any) -> tuple[object, Parsed]:
    parsed = parse_yes_no(text, ["calm"], finish_reason=finish)
    return parsed.scores["calm"], parsed


def _label(text: str, finish: Any) -> tuple[object, Parsed]:
    parsed = parse_labels(text, FEELINGS, finish_reason=finish)
    named = [label for label, score in parsed.scores.items() if score]
    return (named[0] if len(named) == 1 else tuple(named) or None), parsed


#: Parser -> how it reads, the first value as it is written and read, and the second.
PARSERS: dict[str, tuple[Callable[[str, Any], tuple[object, Parsed]], Any, Any]] = {
    "scores": (_score, ("2", 2.0), ("4", 4.0)),
    "choice": (_choice, ("A", "A"), ("B", "B")),
    "preferences": (_preference, ("A", 1.0), ("B", -1.0)),
    "yes_no": (_yes, ("yes", 1.0), ("no", 0.0)),
    "labels": (_label, ("Anger", "Anger"), ("Fear", "Fear")),
}

#: What stands in the reply (X first, Y second), which of both counts, and how the reply ended.
STATEMENTS = [
    # One statement, plain, marked, set apart, as an object, in a table.
    ("Y", "Y", "stop"),
    ("Answer: Y", "Y", "stop"),
    ("GRADE: Y", "Y", "stop"),
    ("**Verdict:** Y", "Y", "stop"),
    ("Decision: **Y**", "Y", "stop"),
    ("Judgement: Y", "Y", "stop"),
    ("Result: Y", "Y", "stop"),
    ("Final: Y", "Y", "stop"),
    ("My final answer is: Y", "Y", "stop"),
    ("Answer:\u200b Y", "Y", "stop"),
    ("\\boxed{Y}", "Y", "stop"),
    ("The answer is $\\boxed{\\text{Y}}$.", "Y", "stop"),
    ("It is clear: [[Y]]", "Y", "stop"),
    ("<answer>Y</answer>", "Y", "stop"),
    ("[RESULT] Y", "Y", "stop"),
    ('{"answer": "Y"}', "Y", "stop"),
    ('{"final_verdict": "Y"}', "Y", "stop"),
    ('```json\n{"grade": "Y"}\n```', "Y", "stop"),
    ("<think>Answer: X</think>\nAnswer: Y", "Y", "stop"),
    ("| Answer |\n|---|\n| Y |", "Y", "stop"),
    # A draft, and what is final.
    ("[[X]] draft.\nFinal answer: Y", "Y", "stop"),
    ("\\boxed{X}\nFinal judgment: Y", "Y", "stop"),
    ("<answer>X</answer>\nFinal answer: Y", "Y", "stop"),
    ("[RESULT] X\nFinal result: Y", "Y", "stop"),
    ("[[X]]\nFinal answer: [[Y]]", "Y", "stop"),
    ('{"answer": "X"}\nFinal answer: Y', "Y", "stop"),
    ('{"draft": "X", "final": "Y"}', "Y", "stop"),
    ("Answer: X\nFinal answer: Y", "Y", "stop"),
    ("Draft answer: X\n\nGRADE: Y", "Y", "stop"),
    ("Initial verdict: X\nRevised verdict: Y", "Y", "stop"),
    ("Draft: X\nFinal: Y", "Y", "stop"),
    ("Final answer: Y\n\nThe initial answer: X", "Y", "stop"),
    ("Draft answer: X", None, "stop"),
    ("Initial answer: X", None, "stop"),
    # Taken back.
    ("Answer: X\nWait, answer: Y", "Y", "stop"),
    ("Answer: X.\nOn reflection, the answer is Y", "Y", "stop"),
    ("Answer: X\nWait, that is wrong.", None, "stop"),
    ("[[X]]\nI changed my mind.", None, "stop"),
    ('{"answer": "X"}\nScratch that.', None, "stop"),
    # Cut: what falls to the cut is missing, and nothing older comes back.
    ("Answer: X\nFinal answer: Y", None, "length"),
    ("Answer: X\nFinal answer:", None, "length"),
    ("Answer: X\nFinal ans", None, "length"),
    ("[[X]] at first, but on reflection it is", None, "length"),
    ("[[X]] at first, but on reflection it is [[Y", None, "length"),
    ("\\boxed{X}\nWait, let me reconsider", None, "length"),
    ('{"answer": "X"}\nFinal answer:', None, "length"),
    ('Draft {"answer": "X"}\nFinal {"answer": "Y', None, "length"),
    ("[[X]] at first. Verdict: [[Y]]", "Y", "length"),
    ("Draft: X\nFinal answer: Y\n", "Y", "length"),
]


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(("shape", "counts", "finish"), STATEMENTS)
def test_a_statement_reads_the_same_everywhere(
    parser: str, shape: str, counts: str | None, finish: str
) -> None:
    read, first, second = PARSERS[parser]
    text = shape.replace("X", first[0]).replace("Y", second[0])
    expected = {"X": first[1], "Y": second[1], None: None}[counts]
    found, parsed = read(text, finish)
    assert found == expected, (text, parsed)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("shape", ["[[X]] and then [[Y]]", "Answer: X\nFinal answer: Y"])
def test_statements_that_disagree_leave_a_flag(parser: str, shape: str) -> None:
    read, first, second = PARSERS[parser]
    _, parsed = read(shape.replace("X", first[0]).replace("Y", second[0]), "stop")
    assert "conflicting" in {flag.kind for flag in parsed.flags}


# A cut must not make a reading surer: where the text uncut is missing, so it is when cut.
@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("shape", [each[0] for each in STATEMENTS if each[2] == "stop"])
def test_a_cut_never_makes_a_reading_surer(parser: str, shape: str) -> None:
    read, first, second = PARSERS[parser]
    text = shape.replace("X", first[0]).replace("Y", second[0])
    whole, _ = read(text, "stop")
    cut, _ = read(text, "length")
    assert cut in (whole, None)


def test_what_is_offered_is_not_chosen() -> None:
    assert parse_choice("Answer choices: A", "ABC").extra["choice"] is None
    assert parse_choice("Answer options: A, B, C", "ABC").extra["choice"] is None


def test_labels_of_several_responses_are_the_labels_of_none() -> None:
    read, _ = _label("Response A shows Anger, Response B shows Joy", "stop")
    assert read is None
    read, _ = _label("Response A: Anger\nResponse B: Joy", "stop")
    assert read is None
