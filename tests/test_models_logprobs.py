"""Which token's alternatives are the log-probabilities of the options."""

from __future__ import annotations

import math

import pytest

from voirdire.schema import Message, Request
from voirdire_judges.models.compatible import COMPATIBLE

LEVELS = ("1", "2", "3", "4", "5")


def option_logprobs(tokens, options, text):
    """Those of a chat completion whose tokens come with these alternatives."""
    content = [
        {"token": token, "top_logprobs": [{"token": t, "logprob": p} for t, p in alternatives]}
        for token, alternatives in tokens
    ]
    choice = {"message": {"content": text}, "logprobs": {"content": content}}
    asked = Request((Message("user", "Rate it."),), options=tuple(options))
    return COMPATIBLE.read({"choices": [choice]}, asked).option_logprobs


def positions(*tokens: str) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(token, [(token, -0.1 * (at + 1)), ("2", -3.0)]) for at, token in enumerate(tokens)]


@pytest.mark.parametrize(
    ("tokens", "stated"),
    [
        (("4",), "4"),
        ((" 4",), "4"),
        (("On", " a", " scale", " of", " 1", " to", " 5", ":", " 4"), "4"),
        (("Score", ":", " 3", "/", "5"), "3"),
        (("3", " at", " first", ".", " Final", " score", ":", " 4"), "4"),
    ],
)
def test_the_token_of_the_stated_option_counts(tokens: tuple[str, ...], stated: str) -> None:
    at = max(n for n, token in enumerate(tokens) if token.strip() == stated)
    logprobs = option_logprobs(positions(*tokens), LEVELS, "".join(tokens))
    assert logprobs == {stated: pytest.approx(-0.1 * (at + 1)), "2": pytest.approx(-3.0)}


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (("1", "0"), "10"),
        (("I", " cannot", " rate", " this", "."), "I cannot rate this."),
        (("3", " or", " 4"), "3 or 4"),
        (("{", "}"), "{}"),
    ],
)
def test_without_a_stated_option_there_are_none(tokens: tuple[str, ...], text: str) -> None:
    assert option_logprobs(positions(*tokens), LEVELS, text) == {}


def test_spellings_of_an_option_add_up() -> None:
    token = ("Yes", [("Yes", math.log(0.5)), (" yes", math.log(0.2)), ("No", math.log(0.2))])
    logprobs = option_logprobs([token], ("Yes", "No"), "Yes")
    assert math.exp(logprobs["Yes"]) == pytest.approx(0.7)
