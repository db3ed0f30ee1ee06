"""A judge of ours inside others' pipelines: a `Runnable` of LangChain, and an evaluator."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("openai")

from wire_server import Answer, WireServer

from voirdire import InputError, plugins
from voirdire.schema import Attribute, Rubric
from voirdire_judges.agent import make as agent
from voirdire_judges.as_runnable import as_evaluator, as_runnable
from voirdire_judges.rubric import make as rubric

CALM = Rubric("calm", (Attribute("Calm", "How calm it is."), Attribute("Use", "How useful.")))


def model(server):
    return plugins().resolve("model", "openai")("m", base_url=server.openai)


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "held-for-tests-1234567890")


def test_a_judge_stands_in_a_chain_and_says_what_it_could_not_read():
    with WireServer('{"Calm": 4, "Use": null}') as server:
        chain = (lambda text: {"input": "I shout.", "output": text}) | as_runnable(
            rubric(CALM), model(server)
        )
        found = chain.invoke("Breathe slowly.")
        assert chain.invoke("Breathe slowly.") == found
        sent = server.requests[0].body["messages"][-1]["content"]
    assert found["scores"] == {"Calm": 4.0, "Use": None}
    assert found["reasons"]["Use"]
    assert "I shout." in sent
    assert "Breathe slowly." in sent
    with pytest.raises(InputError, match="takes"):
        as_runnable(rubric(CALM), model(server)).invoke("a text alone")


def test_a_judge_with_tools_takes_its_steps():
    def answers(seen):
        if any(message["role"] == "tool" for message in seen.body["messages"]):
            return '{"Calm": 4, "Use": 2}'
        return Answer("", calls=[("calculate", '{"expression": "1 + 1"}')])

    with WireServer(answers) as server:
        judge = agent(CALM, tools=["calculate"])
        asked = model(server)

        async def evaluated():
            evaluate = as_evaluator(judge, asked)
            found = await evaluate(inputs={"question": "How?"}, outputs={"answer": "So."})
            await asked.aclose()
            return found

        found = asyncio.run(evaluated())
        assert server.count == 2
    assert {one["key"]: one["score"] for one in found} == {"Calm": 4.0, "Use": 2.0}
