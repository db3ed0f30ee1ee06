"""Replies after public reports on evaluation harnesses: letters and labels. All texts invented."""

from __future__ import annotations

import time

import pytest
from label_sets import KINDS
from machine import second

from voirdire.parsing import LabelSet, parse_choice, parse_labels

TEXTS = {"A": "calm tone", "B": "warm words", "C": "a plan", "D": "none of the above"}
STATES = LabelSet(("depression", "major depression", "anxiety", "control", "none"))
MOODS = LabelSet(("Depressed", "Not Depressed"))
TONES = LabelSet(("Positive", "Negative", "Neutral"))
FEELINGS = LabelSet(("Anger", "Fear", "Sadness", "Joy", "Love"))
RELEVANCE = LabelSet(("relevant", "irrelevant", "partially relevant"))
TRUTH = LabelSet(("factual", "hallucinated"))


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A, not B", "A"),
        ("B rather than A", "B"),
        ("\\boxed{(C)}", "C"),
        ("\\fbox{B}", "B"),
        ("ANSWER: $A$", "A"),
        ("Answer seems to be A.", "A"),
        ("La respuesta correcta es la C.", "C"),
        ("答案是 B", "B"),
        ("选择B", "B"),
        ("정답: C", "C"),
        ("정답은 C입니다", "C"),
        ("答えはCです", "C"),
        ("答え：C", "C"),
        ("उत्तर: B", "B"),
        ("Answer: Ｂ", "B"),
        ("B, since a calm tone helps", "B"),
        ("The best response is option A, a calm tone.", "A"),
        ("Hence C", "C"),
        ('{"answer": "B because it is warm"}', "B"),
        ('{"answer": {"letter": "B"}}', "B"),
        ('{"answer": {"option": "B", "text": "warm words"}}', "B"),
        ('{"correct_answer": "B"}', "B"),
        ('{"correct_option": "B"}', "B"),
        ('{"selected_option": "B"}', "B"),
        ('{"result": "B"}', "B"),
        ("B<|im_end|>", "B"),
        ("B<|eot_id|>", "B"),
        ("\u200eB", "B"),
        ("__B__", "B"),
        ("- B", "B"),
        ("Selected: B", "B"),
        ("<final_answer>B</final_answer>", "B"),
        ("Answer: B\n\nAnswer: E", None),
        ("A. B. C. D.", None),
        ("I do not believe the answer is A.", None),
        ("It is not the case that A is correct.", None),
        ("Neither A nor B is correct.", None),
        ("Speaker A is right.", None),
        ("Answer => C", "C"),
        ("✅ C", "C"),
        ("✅ **C) a plan**", "C"),
        ("Definitely C", "C"),
        ("My pick is C.", "C"),
        ("I vote C.", "C"),
        ("C would be the best choice.", "C"),
        ("Option A is cold; option B is vague; option D is rude. So option C.", "C"),
        ("[Answer] C", "C"),
        ("Answer: C. Wait, no: D.", None),
        ("Answer: C... no, D", None),
        (
            "Option A is wrong because it is cold. Option B ignores the question. The remaining option, C, fits.",
            None,
        ),
        ("Best: B. Worst: A.", "B"),
        ("我选择C。", "C"),
        ("The answer is B?", None),
        ("The answer is (B)? No, (C).", None),
        ('{"answer": "A calm tone is best, so A"}', "A"),
        ("The answer is B or, better, C.", None),
        ("My answer: definitely not A. B.", None),
        ("Answer: it depends. A person may choose B.", None),
        ("Clearly, A is wrong.", None),
        ("So, is it A? Probably not.", None),
        ("Probably not B.", None),
        ("Therefore A.", "A"),
        ("Therefore I choose D", "D"),
        ("Options B and C are wrong.", None),
        ("Options: A, B, C, D", None),
        ("Right: B. Wrong: A", "B"),
        ("best\nB", "B"),
        ("Which is the best? A is cold.", None),
        ("I vote against B.", None),
        ("Vote: B", None),
        ("Select one: A B C D", None),
        ('{"A": true, "B": true}', None),
        ('{"response": "A kind word"}', None),
        ('{"options": ["A","B"]}', None),
    ],
)
def test_letter(text: str, letter: str | None) -> None:
    assert parse_choice(text, "ABCD").extra["choice"] == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is warm words.", "B"),
        ('The answer is "warm words".', "B"),
        ("Answer: warm words, because they help", "B"),
        ("I choose warm words.", "B"),
        ("I pick a plan.", "C"),
    ],
)
def test_letter_by_text(text: str, letter: str | None) -> None:
    assert parse_choice(text, TEXTS).extra["choice"] == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer I choose is C.", "C"),
        ("Therefore I.", "I"),
        ("So I.", "I"),
    ],
)
def test_letter_among_ten(text: str, letter: str | None) -> None:
    assert parse_choice(text, "ABCDEFGHIJ").extra["choice"] == letter


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Options B and C", "BC"),
        ("- B\n- C", "BC"),
        ('{"answer": "BC"}', "BC"),
        ('{"A": false, "B": true, "C": true, "D": false, "E": false}', "BC"),
        ("All of A, B and C", "ABC"),
        ("1. A\n2. D", "AD"),
        ("A, B, not C", "AB"),
    ],
)
def test_letters(text: str, letters: str) -> None:
    parsed = parse_choice(text, "ABCDE", several=True)
    assert parsed.extra["choices"] == tuple(letters)


@pytest.mark.parametrize(
    ("labels", "text", "named"),
    [
        (KINDS, "Mind Reading (0.9), Labeling (0.4)", ["Mind Reading", "Labeling"]),
        (KINDS, "Mind Reading: 0.9\nLabeling: 0.1", None),
        (KINDS, "Labeling rather than Mind Reading", ["Labeling"]),
        (KINDS, "It is Labeling, not Mind Reading.", ["Labeling"]),
        (KINDS, "The text lacks Mind Reading", None),
        (KINDS, "Mind Reading is absent; Labeling is present.", ["Labeling"]),
        (KINDS, "I am labeling this as Mind Reading.", ["Mind Reading"]),
        (
            KINDS,
            "The primary distortion in this text is Mind Reading, because he guesses thoughts. Labeling is less likely.",
            ["Mind Reading"],
        ),
        (
            KINDS,
            "* **Mind Reading:** he guesses.\n* **Labeling:** he calls himself dumb.",
            ["Mind Reading", "Labeling"],
        ),
        (KINDS, "1) Mind Reading – he guesses\n2) Labeling – dumb", ["Mind Reading", "Labeling"]),
        (KINDS, '{"labels": ""}', None),
        (
            KINDS,
            '{"Mind Reading": "He guesses what others think", "Labeling": "He calls himself dumb"}',
            None,
        ),
        (
            KINDS,
            '[{"label": "Mind Reading", "present": true}, {"label": "Labeling", "present": false}]',
            ["Mind Reading"],
        ),
        (KINDS, '{"considered": ["Labeling"], "final": ["Mind Reading"]}', ["Mind Reading"]),
        (
            KINDS,
            '{"labels": ["Labeling"]}\nOn reflection:\n{"labels": ["Mind Reading"]}',
            ["Mind Reading"],
        ),
        (KINDS, '{"labels": ["Mind Reading: he guesses"]}', ["Mind Reading"]),
        (KINDS, "- [x] Mind Reading\n- [ ] Labeling", ["Mind Reading"]),
        (KINDS, "✅ Mind Reading\n❌ Labeling", ["Mind Reading"]),
        (KINDS, "Mind Reading: present\nLabeling: not present", ["Mind Reading"]),
        (KINDS, "Ｍｉｎｄ Ｒｅａｄｉｎｇ", ["Mind Reading"]),
        (STATES, "not depression but anxiety", ["anxiety"]),
        (STATES, "depression-free", None),
        (STATES, "anti-anxiety", None),
        (STATES, "non-depression", None),
        (STATES, "self-control", None),
        (STATES, "free of depression", None),
        (STATES, "rules out depression", None),
        (MOODS, "non-depressed", None),
        (MOODS, "The label is Depressed, not Not Depressed", ["Depressed"]),
        (TONES, "Neither positive nor negative; neutral.", ["Neutral"]),
        (TONES, "non-negative", None),
        (TONES, "Positive aspects exist, but the label is Negative", ["Negative"]),
        (TONES, "Label: Negative (not Positive)", ["Negative"]),
        (TONES, "positive, negative, or neutral? Negative.", ["Negative"]),
        (RELEVANCE, "The text is irrelevant, not relevant.", ["irrelevant"]),
        (TRUTH, "non-factual", None),
        (FEELINGS, "I would love to help. The text shows fear.", ["Fear"]),
        (FEELINGS, "I fear this is anger.", ["Anger"]),
        (FEELINGS, "Anger: 0.7, Fear: 0.3", None),
        (
            KINDS,
            "Mind Reading: There is no sign of it.\nLabeling: he calls himself dumb, not once but twice",
            ["Labeling"],
        ),
        (KINDS, "Mind Reading: Not present\nLabeling: Present - dumb", ["Labeling"]),
        (KINDS, "Mind Reading is not present. Labeling is.", ["Labeling"]),
        (
            KINDS,
            "The writer shows not only Mind Reading but also Labeling.",
            ["Mind Reading", "Labeling"],
        ),
        (KINDS, "This is Mind Reading; it is not Labeling.", ["Mind Reading"]),
        (KINDS, "Mind Reading, but not Labeling", ["Mind Reading"]),
        (KINDS, "Not Mind Reading but Labeling", ["Labeling"]),
        (KINDS, '{"labels": ["N/A"]}', None),
        (KINDS, '{"labels": [""]}', None),
        (KINDS, '{"Mind Reading": null, "Labeling": true}', None),
        (KINDS, '{"Mind Reading": 0.9, "Labeling": 0.1}', None),
        (KINDS, "* [ ] Mind Reading\n* [X] Labeling", ["Labeling"]),
        (KINDS, "✓ Mind Reading\n✗ Labeling", ["Mind Reading"]),
        (KINDS, "Is it Mind Reading? No. Is it Labeling? Yes.", None),
        (FEELINGS, "The emotion is joy rather than love.", ["Joy"]),
        (FEELINGS, "More sadness than anger", ["Sadness"]),
        (STATES, "depression (not major depression)", ["depression"]),
        (STATES, "The post is not about depression; it shows anxiety.", ["anxiety"]),
        (KINDS, "Others: Mind Reading", ["Mind Reading"]),
        (KINDS, "I see anger; he will label himself.", None),
        (FEELINGS, "Less anger than fear", None),
        (FEELINGS, "Anger is lacking. Fear dominates.", ["Fear"]),
        (FEELINGS, "Free-floating fear", ["Fear"]),
        (STATES, "depression is ruled out; anxiety", ["anxiety"]),
    ],
)
def test_labels(labels: LabelSet, text: str, named: list[str] | None) -> None:
    parsed = parse_labels(text, labels)
    assert list(parsed.ranks) == (named or [])
    assert (named is None) == (set(parsed.scores.values()) == {None})


# As long as a text may be that is read at all.
@pytest.mark.parametrize(
    "text",
    ["a", "word ", "a-", "[", "label is ", "? ", "but ", "Anger than ", "no ", "(0.9) ", "; "],
)
def test_the_longest_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    parse_labels((text * 50_000)[:50_000], FEELINGS)
    # Of the processor, so that a busy machine does not count; under 0.3 s is usual.
    assert time.process_time() - start < 3 * second()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Dominant: Mind Reading\nSecondary: None", ["Mind Reading"]),
        ("Primary distortion: Mind Reading\nSecondary distortion: N/A", ["Mind Reading"]),
        ('{"dominant": "Mind Reading", "secondary": "None"}', ["Mind Reading"]),
        ("Primary: None\nSecondary: None", ["No Distortion"]),
        ('{"primary": "No Distortion", "secondary": "None"}', ["No Distortion"]),
    ],
)
def test_an_empty_second_place_contradicts_nothing(text: str, named: list[str]) -> None:
    assert list(parse_labels(text, KINDS).ranks) == named
