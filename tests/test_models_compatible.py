"""What only the client of our own must do, where the SDKs do it for the others."""

from __future__ import annotations

import asyncio
import json

import pytest
from wire_server import WireServer

from voirdire import ModelError
from voirdire.schema import Message, Request

pytest.importorskip("orjson")

from voirdire_judges.models._body import dump_body, load_body
from voirdire_judges.models.compatible import make

KEY = "planted-key-7f3a9c"
ASKED = Request((Message("user", "Rate this."),))


def asked(model, request=ASKED):
    async def go():
        try:
            return await model.complete(request)
        except ModelError as error:
            return error
        finally:
            await model.aclose()

    return asyncio.run(go())


@pytest.mark.parametrize(
    "said",
    [
        b'{"a": 1, "a": 2}',
        b'"\\ud800"',
        b"[NaN]",
        b'"\x01"',
        b"\xef\xbb\xbf{}",
        b'"\xff"',
        b"[-0.0]",
    ],
)
def test_the_fast_reader_says_what_pythons_own_says(said):
    own = json.loads(said.decode("utf-8-sig", errors="replace"), strict=False)
    assert repr(load_body(said)) == repr(own)


@pytest.mark.parametrize("sent", [{"seed": 2**70}, {"params": {1: "a"}}, {"text": "Grüße"}])
def test_what_the_fast_writer_does_not_write_is_written_all_the_same(sent):
    assert json.loads(dump_body(sent)) == json.loads(json.dumps(sent))


def test_without_a_key_none_is_sent():
    with WireServer("4") as server:
        assert asked(make("m", base_url=f"{server.openai}/")).text == "4"
    assert "Authorization" not in server.requests[0].headers
    assert server.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(("header", "reached"), [("", True), ("api-key", False)])
def test_a_key_in_a_header_of_its_own_follows_no_redirect(monkeypatch, header, reached):
    """To another host aiohttp drops `Authorization`, and would hand on any other header."""
    monkeypatch.setenv("OTHER_KEY", KEY)
    with WireServer("4") as other, WireServer("4") as server:
        away = {"Location": f"{other.openai}/chat/completions".replace("127.0.0.1", "localhost")}
        server.fault("raw", times=None, status=307, headers=away)
        found = asked(
            make("m", base_url=server.openai, api_key_env="OTHER_KEY", api_key_header=header)
        )
    assert other.count == reached
    assert not any(KEY in str(seen.headers) for seen in other.requests)
    assert (getattr(found, "text", "") == "4") == reached


def test_a_server_that_speaks_no_http_is_malformed_and_no_refusal():
    async def go():
        async def babble(reader, writer):
            await reader.read(100)
            writer.write(b"220 mail.example.org ESMTP\r\n")
            writer.close()

        server = await asyncio.start_server(babble, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        model = make("m", base_url=f"http://127.0.0.1:{port}/v1")
        try:
            with pytest.raises(ModelError) as caught:
                await model.complete(ASKED)
        finally:
            await model.aclose()
            server.close()
        return caught.value

    assert asyncio.run(go()).kind == "malformed"


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    with WireServer("4") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        found = asked(make("m", base_url="http://no-such-host.invalid/v1"))
    assert found.text == "4"
    assert proxy.requests[0].headers["Host"] == "no-such-host.invalid"
