"""Answers given on the page: each kept at once, and none ever overwritten."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Self

from voirdire.errors import InputError, SessionError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path

    from voirdire.humans.plan import Plan
    from voirdire.humans.questions import Answer, Answered

DATABASE = "answers.sqlite"
_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE tokens (rater TEXT PRIMARY KEY, token TEXT NOT NULL)",
    """CREATE TABLE answers (id INTEGER PRIMARY KEY, judgement TEXT NOT NULL,
    question TEXT NOT NULL, value TEXT, at REAL NOT NULL)""",
    "CREATE INDEX answers_of ON answers (judgement, question, id)",
)
# By the number of the row and not by the time: clocks are set back.
_LATEST = """SELECT judgement, question, value FROM answers WHERE id IN
(SELECT max(id) FROM answers GROUP BY judgement, question)"""
_LATEST_OF = """SELECT judgement, question, value FROM answers WHERE id IN
(SELECT max(id) FROM answers WHERE judgement = ? GROUP BY question)"""


class AnswerBook:
    """The database of a page. One connection, which threads take in turn.

    An answer that is changed is written beside the earlier one; the latest counts.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        """Open the database, or begin one.

        Raises
        ------
        SessionError
            The file is no such database, or belongs to another plan.
        """
        self._lock = threading.Lock()
        try:
            # It holds the tokens of all raters: nobody else on this machine may read them.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise SessionError(f"{path}: cannot be opened ({error.strerror})") from None
        # Each statement commits by itself: an answer is on the disk before its sender hears so.
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._begin(plan.hash)
            own = _meta(self._connection) == plan.hash
            if own:  # the database of somebody else stays as it is
                # Answers are read while the page is served, and one that was confirmed survives a
                # power cut.
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise SessionError(f"{path}: not a database of answers ({error})") from None
        if not own:
            self._connection.close()
            raise SessionError(f"{path}: holds answers to another plan")

    def _begin(self, plan: str) -> None:
        self._connection.execute("PRAGMA busy_timeout = 10000")
        # The lock for writing at once: of two pages begun together one makes the tables.
        self._connection.execute("BEGIN IMMEDIATE")
        if self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
            for statement in _TABLES:
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO meta VALUES ('plan', ?)", (plan,))
        self._connection.execute("COMMIT")

    def tokens(self, raters: Iterable[str]) -> dict[str, str]:
        """Rater -> token; one is drawn for each rater that has none."""
        with self._lock:
            for rater in raters:
                row = (rater, secrets.token_urlsafe(16))
                self._connection.execute("INSERT OR IGNORE INTO tokens VALUES (?, ?)", row)
            return dict(self._connection.execute("SELECT rater, token FROM tokens").fetchall())

    def keep(self, judgement: str, question: str, answer: Answer | None) -> None:
        """Write an answer; it is on the disk when this returns."""
        value = None if answer is None else json.dumps(answer, ensure_ascii=True)
        row = (judgement, question, value, time.time())
        sql = "INSERT INTO answers (judgement, question, value, at) VALUES (?, ?, ?, ?)"
        with self._lock:
            self._connection.execute(sql, row)

    def answers(self) -> dict[str, Answered]:
        """The latest answers: judgement -> question -> answer."""
        with self._lock:
            return _latest(self._connection.execute(_LATEST))

    def answered(self, judgement: str) -> Answered:
        """The latest answers to one judgement."""
        with self._lock:
            rows = self._connection.execute(_LATEST_OF, (judgement,))
            return _latest(rows).get(judgement, {})

    def last(self, judgements: Container[str]) -> str | None:
        """The judgement, of those given, that was answered last."""
        sql = "SELECT judgement FROM answers ORDER BY id DESC"
        with self._lock:
            rows = self._connection.execute(sql)
            return next((str(row[0]) for row in rows if row[0] in judgements), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connection.close()


def read_answers(path: Path, plan: Plan) -> dict[str, Answered]:
    """The latest answers in a page's database, also while it is being served.

    Raises
    ------
    InputError
        There is no such file.
    SessionError
        The file is no such database, or belongs to another plan.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such database of answers")
    with AnswerBook(path, plan) as book:
        return book.answers()


def _meta(connection: sqlite3.Connection) -> str:
    try:
        row = connection.execute("SELECT value FROM meta WHERE name = 'plan'").fetchone()
    except sqlite3.DatabaseError:
        return ""
    return str(row[0]) if row else ""


def _latest(rows: Iterable[tuple[str, str, str | None]]) -> dict[str, Answered]:
    latest: dict[str, Answered] = defaultdict(dict)
    for judgement, question, value in rows:
        if value is not None:
            answer = json.loads(value)
            latest[judgement][question] = answer if isinstance(answer, str) else tuple(answer)
    return dict(latest)
