"""Items and responses of a session: taken in once, read page by page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from voirdire.schema import Comparison, Item, Rating, Response
from voirdire.store._texts import pack, unpack
from voirdire.store.session import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

PAGE = 256
_ITEM = """INSERT INTO items (id, body, reference, extra, present) VALUES (?, ?, ?, ?, 1)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, reference = excluded.reference,
extra = excluded.extra, present = 1,
changed = (body, reference, extra) IS NOT (excluded.body, excluded.reference, excluded.extra)"""
_RESPONSE = """INSERT INTO responses (item, system, body, origin, present) VALUES (?, ?, ?, ?, 1)
ON CONFLICT (item, system) DO UPDATE SET body = excluded.body, origin = excluded.origin,
present = 1, changed = body IS NOT excluded.body"""
#: What was said about a text that has changed since enters no table.
_STALE_ITEMS = """UPDATE calls SET current = 0 WHERE task IN (SELECT t.id FROM tasks t
JOIN items i ON i.id = t.item WHERE i.changed = 1)"""
_STALE_RESPONSES = """UPDATE calls SET current = 0 WHERE task IN (SELECT t.id FROM tasks t
JOIN responses r ON r.item = t.item AND r.system IN (t.first, t.second) WHERE r.changed = 1)"""
_ITEMS = """SELECT position, id, body, reference, extra FROM items
WHERE present = 1 AND position > ? ORDER BY position LIMIT ?"""
_RATED = """SELECT r.position, i.id, i.body, i.reference, i.extra, r.system, r.body
FROM responses r JOIN items i ON i.id = r.item
WHERE r.present = 1 AND i.present = 1 AND r.position > ? ORDER BY r.position LIMIT ?"""


def take_items(connection: sqlite3.Connection, items: Iterable[tuple[Item, str]]) -> int:
    """Take in the items (each with its reference answer); those not named are set aside."""
    rows = (
        (item.id, pack(item.text), pack(reference) if reference else None, _json(item.extra))
        for item, reference in items
    )
    with transaction(connection):
        connection.execute("UPDATE items SET present = 0, changed = 0")
        connection.executemany(_ITEM, rows)
        connection.execute(_STALE_ITEMS)
    return count_items(connection)


def take_responses(
    connection: sqlite3.Connection, responses: Iterable[Response], origin: str
) -> None:
    """Take in the responses of one origin (``file`` or ``generated``); others of it go aside."""
    rows = ((r.item, r.system, pack(r.text), origin) for r in responses)
    with transaction(connection):
        connection.execute(
            "UPDATE responses SET present = 0, changed = 0 WHERE origin = ?", (origin,)
        )
        connection.executemany(_RESPONSE, rows)
        connection.execute(_STALE_RESPONSES)


def count_items(connection: sqlite3.Connection) -> int:
    """Items present."""
    return int(connection.execute("SELECT count(*) FROM items WHERE present = 1").fetchone()[0])


def systems(connection: sqlite3.Connection) -> list[str]:
    """Systems with responses, in the order in which they first came."""
    sql = """SELECT system FROM responses WHERE present = 1
             GROUP BY system ORDER BY min(position)"""
    return [row[0] for row in connection.execute(sql)]


def lonely_responses(connection: sqlite3.Connection, most: int = 5) -> list[tuple[str, str]]:
    """Responses whose item is not among the items."""
    sql = """SELECT item, system FROM responses WHERE present = 1 AND NOT EXISTS
             (SELECT 1 FROM items i WHERE i.id = item AND i.present = 1) LIMIT ?"""
    return connection.execute(sql, (most,)).fetchall()


def generated_responses(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Texts that generators gave, by item and system."""
    sql = "SELECT item, system, body FROM responses WHERE present = 1 AND origin = 'generated'"
    return {(item, system): unpack(body) for item, system, body in connection.execute(sql)}


def iterate_items(connection: sqlite3.Connection) -> Iterator[Item]:
    """All items in order, a page in memory at a time."""
    for row in _pages(connection, _ITEMS):
        yield item_of(row[1:])


def iterate_ratings(connection: sqlite3.Connection) -> Iterator[Rating]:
    """One pointwise task a response, in order."""
    for row in _pages(connection, _RATED):
        item = item_of(row[1:5])
        yield Rating(item, Response(item.id, row[5], unpack(row[6])), unpack(row[3]))


def iterate_comparisons(
    connection: sqlite3.Connection, pairs: Sequence[tuple[str, str]]
) -> Iterator[Comparison]:
    """One pairwise task an item and pair, for the items to which both have responded."""
    sql = "SELECT system, body FROM responses WHERE present = 1 AND item = ?"
    for item in iterate_items(connection):
        texts = {name: unpack(body) for name, body in connection.execute(sql, (item.id,))}
        for a, b in pairs:
            if a in texts and b in texts:
                yield Comparison(
                    item, Response(item.id, a, texts[a]), Response(item.id, b, texts[b])
                )


def item_of(row: Sequence[Any]) -> Item:
    """An item from id, body, reference and extra."""
    return Item(row[0], unpack(row[1]), json.loads(row[3]) if row[3] else {})


def _pages(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[Any, ...]]:
    position = 0
    while rows := connection.execute(sql, (position, PAGE)).fetchall():
        position = rows[-1][0]
        yield from rows


def _json(extra: Any) -> str | None:
    return json.dumps(dict(extra), default=str) if extra else None
