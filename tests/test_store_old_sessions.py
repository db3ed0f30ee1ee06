"""Sessions of earlier versions, of other hands and on other media."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path

import polars as pl
import pytest
from derived_tables import session_tables
from scripted import PLUGINS, go, judge, rated, scripted_plugins, study_of

import voirdire
from voirdire.errors import SessionError
from voirdire.running import run, session_status
from voirdire.schema import Note, Part, Reply, Usage
from voirdire.store import (
    preferences_frame,
    ratings_frame,
    read_session,
    reparse,
    replies_frame,
    responses_frame,
)
from voirdire.store._schema import content_hash, unpack
from voirdire.store.findings import reply_findings_frame
from voirdire.store.session import MIGRATIONS, SCHEMA_VERSION, memory_session

OLD = Path(__file__).parent / "data" / "session_0_1"
SIMULATED = scripted_plugins()
SIMULATED.add("model", "voirdire", "simulated", "voirdire_judges.models.simulated:make")


@pytest.fixture
def old(tmp_path):
    """A copy of a session that version 0.1 wrote, with its study beside it."""
    shutil.copytree(OLD, tmp_path / "old")
    return tmp_path / "old"


def held(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        # The lock names the process that held it last.
        if path.is_file() and not path.name.endswith(("-wal", "-shm", "session.lock"))
    }


def schema_version(folder):
    with closing(sqlite3.connect(folder / "session.sqlite")) as connection:
        sql = "SELECT value FROM meta WHERE name = 'schema_version'"
        return int(connection.execute(sql).fetchone()[0])


def test_an_old_session_is_read_without_being_written(old):
    session, before = old / "session", held(old)
    assert schema_version(session) == 1
    tables = session_tables(session)
    for name, frame in (
        ("ratings", ratings_frame(session, SIMULATED)),
        ("preferences", preferences_frame(session, SIMULATED)),
        ("responses", responses_frame(session, SIMULATED)),
    ):
        assert frame.select(tables[name].columns).equals(tables[name]), name
    status = session_status(session, SIMULATED)
    assert [(r.name, r.done, r.calls) for r in status.raters] == [
        ("drafted", 3, 3), ("north", 18, 18), ("pairs", 9, 9), ("thinks", 9, 18)
    ]  # fmt: skip
    assert status.cost == pytest.approx(0.00214)
    assert replies_frame(session).height == 48
    assert "simulated" in reply_findings_frame(session)["kind"].to_list()
    assert held(old) == before


def test_writing_to_an_old_session_migrates_it_after_a_backup(old):
    session = old / "session"
    tables, replies = session_tables(session), replies_frame(session)
    first = (session / "session.sqlite").read_bytes()
    reparse(session, SIMULATED)
    assert schema_version(session) == SCHEMA_VERSION
    assert replies_frame(session).equals(replies)
    for name, frame in session_tables(session).items():
        # Who made a model is known in other words since (*none* of a simulated one).
        same = [column for column in tables[name].columns if column != "family"]
        assert frame.select(same).equals(tables[name].select(same)), name
    backup = old / "backup"
    backup.mkdir()
    shutil.copy(session / "session.v1.sqlite", backup / "session.sqlite")
    assert schema_version(backup) == 1
    with closing(sqlite3.connect(backup / "session.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM attempts").fetchone() == (48,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(first) > 0
    assert not (session / "remarks.parquet").exists()


def test_an_old_session_is_gone_on_with_and_asks_for_nothing_again(old):
    result = run(old / "study.toml", old / "session", resume=True, plugins=SIMULATED, quiet=True)
    assert result.complete
    assert sum(rater.calls for rater in result.raters) == 48
    assert schema_version(old / "session") == SCHEMA_VERSION


#: A session of each older version of the schema that was released.
RELEASED = {1: OLD, 4: OLD.with_name("session_0_2")}


@pytest.mark.parametrize("version", RELEASED)
def test_a_session_of_a_released_version_reads_the_same_before_and_after(tmp_path, version):
    shutil.copytree(RELEASED[version], tmp_path / "old")
    session, before = tmp_path / "old" / "session", held(tmp_path / "old")
    assert schema_version(session) == version
    ratings, replies = ratings_frame(session, SIMULATED), replies_frame(session)
    assert (ratings.height, replies.height) == (27, 48)
    assert held(tmp_path / "old") == before
    reparse(session, SIMULATED)
    assert schema_version(session) == SCHEMA_VERSION
    assert replies_frame(session).equals(replies)
    assert ratings_frame(session, SIMULATED).equals(ratings)
    with closing(read_session(session)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT DISTINCT unit FROM tasks").fetchall() == [("",)]
        made = {"messages", "steps", "parsed", "forgotten", "hashes", "readings", "looks"}
        for table in made | {"looked_at", "abilities"}:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    result = run(
        tmp_path / "old" / "study.toml", session, resume=True, plugins=SIMULATED, quiet=True
    )
    assert sum(rater.calls for rater in result.raters) == 48


def test_parts_of_replies_are_kept_and_shown(tmp_path):
    """What a reply holds beside its text: thoughts, phases, which field ended it, cache writes."""
    plugins = scripted_plugins()
    plugins.add("model", "tests", "parted", f"{__name__}:parted")
    study = study_of(tmp_path, judge("ann", model="parted:x"), items=2)
    run(study, tmp_path / "a", plugins=plugins, quiet=True)
    frame = replies_frame(tmp_path / "a")
    first = frame.row(0, named=True)
    assert json.loads(first["parts"]) == [
        {"kind": "reasoning", "text": "Hm, 2?"},
        {"kind": "text", "text": "Let me see.", "phase": "commentary"},
        {"kind": "text", "text": first["text"], "phase": "final_answer"},
    ]
    shown = (first["ended_by"], first["candidate"], first["written"])
    assert shown == ("finish_reason stop", 1, 30)
    with closing(read_session(tmp_path / "a")) as connection:
        text, parts, digest = connection.execute(
            "SELECT text, parts, hash FROM attempts"
        ).fetchone()
        assert digest == content_hash(unpack(text), unpack(parts))
        assert json.loads(unpack(parts))[2] == ["text", None, "final_answer", ""]
        hashes = connection.execute("SELECT body, hash FROM responses").fetchall()
        assert all(content_hash(unpack(body)) == digest for body, digest in hashes)


class Parted:
    """A model whose replies have parts."""

    async def complete(self, request):
        parts = (
            Part("reasoning", "Hm, 2?"),
            Part("text", "Let me see.", "commentary"),
            Part("text", "4", "final_answer"),
        )
        return Reply(
            parts[-1].text,
            usage=Usage(100, 10, None, None, 30),
            parts=parts,
            ended_by="finish_reason stop",
            candidate=1,
        )


def parted(name):
    return Parted()


def test_a_migration_that_is_broken_off_leaves_the_old_session(old, monkeypatch):
    from voirdire.store import session as stored_session

    broken = {
        1: stored_session.MIGRATIONS[1].__class__("ALTER TABLE calls ADD COLUMN cut; BROKEN", "")
    }
    with monkeypatch.context() as patched:
        patched.setattr(stored_session, "MIGRATIONS", broken)
        with pytest.raises(SessionError, match="cannot be used"):
            reparse(old / "session", SIMULATED)
    assert schema_version(old / "session") == 1
    assert ratings_frame(old / "session", SIMULATED).height == 27


def test_a_migrated_session_has_the_tables_of_a_new_one(old):
    reparse(old / "session", SIMULATED)

    def shape(connection):
        return {
            table: sorted(row[1:6] for row in connection.execute(f"PRAGMA table_info({table})"))
            for (table,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
        }

    with (
        closing(memory_session()) as new,
        closing(sqlite3.connect(old / "session" / "session.sqlite")) as migrated,
    ):
        assert shape(migrated) == shape(new)
    assert set(MIGRATIONS) == set(range(1, SCHEMA_VERSION))


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, 99])
def test_a_newer_schema_is_refused_and_left_alone(old, version):
    session = old / "session"
    with closing(sqlite3.connect(session / "session.sqlite")) as connection, connection:
        connection.execute("UPDATE meta SET value = ?", (str(version),))
    before = held(session)
    for use in (session_status, reparse, ratings_frame):
        with pytest.raises(SessionError, match=f"newer voirdire .* version {version}"):
            use(session, SIMULATED)
    with pytest.raises(SessionError, match="newer voirdire"):
        run(old / "study.toml", session, resume=True, plugins=SIMULATED, quiet=True)
    assert held(session) == before


@pytest.mark.parametrize("what", ["no byte", "no table", "another program's", "no database"])
def test_an_emptied_or_foreign_database_beside_tables_is_an_error(tmp_path, what):
    study = study_of(tmp_path, judge())
    go(tmp_path, study)
    path = tmp_path / "a" / "session.sqlite"
    path.unlink()
    if what == "no database":
        path.write_text("item,score\n" * 400)
    elif what == "no byte":
        path.touch()
    else:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE songs (name)")
            if what == "no table":
                connection.execute("DROP TABLE songs")
    before = held(tmp_path / "a")
    for resume in (True, False):
        with pytest.raises(SessionError, match=r"is empty, but|not a session of voirdire"):
            go(tmp_path, study, resume=resume)
    assert held(tmp_path / "a") == before
    with pytest.raises(SessionError, match="not a session of voirdire"):
        session_status(tmp_path / "a", PLUGINS)


def test_the_database_of_another_session_beside_tables_is_an_error(tmp_path):
    """Also of the same study, whose replies are others."""
    study = study_of(tmp_path, judge())
    for name in ("a", "b"):
        go(tmp_path, study, name)
    shutil.copy(tmp_path / "b" / "session.sqlite", tmp_path / "a" / "session.sqlite")
    before = held(tmp_path / "a")
    with pytest.raises(SessionError, match="is that of another session than raters"):
        go(tmp_path, study, resume=True)
    for use in (session_status, reparse, ratings_frame):
        with pytest.raises(SessionError, match="another session"):
            use(tmp_path / "a", PLUGINS)
    assert held(tmp_path / "a") == before
    (tmp_path / "a" / "raters.parquet").unlink()  # without tables it is a session as it stands
    assert go(tmp_path, study, resume=True) is not None


@contextmanager
def unwritable(folder):
    """The folder as on a disc: nothing can be made or written in it, also not by root."""
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    is_root = os.geteuid() == 0
    if is_root:  # whom permissions do not stop
        os.seteuid(65534)
    try:
        with pytest.raises(OSError, match=r"(?i)permission"):
            (folder / "probe").touch()
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.fixture
def public():
    """A folder that others than its owner may look into."""
    with tempfile.TemporaryDirectory(prefix="voirdire-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")


@unix
@pytest.mark.parametrize("log", ["folded in", "kept by a reader"])
def test_a_session_on_media_without_writing_is_shown_and_examined(public, log, capsys):
    study = study_of(public, judge("ann"), judge("bob", model_options={"says": "2"}), items=6)
    go(public, study)
    session = public / "a"
    expected, tables = rated(public), session_tables(session)
    voirdire.examine(session, reference=["bob"])  # loads what is loaded on use
    _on_the_command_line(session, capsys)
    if log == "kept by a reader":
        _leave_log(session)
    before = held(session)
    with unwritable(session):
        assert rated(public).equals(expected)
        assert session_status(session, PLUGINS).raters[0].done == 12
        assert replies_frame(session).height == (25 if log == "kept by a reader" else 24)
        assert (
            voirdire.examine(session, reference=["bob"]).ratings.height == tables["ratings"].height
        )
        assert "12/12" in _on_the_command_line(session, capsys)
        with pytest.raises(SessionError, match="cannot be written"):
            reparse(session, PLUGINS)
    assert held(session) == before


def _on_the_command_line(session, capsys):
    from voirdire.cli.session import show, status

    capsys.readouterr()
    show(session, None, None, failed=False, most=3)
    shown = capsys.readouterr().out
    assert "stop, ok" in shown
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("voirdire.running._result.loaded_plugins", lambda: PLUGINS)
        status(session, as_json=False)
    return capsys.readouterr().out


def _leave_log(session):
    """One more attempt, which only the write-ahead log holds, as after a copy while read."""
    path = session / "session.sqlite"
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM attempts").fetchone()
    with closing(sqlite3.connect(path)) as writer, writer:
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute(
            "INSERT INTO attempts (call, at, error, message) VALUES (1, 1, 'server', '')"
        )
    log = Path(f"{path}-wal")
    main, kept = path.read_bytes(), log.read_bytes()
    reader.close()  # which folds the log in
    assert kept
    path.write_bytes(main)
    log.write_bytes(kept)


def test_a_reader_closes_its_connection_also_where_it_fails(tmp_path, old):
    session = old / "session"
    connection = read_session(session)
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


class Rereads:
    """A judge whose parser is made better while its prompt stays."""

    task = "rating"
    better = False

    def __init__(self, rubric):
        self.rubric = rubric

    def requests(self, task):
        from scripted import Digit

        return Digit(self.rubric).requests(task)

    def parse(self, replies):
        from scripted import Digit

        if not Rereads.better:
            raise KeyError("score")
        return Digit(self.rubric).parse(replies)


def test_after_reparse_status_and_show_agree_with_the_tables(tmp_path, monkeypatch):
    plugins = scripted_plugins()
    plugins.add("judge", "tests", "rereads", f"{__name__}:Rereads")
    panel = [judge(use="rereads"), judge("bob")]
    study = study_of(tmp_path, *panel, items=2, run={"breaker": 99})
    result = run(study, tmp_path / "a", plugins=plugins, quiet=True)
    assert result.raters[0].statuses == {"unparsable": 4}
    monkeypatch.setattr(Rereads, "better", True)
    reparse(tmp_path / "a", plugins)
    ratings = session_tables(tmp_path / "a")["ratings"]
    assert ratings["status"].cast(pl.String).to_list() == ["ok"] * 8
    status = session_status(tmp_path / "a", plugins)
    assert [dict(rater.statuses) for rater in status.raters] == [{"ok": 4}, {"ok": 4}]
    assert status.complete
    assert replies_frame(tmp_path / "a")["status"].to_list() == ["ok"] * 8


def test_status_is_json(tmp_path):
    study = study_of(tmp_path, judge(), items=2)
    go(tmp_path, study)
    found = json.loads(session_status(tmp_path / "a", PLUGINS).to_json())
    assert (found["schema_version"], found["complete"], found["exit_code"]) == (1, True, 0)
    assert found["raters"][0]["statuses"] == {"ok": 4}
    assert found["raters"][0]["open"] == 0


def test_connections_are_closed_also_where_something_fails(tmp_path, monkeypatch):
    """Python 3.13 warns of a connection that is left to the garbage collector."""
    opened, connect = [], sqlite3.connect

    def noted(*where, **how):
        opened.append(connect(*where, **how))
        return opened[-1]

    study = study_of(tmp_path, judge(), items=40)
    go(tmp_path, study)
    path = tmp_path / "a" / "session.sqlite"
    whole = path.read_bytes()
    monkeypatch.setattr(sqlite3, "connect", noted)
    for damaged in (whole[: len(whole) // 2], whole[:4096] + b"\xff" * len(whole), b"junk" * 2000):
        path.write_bytes(damaged)
        for use in (session_status, reparse, ratings_frame):
            with pytest.raises(SessionError):
                use(tmp_path / "a", PLUGINS)
        with pytest.raises(SessionError):
            go(tmp_path, study, resume=True)
    assert len(opened) >= 12
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def to_version_4(connection):
    """Take away what came with version 5: columns and tables."""
    for table in (
        *("messages", "steps", "parsed", "forgotten", "hashes", "readings", "looks", "looked_at"),
        "abilities",
    ):
        connection.execute(f"DROP TABLE {table}")
    for table, columns in (
        ("attempts", ("parts", "ended", "candidate", "written", "hash", "forgotten")),
        ("items", ("hash", "forgotten")),
        ("responses", ("hash", "forgotten")),
        ("texts", ("forgotten",)),
    ):
        for column in columns:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute(
        "CREATE TABLE tasks_then (id INTEGER PRIMARY KEY, item TEXT NOT NULL, first TEXT NOT NULL,"
        " second TEXT NOT NULL, UNIQUE (item, first, second))"
    )
    connection.execute("INSERT INTO tasks_then SELECT id, item, first, second FROM tasks")
    connection.execute("DROP TABLE tasks")
    connection.execute("ALTER TABLE tasks_then RENAME TO tasks")


def test_a_session_of_version_2_is_read_and_migrated(tmp_path):
    """What came after it is columns and tables, so that one is made by taking these away."""
    study = study_of(tmp_path, judge("ann"))
    go(tmp_path, study)
    session = tmp_path / "a"
    with closing(sqlite3.connect(session / "session.sqlite")) as connection, connection:
        to_version_4(connection)
        connection.execute("ALTER TABLE calls DROP COLUMN role")
        connection.execute("ALTER TABLE attempts DROP COLUMN batch")
        connection.execute("DROP TABLE batches")
        connection.execute("DROP TABLE batch_lines")
        connection.execute("UPDATE meta SET value = '2' WHERE name = 'schema_version'")
    before = replies_frame(session)
    assert before["role"].unique().to_list() == [""]
    assert session_status(session, PLUGINS).complete
    assert schema_version(session) == 2
    result = go(tmp_path, study, resume=True)
    assert (result.complete, result.raters[0].calls) == (True, 8)
    assert schema_version(session) == SCHEMA_VERSION
    assert replies_frame(session).equals(before)


#: What a note said before version 4, and its fields since.
NOTES = {
    "dropped top_p: the model knows none: ever": ("dropped", "top_p", "the model knows none: ever"),
    "dropped temperature: it's fixed": ("dropped", "temperature", "it's fixed"),
    "unknown_word part hologram: it was not read": (
        "unknown_word", "part hologram", "it was not read"
    ),
    "simulated: no model was asked": ("simulated", "", "no model was asked"),
    "content_filter: self_harm": ("content_filter", "", "self_harm"),
    "the model retries by itself: max_retries=2": (
        "note", "", "the model retries by itself: max_retries=2"
    ),
    "a sentence": ("note", "", "a sentence"),
}  # fmt: skip


def test_notes_of_version_3_are_read_and_migrated_as_fields(tmp_path):
    study = study_of(tmp_path, judge("ann"))
    go(tmp_path, study)
    session = tmp_path / "a"
    others = {"option_logprobs": {"4": -0.5}, "notes": list(NOTES)}
    with closing(sqlite3.connect(session / "session.sqlite")) as connection, connection:
        to_version_4(connection)
        connection.execute("UPDATE attempts SET extra = ? WHERE id = 1", (json.dumps(others),))
        connection.execute("UPDATE meta SET value = '3' WHERE name = 'schema_version'")

    def first():
        with closing(read_session(session)) as connection:
            return json.loads(connection.execute("SELECT extra FROM attempts").fetchone()[0])

    fields = {**others, "notes": [list(three) for three in NOTES.values()]}
    assert first() == fields
    assert schema_version(session) == 3
    replies, found = replies_frame(session), reply_findings_frame(session)
    shown = "; ".join(str(Note(*three)) for three in NOTES.values())
    assert replies["notes"][0] == shown
    reparse(session, PLUGINS)
    assert schema_version(session) == SCHEMA_VERSION
    assert first() == fields
    assert replies_frame(session).equals(replies)
    counted = reply_findings_frame(session)
    assert found.is_empty()
    assert counted.select("kind", "detail", "count").rows() == [
        ("dropped", "temperature", 1),
        ("dropped", "top_p", 1),
        ("simulated", "", 1),
        ("unknown_word", "part hologram", 1),
    ]
    raters = session_tables(session)["raters"].filter(rater="ann")
    assert raters["temperature"].to_list() == [None]
