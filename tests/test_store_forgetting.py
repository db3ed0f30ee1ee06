"""Texts that are gone: every number of a session stays, and no word of anybody does."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from command_line import invoke

from voirdire import examine
from voirdire.errors import SessionError
from voirdire.running import run, session_status
from voirdire.store import ratings_frame, reparse, replies_frame
from voirdire.store.forgetting import forget_raters, forget_texts, where_texts_are
from voirdire.store.health import check_session
from voirdire.study import load_study
from voirdire.tables.hand_labels import HandLabel, keep_hand_label

ROOT = Path(__file__).parents[1]
TABLES = ("ratings", "preferences", "raters")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forget")
    shutil.copytree(ROOT / "examples" / "run", folder, dirs_exist_ok=True)
    run(load_study(folder / "study.toml"), folder / "a", quiet=True)
    return folder


@pytest.fixture
def session(whole, tmp_path):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path / "a"


def tables(folder):
    return {name: pl.read_parquet(folder / f"{name}.parquet") for name in TABLES}


def words(folder):
    """Long words of all texts of a session: items, responses, prompts, replies."""
    found = set()
    with closing(sqlite3.connect(folder / "session.sqlite")) as connection:
        from voirdire.store._schema import unpack

        for sql in (
            "SELECT body FROM items",
            "SELECT body FROM responses",
            "SELECT body FROM texts",
            "SELECT text FROM attempts",
        ):
            for (text,) in connection.execute(sql):
                found |= {
                    unpack(text)[at : at + 40] for at in (0, 60) if len(unpack(text)) > at + 40
                }
    return found


def test_numbers_stay_and_words_go(session):
    before, status = tables(session), session_status(session)
    findings = pl.read_parquet(session / "reply_findings.parquet")
    phrases = words(session)
    assert len(phrases) > 50
    done = forget_texts(session)
    assert done.replies > 500
    for name, frame in tables(session).items():
        assert frame.equals(before[name]), name
    assert (
        pl.read_parquet(session / "reply_findings.parquet")
        .drop("places")
        .equals(findings.drop("places"))
    )
    assert ratings_frame(session).equals(before["ratings"])
    # Again, and after `reparse`: the same.
    forget_texts(session)
    reparse(session)
    assert tables(session)["ratings"].equals(before["ratings"])
    now = session_status(session)
    assert now.cost == status.cost
    assert [(r.done, r.statuses, r.input, r.output) for r in now.raters] == [
        (r.done, r.statuses, r.input, r.output) for r in status.raters
    ]
    assert set(replies_frame(session)["text"].to_list()) == {""}
    assert set(pl.read_parquet(session / "responses.parquet")["text"].to_list()) == {None}
    content = b"".join(
        path.read_bytes() for path in session.iterdir() if path.name != "study.toml"
    ).decode("latin-1")
    left = [one for one in phrases if one.encode().decode("latin-1") in content]
    # What the study itself says (its rubric) stays in the copies of the study.
    study = (session / "study.toml").read_text()
    assert [one for one in left if one not in study] == []
    assert [one.kind for one in check_session(session) if one.kind == "damaged"] == []


def test_nothing_more_is_asked_in_it(session):
    forget_texts(session)
    with pytest.raises(
        SessionError, match="its texts were forgotten, and nothing more can be asked"
    ):
        run(load_study(session.parent / "study.toml"), session, resume=True, quiet=True)


def test_the_command_asks_first_and_names_the_files_that_hold_texts_still(session):
    said = invoke(["session", "forget", "texts", session])
    assert "Replies cannot be read again" in said.output
    assert set(replies_frame(session)["text"].to_list()) != {""}
    names = {one.path.name for one in where_texts_are(session)}
    assert names >= {
        "session.sqlite",
        "responses.parquet",
        "study.toml",
        "posts.csv",
        "answers.csv",
    }
    shutil.copy(session / "session.sqlite", session / "session.v4.sqlite")
    said = invoke(["session", "forget", "texts", session, "--yes"])
    assert said.exit_code == 0, said.output
    for name in ("session.v4.sqlite", "posts.csv", "human.csv", "study.toml"):
        assert name in said.output
    assert "responses.parquet" not in said.output
    assert "posts.csv" in invoke(["session", "where", session]).output
    assert invoke(["examine", session]).exit_code == 0


def test_people_lose_their_names_and_keep_their_numbers(session):
    before = examine(session, resamples=0)
    label = HandLabel("p01", "plain", "Empathy", "ada", 3.0, "Ada Quince", "Ada thinks so.")
    keep_hand_label(session / "labels.parquet", label)
    labelled = examine(session, resamples=0)
    said = invoke(["session", "forget", "raters", session])
    assert "human_1" in said.output
    assert "ada" in (session / "study.toml").read_text()
    said = invoke(["session", "forget", "raters", session, "--yes"])
    assert said.exit_code == 0, said.output
    assert "Renamed: 3 people" in said.output
    assert "human.csv: names them still" in said.output
    (session.parent / "human.csv").unlink()
    content = b"".join(path.read_bytes() for path in session.rglob("*") if path.is_file())
    for name in (b'"ada"', b"Ada", b'"ben"', b"Quince", b"thinks so"):
        assert name not in content, name
    after = examine(session, resamples=0)
    assert after.inputs.reference == ("human_1", "human_2")
    rename = {"ada": "human_1", "ben": "human_2"}

    def numbers(found):
        frame = found.ratings.with_columns(pl.col("rater").cast(pl.String).replace(rename))
        keys = ["item", "system", "rater", "run", "attribute", "score"]
        kept = frame.select(pl.col(*keys[:3], "attribute").cast(pl.String), "run", "score")
        return kept.sort(keys[0], "system", "rater", "run", "attribute", nulls_last=True)

    assert numbers(after).equals(numbers(labelled))
    assert not numbers(after).equals(numbers(before))
    assert [(one.judge, one.use, one.state) for one in after.verdicts] == [
        (one.judge, one.use, one.state) for one in labelled.verdicts
    ]
    # Again changes nothing.
    assert forget_raters(session).files == ()
    assert numbers(examine(session, resamples=0)).equals(numbers(after))
