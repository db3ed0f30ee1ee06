"""The tables of a session as SQLite keeps them, and how a text stands in one of their cells."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass

SCHEMA_VERSION = 5

#: `texts` holds each message once; `calls.messages` is a JSON list of [role, text id], with a third
#: entry, the id of its calls of tools or of the call it answers, where there are any.
#: `current` is 1 on the call that the newest prompt of its slot made, so that an older prompt's
#: reply stays on file but enters no table. `role` says which of its rater's models was asked.
#: Texts that are long come as zlib's bytes (see `pack`), so that `body` and `text` have no
#: type. A task without a second system, or without a system, holds empty texts: UNIQUE takes
#: two NULLs for different. `tasks.unit` is empty where the whole is judged, else the turn or step
#: that is. `calls.final` names the attempt that counts, `status` what its task was read as, at step
#: 0. `attempts.text` is the text that is read; `parts` are all parts of the reply where they say
#: more (see `records.parts_json`), `ended` the provider's field and word that ended it, `candidate`
#: which of several it is, `written` the input tokens written to the provider's cache. `hash` is
#: that of a text as it came (`content_hash`), NULL where an older version wrote it; where
#: `forgotten` is 1 the text was dropped by the user's wish.
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE studies (
    hash TEXT PRIMARY KEY, at REAL, name TEXT, thresholds TEXT, toml TEXT
) WITHOUT ROWID;
CREATE TABLE items (
    position INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, body, reference, extra TEXT,
    present INTEGER NOT NULL, changed INTEGER NOT NULL DEFAULT 0, hash BLOB,
    forgotten INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE responses (
    position INTEGER PRIMARY KEY, item TEXT NOT NULL, system TEXT NOT NULL, body,
    origin TEXT NOT NULL, present INTEGER NOT NULL, changed INTEGER NOT NULL DEFAULT 0,
    hash BLOB, forgotten INTEGER NOT NULL DEFAULT 0, UNIQUE (item, system)
);
CREATE TABLE raters (
    id INTEGER PRIMARY KEY, stage TEXT NOT NULL, name TEXT NOT NULL, model TEXT NOT NULL,
    prompt TEXT NOT NULL, UNIQUE (stage, name, model, prompt)
);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,
    unit TEXT NOT NULL DEFAULT '', UNIQUE (item, first, second, unit)
);
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, body, forgotten INTEGER NOT NULL DEFAULT 0
);
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
    latency REAL, provider_id TEXT, model TEXT, params INTEGER, extra TEXT, batch INTEGER,
    parts, ended TEXT, candidate INTEGER, written INTEGER, hash BLOB,
    forgotten INTEGER NOT NULL DEFAULT 0
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
#: Since version 5. `messages` are the turns of an item or, with a system, of a response; `steps`
#: what an agent did there: messages, calls of tools, their results, thoughts. `parsed` holds what
#: the replies of a task said, by the key of its first call, for when their texts are forgotten;
#: `forgotten` when that was. `readings` are how files were understood, `looks` how often labels
#: were used to choose something, `looked_at` which units, by the hash of content and question.
#: `abilities` are what a server was once asked about, `hashes` what a table held when it was last
#: whole. Rows that refer to each other do so by keys and not by numbers, so that sessions merge.
_SINCE_5 = """
CREATE TABLE messages (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, system TEXT NOT NULL DEFAULT '',
    turn INTEGER NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL DEFAULT '', at TEXT, body, parts,
    hash BLOB, forgotten INTEGER NOT NULL DEFAULT 0, UNIQUE (item, system, turn)
);
CREATE TABLE steps (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, system TEXT NOT NULL DEFAULT '',
    step INTEGER NOT NULL, turn INTEGER, parent INTEGER, kind TEXT NOT NULL,
    role TEXT NOT NULL DEFAULT '', name TEXT NOT NULL DEFAULT '', body, started REAL, ended REAL,
    status TEXT, trace TEXT, span TEXT, extra TEXT, hash BLOB,
    forgotten INTEGER NOT NULL DEFAULT 0, UNIQUE (item, system, step)
);
CREATE TABLE parsed (key BLOB PRIMARY KEY, at REAL NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE forgotten (
    at REAL NOT NULL, what TEXT NOT NULL, rows INTEGER NOT NULL, detail TEXT,
    PRIMARY KEY (at, what)
) WITHOUT ROWID;
CREATE TABLE hashes (
    what TEXT PRIMARY KEY, hash BLOB NOT NULL, rows INTEGER NOT NULL, at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE readings (
    key BLOB PRIMARY KEY, at REAL NOT NULL, source TEXT NOT NULL, content BLOB, json TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE looks (
    key BLOB PRIMARY KEY, at REAL NOT NULL, command TEXT NOT NULL, question TEXT NOT NULL,
    candidates INTEGER NOT NULL, chosen TEXT NOT NULL, extra TEXT
) WITHOUT ROWID;
CREATE TABLE looked_at (
    look BLOB NOT NULL, unit BLOB NOT NULL, PRIMARY KEY (look, unit)
) WITHOUT ROWID;
CREATE TABLE abilities (
    model TEXT NOT NULL, ability TEXT NOT NULL, answer TEXT NOT NULL, at REAL NOT NULL, detail TEXT,
    PRIMARY KEY (model, ability)
) WITHOUT ROWID;
"""
TABLES += _SINCE_5
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
_NO_PARTS = (
    "NULL AS parts, NULL AS ended, NULL AS candidate, NULL AS written, NULL AS hash, 0 AS forgotten"
)
_BEFORE_PARTS = "".join(
    f"CREATE TEMP VIEW {table} AS SELECT *, {more} FROM main.{table};"  # noqa: S608
    for table, more in (
        ("items", "NULL AS hash, 0 AS forgotten"),
        ("responses", "NULL AS hash, 0 AS forgotten"),
        ("texts", "0 AS forgotten"),
        ("tasks", "'' AS unit"),
    )
) + _SINCE_5.replace("CREATE TABLE", "CREATE TEMP TABLE")
_TYPED = f"""CREATE TEMP VIEW attempts AS SELECT {", ".join(_BEFORE_BATCHES)},
CASE WHEN {_NOTED} THEN {_NOTES} ELSE extra END AS extra, {{}}, {_NO_PARTS} FROM main.attempts;
{_BEFORE_PARTS}"""  # noqa: S608
_ATTEMPTS = _TYPED.format("NULL AS batch")
_NO_BATCHES = _ATTEMPTS + _BATCHES.replace("CREATE TABLE", "CREATE TEMP TABLE")
_ATTEMPTS_4 = f"CREATE TEMP VIEW attempts AS SELECT *, {_NO_PARTS} FROM main.attempts;"  # noqa: S608
_TASKS_4 = """INSERT INTO tasks_now (id, item, first, second)
SELECT id, item, first, second FROM tasks;"""
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
#: 3 calls that were made in a role, and batches; in version 4 notes on replies have fields, in
#: version 5 replies have parts, texts have hashes, and there are tables for turns, steps, readings,
#: looks and what was forgotten.
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
    4: Migration(
        "".join(
            f"ALTER TABLE {table} ADD COLUMN {column};"
            for table, columns in (
                ("attempts", ("parts", "ended TEXT", "candidate INTEGER", "written INTEGER")),
                *((table, ("hash BLOB",)) for table in ("attempts", "items", "responses")),
                *(
                    (table, ("forgotten INTEGER NOT NULL DEFAULT 0",))
                    for table in ("attempts", "items", "responses", "texts")
                ),
            )
            for column in columns
        )
        # SQLite cannot add to a constraint: the table is made anew, its rows keep their numbers.
        + "CREATE TABLE tasks_now (id INTEGER PRIMARY KEY, item TEXT NOT NULL, first TEXT NOT NULL,"
        " second TEXT NOT NULL, unit TEXT NOT NULL DEFAULT '', UNIQUE (item, first, second, unit));"
        + _TASKS_4
        + "DROP TABLE tasks; ALTER TABLE tasks_now RENAME TO tasks;"
        + _SINCE_5,
        _ATTEMPTS_4 + _BEFORE_PARTS,
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


def content_hash(*texts: str) -> bytes:
    """The hash of texts as they came, 16 bytes, by which it is seen that they were not changed."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        raw = text.encode("utf-8", "surrogatepass")
        # The length first: else ("ab", "c") and ("a", "bc") would be one.
        digest.update(b"%d:" % len(raw))
        digest.update(raw)
    return digest.digest()


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
