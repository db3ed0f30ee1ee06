"""What answers cost and say, by endpoints that differ from the documentation of their format."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from base64 import b64encode

import pytest
from test_models_faults import KEY, PROVIDERS, _langchain, _planted_key, ask
from test_models_odd import chat, claude, gemini, outcome
from wire_server import WireServer

from voirdire import ModelError
from voirdire.errors import InputError
from voirdire.running.budget import cost_of
from voirdire.schema import Note, Usage
from voirdire.study import Prices
from voirdire_judges.models import compatible

__all__ = ["_planted_key"]

OPENAI = [PROVIDERS["openai"], PROVIDERS["compatible"]]


def answered(usage):
    return {**chat({"content": "4"}), "usage": usage}


@pytest.mark.shared
def test_n11_what_is_billed_is_decided_by_the_total(shared):
    lines = (shared / "cases" / "bug_cases_2.jsonl").read_text(encoding="utf-8").splitlines()
    (n11,) = (case for case in map(json.loads, lines) if case["id"] == "N11")
    beside, deepseek = n11["input"]
    prices = Prices(**beside["prices"])
    found = outcome(PROVIDERS["openai"], answered(beside["usage"])).usage
    assert round(4 * cost_of(found, prices), 2) == 412.13  # the case's own
    assert outcome(PROVIDERS["compatible"], answered(deepseek["usage"])).usage.cached == 800
    for case in n11["right_already"]:
        found = outcome(PROVIDERS["openai"], answered(case["input"]["usage"])).usage
        assert (found.output, found.cached) == (10, 800)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # Inside, as OpenAI counts: 10 + 30 = 40.
        ({"p": 10, "c": 30, "t": 40, "r": 20}, (10, 30, None, 20)),
        # Beside, as xAI counts: 10 + 30 + 20 = 60.
        ({"p": 10, "c": 30, "t": 60, "r": 20}, (10, 50, None, 20)),
        # Beside, and nothing said of it, as Gemini's compatible endpoint counts.
        ({"p": 10, "c": 30, "t": 60}, (10, 60 - 10, None, None)),
        # The prompt without what was cached.
        ({"p": 10, "c": 30, "t": 45, "h": 5}, (15, 30, 5, None)),
        # No total: more reasoning than output cannot be inside it.
        ({"p": 10, "c": 9, "r": 94}, (10, 103, None, 94)),
        ({"p": 10, "c": 94, "r": 9}, (10, 94, None, 9)),
        # A total that is too small decides nothing.
        ({"p": 10, "c": 30, "t": 3, "r": 20}, (10, 30, None, 20)),
        ({"p": 10}, (10, None, None, None)),
        ({}, (None, None, None, None)),
    ],
)
def test_reasoning_is_inside_or_beside_by_the_sum(usage, expected):
    names = {
        "p": "prompt_tokens",
        "c": "completion_tokens",
        "t": "total_tokens",
        "r": "reasoning_tokens",
        "h": "prompt_cache_hit_tokens",
    }
    body = {"usage": {names[key]: value for key, value in usage.items()}}
    used = compatible.COMPATIBLE.billed(body)
    assert (used.input, used.output, used.cached, used.reasoning) == expected


@pytest.mark.parametrize(
    "where",
    [
        {"prompt_tokens_details": {"cached_tokens": 8}}, {"prompt_cache_hit_tokens": 8},
        {"cached_tokens": 8}, {"num_cached_tokens": 8}, {"cache_read_input_tokens": 8},
    ],
)  # fmt: skip
def test_cached_tokens_are_found_wherever_an_endpoint_says_them(where):
    usage = {"prompt_tokens": 10, "completion_tokens": 2, **where}
    assert outcome(PROVIDERS["openai"], answered(usage)).usage.cached == 8


BILLED = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
CLAUDE = {"input_tokens": 11, "output_tokens": 7}
GOOGLE = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("openai", {"choices": [], "usage": BILLED}, "malformed"),
        ("openai", {"id": "1", "usage": BILLED}, "malformed"),
        ("compatible", {"choices": [], "usage": BILLED}, "malformed"),
        ("openai", {**chat({"content": None}, "error"), "usage": BILLED}, "server"),
        ("openai-responses", {"output": [], "status": "cancelled", "usage": CLAUDE}, "malformed"),
        ("openai-responses", {"output": [], "status": "failed", "usage": CLAUDE}, "server"),
        ("anthropic", {"type": "message", "usage": CLAUDE}, "malformed"),
    ],
)
def test_an_answer_that_is_none_is_paid_for_all_the_same(name, body, kind):
    error = outcome(PROVIDERS[name], body)
    assert (error.kind, error.billed.input, error.billed.output) == (kind, 11, 7)


def test_an_answer_without_a_candidate_is_paid_for():
    found = outcome(PROVIDERS["google"], {"candidates": [], "usageMetadata": GOOGLE})
    assert (found.finish_reason, found.usage) == ("empty", Usage(11, 7))


def test_a_page_of_html_costs_nothing():
    with WireServer() as server:
        server.fault("html")
        assert ask(PROVIDERS["openai"], server).billed is None


@pytest.mark.parametrize(
    ("make", "body"),
    [
        (PROVIDERS["openai"], chat({"content": "4"}, "insufficient_system_resource")),
        (PROVIDERS["compatible"], chat({"content": "4"}, "abort")),
        (_langchain, chat({"content": "4"}, "abort")),
        (PROVIDERS["anthropic"], claude([{"type": "text", "text": "4"}], "pause_turn")),
        (PROVIDERS["google"], gemini([{"text": "4"}], "TOO_MANY_TOOL_CALLS")),
        (
            PROVIDERS["openai-responses"],
            {
                "status": "incomplete", "incomplete_details": {"reason": "budget"},
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "4"}]}],
            },
        ),
    ],
)  # fmt: skip
def test_an_unknown_reason_is_kept_and_said_and_never_taken_as_fine(make, body):
    found = outcome(make, body)
    assert (found.text, found.finish_reason) == ("4", "length")
    assert any(str(note).startswith("unknown_word finish_reason ") for note in found.notes)


@pytest.mark.parametrize("word", ["stop", "STOP", "eos_token", "end_turn", "tool_calls", None, ""])
def test_a_known_word_for_the_end_needs_no_note(word):
    found = outcome(PROVIDERS["compatible"], chat({"content": "4"}, word))
    assert (found.finish_reason, found.notes) == ("stop", ())


def test_a_part_of_an_unknown_kind_is_said():
    parts = [{"type": "hologram", "data": "x"}, {"type": "text", "text": "4"}]
    found = outcome(PROVIDERS["openai"], chat({"content": parts}))
    assert (found.text, found.notes) == (
        "4",
        (Note("unknown_word", "part hologram", "it was not read"),),
    )


def test_a_hostile_word_is_short_and_harmless_in_its_note():
    found = outcome(PROVIDERS["openai"], chat({"content": "4"}, "\x1b[31m" + "x" * 5000))
    assert len(str(found.notes[0])) < 150
    assert "\x1b" not in str(found.notes[0])


WITHOUT_LANGCHAIN = {name: make for name, make in PROVIDERS.items() if name != "langchain"}
capped = pytest.mark.parametrize("make", PROVIDERS.values(), ids=PROVIDERS)


@capped
@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_a_packed_answer_is_read(make, packing):
    pack = gzip.compress if packing == "gzip" else zlib.compress
    body = {
        **chat({"content": "4"}), **claude([{"type": "text", "text": "4"}]), **gemini([{"text": "4"}]),
        "usage": {}, "output": [{"type": "message", "content": [{"type": "output_text", "text": "4"}]}],
    }  # fmt: skip
    content = pack(json.dumps(body).encode())
    found = outcome(make, content, headers={"Content-Encoding": packing})
    assert found.text == "4", found


@capped
@pytest.mark.parametrize("status", [200, 500])
def test_a_small_body_that_unpacks_to_much_is_an_error_within_bounds(make, status, monkeypatch):
    monkeypatch.setattr("voirdire_judges.models._capped.LARGEST", 1 << 20)
    bomb = gzip.compress(b" " * (200 << 20), 9)  # 200 kB that become 200 MB
    error = outcome(make, bomb, status, headers={"Content-Encoding": "gzip"})
    assert isinstance(error, ModelError)
    assert (error.kind, error.retryable) == ("malformed", False)
    assert "larger than" in str(error)


@capped
def test_a_body_without_end_is_an_error(make, monkeypatch):
    monkeypatch.setattr("voirdire_judges.models._capped.LARGEST", 1 << 20)
    error = outcome(make, b"x" * (3 << 20))
    assert (error.kind, error.retryable) == ("malformed", False)


@capped
def test_what_is_no_gzip_or_was_not_asked_for_is_malformed(make):
    assert outcome(make, b"plain", headers={"Content-Encoding": "gzip"}).kind == "malformed"
    assert outcome(make, b"plain", headers={"Content-Encoding": "br"}).kind == "malformed"


@capped
@pytest.mark.parametrize("form", ["plain", "base64", "after a name"])
def test_a_reply_that_echoes_the_key_is_scrubbed(make, form):
    said = {
        "plain": KEY,
        "base64": b64encode(KEY.encode()).decode(),
        "after a name": b64encode(f"user:{KEY}".encode()).decode(),
    }[form]
    with WireServer(f"Score 4. You sent {said}") as server:
        reply = ask(make, server)
    assert said not in reply.text
    assert reply.text.startswith("Score 4. You sent ")
    assert "[hidden]" in reply.text


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("https://me:planted@localhost/v1", "a user or password"),
        ("https://planted@localhost/v1", "a user or password"),
        ("https://localhost/v1?key=planted", "a query"),
        ("https://localhost/v1?api-version=2024", "a query"),
    ],
)
@pytest.mark.parametrize("name", WITHOUT_LANGCHAIN)
def test_an_address_that_may_carry_a_key_is_refused(name, address, what):
    class Server:
        openai = url = address

    with pytest.raises(InputError, match=f"base_url holds {what}") as caught:
        WITHOUT_LANGCHAIN[name](Server)
    assert "planted" not in str(caught.value)


def test_a_query_of_its_own_option_is_sent():
    async def go(server):
        model = compatible.make("m", base_url=server.openai, query={"api-version": "2024"})
        try:
            return await model.complete(_request())
        finally:
            await model.aclose()

    with WireServer("4") as server:
        assert asyncio.run(go(server)).text == "4"


def _request():
    from test_models_faults import ASKED

    return ASKED
