"""`voirdire humans serve`: a page on this machine, by the standard library alone."""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from voirdire._errors import InputError
from voirdire.humans._database import AnswerBook
from voirdire.humans._desk import Desk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voirdire.humans._plan import Plan

LOOPBACK = "127.0.0.1"
_MOST_BODY = 200_000
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _Refusal(Exception):  # noqa: N818 - an answer to the browser, no failure of ours
    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class PageServer:
    """A page that is being served. Use it as a context manager, and `run` it.

    Attributes
    ----------
    links : dict
        Rater -> the address to open. The token stands behind the ``#``, so it is never sent in an
        address, and never logged.
    """

    def __init__(
        self,
        plan: Plan,
        database: Path,
        host: str = LOOPBACK,
        port: int = 0,
        *,
        network: bool = False,
    ) -> None:
        """Open the database and the port.

        Raises
        ------
        InputError
            `host` reaches beyond this machine and `network` is False, or the port cannot be had.
        SessionError
            The database belongs to another plan.
        """
        if not network and not is_loopback(host):
            raise InputError(
                f"serve: {host!r} can be reached from other machines, and nothing that is sent is "
                "encrypted; serve on 127.0.0.1, or add --network to do so all the same"
            )
        self._book = AnswerBook(database, plan)
        try:
            self._server = _Server(host, port, Desk(plan, self._book))
        except OSError as error:
            self._book.__exit__()
            raise InputError(f"serve: {host}:{port} cannot be had ({error})") from None
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{self._server.server_address[1]}"
        self.links = {
            rater: f"{self.address}/#{token}"
            for rater, token in self._server.desk.tokens.items()
            if rater in plan.raters
        }

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
        self._book.__exit__()


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int, desk: Desk) -> None:
        self.desk, self.host = desk, host.lower()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no news, a full disk is."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "voirdire", ""
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_PUT(self) -> None:
        self._answer(self._put)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged: a log would say who judged what, and when."""

    def _answer(self, work: Callable[[], tuple[str, bytes]]) -> None:
        try:
            self._check_host()
            kind, body = work()
            status = HTTPStatus.OK
        except _Refusal as refusal:
            status, kind, body = refusal.status, *_json({"error": refusal.message})
            self.close_connection = True
        except InputError as error:
            status, kind, body = HTTPStatus.BAD_REQUEST, *_json({"error": str(error)})
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _check_host(self) -> None:
        """Refuse names that are not this server's: a page elsewhere may have rebound one to it."""
        try:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""
        except ValueError:
            name = ""
        here = self.connection.getsockname()[0]
        if name not in {"localhost", LOOPBACK, "::1", self.server.host, here}:
            raise _Refusal(HTTPStatus.MISDIRECTED_REQUEST, "this server has another name")

    def _get(self) -> tuple[str, bytes]:
        path = urlsplit(self.path).path
        if path in _FILES:
            name, kind = _FILES[path]
            return kind, files("voirdire.humans").joinpath("page", name).read_bytes()
        rater, desk = self._rater(), self.server.desk
        if path == "/api/work":
            return _json(desk.work(rater))
        if path == "/api/answers.csv":
            return "text/csv; charset=utf-8", desk.sheet(rater).encode("utf-8", "ignore")
        return _json(desk.show(rater, self._ident(path)))

    def _put(self) -> tuple[str, bytes]:
        body = self._body()
        rater, ident = self._rater(), self._ident(urlsplit(self.path).path)
        try:
            said = json.loads(body)
        except (ValueError, RecursionError):
            raise InputError("the body is no JSON") from None
        return _json(self.server.desk.keep(rater, ident, said))

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MOST_BODY:
            raise _Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "a body of known, small length")
        return self.rfile.read(int(length))

    def _rater(self) -> str:
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        rater = self.server.desk.rater_of(token) if kind == "Bearer" else None
        if rater is None:
            raise _Refusal(
                HTTPStatus.UNAUTHORIZED,
                "This page needs the whole address that you were given, with what stands after #.",
            )
        return rater

    def _ident(self, path: str) -> str:
        head, _, ident = path.rpartition("/")
        if head != "/api/judgement":
            raise _Refusal(HTTPStatus.NOT_FOUND, "there is nothing here")
        return ident


def _json(value: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()
