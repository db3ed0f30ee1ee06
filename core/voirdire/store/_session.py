"""A session folder: opened by one process to write, by any number to read."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from voirdire._errors import SessionError
from voirdire.files import write_text
from voirdire.schema import Reply, Usage
from voirdire.secrets import held_keys
from voirdire.store import _lock
from voirdire.store._records import Stored
from voirdire.store._schema import SCHEMA_VERSION, TABLES, VERSION
from voirdire.store._texts import unpack
from voirdire.store._writer import Writer, connect
from voirdire.study import study_hash, thresholds_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from voirdire.store._writer import Record
    from voirdire.study import Study

DATABASE, STUDY = "session.sqlite", "study.toml"
#: What a session writes into its folder.
WRITTEN = (
    STUDY, "ratings.parquet", "preferences.parquet", "responses.parquet", "raters.parquet",
    "reply_findings.parquet", "remarks.parquet",
)  # fmt: skip
_LOOKUP = """SELECT c.final, c.status, c.current, a.text, a.finish, a.input, a.output, a.cached,
a.reasoning, a.latency, a.provider_id, a.model, a.extra, a.message FROM calls c
LEFT JOIN attempts a ON a.call = c.id AND a.finish IS NOT NULL WHERE c.key = ? ORDER BY a.id"""


class Session:
    """A locked session that is being worked in. Use it as a context manager.

    Attributes
    ----------
    folder : Path
        Where it lies.
    resumed : bool
        Whether it held calls when it was opened.
    """

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder, self._lock = folder, lock
        self.connection = connect(folder / DATABASE)
        self.resumed = self.connection.execute("SELECT 1 FROM calls LIMIT 1").fetchone() is not None
        self._writer: Writer | None = None

    def start(self, committed: Callable[[Sequence[Record]], None]) -> None:
        """Start the writer; `committed` hears, in the writer's thread, what each commit held."""
        self._writer = Writer(self.folder / DATABASE, committed)

    def put(self, record: Record) -> None:
        """Keep an attempt, or mark a task as through."""
        if self._writer is None:
            raise SessionError(f"session {self.folder}: its writer has not been started")
        self._writer.put(record)

    @property
    def given(self) -> int:
        """Records handed to the writer since it was started."""
        return 0 if self._writer is None else self._writer.given

    def check(self) -> None:
        """Raise if writing has failed."""
        if self._writer is not None:
            self._writer.check()

    def stop(self) -> None:
        """Write what waits and end the writer."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.close()

    def lookup(self, key: bytes) -> Stored | None:
        """What is on file for a call; None where it has never been answered or tried."""
        rows = self.connection.execute(_LOOKUP, (key,)).fetchall()
        if not rows:
            return None
        finished, status, current = rows[0][0] is not None, rows[0][1], rows[0][2]
        replies = tuple(reply_of(row[3:]) for row in rows if row[4] is not None)
        return Stored(finished, bool(current), status, replies)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self.connection.close()
            _lock.release(self._lock)


def reply_of(row: Sequence[Any]) -> Reply:
    """A reply from text, finish, four token counts, latency, provider id, model, extra, message."""
    text, finish, given, out, cached, reasoning, latency, provider_id, model, extra, message = row
    more = json.loads(extra) if extra else {}
    return Reply(
        text=unpack(text),
        finish_reason=finish,
        usage=Usage(given, out, cached, reasoning),
        model=model or "",
        provider_id=provider_id or "",
        latency=latency or 0.0,
        notes=tuple(more.get("notes", ())),
        option_logprobs=more.get("option_logprobs", {}),
        error=message or "",
    )


def open_session(folder: str | Path, study: Study, text: str, *, resume: bool = False) -> Session:
    """Create a session, or go on with one.

    Parameters
    ----------
    folder : str or Path
        Where the session lies, or will.
    study : Study
        What is run.
    text : str
        The study as TOML; it is copied into the folder, and every version of it is kept.
    resume : bool
        Whether an existing session is meant.

    Raises
    ------
    SessionError
        The study holds a key of the environment, the folder holds files that a session would write
        over or a session with replies (and `resume` is False), another process works in it, or
        another version of voirdire wrote it.
    """
    folder = Path(folder)
    if held := held_keys(text):
        raise SessionError(
            f"session {folder}: the study holds the value of {held[0]}, which would be kept with "
            "it; keys come from the environment only"
        )
    _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = _lock.acquire(folder)
    try:
        with usable(folder):
            _prepare(folder / DATABASE)
        session = Session(folder, lock)
    except BaseException:
        _lock.release(lock)
        raise
    with ExitStack() as opened:
        opened.enter_context(session)
        if session.resumed and not resume:
            raise SessionError(f"session {folder}: it exists already; go on with it by --resume")
        with usable(folder):
            _remember(session, study, text)
        opened.pop_all()
    return session


def _check_free(folder: Path) -> None:
    """A new session writes over no file of the user's."""
    if is_session(folder):
        return
    taken = [name for name in WRITTEN if (folder / name).exists()]
    if taken:
        raise SessionError(
            f"{folder}: {taken[0]} lies there, which a session would write over; give --out a "
            "folder of its own"
        )


def read_session(folder: str | Path) -> sqlite3.Connection:
    """A read-only connection to a session, also while another process writes.

    Raises
    ------
    SessionError
        There is no session in the folder, or it cannot be read.
    """
    path = Path(folder) / DATABASE
    if not path.exists():
        raise SessionError(f"session {folder}: there is no {DATABASE} in it")
    # Polars pulls pages from whichever of its threads is free, one at a time.
    where = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(where, uri=True, check_same_thread=False)
    try:
        _check_version(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def usable(folder: str | Path) -> Iterator[None]:
    """Say of a session that its database failed, such as one that is damaged or on a full disk.

    Raises
    ------
    SessionError
        SQLite raised.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise SessionError(
            f"session {folder}: its database cannot be used ({error}); what was kept before is "
            "kept, so go on with --resume once the cause is gone"
        ) from None


def memory_session() -> sqlite3.Connection:
    """An empty session in memory, to try things out in."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(TABLES)
    return connection


def is_session(folder: str | Path) -> bool:
    """Whether a folder is a session."""
    return (Path(folder) / DATABASE).is_file()


def _prepare(path: Path) -> None:
    try:
        connection = connect(path)
    except sqlite3.DatabaseError as error:
        raise SessionError(f"{path}: not a session of voirdire ({error})") from None
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            connection.executescript(f"BEGIN; {TABLES} {VERSION} COMMIT;")
        _check_version(connection, path)
    finally:
        connection.close()


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    try:
        row = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    except sqlite3.DatabaseError as error:
        raise SessionError(f"{path}: not a session of voirdire ({error})") from None
    if row is None or int(row[0]) != SCHEMA_VERSION:
        found = "none" if row is None else row[0]
        raise SessionError(
            f"{path}: schema version {found}, this voirdire reads version {SCHEMA_VERSION}"
        )


def _remember(session: Session, study: Study, text: str) -> None:
    """Keep this version of the study: in the database, and as the folder's study.toml."""
    origin = Path(study.folder).resolve()
    places = [("origin", str(origin))]
    with suppress(ValueError):  # on another drive there is no way from here
        way = os.path.relpath(origin, session.folder.resolve())
        places.append(("origin_from_here", way))
    session.connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", places)
    row = (study_hash(study), time.time(), study.name, thresholds_hash(study), text)
    session.connection.execute("INSERT OR REPLACE INTO studies VALUES (?, ?, ?, ?, ?)", row)
    write_text(session.folder / STUDY, text)
