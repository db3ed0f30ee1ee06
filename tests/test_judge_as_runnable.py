"""A judge of ours inside others' pipelines: a `Runnable` of LangChain, and an evaluator."""

from __future__ import annotations

import asyncio
import gzip
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("langchain_core")
pytest.importorskip("openai")

from wire_server import Answer, WireServer

from voirdire import InputError, plugins
from voirdire.schema import Attribute, Rubric
from voirdire.study import build_study
from voirdire_judges.agent import make as agent
from voirdire_judges.as_runnable import as_evaluator, as_runnable, seat_of
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


def jury_study(server, combine):
    def judge(name, **more):
        options = {"base_url": server.openai}
        return {"name": name, "model": f"openai:{name}", "model_options": options, **more}

    attributes = [{"name": one.name, "description": one.description} for one in CALM.attributes]
    return build_study({
        "name": "calm", "rubric": {"attributes": attributes},
        "panel": [
            judge("a"), judge("b", temperature=0.7), judge("c"), {"name": "ann", "kind": "human"},
            {"name": "jury", "use": "jury", "members": ["a", "b", "c"], "combine": combine},
        ],
    })  # fmt: skip


SAID = {"a": '{"Calm": 2, "Use": 1}', "b": '{"Calm": 5, "Use": 2}', "c": '{"Calm": 5, "Use": null}'}


@pytest.mark.parametrize(
    ("combine", "calm", "use"), [("mean", 4.0, 1.5), ("median", 5.0, 1.5), ("vote", 5.0, None)]
)
def test_a_jury_of_a_study_is_asked_at_once_and_put_together(combine, calm, use):
    with WireServer(lambda seen: SAID[seen.body["model"]]) as server:
        jury = as_runnable(seat_of(jury_study(server, combine), "jury"))
        found = jury.invoke({"input": "I shout.", "output": "Breathe slowly."})
        sent = {one.body["model"]: one.body for one in server.requests}
    assert found["scores"] == {"Calm": calm, "Use": use}
    assert ("Use" in found["reasons"]) is (use is None)
    # As the study says it: each with its own sampling.
    assert (sent["a"]["temperature"], sent["b"]["temperature"]) == (0, 0.7)


def test_one_judge_of_a_study_is_an_evaluator_and_others_are_refused():
    with WireServer(lambda seen: SAID[seen.body["model"]]) as server:
        study = jury_study(server, "vote")

        async def evaluated():
            seat = seat_of(study, "a")
            found = await as_evaluator(seat)(inputs="I shout.", outputs="Breathe.")
            await seat.aclose()
            return found

        found = asyncio.run(evaluated())
        assert [(one["key"], one["score"]) for one in found] == [("Calm", 2.0), ("Use", 1.0)]
        with pytest.raises(InputError, match="'d'"):
            seat_of(study, "d")
        with pytest.raises(InputError, match="fitted to many judgements"):
            seat_of(jury_study(server, "fitted"), "jury")
        with pytest.raises(InputError, match="needs the model"):
            as_runnable(rubric(CALM))


class Traced:
    """LangSmith's endpoint, as its client sees it: what is sent is kept."""

    def __enter__(self):
        self.names, self.heard = [], threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer()

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                packed = self.headers.get("Content-Encoding") == "gzip"
                outer.names.append(gzip.decompress(raw) if packed else raw)
                outer.heard.set()
                self.answer()

            do_PATCH = do_POST  # noqa: N815 - its name

            def answer(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def test_a_users_callbacks_hear_a_judge_in_a_chain():
    from langchain_core.callbacks import BaseCallbackHandler

    heard = []

    class Hears(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, **more):
            heard.append(more.get("name"))

        def on_chain_end(self, outputs, **_):
            heard.append(outputs["scores"])

    with WireServer('{"Calm": 4, "Use": 2}') as server:
        judge = as_runnable(rubric(CALM), model(server))
        judge.invoke({"input": "a", "output": "b"}, {"callbacks": [Hears()]})
    assert heard == ["voirdire judge", {"Calm": 4.0, "Use": 2.0}]


def test_a_users_tracing_sees_what_a_run_asks(tmp_path):
    """LangSmith's, turned on by its variables, with an endpoint of ours in its place."""
    (tmp_path / "my_model.py").write_text(
        "from langchain_core.language_models.fake_chat_models import FakeListChatModel as Fake\n"
        "judge = Fake(responses=['{\"Calm\": 4}'], name='the judge of mine')\n"
    )
    (tmp_path / "items.csv").write_text("id,text\ni1,I shout.\n")
    (tmp_path / "responses.csv").write_text("item,system,text\ni1,a,Breathe.\n")
    (tmp_path / "study.toml").write_text(
        'name = "calm"\nitems = {path = "items.csv"}\nresponses = {path = "responses.csv"}\n'
        'rubric = {attributes = ["Calm"]}\n'
        '[[panel]]\nname = "j"\nmodel = "langchain:my_model:judge"\n'
    )
    with Traced() as traced:
        done = subprocess.run(
            [sys.executable, "-m", "voirdire", "run", "study.toml", "--out", "a"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "LANGSMITH_TRACING": "true",
                "LANGSMITH_ENDPOINT": traced.address,
                "LANGSMITH_API_KEY": "invented",
                "LANGSMITH_PROJECT": "judging",
            },
        )
        assert done.returncode == 0, done.stderr
        assert traced.heard.wait(10)
        sent = b"".join(traced.names)
    assert b"the judge of mine" in sent
    assert b"Breathe." in sent
