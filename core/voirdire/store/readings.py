"""How a session's files were understood: kept once, so that they are read the same way again."""

from __future__ import annotations

import json
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from voirdire.errors import SessionError
from voirdire.store._schema import content_hash
from voirdire.store.session import is_session, locked_session, read_session, transaction
from voirdire.tables import HowRead

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path


def kept_readings(session: str | Path) -> dict[tuple[str, str], tuple[HowRead, float]]:
    """The readings of a session by file and SHA-256, and when each was kept; the first one stays.

    Examples
    --------
    >>> import tempfile
    >>> kept_readings(tempfile.mkdtemp())
    {}
    """
    if not is_session(session):
        return {}
    sql = "SELECT at, source, content, json FROM readings ORDER BY at DESC"
    with closing(read_session(session)) as connection:
        rows = connection.execute(sql).fetchall() if _has_them(connection) else []
    kept = {}
    for at, source, content, text in rows:
        said: dict[str, Any] = json.loads(text)
        columns = tuple((c, role, why) for c, role, why in said.get("columns", ()))
        digest = (content or b"").hex()
        kept[source, digest] = HowRead(source, digest, said["keys"], columns), at
    return kept


def keep_readings(session: str | Path, readings: Iterable[HowRead]) -> int:
    """Keep how files were understood; what is kept already stays. How many are new.

    A session that another process works in, that cannot be written or that an older voirdire wrote
    keeps none, and stays as it is.
    """
    if not is_session(session):
        return 0
    with closing(read_session(session)) as connection:
        if not _has_them(connection):
            return 0
    known = kept_readings(session)
    new = [one for one in readings if one.content and (one.source, one.content) not in known]
    if not new:
        return 0
    rows = []
    for one in new:
        text = json.dumps({"keys": dict(one.keys), "columns": one.columns}, sort_keys=True)
        key = content_hash(one.source, one.content)
        rows.append((key, time.time(), one.source, bytes.fromhex(one.content), text))
    try:
        with locked_session(session) as connection, transaction(connection):
            connection.executemany("INSERT OR IGNORE INTO readings VALUES (?, ?, ?, ?, ?)", rows)
    except SessionError:
        return 0
    return len(rows)


def _has_them(connection: sqlite3.Connection) -> bool:
    """Whether the session has a place for readings: those of older versions have none."""
    sql = "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = 'readings'"
    return connection.execute(sql).fetchone() is not None
