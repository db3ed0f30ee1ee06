"""The pairwise judge and the generator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire import InputError
from voirdire.schema import Attribute, Comparison, Item, Reply, Response, Rubric, Scale
from voirdire_judges.chat import SYSTEM_PROMPTS
from voirdire_judges.chat import make as make_chat
from voirdire_judges.pairwise import make

ITEM = Item("7", "I cannot sleep before exams.")
ONE, TWO = Response("7", "alpha", "A fixed bedtime may help."), Response("7", "beta", "Try harder.")


def test_the_first_response_is_a_and_no_system_is_named():
    (request,) = make("mentalalign").requests(Comparison(ITEM, TWO, ONE))
    system, user = (message.content for message in request.messages)
    assert user.index("<<<A ") < user.index("Try harder.") < user.index("<<<B ")
    assert user.index("<<<B ") < user.index("A fixed bedtime")
    assert not any(name in system + user for name in ("alpha", "beta"))
    assert request.schema["properties"]["Empathy"]["enum"] == ["A>>B", "A>B", "A=B", "B>A", "B>>A"]


def test_both_orders_differ_in_the_order_alone():
    judge = make("mentalalign")
    (shown,), (swapped,) = (
        judge.requests(Comparison(ITEM, *pair)) for pair in ((ONE, TWO), (TWO, ONE))
    )
    assert shown.messages[0] == swapped.messages[0]
    assert shown.messages[1] != swapped.messages[1]


@pytest.mark.parametrize(
    ("level", "score"), [("A>>B", 2), ("A>B", 1), ("A=B", 0), ("B>A", -1), ("B>>A", -2)]
)
def test_five_levels_prefer_the_response_shown_first_above_nought(level, score):
    parsed = make("mentalalign").parse([Reply(f'{{"Empathy": "{level}"}}')])
    assert parsed.scores["Empathy"] == score
    assert parsed.scores["Safety"] is None
    assert parsed.statuses["Safety"] == "blank"


def test_unusable_replies_and_missing_texts_stay_missing():
    judge = make("mentalalign")
    assert judge.parse([Reply("", "refusal")]).status == "refused"
    assert judge.parse([Reply("", "error")]).status == "failed"
    assert judge.parse([]).status == "blank"
    assert judge.requests(Comparison(ITEM, ONE, Response("7", "beta", ""))) == []


def test_orders_in_a_response_are_echoed_with_a_flag():
    reply = '{"Empathy": "A>>B", "Explanation": "As requested, A gets full marks for everything."}'
    assert any(
        flag.kind == "echoes_orders" for flag in make("mentalalign").parse([Reply(reply)]).flags
    )


@given(st.text(max_size=200))
def test_no_reply_makes_it_raise(text):
    assert len(make("mentalalign").parse([Reply(text)]).scores) == 7


def test_a_generator_asks_as_the_paper_did():
    # Badawi et al. (2025), section 3.2: temperature 0.7, at most 512 tokens, one system prompt.
    (request,) = make_chat().requests(ITEM)
    assert (request.temperature, request.max_tokens) == (0.7, 512)
    assert [m.role for m in request.messages] == ["system", "user"]
    assert request.messages[0].content == SYSTEM_PROMPTS["psychiatrist"]
    assert request.messages[1].content == ITEM.text
    assert "psychiatrist" in request.messages[0].content


def test_a_generator_keeps_the_text_as_it_came_and_sends_no_empty_item():
    generator = make_chat(system_prompt="Be brief.")
    assert generator.parse([Reply(" Text \n")], "7") == Response("7", "", " Text \n")
    assert generator.parse([], "7").text == ""
    assert generator.requests(Item("8", " ")) == []
    assert len(make_chat(prompt="none").requests(ITEM)[0].messages) == 1
    with pytest.raises(InputError, match="prompt 'x' is unknown"):
        make_chat(prompt="x")


def test_what_attributes_mean_may_depend_on_the_item():
    rubric = Rubric("r", (Attribute("First"), Attribute("Overall", "Better in all?")), Scale(-2, 2))
    judge = make(rubric, criteria_by="kind", criteria_of={"tea": ["Is it warm?"], "rain": ["Wet?"]})
    asked = {}
    for kind in ("tea", "rain"):
        item = Item("1", "About it.", {"kind": kind})
        (request,) = judge.requests(
            Comparison(item, Response("1", "a", "One."), Response("1", "b", "Two."))
        )
        asked[kind] = request.messages[0].content
    assert "Is it warm?" in asked["tea"]
    assert "Wet?" in asked["rain"]
    assert all("Better in all?" in text for text in asked.values())
    with pytest.raises(InputError, match="kind 'snow' of item '1' has no criteria"):
        judge.requests(
            Comparison(
                Item("1", "x", {"kind": "snow"}),
                Response("1", "a", "One."),
                Response("1", "b", "Two."),
            )
        )
    with pytest.raises(InputError, match="go together"):
        make(rubric, criteria_by="kind")
    with pytest.raises(InputError, match="more than the 2 attributes"):
        make(rubric, criteria_by="kind", criteria_of={"tea": ["a", "b", "c"]})
