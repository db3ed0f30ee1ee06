"""What is sent, what a model refuses, and what is recorded of it."""

from __future__ import annotations

import asyncio
import math

import pytest
from wire_server import Answer, WireServer

from voirdire import InputError, ModelError
from voirdire.schema import Message, Note, Request

MESSAGES = (Message("system", "You judge."), Message("user", "Rate this."))
SCHEMA = {
    "type": "object",
    "properties": {"Empathy": {"type": "integer"}},
    "required": ["Empathy"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "planted-key-7f3a9c")


def model(prefix, server, name="m", **options):
    module = {"openai-responses": "openai"}.get(prefix, prefix)
    needs = {"google": "google.genai", "compatible": "orjson"}.get(module, module)
    pytest.importorskip(needs)
    import importlib

    found = importlib.import_module(f"voirdire_judges.models.{module}")
    make = found.make_responses if prefix == "openai-responses" else found.make
    url = server.url if prefix in {"anthropic", "google"} else server.openai
    return make(name, base_url=url, **options)


def ask(made, *requests):
    """Replies or errors, one after another."""

    async def go():
        found = []
        for request in requests:
            try:
                found.append(await made.complete(request))
            except ModelError as error:
                found.append(error)
        await made.aclose()
        return found

    return asyncio.run(go())


def refuse(server, parameter, spelt=None):
    """The model refuses a parameter wherever it is sent."""
    server.fault(
        "refused_parameter",
        times=None,
        parameter=spelt or parameter,
        when=lambda seen: f'"{parameter}"'.encode() in seen.raw,
    )


ASKED = Request(MESSAGES, temperature=0.0, top_p=0.9, max_tokens=256, seed=3)


@pytest.mark.parametrize(
    ("prefix", "sent"),
    [
        ("openai", {"temperature": 0.0, "top_p": 0.9, "max_completion_tokens": 256, "seed": 3}),
        ("compatible", {"temperature": 0.0, "top_p": 0.9, "max_tokens": 256, "seed": 3}),
    ],
)
def test_what_is_sent_is_what_is_recorded(prefix, sent):
    with WireServer() as server:
        (reply,) = ask(model(prefix, server), ASKED)
    body = {k: v for k, v in server.requests[0].body.items() if k != "messages"}
    assert body == {"model": "m", **sent} == reply.params


def test_google_sends_its_own_names():
    with WireServer() as server:
        (reply,) = ask(model("google", server), ASKED)
    config = server.requests[0].body["generationConfig"]
    assert config == {"temperature": 0.0, "topP": 0.9, "maxOutputTokens": 256, "seed": 3}
    assert reply.params["max_output_tokens"] == 256


@pytest.mark.parametrize("prefix", ["anthropic", "openai-responses"])
def test_a_parameter_that_the_provider_lacks_is_an_error_or_a_note(prefix):
    with WireServer() as server:
        (error,) = ask(model(prefix, server), ASKED)
        assert (error.kind, error.parameter) == ("refused_parameter", "seed")
        assert 'set on_refused_parameter = "drop"' in str(error)
        assert server.count == 0
        (reply,) = ask(model(prefix, server, on_refused_parameter="drop"), ASKED)
    assert "seed" in [note.about for note in reply.notes if note.kind == "dropped"]
    assert "seed" not in server.requests[0].body


@pytest.mark.parametrize(
    "prefix", ["openai", "openai-responses", "anthropic", "google", "compatible"]
)
def test_a_refused_parameter_is_an_error_that_names_it(prefix):
    with WireServer() as server:
        refuse(server, "temperature")
        (error,) = ask(model(prefix, server), Request(MESSAGES, temperature=0.0))
    assert (error.kind, error.retryable, error.parameter) == (
        "refused_parameter",
        False,
        "temperature",
    )
    assert server.count == 1


@pytest.mark.parametrize(
    "prefix", ["openai", "openai-responses", "anthropic", "google", "compatible"]
)
def test_with_leave_it_is_dropped_once_and_noted_ever_after(prefix):
    with WireServer() as server:
        refuse(server, "temperature")
        made = model(prefix, server, on_refused_parameter="drop")
        first, second, plain = ask(
            made, *[Request(MESSAGES, temperature=0.0)] * 2, Request(MESSAGES)
        )
    assert server.count == 4  # refused, again without it, then two that leave it out at once
    for reply in (first, second):
        assert reply.finish_reason == "stop"
        assert "temperature" not in reply.params
        assert any(str(note).startswith("dropped temperature: ") for note in reply.notes)
    assert plain.notes == ()


def test_a_parameter_under_another_name_is_renamed_and_noted():
    # Case B08: by the error, not by the model's name.
    with WireServer("4") as server:
        refuse(server, "max_tokens", "max_tokens' is not supported. Use 'max_completion_tokens")
        first, second = ask(model("compatible", server, "my-azure-deployment"), ASKED, ASKED)
    assert first.notes == (Note("renamed", "max_tokens", "sent as max_completion_tokens"),)
    assert second.params["max_completion_tokens"] == 256
    assert "max_tokens" not in second.params
    assert server.count == 3


def test_dropping_goes_on_until_the_model_is_content():
    with WireServer() as server:
        for parameter in ("temperature", "top_p", "seed"):
            refuse(server, parameter)
        made = model("openai", server, on_refused_parameter="drop")
        (reply,) = ask(made, ASKED)
    assert reply.params == {"model": "m", "max_completion_tokens": 256}
    assert [(note.kind, note.about) for note in reply.notes] == [
        ("dropped", "seed"), ("dropped", "temperature"), ("dropped", "top_p"),
    ]  # fmt: skip


def test_concurrent_calls_all_find_their_way_round_a_refusal():
    async def go(made):
        replies = await asyncio.gather(*(made.complete(ASKED) for _ in range(8)))
        await made.aclose()
        return replies

    with WireServer(latency=0.02) as server:
        refuse(server, "temperature")
        replies = asyncio.run(go(model("openai", server, on_refused_parameter="drop")))
    assert all("temperature" not in reply.params for reply in replies)
    assert server.count == 16


@pytest.mark.parametrize(
    ("prefix", "key"),
    [
        ("openai", "response_format"),
        ("openai-responses", "text"),
        ("anthropic", "tools"),
        ("google", "generationConfig"),
    ],
)
def test_a_schema_is_enforced_where_the_provider_can_and_the_raw_text_kept(prefix, key):
    with WireServer('{"Empathy": 4}') as server:
        (reply,) = ask(model(prefix, server), Request(MESSAGES, schema=SCHEMA))
        (plain,) = ask(model(prefix, server, structured=False), Request(MESSAGES, schema=SCHEMA))
    assert '"Empathy"' in str(server.requests[0].body[key]).replace("'", '"')
    assert "Empathy" not in server.requests[1].raw.decode()
    assert reply.text == plain.text == '{"Empathy": 4}'
    assert reply.finish_reason == "stop"


def test_compatible_endpoints_get_no_schema_unless_told():
    with WireServer() as server:
        ask(model("compatible", server), Request(MESSAGES, schema=SCHEMA))
        ask(model("compatible", server, structured=True), Request(MESSAGES, schema=SCHEMA))
    assert "response_format" not in server.requests[0].body
    assert server.requests[1].body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("prefix", ["openai", "openai-responses", "google", "compatible"])
def test_options_come_back_with_their_log_probabilities(prefix):
    logprobs = {"4": math.log(0.5), " 4": math.log(0.1), "5": math.log(0.3), "The": -3.0}
    with WireServer(Answer("4", logprobs=logprobs)) as server:
        made = model(prefix, server, logprobs=True)
        (reply,) = ask(made, Request(MESSAGES, options=("1", "2", "3", "4", "5")))
    assert set(reply.option_logprobs) == {"4", "5"}
    assert math.exp(reply.option_logprobs["4"]) == pytest.approx(0.6)
    assert math.exp(reply.option_logprobs["5"]) == pytest.approx(0.3)


def test_anthropic_says_that_it_has_no_log_probabilities():
    with WireServer("4") as server:
        (reply,) = ask(model("anthropic", server), Request(MESSAGES, options=("1", "2")))
    assert reply.option_logprobs == {}
    assert reply.notes == (Note("option_logprobs", "", "Anthropic gives none"),)


def test_further_parameters_of_the_provider_are_passed_on():
    with WireServer() as server:
        made = model("openai", server, params={"reasoning_effort": "low"})
        (reply,) = ask(made, Request(MESSAGES, params={"user": "7"}))
    assert server.requests[0].body["reasoning_effort"] == "low"
    assert (reply.params["reasoning_effort"], reply.params["user"]) == ("low", "7")


def test_azures_older_path_takes_its_query_and_header(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "planted-azure-key")
    with WireServer() as server:
        pytest.importorskip("orjson")
        from voirdire_judges.models.compatible import make

        made = make(
            "gpt-4o",
            base_url=f"{server.url}/openai/deployments/gpt-4o",
            api_key_env="AZURE_KEY",
            api_key_header="api-key",
            query={"api-version": "2024-10-21"},
        )
        (reply,) = ask(made, Request(MESSAGES))
    assert reply.finish_reason == "stop"
    seen = server.requests[0]
    assert seen.path == "/openai/deployments/gpt-4o/chat/completions"
    assert seen.headers["Api-Key"] == "planted-azure-key"
    with pytest.raises(InputError, match="needs an option base_url"):
        make("gpt-4o")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be more than 0 seconds, got 0"),
        ({"on_refused_parameter": "ignore"}, 'must be "error" or "drop", got \'ignore\''),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with WireServer() as server, pytest.raises(InputError, match=message):
        model("openai", server, **options)


def test_both_paths_of_google_work():
    with WireServer() as server:
        ask(model("google", server), Request(MESSAGES))
        ask(model("google", server, api_version="v1"), Request(MESSAGES))
    assert server.requests[1].path == "/v1/models/m:generateContent"
    assert server.requests[0].path.endswith("/models/m:generateContent")
