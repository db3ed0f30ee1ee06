"""The same statements in all shapes give the same reading in every parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from voirdire.parsing import (
    LabelSet,
    parse_choice,
    parse_labels,
    parse_preferences,
    parse_questionnaire,
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
    # Marked by a sign, a tag, a head of a table, a remark, a heading.
    ("final_answer: Y", "Y", "stop"),
    ("__Answer:__ Y", "Y", "stop"),
    ("最终答案：Y", "Y", "stop"),
    ("### Final Answer\nY", "Y", "stop"),
    ("<final_answer>Y</final_answer>", "Y", "stop"),
    ("<answer>X</answer>\n<final_answer>Y</final_answer>", "Y", "stop"),
    ("<draft>X</draft>\n<answer>Y</answer>", "Y", "stop"),
    ("[DRAFT] X\n[FINAL] Y", "Y", "stop"),
    ("| Draft | Final |\n|---|---|\n| X | Y |", "Y", "stop"),
    ("| Final answer | Initial answer |\n|---|---|\n| Y | X |", "Y", "stop"),
    ("Answer (revised): Y\nAnswer (initial): X", "Y", "stop"),
    ("Answer: X (initial)\nAnswer: Y (final)", "Y", "stop"),
    ("Tentatively: X\nFinally: Y", "Y", "stop"),
    ("Old answer: X\nNew answer: Y", "Y", "stop"),
    ("Answer: X\nEdit: Answer: Y", "Y", "stop"),
    ("Answer: X\n\nCorrection: Y", "Y", "stop"),
    ('{"answer": "X", "final_answer": "Y"}', "Y", "stop"),
    ('{"answer": "X", "corrected_answer": "Y"}', "Y", "stop"),
    ('{"initial_answer": "X", "answer": "Y"}', "Y", "stop"),
    ('Final: {"answer": "Y"}\nDraft: {"answer": "X"}', "Y", "stop"),
    # Taken back in other words, struck out, denied, supposed, offered, set aside.
    ("Answer: X\nI withdraw this answer.", None, "stop"),
    ("Answer: X\nPlease ignore my previous answer.", None, "stop"),
    ("Answer: X\nPlease disregard the above. Answer: Y", "Y", "stop"),
    ("Answer: X\nI retract that. Answer: Y", "Y", "stop"),
    ("Answer: X\nI stand corrected. Answer: Y", "Y", "stop"),
    ("Answer: X\nThinking again, answer: Y", "Y", "stop"),
    ("~~Answer: X~~\nAnswer: Y", "Y", "stop"),
    ("Answer: ~~X~~ Y", "Y", "stop"),
    ("Answer: ~~X~~", None, "stop"),
    ("Let me check whether the answer is X. It is not.\nAnswer: Y", "Y", "stop"),
    ("If the answer were X, it would differ. Answer: Y", "Y", "stop"),
    ("The answer is not X.", None, "stop"),
    ("Answer: X or Y", None, "stop"),
    ("Answer: between X and Y", None, "stop"),
    ("The final answer is Y, not X.", "Y", "stop"),
    ("Answer: Y (was X)", "Y", "stop"),
    ("Answer: Y because X would be too much", "Y", "stop"),
    # Cut behind a turn, or in another object.
    ("Answer: X\n\nActually", None, "length"),
    ("Answer: X, though I should revise it to", None, "length"),
    ("<answer>X</answer>\n<answer>", None, "length"),
    ("[RESULT] X\n[RESULT]", None, "length"),
    ('{"answer": "X"}\n{"ans', None, "length"),
    ('{"initial_answer": "X", "reason": "it', None, "length"),
    ("Draft: X\nFinal answer: Y\n", "Y", "length"),
    # Words between the noun and its colon; second thoughts in more words; a phase of the work.
    ("Answer: X\nMy final answer, after weighing everything: Y", "Y", "stop"),
    ("Answer before review: X\nAnswer after review: Y", "Y", "stop"),
    ("Answer: X\nHold on, that ignores the tone. Answer: Y", "Y", "stop"),
    ("Answer: X\nNo, the answer is Y.", "Y", "stop"),
    ("Answer: X\nReconsidering. Answer: Y", "Y", "stop"),
    ("Answer: X\nOn re-reading I change this.\nAnswer: Y", "Y", "stop"),
    ("Answer: X\nSorry, I meant Y.", "Y", "stop"),
    ("Answer: X\nApologies, that should be Y.", "Y", "stop"),
    ("Example: Answer: X\n\nAnswer: Y", "Y", "stop"),
    ('{"answer": "X" /* first guess */}\n{"final_answer": "Y"}', "Y", "stop"),
    ("Answer: X\n\nHowever, looking at the tone again, I would", None, "length"),
    ("<answer>X</answer>\n\nBut on a second look,", None, "length"),
    ("I would first say X, then", None, "length"),
    ("Answer: X\n\nUpdate: Y", "Y", "stop"),
    ("Answer: X\nEDIT: Y", "Y", "stop"),
    ("Answer: X\n\n**Final**\n\nAnswer: Y", "Y", "stop"),
    ("## Answer\nX\n\n## Final answer\nY", "Y", "stop"),
    ("verdict: Y # final", "Y", "stop"),
    ("Answer: **Y** ✅", "Y", "stop"),
    ('{"answer": "X", "revised": {"answer": "Y"}}', "Y", "stop"),
    ("[[X]] vs [[Y]]", None, "stop"),
    ("Answer: X\nThat said, considering", None, "length"),
    ("Answer: X\nOK, final call: Y", "Y", "stop"),
    ('{"answer": "Y"}\n\nExample of a bad reply: {"answer": "X"}', "Y", "stop"),
    # Another look, in any words; a value that is moved; a conclusion.
    ("Answer: X\nOne more look: Y", "Y", "stop"),
    ("Answer: X\nAnother look: Y", "Y", "stop"),
    ("Answer: X\nDouble check: Y", "Y", "stop"),
    ("Answer: X\nSecond read: Y", "Y", "stop"),
    ("Answer: X\nAfter sleeping on it: Y", "Y", "stop"),
    ("Answer: X\nReading it once more, answer: Y", "Y", "stop"),
    ("Answer: X\nLet me check that again.\nAnswer: Y", "Y", "stop"),
    ("Answer: X\nA closer look says otherwise. Answer: Y", "Y", "stop"),
    ("[[X]]\nOne last check: [[Y]]", "Y", "stop"),
    ("Answer: X\nOne more look:", None, "length"),
    ("Answer: X\nOne more look: Y", None, "length"),
    ('{"answer": "X"}\nOne more look: Y', "Y", "stop"),
    ('{"answer": "X"}\nSorry, I meant Y.', "Y", "stop"),
    ('{"answer": "X"} // changed to Y after review', "Y", "stop"),
    ('{"answer": "X", "answer_after_review": "Y"}', "Y", "stop"),
    ("Answer: X\nI change this to Y.", "Y", "stop"),
    ("Answer: X\nEverything considered: Y", "Y", "stop"),
    ("Answer: Y\nDouble-checked.", "Y", "stop"),
    ("Answer: Y\nOne more look: Y", "Y", "stop"),
    ("Answer: Y (checked twice)", "Y", "stop"),
    # What only sounds like a second thought.
    ("Answer: Y\nHold on to this score.", "Y", "stop"),
    ("Answer: Y\nI stand by this.", "Y", "stop"),
    ("Answer: Y\nNo changes needed.", "Y", "stop"),
    ("Answer: Y\nHowever, it could be warmer.", "Y", "stop"),
    ("Answer: Y\nSorry, the text is short, so confidence is low.", "Y", "stop"),
    ("Answer: Y\nUpdate the rubric next time.", "Y", "stop"),
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


#: Parsers that are asked for several things: the reading of the first, its key, and two values.
KEYED: dict[str, tuple[Callable[[str, Any], Parsed], str, str, str]] = {
    "scores": (
        lambda text, finish: parse_scores(
            text, ["Empathy", "Safety"], Scale(), finish_reason=finish
        ),
        *("Empathy", "2", "4"),
    ),
    "yes_no": (
        lambda text, finish: parse_yes_no(text, ["calm", "warm"], finish_reason=finish),
        *("calm", "yes", "no"),
    ),
    "preferences": (
        lambda text, finish: parse_preferences(text, ["warmth", "clarity"], finish_reason=finish),
        *("warmth", "A>B", "B>A"),
    ),
    "questionnaire": (
        lambda text, finish: parse_questionnaire(text, [Scale(1, 5)] * 3, finish_reason=finish),
        *("Item 1", "2", "4"),
    ),
}
VALUES = {"2": 2.0, "4": 4.0, "yes": 1.0, "no": 0.0, "A>B": 1.0, "B>A": -1.0}
#: K stands for the key; the rest as above.
KEYED_STATEMENTS = [
    *[(f"{shape}", "Y", "stop") for shape in ("K: Y", "- K: **Y**", "K = Y", '{"K": "Y"}')],
    ('```json\n{"K": "Y"}\n```', "Y", "stop"),
    ("<think>K: X</think>K: Y", "Y", "stop"),
    ("K: X (draft)\nK: Y (final)", "Y", "stop"),
    ("K (draft): X\nK (final): Y", "Y", "stop"),
    ("Draft K: X\nFinal K: Y", "Y", "stop"),
    ("K: X\nRevised K: Y", "Y", "stop"),
    ("Draft:\nK: X\n\nFinal:\nK: Y", "Y", "stop"),
    ("## Final\nK: Y\n\n## Draft\nK: X", "Y", "stop"),
    ("**Initial ratings**\nK: X\n\n**Revised ratings**\nK: Y", "Y", "stop"),
    ("K: X\nWait, K: Y", "Y", "stop"),
    ("K: X\nWait, that is wrong.\nK: Y", "Y", "stop"),
    ("K: X\nK: Y", None, "stop"),
    ("K: X\nScratch that.", None, "stop"),
    ("Draft K: X", None, "stop"),
    ("K: ~~X~~ Y", "Y", "stop"),
    ("K: Y (was X)", "Y", "stop"),
    ("K: Y, not X", "Y", "stop"),
    ('{"K": "X"}\nFinal K: Y', "Y", "stop"),
    ('{"K": "X"}\nWait, that is wrong.\n{"K": "Y"}', "Y", "stop"),
    ('Final: {"K": "Y"}\nDraft: {"K": "X"}', "Y", "stop"),
    ('{"draft": {"K": "X"}, "final": {"K": "Y"}}', "Y", "stop"),
    ('{"K": "X"}\nI take that back.', None, "stop"),
    ('{"K": "X"}\nK: Y', None, "stop"),
    ("K: X\nFinal K: Y", None, "length"),
    ("K: X\nFinal K:", None, "length"),
    ("Draft:\nK: X\n\nFinal:\n", None, "length"),
    ("K: X\nWait, let me reconsider", None, "length"),
    ('{"K": "X"}\n{"K": "Y', None, "length"),
    ('{"K": "X"}\nFinal {"K', None, "length"),
]


@pytest.mark.parametrize("parser", KEYED)
@pytest.mark.parametrize(("shape", "counts", "finish"), KEYED_STATEMENTS)
def test_a_statement_of_a_key_reads_the_same_everywhere(
    parser: str, shape: str, counts: str | None, finish: str
) -> None:
    read, key, first, second = KEYED[parser]
    text = shape.replace("K", key).replace("X", first).replace("Y", second)
    parsed = read(text, finish)
    found = next(iter(parsed.scores.values()))
    assert found == {"X": VALUES[first], "Y": VALUES[second], None: None}[counts], (text, parsed)


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


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    "shape",
    ["Answer: X.\nUpon reflection, I'd change that to Y.", "Answer: X\nerr, Y", "Answer: X\nSorry - Y",
     "Answer: X... or rather Y", "Answer: X, or more precisely Y", "Was: X\nNow: Y",
     "My colleague's verdict: X\nMy verdict: Y", "Worst answer: X\nAnswer: Y",
     "Answer: X\n\n**Final**\n\nY", '{"answer": "X", "answer": "Y"}'],
)  # fmt: skip
def test_what_was_corrected_is_the_new_value_or_missing(parser: str, shape: str) -> None:
    read, first, second = PARSERS[parser]
    found, _ = read(shape.replace("X", first[0]).replace("Y", second[0]), "stop")
    assert found in (second[1], None)


def test_a_value_that_is_set_aside_is_not_taken() -> None:
    assert parse_choice("Answer: (A) is tempting, but (B)", "ABC").extra["choice"] != "A"
    assert parse_choice("My answer was A, but it is now B", "ABC").extra["choice"] != "A"
    for text in ("Answer: Anger is too low, so Answer: Fear", "First pass: Anger\nNext: Fear"):
        assert _label(text, "stop")[0] in ("Fear", None)
    for text in ("Format: [[Anger]] or [[Fear]]", "Turn 1: Answer: Anger\nTurn 2: Answer: Fear"):
        assert _label(text, "stop")[0] is None
    assert _label("Answer: Anger\nBut another judge would answer: Fear", "stop")[0] != "Fear"


def test_what_is_offered_is_not_chosen() -> None:
    assert parse_choice("Answer choices: A", "ABC").extra["choice"] is None
    assert parse_choice("Answer options: A, B, C", "ABC").extra["choice"] is None


def test_labels_of_several_responses_are_the_labels_of_none() -> None:
    read, _ = _label("Response A shows Anger, Response B shows Joy", "stop")
    assert read is None
    read, _ = _label("Response A: Anger\nResponse B: Joy", "stop")
    assert read is None
