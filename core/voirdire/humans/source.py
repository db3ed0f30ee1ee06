"""What people are to judge: the tasks of a study's files, or of a session's."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire._manager import plugins
from voirdire.errors import InputError, StudyError, TableError, VoirdireError
from voirdire.schema import Item, Response
from voirdire.store import is_session, read_session, session_study
from voirdire.store.raters import read_rubric
from voirdire.store.session import memory_session
from voirdire.store.tasks import iterate_tasks, lonely_responses, take_items, take_responses
from voirdire.store.turns import check_role
from voirdire.study import Study, build_study, load_study
from voirdire.tables import read_items, read_responses, read_tables
from voirdire.units import WHOLE, unit_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from voirdire.schema import Attribute
    from voirdire.store.raters import TaskKind
    from voirdire.store.tasks import Task
    from voirdire.study import Humans
    from voirdire.tables import Queue

Names = tuple[str, str, str]


def read_source(source: str | Path | Study) -> tuple[Study, Sequence[tuple[Names, Task]]]:
    """A study and its tasks: (item, system or "", other system or "") with what is shown.

    Parameters
    ----------
    source : path or Study
        A study.toml, the folder of a session, or a study that was read or drafted.

    Raises
    ------
    InputError
        Neither a study file nor a session folder.
    StudyError
        No `[humans]`, no items, nothing to judge, or no rubric of the name in `rubric.use`.
    """
    path = None if isinstance(source, Study) else Path(source)
    session = path if path is not None and path.is_dir() else None
    if session is not None and not is_session(session):
        raise InputError(f"{path} is no session folder: give a study.toml or a session")
    study = source if isinstance(source, Study) else _study_of(Path(source), session)
    if study.humans is None:
        raise StudyError(f"study {study.name!r}: key 'humans' is required: what do people judge?")
    humans = study.humans
    if humans.task == "pointwise":
        study = with_rubric(study)
    with closing(memory_session() if session is None else read_session(session)) as connection:
        if session is None:
            _take(connection, study)
        tasks = _tasks(connection, study, humans)
    if not tasks:
        raise StudyError(f"study {study.name!r}: there is nothing to judge")
    # Ids and orders rest on a secret of each plan: a seed has no say, and is not handed on.
    return study.model_copy(update={"humans": humans.model_copy(update={"seed": None})}), tasks


def _study_of(path: Path, session: Path | None) -> Study:
    return load_study(path) if session is None else session_study(session)


def left_to_people(
    queue: Queue, study: Study, tasks: Sequence[tuple[Names, Task]]
) -> list[tuple[Names, Task]]:
    """The tasks that a queue leaves to people.

    Raises
    ------
    InputError
        It names responses where pairs are judged, or pairs where these are not.
    TableError
        It names what there is not.
    """
    compared = study.humans is not None and study.humans.task == "pairwise"
    if compared != queue.pairs:
        named = "single responses" if compared else "pairs"
        task = "pairwise" if compared else "not pairwise"
        raise InputError(f"{queue.path}: a queue names {named}, and humans.task is {task}")
    # Where items are judged as such, a task has no system and the queue's systems do not matter.
    by_item = all(not system for (_, system, _), _ in tasks)
    there = {_name(names) for names, _ in tasks}
    if by_item and queue.probability and any(any(named[1:]) for named in queue.wanted):
        raise InputError(
            f"{queue.path} draws responses with probabilities of their own, and people judge items"
        )
    wanted = set()
    for (item, *systems), place in queue.wanted.items():
        wished: tuple[str, ...] = (item, "") if by_item else (item, *systems)
        if wished not in there:
            both = " and ".join(repr(one) for one in systems)
            raise TableError(
                f"{queue.path}, {place}: item {item!r} with system {both} is not among what "
                "the study's items and responses hold"
            )
        wanted.add(wished)
    return [task for task in tasks if _name(task[0]) in wanted]


def _name(names: Names) -> tuple[str, ...]:
    """As a queue names it: of a pair both systems in the order of their names."""
    item, first, second = names
    return (item, *sorted((first, second))) if second else (item, first)


def _take(connection: sqlite3.Connection, study: Study) -> None:
    """Take in the items and responses of the files."""
    if study.items is None:
        _take_rated(connection, study)
        return
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


def _take_rated(connection: sqlite3.Connection, study: Study) -> None:
    """Take in what the files of ratings show of items and responses.

    Raises
    ------
    StudyError
        There are no such files, or they hold no texts.
    """
    if not study.data.sources:
        raise StudyError(f"study {study.name!r}: key 'items' is required: what is judged?")
    rated = read_tables(study)
    texts = rated.items["text"]
    if texts.null_count() == len(texts) and rated.responses.is_empty():
        raise StudyError(
            f"study {study.name!r}: its files show no texts to judge: name their columns by "
            f"`context` and `response` under [[data.sources]] (--context, --response), or give "
            f"[items]"
        )
    items = rated.items.select("item", pl.col("text").fill_null("")).rows()
    take_items(connection, ((Item(item, text), "") for item, text in items))
    named = rated.responses.with_columns(pl.col("system").fill_null(""))
    # Of several texts of one response the first: the audit says that there are more.
    once = named.unique(["item", "system"], keep="first", maintain_order=True)
    rows = once.select("item", "system", "text").rows()
    take_responses(connection, (Response(*row) for row in rows), "file")


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
    # Each pair once and as declared: the plan draws for each rater which one comes first.
    declared = study.comparisons.model_copy(update={"order": "fixed"})
    judged = WHOLE if kind == "comparison" else study.conversations.judged()
    if judged.placed:
        check_role(connection, judged, of_items=kind == "item")
    return [
        # A turn is to people what an item is: it has an id of its own, as in every table.
        ((unit_of(names.unit).of(names.item), names.first, names.second), task)
        for names, task in iterate_tasks(connection, kind, declared, judged)
    ]


def with_rubric(study: Study) -> Study:
    """The study, the rubric under `rubric.use` written out in it.

    Where attributes are declared beside
    `use`, they stand.

    Raises
    ------
    StudyError
        There is no rubric of that name or path, or a key of it is wrong.
    """
    spec = study.rubric
    if not spec.use or spec.attributes:
        return study
    try:
        rubric = read_rubric(study, plugins())
    except VoirdireError as error:
        raise StudyError(f"rubric.use: {error}") from error
    declared = {
        "name": spec.name or rubric.name,
        "scale": (rubric.scale.low, rubric.scale.high),
        "step": rubric.scale.step,
        "attributes": [_declared(attribute) for attribute in rubric.attributes],
        "composites": rubric.composites,
        "instructions": rubric.instructions,
    }
    read = build_study({"name": study.name, "rubric": declared}, f"rubric.use {spec.use!r}")
    return study.model_copy(update={"rubric": read.rubric})


def _declared(attribute: Attribute) -> dict[str, Any]:
    return {
        "name": attribute.name,
        "description": attribute.description,
        "levels": {f"{level:.10g}": text for level, text in attribute.levels.items()},
        "safety_critical": attribute.safety_critical,
    }
