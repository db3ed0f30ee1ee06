"""What people are to judge: the tasks of a study's files, or of a session's."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire._errors import InputError, StudyError
from voirdire.humans._rubric import with_rubric
from voirdire.store import (
    is_session,
    iterate_tasks,
    lonely_responses,
    memory_session,
    read_session,
    session_study,
    take_items,
    take_responses,
)
from voirdire.study import load_study
from voirdire.tables import read_items, read_responses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from voirdire.store import Task, TaskKind
    from voirdire.study import Humans, Study

Names = tuple[str, str, str]


def read_source(source: str | Path) -> tuple[Study, Sequence[tuple[Names, Task]]]:
    """A study and its tasks: (item, system or "", other system or "") with what is shown.

    Raises
    ------
    InputError
        Neither a study file nor a session folder.
    StudyError
        No `[humans]`, no items, nothing to judge, or no rubric of the name in `rubric.use`.
    """
    path = Path(source)
    if path.is_dir() and not is_session(path):
        raise InputError(f"{path} is no session folder: give a study.toml or a session")
    study = session_study(path) if path.is_dir() else load_study(path)
    if study.humans is None:
        raise StudyError(f"study {study.name!r}: key 'humans' is required: what do people judge?")
    humans = study.humans
    if humans.task == "pointwise":
        study = with_rubric(study)
    with closing(read_session(path) if path.is_dir() else memory_session()) as connection:
        if not path.is_dir():
            _take(connection, study)
        tasks = _tasks(connection, study, humans)
    if not tasks:
        raise StudyError(f"study {study.name!r}: there is nothing to judge")
    return study, tasks


def _take(connection: sqlite3.Connection, study: Study) -> None:
    """Take in the items and responses of the files."""
    if study.items is None:
        raise StudyError(f"study {study.name!r}: key 'items' is required: what is judged?")
    take_items(connection, read_items(study, study.items))
    if study.responses is not None:
        take_responses(connection, read_responses(study, study.responses), "file")
        lonely = lonely_responses(connection)
        if lonely:
            item, system = lonely[0]
            raise StudyError(
                f"responses.path: {system!r} responds to item {item!r}, which {study.items.path} "
                "does not hold"
            )


def _tasks(
    connection: sqlite3.Connection, study: Study, humans: Humans
) -> Sequence[tuple[Names, Task]]:
    held = connection.execute("SELECT count(*) FROM responses WHERE present = 1").fetchone()[0]
    kind: TaskKind = "item"
    if humans.task == "pairwise":
        kind = "comparison"
    elif humans.of == "responses" or (humans.of is None and humans.task == "pointwise" and held):
        kind = "rating"
    if kind != "item" and not held:
        raise StudyError(f"study {study.name!r}: there are no responses to judge ([responses])")
    declared = study.comparisons.model_copy(update={"order": "fixed"})
    return list(iterate_tasks(connection, kind, declared))
