"""Letters out of multiple-choice replies; none out of ordinary words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire import InputError
from voirdire.parsing import parse_choice
from voirdire.schema import Flag

TEXTS = {"A": "calm tone", "B": "warm words", "C": "a plan", "D": "worry"}
ECHO = "A) calm tone\nB) warm words\nC) a plan\nD) worry"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A", "A"),
        ("b", "B"),
        ("(c)", "C"),
        ("**D**", "D"),
        ("C.", "C"),
        ("C: a plan", "C"),
        ("A. calm tone", "A"),
        ("$\\boxed{C}$", "C"),
        ("\\boxed{\\text{B}}", "B"),
        ("The answer is A.", "A"),
        ("The answer is 'C'.", "C"),
        ("The correct answer is (b).", "B"),
        ("Correct: B", "B"),
        ("answer: c", "C"),
        ("Answer = B", "B"),
        ("Answer:\n\n**C**", "C"),
        ("### Answer\nD", "D"),
        ("<answer>C</answer>", "C"),
        ("My answer: “B”", "B"),
        ("Answer: I think B", "B"),
        ("the answer would be D, I believe", "D"),
        ("So the answer must be B!", "B"),
        ("Respuesta: C", "C"),
        ("Réponse : B", "B"),
        ("答案：C", "C"),
        ("I'd go with C.", "C"),
        ("I choose A because it is calm", "A"),
        ("I would not choose B. I choose D.", "D"),
        ("D is the right answer", "D"),
        ("A is the best answer, not B", "A"),
        ("Option A is wrong, option C is right", "C"),
        ("Option C is right; option A is wrong.", "C"),
        ("Answer: A? No. Answer: D", "D"),
        ("Final answer: A. A is best since it is calm.", "A"),
        (f"{ECHO}\n\nAnswer: C", "C"),
        ("A is calm, B is warm.\n\nB", "B"),
        ("B\n\nBecause warmth matters.", "B"),
        ("C – a plan", "C"),
        ("It's B.", "B"),
        ("I would say it's D", "D"),
        ("B is my answer", "B"),
        ("<b>C</b>", "C"),
        ("A or B? I'd say B", "B"),
        ("The answer could be A, but B is better. Answer: B", "B"),
        ('{"answer": "C"}', "C"),
        ('{"answer": "C) a plan", "why": "A is bad"}', "C"),
        ("<think>Answer: A</think>Answer: B", "B"),
    ],
)
def test_chosen(text: str, letter: str) -> None:
    for options in ("ABCD", TEXTS):
        parsed = parse_choice(text, options)
        assert parsed.extra["choice"] == letter
        assert parsed.scores == {each: float(each == letter) for each in "ABCD"}


@pytest.mark.parametrize(
    "text",
    [
        "A calm tone helps most people.",
        "I think a plan helps. I am sure.",
        "It's a matter of taste; a person may feel bad.",
        "As a therapist I would pick a warm tone.",
        "Both A and B are plausible.",
        "B is not correct.",
        "The answer is not B.",
        "Answer: A or B",
        "Answer: A and D",
        "Answer: E",
        "Answer:",
        "Answer: ABSOLUTELY",
        "Answer: neither",
        "Answer: B? On reflection, answer: none of these",
        "None",
        "I don't know",
        ECHO,
        '{"answer": null}',
        '{"answer": "E"}',
        '{"verdict": "fine"}',
        "<think>Answer: A",
        "",
        None,
    ],
)
def test_missing_not_wrong(text: str | None) -> None:
    for options in ("ABCD", TEXTS):
        parsed = parse_choice(text, options)
        assert parsed.extra["choice"] is None
        assert set(parsed.scores.values()) == {None}
        assert set(parsed.reasons) == set("ABCD")


@pytest.mark.parametrize(
    "text", ["a plan", "A plan.", "Answer: a plan", '{"answer": "a plan"}', "C) a plan"]
)
def test_the_text_of_an_option_chooses_it(text: str) -> None:
    assert parse_choice(text, TEXTS).extra["choice"] == "C"


# Nineteen letters, as CBT-FC of paper 002 has them: A and I are words as well.
@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("A, C", "AC"),
        ("A,C,D", "ACD"),
        ("I, K and S.", "IKS"),
        ("a, c", "AC"),
        ("A; B; C", "ABC"),
        ("(A), (C)", "AC"),
        ("**A**, **C**", "AC"),
        ("A C D", "ACD"),
        ("ACD", "ACD"),
        ("A\nC\nD", "ACD"),
        ("[A, C]", "AC"),
        ("I", "I"),
        ("The answers are B and D.", "BD"),
        ("B. I am stuck\nI. I am bad", "BI"),
        ("J) I am bad, K) I am mean", "JK"),
        ('["A", "B"]', "AB"),
        ('{"answers": ["A", "B"]}', "AB"),
        ("A or B", ""),
        ("I am stuck.", ""),
        ("A bad day can make a person feel stuck.", ""),
    ],
)
def test_several(text: str, letters: str) -> None:
    parsed = parse_choice(text, "ABCDEFGHIJKLMNOPQRS", several=True)
    assert parsed.extra["choices"] == tuple(letters)
    assert list(parsed.ranks) == list(letters)


def test_excess_is_flagged_and_kept() -> None:
    parsed = parse_choice("A, B, C, D", "ABCDEF", several=True, at_most=3)
    assert (parsed.extra["choices"], parsed.flags) == (tuple("ABCD"), (Flag("too_many", count=4),))


def test_a_letter_at_the_cut_may_begin_a_word() -> None:
    assert parse_choice("Answer: B", "ABCD", finish_reason="length").reasons["B"] == "cut"
    assert parse_choice("B", "ABCD", finish_reason="length").extra["choice"] == "B"


def test_options_must_be_given() -> None:
    with pytest.raises(InputError, match="at least one option"):
        parse_choice("A", "")


@given(st.text())
def test_never_raises(text: str) -> None:
    assert parse_choice(text, TEXTS).extra["choice"] in {None, *TEXTS}
