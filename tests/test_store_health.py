"""A session that knows whether it is as it was written: bits that flip, tables of another state."""

from __future__ import annotations

import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import polars as pl
import pytest
from command_line import invoke
from scripted import judge, scripted_plugins, study_of

from voirdire.errors import InputError, SessionError
from voirdire.examining.session import session_findings, study_of_session
from voirdire.running import run
from voirdire.store import reparse, session_study
from voirdire.store.checksums import CHECKSUMS, read_checksums
from voirdire.store.health import check_session, damage, make_private
from voirdire.study import study_to_toml

PLUGINS = scripted_plugins()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("health")
    study = study_of(folder, judge("ann", runs=2), judge("ben"), items=8)
    (folder / "study.toml").write_text(study_to_toml(study))
    run(study, folder / "a", quiet=True, plugins=PLUGINS)
    return folder / "a"


@pytest.fixture
def session(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "a")


def kinds(folder):
    return {one.kind for one in session_findings(folder)} & {
        "damaged",
        "changed_database",
        "older_tables",
    }


def write(folder, sql, *values):
    with closing(sqlite3.connect(folder / "session.sqlite")) as connection:
        connection.execute(sql, values)
        connection.commit()


def test_a_sound_session_has_nothing_to_say(session):
    assert check_session(session) == ()
    assert kinds(session) == set()
    assert set(read_checksums(session)) == {
        "session.sqlite",
        "ratings.parquet",
        "preferences.parquet",
        "responses.parquet",
        "raters.parquet",
    }
    study_of_session(session)


def test_the_hashes_are_those_that_sha256sum_reads(session):
    checked = subprocess.run(
        ["sha256sum", "-c", CHECKSUMS], cwd=session, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count(": OK") == 5


@pytest.mark.parametrize(
    ("sql", "where", "named"),
    [
        ("UPDATE attempts SET text = '5' WHERE id = 1", "attempts", "on i0"),
        ("UPDATE items SET body = 'other' WHERE id = 'i3'", "items", "i3"),
        ("UPDATE responses SET body = 'other' WHERE item = 'i2' AND system = 'x'", "responses", "i2 / x"),
        ("UPDATE texts SET body = 'other' WHERE id = 1", "texts", "1"),
        ("UPDATE attempts SET text = x'00' WHERE id = 1", "attempts", "on i0"),
    ],
)  # fmt: skip
def test_a_text_that_was_changed_is_named(session, sql, where, named):
    write(session, sql)
    (problem,) = [one for one in check_session(session) if one.kind == "damaged"]
    assert (problem.where, problem.count) == (where, 1)
    assert named in problem.detail
    assert kinds(session) == {"damaged"}
    done = invoke(["session", "check", str(session)])
    assert done.exit_code == 1
    assert "Something is wrong." in done.output
    # Told as damage, and not as a prompt that has changed.
    if where in ("items", "responses"):
        study = session_study(session)
        with pytest.raises(SessionError, match=f"it is damaged, {where}: "):
            run(study, session, resume=True, quiet=True, plugins=PLUGINS)


def test_no_flipped_bit_goes_unnoticed(session, whole):
    """Wherever in the database: in a text, a number, an index or an empty place."""
    database = session / "session.sqlite"
    sound = bytearray((whole / "session.sqlite").read_bytes())
    chance, told = random.Random(7), []
    for _ in range(60):
        at, bit = chance.randrange(100, len(sound)), 1 << chance.randrange(8)
        sound[at] ^= bit
        database.write_bytes(sound)
        sound[at] ^= bit
        found = {one.kind for one in damage(session)}
        assert found & {"damaged", "changed_database"}, at
        told.append("damaged" in found)
    assert any(told)
    database.write_bytes(sound)
    assert damage(session) == ()


@pytest.mark.parametrize("table", ["ratings.parquet", "responses.parquet", "raters.parquet"])
def test_a_table_that_was_changed_is_refused_and_can_be_derived_again(session, table):
    path = session / table
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{table}: not as voirdire wrote it"):
        study_of_session(session)
    assert [one.kind for one in check_session(session)] == ["changed_table"]
    reparse(session, PLUGINS)
    assert check_session(session) == ()


def test_tables_that_are_older_than_the_replies_are_said_to_be(session, whole):
    study = study_of(session.parent, judge("ann", runs=3), judge("ben"), items=8)
    before = {path.name: path.read_bytes() for path in session.glob("*.parquet")}
    run(study, session, resume=True, quiet=True, plugins=PLUGINS)
    assert kinds(session) == set()
    for name, content in before.items():
        (session / name).write_bytes(content)
    (session / CHECKSUMS).unlink()
    assert kinds(session) == {"older_tables"}
    assert pl.read_parquet_metadata(session / "raters.parquet")["voirdire_state"]


def test_a_session_of_a_version_without_hashes_is_taken_as_it_is(session):
    (session / CHECKSUMS).unlink()
    write(session, "UPDATE attempts SET hash = NULL")
    assert [one.kind for one in check_session(session)] == ["no_hashes"]
    assert kinds(session) == set()
    assert invoke(["session", "check", str(session)]).exit_code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_an_open_session_is_told_and_mended(session):
    session.chmod(0o755)
    for path in session.iterdir():
        path.chmod(0o644)
    assert [one.kind for one in check_session(session)] == ["open_to_others"]
    done = invoke(["session", "check", str(session), "--private"])
    assert done.exit_code == 0, done.output
    assert "Made private: " in done.output
    assert all(
        stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in (session, *session.iterdir())
    )
    assert make_private(session) == 0
    assert check_session(session) == ()
