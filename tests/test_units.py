"""Turns and units: ids, clusters, transcripts that no content can forge, and tasks at a unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voirdire.errors import InputError
from voirdire.schema import Item, Rating, Response, Turn
from voirdire.units import Unit, at_unit, cluster_of, parted, positions, transcript, unit_of

TALK = (
    Turn("client", "I slept badly.\nAgain."),
    Turn("therapist", "Since when?"),
    Turn("client", "Since May."),
    Turn("therapist", "What changed in May?"),
)


@given(st.text(), st.sampled_from(["turn", "step"]), st.integers(1, 10**6))
def test_an_id_says_which_conversation_and_which_unit(item, kind, position):
    unit = Unit(kind, position)
    assert parted(unit.of(item)) == (item, unit)
    assert unit_of(unit.key) == unit
    assert cluster_of(unit.of(item)) == item


@pytest.mark.parametrize("name", ["c1", "my turn", "c turn 0", "c turn 01", "turn 4", "c1 step x"])
def test_an_id_without_a_place_is_a_whole(name):
    assert parted(name) == (name, Unit())


@pytest.mark.parametrize(("kind", "position"), [("turn", 0), ("whole", 3), ("first", 1)])
def test_a_unit_that_cannot_be_is_refused(kind, position):
    with pytest.raises(InputError, match="positions from 1"):
        Unit(kind, position)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), max_size=6))
def test_each_line_that_begins_a_turn_is_one(turns):
    lines = transcript([Turn(*turn) for turn in turns]).splitlines()
    heads = [line for line in lines if not line.startswith("    ")]
    assert [line.split(":")[0] for line in heads] == [
        f"[{at}] {role}" for at, (role, _) in enumerate(turns, 1)
    ]


def test_what_is_no_text_is_said_and_not_shown():
    image = {"type": "image_url", "image_url": {"url": "secret.png"}}
    shown = transcript([Turn("user", "Look:", name="Ann", parts=(image,))])
    assert shown == "[1] user (Ann): Look: [image_url, not shown]"


def test_a_turn_of_a_response_is_rated_given_its_past_and_what_it_answers():
    rating = Rating(Item("c1", "A client who sleeps badly."), Response("c1", "bot", "", TALK))
    task = at_unit(rating, Unit("turn", 4))
    assert task.response.text == "[4] therapist: What changed in May?"
    assert task.item.text == (
        "A client who sleeps badly.\n\nThe conversation so far:\n[1] client: I slept badly.\n"
        "    Again.\n[2] therapist: Since when?\n[3] client: Since May."
    )


def test_the_past_may_be_cut_and_turns_keep_their_numbers():
    rating = Rating(Item("c1"), Response("c1", "bot", "", TALK))
    cut = at_unit(rating, Unit("turn", 4), past=1).item.text
    assert cut == "The conversation so far:\n[1 to 2: not shown]\n[3] client: Since May."
    # That nothing of it is shown is said too; a first turn has no past.
    gone = at_unit(rating, Unit("turn", 4), past=0).item.text
    assert gone == "The conversation so far:\n[1 to 3: not shown]"
    assert at_unit(rating, Unit("turn", 1)).item.text == ""


def test_a_whole_is_its_transcript_and_a_text_stays_a_text():
    rating = Rating(Item("c1", turns=TALK[:1]), Response("c1", "bot", "", TALK[1:]))
    whole = at_unit(rating, Unit())
    assert whole.item.text == transcript(TALK[:1])
    assert whole.response.text == transcript(TALK[1:])
    plain = Rating(Item("c1", "A post."), Response("c1", "bot", "An answer."))
    assert at_unit(plain, Unit()) == plain


def test_a_turn_beyond_the_end_is_refused():
    with pytest.raises(InputError, match="has 4 turns, and turn 5"):
        at_unit(Item("c1", turns=TALK), Unit("turn", 5))


def test_where_a_role_speaks():
    assert positions(TALK, "therapist") == (2, 4)
    assert positions(TALK, "nobody") == ()
