"""Parts of replies and the facts beside them, over the wire: phases, thoughts, ends, candidates,
waits, filters, cache writes, damaged bytes.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from dataclasses import replace

import pytest
from test_models_faults import (
    ASKED,
    KEY,
    _anthropic,
    _compatible,
    _google,
    _langchain,
    _openai,
    _responses,
    ask,
    close,
    provider,
)
from test_models_odd import CALL, chat, claude, gemini, outcome, responses
from wire_server import WireServer

from voirdire.errors import InputError
from voirdire.parsing import parse_scores
from voirdire.running._models import learn_schema
from voirdire.schema import Part, Scale, Usage
from voirdire.store.session import memory_session
from voirdire.study import Prices
from voirdire_judges.models._body import usage_of
from voirdire_judges.models._faults import retry_after
from voirdire_judges.models.compatible import make
from voirdire_judges.models.simulated import make as simulated
from voirdire_judges.models.systemone import read


@pytest.fixture(autouse=True)
def _planted_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)


THOUGHT = {"type": "thinking", "thinking": "Hm, 2?", "signature": "x"}


@pytest.mark.parametrize(
    ("make", "content", "parts", "ended"),
    [
        (
            _openai,
            chat({"content": "4", "reasoning_content": "Hm, 2?"}),
            (Part("reasoning", "Hm, 2?"), Part("text", "4")),
            "finish_reason stop",
        ),
        (
            _compatible,
            chat({"content": None, "refusal": "No."}),
            (Part("refusal", "No."),),
            "finish_reason stop",
        ),
        (
            _openai,
            chat({"content": [{"type": "refusal", "refusal": "No."}]}),
            (Part("refusal", "No."),),
            "finish_reason stop",
        ),
        (
            _openai,
            chat({"content": None, "tool_calls": [CALL]}, "tool_calls"),
            (Part("object", '{"Empathy": 4}'),),
            "finish_reason tool_calls",
        ),
        (
            _responses,
            responses(("8", {"phase": "commentary"}), ("5", {"phase": "final_answer"})),
            (Part("text", "8", "commentary"), Part("text", "5", "final_answer")),
            "status completed",
        ),
        (
            _anthropic,
            claude([THOUGHT, {"type": "text", "text": "4"}]),
            (Part("reasoning", "Hm, 2?"), Part("text", "4")),
            "stop_reason end_turn",
        ),
        (
            _google,
            gemini([{"thought": True, "text": "Hm, 2?"}, {"text": "4"}]),
            (Part("reasoning", "Hm, 2?"), Part("text", "4")),
            "finishReason STOP",
        ),
        (_langchain, chat({"content": "4"}), (Part("text", "4"),), "finish_reason stop"),
    ],
)
def test_every_model_gives_the_parts_of_a_reply(make, content, parts, ended):
    found = outcome(make, content)
    assert (found.parts, found.ended_by) == (parts, ended)


@pytest.mark.parametrize(
    ("more", "cap", "finish", "ended"),
    [
        ({"native_finish_reason": "MAX_TOKENS"}, None, "length", "native_finish_reason MAX_TOKENS"),
        ({"native_finish_reason": "SAFETY"}, None, "refusal", "native_finish_reason SAFETY"),
        ({"native_finish_reason": "stop"}, None, "stop", "finish_reason stop"),
        (
            {"finish_reason": None, "content_filter_results": {"hate": {"filtered": True}}},
            None,
            "content_filter",
            "content_filter_results filtered",
        ),
        ({"content_filter_results": {"hate": {"filtered": False}}}, None, "stop",
         "finish_reason stop"),
        ({}, 3, "length", "completion_tokens 3"),
        ({}, 4, "stop", "finish_reason stop"),
    ],
)  # fmt: skip
def test_the_field_that_knows_best_says_how_a_reply_ended(more, cap, finish, ended):
    content = chat({"content": '{"Empathy": 1'})
    content["choices"][0] |= more
    asked = replace(ASKED, max_tokens=cap)
    with WireServer() as server:
        server.fault("raw", times=None, status=200, content=json.dumps(content))
        found = ask(_compatible, server, asked, timeout=60)
    assert (found.finish_reason, found.ended_by) == (finish, ended)


# A chat model of LangChain takes the first that comes: it hands on no numbers.
@pytest.mark.parametrize("make", [_openai, _compatible])
def test_of_several_choices_the_first_by_its_number_answers(make):
    content = chat({"content": "4"})
    other = {"index": 1, "message": {"role": "assistant", "content": "2"}, "finish_reason": "stop"}
    content["choices"].insert(0, other)
    found = outcome(make, content)
    assert (found.text, found.candidate) == ("4", 0)


def test_of_several_candidates_the_first_by_its_number_answers():
    content = gemini([{"text": "4"}])
    content["candidates"][0]["index"] = 0
    other = {"content": {"parts": [{"text": "2"}]}, "finishReason": "STOP", "index": 1}
    content["candidates"].insert(0, other)
    assert outcome(_google, content).text == "4"


@provider
def test_one_damaged_byte_does_not_cost_the_reply(make):
    content = {
        _responses: responses(("4 (warm)", {})),
        _anthropic: claude([{"type": "text", "text": "4 (warm)"}]),
        _google: gemini([{"text": "4 (warm)"}]),
    }.get(make, chat({"content": "4 (warm)"}))
    raw = json.dumps(content).encode().replace(b"warm", b"w\xe4rm")
    assert outcome(make, raw).text == "4 (w\ufffdrm)"


@pytest.mark.parametrize(
    "text",
    [
        "analysis2 or 4? It is warm: 4.assistantfinalEmpathy: 4",
        "<|channel|>analysis<|message|>2 or 4?<|end|><|channel|>final<|message|>Empathy: 4",
    ],
)
@provider
def test_a_channel_that_no_server_parsed_is_no_answer(make, text):
    content = {
        _responses: responses((text, {})),
        _anthropic: claude([{"type": "text", "text": text}]),
        _google: gemini([{"text": text}]),
    }.get(make, chat({"content": text}))
    found = outcome(make, content)
    scores = parse_scores(found.text, ["Empathy"], Scale(), finish_reason=found.finish_reason)
    assert scores.scores == {"Empathy": 4.0}


#: What a provider says of a wait -> seconds.
WAITS = [
    ({}, {"error": {"message": "Rate limit reached. Please try again in 6m0s."}}, 360.0),
    ({}, {"error": {"message": "Quota exceeded. Please retry in 26.66s."}}, 26.66),
    ({}, {"error": {"message": "Please retry after 12 seconds."}}, 12.0),
    ({}, {"error": {"message": "Try again in 20 milliseconds"}}, 0.02),
    ({"retry-after": "60s"}, None, 60.0),
    ({"retry-after": "7"}, None, 7.0),
    ({"x-ratelimit-reset-requests": "12s"}, None, 12.0),
    ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-reset-requests": "1s"}, None, 360.0),
    ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "100",
      "x-ratelimit-reset-requests": "1s", "x-ratelimit-remaining-requests": "0"}, None, 1.0),
    ({"ratelimit-reset": "30"}, None, 30.0),
    ({}, {"error": {"details": [{"retryDelay": "1m30s"}]}}, 90.0),
    ({}, {"error": {"details": [{"retryDelay": "45.837906927s"}]}}, 45.837906927),
    ({}, {"retry_after": 12}, 12.0),
    ({}, {"error": {"retry_after_ms": 1500}}, 1.5),
    ({}, {"error": {"message": "The model is busy."}}, None),
    ({}, {"error": {"message": "There were 12 tries; try another model."}}, None),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "body", "seconds"), WAITS)
def test_what_a_provider_asks_to_wait(headers, body, seconds):
    asked = retry_after(headers, body)
    assert asked == (None if seconds is None else pytest.approx(seconds))


def test_a_wait_in_the_text_comes_over_the_wire():
    said = {"error": {"message": "Rate limit reached. Please try again in 1m2s.", "code": 429}}
    found = outcome(_compatible, said, 429)
    assert (found.kind, found.retry_after) == ("rate_limit", 62.0)


#: A body or a header of a 429 -> the seconds that it asks to wait.
ASKED_FOR = [
    ({"error": {"message": "Rate limit reached. Please try again in 1m2s."}}, {}, 62.0),
    ({"error": {"message": "slow"}, "retry_after": 12}, {}, 12.0),
    ({"error": {"message": "slow", "metadata": {"retry_after_seconds": 5}}}, {}, 5.0),
    ({"error": {"message": "slow"}}, {"x-ratelimit-reset-requests": "6m0s"}, 360.0),
    ({"error": {"message": "slow"}}, {"x-ratelimit-reset-tokens": "12s"}, 12.0),
    ({"error": {"message": "slow"}}, {"ratelimit-reset": "30"}, 30.0),
]


@pytest.mark.parametrize(("body", "headers", "seconds"), ASKED_FOR)
@provider
def test_every_format_hears_what_it_is_asked_to_wait(make, body, headers, seconds):
    found = outcome(make, body, 429, headers=headers)
    assert (found.kind, found.retry_after) == ("rate_limit", pytest.approx(seconds))


#: How a format says that an answer is whole, and where it counts what was written.
WHOLE = {
    _openai: (chat({"content": '{"Empathy": 1'}), "completion_tokens 3"),
    _compatible: (chat({"content": '{"Empathy": 1'}), "completion_tokens 3"),
    _langchain: (
        chat({"content": '{"Empathy": 1'})
        | {"usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}},
        "completion_tokens 3",
    ),
    _responses: (responses(('{"Empathy": 1', {})), "status max_output_tokens"),
    _anthropic: (claude([{"type": "text", "text": '{"Empathy": 1'}]), "output_tokens 2"),
    _google: (
        gemini([{"text": '{"Empathy": 1'}])
        | {"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2}},
        "candidatesTokenCount 2",
    ),
}


@pytest.mark.parametrize("make", WHOLE)
@pytest.mark.parametrize("more", [0, 1])
def test_as_many_tokens_as_were_allowed_are_a_cut_in_every_format(make, more):
    content, ended = WHOLE[make]
    cap = int(ended[-1]) if ended[-1].isdigit() else 3
    with WireServer() as server:
        server.fault("raw", times=None, status=200, content=json.dumps(content))
        found = ask(make, server, replace(ASKED, max_tokens=cap + more), timeout=60)
    assert found.finish_reason == ("stop" if more else "length")
    assert (found.ended_by == ended) is not bool(more)


@provider
def test_a_filter_that_only_a_text_names_is_a_filter(make):
    said = "litellm.BadRequestError: litellm.ContentPolicyViolationError: flagged"
    found = outcome(make, {"error": {"message": said, "code": "400"}}, 400)
    assert (found.text, found.finish_reason) == ("", "content_filter")


@pytest.mark.parametrize(
    ("usage", "written"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 1,
          "prompt_tokens_details": {"cache_write_tokens": 300}}, 300),
        ({"input_tokens": 1000, "output_tokens": 1,
          "input_tokens_details": {"cache_write_tokens": 300}}, 300),
        ({"input_tokens": 1000, "output_tokens": 1, "total_tokens": 1001,
          "input_token_details": {"cache_creation": 300}}, 300),
        ({"prompt_tokens": 1000, "completion_tokens": 1,
          "prompt_tokens_details": {"cache_write_tokens": 0}}, None),
    ],
)  # fmt: skip
def test_what_was_written_to_a_cache_is_counted_apart(usage, written):
    assert usage_of(usage).written == written


def test_cache_writes_have_a_price_of_their_own():
    content = claude([{"type": "text", "text": "4"}])
    content["usage"] |= {"cache_creation_input_tokens": 300, "cache_read_input_tokens": 200}
    found = outcome(_anthropic, content)
    assert found.usage == Usage(505, 2, 200, None, 300)
    prices = Prices(input=3, output=15, cached=0.3, written=3.75)
    counted = (found.usage.input, found.usage.output, found.usage.cached, found.usage.written)
    assert prices.cost(*counted) == pytest.approx((5 * 3 + 200 * 0.3 + 300 * 3.75 + 30) / 1e6)
    assert Prices(input=3, output=15).cost(*counted) == pytest.approx((505 * 3 + 30) / 1e6)


@pytest.mark.parametrize(
    ("status", "content", "enforced"),
    [
        (200, chat({"content": '{"number": 7}'}), True),
        (200, chat({"content": "calm"}), False),
        (200, chat({"content": '{"word": "calm"}'}), False),
        (400, {"error": {"message": "response_format is not supported"}}, False),
        (500, {"error": {"message": "busy"}}, None),
    ],
)
def test_a_server_is_asked_once_whether_it_enforces_a_schema(status, content, enforced):
    kept = memory_session()
    request = replace(ASKED, schema={"type": "object"})

    async def go(server):
        found = []
        for _ in range(2):  # two runs of one session, each with models of its own
            model = _compatible(server, structured="ask")
            await learn_schema([model], kept)
            found.append("response_format" in model.parameters(request))
            await close(model)
        return found

    with WireServer() as server, closing(kept):
        server.handler.enforces = None  # as any call, so that faults strike it
        server.fault("raw", times=None, status=status, content=json.dumps(content))
        sent = asyncio.run(go(server))
        # Where no answer came nothing is kept, and the next run asks again.
        assert server.count == (2 if enforced is None else 1)
        rows = kept.execute("SELECT ability, answer FROM abilities").fetchall()
    assert sent == [enforced is True] * 2
    told = {True: "yes", False: "no"}
    assert rows == ([] if enforced is None else [("json_schema", told[enforced])])


def test_nobody_is_asked_where_the_study_says_it():
    model = make("m", base_url="http://127.0.0.1:9/v1", structured=True)
    assert model.schema_key == ""
    with pytest.raises(InputError, match='true, false or "ask"'):
        make("m", base_url="http://127.0.0.1:9/v1", structured="perhaps")


def test_models_without_a_server_say_what_ended_a_reply():
    answer = {"choice": "yes", "probabilities": {"yes": 1.0}}
    found = read({"model": "m", "answers": {"answer": answer}}, replace(ASKED, options=("yes",)))
    assert found.ended_by == "choice"
    found = asyncio.run(simulated("a").complete(ASKED))
    assert found.ended_by == f"simulated {found.finish_reason}"
