"""Answers that are odd and come all the same: none loses a reply that was paid for.

Each was seen with some server or router: content in parts (Mistral, vLLM), errors inside a 200
(OpenRouter: BerriAI/litellm#8448, Aider-AI/aider#3550), prompts that are withheld under many names,
requests that are too long (benchflow-ai/benchflow#830), cached tokens beyond the prompt's
(promptfoo/promptfoo#9908).
"""

from __future__ import annotations

import json
import random

import pytest
from test_models_faults import (
    KEY,
    PROVIDERS,
    _anthropic,
    _compatible,
    _google,
    _langchain,
    _openai,
    _responses,
    ask,
)
from wire_server import WireServer

from voirdire import ModelError
from voirdire.parsing.scores import parse_scores
from voirdire.running.limits import wait_before
from voirdire.schema import Message, Reply, Request, Scale, Usage
from voirdire.study import RunSpec


@pytest.fixture(autouse=True)
def _planted_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)


def outcome(make, content, status=200, **more):
    """What comes of one answer of the server."""
    content = content if isinstance(content, str | bytes) else json.dumps(content)
    with WireServer() as server:
        server.fault("raw", times=None, status=status, content=content, **more)
        found = ask(make, server, timeout=60)
        assert server.count == 1
    assert KEY not in str(found)
    return found


def chat(message, finish="stop", **more):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 3}
    return {"id": "1", "model": "m", "choices": [choice], "usage": usage, **more}


def responses(*messages, status="completed"):
    """A response of several messages, each a text with its phase and status where given."""
    output = []
    for said, more in messages:
        part = {"type": "output_text", "text": said, "annotations": []}
        output.append({"type": "message", "role": "assistant", "content": [part], **more})
    usage = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
    return {"id": "r", "model": "m", "status": status, "output": output, "usage": usage}


COMMENT, LAST = {"phase": "commentary"}, {"phase": "final_answer"}


@pytest.mark.parametrize(
    ("messages", "text", "finish", "top", "score"),
    [
        ([("8", COMMENT), ("5", LAST)], "5", "stop", 100, 5.0),
        ([("8", {}), ("5", {})], "8\n\n5", "stop", 100, None),
        ([("Score: 1", {}), ("0", {})], "Score: 1\n\n0", "stop", 10, None),
        ([("Score: 4", {}), ("2", {})], "Score: 4\n\n2", "stop", 100, None),
        ([("Score: 4", {}), ("Score: 4", {})], "Score: 4", "stop", 5, 4.0),
        ([('{"Empathy": 2}', COMMENT), ("Empathy: 4", LAST)], "Empathy: 4", "stop", 5, 4.0),
        ([("8", COMMENT)], "", "empty", 100, None),
        ([('{"Empathy": 1', {"status": "incomplete"})], '{"Empathy": 1', "length", 10, None),
    ],
)
def test_messages_of_one_response_are_never_joined_into_one_number(
    messages, text, finish, top, score
):
    found = outcome(_responses, responses(*messages))
    assert (found.text, found.finish_reason) == (text, finish)
    several = [note.about for note in found.notes if note.kind == "several_messages"]
    assert several == (["2"] if "\n\n" in text else [])
    parsed = parse_scores(found.text, ["Empathy"], Scale(1, top), finish_reason=found.finish_reason)
    assert parsed.scores["Empathy"] == score


def claude(content, stop="end_turn"):
    usage = {"input_tokens": 5, "output_tokens": 2}
    return {"type": "message", "content": content, "stop_reason": stop, "usage": usage}


def gemini(parts, finish="STOP"):
    candidate = {"content": {"parts": parts}, "finishReason": finish}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7},
    }


HANDED = '{"Empathy": 4}'
CALL = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": HANDED}}
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, 2?"}]}
FUNCTION = {"type": "function_call", "name": "answer", "arguments": HANDED}


@pytest.mark.parametrize(
    ("make", "content", "finish", "text"),
    [
        (_openai, chat({"content": [THOUGHT, {"type": "text", "text": "4"}]}), "stop", "4"),
        (_openai, chat({"content": [THOUGHT]}), "empty", ""),
        (_openai, chat({"content": ["4", " of 5"]}), "stop", "4 of 5"),
        (
            _google,
            gemini([{"text": "8"}, {"thought": True, "text": "no"}, {"text": "5"}]),
            "stop",
            "8\n\n5",
        ),
        (_openai, chat({"content": None, "tool_calls": [CALL]}, "tool_calls"), "stop", HANDED),
        (_openai, chat({"content": None, "function_call": CALL["function"]}), "stop", HANDED),
        (_openai, chat({"content": "4", "tool_calls": [CALL]}), "stop", "4"),
        (_openai, chat({"content": None, "reasoning_content": "2?"}), "empty", ""),
        (_openai, chat({"content": '{"Emp'}, "model_length"), "length", '{"Emp'),
        (_openai, chat({"content": None}, "content_filter: SAFETY"), "content_filter", ""),
        (_openai, chat({"content": "4"}, error={"message": "slow", "code": 502}), "stop", "4"),
        (_langchain, chat({"content": "", "tool_calls": [CALL]}), "stop", HANDED),
        (_langchain, chat({"content": '{"Emp'}, "model_length"), "length", '{"Emp'),
        (_anthropic, claude("4"), "stop", "4"),
        (_anthropic, claude([]), "empty", ""),
        (_google, gemini([{"functionCall": {"name": "f", "args": {"E": 4}}}]), "stop", '{"E": 4}'),
        (_google, gemini([{"text": "2?", "thought": True}]), "empty", ""),
        (_google, gemini([], "MALFORMED_FUNCTION_CALL"), "empty", ""),
        (_responses, {"status": "completed", "output": [FUNCTION]}, "stop", HANDED),
        (_responses, {"status": "completed", "output": [{"type": "reasoning"}]}, "empty", ""),
    ],
)
def test_an_answer_in_another_place_is_the_answer_and_a_thought_is_none(
    make, content, finish, text
):
    found = outcome(make, content)
    assert (found.finish_reason, found.text) == (finish, text)


@pytest.mark.parametrize("make", [_openai, _anthropic], ids=["openai", "anthropic"])
@pytest.mark.parametrize(
    ("said", "read"),
    [
        (b"4 \xff\xe2\x82", "4 \ufffd\ufffd"),
        (b"4 \x00\n.", "4 \x00\n."),
        (b"4 \\ud83d", "4 \ud83d"),
    ],
    ids=["no UTF-8", "bare control characters", "half an emoji"],
)
def test_a_damaged_character_does_not_cost_the_reply(make, said, read):
    whole = (
        chat({"content": "HERE"}) if make is _openai else claude([{"type": "text", "text": "HERE"}])
    )
    found = outcome(make, json.dumps(whole).encode().replace(b"HERE", said))
    assert (found.finish_reason, found.text) == ("stop", read)


@pytest.mark.parametrize("kind", ["text/html", "text/plain; charset=latin-1", "application/x-odd"])
@pytest.mark.parametrize(
    ("make", "content"),
    [
        (_openai, chat({"content": "4"})),
        (_anthropic, claude([{"type": "text", "text": "4"}])),
        (_google, gemini([{"text": "4"}])),
    ],
    ids=["openai", "anthropic", "google"],
)
def test_a_wrong_content_type_costs_nothing(make, content, kind):
    assert outcome(make, content, kind=kind).text == "4"


RATE, PURSE = {"message": "slow", "code": 429}, {"message": "empty", "code": "insufficient_quota"}
GONE = {"message": "Upstream failed", "code": 502}


@pytest.mark.parametrize(
    ("make", "content", "kind", "retryable"),
    [
        (_openai, chat({"content": None}, error=RATE), "rate_limit", True),
        (_openai, {"choices": None, "error": RATE}, "rate_limit", True),
        (_openai, {"error": {"message": "slow", "code": "429"}}, "rate_limit", True),
        (_openai, {"error": PURSE}, "quota", False),
        (_openai, {"error": "the model is loading"}, "server", True),
        (_openai, {"choices": [{"error": GONE, "finish_reason": "error"}]}, "server", True),
        (_openai, chat({"content": "4 of"}, "error"), "server", True),
        (_openai, {"choices": []}, "malformed", True),
        (_langchain, {"choices": None, "error": RATE}, "rate_limit", True),
        (_anthropic, {"error": {"type": "overloaded_error", "message": "x"}}, "overloaded", True),
        (_anthropic, {"error": {"type": "authentication_error", "message": "x"}}, "auth", False),
        (_google, [{"error": {"status": "RESOURCE_EXHAUSTED"}}], "rate_limit", True),
        (_responses, {"status": "failed", "output": [], "error": PURSE}, "quota", False),
        (_responses, {"status": "failed", "output": [FUNCTION], "error": RATE}, "rate_limit", True),
        (_responses, {"status": "in_progress", "output": []}, "malformed", True),
    ],
)
def test_an_error_inside_a_200_is_the_error_that_it_states(make, content, kind, retryable):
    found = outcome(make, content)
    assert isinstance(found, ModelError), found
    assert (found.kind, found.retryable) == (kind, retryable)


def error(message, **more):
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("make", "status", "content", "note"),
    [
        (
            _openai,
            403,  # OpenRouter
            error("Your input was flagged", code=403, metadata={"reasons": ["self-harm"]}),
            ("content_filter: self-harm",),
        ),
        (
            _openai,
            400,
            error("Invalid prompt: your prompt was flagged.", code="invalid_prompt"),
            (),
        ),
        (_compatible, 400, error("Input may be bad.", code="data_inspection_failed"), ()),  # Qwen
        (_compatible, 400, error("Content Exists Risk"), ()),  # DeepSeek
        (_anthropic, 400, error("Output blocked by content filtering policy"), ()),
        (_responses, 200, {"status": "failed", **error("flagged", code="content_filter")}, ()),
    ],
)
def test_a_prompt_withheld_under_any_name_is_filtered(make, status, content, note):
    found = outcome(make, content, status)
    assert isinstance(found, Reply), found
    assert (found.finish_reason, tuple(map(str, found.notes))) == ("content_filter", note)


LONG = (
    "This model's maximum context length is 8192 tokens. Please try a shorter prompt instead, or "
    "lower max_tokens or temperature."
)


@pytest.mark.parametrize(
    ("make", "status", "content"),
    [
        (_openai, 400, error(LONG, code="context_length_exceeded", param="messages")),
        (_compatible, 400, {"object": "error", "message": LONG, "code": 400}),  # vLLM
        (_compatible, 400, error("the request exceeds the available context size.")),  # llama.cpp
        (_compatible, 500, error(LONG)),  # behind a proxy
        (_anthropic, 400, error("prompt is too long: 208310 tokens > 200000 maximum")),
        (_anthropic, 413, error("Request exceeds the maximum size", type="request_too_large")),
        (_google, 400, error("The input token count (1100000) exceeds the maximum number.")),
    ],
)
def test_too_long_a_request_is_its_own_fault_and_not_asked_again(make, status, content):
    found = outcome(make, content, status)
    assert (found.kind, found.retryable, found.of_item) == ("bad_request", False, True)


def test_too_large_a_cap_is_no_fault_of_the_item():
    said = "'max_tokens' is too large: 9000. This model's maximum context length is 4096 tokens."
    assert not outcome(_compatible, error(said), 400).of_item


@pytest.mark.parametrize("name", [name for name in PROVIDERS if name != "langchain"])
def test_a_refused_key_is_named_by_its_variable(name):
    found = outcome(PROVIDERS[name], error("Incorrect API key"), 401)
    assert found.kind == "auth"
    variable = {"anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}
    assert variable.get(name, "OTHER_KEY" if name == "compatible" else "OPENAI_API_KEY") in str(
        found
    )


def test_a_key_that_was_never_given_is_said_to_be_missing():
    from voirdire_judges.models.compatible import make

    def without(server, **options):
        return make("llama3", base_url=server.openai, **options)

    assert "no key was sent" in str(outcome(without, error("Unauthorized"), 401))


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("3", 3, 3.3),
        (" 2 ", 2, 2.2),
        ("1e9", 120, 132),
        ("Fri, 31 Dec 2099 23:59:59 GMT", 120, 132),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0.5),
        *((odd, 0, 0.5) for odd in ("-5", "soon", "nan", "inf", "0", "", "2, 3", "9" * 400)),
    ],
)
@pytest.mark.parametrize(
    "make",
    [_openai, _anthropic, _google, _compatible],
    ids=["openai", "anthropic", "google", "compatible"],
)
def test_no_retry_after_waits_for_ever(make, header, least, most):
    found = outcome(make, error("slow", code=429), 429, headers={"Retry-After": header})
    assert (found.kind, found.retryable) == ("rate_limit", True)
    assert least <= wait_before(found, 1, RunSpec(), random.Random(1)) <= most


@pytest.mark.parametrize("name", PROVIDERS)
def test_half_an_emoji_in_a_prompt_is_sent_as_a_replacement(name):
    with WireServer("4") as server:
        request = Request((Message("user", "Rate \ud83d this, \N{GRINNING FACE}."),), max_tokens=5)
        found = ask(PROVIDERS[name], server, request)
        assert isinstance(found, Reply), found
        assert server.requests[0].prompt == "Rate \ufffd this, \N{GRINNING FACE}."


def test_tokens_are_read_where_zeros_are_left_out_and_where_they_are_floats():
    assert outcome(_google, gemini([])).usage == Usage(7, 0)
    floats = {"prompt_tokens": 10.0, "completion_tokens": 3.0}
    assert outcome(_openai, chat({"content": "4"}, usage=floats)).usage == Usage(10, 3)
    for nothing in (None, {}, {"prompt_tokens": "10", "completion_tokens": -3}):
        assert outcome(_openai, chat({"content": "4"}, usage=nothing)).usage == Usage()
