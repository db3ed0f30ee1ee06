"""The tables of a session as SQLite keeps them, and how a text stands in one of their cells."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

SCHEMA_VERSION = 4

#: `texts` holds each message once; `calls.messages` is a JSON list of [role, text id], with a third
#: entry, the id of its calls of tools or of the call it answers, where there are any.
#: `current` is 1 on the call that the newest prompt of its slot made, so that an older prompt's
#: reply stays on file but enters no table. `role` says which of its rater's models was asked.
#: Texts that are long come as zlib's bytes (see `pack`), so that `body` and `text` have no
#: type. A task without a second system, or without a system, holds empty texts: UNIQUE takes
#: two NULLs for different. `calls.final` names the attempt that counts, `status` what its
#: task was read as, at step 0.
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE studies (
    hash TEXT PRIMARY KEY, at REAL, name TEXT, thresholds TEXT, toml TEXT
) WITHOUT ROWID;
CREATE TABLE items (
    position INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, body, reference, extra TEXT,
    present INTEGER NOT NULL, changed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE responses (
    position INTEGER PRIMARY KEY, item TEXT NOT NULL, system TEXT NOT NULL, body,
    origin TEXT NOT NULL, present INTEGER NOT NULL, changed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (item, system)
);
CREATE TABLE raters (
    id INTEGER PRIMARY KEY, stage TEXT NOT NULL, name TEXT NOT NULL, model TEXT NOT NULL,
    prompt TEXT NOT NULL, UNIQUE (stage, name, model, prompt)
);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,
    UNIQUE (item, first, second)
);
CREATE TABLE texts (id INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, body);
CREATE TABLE params (id INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, json TEXT NOT NULL);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, rater INTEGER NOT NULL,
    task INTEGER NOT NULL, run INTEGER NOT NULL, step INTEGER NOT NULL, messages TEXT NOT NULL,
    params INTEGER NOT NULL, current INTEGER NOT NULL, final INTEGER, status TEXT,
    cut INTEGER NOT NULL DEFAULT 0, role TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX slot ON calls (rater, task, run, step) WHERE current = 1;
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY, call INTEGER NOT NULL, at REAL NOT NULL, text, finish TEXT,
    error TEXT, message TEXT, input INTEGER, output INTEGER, cached INTEGER, reasoning INTEGER,
    latency REAL, provider_id TEXT, model TEXT, params INTEGER, extra TEXT, batch INTEGER
);
CREATE INDEX attempt_of ON attempts (call);
"""
#: Calls handed to a provider in one piece, to be answered later; `attempts.batch` is null where a
#: call was made by itself.
_BATCHES = """
CREATE TABLE batches (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, model TEXT NOT NULL, at REAL NOT NULL,
    provider_id TEXT, status TEXT NOT NULL, lines INTEGER NOT NULL, detail TEXT
);
CREATE TABLE batch_lines (
    batch INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (batch, key)
) WITHOUT ROWID;
"""
TABLES += _BATCHES
#: The notes of a reply, which were sentences before version 4, as kind, about and detail: "dropped
#: top_p: why", "unknown_word part image: why", "simulated: no model was asked", or any other.
#: A sentence is taken apart at its first blank and its first colon; what fits neither form is kept
#: whole, as a note.
_NOTES = """json_set(extra, '$.notes', json((SELECT json_group_array(CASE
    WHEN value LIKE 'dropped _%: %' OR value LIKE 'unknown_word _%: %' THEN json_array(
        substr(value, 1, instr(value, ' ') - 1),
        substr(value, instr(value, ' ') + 1, instr(value, ': ') - instr(value, ' ') - 1),
        substr(value, instr(value, ': ') + 2))
    WHEN instr(value, ': ') > 1 AND instr(value, ' ') = instr(value, ': ') + 1 THEN json_array(
        substr(value, 1, instr(value, ': ') - 1), '', substr(value, instr(value, ': ') + 2))
    ELSE json_array('note', '', value) END) FROM json_each(extra, '$.notes'))))"""
# LIKE first: it spares parsing the JSON of every attempt of a session.
_NOTED = "extra LIKE '%\"notes\"%' AND json_type(extra, '$.notes') = 'array'"
_BEFORE_BATCHES = (
    "id", "call", "at", "text", "finish", "error", "message", "input", "output", "cached",
    "reasoning", "latency", "provider_id", "model", "params",
)  # fmt: skip
#: The tables of an older session as the newest has them.
_TYPED = f"""CREATE TEMP VIEW attempts AS SELECT {", ".join(_BEFORE_BATCHES)},
CASE WHEN {_NOTED} THEN {_NOTES} ELSE extra END AS extra, {{}} FROM main.attempts;"""  # noqa: S608
_ATTEMPTS = _TYPED.format("NULL AS batch")
_NO_BATCHES = _ATTEMPTS + _BATCHES.replace("CREATE TABLE", "CREATE TEMP TABLE")
_CALLS_1 = "CREATE TEMP VIEW calls AS SELECT *, 0 AS cut, '' AS role FROM main.calls;"
_CALLS_2 = "CREATE TEMP VIEW calls AS SELECT *, '' AS role FROM main.calls;"


@dataclass(frozen=True, slots=True)
class Migration:
    """From one version of the schema to the next, and to the newest.

    `write` changes the tables of a session that is to be written, to those of the next version.
    `read` makes temporary views of the same names over the older tables, as the newest version has
    them, so that an old session is read without being changed.
    """

    write: str
    read: str


#: By the version that they start from. Version 2 marks tasks that a limit on steps has cut, version
#: 3 calls that were made in a role, and batches; in version 4 notes on replies have fields.
#: A `write` runs once, from one version to the next; a `read` goes from its version to the newest,
#: since views over views would be slow.
MIGRATIONS: dict[int, Migration] = {
    1: Migration(
        "ALTER TABLE calls ADD COLUMN cut INTEGER NOT NULL DEFAULT 0;",
        _CALLS_1 + _NO_BATCHES,
    ),
    2: Migration(
        "ALTER TABLE calls ADD COLUMN role TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE attempts ADD COLUMN batch INTEGER;" + _BATCHES,
        _CALLS_2 + _NO_BATCHES,
    ),
    3: Migration(
        f"UPDATE attempts SET extra = {_NOTES} WHERE {_NOTED};",  # noqa: S608
        _TYPED.format("batch"),
    ),
}

#: A name by chance tells this session from any other: its tables bear it too.
#: By chance and not by the folder's name: folders are copied and moved.
VERSION = f"""
INSERT INTO meta VALUES ('schema_version', '{SCHEMA_VERSION}'), ('session', hex(randomblob(16)));
"""  # noqa: S608

PRAGMAS = (
    # Readers see a session as it stands while a run writes to it.
    "PRAGMA journal_mode = WAL",
    # A commit is on the disk when it returns, also where the power fails: what it holds was paid
    # for. NORMAL would lose the last commits then.
    "PRAGMA synchronous = FULL",
    # 8 MiB: a run of a million replies must not fill the memory with pages.
    "PRAGMA cache_size = -8192",
)

#: Below this many characters compression costs more than it saves.
SHORT = 512


def pack(text: str) -> str | bytes:
    """A text as SQLite stores it: TEXT where short, zlib's bytes where long or not encodable."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:  # a lone surrogate, as hostile or cut replies hold
        return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
    if len(raw) < SHORT:
        return text
    # Level 1: higher ones save a few per cent more and take several times as long.
    small = zlib.compress(raw, 1)
    return small if len(small) < len(raw) else text


def unpack(stored: str | bytes | None) -> str:
    """The text that `pack` stored.

    Examples
    --------
    >>> unpack(pack("calm " * 1000)) == "calm " * 1000
    True
    """
    if isinstance(stored, bytes):
        return zlib.decompress(stored).decode("utf-8", "surrogatepass")
    return stored or ""
