"""The simulated judge: declared reliability, bias and drop-out, and no mistaking it for a model."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import numpy as np
import pytest

from voirdire import InputError, ModelError, plugins
from voirdire.schema import Item, Message, Note, Rating, Request, Response
from voirdire_judges.chat import make as make_chat
from voirdire_judges.models.simulated import make
from voirdire_judges.pairwise import make as make_pairwise
from voirdire_judges.rubric import make as make_judge

JUDGE = make_judge("mentalalign")


def scores(model, count=400, judge=JUDGE):
    async def go():
        found = []
        for i in range(count):
            task = Rating(Item(str(i), f"Concern {i}"), Response(str(i), "a", f"Answer {i}"))
            replies = [await model.complete(request) for request in judge.requests(task)]
            found.append(judge.parse(replies).scores["Empathy"])
        return found

    return np.array(asyncio.run(go()), dtype=float)


def test_equal_requests_get_equal_replies_and_other_judges_other_ones():
    assert np.array_equal(scores(make("a"), 50), scores(make("a"), 50))
    assert not np.array_equal(scores(make("a"), 50), scores(make("b"), 50))
    assert not np.array_equal(scores(make("a"), 50), scores(make("a", seed=1), 50))


def test_judges_agree_as_far_as_their_reliability_says():
    strong = np.corrcoef(scores(make("a", reliability=0.9)), scores(make("b", reliability=0.9)))[
        0, 1
    ]
    weak = np.corrcoef(scores(make("a", reliability=0.2)), scores(make("b", reliability=0.2)))[0, 1]
    # The product of the two square roots is the expected correlation before rounding.
    assert strong == pytest.approx(0.9, abs=0.12)
    assert weak == pytest.approx(0.2, abs=0.12)
    assert np.array_equal(scores(make("a", reliability=1)), scores(make("b", reliability=1)))


def test_bias_moves_the_mean_and_scores_stay_on_the_scale():
    plain, lenient = scores(make("a", reliability=1)), scores(make("a", reliability=1, bias=1.0))
    assert 0.5 < (lenient - plain).mean() <= 1
    assert set(np.unique(lenient)) <= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("answers", ["calm", ["calm", 3], 5, None])
def test_answers_are_a_list_of_strings(answers):
    with pytest.raises(InputError, match="simulated:a: answers must be a list of strings, got"):
        make("a", answers=answers)


def test_drop_out_is_refusals_that_stay_missing():
    missing = np.isnan(scores(make("a", drop_out=0.2)))
    assert missing.mean() == pytest.approx(0.2, abs=0.06)


def test_every_reply_says_that_it_is_simulated():
    request = Request(
        (Message("user", "Hello"),), schema={"properties": {"Why": {"type": "string"}}}
    )
    model = make("a")
    reply = asyncio.run(model.complete(request))
    assert json.loads(reply.text)["Why"].startswith("[simulated]")
    assert reply.model == model.name == "simulated:a"
    assert reply.provider_id.startswith("simulated-")
    assert reply.notes == (Note("simulated", "", "no model was asked"),)
    assert reply.params["simulated"] is True
    text = asyncio.run(model.complete(make_chat().requests(Item("1", "Hello"))[0])).text
    assert text.startswith("[simulated]")


def test_it_answers_by_log_probability_and_in_pairs():
    weighted = scores(make("a", reliability=1), 40, make_judge("mentalalign", score="levels"))
    assert len(np.unique(weighted)) > 20
    assert np.all((weighted >= 1) & (weighted <= 5))
    from voirdire.schema import Comparison

    judge = make_pairwise("mentalalign")
    pair = Comparison(Item("1", "x"), Response("1", "a", "one"), Response("1", "b", "two"))
    reply = asyncio.run(make("a").complete(judge.requests(pair)[0]))
    assert judge.parse([reply]).status == "ok"


def test_it_is_found_by_its_prefix_like_any_model():
    assert plugins().resolve("model", "simulated") is make
    assert {"openai", "anthropic", "google", "compatible", "langchain", "hf"} <= set(
        plugins().names("model")
    )
    assert {"rubric", "pairwise"} <= set(plugins().names("judge"))
    assert "chat" in plugins().names("generator")


def test_wrong_shares_and_empty_messages_are_errors():
    with pytest.raises(InputError, match=r"reliability must lie in \[0, 1\], got 1.5"):
        make("a", reliability=1.5)
    with pytest.raises(ModelError, match="a user message without text was not sent"):
        asyncio.run(make("a").complete(Request((Message("user", ""),))))


def test_no_module_of_models_or_judges_imports_an_sdk():
    code = (
        "import importlib, pkgutil, sys, voirdire_judges\n"
        "for found in pkgutil.walk_packages(voirdire_judges.__path__, 'voirdire_judges.'):\n"
        "    importlib.import_module(found.name)\n"
        "slow = {'openai', 'anthropic', 'google.genai', 'langchain_core', 'torch', 'transformers',\n"
        "        'aiohttp', 'httpx', 'sklearn', 'scipy', 'faiss', 'matplotlib', 'numba'}\n"
        "print(sorted(slow & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_free_text_is_answered_with_the_labels_given():
    asked = [Request((Message("user", f"Which mood is letter {n} in?"),)) for n in range(60)]
    moods = ("Anger", "Grief, loss", "Fear")
    sure, other = (
        [asyncio.run(make(name, answers=moods, reliability=1).complete(r)).text for r in asked]
        for name in ("a", "b")
    )
    assert sure == other  # of full reliability both say the truth
    named = [text.split("; ") for text in sure]
    assert {len(names) for names in named} == {1, 2}
    assert {name for names in named for name in names} == set(moods)
    unsure = [asyncio.run(make("a", answers=moods, reliability=0).complete(r)).text for r in asked]
    assert unsure != sure


def test_models_without_a_bill_say_so():
    found = plugins()
    free = {
        name for name in found.names("model") if getattr(found.resolve("model", name), "free", 0)
    }
    assert free == {"simulated", "hf"}
