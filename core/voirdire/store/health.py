"""Whether a session is as it was written: its texts by their hashes, its files by theirs.

Each reply, item and response is kept with the hash of its text. When a session is closed, the
hashes of its database and tables are written beside them, in the form that ``sha256sum -c`` reads:
one look at these says whether anything has changed since; only then is every row looked at.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from voirdire.errors import SessionError
from voirdire.files import PRIVATE, PRIVATE_FOLDER, file_hash
from voirdire.store._schema import content_hash, unpack
from voirdire.store.checksums import CHECKSUMS, DATABASE, TABLES, read_checksums, state_of
from voirdire.store.session import RATERS, STATE_KEY, read_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Kind = Literal[
    "damaged", "changed_database", "changed_table", "older_tables", "open_to_others", "no_hashes"
]
#: Rows with a hash of their own: table, columns, and how their hash is made. A text that was
#: forgotten has none to be compared with.
_ROWS: tuple[tuple[str, str, Callable[[Any], bytes]], ...] = (
    (
        "attempts",
        "SELECT id, hash, text, parts FROM attempts WHERE hash IS NOT NULL AND forgotten = 0",
        lambda row: content_hash(unpack(row[2]), unpack(row[3])),
    ),
    (
        "items",
        """SELECT id, hash, body, reference, extra FROM items
        WHERE hash IS NOT NULL AND forgotten = 0""",
        lambda row: content_hash(unpack(row[2]), unpack(row[3]), row[4] or ""),
    ),
    (
        "responses",
        """SELECT item || ' / ' || system, hash, body FROM responses
        WHERE hash IS NOT NULL AND forgotten = 0""",
        lambda row: content_hash(unpack(row[2])),
    ),
    (
        "texts",
        "SELECT id, hash, body FROM texts WHERE forgotten = 0",
        lambda row: blake2b(
            unpack(row[2]).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest(),
    ),
)
_PLACE = """SELECT r.name || ' on ' || t.item || iif(t.first = '', '', ' / ' || t.first)
|| iif(t.second = '', '', ' / ' || t.second) || ', run ' || c.run FROM attempts a
JOIN calls c ON c.id = a.call JOIN raters r ON r.id = c.rater JOIN tasks t ON t.id = c.task
WHERE a.id = ?"""
_UNHASHED = "SELECT count(*) FROM attempts WHERE finish IS NOT NULL AND hash IS NULL"
#: Places that a problem names.
_PLACES = 5


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a session that is not as it should be.

    Attributes
    ----------
    kind : str
        ``damaged``: what was kept is not what stands there; ``changed_database``: every text is
        what was kept, and the file is not as it was closed; ``changed_table``: a table is not as it
        was written; ``older_tables``: replies have come since they were; ``open_to_others``: others
        may read it; ``no_hashes``: an older voirdire wrote replies without them.
    where : str
        The table of the database, or the file.
    count : int
        How many rows or files.
    detail : str
        Which, and what was found.
    """

    kind: Kind
    where: str
    count: int
    detail: str

    @property
    def remedy(self) -> str:
        """What can be done about it."""
        return {
            "damaged": "put the database back from a copy",
            "changed_database": "put the database back from a copy, or see who wrote to it",
            "changed_table": "derive the tables again: voirdire session reparse",
            "older_tables": "derive the tables again: voirdire session reparse",
            "open_to_others": "voirdire session check --private, or leave it so if it is meant",
            "no_hashes": "their texts cannot be checked; nothing need be done",
        }[self.kind]


def check_session(folder: str | Path) -> tuple[Problem, ...]:
    """Everything that is not as it should be: each row, each file, and who may read it.

    Raises
    ------
    SessionError
        The folder holds no session.
    """
    folder = Path(folder)
    if not (folder / DATABASE).is_file():
        raise SessionError(f"session {folder}: there is no {DATABASE} in it")
    return (*damage(folder), *_tables(folder), *_open(folder))


def damage(folder: str | Path) -> tuple[Problem, ...]:
    """What is not as it was kept in the database, whose rows are looked at one by one."""
    try:
        with closing(read_session(folder)) as connection:
            found = tuple(_damaged(connection))
    except (SessionError, sqlite3.Error) as error:
        return (Problem("damaged", DATABASE, 1, str(error)),)
    if changed_database(folder) and not any(one.kind == "damaged" for one in found):
        # Such as counts of tokens, or an empty place in the file: no text says.
        what = "it is not as voirdire closed it, though every text is what was kept"
        return (*found, Problem("changed_database", DATABASE, 1, what))
    return found


def changed_database(folder: str | Path) -> bool:
    """Whether the database is not the one that was closed last; one that is written to is left out.

    Before version 0.3 there were no hashes to compare with.
    """
    folder = Path(folder)
    log = folder / f"{DATABASE}-wal"
    kept = read_checksums(folder).get(DATABASE)
    if kept is None or (log.is_file() and log.stat().st_size):
        return False
    return file_hash(folder / DATABASE) != kept


def changed_tables(folder: str | Path) -> tuple[str, ...]:
    """The tables that are not as they were written."""
    folder, kept = Path(folder), read_checksums(folder)
    return tuple(
        name
        for name in TABLES
        if name in kept and (folder / name).is_file() and file_hash(folder / name) != kept[name]
    )


def older_tables(folder: str | Path) -> bool:
    """Whether something has come into the database since its tables were derived."""
    folder = Path(folder)
    try:
        state = pl.read_parquet_metadata(folder / RATERS).get(STATE_KEY)
    except (OSError, pl.exceptions.PolarsError):
        return False
    if state is None:
        return False
    with closing(read_session(folder)) as connection:
        return state_of(connection) != state


def make_private(folder: str | Path) -> int:
    """Take from others what they may do in a session's folder; the files and folders changed."""
    changed = 0
    for path in _all(Path(folder)):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE)
            changed += 1
    return changed


def _damaged(connection: sqlite3.Connection) -> Iterator[Problem]:
    told = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    if told != ["ok"]:
        yield Problem("damaged", DATABASE, len(told), "; ".join(told[:_PLACES]))
    for table, sql, hashed in _ROWS:
        bad: list[Any] = []
        for row in connection.execute(sql):
            try:
                sound = hashed(row) == bytes(row[1])
            except (zlib.error, UnicodeDecodeError, TypeError, ValueError):
                sound = False
            if not sound:
                bad.append(row[0])
        if bad:
            named = [_place(connection, table, one) for one in bad[:_PLACES]]
            more = f" and {len(bad) - _PLACES:,} more" if len(bad) > _PLACES else ""
            yield Problem("damaged", table, len(bad), "; ".join(named) + more)
    unhashed = connection.execute(_UNHASHED).fetchone()[0]
    if unhashed:
        yield Problem("no_hashes", "attempts", unhashed, "replies of an older version")


def _place(connection: sqlite3.Connection, table: str, row: Any) -> str:
    found = connection.execute(_PLACE, (row,)).fetchone() if table == "attempts" else None
    return str(row if found is None else found[0])


def _tables(folder: Path) -> Iterator[Problem]:
    names = changed_tables(folder)
    if names:
        yield Problem("changed_table", CHECKSUMS, len(names), ", ".join(names))
    with suppress(SessionError, sqlite3.Error):  # what cannot be read has been told
        if older_tables(folder):
            yield Problem("older_tables", RATERS, 1, "replies have come since they were derived")


def _open(folder: Path) -> Iterator[Problem]:
    if os.name != "posix":
        return
    paths = [path for path in _all(folder) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    # In a folder that others may not enter its files are closed as well.
    if paths and stat.S_IMODE(folder.stat().st_mode) & 0o077:
        named = ", ".join(str(path.relative_to(folder)) for path in paths[:_PLACES])
        yield Problem("open_to_others", str(folder), len(paths), named)


def _all(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (path for path in sorted(folder.rglob("*")) if not path.is_symlink())
