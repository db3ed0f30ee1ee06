"""Several sessions as one: what was asked in any of them stands once, and what it cost adds up.

Keys make it exact. A call is known by the hash of what was asked (`records.call_key`) and an
attempt by its call, its time and its reply, so that a session that is merged twice adds nothing the
second time.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import InputError, SessionError
from voirdire.store._schema import unpack
from voirdire.store.findings import take_findings
from voirdire.store.frames import session_study
from voirdire.store.session import STUDY, is_session, open_session, read_session, usable
from voirdire.store.tables import write_tables
from voirdire.study import study_hash

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from voirdire._registry import Plugins

#: Tables of the other session, as they are laid beside those of the one that takes them in.
_STAGED = {
    "items": ("id", "body", "reference", "extra", "present", "hash", "forgotten"),
    "responses": ("item", "system", "body", "origin", "present", "hash", "forgotten"),
    "raters": ("id", "stage", "name", "model", "prompt"),
    "tasks": ("id", "item", "first", "second", "unit"),
    "texts": ("id", "hash", "body", "forgotten"),
    "params": ("id", "hash", "json"),
    "calls": (
        "id", "key", "rater", "task", "run", "step", "messages", "params", "current", "final",
        "status", "cut", "role",
    ),
    "attempts": (
        "id", "call", "at", "text", "finish", "error", "message", "input", "output", "cached",
        "reasoning", "written", "latency", "provider_id", "model", "params", "extra", "parts",
        "ended", "candidate", "hash", "forgotten", "batch",
    ),
    "batches": ("id", "name", "model", "at", "provider_id", "status", "lines", "detail"),
    "batch_lines": ("batch", "key"),
    "studies": ("hash", "at", "name", "thresholds", "toml"),
}  # fmt: skip
#: What is stored once in each session, and by what it is known.
_KNOWN_BY = {
    "raters": ("stage", "name", "model", "prompt"),
    "tasks": ("item", "first", "second", "unit"),
    "texts": ("hash",),
    "params": ("hash",),
    "batches": ("name",),
}
# An item is present if it is in any of the sessions. WHERE true: without it SQLite reads ON
# CONFLICT as a join's ON.
_ITEMS = """INSERT INTO items (id, body, reference, extra, present, hash, forgotten)
SELECT id, body, reference, extra, present, hash, forgotten FROM from_items
WHERE true ORDER BY rowid
ON CONFLICT (id) DO UPDATE SET present = max(present, excluded.present)"""
_RESPONSES = """INSERT INTO responses (item, system, body, origin, present, hash, forgotten)
SELECT item, system, body, origin, present, hash, forgotten FROM from_responses
WHERE true ORDER BY rowid
ON CONFLICT (item, system) DO UPDATE SET present = max(present, excluded.present)"""
# None is current at first: `won` says afterwards whose tasks count. Messages name rows of
# texts, which are others here.
_CALLS = """INSERT INTO calls (key, rater, task, run, step, messages, params, current, cut, role)
SELECT c.key, r.now, t.now, c.run, c.step, moved(c.messages), p.now, 0, c.cut, c.role
FROM from_calls c JOIN raters_now r ON r.was = c.rater JOIN tasks_now t ON t.was = c.task
JOIN params_now p ON p.was = c.params WHERE true ORDER BY c.id ON CONFLICT (key) DO NOTHING"""
_CALLS_NOW = """CREATE TEMP TABLE calls_now AS SELECT c.id AS was, n.id AS now
FROM from_calls c JOIN calls n ON n.key = c.key"""
#: The attempts of one call differ in when they came, how long they took and what they say.
_SAME = """a.call = n.now AND a.at = f.at AND a.latency IS f.latency
AND a.provider_id IS f.provider_id AND a.text IS f.text"""
_ATTEMPTS = f"""INSERT INTO attempts (call, at, text, finish, error, message, input, output, cached,
reasoning, written, latency, provider_id, model, params, extra, parts, ended, candidate, hash,
forgotten, batch)
SELECT n.now, f.at, f.text, f.finish, f.error, f.message, f.input, f.output, f.cached, f.reasoning,
f.written, f.latency, f.provider_id, f.model, p.now, f.extra, f.parts, f.ended, f.candidate, f.hash,
f.forgotten, b.now
FROM from_attempts f JOIN calls_now n ON n.was = f.call LEFT JOIN params_now p ON p.was = f.params
LEFT JOIN batches_now b ON b.was = f.batch
WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE {_SAME}) ORDER BY f.id"""  # noqa: S608
_LINES = """INSERT OR IGNORE INTO batch_lines (batch, key)
SELECT b.now, l.key FROM from_batch_lines l JOIN batches_now b ON b.was = l.batch"""
#: How each task stands here (`{0}` is empty) or there (`from_`): whether its first call is
#: finished, and when something last came for it.
_STANDING = """SELECT c.rater, c.task, c.run,
max(c.step = 0 AND coalesce(c.status, 'failed') != 'failed') AS done, coalesce(max(a.at), 0) AS at
FROM {0}calls c LEFT JOIN {0}attempts a ON a.call = c.id WHERE c.current = 1 GROUP BY 1, 2, 3"""
#: Of a task that both know that side counts as a whole where it is finished, and of two that are
#: the later: its steps belong together.
_WON = f"""CREATE TEMP TABLE won AS SELECT r.now AS rater, t.now AS task, f.run AS run
FROM ({_STANDING.format("from_")}) f JOIN raters_now r ON r.was = f.rater
JOIN tasks_now t ON t.was = f.task
LEFT JOIN ({_STANDING.format("")}) h ON (h.rater, h.task, h.run) = (r.now, t.now, f.run)
WHERE h.rater IS NULL OR (f.done, f.at) > (h.done, h.at)"""  # noqa: S608
# Before `_TAKEN`: of a slot only one call may be current, by a unique index.
_LOST = """UPDATE calls SET current = 0 WHERE current = 1
AND (rater, task, run) IN (SELECT rater, task, run FROM won)"""
# The final attempt has another row here, and is found again by what tells attempts apart.
_TAKEN = f"""UPDATE calls SET current = 1, status = w.status, cut = w.cut,
final = (SELECT a.id FROM from_attempts f JOIN calls_now n ON n.was = f.call
    JOIN attempts a ON {_SAME} WHERE f.id = w.was LIMIT 1)
FROM (SELECT n.now AS id, c.status, c.cut, c.final AS was FROM from_calls c
    JOIN calls_now n ON n.was = c.id JOIN calls k ON k.id = n.now
    WHERE c.current = 1 AND (k.rater, k.task, k.run) IN (SELECT rater, task, run FROM won)) w
WHERE calls.id = w.id"""  # noqa: S608
#: Tables whose rows are known by what they hold, and refer to others by keys: taken as they are.
_BY_KEY = {
    "messages": (
        "item", "system", "turn", "role", "name", "at", "body", "parts", "hash", "forgotten",
    ),
    "steps": (
        "item", "system", "step", "turn", "parent", "kind", "role", "name", "body", "started",
        "ended", "status", "trace", "span", "extra", "hash", "forgotten",
    ),
    "parsed": ("key", "at", "json"),
    "forgotten": ("at", "what", "rows", "detail"),
    "readings": ("key", "at", "source", "content", "json"),
    "looks": ("key", "at", "command", "question", "candidates", "chosen", "extra"),
    "looked_at": ("look", "unit"),
    "abilities": ("model", "ability", "answer", "at", "detail"),
}  # fmt: skip
_STUDIES = "INSERT OR IGNORE INTO studies SELECT hash, at, name, thresholds, toml FROM from_studies"


def merge_sessions(
    folders: Sequence[str | Path],
    out: str | Path,
    plugins: Plugins | None = None,
    *,
    shared: bool = False,
) -> dict[str, int]:
    """Several sessions of one study as one new session, with its tables.

    What any of them asked stands there once, with every attempt and its cost. Where two have
    finished the same task, the later one counts and the other stays on file.

    Parameters
    ----------
    folders : sequence of str or Path
        The sessions; they are only read.
    out : str or Path
        The folder of the new session.
    shared : bool
        Whether others may read it, as the umask says; by default its owner alone may.

    Returns
    -------
    dict
        Table -> rows.

    Raises
    ------
    SessionError
        One is no session, is of another study than the first or holds another text of an item or
        response, or a session lies at `out`.
    """
    if not folders:
        raise InputError("session merge: name the sessions that are to be merged")
    study = session_study(folders[0])
    for folder in folders[1:]:
        _check_study(folder, folders[0])
    _check_new(out)
    text = (Path(folders[0]) / STUDY).read_text(encoding="utf-8")

    def take(connection: sqlite3.Connection) -> None:
        for folder in folders:
            take_session(connection, folder)

    # In one transaction: a merge that fails at the third session leaves none of the first two.
    with usable(out), open_session(out, study, text, take=take, shared=shared) as session:
        written = write_tables(out, plugins, connection=session.connection)
    for folder in folders:
        take_findings(out, folder)
    return written


def _check_new(out: str | Path) -> None:
    """A merge that was refused leaves an empty session, which may be tried again."""
    if is_session(out):
        with closing(read_session(out)) as connection:
            if connection.execute("SELECT 1 FROM items LIMIT 1").fetchone():
                raise SessionError(f"session {out}: it exists already; give --out a new folder")


def _check_study(folder: str | Path, first: str | Path) -> None:
    # Where the study's files lay is no difference: sessions of two machines are merged.
    one, other = (session_study(each).model_copy(update={"folder": ""}) for each in (folder, first))
    if study_hash(one) == study_hash(other):
        return
    # Which keys differ, and not how: whole rubrics would fill the screen.
    now, then = one.model_dump(mode="json"), other.model_dump(mode="json")
    keys = ", ".join(key for key in now if now[key] != then[key])
    raise SessionError(
        f"session {folder}: its study differs from that of {first} in {keys}; only "
        "sessions of one study can be merged"
    )


def take_session(
    connection: sqlite3.Connection, folder: str | Path, *, subjects: bool = True
) -> None:
    """Take everything that another session holds into this one, inside a transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        Of a session that may be written.
    folder : str or Path
        The other one, which is only read.
    subjects : bool
        Whether its items and responses come too; else those here stay as they are.

    Raises
    ------
    SessionError
        It cannot be read, or holds another text of an item or response than this one.
    """
    with usable(folder), closing(read_session(folder)) as other:
        other.execute("BEGIN")  # a session that is being written is read as it stands now
        _taken(connection, other, _WHOLE, subjects=subjects, whose=folder)


def take_piece(
    connection: sqlite3.Connection, other: sqlite3.Connection, items: Iterable[str]
) -> None:
    """Take what an open session holds about these items into a new one, inside a transaction."""
    other.execute("CREATE TEMP TABLE IF NOT EXISTS piece (item TEXT PRIMARY KEY)")
    other.execute("DELETE FROM temp.piece")
    other.executemany("INSERT INTO temp.piece VALUES (?)", ((item,) for item in items))
    _taken(connection, other, _PIECE, subjects=True, whose="the whole")


#: Which rows of each table are taken; a table that is not named comes whole.
_WHOLE: dict[str, str] = {}
_OF_PIECE = "task IN (SELECT id FROM tasks WHERE item IN (SELECT item FROM temp.piece))"
_PIECE = {
    "items": "id IN (SELECT item FROM temp.piece)",
    "responses": "item IN (SELECT item FROM temp.piece)",
    "tasks": "item IN (SELECT item FROM temp.piece)",
    "messages": "item IN (SELECT item FROM temp.piece)",
    "steps": "item IN (SELECT item FROM temp.piece)",
    # A worker looks none of it up.
    **dict.fromkeys(("parsed", "forgotten", "readings", "looks", "looked_at"), "false"),
    "calls": _OF_PIECE,
    "attempts": f"call IN (SELECT id FROM calls WHERE {_OF_PIECE})",  # noqa: S608
    "texts": f"""id IN (SELECT number.value FROM calls, json_each(calls.messages) message,
        json_each(message.value) number WHERE number.key > 0 AND {_OF_PIECE})""",  # noqa: S608
}


def _taken(
    connection: sqlite3.Connection,
    other: sqlite3.Connection,
    where: dict[str, str],
    *,
    subjects: bool,
    whose: str | Path,
) -> None:
    try:
        _stage(connection, other, where)
        if subjects:
            _check_texts(connection, whose)
            connection.execute(_ITEMS)
            connection.execute(_RESPONSES)
        for table, columns in _KNOWN_BY.items():
            _know(connection, table, columns)
        numbers = dict(connection.execute("SELECT was, now FROM texts_now"))
        # In SQL a list within a list cannot be mapped and put together again in order.
        connection.create_function("moved", 1, lambda messages: _moved(messages, numbers))
        for sql in (_CALLS, _CALLS_NOW, _WON, _ATTEMPTS, _LINES, _LOST, _TAKEN, _STUDIES):
            connection.execute(sql)
        for table, columns in _BY_KEY.items():
            _take_as_it_is(connection, other, table, columns, where.get(table, "true"))
    finally:
        _clear(connection)


def _stage(
    connection: sqlite3.Connection, other: sqlite3.Connection, where: dict[str, str]
) -> None:
    """Lay the other session's rows beside those of this one."""
    _clear(connection)
    for table, columns in _STAGED.items():
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        subjects = table in ("items", "responses")
        # Joins go by it. Items have ids of their own, which are texts, and responses none.
        key = ", PRIMARY KEY (id)" if columns[0] == "id" and not subjects else ""
        connection.execute(f"CREATE TEMP TABLE from_{table} ({names}{key})")
        order = "position" if subjects else columns[0]
        sql = f"SELECT {names} FROM {table} WHERE {where.get(table, 'true')} ORDER BY {order}"  # noqa: S608
        connection.executemany(f"INSERT INTO from_{table} VALUES ({marks})", other.execute(sql))  # noqa: S608
    # Without it each attempt would be looked for among all of them.
    connection.execute("CREATE INDEX temp.from_attempt_of ON from_attempts (call)")


def _take_as_it_is(
    connection: sqlite3.Connection,
    other: sqlite3.Connection,
    table: str,
    columns: Sequence[str],
    where: str,
) -> None:
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    rows = other.execute(f"SELECT {names} FROM {table} WHERE {where}")  # noqa: S608
    connection.executemany(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608


def _know(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
    """Add what this session has not, and lay beside which row of the other is which row here."""
    rest = [name for name in _STAGED[table] if name != "id"]
    names, same = ", ".join(rest), " AND ".join(f"n.{name} = f.{name}" for name in columns)
    connection.execute(
        f"INSERT INTO {table} ({names}) SELECT {names} FROM from_{table} WHERE true ORDER BY id "  # noqa: S608
        "ON CONFLICT DO NOTHING"
    )
    connection.execute(
        f"CREATE TEMP TABLE {table}_now AS SELECT f.id AS was, n.id AS now "  # noqa: S608
        f"FROM from_{table} f JOIN {table} n ON {same}"
    )
    connection.execute(f"CREATE INDEX temp.{table}_now_was ON {table}_now (was)")


def _moved(messages: str, numbers: dict[int, int]) -> str:
    """A call's messages with the rows of their texts here."""
    calls_messages = json.loads(messages)
    return json.dumps([[role, *(numbers[row] for row in rows)] for role, *rows in calls_messages])


def _check_texts(connection: sqlite3.Connection, folder: str | Path) -> None:
    """One text an item and response: what was said about another is said about something else."""
    sql = """SELECT {0}, o.body, f.body FROM from_{1} f JOIN {1} o ON {2}
             WHERE o.body IS NOT f.body"""
    for table, name, same in (
        ("items", "f.id", "o.id = f.id"),
        ("responses", "f.item || ' of ' || f.system", "(o.item, o.system) = (f.item, f.system)"),
    ):
        for what, here, there in connection.execute(sql.format(name, table, same)):
            if unpack(here) != unpack(there):  # packed otherwise is the same text
                raise SessionError(
                    f"session {folder}: its text of {table[:-1]} {what!r} differs from that in "
                    "the sessions before; only sessions about the same texts can be merged"
                )


def _clear(connection: sqlite3.Connection) -> None:
    """Drop what was laid beside."""
    made = [*(f"from_{name}" for name in _STAGED), *(f"{name}_now" for name in _KNOWN_BY)]
    for name in (*made, "calls_now", "won"):
        connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
