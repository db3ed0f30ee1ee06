"""Labels: offered, defined, considered, supposed or ruled out. All texts invented."""

from __future__ import annotations

import pytest
from label_sets import KINDS

from voirdire.parsing import LabelSet, parse_labels

FEELINGS = LabelSet(("Anger", "Fear", "Joy", "None"))


@pytest.mark.parametrize(
    "text",
    [
        "If none applies, answer None.",
        "Labels: [Anger, Fear, Joy]",
        "Labels: [Anger, Fear, Joy]\n\nAnswer with nothing but the labels that apply, as a comma-separated list.",
        "Labels: [Anger, Fear, J",
        "The labels are Anger, Fear and Joy. Which apply?",
        "The possible labels are Anger, Fear, Joy.",
        "Choose from Anger, Fear, Joy or None.",
        "I need to choose among Anger, Fear, and Joy.",
        "Anger or Fear",
        "Either Anger or Fear",
        "Anger/Fear?",
        "Anger? Fear?",
        "Could be Anger.",
        "Not Anger",
        "No anger",
        "No Anger, no Fear, no Joy.",
        "Anger: low\nFear: high",
        "Anger: 2/5, Fear: 4/5",
        "Neither Anger nor Fear applies.",
        "Anger does not apply.",
        "Anger is ruled out.",
        "There is anger in the reply of his boss, but the writer feels none.",
        "I can't label this. Anger is a strong word.",
        "I'm sorry, I can't help with labels such as Anger.",
        "I cannot determine whether Anger applies.",
        "It is unclear whether it is Anger or Fear.",
        "Is it Anger?",
        "For example, Anger would be shouting.",
        "Anger would be shouting; Fear would be trembling.",
        "Anger refers to hostile feelings.",
        "Anger applies when the writer is hostile.",
        "Anger is defined as hostility.",
        "Anger would apply if he shouted.",
        "If he shouted, it would be Anger.",
        "Rejected labels: Anger",
        '{"rejected": ["Anger"]}',
        '{"possible_labels": ["Anger","Fear","Joy"]}',
        "<think>Anger</think>",
        "<think>Anger or Fear? Anger.",
        "kein Anger",
        "no es Anger",
        "ce n'est pas Anger",
        "nicht Anger",
        '{"label": "Anger?"}',
        "Anger: yes/no",
        "Anger: [yes/no]\nFear: [yes/no]\nJoy: [yes/no]",
        "Anger: X\nFear: X",
        "Anger:\nFear:\nJoy:",
    ],
)
def test_no_label(text: str) -> None:
    assert parse_labels(text, FEELINGS).ranks == {}


@pytest.mark.parametrize(
    "text",
    [
        "Mind Reading is a distortion, but the text shows none",
        "Mind Reading means guessing thoughts.",
        "COGNITIVE DISTORTIONS LIST: [Emotional Reasoning, Overgeneralization, Mental Filter, Should Statements, All or Nothing Thinking, Mind Reading, Fortune Telling, Magnification (Catastrophizing), Personalization, Labeling]",
        "- Emotional Reasoning\n- Overgeneralization\n- Mental Filter\n- Should Statements\n- All or Nothing Thinking\n- Mind Reading\n- Fortune Telling\n- Magnification\n- Personalization\n- Labeling",
        "If no distortions are found, return **No Distortion**.",
        "If no distortion(s) are found, return No Distortion.",
        "If none applies, answer No Distortion.",
    ],
)
def test_no_kind(text: str) -> None:
    assert parse_labels(text, KINDS).ranks == {}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Anger: no\nFear: no\nJoy: no", ["None"]),
        ("Anger: 0\nFear: 1\nJoy: 0", ["Fear"]),
        ("None. There is a little Anger, but not enough.", ["None"]),
        ("The text shows Fear instead of Anger.", ["Fear"]),
        ("Some may say Anger, but I say Fear.", ["Fear"]),
        ("At first glance Anger, but in fact Fear.", ["Fear"]),
        ("One might think Anger, but it is Fear", ["Fear"]),
        ("Answer: Anger\n\nExplanation: He shouts. There is no Fear or Joy.", ["Anger"]),
        ("Anger\n\nExplanation: He shouts. Fear would show as trembling.", ["Anger"]),
        ("Anger\n\nFear was considered but rejected.", ["Anger"]),
        ("**Anger**\n\nNote: Joy is absent.", ["Anger"]),
        ("Anger (not Fear)", ["Anger"]),
        ("Anger (though Fear is possible)", ["Anger"]),
        ("Primary: Anger\nRuled out: Fear, Joy", ["Anger"]),
        ("Applies: Anger\nDoes not apply: Fear, Joy", ["Anger"]),
        ("Present: Anger\nAbsent: Fear, Joy", ["Anger"]),
        ("Yes: Anger\nNo: Fear, Joy", ["Anger"]),
        ("Considered: Anger, Fear\nChosen: Anger", ["Anger"]),
        ("Labels considered: Anger, Fear, Joy\nLabels that apply: Fear", ["Fear"]),
        ('{"labels": ["Anger", "Fear", "Joy"], "answer": ["Fear"]}', ["Fear"]),
        ('{"rejected": ["Anger"], "labels": ["Fear"]}', ["Fear"]),
        ('{"Anger": false, "Fear": false}', ["None"]),
        ("Anger and Fear\n\nText: I was angry.", ["Anger", "Fear"]),
        ("Respuesta: Anger", ["Anger"]),
        ("La etiqueta es Anger, no Fear", ["Anger"]),
        ("Anger, pas Fear", ["Anger"]),
        ("Anger, nicht Fear", ["Anger"]),
        ("1. Anger 2. Fear", ["Anger", "Fear"]),
        ("Dominant: Anger; secondary: Fear", ["Anger", "Fear"]),
        ("The dominant label is Anger, and the second is Fear.", ["Anger", "Fear"]),
        ("Anger, Fear", ["Anger", "Fear"]),
        ("anger,fear.", ["Anger", "Fear"]),
        ("[Anger]", ["Anger"]),
        ("[Anger, Fear]", ["Anger", "Fear"]),
        ("Labels: [Anger, Fear]", ["Anger", "Fear"]),
        ("Labels: Anger, Fear", ["Anger", "Fear"]),
        ("Anger, Fear, Joy", ["Anger", "Fear", "Joy"]),
        ('["Anger", "Fear", "Joy"]', ["Anger", "Fear", "Joy"]),
        ("```\nAnger, Fear\n```", ["Anger", "Fear"]),
        ("Dominant: Anger\nSecond: None", ["Anger"]),
        ("Sure! Here are the labels that apply: Anger, Fear", ["Anger", "Fear"]),
        ("The labels that apply are:\n\n- Anger\n- Fear", ["Anger", "Fear"]),
        ("None", ["None"]),
        ("None.", ["None"]),
        ("**None**", ["None"]),
        ("None apply.", ["None"]),
        ("None applies", ["None"]),
        ("No labels apply.", ["None"]),
        ("Answer: None", ["None"]),
        ("The dominant label is Fear, and the second label is Anger.", ["Fear", "Anger"]),
        ("Anger. Actually, Fear.", ["Fear"]),
        ("No label applies.", ["None"]),
        ("The answer is None.", ["None"]),
        ("Anger: he shouts\nFear: none\nJoy: none", ["Anger"]),
        ("Anger, because he said he would leave if they shouted.", ["Anger"]),
        ("Labels: [Anger, Fear, Joy]\n\nAnswer: Fear", ["Fear"]),
        ("It may seem like Joy, but it is Anger.", ["Anger"]),
        ("I considered Fear. Label: Anger", ["Anger"]),
        ("Anger ✗, Fear ✓", ["Fear"]),
        ("~~Anger~~ Fear", ["Fear"]),
    ],
)
def test_labels(text: str, named: list[str]) -> None:
    assert list(parse_labels(text, FEELINGS).ranks) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "Mind Reading is when one guesses thoughts. The text shows no distortion.",
            ["No Distortion"],
        ),
        (
            "Mind Reading: assuming what others think.\nLabeling: calling oneself names.\n\nAnswer: Labeling",
            ["Labeling"],
        ),
        (
            "Mind Reading because he guesses thoughts; Labeling because he calls himself dumb",
            ["Mind Reading", "Labeling"],
        ),
        (
            "Mind Reading (he guesses thoughts of others), Labeling (he calls himself dumb)",
            ["Mind Reading", "Labeling"],
        ),
        (
            "Mind Reading: he guesses thoughts. Labeling: he calls himself dumb.",
            ["Mind Reading", "Labeling"],
        ),
        (
            "Mind Reading - he guesses what others think; Labeling - he calls himself a loser",
            ["Mind Reading", "Labeling"],
        ),
        ("Mind Reading (he guesses thoughts) and Labeling (dumb)", ["Mind Reading", "Labeling"]),
        ("Mind Reading – he guesses what others think, not Labeling", ["Mind Reading"]),
        (
            "Mind Reading – he guesses thoughts, unlike Labeling, which needs a name",
            ["Mind Reading"],
        ),
        (
            "`COGNITIVE DISTORTIONS LIST:` [Emotional Reasoning, Overgeneralization, Mental Filter, Should Statements, All or Nothing Thinking, Mind Reading, Fortune Telling, Magnification (Catastrophizing), Personalization, Labeling]\n\nMind Reading",
            ["Mind Reading"],
        ),
        (
            "Emotional Reasoning, Overgeneralization, Mental Filter, Should Statements, All or Nothing Thinking, Mind Reading, Fortune Telling, Magnification (Catastrophizing), Personalization, Labeling\n\nAnswer: Mind Reading",
            ["Mind Reading"],
        ),
        ("No Distortion", ["No Distortion"]),
        ("**No Distortion**", ["No Distortion"]),
        ("No distortions", ["No Distortion"]),
        ("The user input shows **No Distortion**.", ["No Distortion"]),
        ("No cognitive distortions are found.", ["No Distortion"]),
        ("Mind Reading, Labeling", ["Mind Reading", "Labeling"]),
        ("Dominant: Mind Reading, Secondary: Labeling", ["Mind Reading", "Labeling"]),
        ("Mind Reading, followed by Labeling", ["Mind Reading", "Labeling"]),
        ("Primary label: Mind Reading\nSecondary label: Labeling", ["Mind Reading", "Labeling"]),
        (
            "The input displays **Mind Reading**, as he assumes what they would think.",
            ["Mind Reading"],
        ),
        ("The dominant one is Mind Reading because he guesses without evidence.", ["Mind Reading"]),
        ("**No Distortion**\n\nIf he had guessed, it would be Mind Reading.", ["No Distortion"]),
    ],
)
def test_kinds(text: str, named: list[str]) -> None:
    assert list(parse_labels(text, KINDS).ranks) == named
