"""`voirdire humans serve`: a page on this machine, by the standard library alone."""

from __future__ import annotations

import hmac
import io
import ipaddress
import json
import socket
import sys
import threading
import time
from collections import defaultdict
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from voirdire._errors import InputError
from voirdire.humans.database import AnswerBook
from voirdire.humans.questions import MOST_WORDS, asked_alone, check_answer, open_questions
from voirdire.humans.sheets import write_csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voirdire.humans.plan import Judgement, Plan
    from voirdire.humans.questions import Answered

LOOPBACK = "127.0.0.1"
_MOST_BODY = 200_000
#: Seconds after which a tab that said nothing counts as closed. Tabs speak every ten seconds, but
#: browsers wake those in the background once a minute.
_QUIET = 75.0
_LONGEST_TAB = 64
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
            `host` reaches beyond this machine and `network` is False, or the port cannot be opened.
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
            raise InputError(f"serve: {host}:{port} cannot be opened ({error})") from None
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
    #: Browsers that may wait at once; at the library's 5, some of fifty were turned away.
    request_queue_size = 128

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
            return _json({**desk.work(rater), "elsewhere": desk.enter(rater, self._tab())})
        if path == "/api/answers.csv":
            return "text/csv; charset=utf-8", desk.sheet(rater).encode("utf-8", "ignore")
        return _json(desk.show(rater, self._ident(path)))

    def _put(self) -> tuple[str, bytes]:
        body = self._body()
        path, rater, desk = urlsplit(self.path).path, self._rater(), self.server.desk
        try:
            sent = json.loads(body)
        except (ValueError, RecursionError):
            raise InputError("the body is no JSON") from None
        if path == "/api/tab":
            if sent is False:
                desk.leave(rater, self._tab())
                return _json({"elsewhere": False})
            return _json({"elsewhere": desk.enter(rater, self._tab())})
        return _json(desk.keep(rater, self._ident(path), sent))

    def _tab(self) -> str:
        return self.headers.get("X-Tab", "")[:_LONGEST_TAB]

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


class Desk:
    """A plan and its answers, as one rater at a time may see them. It does not know the key."""

    def __init__(self, plan: Plan, book: AnswerBook) -> None:
        self.plan, self._book = plan, book
        self._tabs: dict[str, dict[str, float]] = defaultdict(dict)
        self._lock = threading.Lock()
        self.tokens = book.tokens(plan.raters)

    def rater_of(self, token: str) -> str | None:
        """Whose token it is."""
        found = None
        for rater, known in self.tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()) and rater in self.plan.raters:
                found = rater
        return found

    def work(self, rater: str) -> dict[str, Any]:
        """Everything but the texts: ids in order, questions, how much is open, where one was."""
        ids = self.plan.raters[rater]
        judgements = [self.plan.judgements[ident] for ident in ids]
        forms = list(dict.fromkeys(judgement.form for judgement in judgements))
        number = {form: at for at, form in enumerate(forms)}
        answers, last = self._book.answers(), self._book.last(set(ids))
        return {
            "rater": rater,
            "title": self.plan.title,
            "task": self.plan.task,
            "instructions": self.plan.instructions,
            "most_words": MOST_WORDS,
            "ids": ids,
            "forms": [[asdict(question) for question in form] for form in forms],
            "form_of": [number[judgement.form] for judgement in judgements],
            "open": [len(open_questions(j.form, answers.get(j.id, {}))) for j in judgements],
            "at": ids.index(last) if last else 0,
        }

    def enter(self, rater: str, tab: str) -> bool:
        """Note that a tab of this rater is open; whether another one was opened before it.

        Answers given in one tab are not shown in another that is open already, so the later one
        tells its rater.
        """
        now = time.monotonic()
        with self._lock:
            tabs = self._tabs[rater]
            for name in [name for name, seen in tabs.items() if now - seen > _QUIET]:
                del tabs[name]
            if tab:
                tabs[tab] = now  # a name that is there already keeps its place
            return bool(tab) and next(iter(tabs)) != tab

    def leave(self, rater: str, tab: str) -> None:
        """Note that a tab was closed."""
        with self._lock:
            self._tabs[rater].pop(tab, None)

    def show(self, rater: str, ident: str) -> dict[str, Any]:
        """One judgement with its texts and what was answered.

        Raises
        ------
        InputError
            It is not this rater's.
        """
        judgement = self._own(rater, ident)
        return {"id": ident, "shown": judgement.shown, "answers": self._book.answered(ident)}

    def keep(self, rater: str, ident: str, said: Any) -> dict[str, int]:
        """Keep one answer (null takes it back), and say how many questions are open.

        Raises
        ------
        InputError
            Not this rater's judgement, no such question, or an answer that it does not take.
        """
        form = self._own(rater, ident).form
        if not isinstance(said, dict) or set(said) != {"question", "answer"}:
            raise InputError("a question and an answer are needed")
        question = next((q for q in form if q.name == said["question"]), None)
        if question is None:
            raise InputError(f"there is no question {said['question']!r}")
        self._book.keep(ident, question.name, check_answer(question, said["answer"]))
        return {"open": len(open_questions(form, self._book.answered(ident)))}

    def sheet(self, rater: str) -> str:
        """The rater's sheet as CSV, with the answers so far."""
        answers = self._book.answers()
        asked: dict[str, Answered] = {
            ident: asked_alone(self.plan.judgements[ident].form, answers[ident])
            for ident in self.plan.raters[rater]
            if ident in answers
        }
        file = io.StringIO(newline="")
        write_csv(self.plan, rater, file, asked)
        return file.getvalue()

    def _own(self, rater: str, ident: str) -> Judgement:
        if self.plan.owners.get(ident) != rater:
            raise InputError(f"there is no judgement {ident!r} among yours")
        return self.plan.judgements[ident]
