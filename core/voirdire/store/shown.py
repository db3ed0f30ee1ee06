"""Which labelled units a judge was shown in the prompts of other items: its examples."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

from voirdire.store._schema import unpack
from voirdire.store.session import read_session, usable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator
    from pathlib import Path

#: A shorter text occurs in prompts by chance, or because of what it is made of.
_LEAST = 20
_PROMPTS = """SELECT calls.messages, tasks.item FROM calls JOIN raters ON raters.id = calls.rater
JOIN tasks ON tasks.id = calls.task WHERE calls.current = 1 AND raters.stage = 'judge'
AND raters.name = ?"""


def shown_as_examples(
    folder: str | Path, raters: Collection[str], units: Collection[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """Units whose texts stand in a prompt by which a rater was asked about another item.

    Parameters
    ----------
    folder : path
        The session.
    raters : collection of str
    units : collection of (str, str)
        Items and systems (empty where items are judged as such). The texts of both must stand in
        one prompt; those of fewer than 20 characters together are not sought.

    Returns
    -------
    frozenset of (str, str)
    """
    with usable(folder), closing(read_session(folder)) as connection:
        items = _bodies(connection, "SELECT id, '', body FROM items")
        responses = _bodies(connection, "SELECT item, system, body FROM responses")
        sought = {
            unit: tuple(filter(None, (items.get((unit[0], "")), responses.get(unit))))
            for unit in units
        }
        sought = {unit: own for unit, own in sought.items() if len("".join(own)) >= _LEAST}
        found: set[tuple[str, str]] = set()
        for prompt, about in _prompts(connection, raters) if sought else ():
            found |= {
                unit
                for unit, texts in sought.items()
                # A prompt about one item holds its text, and that is no example.
                if (len(about) > 1 or unit[0] not in about) and all(one in prompt for one in texts)
            }
    # A dialogue holds its own beginning, which may be an item as well; so does a copy.
    return frozenset(
        unit
        for unit in found
        if not any(other[0] != unit[0] and sought[unit][0] in body for other, body in items.items())
    )


def _bodies(connection: sqlite3.Connection, query: str) -> dict[tuple[str, str], str]:
    return {(item, system): unpack(body) for item, system, body in connection.execute(query)}


def _prompts(
    connection: sqlite3.Connection, raters: Collection[str]
) -> Iterator[tuple[str, set[str]]]:
    """Every text that was sent to a rater, once, and the items that it was sent about."""
    for rater in raters:
        asked: dict[int, set[str]] = {}
        for messages, item in connection.execute(_PROMPTS, (rater,)):
            for _, number, *_ in json.loads(messages):
                asked.setdefault(number, set()).add(item)
        for number, about in asked.items():
            query = "SELECT body FROM texts WHERE id = ?"
            (body,) = connection.execute(query, (number,)).fetchone()
            yield unpack(body), about
