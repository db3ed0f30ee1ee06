"""Every fault of `../shared/reference/provider_facts.md` against every provider's real SDK."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from wire_server import SILENT, Answer, WireServer, rubric_text

from voirdire import ModelError
from voirdire.schema import Message, Note, Request

KEY = "planted-key-7f3a9c"
ASKED = Request(
    (Message("system", "You judge."), Message("user", "Rate this.")), temperature=0.2, max_tokens=50
)


@pytest.fixture(autouse=True)
def _planted_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OTHER_KEY"):
        monkeypatch.setenv(name, KEY)


def _openai(server, **options):
    pytest.importorskip("openai")
    from voirdire_judges.models.openai import make

    return make("gpt-4o", base_url=server.openai, **options)


def _responses(server, **options):
    pytest.importorskip("openai")
    from voirdire_judges.models.openai import make_responses

    return make_responses("gpt-4o", base_url=server.openai, **options)


def _anthropic(server, **options):
    pytest.importorskip("anthropic")
    from voirdire_judges.models.anthropic import make

    return make("claude", base_url=server.url, **options)


def _google(server, **options):
    pytest.importorskip("google.genai")
    from voirdire_judges.models.google import make

    return make("gemini", base_url=server.url, **options)


def _compatible(server, **options):
    pytest.importorskip("orjson")
    from voirdire_judges.models.compatible import make

    return make("llama3", base_url=server.openai, api_key_env="OTHER_KEY", **options)


def _langchain(server, **options):
    chat = pytest.importorskip("langchain_openai").ChatOpenAI
    httpx = pytest.importorskip("httpx")
    from voirdire_judges.models.langchain import make

    # A client of its own: LangChain caches one by address, and a later server may get the port of
    # an earlier one, whose client is closed.
    model = chat(
        model="gpt-4o",
        base_url=server.openai,
        api_key=KEY,
        max_retries=0,
        http_async_client=httpx.AsyncClient(),
    )
    return make(model, **options)


PROVIDERS = {
    "openai": _openai,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
    "compatible": _compatible,
    "langchain": _langchain,
}
provider = pytest.mark.parametrize("make", PROVIDERS.values(), ids=PROVIDERS)


async def close(model):
    if hasattr(model, "aclose"):
        await model.aclose()
    else:
        await model.model.root_async_client.close()


def ask(make, server, request=ASKED, **options):
    """The reply, or the error raised."""

    async def go():
        model = make(server, **options)
        try:
            return await model.complete(request)
        except ModelError as error:
            return error
        finally:
            await close(model)

    return asyncio.run(go())


# Fault -> kind, whether to retry, seconds asked for, status.
ERRORS = {
    "rate_limit": ("rate_limit", True, 1.0, 429),
    "quota": ("quota", False, None, None),
    "server": ("server", True, None, 500),
    "bad_gateway": ("server", True, None, 502),
    "late": ("timeout", True, None, 408),
    "too_early": ("server", True, None, 425),
    "unavailable": ("server", True, None, 503),
    "gateway_timeout": ("server", True, None, 504),
    "overloaded": ("overloaded", True, None, 529),
    "auth": ("auth", False, None, 401),
    "forbidden": ("auth", False, None, 403),
    "bad_request": ("bad_request", False, None, 400),
    "not_found": ("bad_request", False, None, 404),
    "drop": ("connection", True, None, None),
    "short": ("connection", True, None, None),
    "not_gzip": ("malformed", True, None, None),
    "cut": ("malformed", True, None, None),
    "html": ("malformed", True, None, None),
    "not_an_answer": ("malformed", True, None, None),
}


@provider
@pytest.mark.parametrize("fault", ERRORS)
def test_a_fault_is_one_request_and_one_typed_error_without_the_key(make, fault, caplog):
    caplog.set_level(logging.DEBUG)
    kind, retryable, wait, status = ERRORS[fault]
    with WireServer() as server:
        server.fault(fault, times=None)
        error = ask(make, server)
    assert isinstance(error, ModelError), error
    assert (error.kind, error.retryable, error.retry_after) == (kind, retryable, wait)
    assert fault == "quota" or error.status_code == status
    assert server.count == 1
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in f"{error!r} {error} {vars(error)} {caplog.text}"


@provider
def test_calls_that_never_return_end_at_their_deadline(make):
    with ExitStack() as stack, ThreadPoolExecutor(len(SILENT)) as pool:
        servers = [stack.enter_context(WireServer()) for _ in SILENT]
        for server, fault in zip(servers, SILENT, strict=True):
            server.fault(fault)
        # At once: each waits for three seconds.
        errors = pool.map(lambda server: ask(make, server, timeout=3), servers)
        for server, error in zip(servers, errors, strict=True):
            assert (error.kind, error.retryable) == ("timeout", True)
            assert "no answer within 3 s" in str(error)
            assert server.count == 1


# What a provider shows for each fault of the answer: provider_facts.md, section 2.
FINISHES = {
    "empty": "empty",
    "refusal": "refusal",
    "filter": "content_filter",
    "length": "length",
}


@provider
@pytest.mark.parametrize("fault", FINISHES)
def test_a_refused_filtered_cut_or_empty_answer_is_a_reply(make, fault):
    with WireServer(Answer('{"Empathy": 4}', input=100, output=7)) as server:
        server.fault(fault)
        reply = ask(make, server)
    expected = FINISHES[fault]
    if make is _anthropic and fault == "filter":
        expected = "refusal"  # Anthropic has no other word for it
    assert reply.finish_reason == expected
    assert (reply.usage.input, reply.usage.output) == (100, 7)
    assert server.count == 1


@pytest.mark.parametrize("make", [_openai, _responses, _compatible])
def test_text_before_a_filter_struck_is_kept(make):
    with WireServer("partial text") as server:
        server.fault("filter")
        assert ask(make, server).text == "partial text"


@pytest.mark.parametrize("make", [_openai, _responses, _compatible, _langchain])
def test_a_refusal_comes_with_finish_reason_stop_and_its_text_is_kept(make):
    with WireServer("I will not rate this.") as server:
        server.fault("refusal")
        reply = ask(make, server)
    assert (reply.finish_reason, reply.text) == ("refusal", "I will not rate this.")


@provider
def test_an_answer_carries_text_tokens_parameters_and_id(make):
    answer = Answer(rubric_text(Empathy=2), input=1000, cached=800, output=60, reasoning=40)
    with WireServer(answer) as server:
        reply = ask(make, server)
    assert reply.text == rubric_text(Empathy=2)
    assert (reply.usage.input, reply.usage.output, reply.usage.cached) == (1000, 60, 800)
    assert reply.usage.reasoning == (None if make is _anthropic else 40)
    assert reply.params["temperature"] == 0.2
    assert 50 in reply.params.values()
    assert reply.provider_id.endswith("1")
    assert reply.model
    assert reply.latency > 0
    assert KEY not in repr(reply)
    seen = server.requests[0]
    assert (seen.system, seen.prompt) == ("You judge.", "Rate this.")


@provider
def test_an_empty_message_is_not_sent(make):
    with WireServer() as server:
        error = ask(make, server, Request((Message("user", " \n"),)))
    assert (error.kind, error.retryable, server.count) == ("empty_input", False, 0)


@provider
def test_nobody_listening_is_a_connection_fault(make):
    with WireServer() as server:
        pass
    error = ask(make, server)
    assert (error.kind, error.retryable) == ("connection", True)


@provider
@pytest.mark.parametrize("answers", [False, True], ids=["refused", "407"])
def test_a_proxy_that_lets_nothing_through_is_named_and_is_no_timeout(make, answers, monkeypatch):
    class Proxy(BaseHTTPRequestHandler):
        def do_CONNECT(self):
            self.send_response(407)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port if answers else 1}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        server = SimpleNamespace(url="https://10.255.0.1", openai="https://10.255.0.1/v1")
        error = ask(make, server)
        proxy.shutdown()
        thread.join()
    assert error.kind == "connection"
    if make is _langchain and not answers:
        return  # httpx says of a proxy that is not there what it says of any server
    assert "the proxy that the environment names let no call through" in str(error)
    assert ("407" if answers else "refused") in str(error).lower()


@pytest.mark.parametrize("make", [_openai, _anthropic, _google, _compatible])
def test_the_client_is_shared_by_models_of_one_endpoint_and_closed_by_the_last(make):
    async def go(server):
        from voirdire_judges.models._endpoint import pool

        first, second = make(server), make(server)
        await asyncio.gather(first.complete(ASKED), second.complete(ASKED))
        assert first.client() is second.client()
        await first.aclose()
        await second.complete(ASKED)
        await second.aclose()
        await second.aclose()
        return pool().leases[asyncio.get_running_loop()]

    with WireServer() as server:
        assert asyncio.run(go(server)) == {}


@pytest.mark.parametrize("make", [_openai, _anthropic, _google, _compatible])
def test_a_model_works_again_on_another_event_loop(make):
    with WireServer() as server:
        model = make(server)

        async def once():
            reply = await model.complete(ASKED)
            await model.aclose()
            return reply.finish_reason

        assert [asyncio.run(once()), asyncio.run(once())] == ["stop", "stop"]


@pytest.mark.parametrize("make", [_openai, _anthropic, _google])
def test_no_key_shows_in_a_model_and_a_missing_one_is_named(make, monkeypatch):
    with WireServer() as server:
        model = make(server)
        assert KEY not in f"{model!r} {vars(model)} {model.endpoint!r}"
        monkeypatch.delenv("OPENAI_API_KEY")
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.delenv("GEMINI_API_KEY")
        with pytest.raises(ModelError, match=r"needs the environment variable \w+_API_KEY"):
            make(server)


@pytest.mark.parametrize("make", [_openai, _compatible, _langchain])
def test_azures_filtered_prompt_is_a_reply_with_its_categories(make):
    with WireServer() as server:
        server.fault("filter_400")
        reply = ask(make, server)
    assert (reply.finish_reason, reply.text) == ("content_filter", "")
    assert reply.notes == (Note("content_filter", "", "self_harm"),)
    assert server.count == 1
