"""Which token's alternatives are the log-probabilities of the options."""

from __future__ import annotations

import math

import pytest

from voirdire_judges.models._logprobs import option_logprobs

LEVELS = ("1", "2", "3", "4", "5")


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
    found = option_logprobs(positions(*tokens), LEVELS, "".join(tokens))
    assert found == {stated: pytest.approx(-0.1 * (at + 1)), "2": pytest.approx(-3.0)}


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
    found = option_logprobs([token], ("Yes", "No"), "Yes")
    assert math.exp(found["Yes"]) == pytest.approx(0.7)
