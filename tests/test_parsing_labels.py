"""Labels out of annotators' replies: invented variants, and rules for what comes with what."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine import second

from voirdire import InputError
from voirdire.parsing import LabelSet, parse_labels, parse_labels_column
from voirdire.schema import Flag

# The ten distortions of paper 000 with its two further classes (appendix D, section 4.1).
KINDS = LabelSet(
    (
        "Emotional Reasoning",
        "Overgeneralization",
        "Mental Filter",
        "Should Statements",
        "All or Nothing Thinking",
        "Mind Reading",
        "Fortune Telling",
        "Magnification (Catastrophizing)",
        "Personalization",
        "Labeling",
        "No Distortion",
        "Others",
    ),
    synonyms={
        "black-and-white thinking": "All or Nothing Thinking",
        "jumping ahead": "Fortune Telling",
    },
    none="No Distortion",
    other="Others",
)
P, M, L = "Personalization", "Mind Reading", "Labeling"
FEELINGS = LabelSet(("Grief, loss", "Anger", "Fear", "None"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Personalization, Mind Reading", [P, M]),
        ("personalisation,mind-reading", [P, M]),
        ("Mind Reading; Personalization", [M, P]),
        ("Mind Reading and Personalization.", [M, P]),
        ("Personalization > Mind Reading", [P, M]),
        ("**Personalization**, **Mind Reading**", [P, M]),
        ("`Labelling`", [L]),
        ("Should Statement", ["Should Statements"]),
        ("Over-generalisation", ["Overgeneralization"]),
        ("Magnification", ["Magnification (Catastrophizing)"]),
        ("catastrophizing, labeling", ["Magnification (Catastrophizing)", L]),
        ("Magnification/Catastrophizing", ["Magnification (Catastrophizing)"]),
        ("Magnification (Catastrophizing)", ["Magnification (Catastrophizing)"]),
        ("black and white thinking", ["All or Nothing Thinking"]),
        ("1. Personalization\n2. Fortune-Telling", [P, "Fortune Telling"]),
        ("- Personalization (dominant)\n- Labeling (secondary)", [P, L]),
        ("Dominant: Personalization\nSecondary: Labeling", [P, L]),
        ("Identified distortions: Personalization, Mind Reading", [P, M]),
        (
            "1) **Personalization**: takes all blame; this is not Labeling.\n2) **Mind Reading** - guesses.",
            [P, M],
        ),
        ("The dominant distortion is Personalization, with Mind Reading as the second.", [P, M]),
        ("There is no sign of Labeling. The text shows Mind Reading.", [M]),
        ("Mind Reading? Perhaps.\nFinal answer: Labeling", [L]),
        ("Personalization\n\nExplanation: the writer takes blame, and Labeling is absent.", [P]),
        ("<think>Labeling</think>Personalization", [P]),
        ("[Personalization, Labeling]", [P, L]),
        ('["Personalization", "Mind Reading"]', [P, M]),
        ('{"labels": ["Personalization"], "explanation": "not Labeling"}', [P]),
        ('{"dominant": "Personalization", "secondary": "Labeling"}', [P, L]),
        ('{"Personalization": "yes", "Labeling": "no", "Mind Reading": true}', [P, M]),
        ('```json\n["Labeling",]\n```', [L]),
        ("No Distortion", ["No Distortion"]),
        ("**No distortions** found.", ["No Distortion"]),
        ("There are no cognitive distortions in this text.", ["No Distortion"]),
        ("None", ["No Distortion"]),
        ("None of the above", ["No Distortion"]),
        ('{"labels": []}', ["No Distortion"]),
        ("Others", ["Others"]),
        ("Personalization: yes\nLabeling: no", [P]),
        ("Labeling: 1, Mind Reading: 0", [L]),
        ("Labeling, not Mind Reading", [L]),
    ],
)
def test_named(text: str, named: list[str]) -> None:
    parsed = parse_labels(text, KINDS)
    assert list(parsed.ranks) == named
    assert list(parsed.ranks.values()) == list(range(1, len(named) + 1))
    assert {label for label, score in parsed.scores.items() if score} == set(named)
    assert set(parsed.scores.values()) == {0.0, 1.0}
    assert parsed.status in {"ok", "repaired"}


@pytest.mark.parametrize(
    ("text", "named", "unknown"),
    [
        ("Avoidance", ["Others"], ("Avoidance",)),
        ("Avoidance, Paranoid Thinking", ["Others"], ("Avoidance", "Paranoid Thinking")),
        ("Personalization, Avoidance", [P], ("Avoidance",)),
        ("Lack of Empathy; Labeling", [L], ("Lack of Empathy",)),
        ("Paranoia (Mind Reading)", ["Others"], ("Paranoia (Mind Reading)",)),
        ("Disregard for Others' Feelings", ["Others"], ("Disregard for Others' Feelings",)),
        ('["Rumination", "Labeling"]', [L], ("Rumination",)),
    ],
)
def test_labels_outside_the_set(text: str, named: list[str], unknown: tuple[str, ...]) -> None:
    """Listed as Table 6 of paper 000 lists them; Others is dropped beside a known label."""
    parsed = parse_labels(text, KINDS)
    assert list(parsed.ranks) == named
    assert parsed.extra["unknown"] == unknown
    assert [str(flag) for flag in parsed.flags if flag.kind == "unknown_label"] == [
        f"unknown_label:{entry}" for entry in unknown
    ]
    assert (Flag("other_dropped", "Others") in parsed.flags) == (named != ["Others"])


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (None, "blank"),
        ("  ", "blank"),
        ("I cannot label this text.", "refused"),
        ("The writer is sad and cares about others.", "unparsable"),
        ("N/A", "unparsable"),
        ("Explanation: Labeling is absent.", "unparsable"),
        ('{"labels": null}', "unparsable"),
        ("<think>Personalization", "truncated"),
        ("word " * 20_000, "unparsable"),
    ],
)
def test_no_answer_is_never_no_distortion(text: str | None, status: str) -> None:
    parsed = parse_labels(text, KINDS)
    assert set(parsed.scores.values()) == {None}
    assert (parsed.status, set(parsed.statuses.values())) == (status, {status})


def test_no_distortion_beside_a_distortion() -> None:
    text = "No Distortion, Labeling"
    missing = parse_labels(text, KINDS)
    assert missing.reasons["Labeling"] == "contradiction"
    assert missing.flags == (Flag("contradiction", "No Distortion"),)
    kept = parse_labels(text, KINDS, contradiction="labels")
    assert (list(kept.ranks), kept.flags) == ([L], missing.flags)


def test_too_many_are_flagged_and_kept() -> None:
    parsed = parse_labels("Personalization, Mind Reading, Labeling", KINDS, at_most=2)
    assert (list(parsed.ranks), parsed.flags) == ([P, M, L], (Flag("too_many", count=3),))


def test_cut_leaves_the_rest_unknown() -> None:
    parsed = parse_labels("Personalization, Mind Rea", KINDS, finish_reason="length")
    assert parsed.status == "truncated"
    assert {label: s for label, s in parsed.scores.items() if s is not None} == {P: 1.0}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("grief and loss", ["Grief, loss"]),
        ("Anger; grief, loss", ["Anger", "Grief, loss"]),
        ("GRIEF, LOSS", ["Grief, loss"]),
        ("- Grief, loss\n- Fear", ["Grief, loss", "Fear"]),
        ("None of these", ["None"]),
        ("I read grief, loss and fear here: Grief, loss, Fear", ["Grief, loss", "Fear"]),
    ],
)
def test_commas_inside_labels(text: str, named: list[str]) -> None:
    assert list(parse_labels(text, FEELINGS).ranks) == named


def test_part_of_a_label_is_not_the_label() -> None:
    assert parse_labels("Loss", FEELINGS).reasons["Grief, loss"] == "unknown_label"


def test_declarations_are_checked() -> None:
    with pytest.raises(InputError, match="must be given and differ"):
        LabelSet(("Anger", "Anger"))
    with pytest.raises(InputError, match="differ only in spelling"):
        LabelSet(("Mind Reading", "mind-reading"))
    with pytest.raises(InputError, match=r"label 'Calm' is unknown"):
        LabelSet(("Anger",), synonyms={"quiet": "Calm"})


@given(st.lists(st.sampled_from(KINDS.labels[:10]), min_size=1, unique=True), st.booleans())
def test_any_list_comes_back(named: list[str], numbered: bool) -> None:
    joined = (
        "\n".join(f"{n}. **{label.upper()}**" for n, label in enumerate(named, 1))
        if numbered
        else ", ".join(label.lower() for label in named)
    )
    assert list(parse_labels(joined, KINDS).ranks) == named


@given(st.text())
def test_never_raises(text: str) -> None:
    assert set(parse_labels(text, KINDS).scores.values()) <= {0.0, 1.0, None}


def test_columns_share_equal_replies() -> None:
    texts = ["Personalization, Mind Reading", "Labeling", None] * 100_000
    start = time.process_time()
    column = parse_labels_column(texts, KINDS)
    # 0.1 s on one core; the margin is for a busy machine.
    assert time.process_time() - start < 1.5 * second()
    assert column[:3] == [parse_labels(text, KINDS) for text in texts[:3]]
    assert len(column) == len(texts)
    with pytest.raises(InputError, match="1 entries for 2 replies"):
        parse_labels_column(["Labeling"] * 2, KINDS, finish_reasons=["stop"])
