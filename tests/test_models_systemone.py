"""Decision models on the wire: a choice and the probability of each option."""

from __future__ import annotations

import asyncio
import math

import polars as pl
import pytest
from wire_server import Answer, WireServer

from voirdire import ModelError
from voirdire.errors import InputError
from voirdire.running import run
from voirdire.schema import Message, Request
from voirdire.study import load_study

pytest.importorskip("orjson")

from voirdire_judges.models.systemone import make

ASKED = Request(
    (Message("system", "Is it about a refund?"), Message("user", "Charged twice!")),
    options=("yes", "no"),
)
SURE = Answer("yes", logprobs={"yes": math.log(0.9), "no": math.log(0.1)})


def asked(model, request=ASKED):
    async def go():
        try:
            return await model.complete(request)
        except ModelError as error:
            return error
        finally:
            await model.aclose()

    return asyncio.run(go())


def test_a_choice_comes_back_with_the_probability_of_each_option(monkeypatch):
    monkeypatch.setenv("A_KEY", "planted-key-7f3a9c")
    with WireServer(SURE) as server:
        reply = asked(make("jev-latest", base_url=server.openai, api_key_env="A_KEY"))
        (seen,) = server.requests
    assert reply.text == "yes"
    assert {o: round(math.exp(p), 9) for o, p in reply.option_logprobs.items()} == {
        "yes": 0.9,
        "no": 0.1,
    }
    assert (reply.usage.input, reply.usage.output) == (100, 0)
    assert reply.model == "jev-latest"
    assert seen.path.endswith("/systemone")
    assert seen.headers["Authorization"] == "Bearer planted-key-7f3a9c"
    assert seen.body == {
        "model": "jev-latest",
        "state": "Charged twice!",
        "questions": {
            "answer": {
                "type": "choice",
                "instructions": "Is it about a refund?",
                "criteria": {"yes": "yes", "no": "no"},
            }
        },
    }


def test_a_question_without_options_is_refused_before_it_is_sent():
    with WireServer(SURE) as server:
        error = asked(make("m", base_url=server.openai), Request(ASKED.messages))
        assert server.count == 0
    assert not error.retryable
    assert "names none" in str(error)


@pytest.mark.parametrize(
    "said", [Answer("maybe", logprobs={"yes": 0.0}), Answer("yes", logprobs={"yes": 1.0})]
)
def test_what_is_no_option_or_no_probability_is_malformed(said):
    with WireServer(said) as server:
        error = asked(make("m", base_url=server.openai))
    assert isinstance(error, ModelError)
    assert error.kind == "malformed"


def test_what_such_a_model_does_not_know_is_refused_or_dropped_and_said():
    seeded = Request(ASKED.messages, options=ASKED.options, temperature=0.0, seed=7)
    with WireServer(SURE) as server:
        error = asked(make("m", base_url=server.openai), seeded)
        reply = asked(make("m", base_url=server.openai, on_refused_parameter="drop"), seeded)
        assert set(server.requests[-1].body) == {"model", "state", "questions"}
        warm = Request(ASKED.messages, options=ASKED.options, temperature=0.7)
        hot = asked(make("m", base_url=server.openai), warm)
    assert error.parameter == "seed"
    assert [note.about for note in reply.notes] == ["seed"]
    assert "temperature 0.7 is asked for" in str(hot)


def test_faults_and_addresses_are_those_of_any_endpoint():
    with WireServer(SURE) as server:
        server.fault("rate_limit")
        error = asked(make("m", base_url=server.openai))
    assert (error.kind, error.retryable) == ("rate_limit", True)
    with pytest.raises(InputError, match="base_url"):
        make("m")


def test_a_rubric_is_scored_by_the_probabilities_of_its_levels(tmp_path):
    items = pl.DataFrame({"id": ["1", "2"], "text": ["Ask one.", "Ask two."]})
    items.write_csv(tmp_path / "items.csv")
    answers = pl.DataFrame({"item": ["1", "2"], "system": "s", "text": ["Yes.", "No."]})
    answers.write_csv(tmp_path / "answers.csv")
    levels = Answer("4", logprobs={"4": math.log(0.75), "5": math.log(0.25)})
    with WireServer(levels) as server:
        (tmp_path / "study.toml").write_text(
            f"""
name = "s"
[items]
path = "items.csv"
[responses]
path = "answers.csv"
[rubric]
scale = [1, 5]
attributes = ["Help"]
[[panel]]
name = "decider"
model = "systemone:m"
use = "rubric"
options = {{ score = "levels" }}
model_options = {{ base_url = "{server.openai}" }}
"""
        )
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "session", quiet=True)
    scores = pl.read_parquet(result.folder / "ratings.parquet")["score"].to_list()
    assert scores == pytest.approx([4.25, 4.25])


def test_an_annotator_that_names_its_options_is_answered_by_a_decision_model(tmp_path):
    pl.DataFrame({"id": ["1", "2"], "text": ["Charged twice!", "Late."]}).write_csv(
        tmp_path / "items.csv"
    )
    second = Answer("b", logprobs={"a": math.log(0.2), "b": math.log(0.8)})
    with WireServer(second) as server:
        (tmp_path / "study.toml").write_text(
            f"""
name = "s"
[items]
path = "items.csv"
[[panel]]
name = "decider"
kind = "annotator"
use = "choice"
model = "systemone:m"
options = {{ options = ["refund", "shipping"], named = true }}
model_options = {{ base_url = "{server.openai}" }}
"""
        )
        result = run(load_study(tmp_path / "study.toml"), tmp_path / "session", quiet=True)
        assert result.complete
        asked = [seen.body["questions"]["answer"]["criteria"] for seen in server.requests]
    assert asked == [{"a": "a", "b": "b"}] * 2
    said = pl.read_parquet(tmp_path / "session" / "ratings.parquet")
    assert said.group_by("attribute").agg(pl.col("score").sum()).sort("attribute").rows() == [
        ("refund", 0.0),
        ("shipping", 2.0),
    ]
