"""A session folder: opened by one process to write, by any number to read."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from voirdire.errors import SessionError
from voirdire.files import PRIVATE, mode_like, own_folder, whole, write_text
from voirdire.schema import RULE, Message
from voirdire.secrets import held_keys
from voirdire.store._schema import MIGRATIONS, SCHEMA_VERSION, TABLES, VERSION, unpack
from voirdire.store._writer import Writer, connect
from voirdire.store.checksums import CHECKSUMS, DATABASE, keep_checksums
from voirdire.store.lock import acquire, release, tell
from voirdire.store.records import (
    REPLY_COLUMNS,
    Stored,
    make_call,
    message_of,
    reply_of,
    request_of,
)
from voirdire.study import study_hash, thresholds_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from voirdire.schema import Message, Request
    from voirdire.store._writer import Record
    from voirdire.store.records import Slot
    from voirdire.study import Study

STUDY, RATERS = "study.toml", "raters.parquet"
#: The findings on replies, as they are called today and in version 0.1.
REPLY_FINDINGS, OLD_REPLY_FINDINGS = "reply_findings.parquet", "remarks.parquet"
#: The findings of raters themselves, such as examples that leak.
RATER_FINDINGS = "findings.json"
#: Under which the table of raters says of which session it is.
SESSION_KEY = "voirdire_session"
#: And under which it says of which state of it.
STATE_KEY = "voirdire_state"
#: Where the sessions lie that a run by several workers is shared out into.
PIECES = "pieces"
#: What a session writes into its folder.
WRITTEN = (
    STUDY, "ratings.parquet", "preferences.parquet", "responses.parquet", RATERS,
    REPLY_FINDINGS, OLD_REPLY_FINDINGS, RATER_FINDINGS, CHECKSUMS,
)  # fmt: skip
_GONE = "SELECT 1 FROM forgotten WHERE what = 'texts' LIMIT 1"
# Only the current call: what an older prompt asked at this step says nothing of this one.
_KEPT = """SELECT c.key, c.messages, p.json FROM calls c JOIN params p ON p.id = c.params
JOIN raters r ON r.id = c.rater JOIN tasks t ON t.id = c.task
WHERE (r.stage, r.name, r.model, r.prompt, t.item, t.first, t.second, t.unit, c.run, c.step,
c.current) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"""
# Faults are left out by the join: they are no replies, and a call of faults alone is asked again.
_LOOKUP = f"""SELECT c.final, c.status, c.current, {REPLY_COLUMNS} FROM calls c
LEFT JOIN attempts a ON a.call = c.id AND a.finish IS NOT NULL WHERE c.key = ? ORDER BY a.id"""  # noqa: S608


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
        try:
            call = self.connection.execute("SELECT 1 FROM calls LIMIT 1").fetchone()
        except BaseException:
            self.connection.close()
            raise
        self.resumed = call is not None
        self._writer: Writer | None = None

    def start(self, committed: Callable[[Sequence[Record]], None]) -> None:
        """Start the writer; `committed` hears, in the writer's thread, what each commit held."""
        self._writer = Writer(self.folder / DATABASE, committed, fresh=not self.resumed)

    def tell(self, text: str) -> None:
        """Leave word of how the work goes, for `lock.told`; nothing is kept of it."""
        with suppress(OSError):  # a full disk: what matters then is said by the writer
            tell(self._lock, text)

    def put(self, record: Record) -> None:
        """Keep an attempt, or mark a task as through."""
        if self._writer is None:
            raise SessionError(f"session {self.folder}: its writer has not been started")
        self._writer.put(record)

    def hurry(self) -> None:
        """Commit at once what was put, in place of waiting for more to come along with it."""
        if self._writer is not None:
            self._writer.hurry()

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
            # First let go of, then closed: closing may raise, and must not be
            # tried again by `__exit__`.
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

    def kept(self, slot: Slot) -> Request | None:
        """What was asked at this step of a task before; None where nothing was."""
        who = slot.rater
        about = (slot.item, slot.first, slot.second, slot.unit)
        place = (who.stage, who.name, who.model, who.prompt, *about)
        row = self.connection.execute(_KEPT, (*place, slot.run, slot.step)).fetchone()
        if row is None:
            return None
        key, messages, params = row
        request = request_of(tuple(map(self._message, json.loads(messages))), params, slot.run)
        # What JSON could not hold was written as text: such a request cannot be made again.
        return request if make_call(slot, request).key == key else None

    def _message(self, rows: Sequence[Any]) -> Message:
        role, *numbers = rows
        sql = "SELECT body FROM texts WHERE id = ?"
        texts = (unpack(self.connection.execute(sql, (row,)).fetchone()[0]) for row in numbers)
        return message_of(role, *texts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        # The lock last: who gets it next must find the database closed.
        finally:
            self.connection.close()
            keep_checksums(self.folder)
            release(self._lock)


def open_session(
    folder: str | Path,
    study: Study,
    text: str,
    *,
    resume: bool = False,
    take: Callable[[sqlite3.Connection], None] | None = None,
    shared: bool = False,
) -> Session:
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
    take : callable, optional
        Takes the study's items and responses in, in one transaction with the study itself: if it
        raises, the session is as it was.
    shared : bool
        Whether others may read a new session, as the umask says; by default its owner alone may.
        One that is there stays as it is.

    Raises
    ------
    SessionError
        The study holds a key of the environment, the folder holds files that a session would write
        over or a session with replies (and `resume` is False), another process works in it, its
        database is empty or no session beside tables of one, or a newer voirdire wrote it.
    """
    folder = Path(folder)
    # Looked for first: nothing of it may be on the disk, not even until an error.
    if held := held_keys(text):
        raise SessionError(
            f"session {folder}: the study holds the value of {held[0]}, which would be kept with "
            "it; keys come from the environment only"
        )
    _check_free(folder)
    own_folder(folder, shared=shared)
    # Before the database is looked at: two processes would both find none, and make it.
    lock = acquire(folder, 0o666 if shared else PRIVATE)
    try:
        with usable(folder):
            _prepare(folder, shared=shared)
        session = Session(folder, lock)
    except BaseException:
        release(lock)
        raise
    with ExitStack() as opened:
        opened.enter_context(session)
        if session.resumed and not resume:
            raise SessionError(f"session {folder}: it exists already; go on with it by --resume")
        if session.connection.execute(_GONE).fetchone():
            raise SessionError(
                f"session {folder}: its texts were forgotten, and nothing more can be asked in it; "
                "give --out another folder"
            )
        with usable(folder), transaction(session.connection):
            if take is not None:
                take(session.connection)
            _remember(session, study, text)
        # Behind the transaction: the file beside the database is the study as it ran last.
        write_text(folder / STUDY, text, mode=session_mode(folder))
        # From here on the caller closes it; until here any error does.
        opened.pop_all()
    return session


@contextmanager
def locked_session(folder: str | Path) -> Iterator[sqlite3.Connection]:
    """A connection that may write to an existing session, which nobody else works in meanwhile.

    Raises
    ------
    SessionError
        There is none, another process works in it, or a newer voirdire wrote it.
    """
    folder = Path(folder)
    _check_there(folder)
    try:
        # A folder that may only be read takes no lock file.
        lock = acquire(folder)
    except OSError as error:
        raise SessionError(f"session {folder}: it cannot be written ({error.strerror})") from None
    try:
        with usable(folder):
            _prepare(folder)
        with closing(connect(folder / DATABASE)) as connection:
            yield connection
        keep_checksums(folder)
    finally:
        release(lock)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is written in the block, or nothing; inside another one it is part of that."""
    if connection.in_transaction:
        yield
        return
    # IMMEDIATE: a transaction that reads first and writes later would fail where
    # another wrote in between.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _check_free(folder: Path) -> None:
    """A new session writes over no file of the user's."""
    if is_session(folder):
        return
    if taken := _tables_in(folder):
        raise SessionError(
            f"{folder}: {taken[0]} lies there, which a session would write over; give --out a "
            "folder of its own"
        )


def _check_there(folder: Path) -> None:
    if not (folder / DATABASE).exists():
        raise SessionError(f"session {folder}: there is no {DATABASE} in it")


def _tables_in(folder: Path) -> list[str]:
    return [name for name in WRITTEN if (folder / name).exists()]


def read_session(folder: str | Path) -> sqlite3.Connection:
    """A read-only connection to a session, also while another process writes.

    Nothing is written, also where an older voirdire wrote the session and where the folder allows
    no writing at all, as on a disc.

    Raises
    ------
    SessionError
        There is no session in the folder, or it cannot be read.
    """
    folder = Path(folder)
    _check_there(folder)
    connection = _connect_to_read(folder / DATABASE)
    try:
        version = _version(connection, folder / DATABASE)
        check_tables_are_its_own(folder, connection)
        # By temporary views: the file of an old session stays byte for byte as it is.
        if version < SCHEMA_VERSION:
            connection.executescript(MIGRATIONS[version].read)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing.

    SQLite keeps an index of the write-ahead log in a file beside it, and cannot make one where
    nothing may be written. Then the database is read as it stands, if its log is folded in, and
    else from a copy of both.
    """
    log = path.with_name(path.name + "-wal")
    mine = not log.exists()
    connection = _connect(f"{path.resolve().as_uri()}?mode=ro", _Guest)
    if mine and isinstance(connection, _Guest):
        connection.log = log
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        # Any other error is one of the file: reading it as it stands would show a
        # damaged session as sound.
        code = error.sqlite_errorcode & 0xFF  # the primary one, without its details
        if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise SessionError(f"{path}: not a session of voirdire ({error})") from None
        # `immutable` does not look at the log: the last replies of a killed run stand there alone.
        if log.exists() and log.stat().st_size:
            return _copied(path, log)
        return _connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise SessionError(f"{path}: not a session of voirdire ({error})") from None
    return connection


def _connect(where: str, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    # Polars pulls pages from whichever of its threads is free, one at a time.
    return sqlite3.connect(where, uri=True, check_same_thread=False, factory=kind)


class _Copy(sqlite3.Connection):
    """A connection to a copy, which goes with it."""

    folder: TemporaryDirectory[str] | None = None

    def close(self) -> None:
        super().close()
        if self.folder is not None:
            self.folder.cleanup()


class _Guest(sqlite3.Connection):
    """A connection that reads, and takes away at its end what SQLite put beside the database.

    To read one in WAL SQLite makes an empty log and its index, and leaves them where the connection
    may not write.
    """

    log: Path | None = None

    def close(self) -> None:
        super().close()
        if self.log is None or not self.log.is_file() or self.log.stat().st_size:
            return
        # A connection that may write: where it is the last one, SQLite takes both away by itself.
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(str(self.log).removesuffix("-wal"))) as last,
        ):
            last.execute("PRAGMA query_only = 1")
            last.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


def _copied(path: Path, log: Path) -> sqlite3.Connection:
    folder = TemporaryDirectory(prefix="voirdire-")
    for file in (path, log):
        shutil.copyfile(file, Path(folder.name) / file.name)
    connection = _connect((Path(folder.name) / path.name).as_uri(), _Copy)
    if isinstance(connection, _Copy):
        connection.folder = folder
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


def session_mode(folder: str | Path) -> int | None:
    """Permissions of what is written into a session: as private as its database is."""
    return mode_like(Path(folder) / DATABASE)


def _prepare(folder: Path, *, shared: bool = False) -> None:
    """See that the database can be written: made where there is none, brought up to date if old."""
    path = folder / DATABASE
    if path.exists() and not _is_empty(path):
        # A connection that writes would turn a foreign database into WAL before it is refused.
        with closing(_connect_to_read(path)) as connection:  # what is foreign is not touched
            version = _version(connection, path)
            check_tables_are_its_own(folder, connection)
        if version < SCHEMA_VERSION:
            _migrate(path, version)
        return
    if taken := _tables_in(folder):
        raise SessionError(
            f"session {folder}: {DATABASE} is empty, but {taken[0]} lies beside it; put the "
            "database back from a copy, or give --out another folder"
        )
    # SQLite gives its log and its index the permissions of the database.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666 if shared else PRIVATE))
    with closing(connect(path)) as connection:
        connection.executescript(f"BEGIN; {TABLES} {VERSION} COMMIT;")


def _is_empty(path: Path) -> bool:
    """Whether nothing was ever made in it: a file without a byte, or without a table."""
    if path.stat().st_size == 0:
        return not path.with_name(path.name + "-wal").exists()
    with closing(_connect_to_read(path)) as connection:
        return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])


def session_id(connection: sqlite3.Connection) -> str | None:
    """The name that a session got by chance when it was made; older ones have none."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'session'").fetchone()
    return None if row is None else str(row[0])


def check_tables_are_its_own(folder: Path, connection: sqlite3.Connection) -> None:
    """See that the tables beside a database were derived from it, and not from another one.

    Raises
    ------
    SessionError
        The tables bear the name of another session.
    """
    import polars as pl  # noqa: PLC0415 - a session without tables needs none

    path, name = folder / RATERS, session_id(connection)
    if name is None or not path.is_file():
        return
    try:
        theirs = pl.read_parquet_metadata(path).get(SESSION_KEY)
    except (OSError, pl.exceptions.PolarsError):
        return  # a table that is damaged is written anew
    if theirs not in (None, name):
        raise SessionError(
            f"session {folder}: {DATABASE} is that of another session than {RATERS} and the tables "
            "beside it; put the right database back from a copy, or give --out another folder"
        )


def _migrate(path: Path, version: int) -> None:
    """Bring an old session up to date in one transaction, after a copy has been put beside it."""
    with closing(connect(path)) as connection:
        backup = path.with_name(f"session.v{version}.sqlite")
        # SQLite's own copy: it holds what is still in the log as well, and is whole or not there.
        with (
            whole(backup, mode=mode_like(path)) as draft,
            closing(sqlite3.connect(draft)) as copy,
        ):
            connection.backup(copy)
        with transaction(connection):
            # Statement by statement: `executescript` would commit, and a
            # migration must be undone as one.
            for older in range(version, SCHEMA_VERSION):
                for statement in filter(str.strip, MIGRATIONS[older].write.split(";")):
                    connection.execute(statement)
            connection.execute(
                "UPDATE meta SET value = ? WHERE name = 'schema_version'", (str(SCHEMA_VERSION),)
            )


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of the schema, if it can be read."""
    try:
        row = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
        version = 0 if row is None else int(row[0])
    except (sqlite3.DatabaseError, ValueError, TypeError) as error:
        raise SessionError(f"{path}: not a session of voirdire ({error})") from None
    if version > SCHEMA_VERSION:
        raise SessionError(
            f"{path}: a newer voirdire wrote it (schema version {version}, this one reads up to "
            f"{SCHEMA_VERSION}): update voirdire"
        )
    if version < 1:
        raise SessionError(
            f"{path}: not a session of voirdire (schema version {version or 'none'})"
        )
    return version


def _remember(session: Session, study: Study, text: str) -> None:
    """Keep this version of the study in the database."""
    # Both ways to the study's folder: the absolute one outlives a move of the session, the
    # relative one that of both together.
    origin = Path(study.folder).resolve()
    places = [("origin", str(origin))]
    with suppress(ValueError):  # on another drive there is no way from here
        way = os.path.relpath(origin, session.folder.resolve())
        places.append(("origin_from_here", way))
    session.connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", places)
    # The rule that was known when it began: what its margins were declared for.
    session.connection.execute("INSERT OR IGNORE INTO meta VALUES ('rule', ?)", (RULE,))
    remember_study(session.connection, study, text)


def remember_study(connection: sqlite3.Connection, study: Study, text: str) -> None:
    """Keep the words of a version of the study."""
    row = (study_hash(study), time.time(), study.name, thresholds_hash(study), text)
    connection.execute("INSERT OR REPLACE INTO studies VALUES (?, ?, ?, ?, ?)", row)
