"""Judges that are whole programs of LangChain and LangGraph: each question is a kept step."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("openai")

from test_agents import agent_study, at
from wire_server import Answer, WireServer

from voirdire.errors import InputError
from voirdire.running import run
from voirdire.schema import Attribute, Item, Rating, Reply, Response, Rubric
from voirdire.store import ratings_frame, replies_frame
from voirdire.store.replies import shown_messages
from voirdire_judges.program import make

pytestmark = pytest.mark.usefixtures("invented_key")

CHAIN = """
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda


def build(model, ends="model"):
    async def whole(messages):
        notes = await model.ainvoke([*messages, HumanMessage("First list what is missing.")])
        answer = await model.ainvoke([*messages, notes, HumanMessage("Now score.")])
        return answer if ends == "model" else "5 of 5"

    return RunnableLambda(whole)


def forgets(model):
    return HumanMessage("Hello") | RunnableLambda(lambda _: model.invoke("Plan."))


def forgetful(model):
    return RunnableLambda(lambda messages: model.invoke("Plan."))


def silent(model):
    return RunnableLambda(lambda messages: "4")


def number(model):
    return 4
"""
GRAPH = """
from typing import Annotated, TypedDict

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition


class State(TypedDict):
    messages: Annotated[list, add_messages]


@tool
def words(text: str) -> int:
    "How many words a text has."
    return len(text.split())


def build(model):
    helped = model.bind_tools([words])

    def ask(state):
        return {"messages": [helped.invoke(state["messages"])]}

    def score(state):
        asked = [*state["messages"], HumanMessage("Score now.")]
        return {"messages": [HumanMessage("Score now."), model.invoke(asked)]}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode([words]))
    graph.add_node("score", score)
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition, {"tools": "tools", END: "score"})
    graph.add_edge("tools", "ask")
    graph.add_edge("score", END)
    return graph.compile()
"""
CALM = Rubric("calm", (Attribute("Calm", "How calm it is."),))
TASK = Rating(Item("i", "I shout."), Response("i", "a", "Breathe."))


@pytest.fixture
def beside(tmp_path, monkeypatch):
    (tmp_path / "my_programs.py").write_text(CHAIN)
    (tmp_path / "my_graphs.py").write_text(GRAPH)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("my_programs", "my_graphs"):
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
    return tmp_path


def program_study(folder, address, path, **options):
    study = agent_study(folder, address, items=2)
    judge = study.panel[0].model_copy(
        update={"use": "program", "options": {"path": path, **options}}
    )
    return study.model_copy(update={"panel": (judge,)})


def says(seen):
    last = seen.body["messages"][-1]["content"]
    if "First list" in last:
        return "A bedtime is missing."
    assert "A bedtime is missing." in json.dumps(seen.body)
    return '{"Empathy": 4}'


def test_each_question_of_a_program_is_a_kept_step_that_is_paid_for_once(beside):
    with WireServer(says) as server:
        study = program_study(beside, at(server), "my_programs:build")
        first = run(study, beside / "a", max_calls=3, quiet=True)
        assert (first.exit_code, server.count) == (3, 3)
        again = run(study, beside / "a", resume=True, quiet=True)
        assert (again.exit_code, server.count) == (0, 4)
    assert ratings_frame(beside / "a")["score"].to_list() == [4.0, 4.0]
    assert sorted(replies_frame(beside / "a")["step"].to_list()) == [0, 0, 1, 1]
    shown = shown_messages(beside / "a", "looker", "i0", "warm", 1)
    assert "Now score." in [one.text for one in shown if one.step == 1][-2:]


def test_a_graph_with_tools_and_a_kill_between_its_steps(beside):
    pytest.importorskip("langgraph", reason="pip install langgraph")

    def answers(seen):
        body = json.dumps(seen.body)
        if "Score now." in body:
            return '{"Empathy": 3}'
        if any(one["role"] == "tool" for one in seen.body["messages"]):
            return "It has three words."
        return Answer("", calls=[("words", '{"text": "Keep a bedtime"}')])

    with WireServer(answers) as server:
        study = program_study(beside, at(server), "my_graphs:build")
        for calls, count in ((1, 1), (2, 2), (4, 4), (None, 6)):
            there = (beside / "a").exists()
            run(study, beside / "a", resume=there, max_calls=calls, quiet=True)
            assert server.count == count
        assert all(
            one.body["tools"][0]["function"]["name"] == "words"
            for one in server.requests
            if "Score now." not in json.dumps(one.body)
        )
    assert ratings_frame(beside / "a")["score"].to_list() == [3.0, 3.0]
    steps = replies_frame(beside / "a")
    assert sorted(steps["step"].to_list()) == [0, 0, 1, 1, 2, 2]


def test_programs_that_cannot_be_kept_are_said(beside):
    def made(name, **options):
        return make(CALM, path=f"my_programs:{name}", **options)

    with pytest.raises(InputError, match="must be a callable that takes a chat model"):
        made("number")
    with pytest.raises(InputError, match="cannot be imported"):
        made("nothing")
    with pytest.raises(InputError, match="without a question"):
        made("silent").requests(TASK)
    forgetful = made("forgetful")
    forgetful.requests(TASK)
    with pytest.raises(InputError, match="the same question about two texts"):
        forgetful.requests(Rating(Item("j", "I cry."), TASK.response))
    judge = made("build", arguments={"ends": "otherwise"})
    replies = []
    for text in ("Nothing.", '{"Calm": 4}'):
        (asked,) = judge.follow_up(replies) if replies else judge.requests(TASK)
        replies.append(Reply(text, request=asked))
    with pytest.raises(InputError, match="its answer is not what its model said last"):
        judge.follow_up(replies)
