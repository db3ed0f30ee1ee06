"""Items and responses taken from their files into a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire._errors import StudyError
from voirdire.store import lonely_responses, take_items, take_responses
from voirdire.tables import read_items, read_responses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from voirdire.store import Asker
    from voirdire.study import ItemsSpec, Study


def read_inputs(connection: sqlite3.Connection, study: Study, found: Sequence[Asker]) -> None:
    """Take the items and responses of a study into a session.

    Raises
    ------
    StudyError
        Items or responses are needed and not declared, or do not fit together.
    """
    if study.items is None:
        raise StudyError(f"study {study.name!r}: key 'items' is required to run it")
    if take_items(connection, read_items(study, study.items)) == 0:
        raise StudyError(f"items.path: {study.items.path} holds no items")
    for origin, spec in (("file", study.responses), ("generated", study.generators)):
        if not spec:  # what an earlier version of the study brought
            take_responses(connection, (), origin)
    if study.responses is not None:
        take_responses(connection, read_responses(study, study.responses), "file")
        _check_known(connection, study.items)
    elif not study.generators and any(asker.task != "item" for asker in found):
        raise StudyError(
            f"study {study.name!r}: judges need [responses] or [[generators]] to have something "
            "to rate"
        )


def _check_known(connection: sqlite3.Connection, spec: ItemsSpec) -> None:
    lonely = lonely_responses(connection)
    if lonely:
        item, system = lonely[0]
        raise StudyError(
            f"responses.path: {system!r} responds to item {item!r}, which {spec.path} does not hold"
        )
