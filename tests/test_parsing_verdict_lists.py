"""Lists of verdicts on labels, and objects that contradict each other: what is not known is missing.

Inputs of public bug reports (`../shared/cases/bug_cases_3.jsonl`) with their neighbours.
"""

from __future__ import annotations

from typing import Any

import pytest

from voirdire.parsing import LabelSet, parse_labels
from voirdire.parsing.choices import parse_choice
from voirdire.parsing.preferences import parse_preferences
from voirdire.parsing.questionnaires import parse_questionnaire
from voirdire.parsing.scores import parse_scores
from voirdire.parsing.yesno import parse_yes_no
from voirdire.schema import Flag, Parsed, Scale

FEELINGS = LabelSet(("Anger", "Fear", "Joy"))
YES, NO, NOT_KNOWN = 1.0, 0.0, None


def _scores(text: str) -> tuple[float | None, ...]:
    return tuple(parse_labels(text, FEELINGS).scores.values())


@pytest.mark.parametrize(
    ("text", "anger", "fear", "joy"),
    [
        ("Anger: yes\nFear: perhaps\nJoy: no", YES, NOT_KNOWN, NO),
        ("Anger: zzz\nFear: qqq\nJoy: qqq", NOT_KNOWN, NOT_KNOWN, NOT_KNOWN),
        ("Anger: yes\nFear: no\nJoy: hard to say", YES, NO, NOT_KNOWN),
        ("Anger: no\nFear: no\nJoy: unclear", NO, NO, NOT_KNOWN),
        ("| Label | Present |\n|---|---|\n| Anger | 1 |\n| Fear | 0 |\n| Joy | 0 |", YES, NO, NO),
        (
            "| Label | Present |\n|---|---|\n| Anger | ✅ |\n| Fear | ❌ |\n| Joy | ❌ |",
            YES,
            NO,
            NO,
        ),
        ("| Anger | Fear | Joy |\n|---|---|---|\n| 0 | 1 | 0 |", NO, YES, NO),
        # A table without a head, and what has no sign between label and verdict.
        ("| Anger | 1 |\n| Fear | 0 |\n| Joy | 0 |", YES, NO, NO),
        ("| Anger | 1 |\n| Fear | 0 |", YES, NO, NO),
        ("| Anger | maybe |\n| Fear | 0 |\n| Joy | 1 |", NOT_KNOWN, NO, YES),
        ("| Anger | 0.7 |\n| Fear | 0.1 |", NOT_KNOWN, NOT_KNOWN, NOT_KNOWN),
        ("Anger 1\nFear 0\nJoy 0", YES, NO, NO),
        ("- Anger 1\n- Fear 0\n- Joy 0", YES, NO, NO),
        ("1. Anger (1)\n2. Fear (0)\n3. Joy (0)", YES, NO, NO),
        ("**Anger** 1\n**Fear** 0\n**Joy** 1", YES, NO, YES),
        (
            "| Label | Present |\n|---|---|\n| Anger | 0.9 |\n| Fear | 0.1 |\n| Joy | 0.1 |",
            NOT_KNOWN,
            NOT_KNOWN,
            NOT_KNOWN,
        ),
        ("<Anger>1</Anger><Fear>0</Fear><Joy>0</Joy>", YES, NO, NO),
        ("<Anger>yes</Anger><Fear>no</Fear><Joy>no</Joy>", YES, NO, NO),
        ("Anger (1), Fear (0), Joy (0)", YES, NO, NO),
        ('{"Anger": "yes", "Fear": "perhaps", "Joy": "no"}', YES, NOT_KNOWN, NO),
        (
            '[{"label":"Anger","score":0.9},{"label":"Fear","score":0.1}]',
            NOT_KNOWN,
            NOT_KNOWN,
            NOT_KNOWN,
        ),
        ('[{"label":"Anger","value":"yes"},{"label":"Fear","value":"no"}]', YES, NO, NO),
        # One label with two verdicts, and one that a later line settles.
        ("Anger: yes\nFear: no\nAnger: no\nJoy: no", NOT_KNOWN, NO, NO),
        ("Anger: yes\nFear: no\nJoy: yes\nFinal label: Joy", NO, NO, YES),
        # A text behind a label explains it, and names it as before.
        ("Anger: he shouts at the whole room\nFear: no\nJoy: no", YES, NO, NO),
        ("Anger (he shouts), Fear (he hides)", YES, YES, NO),
    ],
)
def test_an_unknown_verdict_leaves_its_label_missing(
    text: str, anger: float | None, fear: float | None, joy: float | None
) -> None:
    assert _scores(text) == (anger, fear, joy)


#: Brackets behind a label that hold a word of a verdict, and what they say of *Anger*.
BRACKETS = [
    ("Secondary: Anger (he may hide)", 1.0),
    ("Secondary: Anger (he is absent)", 1.0),
    ("Secondary: **Anger** (she would not say so)", 1.0),
    ("Anger (he says no)", 1.0),
    ("Secondary: Anger (unclear)", None),
    ("Secondary: Anger (possibly)", None),
    ("Secondary: Anger (not stated)", None),
    ("Secondary: Anger (absent father)", None),
    ("Secondary: Anger (if any)", None),
    ("Secondary: Anger (no)", 0.0),
]


@pytest.mark.parametrize("head", ["", "Primary: Fear\n"])
@pytest.mark.parametrize(("text", "score"), BRACKETS)
def test_brackets_behind_a_label_never_deny_it_in_silence(
    head: str, text: str, score: float | None
) -> None:
    scores = parse_labels(head + text, LabelSet(("Anger", "Fear", "Joy"))).scores
    if score == 0.0 and not head:
        score = None
    assert scores["Anger"] == score
    assert scores["Fear"] == (1.0 if head else None if score is None else 0.0)


def test_in_a_list_of_verdicts_an_explained_label_is_there() -> None:
    told = parse_labels("Fear (no), Anger (he may hide)", LabelSet(("Anger", "Fear", "Joy")))
    assert told.scores == {"Anger": 1.0, "Fear": 0.0, "Joy": 0.0}


def test_a_label_without_a_known_verdict_says_why() -> None:
    parsed = parse_labels("Anger: yes\nFear: perhaps\nJoy: no", FEELINGS)
    assert (parsed.status, parsed.reasons) == ("unparsable", {"Fear": "not_yes_no"})
    assert parsed.statuses == {"Anger": "ok", "Fear": "unparsable", "Joy": "ok"}


#: Two values of one thing in each parser: what reads them, and two objects that say otherwise.
_READ: dict[str, Any] = {
    "scores": lambda text: parse_scores(text, ["Empathy"], Scale()),
    "yes_no": lambda text: parse_yes_no(text, ["Empathy"]),
    "preferences": lambda text: parse_preferences(text, ["Empathy"]),
    "choice": lambda text: parse_choice(text, "ABCD"),
    "labels": lambda text: parse_labels(text, FEELINGS),
    "questionnaire": lambda text: parse_questionnaire(text, [Scale(0, 3)]),
}
_OBJECTS = {
    "scores": ('{"Empathy": 4}', '{"Empathy": 1}'),
    "yes_no": ('{"Empathy": "yes"}', '{"Empathy": "no"}'),
    "preferences": ('{"Empathy": "A>B"}', '{"Empathy": "B>A"}'),
    "choice": ('{"answer": "A"}', '{"answer": "B"}'),
    "labels": ('{"label": "Anger"}', '{"label": "Fear"}'),
    "questionnaire": ('{"1": 3}', '{"1": 0}'),
}


def _values(parsed: Parsed) -> set[float | None]:
    return set(parsed.scores.values())


@pytest.mark.parametrize("parser", _OBJECTS)
@pytest.mark.parametrize("between", ["", "\n", "\n\nAnd the second text:\n", " "])
def test_two_objects_that_differ_are_no_answer(parser: str, between: str) -> None:
    one, other = _OBJECTS[parser]
    parsed = _READ[parser](f"{one}{between}{other}")
    assert _values(parsed) == {None}
    assert {*parsed.reasons.values()} == {"ambiguous"}
    assert "conflicting" in {flag.kind for flag in parsed.flags}


@pytest.mark.parametrize("parser", _OBJECTS)
@pytest.mark.parametrize("between", ["\nFinal: ", "\nWait, that is wrong: ", "\nRevised answer:\n"])
def test_of_two_objects_the_final_one_answers(parser: str, between: str) -> None:
    one, other = _OBJECTS[parser]
    read = _READ[parser]
    assert read(f"{one}{between}{other}").scores == read(other).scores


@pytest.mark.parametrize("parser", _OBJECTS)
def test_an_object_twice_is_said_once(parser: str) -> None:
    one, _ = _OBJECTS[parser]
    read = _READ[parser]
    assert read(f"{one}\n{one}").scores == read(one).scores
    assert Flag("conflicting") not in read(f"{one}\n{one}").flags


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Empathy: 2\nThat undersells it. 4 is fairer.", None),
        ("Empathy: 2\nNope, this deserves a 4.", None),
        ("Empathy: 2\n\n4", None),
        ("Empathy: 2\nIt is fair to keep the 2.", 2.0),
        ("Empathy: 2\nThe reply has 4 parts.", 2.0),
        ("Empathy\t2\nSafety\t4", 2.0),
        ("Empathy: 2\nConfidence: 4", 2.0),
    ],
)
def test_another_number_in_a_short_last_line_takes_back(text: str, score: float | None) -> None:
    """By what it does, in whatever words."""
    assert parse_scores(text, ["Empathy"], Scale()).scores == {"Empathy": score}
