"""The choice judge: prompts as papers print them, letters read only where they answer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire import InputError
from voirdire.humans.questions import options_of
from voirdire.schema import Flag, Item, Reply
from voirdire.study import Humans
from voirdire_judges.choice import make

FRUIT = ("apple", "bitter orange", "cherry, sweet", "date")
_GIVEN = os.environ.get("VOIRDIRE_SHARED")
_SHARED = Path(_GIVEN) if _GIVEN else Path(__file__).resolve().parents[2] / "shared"
_CASES = _SHARED / "cases" / "bug_cases.jsonl"


def said(text, **options):
    judge = make(options=FRUIT, several=True, at_most=2, **options)
    return judge.parse([Reply(text)])


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("a, c", ("apple", "cherry, sweet")),
        ("a", ("apple",)),
        ("A", ("apple",)),
        ("d\nb", ("date", "bitter orange")),
        ("Answer: a, d", ("apple", "date")),
        ("a: apple, d: date", ("apple", "date")),
        ("(b) and (c)", ("bitter orange", "cherry, sweet")),
        ("cherry, sweet", ("cherry, sweet",)),
        ("Date and apple", ("date", "apple")),
        ('{"answer": ["a", "b"]}', ("apple", "bitter orange")),
    ],
)
def test_what_is_chosen(text, chosen):
    parsed = said(text)
    assert parsed.extra["choices"] == chosen
    assert {label for label, score in parsed.scores.items() if score} == set(chosen)
    assert set(parsed.scores) == set(FRUIT)
    assert parsed.status == "ok"


@pytest.mark.parametrize(
    "text",
    [
        "A person like this would need more time.",
        "I cannot tell which of these it is.",
        "Apple pie is what comes to mind here.",
        "Answer: None of these",
        "It depends on a lot of things, and I am not sure.",
        "Dates aside, nothing here is certain.",
        "",
        "   ",
        "???",
    ],
)
def test_prose_without_an_answer_is_missing(text):
    parsed = said(text)
    assert set(parsed.scores.values()) == {None}
    assert parsed.status in ("unparsable", "blank")
    assert parsed.extra["choices"] == ()


def test_too_many_are_flagged_and_none_is_dropped():
    parsed = said("a, b, d")
    assert parsed.flags == (Flag("too_many", count=3),)
    assert sum(parsed.scores.values()) == 3
    assert Flag("too_many", count=3) in said("apple, date, bitter orange").flags


def test_a_failed_call_is_no_answer():
    judge = make(options=FRUIT, several=True)
    assert judge.parse([]).status == "blank"
    assert judge.parse([Reply("", "error")]).status == "failed"
    assert judge.parse([Reply("No.", "refusal")]).status == "refused"
    assert set(judge.parse([Reply("a", "content_filter")]).scores.values()) == {None}


def test_one_right_choice():
    judge = make(letters=4)
    assert judge.parse([Reply("b")]).extra["choice"] == "B"
    assert judge.parse([Reply("Answer: a")]).extra["choice"] == "A"
    assert judge.parse([Reply("b or c")]).reasons["B"] == "ambiguous"
    assert judge.parse([Reply("a, b")]).extra["choice"] is None


def test_options_of_an_item_stand_in_the_prompt():
    judge = make(letters=3)
    for choices in (["Oak", "Apple"], '["Oak", "Apple"]', {"A": "Oak", "B": "Apple"}):
        (request,) = judge.requests(Item("1", "Which is a fruit?", {"choices": choices}))
        assert request.messages[-1].content.splitlines()[1:4] == [
            "Which is a fruit?",
            "a: Oak",
            "b: Apple",
        ]
    assert judge.requests(Item("2", " ", {"choices": ["Oak", "Apple"]})) == []


@pytest.mark.parametrize("choices", [None, [], ["Oak"], ["1", "2", "3", "4"], "Oak, Apple", 7])
def test_an_item_without_usable_options_is_named(choices):
    with pytest.raises(InputError, match="item 'q7' needs 'choices', a list of 2 to 3 options"):
        make(letters=3).requests(Item("q7", "Which?", {"choices": choices}))


def test_a_field_that_the_prompt_shows_must_be_there():
    judge = make(options=FRUIT, prompt="{text} in {season}\n{choices}")
    with pytest.raises(InputError, match="item '1' has no 'season'"):
        judge.requests(Item("1", "What grows"))


def test_braces_in_texts_are_texts():
    judge = make(options=FRUIT, prompt="{text} in {season}\n{choices}")
    (request,) = judge.requests(Item("1", "{choices} {season}", {"season": "{text}"}))
    assert request.messages[-1].content.startswith("{choices} {season} in {text}\na: apple")


def test_examples_come_as_turns_and_never_the_item_itself():
    shots = [
        {"text": "Red and round", "answer": ["apple", "cherry, sweet"]},
        {"id": "9", "text": "Sour", "answer": "bitter orange"},
    ]
    judge = make(options=FRUIT, several=True, prompt="{text}\n{choices}", examples=shots)
    (request,) = judge.requests(Item("1", "Long and brown"))
    assert [m.role for m in request.messages] == ["user", "assistant"] * 2 + ["user"]
    assert request.messages[1].content == "a, c"
    assert request.messages[3].content == "b"
    for item in (Item("9", "Other"), Item("2", "Sour")):
        assert len(judge.requests(item)[0].messages) == 3
    wrong = make(options=FRUIT, examples=[{"text": "Red", "answer": "plum"}])
    with pytest.raises(InputError, match="'answer' must name options, got 'plum'"):
        wrong.requests(Item("1", "Long"))


def test_options_must_differ():
    with pytest.raises(InputError, match="2 to 26 options that differ"):
        make(options=["a", "a"])


def _cases():
    if not _CASES.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="shared cases not found"))]
    rows = [json.loads(line) for line in _CASES.read_text("utf-8").splitlines()]
    return [variant for case in rows if case["id"] == "A17" for variant in case["variants"]]


@pytest.mark.shared
@pytest.mark.parametrize("variant", _cases())
def test_the_reported_letters(variant):
    one, many = make(letters=4), make(letters=4, several=True)
    for judge in (one, many):
        parsed = judge.parse([Reply(variant["input"])])
        assert parsed.extra["choice"] == variant["expected"]
        assert (variant["expected"] is None) == (set(parsed.scores.values()) == {None})


@given(st.text(max_size=300))
def test_hostile_text_never_raises(text):
    for several in (True, False):
        judge = make(options=FRUIT, several=several)
        values = set(judge.parse([Reply(text)]).scores.values())
        assert values <= {0.0, 1.0} or values == {None}


def test_judges_and_people_are_shown_the_same_letters():
    item = Item("1", "Which?", {"choices": {"2": "rain", "10": "song", "1": "tea"}})
    asked = make(letters=3).requests(item)[0].messages[-1].content
    assert "a: tea\nb: rain\nc: song" in asked
    people = options_of(Humans(task="choice", options_from="choices"), item)
    assert people == {"A": "tea", "B": "rain", "C": "song"}
