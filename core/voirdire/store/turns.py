"""The turns of items and responses in a session, and which of them are asked about."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from voirdire.errors import StudyError, listed
from voirdire.schema import Turn
from voirdire.store._schema import content_hash, pack, unpack
from voirdire.units import Unit, kind_of_part

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.units import JudgedUnits

_TAKE = """INSERT INTO messages (item, system, turn, role, name, at, body, parts, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_HASHES = "SELECT hash FROM messages WHERE (item, system) = (?, ?) ORDER BY turn"
_DROP = "DELETE FROM messages WHERE (item, system) = (?, ?)"
_READ = """SELECT role, body, name, at, parts FROM messages WHERE (item, system) = (?, ?)
ORDER BY turn"""
_ROLES = """SELECT role, count(*) FROM messages m WHERE {} GROUP BY role ORDER BY 2 DESC, 1"""
_OF_ITEMS = "m.system = '' AND EXISTS (SELECT 1 FROM items i WHERE i.id = m.item AND i.present)"
_OF_RESPONSES = """m.system != '' AND EXISTS (SELECT 1 FROM responses r
WHERE (r.item, r.system) = (m.item, m.system) AND r.present)"""
#: Items, or responses, each with the units that are asked about, in order.
_UNITS_OF_ITEMS = """SELECT i.id, '', '', ? || {turn} FROM items i
JOIN messages m ON (m.item, m.system) = (i.id, '') WHERE i.present = 1 AND m.role IN ({roles})
{group} ORDER BY i.position, m.turn"""
_UNITS_OF_RESPONSES = """SELECT r.item, r.system, '', ? || {turn} FROM responses r
JOIN items i ON i.id = r.item JOIN messages m ON (m.item, m.system) = (r.item, r.system)
WHERE r.present = 1 AND i.present = 1 AND m.role IN ({roles})
{group} ORDER BY r.position, m.turn"""


_BARE_ITEMS = """SELECT i.id, '' FROM items i WHERE i.present AND NOT EXISTS (SELECT 1
FROM messages m WHERE (m.item, m.system) = (i.id, '') AND m.role IN ({})) ORDER BY i.position"""
_BARE_RESPONSES = """SELECT r.item, r.system FROM responses r
WHERE r.present AND NOT EXISTS (SELECT 1 FROM messages m
WHERE (m.item, m.system) = (r.item, r.system) AND m.role IN ({})) ORDER BY r.position"""


class TurnTaker:
    """Takes in turns beside their items or responses, and knows whose have changed.

    `changed` names those whose turns were others before: what was said of them is of another text.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        # Most sessions have no turns: then no item is looked up.
        self._held = has_turns(connection)
        self.changed: list[tuple[str, str]] = []

    def take(self, item: str, system: str, turns: Sequence[Turn]) -> None:
        """The turns of an item (`system` empty) or response, in place of those it had."""
        if not turns and not self._held:
            return
        rows = [_row(turn) for turn in turns]
        if self._held:
            before = self._connection.execute(_HASHES, (item, system)).fetchall()
            if before == [(row[-1],) for row in rows]:
                return
            self._connection.execute(_DROP, (item, system))
            self.changed.append((item, system))
        self._connection.executemany(
            _TAKE, ((item, system, at, *row) for at, row in enumerate(rows, 1))
        )


def _row(turn: Turn) -> tuple[Any, ...]:
    parts = json.dumps([dict(part) for part in turn.parts], default=str) if turn.parts else ""
    digest = content_hash(turn.role, turn.content, turn.name, turn.time, parts)
    return (
        turn.role,
        turn.name,
        turn.time or None,
        pack(turn.content),
        pack(parts) if parts else None,
        digest,
    )


def has_turns(connection: sqlite3.Connection) -> bool:
    """Whether anything in a session is a conversation."""
    return connection.execute("SELECT 1 FROM messages LIMIT 1").fetchone() is not None


def turns_of(connection: sqlite3.Connection, item: str, system: str = "") -> tuple[Turn, ...]:
    """The turns of an item, or of a system's response to it; none where it is a text."""
    return tuple(
        Turn(role, unpack(body), name, at or "", tuple(json.loads(unpack(parts) or "[]")))
        for role, body, name, at, parts in connection.execute(_READ, (item, system))
    )


def parts_by_kind(connection: sqlite3.Connection) -> dict[str, int]:
    """How many parts that are no text stand in items and responses, by what they call themselves.

    Calls of tools are left out: transcripts of runs show them.
    """
    counts: Counter[str] = Counter()
    for (packed,) in connection.execute("SELECT parts FROM messages WHERE parts IS NOT NULL"):
        counts.update(map(kind_of_part, json.loads(unpack(packed))))
    counts.pop("tool_call", None)
    return dict(counts.most_common())


def without_units(connection: sqlite3.Connection, judged: JudgedUnits) -> list[str]:
    """Conversations in which nobody speaks in a role that is judged: item, and system if any."""
    of_items = (
        connection.execute("SELECT 1 FROM responses WHERE present LIMIT 1").fetchone() is None
    )
    asked = [role for role in _roles(connection, of_items=of_items) if judged.asks_about(role)]
    query = _BARE_ITEMS if of_items else _BARE_RESPONSES
    rows = connection.execute(query.format(",".join("?" * len(asked))), asked)
    return [" ".join(filter(None, row)) for row in rows]


def units(turns: Sequence[Turn], judged: JudgedUnits) -> Iterator[Unit]:
    """What of a conversation is asked about, in order."""
    if not judged.placed:
        yield Unit()
        return
    places = [at for at, turn in enumerate(turns, 1) if judged.asks_about(turn.role)]
    yield from (Unit(judged.kind, at) for at in (places[-1:] if judged.last else places))


def unit_query(
    connection: sqlite3.Connection, judged: JudgedUnits, *, of_items: bool
) -> tuple[str, tuple[str, ...]]:
    """Item, first, second and unit of all that is asked about, as a query and its values."""
    asked = [role for role in _roles(connection, of_items=of_items) if judged.asks_about(role)]
    query = _UNITS_OF_ITEMS if of_items else _UNITS_OF_RESPONSES
    query = query.format(
        roles=",".join("?" * len(asked)),
        turn="max(m.turn)" if judged.last else "m.turn",
        group="GROUP BY m.item, m.system" if judged.last else "",
    )
    return query, (f"{judged.kind} ", *asked)


def _roles(connection: sqlite3.Connection, *, of_items: bool) -> list[str]:
    """Roles of turns, the most frequent first."""
    sql = _ROLES.format(_OF_ITEMS if of_items else _OF_RESPONSES)
    return [role for role, _ in connection.execute(sql)]


def check_role(
    connection: sqlite3.Connection,
    judged: JudgedUnits,
    *,
    of_items: bool,
    speakers: Iterable[str] = (),
) -> None:
    """See that turns of the role that is judged are there, or will be by who `speakers` are.

    Raises
    ------
    StudyError
        Nothing is a conversation, or nobody speaks in that role.
    """
    roles = list(dict.fromkeys((*_roles(connection, of_items=of_items), *speakers)))
    what = "items" if of_items else "responses"
    if not roles:
        raise StudyError(
            f"conversations.unit is {judged.kind!r}, and no {what} have turns: say by the key "
            f"'messages' under [{what}] which column holds them, or give unit = 'whole'"
        )
    if not any(map(judged.asks_about, roles)):
        named = f"{judged.role!r} is not the role of any turn" if judged.role else "is missing"
        raise StudyError(
            f"conversations.role: {named}: whose turns are judged? (roles: {listed(roles)})"
        )
