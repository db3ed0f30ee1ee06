"""Yes/no, five-level preferences, questionnaires and named lines; hostile text for all of them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine import second

from voirdire import InputError
from voirdire.parsing import (
    LEVELS,
    LabelSet,
    combine_orders,
    parse_choice,
    parse_fields,
    parse_labels,
    parse_preferences,
    parse_questionnaire,
    parse_scores,
    parse_yes_no,
    read_level,
    said_yes,
)
from voirdire.schema import Flag, Scale


@pytest.mark.parametrize(
    "value", [True, 1, 1.0, "yes", "YES.", " Y ", "True", "**Yes**", "Yes, it is there", "1"]
)
def test_yes(value: Any) -> None:
    assert said_yes(value) is True


@pytest.mark.parametrize(
    "value",
    [False, 0, "no", "No.", "FALSE", "n", "No - nothing there", "0", "No. There are no cues"],
)
def test_no(value: Any) -> None:
    assert said_yes(value) is False


@pytest.mark.parametrize(
    "value",
    [
        None,
        2,
        float("nan"),
        "",
        "unsure",
        "n/a",
        "yes and no",
        "yes/no",
        "no, but maybe",
        "Nobody",
        "Yesterday",
        [True],
    ],
)
def test_neither(value: Any) -> None:
    assert said_yes(value) is None


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ('{"low mood": "yes", "worry": "no"}', [1, 0]),
        ("{'low_mood': 'Yes', 'Worry': false}", [1, 0]),
        ("```json\n{low mood: yes, worry: no}\n```", [1, 0]),
        ("Low mood: yes\nWorry: No", [1, 0]),
        ('{"answers": {"low mood": {"answer": "yes"}, "worry": [0]}}', [1, 0]),
        ('{"low mood": "yes"}', [1, None]),
        ('{"low mood": "yes", "worry": null}', [1, None]),
        ('{"low mood": "yes", "worry": "no", "worry": "yes"}', [1, None]),
        ("I cannot say.", [None, None]),
    ],
)
def test_yes_no(text: str, scores: list[float | None]) -> None:
    parsed = parse_yes_no(text, ["low mood", "worry"])
    assert list(parsed.scores.values()) == scores
    assert {key for key, score in parsed.scores.items() if score is None} == set(parsed.reasons)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Yes, it shows.", 1),
        ("No", 0),
        ("Answer: no", 0),
        ("Worry: Yes", 1),
        ("Worry: (Yes/No)", None),
        ("Not sure", None),
    ],
)
def test_a_single_question_needs_no_key(text: str, score: float | None) -> None:
    assert parse_yes_no(text, ["worry"]).scores == {"worry": score}


@pytest.mark.parametrize(
    ("text", "level"),
    [
        *LEVELS.items(),
        ("A > B", 1),
        ("B < A", 1),
        ("A<<B", -2),
        ("A ≫ B", 2),
        ("A≈B", 0),
        ("[[A]]", 1),
        ("[[C]]", 0),
        ("First I liked [[A]]. My final verdict is: [[B>>A]]", -2),
        ("A is much better than B.", 2),
        ("A is slightly better than B", 1),
        ("A and B are about the same", 0),
        ("B is much better than A", -2),
        ("Response A is significantly better than Response B", 2),
        ("A is worse than B", -1),
        ("Tie", 0),
        ("Assistant B is better", -1),
        ("The second response", -1),
        ("I saw A>B at first. Verdict: B>A", -1),
        (-2, -2),
    ],
)
def test_level(text: Any, level: float) -> None:
    assert read_level(text) == level


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A is better in tone but B is better than A overall", "ambiguous"),
        ("A is a good response.", "no_answer"),
        ("A>A", "no_answer"),
        ("", "null"),
        (3, "off_scale"),
        (True, "not_numeric"),
    ],
)
def test_no_level(text: Any, reason: str) -> None:
    assert read_level(text) == reason


def test_preferences_by_criterion() -> None:
    keys = ["C1", "C2", "overall"]
    for text in (
        '{"C1": "A>B", "C2": "tie", "overall": "B>>A"}',
        "C1: A>B\nC2: tie\nOverall: B>>A",
        '{"ratings": {"c1": {"score": 1}, "c2": {"score": "A=B"}, "overall": -2}}',
    ):
        assert list(parse_preferences(text, keys).scores.values()) == [1.0, 0.0, -2.0]
        assert list(parse_preferences(text, keys, swapped=True).scores.values()) == [-1.0, 0.0, 2.0]
    parsed = parse_preferences('{"C1": "A>B"}', keys)
    assert parsed.reasons == {"C2": "absent", "overall": "absent"}
    assert parse_preferences("I cannot compare them.", keys).status == "refused"


@pytest.mark.parametrize(
    ("first", "second", "status", "winner"),
    [
        (2.0, 1.0, "ok", "A"),
        (-1.0, -2.0, "ok", "B"),
        (0.0, 0.0, "ok", "tie"),
        (1.0, -1.0, "inconsistent", None),
        (1.0, 0.0, "inconsistent", None),
        (None, 1.0, "half_missing", None),
        (None, None, "missing", None),
    ],
)
def test_orders(first: float | None, second: float | None, status: str, winner: str | None) -> None:
    orders = combine_orders(first, second)
    assert (orders.status, orders.winner) == (status, winner)
    assert (orders.score is None) == (status != "ok")


@given(st.sampled_from(sorted(LEVELS)), st.sampled_from(sorted(LEVELS)))
def test_swapping_the_names_turns_the_level_round(one: str, other: str) -> None:
    flipped = one.translate(str.maketrans("AB", "BA"))
    assert read_level(flipped) == -LEVELS[one] + 0.0
    assert combine_orders(LEVELS[one], LEVELS[other]).status in {"ok", "inconsistent"}


ITEMS = [Scale(0, 3)] * 3


@pytest.mark.parametrize(
    "text",
    [
        '{"1": 2, "2": 0, "3": 1}',
        '{"03": 1, "01": "2", "Q2": 0}',
        '{"1. Tension": 2, "2. Sleep": 0, "3. Mood": 1}',
        '{"item_1": {"score": 2, "reason": "9"}, "item_2": [0], "item_3": "1/3"}',
        '{"PHQ-9": {"1": 2, "2": 0, "3": 1}, "total": 3}',
        '[{"item": 1, "score": 2}, {"item": "2", "score": 0}, {"item": 3, "score": 1}]',
        '[{"1": 2}, {"2": 0}, {"3": 1}]',
        "{1: 2, 2: 0, 3: 1}",
        "1. Tension: 2\n2. Sleep: 0\n3) Mood = 1",
        '<think>{"1": 3}</think>```json\n{"1": 2, "2": 0, "3": 1,}\n```',
    ],
)
def test_questionnaire(text: str) -> None:
    parsed = parse_questionnaire(text, ITEMS)
    assert parsed.scores == {"1": 2.0, "2": 0.0, "3": 1.0}
    assert (parsed.extra["total"], parsed.extra["complete"]) == (3.0, True)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ('{"1": 2, "2": 4, "3": 1}', {"2": "off_scale"}),
        ('{"1": 2, "3": 1}', {"2": "absent"}),
        ('{"1": 2, "2": null, "3": 1}', {"2": "null"}),
        ('{"1": 2, "2": 0, "Q2": 1, "3": 1}', {"2": "duplicate_key"}),
        ('{"0": 1, "1": 2, "2": 0}', dict.fromkeys("123", "zero_based_keys")),
        ('{"0": 1, "1": 2}', dict.fromkeys("123", "zero_based_keys")),
        ("[2, 0, 1]", dict.fromkeys("123", "no_answer")),
        ('{"tension": 2}', dict.fromkeys("123", "no_answer")),
    ],
)
def test_no_total_unless_complete(text: str, reasons: dict[str, str]) -> None:
    parsed = parse_questionnaire(text, ITEMS)
    assert parsed.reasons == reasons
    assert parsed.extra["missing"] == tuple(int(key) for key in reasons)
    assert (parsed.extra["total"], parsed.extra["complete"]) == (None, False)


def test_what_a_questionnaire_says_beside_the_answers() -> None:
    parsed = parse_questionnaire('{"1": 2, "2": 0, "3": 1, "7": 1, "total": 9}', ITEMS)
    assert parsed.flags == (Flag("unknown_item", "7"), Flag("total_differs"))
    parsed = parse_questionnaire(
        '{"1": "yes", "2": "No", "3": "Not ratable"}', ITEMS, yes_no=True, not_ratable=[3]
    )
    assert parsed.scores == {"1": 1.0, "2": 0.0, "3": None}
    assert parsed.reasons == {"3": "not_ratable"}
    cut = parse_questionnaire('{"1": 2, "2": 1', ITEMS, finish_reason="length")
    assert (cut.scores["2"], cut.reasons["3"], cut.status) == (None, "cut", "truncated")
    with pytest.raises(InputError, match="at least one item"):
        parse_questionnaire("{}", [])


def test_fields() -> None:
    names = ["Mental Health Disorder", "Name of Mental Health Disorder", "DSM5 Rationale"]
    text = "**Mental Health Disorder:** Yes\n\nName of Mental Health Disorder: low mood\nDSM5 Rationale: sleeps\nlittle"
    assert list(parse_fields(text, names).values()) == ["Yes", "low mood", "sleeps\nlittle"]
    assert set(parse_fields(None, names).values()) == {None}
    twice = "Mental Health Disorder: No\nFinal Mental Health Disorder: Yes"
    assert parse_fields(twice, names[:1]) == {names[0]: "Yes"}
    assert parse_fields(twice.replace("Final ", ""), names[:1]) == {names[0]: None}
    assert parse_fields(f"## Draft\n{twice[:26]}", names[:1]) == {names[0]: None}
    with pytest.raises(InputError, match="letters or digits"):
        parse_fields(text, ["--"])


# More than is read of any running text.
LENGTH = 250_000
HOSTILE = [
    " " * LENGTH + "x",
    "A,  " * (LENGTH // 4),
    "A;" * (LENGTH // 2),
    "answer " * (LENGTH // 7),
    "answer is " * (LENGTH // 10),
    "answer" + " " * LENGTH,
    "option A " * (LENGTH // 9),
    "A) x\n" * (LENGTH // 5),
    "A>>B " * (LENGTH // 5),
    "A is better than " * (LENGTH // 16),
    "verdict: A\n" * (LENGTH // 11),
    "[[A]]" * (LENGTH // 5),
    "!" * LENGTH,
    "1: 2\n" * (LENGTH // 5),
    "1" * LENGTH,
    "yes " * (LENGTH // 4),
    "Calm, " * (LENGTH // 6),
    "- " * (LENGTH // 2),
    "no " * (LENGTH // 3),
    "d: yes\n" * (LENGTH // 7),
    '{"1":' * (LENGTH // 5),
    '{"1":2,' * (LENGTH // 7),
    "[" * 100_000,
    "\n" * LENGTH,
    "\ud800" * LENGTH,
    "\x00" * LENGTH,
    "*" * LENGTH,
]
PARSERS: dict[str, Any] = {
    "choice": lambda text: parse_choice(text, "ABCD"),
    "choices": lambda text: parse_choice(text, dict.fromkeys("ABCD", "calm"), several=True),
    "labels": lambda text: parse_labels(text, LabelSet(("Calm", "Deep Worry", "None"))),
    "yes_no": lambda text: parse_yes_no(text, ["d"]),
    "preferences": lambda text: parse_preferences(text, ["overall"]),
    "questionnaire": lambda text: parse_questionnaire(text, ITEMS),
    "fields": lambda text: parse_fields(text, ["d", "Name of d"]),
}


@pytest.mark.parametrize("parser", PARSERS.values(), ids=PARSERS)
def test_hostile_text_takes_linear_time(parser: Any) -> None:
    for text in HOSTILE:
        start = time.process_time()
        parser(text)
        # Under 0.2 s is usual; the margin is for a busy machine.
        assert time.process_time() - start < 4 * second(), text[:20]


@given(st.text(), st.sampled_from(["stop", "length", "content_filter"]))
def test_never_raises(text: str, finish: Any) -> None:
    for parsed in (
        parse_yes_no(text, ["d", "e"], finish_reason=finish),
        parse_preferences(text, ["overall"], finish_reason=finish),
        parse_questionnaire(text, ITEMS, finish_reason=finish),
    ):
        missing = {key for key, score in parsed.scores.items() if score is None}
        assert missing == set(parsed.reasons)
    assert set(parse_fields(text, ["d"])) == {"d"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Yes. Well, not really.", None),
        ("Ja. Na ja, nicht wirklich.", None),
        ("Oui. Enfin, pas vraiment.", None),
        ("Да. Ну, не совсем.", None),
        ("Sì. Beh, non proprio.", None),
        ("Evet. Aslında değil.", None),
        ("Ja. Ohne Zweifel.", 1.0),
        ("Да, без сомнения.", 1.0),
        ("Oui, sans aucun doute.", 1.0),
        ("Yes, and not only once.", 1.0),
        ("Non. Pas du tout.", 0.0),
        ("No. Not at all.", 0.0),
    ],
)
def test_a_clause_that_only_denies_takes_a_yes_back(text: str, says: float | None) -> None:
    assert parse_yes_no(text, ["present"]).scores == {"present": says}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Empathy: 4\n\nThe empathy score should be read with care.", None),
        ("Empathy: 4\n\nThe empathy score is provisional.", None),
        ("Empathy: 4\n\nThe empathy score is high because the reply mirrors.", 4.0),
        ("Empathy: 4\n\nThe client's pain score was 8 last week.", 4.0),
        ("Empathy: ★★★☆☆ (3/5)", 3.0),
        ("Empathy: ★★★★ (3/5)", None),
    ],
)
def test_a_score_that_is_called_provisional_does_not_stand(text: str, score: float | None) -> None:
    assert parse_scores(text, ["Empathy"], Scale()).scores == {"Empathy": score}


@pytest.mark.parametrize(
    ("remark", "named"),
    [
        ("confidence: high", 1.0),
        ("reason: he shouts", 1.0),
        ("confidence: 0.9", None),
        ("note: sarcastic?", None),
        ("confidence: none", None),
    ],
)
def test_a_remark_with_a_head_explains_its_label(remark: str, named: float | None) -> None:
    labels = LabelSet(("Anger", "Fear", "Joy", "Pride"))
    scores = parse_labels(f"- Anger ({remark})\n- Fear ({remark})", labels).scores
    assert (scores["Anger"], scores["Fear"]) == (named, named)


def test_a_tick_behind_a_key_is_a_yes() -> None:
    assert parse_yes_no("- calm: ✅\n- warm: ❌", ["calm", "warm"]).scores == {
        "calm": 1.0,
        "warm": 0.0,
    }
