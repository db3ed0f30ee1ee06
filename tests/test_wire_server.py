"""The test server itself: formats, faults and counts, seen by plain HTTP."""

import asyncio
import json
import urllib.error
import urllib.request

import aiohttp
import pytest
from wire_server import FAULTS, Answer, WireProcess, WireServer, rubric_text


def post(url, body, timeout=60):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=timeout) as response:
        return json.load(response)


BODIES = {
    "/v1/chat/completions": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    "/v1/responses": {"model": "m", "input": "Hi"},
    "/v1/messages": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    "/v1/models/m:generateContent": {"contents": [{"parts": [{"text": "Hi"}]}]},
    "/v1beta/models/m:generateContent": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
}


@pytest.mark.parametrize("path", BODIES)
def test_every_format_carries_the_answer_and_shows_prompt_and_model(path):
    with WireServer(lambda seen: f"{seen.prompt}/{seen.model}") as server:
        assert "Hi/m" in json.dumps(post(server.url + path, BODIES[path]))
    assert [seen.path for seen in server.requests] == [path]


def test_a_fault_strikes_as_often_as_it_says_then_answers_again():
    path = "/v1/chat/completions"
    with WireServer(rubric_text(Empathy=2)) as server:
        server.fault("rate_limit", times=2, retry_after=7)
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError) as caught:
                post(server.url + path, BODIES[path])
            assert (caught.value.code, caught.value.headers["Retry-After"]) == (429, "7")
            caught.value.close()
        assert '\\"Empathy\\": 2' in json.dumps(post(server.url + path, BODIES[path]))
    assert server.count == 3


def test_an_unknown_fault_is_an_error_that_lists_the_known():
    with pytest.raises(ValueError, match="there is no fault 'fire'") as caught:
        WireServer().fault("fire")
    assert [name for name in FAULTS if name not in str(caught.value)] == []


def test_a_storm_lets_through_what_its_rate_allows():
    async def burst(url):
        async with aiohttp.ClientSession() as session:
            replies = [session.post(url, json=BODIES["/v1/chat/completions"]) for _ in range(40)]
            found = await asyncio.gather(*replies)
            for reply in found:
                reply.release()
            return [reply.status for reply in found]

    with WireServer() as server:
        server.storm(rate=10, retry_after=0.5)
        server.handler.storm.allowed = 10
        statuses = asyncio.run(burst(server.url + "/v1/chat/completions"))
    assert 10 <= statuses.count(200) <= 20
    assert set(statuses) == {200, 429}


def test_the_server_in_a_process_answers_and_takes_faults():
    with WireProcess() as server:
        server.fault("server", times=1)
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(server.url + "/v1/responses", BODIES["/v1/responses"])
        caught.value.close()
        post(server.url + "/v1/responses", BODIES["/v1/responses"])
        assert (server.count, server.peak) == (2, 1)


def test_finishes_change_the_answer_and_not_the_status():
    path = "/v1/messages"
    with WireServer(Answer("half", input=100, cached=80)) as server:
        server.fault("length")
        found = post(server.url + path, BODIES[path])
    assert (found["stop_reason"], found["content"][0]["text"]) == ("max_tokens", "half")
    assert found["usage"]["input_tokens"] == 20
    assert found["usage"]["cache_read_input_tokens"] == 80
