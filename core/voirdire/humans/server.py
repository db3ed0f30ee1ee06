"""`voirdire humans serve`: a page on this machine, by the standard library alone."""

from __future__ import annotations

import io
import threading
import time
from collections import defaultdict
from dataclasses import asdict, replace
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self

from voirdire.errors import InputError
from voirdire.humans.database import AnswerBook
from voirdire.humans.questions import MOST_WORDS, asked_alone, check_answer, open_questions
from voirdire.humans.sheets import write_csv
from voirdire.serving import (
    LOOPBACK,
    LocalServer,
    Refusal,
    SiteRequest,
    SiteResponse,
    check_host,
    same_token,
)

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.humans.plan import Judgement, Plan
    from voirdire.humans.questions import Answered

#: Seconds after which a tab that said nothing counts as closed. Tabs speak every ten seconds, but
#: browsers wake those in the background once a minute.
_QUIET = 75.0
_LONGEST_TAB = 64
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}


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
        check_host(host, network=network)
        self._book = AnswerBook(database, plan)
        desk = Desk(plan, self._book)
        try:
            self._server = LocalServer(_HumansSite(desk), host, port, network=network)
        except InputError:
            self._book.__exit__()
            raise
        self.address = self._server.address
        self.links = {
            rater: f"{self.address}/#{token}"
            for rater, token in desk.tokens.items()
            if rater in plan.raters
        }

    def run(self) -> None:
        """Serve until `stop` or an interruption."""
        self._server.run()

    def stop(self) -> None:
        """End `run` from another thread."""
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()
        self._book.__exit__()


class _HumansSite:
    """The page and what its script asks for; who asks is known by a token in a header."""

    forms = False

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def answer(self, request: SiteRequest) -> SiteResponse:
        """A file of the page, or JSON of one rater's work."""
        return self._get(request) if request.method == "GET" else self._put(request)

    def refused(self, refusal: Refusal) -> SiteResponse:
        """A refusal as JSON."""
        return replace(SiteResponse.of_json({"error": refusal.message}), status=refusal.status)

    def _get(self, request: SiteRequest) -> SiteResponse:
        if request.path in _FILES:
            name, kind = _FILES[request.path]
            return SiteResponse(kind, files("voirdire.humans").joinpath("page", name).read_bytes())
        rater, desk = self._rater(request), self.desk
        if request.path == "/api/work":
            return SiteResponse.of_json(
                {**desk.work(rater), "elsewhere": desk.enter(rater, _tab(request))}
            )
        if request.path == "/api/answers.csv":
            return SiteResponse(
                "text/csv; charset=utf-8", desk.sheet(rater).encode("utf-8", "ignore")
            )
        return SiteResponse.of_json(desk.show(rater, _ident(request)))

    def _put(self, request: SiteRequest) -> SiteResponse:
        rater, desk = self._rater(request), self.desk
        sent = request.json()
        if request.path == "/api/tab":
            if sent is False:
                desk.leave(rater, _tab(request))
                return SiteResponse.of_json({"elsewhere": False})
            return SiteResponse.of_json({"elsewhere": desk.enter(rater, _tab(request))})
        return SiteResponse.of_json(desk.keep(rater, _ident(request), sent))

    def _rater(self, request: SiteRequest) -> str:
        rater = self.desk.rater_of(request.bearer)
        if rater is None:
            raise Refusal(
                HTTPStatus.UNAUTHORIZED,
                "This page needs the whole address that you were given, with what stands after #.",
            )
        return rater


def _tab(request: SiteRequest) -> str:
    return request.headers.get("x-tab", "")[:_LONGEST_TAB]


def _ident(request: SiteRequest) -> str:
    head, _, ident = request.path.rpartition("/")
    if head != "/api/judgement":
        raise Refusal(HTTPStatus.NOT_FOUND, "there is nothing here")
    return ident


class Desk:
    """A plan and its answers, as one rater at a time may see them. It does not know the key."""

    def __init__(self, plan: Plan, book: AnswerBook) -> None:
        self.plan, self._book = plan, book
        self._tabs: dict[str, dict[str, float]] = defaultdict(dict)
        self._lock = threading.Lock()
        self.tokens = book.tokens(plan.raters)

    def rater_of(self, token: str) -> str | None:
        """Whose token it is."""
        owner = None
        # All of them, without stopping at a match: the time it takes tells nothing about a token.
        for rater, own_token in self.tokens.items():
            if same_token(own_token, token) and rater in self.plan.raters:
                owner = rater
        return owner

    def work(self, rater: str) -> dict[str, Any]:
        """Everything but the texts: ids in order, questions, how much is open, where one was."""
        ids = self.plan.raters[rater]
        judgements = [self.plan.judgements[ident] for ident in ids]
        forms = list(dict.fromkeys(judgement.form for judgement in judgements))
        number = {form: at for at, form in enumerate(forms)}
        # The page opens where its rater stopped, and not at the beginning.
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

    def keep(self, rater: str, ident: str, sent: Any) -> dict[str, int]:
        """Keep one answer (null takes it back), and say how many questions are open.

        Raises
        ------
        InputError
            Not this rater's judgement, no such question, or an answer that it does not take.
        """
        form = self._own(rater, ident).form
        if not isinstance(sent, dict) or set(sent) != {"question", "answer"}:
            raise InputError("a question and an answer are needed")
        question = next((q for q in form if q.name == sent["question"]), None)
        if question is None:
            raise InputError(f"there is no question {sent['question']!r}")
        self._book.keep(ident, question.name, check_answer(question, sent["answer"]))
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
