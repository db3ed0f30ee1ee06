"""Each case of kind b_provider in `../shared/cases/bug_cases.jsonl`."""

from __future__ import annotations

import asyncio
import json

import pytest
from wire_server import Answer, WireServer

from voirdire import ModelError
from voirdire.schema import Message, Request
from voirdire_judges.models import anthropic, google
from voirdire_judges.models.openai import CHAT
from voirdire_judges.rubric import make as make_judge

pytest.importorskip("openai")
ASKED = Request((Message("user", "Rate this."),), temperature=0.0, max_tokens=256)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-7f3a9c")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-7f3a9c")


@pytest.fixture(scope="module")
def cases(shared):
    lines = (shared / "cases" / "bug_cases.jsonl").read_text("utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def openai(server, name="gpt-4o", **options):
    from voirdire_judges.models.openai import make

    return make(name, base_url=server.openai, **options)


def ask(made, *requests):
    async def go():
        outcomes = await asyncio.gather(
            *(made.complete(request) for request in requests), return_exceptions=True
        )
        await made.aclose()
        return outcomes

    return asyncio.run(go())


def error_of(variant):
    """What becomes of a call that the provider answers so."""
    with WireServer() as server:
        answer = {"status": variant["status"], "content": json.dumps(variant["body"])}
        server.fault("raw", times=None, **answer)
        (outcome,) = ask(openai(server), ASKED)
    return outcome


@pytest.mark.shared
def test_every_case_about_providers_stands_in_this_file(cases):
    known = {"B02", "B03", "B05", "B06", "B08", "B09"}
    assert {name for name, case in cases.items() if case["kind"] == "b_provider"} == known


@pytest.mark.shared
def test_b02_quota_is_no_rate_limit(cases):
    quota, crowd = cases["B02"]["variants"]
    assert error_of(quota["input"]).kind == quota["expected"]["status"]
    assert error_of(quota["input"]).retryable is quota["expected"]["retry"]
    assert error_of(crowd["input"]).retryable is crowd["expected"]["retry"]


@pytest.mark.shared
def test_b03_a_filtered_prompt_is_recorded_with_its_category(cases):
    withheld, answered = cases["B03"]["variants"]
    filtered = error_of({"status": 400, "body": withheld["input"]["body"]})
    assert [note.detail for note in filtered.notes] == ["self_harm"]
    reply = CHAT.read({"choices": answered["input"]["choices"]}, ASKED)
    assert reply.finish_reason == answered["expected"]["status"]
    assert (
        make_judge("mentalalign").parse([reply]).scores["Empathy"] is answered["expected"]["score"]
    )


def test_b03_the_others_go_on():
    with WireServer("4") as server:
        server.fault("filter_400", when=lambda seen: "dark" in seen.prompt, times=None)
        dark = Request((Message("user", "A dark text."),))
        outcomes = ask(openai(server), ASKED, dark, ASKED)
    assert [reply.finish_reason for reply in outcomes] == ["stop", "content_filter", "stop"]
    assert server.count == 3


@pytest.mark.shared
def test_b05_thinking_that_uses_up_the_cap_is_truncation_and_counted(cases):
    thinking, chat = (variant["input"] for variant in cases["B05"]["variants"])
    thought = google.read(thinking, ASKED)
    assert (thought.finish_reason, thought.text) == ("length", "")
    assert (thought.usage.output, thought.usage.reasoning) == (256, 256)
    reasoned = CHAT.read(chat, ASKED)
    assert (reasoned.finish_reason, reasoned.usage.output) == ("length", 512)
    assert make_judge("mentalalign").parse([reasoned]).status == "truncated"


@pytest.mark.shared
def test_b06_empty_and_thinking_blocks(cases):
    empty, thinking, _ = (variant["input"] for variant in cases["B06"]["variants"])
    assert anthropic.read(empty, ASKED).finish_reason == "empty"
    said = anthropic.read({**thinking, "stop_reason": "end_turn"}, ASKED)
    assert make_judge("mentalalign").parse([said]).scores["Empathy"] == 4


def test_b06_thinking_blocks_through_the_real_sdk():
    pytest.importorskip("anthropic")
    from voirdire_judges.models.anthropic import make

    thinking = {"type": "thinking", "thinking": "Warm enough.", "signature": "s"}
    with WireServer(Answer('{"Empathy": 4}', blocks=[thinking])) as server:
        (reply,) = ask(make("claude", base_url=server.url), ASKED)
    assert reply.text == '{"Empathy": 4}'


@pytest.mark.shared
def test_b06_an_empty_input_is_reported_and_not_sent(cases):
    variant = cases["B06"]["variants"][2]
    with WireServer() as server:
        empty = Request((Message("user", variant["input"]["request_text"]),))
        (error,) = ask(openai(server), empty)
    assert error.kind == variant["expected"]["status"]
    assert (server.count > 0) is variant["expected"]["sent"]


@pytest.mark.shared
def test_b08_a_reasoning_model_takes_other_parameters(cases):
    known, refused, deployment = cases["B08"]["variants"]
    error = refused["input"]["body"]
    assert error_of({"status": 400, "body": error}).parameter == "temperature"
    for name in (known["input"]["model"], deployment["input"]["model"]):
        with WireServer("4") as server:
            server.fault(
                "refused_parameter", times=None, when=lambda seen: b'"temperature"' in seen.raw
            )
            (reply,) = ask(openai(server, name, on_refused_parameter="drop"), ASKED)
        sent = server.requests[-1].body
        assert sent["max_completion_tokens"] == known["input"]["max_tokens"]
        assert "max_tokens" not in sent
        assert "temperature" not in sent
        assert (reply.notes[0].kind, reply.notes[0].about) == ("dropped", "temperature")
        assert server.count == 2


def test_b09_one_hung_call_of_five_costs_only_itself():
    with WireServer("4") as server:
        server.fault("hang", times=1)
        outcomes = ask(openai(server, timeout=8), *[ASKED] * 5)  # four must come in time
    errors = [outcome for outcome in outcomes if isinstance(outcome, ModelError)]
    assert [error.kind for error in errors] == ["timeout"]
    assert len(outcomes) - len(errors) == 4


def test_b09_a_reset_connection_may_be_asked_again():
    async def go(made):
        with pytest.raises(ModelError) as caught:
            await made.complete(ASKED)
        reply = await made.complete(ASKED)
        await made.aclose()
        return caught.value, reply

    with WireServer("4") as server:
        server.fault("drop", times=1)
        error, reply = asyncio.run(go(openai(server)))
    assert (error.kind, error.retryable, reply.text, server.count) == ("connection", True, "4", 2)


def test_b09_headers_and_then_silence_is_a_timeout():
    with WireServer("4") as server:
        server.fault("stall")
        (error,) = ask(openai(server, timeout=0.3), ASKED)
    assert error.kind == "timeout"


@pytest.mark.shared
def test_f03_cached_tokens_are_counted_once_whatever_the_provider_counts(cases):
    chat, claude = (variant["input"] for variant in cases["F03"]["variants"][:2])
    usage = {
        "prompt_tokens": chat["prompt_tokens"],
        "prompt_tokens_details": {"cached_tokens": chat["cached_tokens"]},
    }
    choice = {"message": {"content": "4"}, "finish_reason": "stop"}
    read = CHAT.read({"choices": [choice], "usage": usage}, ASKED)
    assert (read.usage.input, read.usage.cached) == (1000, 800)
    usage = {key: claude[key] for key in ("input_tokens", "cache_read_input_tokens")}
    read = anthropic.read({"content": [], "usage": usage}, ASKED)
    assert (read.usage.input, read.usage.cached) == (1000, 800)
