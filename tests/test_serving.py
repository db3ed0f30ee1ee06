"""What the small server takes in before any site is asked, and what it refuses."""

from __future__ import annotations

import re
import resource
import socket
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from humans_work import write_study
from looking_work import material, write_ratings

from voirdire import serving
from voirdire.errors import InputError
from voirdire.humans import DATABASE, PageServer, make_plan
from voirdire.looking import LookServer
from voirdire.serving import fields


@contextmanager
def served(server):
    with server:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server, urlsplit(server.address).port
        finally:
            server.stop()
            thread.join()


@pytest.fixture(params=["humans", "look"])
def page(request, tmp_path):
    """Port, and the headers by which somebody is known."""
    if request.param == "look":
        server = LookServer(material(write_ratings(tmp_path / "ratings.csv")), "ratings")
        cookie = re.search(r"token=(.+)", server.link)[1]
        with served(server) as (_, port):
            yield port, f"Cookie: voirdire-look-{port}={cookie}"
        return
    plan, _ = make_plan(write_study(tmp_path, "pointwise"), tmp_path / "work")
    server = PageServer(plan, tmp_path / "work" / DATABASE)
    token = urlsplit(server.links["ann"]).fragment
    with served(server) as (_, port):
        yield port, f"Authorization: Bearer {token}"


def say(port, text, *, end=True):
    """The first line of the answer to raw bytes; empty where there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        if end:
            line.shutdown(socket.SHUT_WR)
        return line.makefile("rb").readline().decode("latin-1").strip()


HOST = "Host: localhost\r\n"
HOSTILE = {
    "300 fields": ("GET /?" + "&".join(f"a{n}=1" for n in range(300)) + " HTTP/1.1\r\n{host}{who}\r\n\r\n", "400"),
    "a length of 5,000 digits": ("PUT / HTTP/1.1\r\n{host}{who}\r\nContent-Length: " + "9" * 5000 + "\r\n\r\n", "411"),
    "a length in other digits": ("POST /label HTTP/1.1\r\n{host}{who}\r\nContent-Length: \xb2\r\n\r\n", "411"),
    "no length": ("PUT / HTTP/1.1\r\n{host}{who}\r\n\r\n", "411"),
    "a body too large": ("PUT / HTTP/1.1\r\n{host}{who}\r\nContent-Length: 200001\r\n\r\n", "413"),
    "an address that is none": ("GET http://[ HTTP/1.1\r\n{host}{who}\r\n\r\n", "400"),
    "a long address": ("GET /?q=" + "x" * 70_000 + " HTTP/1.1\r\n{host}{who}\r\n\r\n", "414"),
    "many headers": ("GET / HTTP/1.1\r\n{host}{who}\r\n" + "".join(f"X-{n}: 1\r\n" for n in range(200)) + "\r\n", "431"),
    "a long header": ("GET / HTTP/1.1\r\n{host}{who}\r\nX: " + "x" * 70_000 + "\r\n\r\n", "431"),
    "another method": ("DELETE / HTTP/1.1\r\n{host}{who}\r\n\r\n", "501"),
    "half a character": ("PUT /api/judgement/x HTTP/1.1\r\n{host}{who}\r\nContent-Length: 40\r\n\r\n"
                         + '{{"question":"\\ud800","answer":"\\ud800"}}'.ljust(44), "40"),
    "half a character in a form": ("POST /label HTTP/1.1\r\n{host}{who}\r\nContent-Length: 44\r\n\r\n"
                                   + "item=%ED%A0%80&by=%ED%A0%80&score=1&note=\xff\xfe".ljust(44), "40"),
    "nested JSON": ("PUT /api/judgement/x HTTP/1.1\r\n{host}{who}\r\nContent-Length: 100000\r\n\r\n" + "[" * 100_000, "40"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_hostile_is_refused_without_a_traceback(page, what, capsys):
    port, who = page
    text, status = HOSTILE[what]
    said = say(port, text.format(host=HOST, who=who))
    assert f" {status}" in said, said
    assert say(port, f"GET / HTTP/1.1\r\n{HOST}{who}\r\n\r\n").endswith("200 OK")
    assert capsys.readouterr().err == ""


def test_connections_are_capped_and_those_that_say_nothing_make_room(page):
    """Half-open requests hold no more threads than the cap, and nobody else is turned away."""
    port, who = page
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    before = threading.active_count()
    half = []
    try:
        for _ in range(400):
            line = socket.create_connection(("127.0.0.1", port), timeout=30)
            line.sendall(b"GET / HTTP/1.1\r\nHost: local")
            half.append(line)
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            threads = threading.active_count() - before
            if threads <= serving._MOST_OPEN:
                break
            time.sleep(0.05)
        assert threads <= serving._MOST_OPEN
        assert say(port, f"GET / HTTP/1.1\r\n{HOST}{who}\r\n\r\n").endswith("200 OK")
    finally:
        for line in half:
            line.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_request_that_comes_by_single_bytes_is_let_go(page, monkeypatch):
    port, _ = page
    monkeypatch.setattr(serving, "_COMING", 0.3)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.settimeout(0.05)
        sent, ends = 0, time.monotonic() + 30
        while time.monotonic() < ends:
            try:
                line.sendall(b"G")
                sent += 1
                if line.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert time.monotonic() < ends
        assert sent < 60


def test_fields_keep_their_order_and_their_empty_values():
    assert fields("b=1&a=&b=%20") == (("b", "1"), ("a", ""), ("b", " "))
    with pytest.raises(InputError, match="more than 100 fields"):
        fields("&".join("a=1" for _ in range(101)))
