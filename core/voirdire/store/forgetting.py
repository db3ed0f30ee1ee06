"""Texts that are to be gone: a session's numbers stay, what people and models wrote does not."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import InputError, SessionError
from voirdire.files import whole, write_text
from voirdire.protocols import Traces
from voirdire.schema import Trace
from voirdire.store._schema import content_hash, unpack
from voirdire.store.checksums import DATABASE
from voirdire.store.frames import RATED, panel_of, session_study
from voirdire.store.raters import read_replies, read_trace
from voirdire.store.replies import answered
from voirdire.store.said import said_json
from voirdire.store.session import (
    PIECES,
    STUDY,
    is_session,
    locked_session,
    remember_study,
    transaction,
    usable,
)
from voirdire.store.tables import write_tables
from voirdire.store.tasks import expect
from voirdire.study import Source, study_to_toml
from voirdire.tables import RATINGS, read_tables
from voirdire.tables.hand_labels import HAND_LABELS, read_hand_labels
from voirdire.tables.hand_labels import NAME as LABELS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from voirdire._registry import Plugins
    from voirdire.store.frames import SessionPanel
    from voirdire.study import Study

_KEY = """SELECT c.key FROM calls c JOIN tasks t ON t.id = c.task JOIN raters r ON r.id = c.rater
WHERE (r.stage, r.name, r.model, r.prompt, t.item, t.first, t.second, t.unit, c.run) =
(?, ?, ?, ?, ?, ?, ?, ?, ?) AND c.current = 1 AND c.step = 0"""
#: Of what a reply holds beside its text notes and probabilities stay, and which tools it called.
_CALLED = """(SELECT json_group_array(json_array('', json_extract(value, '$[1]'), '{}', ''))
FROM json_each(extra, '$.tool_calls'))"""
_EXTRA = f"""json_remove(iif(json_type(extra, '$.tool_calls') = 'array',
json_set(extra, '$.tool_calls', json({_CALLED})), extra), '$.thoughts', '$.inner')"""
_FORGET = (
    f"""UPDATE attempts SET text = iif(finish IS NULL, NULL, ''), parts = NULL, message = NULL,
    extra = {_EXTRA}, forgotten = 1""",  # noqa: S608
    "UPDATE items SET body = NULL, reference = NULL, extra = NULL, forgotten = 1",
    "UPDATE responses SET body = NULL, forgotten = 1",
    "UPDATE texts SET body = '', forgotten = 1",
    "UPDATE messages SET body = NULL, parts = NULL, name = '', forgotten = 1",
    "UPDATE steps SET body = NULL, extra = NULL, forgotten = 1",
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was dropped: replies and other texts; and the copies that hold texts still."""

    replies: int
    texts: int
    copies: tuple[Path, ...]


def forget_texts(folder: str | Path, plugins: Plugins | None = None) -> Forgotten:
    """Drop what people and models wrote from a session, and keep what was read out of it.

    Scores, statuses, tokens and costs stay, and the tables are derived from them. Nothing can be
    read again by another parser, and nothing more can be asked in the session. The database is
    written anew without what was dropped, and its log is emptied.

    Raises
    ------
    SessionError
        Another process works in the session, pieces of it are out, a plugin of it is not installed,
        or the disk has no room for a second copy.
    """
    folder = Path(folder)
    if any((folder / PIECES).glob("*-*")):
        raise SessionError(f"session {folder}: take its pieces in first: voirdire run --resume")
    panel = panel_of(folder, plugins)
    with usable(folder), locked_session(folder) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            rows = list(_said(connection, panel))
            connection.executemany("INSERT OR REPLACE INTO parsed VALUES (?, ?, ?)", rows)
            _hash_old(connection)
            changed = [connection.execute(sql).rowcount for sql in _FORGET]
            row = (time.time(), "texts", sum(changed), None)
            connection.execute("INSERT INTO forgotten VALUES (?, ?, ?, ?)", row)
        # What was written over lies in free places of the file and in the log until then.
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        write_tables(folder, panel=panel, connection=connection)
    return Forgotten(changed[0], sum(changed[1:]), tuple(copies(folder)))


@dataclass(frozen=True, slots=True)
class Renamed:
    """What raters are called now, and the files outside of the session that name them still.

    Attributes
    ----------
    people : int
    ratings : int
        Rows of the study's own files, which lie in the session now.
    files : tuple of Path
        Those files, which name people still.
    """

    people: int
    ratings: int
    files: tuple[Path, ...]


def forget_raters(folder: str | Path) -> Renamed:
    """Give people the names human_1, human_2, ... in a session, and keep every number of theirs.

    The ratings that the study's files hold are kept in the session under the new names, and its
    study reads those; what people wrote beside scores and labels is dropped. Who was who is kept
    nowhere. The files that the study named lie where they did.

    Raises
    ------
    SessionError
        Another process works in the session.
    InputError, TableError
        The study's files of ratings cannot be read: their numbers could not be kept.
    """
    folder = Path(folder)
    study = session_study(folder)
    rated = read_tables(study).ratings if study.data.sources else RATINGS.to_frame()
    labels = folder / LABELS
    set_by_hand = read_hand_labels(labels) if labels.is_file() else HAND_LABELS.to_frame()
    named = (Path(study.folder, source.path) for source in study.data.sources)
    files = tuple(path for path in named if path.resolve() != (folder / RATED).resolve())
    names = _people(study, set_by_hand)
    renamed = {name: f"human_{number}" for number, name in enumerate(names, 1)}
    taken = {rater.name for rater in study.panel} & set(renamed.values()) - set(names)
    if taken:
        raise InputError(f"a rater of session {folder} is called {min(taken)}: name it otherwise")
    with usable(folder), locked_session(folder) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        if study.data.sources:
            kinds = (pl.Categorical, pl.Enum)
            words = [name for name, kind in rated.schema.items() if isinstance(kind, kinds)]
            plain = rated.with_columns(pl.col(name).cast(pl.String) for name in words)
            held = [name for name in ("rater", "labelled_by") if name in plain.columns]
            with whole(folder / RATED) as draft:
                plain.with_columns(_named(name, renamed) for name in held).write_parquet(draft)
            study = _reading(study, RATED)
        study = _with_names(study, renamed)
        if labels.is_file():
            with whole(labels) as draft:
                set_by_hand.with_columns(
                    _named("rater", renamed), _named("labelled_by", renamed), note=pl.lit("")
                ).write_parquet(draft)
        text = study_to_toml(study)
        write_text(folder / STUDY, text)
        with transaction(connection):
            # Earlier versions of the study name them too.
            connection.execute("DELETE FROM studies")
            remember_study(connection, study, text)
            row = (time.time(), "raters", len(renamed), None)
            connection.execute("INSERT INTO forgotten VALUES (?, ?, ?, ?)", row)
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Renamed(len(renamed), rated.height, files)


def _people(study: Study, labels: pl.DataFrame) -> list[str]:
    """Names of people: of the panel, of the reference, of who set labels by hand."""
    judges = {rater.name for rater in study.panel if rater.kind != "human"}
    names = [rater.name for rater in study.panel if rater.kind == "human"]
    names += study.data.reference
    names += [*labels["rater"].drop_nulls(), *labels["labelled_by"].drop_nulls()]
    return [name for name in dict.fromkeys(names) if name and name not in judges]


def _named(column: str, renamed: Mapping[str, str]) -> pl.Expr:
    return pl.col(column).cast(pl.String).replace(dict(renamed))


def _reading(study: Study, path: str) -> Study:
    source = Source(path=path, layout="long")
    return study.model_copy(update={"data": study.data.model_copy(update={"sources": (source,)})})


def _with_names(study: Study, renamed: Mapping[str, str]) -> Study:
    """The study with other names of people, wherever one stands."""

    def new(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(renamed.get(name, name) for name in names)

    panel = tuple(
        one.model_copy(
            update={
                "name": new([one.name])[0],
                **({"members": new(one.members)} if one.is_jury else {}),
            }
        )
        for one in study.panel
    )
    data = study.data.model_copy(update={"reference": new(study.data.reference)})
    analysis = study.analysis.model_copy(
        update={
            "raters": new(study.analysis.raters),
            "compare": tuple(new(pair) for pair in study.analysis.compare),
        }
    )
    families = {renamed.get(name, name): maker for name, maker in study.families.items()}
    return study.model_copy(
        update={
            "panel": panel,
            "data": data,
            "analysis": analysis,
            "families": families,
            "humans": None,
        }
    )


def copies(folder: str | Path) -> Iterator[Path]:
    """Other files of a session's folder that hold texts: older databases, notes on labels."""
    folder = Path(folder)
    for path in sorted(folder.rglob("*")):
        older = path.suffix == ".sqlite" and path.name != DATABASE
        if path.is_file() and (older or path.name in ("labels.parquet", "findings.json", STUDY)):
            yield path


def forgotten_at(connection: sqlite3.Connection) -> float | None:
    """When the texts of a session were dropped; None where they are there."""
    sql = "SELECT max(at) FROM forgotten WHERE what = 'texts'"
    found: float | None = connection.execute(sql).fetchone()[0]
    return found


def _said(
    connection: sqlite3.Connection, panel: SessionPanel
) -> Iterator[tuple[bytes, float, str]]:
    """What the replies of each task say, by the key of its first call."""
    now = time.time()
    for participant in panel.of("judge", "annotate"):
        expect(connection, participant.task, panel.study.comparisons, participant.judged)
        place = (
            participant.id.stage,
            participant.id.name,
            participant.id.model,
            participant.id.prompt,
        )
        for task in answered(connection, participant.id, participant.runs):
            # What was said before stays as it was: its texts are gone already.
            if not task.replies or task.said is not None:
                continue
            names = (task.item, task.first, task.second, task.unit, task.run)
            (key,) = connection.execute(_KEY, (*place, *names)).fetchone()
            traces = isinstance(participant.rater, Traces)
            trace = read_trace(participant, task.replies) if traces else Trace()
            yield key, now, said_json(read_replies(participant, task.replies), trace)


def _hash_old(connection: sqlite3.Connection) -> None:
    """Give replies of an older version the hash by which equal ones are told afterwards."""
    sql = "SELECT id, text, parts FROM attempts WHERE finish IS NOT NULL AND hash IS NULL"
    rows = [
        (content_hash(unpack(text), unpack(parts)), number)
        for number, text, parts in connection.execute(sql)
    ]
    connection.executemany("UPDATE attempts SET hash = ? WHERE id = ?", rows)


@dataclass(frozen=True, slots=True)
class HoldsTexts:
    """A file that holds what people or models wrote, and what of it."""

    path: Path
    what: str


def where_texts_are(folder: str | Path) -> tuple[HoldsTexts, ...]:
    """The files of a session's folder that hold texts, and those outside that its study reads.

    Raises
    ------
    SessionError
        The folder holds no session.
    """
    from voirdire.store.frames import session_study  # noqa: PLC0415 - a study may not be readable
    from voirdire.store.session import read_session  # noqa: PLC0415

    folder = Path(folder)
    if not is_session(folder):
        raise SessionError(f"session {folder}: there is no {DATABASE} in it")
    with closing(read_session(folder)) as connection:
        gone = forgotten_at(connection) is not None
    found = [
        HoldsTexts(path, what)
        for name, what, here in (
            (DATABASE, "items, responses, prompts and replies", not gone),
            (f"{DATABASE}-wal", "what was written last", True),
            ("responses.parquet", "responses", not gone),
            (STUDY, "prompts, names of raters", True),
            ("reply_findings.parquet", "phrases of replies", True),
            ("findings.json", "examples that raters were shown", True),
        )
        if here and (path := folder / name).is_file() and path.stat().st_size
    ]
    known = {one.path for one in found}
    found += [
        HoldsTexts(path, "an older copy, or notes on labels")
        for path in copies(folder)
        if path not in known
    ]
    found += [
        HoldsTexts(path, "a piece of a run by several workers")
        for path in sorted((folder / PIECES).glob("*-*/session.sqlite"))
    ]
    study = session_study(folder)
    named = [*(source.path for source in study.data.sources)]
    named += [one.path for one in (study.items, study.responses) if one is not None]
    found += [
        HoldsTexts(path, "a file of the study, outside of the session")
        for name in named
        if (path := Path(study.folder, name)).is_file()
    ]
    return tuple(found)
