"""Embedders behind an HTTP endpoint: a real server on this machine, well and badly behaved."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import polars as pl
import pytest
from command_line import invoke
from word_embedder import WordEmbedder

from voirdire import InputError, ModelError
from voirdire_retrieval import embed_texts, open_embedder

KEY = "sk-invented-123"


@pytest.fixture
def server():
    """A server that answers from `script` first and then properly, in reversed order."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.seen.append((self.path, dict(self.headers), body))
            status, headers, answer = served.script.pop(0) if served.script else (200, {}, None)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(proper(body) if answer is None else answer)

        def log_message(self, *_):
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.script, served.seen = [], []
    served.url = f"http://127.0.0.1:{served.server_port}/v1"
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join()


def proper(body):
    rows = WordEmbedder().embed(body["input"]) * 3
    data = [{"index": place, "embedding": row.tolist()} for place, row in enumerate(rows)]
    return json.dumps({"data": data[::-1]}).encode()


def embedder_at(server, **options):
    return at(server.url, **options)


def at(url, api_key_env="", **options):
    """The embedder of an address, which does not pause for long between two tries."""
    opened = open_embedder("compatible:m", base_url=url, api_key_env=api_key_env)
    return replace(opened, pause=0.01, **options)


def test_rows_are_unit_and_in_the_order_of_the_texts_whatever_the_server_sends(server):
    texts = ["one two", "three", "one", "four five"]
    rows = embedder_at(server, batch_size=3).embed(texts)
    np.testing.assert_allclose(rows, WordEmbedder().embed(texts), atol=1e-6)
    assert [(path, len(body["input"])) for path, _, body in server.seen] == [
        ("/v1/embeddings", 3),
        ("/v1/embeddings", 1),
    ]
    assert server.seen[0][2]["model"] == "m"
    assert "Authorization" not in server.seen[0][1]


def test_the_dimension_is_learnt_once(server):
    embedder = open_embedder("compatible:m", base_url=server.url)
    assert (embedder.dimension, embedder.dimension, len(server.seen)) == (64, 64, 1)


def test_the_address_may_stand_in_the_environment(server, monkeypatch):
    monkeypatch.setenv("VOIRDIRE_EMBEDDINGS_URL", server.url + "/")
    embedder = open_embedder("compatible:m")
    assert embed_texts(embedder, ["one", None]).empty == 1
    assert embedder.revision == f"{server.url}#m"


def test_the_key_comes_from_the_environment_and_is_never_told(server, monkeypatch):
    monkeypatch.setenv("INVENTED_KEY", KEY)
    embedder = embedder_at(server, api_key_env="INVENTED_KEY")
    embedder.embed(["one"])
    assert server.seen[0][1]["Authorization"] == f"Bearer {KEY}"
    server.script = [(401, {}, f"Incorrect API key provided: {KEY}".encode())]
    with pytest.raises(ModelError, match=r"401: Incorrect API key provided: \*\*\*") as caught:
        embedder.embed(["one"])
    assert KEY not in repr(caught.value) + repr(embedder)
    assert (caught.value.kind, caught.value.status_code, len(server.seen)) == ("auth", 401, 2)


def test_a_named_key_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.delenv("INVENTED_KEY", raising=False)
    with pytest.raises(InputError, match="environment variable INVENTED_KEY"):
        open_embedder("compatible:m", base_url="http://localhost/v1", api_key_env="INVENTED_KEY")


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "file:///etc"])
def test_an_address_of_another_kind_is_refused(url, monkeypatch):
    monkeypatch.delenv("VOIRDIRE_EMBEDDINGS_URL", raising=False)
    with pytest.raises(InputError, match="base_url must begin with http"):
        open_embedder("compatible:m", base_url=url)


@pytest.mark.parametrize(
    "trouble",
    [
        (429, {"Retry-After": "0"}, b"slow down"),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, b""),
        (503, {}, b"<html>overloaded</html>"),
        (200, {}, b"<html>"),
        (200, {}, b'{"data": [{"index": 7, "embedding": [1]}]}'),
        (200, {}, b'{"data": null}'),
        (200, {"Content-Length": "999"}, b'{"da'),
    ],
)
def test_what_may_pass_is_asked_again(server, trouble):
    server.script = [trouble]
    assert embedder_at(server).embed(["one"]).shape == (1, 64)
    assert len(server.seen) == 2


def test_what_does_not_pass_is_given_up(server):
    server.script = [(500, {}, b"")] * 9
    with pytest.raises(ModelError, match="the server answered 500"):
        embedder_at(server, attempts=3).embed(["one"])
    assert len(server.seen) == 3
    server.script = [(404, {}, b"no such model")]
    with pytest.raises(ModelError, match="404: no such model"):
        embedder_at(server).embed(["one"])
    assert len(server.seen) == 4


def test_a_server_that_is_not_there_is_a_connection_error():
    closed = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    url = f"http://127.0.0.1:{closed.server_port}/v1"
    closed.server_close()
    with pytest.raises(ModelError, match="embedder 'compatible:m'") as caught:
        at(url, attempts=2).embed(["one"])
    assert caught.value.kind == "connection"


def test_an_index_of_an_endpoint_opens_it_again_by_the_name_on_its_card(server, tmp_path):
    pytest.importorskip("faiss", reason="faiss is not installed")
    pl.DataFrame({"id": ["a", "b"], "text": ["one two", "three"]}).write_csv(tmp_path / "pool.csv")
    at = str(tmp_path / "index")
    asked = ["index", "build", str(tmp_path / "pool.csv"), "--model", "compatible:m", "--out", at]
    assert invoke([*asked, "--base-url", server.url]).exit_code == 0
    query = ["index", "query", at, "--text", "two", "-k", "1", "--base-url", server.url]
    found = invoke(query)
    assert found.exit_code == 0, found.exception
    assert "  a" in found.output
