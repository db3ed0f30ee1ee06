"""Tools through every provider: what is sent, what comes back, and what of it is kept."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

pytest.importorskip("openai")

from wire_server import Answer, WireServer

from voirdire import plugins
from voirdire.schema import Message, Request, Sampling, Tool, ToolCall
from voirdire.store.records import RaterId, Slot, make_call, params_json
from voirdire_judges.models._requests import mark_of

FORMATS = ("openai", "openai-responses", "anthropic", "google", "compatible")
LOOKUP = Tool(
    "lookup",
    "Find a row.",
    {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
)
ASKED = (Message("system", "You judge."), Message("user", "Rate it."))


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "held-for-tests-1234567890")


#: What calls in plain text begin with.
MARK = re.compile(r"CALL-[0-9a-f]{8}")


def marked(text):
    """The text with the mark of the request for CALL, as a model would that does as it is told."""
    return lambda seen: text.replace("CALL", MARK.search(seen.system).group())


def model_of(form, server):
    address = server.openai if form.startswith(("openai", "compatible")) else server.url
    return plugins().resolve("model", form)("m", base_url=address)


def ask(model, *requests):
    async def all_of_them():
        try:
            return [await model.complete(request) for request in requests]
        finally:
            await model.aclose()

    return asyncio.run(all_of_them())


def in_words(server):
    """A model of an endpoint without tools: they are told, and its calls read, in plain text."""
    return plugins().resolve("model", "compatible")("m", base_url=server.openai, native_tools=False)


def called(reply):
    return Message("assistant", reply.text, calls=reply.tool_calls, thoughts=reply.thoughts)


@pytest.mark.parametrize("form", FORMATS)
def test_calls_go_both_ways(form):
    def answers(seen):
        if "row 7" in json.dumps(seen.body):
            return "4"
        return Answer("", calls=[("lookup", '{"key": "a"}'), ("lookup", '{"key": "b"}')])

    with WireServer(answers) as server:
        (first,) = ask(model_of(form, server), Request(ASKED, tools=(LOOKUP,)))
        assert first.finish_reason == "stop"
        assert first.text == ""
        assert [c.name for c in first.tool_calls] == ["lookup", "lookup"]
        assert [json.loads(c.arguments) for c in first.tool_calls] == [{"key": "a"}, {"key": "b"}]
        assert len({c.id for c in first.tool_calls}) == 2
        results = [Message("tool", "row 7", call_id=c.id, name=c.name) for c in first.tool_calls]
        again = Request((*ASKED, called(first), *results), tools=(LOOKUP,))
        (second,) = ask(model_of(form, server), again)
        assert (second.text, second.tool_calls) == ("4", ())
        sent = json.dumps(server.requests[0].body)
        assert "lookup" in sent
        assert '"required": ["key"]' in sent
        _check_results(form, server.requests[1].body, first)


def _check_results(form, body, first):
    """Each result names its call, as each provider wants it."""
    ids = [call.id for call in first.tool_calls]
    if form in ("openai", "compatible"):
        assert [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"] == ids
        assert [c["id"] for m in body["messages"] for c in m.get("tool_calls", ())] == ids
    elif form == "openai-responses":
        for kind in ("function_call", "function_call_output"):
            assert [p["call_id"] for p in body["input"] if p.get("type") == kind] == ids
    elif form == "anthropic":
        assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
        assert [b["tool_use_id"] for b in body["messages"][-1]["content"]] == ids
        assert [b["id"] for b in body["messages"][1]["content"]] == ids
    else:
        assert [c["role"] for c in body["contents"]] == ["user", "model", "user"]
        assert [p["functionResponse"]["name"] for p in body["contents"][-1]["parts"]] == [
            "lookup",
            "lookup",
        ]
        assert body["contents"][1]["parts"][0]["thoughtSignature"] == "c2ln"


@pytest.mark.parametrize("form", FORMATS)
def test_malformed_arguments_are_a_call_all_the_same(form):
    with WireServer(Answer("", calls=[("lookup", '{"key": ')])) as server:
        (reply,) = ask(model_of(form, server), Request(ASKED, tools=(LOOKUP,)))
        (call,) = reply.tool_calls
        assert call.arguments == '{"key": '
        result = Message("tool", "These are no JSON.", call_id=call.id, name=call.name)
        (again,) = ask(
            model_of(form, server), Request((*ASKED, called(reply), result), tools=(LOOKUP,))
        )
        assert len(again.tool_calls) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_without_tools_of_ours_a_call_hands_over_the_answer(form):
    with WireServer(Answer("", calls=[("answer", '{"Empathy": 4}')])) as server:
        (reply,) = ask(model_of(form, server), Request(ASKED))
    assert json.loads(reply.text) == {"Empathy": 4}
    assert reply.tool_calls == ()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("fault", "finish"), [("refusal", "refusal"), ("length", "length"), ("empty", "empty")]
)
def test_an_answer_that_is_none_is_none_with_tools_too(form, fault, finish):
    with WireServer(Answer("so", finish=fault)) as server:
        (reply,) = ask(model_of(form, server), Request(ASKED, tools=(LOOKUP,)))
    assert reply.finish_reason == finish
    assert reply.tool_calls == ()


def test_keys_of_requests_without_tools_stay_and_tools_and_calls_change_them():
    slot = Slot(RaterId("judge", "ann", "openai:m", "p"), "1")
    plain = make_call(slot, Request(ASKED, temperature=0.0))
    # As version 0.1 made it: stored replies are found by it.
    assert plain.key.hex() == "31b381335d3d8d8c8d032d6f20d01826"
    assert params_json(Request(ASKED, temperature=0.0)) == '{"temperature":0.0}'
    call = ToolCall("c1", "lookup", "{}")
    keys = {
        make_call(slot, request).key
        for request in (
            Request(ASKED, temperature=0.0),
            Request(ASKED, temperature=0.0, tools=(LOOKUP,)),
            Request((*ASKED, Message("assistant", "", calls=(call,)))),
            Request((*ASKED, Message("assistant", ""))),
            Request((*ASKED, Message("tool", "x", call_id="c1"))),
            Request((*ASKED, Message("tool", "x", call_id="c2"))),
        )
    }
    assert len(keys) == 6


def test_models_without_calls_are_told_in_text_and_read_from_it():
    result = Message("tool", "row 7", call_id="call_1", name="lookup")
    text = 'I look.\nCALL {"tool": "lookup", "arguments": {"key": "a"}}\n'
    with WireServer(marked(text)) as server:
        (reply,) = ask(in_words(server), Request(ASKED, tools=(LOOKUP,)))
        asked = Sampling().request((*ASKED, called(reply), result), tools=(LOOKUP,))
        ask(in_words(server), asked)
        body = server.requests[-1].body
    assert "tools" not in body
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    said = [m["content"] for m in body["messages"]]
    assert "lookup: Find a row." in said[0]
    mark = MARK.search(said[0]).group()
    assert f'{mark} {{"tool": "lookup", "arguments": {{"key": "a"}}}}' in said[2]
    assert said[3] == "Result of lookup:\nrow 7"


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("4", []),
        ("You may CALL {} it.", []),
        ('CALL {"tool": "a"}', [("a", "{}")]),
        ('CALL {"tool": "a", "arguments": {"x": ', [("", '{"tool": "a", "arguments": {"x": ')]),
        ("CALL {1: 2}", [("", "{1: 2}")]),
        ("CALL {" + "{" * 3000, [("", "{" * 3001)]),
        ('CALL {"tool": "a"}\nCALL {"tool": "b"}', [("a", "{}"), ("b", "{}")]),
    ],
)
def test_calls_in_text(text, calls):
    with WireServer(marked(text)) as server:
        (reply,) = ask(in_words(server), Request(ASKED, tools=(LOOKUP,)))
    assert [(c.name, c.arguments) for c in reply.tool_calls] == calls


def test_what_a_reply_quotes_calls_nothing():
    """Each request draws its own mark, so that no text can hold it; the same request draws it again."""
    quoted = 'It says:\nCALL {"tool": "lookup", "arguments": {"key": "a"}}\nCALL-0a1b2c3d {"tool": "x"}\n4'
    with WireServer(quoted) as server:
        model = in_words(server)
        asked = [Request((*ASKED[:1], Message("user", text)), tools=(LOOKUP,)) for text in "aba"]
        replies = ask(model, *asked)
        marks = [MARK.search(one.system).group() for one in server.requests]
    assert [reply.tool_calls for reply in replies] == [(), (), ()]
    assert replies[0].text == quoted
    assert len(set(marks)) == 2
    first = mark_of(asked[0])
    assert first in marks
    assert mark_of(Request((Message("user", first),), tools=(LOOKUP,))) != first


def test_an_endpoint_without_tools_speaks_the_plain_protocol():
    with WireServer(marked('CALL {"tool": "lookup", "arguments": {"key": "a"}}')) as server:
        (reply,) = ask(in_words(server), Request(ASKED, tools=(LOOKUP,)))
        assert "tools" not in server.requests[0].body
        assert "lookup: Find a row." in server.requests[0].system
    assert reply.tool_calls == (ToolCall("call_1", "lookup", '{"key": "a"}'),)


def test_langchain_gets_thoughts_back():
    messages = pytest.importorskip("langchain_core.messages")
    fakes = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    from voirdire_judges.models.langchain import make

    heard = []

    class Thinks(fakes.GenericFakeChatModel):
        def bind_tools(self, tools, **more):
            return self

        def _generate(self, asked, *args, **more):
            heard.append(asked)
            return super()._generate(asked, *args, **more)

    made = {"name": "lookup", "args": {"key": "a"}, "id": "c1", "type": "tool_call"}
    blocks = [THINKING, {"type": "tool_use", "id": "c1", "name": "lookup", "input": {"key": "a"}}]
    extra = {"signatures": {"c1": "c2ln"}}
    first = messages.AIMessage(blocks, tool_calls=[made], additional_kwargs=extra)
    model = make(Thinks(messages=iter([first, messages.AIMessage("4")])))
    reply = asyncio.run(model.complete(Request(ASKED, tools=(LOOKUP,))))
    result = Message("tool", "row", call_id="c1", name="lookup")
    asyncio.run(model.complete(Request((*ASKED, called(reply), result), tools=(LOOKUP,))))
    back = heard[1][2]
    assert (back.content, back.additional_kwargs, back.tool_calls) == (blocks, extra, [made])


def test_langchain_binds_tools_or_speaks_the_plain_protocol():
    messages = pytest.importorskip("langchain_core.messages")
    fakes = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    from voirdire_judges.models.langchain import make

    bound = []

    class Binds(fakes.GenericFakeChatModel):
        def bind_tools(self, tools, **more):
            bound.append(tools)
            return self

    made = {"name": "lookup", "args": {"key": "a"}, "id": "c1", "type": "tool_call"}
    broken = {"name": "lookup", "args": "{", "id": "c2", "error": None, "type": "invalid_tool_call"}
    first = messages.AIMessage("", tool_calls=[made], invalid_tool_calls=[broken])
    model = make(Binds(messages=iter([first, messages.AIMessage("4")])))
    asked = Request(ASKED, tools=(LOOKUP,))
    reply = asyncio.run(model.complete(asked))
    assert [(c.id, c.arguments) for c in reply.tool_calls] == [("c1", '{"key": "a"}'), ("c2", "{")]
    assert (reply.text, reply.finish_reason) == ("", "stop")
    assert bound[0][0]["function"]["name"] == "lookup"
    results = [Message("tool", "row", call_id=c.id, name=c.name) for c in reply.tool_calls]
    again = Request((*ASKED, called(reply), *results), tools=(LOOKUP,))
    assert asyncio.run(model.complete(again)).text == "4"
    text = 'CALL {"tool": "lookup", "arguments": {"key": "a"}}'
    text = text.replace("CALL", mark_of(asked))
    plain = make(fakes.GenericFakeChatModel(messages=iter([messages.AIMessage(text)])))
    assert asyncio.run(plain.complete(asked)).tool_calls[0].arguments == '{"key": "a"}'


THINKING = {"type": "thinking", "thinking": "Look it up.", "signature": "s1g"}
REDACTED = {"type": "redacted_thinking", "data": "hidden"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


@pytest.mark.parametrize(
    ("form", "blocks"),
    [
        ("anthropic", [THINKING, REDACTED]),
        ("openai-responses", [REASONING]),
        ("compatible", [{"reasoning_content": "Look it up."}]),
        ("openai", [{"reasoning_details": [{"type": "reasoning.text", "text": "Look."}]}]),
    ],
)
def test_thoughts_come_back_with_the_results_as_they_were(form, blocks):
    call = Answer("I look.", blocks=blocks, calls=[("lookup", '{"key": "a"}')])
    with WireServer(call) as server:
        (first,) = ask(model_of(form, server), Request(ASKED, tools=(LOOKUP,)))
        result = Message("tool", "row", call_id=first.tool_calls[0].id, name="lookup")
        ask(model_of(form, server), Request((*ASKED, called(first), result), tools=(LOOKUP,)))
        body = server.requests[1].body
    number = first.tool_calls[0].id
    if form == "anthropic":
        content = body["messages"][1]["content"]
        assert content[:2] == blocks
        assert [block["id"] for block in content if block["type"] == "tool_use"] == [number]
    elif form == "openai-responses":
        assert [part["type"] for part in body["input"] if "type" in part] == [
            "reasoning",
            "function_call",
            "function_call_output",
        ]
        assert REASONING in body["input"]
    else:
        (message,) = (m for m in body["messages"] if m["role"] == "assistant")
        assert blocks[0].items() <= message.items()
        assert message["tool_calls"][0]["id"] == number


def test_reasoning_that_the_provider_would_not_find_is_left_out():
    plain = {name: value for name, value in REASONING.items() if name != "encrypted_content"}
    with WireServer(Answer("", blocks=[plain], calls=[("lookup", '{"key": "a"}')])) as server:
        (reply,) = ask(model_of("openai-responses", server), Request(ASKED, tools=(LOOKUP,)))
    assert reply.thoughts == ()
    assert len(reply.tool_calls) == 1


def test_an_answer_without_calls_keeps_no_thoughts():
    with WireServer(Answer("4", blocks=[THINKING])) as server:
        (reply,) = ask(model_of("anthropic", server), Request(ASKED, tools=(LOOKUP,)))
    assert (reply.text, reply.thoughts) == ("4", ())


def test_a_signature_of_gemini_behind_the_chat_format_comes_back():
    from voirdire_judges.models.compatible import COMPATIBLE, make

    extra = {"google": {"thought_signature": "c2ln"}}
    made = {"id": "c1", "function": {"name": "lookup", "arguments": "{}"}, "extra_content": extra}
    asked = Request(ASKED, tools=(LOOKUP,))
    reply = COMPATIBLE.read({"choices": [{"message": {"tool_calls": [made]}}]}, asked)
    model = make("m", base_url="http://localhost/v1")
    sent = model.parameters(Request((*ASKED, called(reply)), tools=(LOOKUP,)))
    assert sent["messages"][-1]["tool_calls"][0]["extra_content"] == extra


def test_thoughts_are_kept_and_make_the_same_key_again():
    from voirdire.store.records import calls_json, message_of

    message = Message("assistant", "I look.", (ToolCall("c1", "lookup"),), thoughts=(THINKING,))
    assert message_of("assistant", "I look.", calls_json(message)) == message
    bare = Message("assistant", "I look.", (ToolCall("c1", "lookup"),))
    assert "thoughts" not in calls_json(bare)
    assert message_of("assistant", "I look.", calls_json(bare)) == bare
