"""A small server for pages on this machine, by the standard library alone; a site answers it.

It listens on 127.0.0.1 unless it is told otherwise, refuses names and origins that are not its own,
sends one strict policy with every answer, and logs nothing. What comes in is bounded before it is
read: connections, their time, lines, headers, fields and bodies. Who may see what is the site's
affair: the rating page knows raters by a token in a header, the looking page by one in a cookie.
"""

from __future__ import annotations

import errno
import hmac
import io
import ipaddress
import json
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import parse_qsl, urlsplit

from voirdire.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = "127.0.0.1"
_MOST_BODY, _MOST_FIELDS = 200_000, 100
#: Connections at once. A browser opens up to six, and fifty people may rate at a time.
_MOST_OPEN = 256
#: Seconds that a connection may be silent between requests, and that one request may take to come.
_IDLE, _COMING = 60.0, 10.0
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action {forms}; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refusal(Exception):  # noqa: N818 - an answer to the browser, no failure of ours
    """What a site raises instead of answering: a status of HTTP, and one sentence."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """What a browser asks.

    Attributes
    ----------
    method : str
        GET, PUT or POST.
    path : str
        Without the query.
    query : tuple of (str, str)
        In the order of the address; empty values are kept.
    headers : mapping
        Names in lower case.
    body : bytes
        At most 200,000.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def bearer(self) -> str:
        """The token in the header Authorization; empty where there is none."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token if kind == "Bearer" else ""

    def cookie(self, name: str) -> str:
        """The value of a cookie; empty where there is none."""
        try:
            morsel = SimpleCookie(self.headers.get("cookie", "")).get(name)
        except CookieError:
            return ""
        return "" if morsel is None else morsel.value

    def json(self) -> Any:
        """The body as JSON.

        Raises
        ------
        InputError
            It is none.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise InputError("the body is no JSON") from None


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """What a site answers."""

    kind: str
    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, value: Any) -> SiteResponse:
        """A value as JSON, in ASCII."""
        return cls("application/json", json.dumps(value).encode())

    @classmethod
    def of_html(cls, text: str, status: HTTPStatus = HTTPStatus.OK) -> SiteResponse:
        """A page; half a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
        return cls("text/html; charset=utf-8", text.encode("utf-8", "replace"), status)


class Site(Protocol):
    """What answers requests; several threads call it at once."""

    #: Whether its pages hold forms that a browser sends by itself.
    forms: bool

    def answer(self, request: SiteRequest) -> SiteResponse:
        """The answer; a `Refusal` or an `InputError` becomes one with its message."""

    def refused(self, refusal: Refusal) -> SiteResponse:
        """How a refusal is shown."""


class LocalServer:
    """A site that is being served. Use it as a context manager, and `run` it.

    Attributes
    ----------
    address : str
        ``http://127.0.0.1:PORT``.
    """

    def __init__(
        self, site: Site, host: str = LOOPBACK, port: int = 0, *, network: bool = False
    ) -> None:
        """Open the port; 0 is any that is free.

        Raises
        ------
        InputError
            `host` reaches beyond this machine and `network` is False, or the port cannot be opened.
        """
        check_host(host, network=network)
        try:
            self._server = _HttpServer(host, port, site)
        except OSError as error:
            why = f"{host}:{port} cannot be opened ({error.strerror or error})"
            if error.errno == errno.EADDRINUSE:
                why += (
                    "; another page may still be served there: end it with Ctrl-C, or say --port 0"
                )
            raise InputError(why) from None
        shown = f"[{host}]" if ":" in host else host
        self.port: int = self._server.server_address[1]
        self.address = f"http://{shown}:{self.port}"

    def run(self) -> None:
        """Serve until `stop` or an interruption."""
        self._server.serve_forever(poll_interval=0.2)

    def stop(self) -> None:
        """End `run` from another thread."""
        self._server.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()


def check_host(host: str, *, network: bool) -> None:
    """Raise where an address can be reached from other machines and nobody allowed it.

    Raises
    ------
    InputError
        As said.
    """
    if not network and not is_loopback(host):
        raise InputError(
            f"serve: {host!r} can be reached from other machines, and nothing that is sent is "
            "encrypted; serve on 127.0.0.1, or add --network to do so all the same"
        )


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine alone.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def fields(text: str) -> tuple[tuple[str, str], ...]:
    """The fields of a query or of a form that was sent, in their order.

    Raises
    ------
    InputError
        They are more than any page of ours sends.
    """
    if text.count("&") >= _MOST_FIELDS:
        raise InputError(f"more than {_MOST_FIELDS} fields")
    return tuple(parse_qsl(text, keep_blank_values=True))


def same_token(expected: str, given: str) -> bool:
    """Whether two tokens are the same, in a time that tells nothing about where they differ."""
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogateescape"))


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    #: Browsers that may wait at once; at the library's 5, some of fifty were turned away.
    request_queue_size = 128

    def __init__(self, host: str, port: int, site: Site) -> None:
        self.site, self.host = site, host.lower()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._lock = threading.Lock()
        #: Connections that are open, and those of them that have sent no whole request: the
        #: longest silent first.
        self._open: set[socket.socket] = set()
        self._silent: dict[socket.socket, None] = {}
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread; beyond the most the longest silent goes."""
        with self._lock:
            late = next(iter(self._silent), None) if len(self._open) >= _MOST_OPEN else None
            full = len(self._open) >= _MOST_OPEN and late is None
            if late is not None:
                self._silent.pop(late)
                self._open.discard(late)
                with suppress(OSError):  # its thread wakes from its wait, and ends
                    late.shutdown(socket.SHUT_RDWR)
            if not full:
                self._open.add(request)
                self._silent[request] = None
        if full:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def heard(self, connection: socket.socket, *, whole: bool) -> None:
        """A connection has sent a whole request, or waits for its next one."""
        with self._lock:
            self._silent.pop(connection, None)
            if not whole and connection in self._open:
                self._silent[connection] = None

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._open.discard(request)
            self._silent.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no news, a full disk is."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Timely(io.RawIOBase):
    """What comes in over a connection, up to a time: one byte a minute keeps no thread."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._ends = connection, 0.0
        self.wait()

    def wait(self) -> None:
        """Wait for a request that may be long in beginning."""
        self._ends, self._begun = time.monotonic() + _IDLE, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what there is; TimeoutError once the request has taken too long."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long to come")
        self._connection.settimeout(left)
        count = self._connection.recv_into(buffer)
        if not self._begun:
            self._begun, self._ends = True, time.monotonic() + _COMING
        # Answers are written under a limit of their own.
        self._connection.settimeout(_IDLE)
        return count


class _Handler(BaseHTTPRequestHandler):
    server: _HttpServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "voirdire", ""
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Read with a deadline: who says nothing must not hold a thread for ever."""
        super().setup()
        self._coming = _Timely(self.connection)
        self.rfile.close()
        self.rfile = io.BufferedReader(self._coming)

    def handle_one_request(self) -> None:
        """One request, which is waited for anew."""
        self._coming.wait()
        self.server.heard(self.connection, whole=False)
        super().handle_one_request()

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: Any) -> None:
        """Nothing is logged: a log would say who judged what, and when."""

    def _answer(self) -> None:
        site = self.server.site
        try:
            self._check_host()
            self._check_origin()
            request = self._request()
            self.server.heard(self.connection, whole=True)
            answer = site.answer(request)
        except Refusal as refusal:
            answer = site.refused(refusal)
            # What was refused may have a body that nobody read: the next request would begin in it.
            self.close_connection = True
        except InputError as error:
            answer = site.refused(Refusal(HTTPStatus.BAD_REQUEST, str(error)))
        self._send(answer, forms=site.forms)

    def _send(self, answer: SiteResponse, *, forms: bool) -> None:
        self.send_response(answer.status)
        fixed = {**_HEADERS, "Content-Type": answer.kind, **answer.headers}
        allowed = "'self'" if forms else "'none'"
        fixed["Content-Security-Policy"] = fixed["Content-Security-Policy"].format(forms=allowed)
        if forms:
            # Under no-referrer a browser sends its own forms from the origin "null".
            fixed["Referrer-Policy"] = "same-origin"
        for name, value in fixed.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def _request(self) -> SiteRequest:
        try:
            parts = urlsplit(self.path)
            query = fields(parts.query)
        except ValueError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"the address cannot be read: {error}") from None
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = b"" if self.command == "GET" else self._body()
        return SiteRequest(self.command, parts.path, query, headers, body)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        # Its digits are counted first: a number of thousands of them is not read.
        if not (length.isascii() and length.isdecimal() and len(length) <= 9):
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "a body of known, small length")
        if int(length) > _MOST_BODY:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a body of known, small length")
        return self.rfile.read(int(length))

    def _check_host(self) -> None:
        """Refuse names that are not this server's: a page elsewhere may have rebound one to it."""
        try:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
        except ValueError:
            name = ""
        # Served on 0.0.0.0 it is reached by whatever address this connection came in at.
        here = self.connection.getsockname()[0]
        if name not in {"localhost", LOOPBACK, "::1", self.server.host, here}:
            raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, "this server has another name")

    def _check_origin(self) -> None:
        """Refuse what a page of another origin sends; browsers name it with all but plain GETs."""
        origin = self.headers.get("Origin")
        if origin is not None and origin != f"http://{self.headers.get('Host', '')}":
            raise Refusal(HTTPStatus.FORBIDDEN, "this server takes nothing from other pages")
