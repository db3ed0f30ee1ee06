"""What raters are asked about: items and responses, taken in once, and the tasks made of them.

Responses come from a file, or from the replies of generators.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.errors import StudyError
from voirdire.protocols import Converses
from voirdire.schema import Comparison, Item, Rating, Response
from voirdire.store._schema import content_hash, pack, unpack
from voirdire.store.raters import read_response
from voirdire.store.replies import answered
from voirdire.store.session import transaction
from voirdire.store.turns import TurnTaker, has_turns, turns_of, unit_query, units
from voirdire.study import Comparisons
from voirdire.units import WHOLE, Unit, at_unit

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from voirdire.schema import Turn
    from voirdire.store.raters import Participant, TaskKind
    from voirdire.units import JudgedUnits

Task = Rating | Comparison | Item


class Names(NamedTuple):
    """What a task is about: an item, the systems that answered it, and the key of its unit."""

    item: str
    first: str = ""
    second: str = ""
    unit: str = ""


PAGE = 256
# `changed` compares within the statement that overwrites the old text; IS NOT, since
# a reference may be NULL.
_ITEM = """INSERT INTO items (id, body, reference, extra, hash, present)
VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO UPDATE SET body = excluded.body,
reference = excluded.reference, extra = excluded.extra, hash = excluded.hash, present = 1,
forgotten = 0,
changed = (body, reference, extra) IS NOT (excluded.body, excluded.reference, excluded.extra)"""
_RESPONSE = """INSERT INTO responses (item, system, body, origin, hash, present)
VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT (item, system) DO UPDATE SET body = excluded.body,
origin = excluded.origin, hash = excluded.hash, present = 1, forgotten = 0,
changed = body IS NOT excluded.body"""
_ITEM_CHANGED = "UPDATE items SET changed = 1 WHERE id = ? AND ? = ''"
_RESPONSE_CHANGED = "UPDATE responses SET changed = 1 WHERE (item, system) = (?, ?)"
#: What was said about a text that has changed since enters no table.
_STALE_ITEMS = """UPDATE calls SET current = 0 WHERE task IN (SELECT t.id FROM tasks t
JOIN items i ON i.id = t.item WHERE i.changed = 1)"""
_STALE_RESPONSES = """UPDATE calls SET current = 0 WHERE task IN (SELECT t.id FROM tasks t
JOIN responses r ON r.item = t.item AND r.system IN (t.first, t.second) WHERE r.changed = 1)"""
# By position, a page after another: an OFFSET would count through all rows before it.
_ITEMS = """SELECT position, id, body, reference, extra FROM items
WHERE present = 1 AND position > ? ORDER BY position LIMIT ?"""
_RATED = """SELECT r.position, i.id, i.body, i.reference, i.extra, r.system, r.body
FROM responses r JOIN items i ON i.id = r.item
WHERE r.present = 1 AND i.present = 1 AND r.position > ? ORDER BY r.position LIMIT ?"""
_EXPECTED_ITEMS = "SELECT id, '', '' FROM items WHERE present = 1 ORDER BY position"
_EXPECTED_RATINGS = """SELECT r.item, r.system, '' FROM responses r JOIN items i ON i.id = r.item
WHERE r.present = 1 AND i.present = 1 ORDER BY r.position"""


def take_items(connection: sqlite3.Connection, items: Iterable[tuple[Item, str]]) -> int:
    """Take in the items (each with its reference answer); those not named are set aside."""
    turns = TurnTaker(connection)

    def row(item: Item, reference: str) -> tuple[Any, ...]:
        turns.take(item.id, "", item.turns)
        extra = _json(item.extra)
        hashed = content_hash(item.text, reference, extra or "")
        return item.id, pack(item.text), pack(reference) if reference else None, extra, hashed

    rows = (row(*each) for each in items)
    with transaction(connection):
        # Set aside and not deleted: what was said about them stays, for the
        # study may go back to them.
        connection.execute("UPDATE items SET present = 0, changed = 0")
        connection.executemany(_ITEM, rows)
        connection.executemany(_ITEM_CHANGED, turns.changed)
        connection.execute(_STALE_ITEMS)
    return count_items(connection)


def take_responses(
    connection: sqlite3.Connection, responses: Iterable[Response], origin: str
) -> None:
    """Take in the responses of one origin (``file`` or ``generated``); others of it go aside."""
    turns = TurnTaker(connection)

    def row(one: Response) -> tuple[Any, ...]:
        turns.take(one.item, one.system, one.turns)
        return one.item, one.system, pack(one.text), origin, content_hash(one.text)

    rows = map(row, responses)
    with transaction(connection):
        connection.execute(
            "UPDATE responses SET present = 0, changed = 0 WHERE origin = ?", (origin,)
        )
        connection.executemany(_RESPONSE, rows)
        connection.executemany(_RESPONSE_CHANGED, turns.changed)
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
    talks = has_turns(connection)
    for row in _pages(connection, _ITEMS):
        yield item_of(row[1:], turns_of(connection, row[1]) if talks else ())


def iterate_ratings(connection: sqlite3.Connection) -> Iterator[Rating]:
    """One pointwise task a response, in order."""
    talks = has_turns(connection)
    for row in _pages(connection, _RATED):
        item = item_of(row[1:5], turns_of(connection, row[1]) if talks else ())
        said = turns_of(connection, item.id, row[5]) if talks else ()
        yield Rating(item, Response(item.id, row[5], unpack(row[6]), said), unpack(row[3]))


def iterate_comparisons(
    connection: sqlite3.Connection, pairs: Sequence[tuple[str, str]]
) -> Iterator[Comparison]:
    """One pairwise task an item and pair, for the items to which both have responded."""
    sql = "SELECT system, body FROM responses WHERE present = 1 AND item = ?"
    talks = has_turns(connection)
    for item in iterate_items(connection):
        held = connection.execute(sql, (item.id,)).fetchall()
        answers = {
            name: _whole(
                item,
                Response(
                    item.id,
                    name,
                    unpack(body),
                    turns_of(connection, item.id, name) if talks else (),
                ),
            )
            for name, body in held
        }
        for a, b in pairs:
            if a in answers and b in answers:
                yield Comparison(answers[a].item, answers[a].response, answers[b].response)


def _whole(item: Item, response: Response) -> Rating:
    """A response to an item, of both what can be shown."""
    return at_unit(Rating(item, response), Unit())


def item_of(row: Sequence[Any], turns: tuple[Turn, ...] = ()) -> Item:
    """An item from id, body, reference and extra, and its turns."""
    return Item(row[0], unpack(row[1]), json.loads(row[3]) if row[3] else {}, turns)


def _pages(connection: sqlite3.Connection, sql: str) -> Iterator[tuple[Any, ...]]:
    position = 0
    # A new statement a page: one that stays open would see what the loop writes
    # meanwhile, or not, by chance.
    while rows := connection.execute(sql, (position, PAGE)).fetchall():
        position = rows[-1][0]
        yield from rows


def _json(extra: Any) -> str | None:
    return json.dumps(dict(extra), default=str) if extra else None


def keep_generated(connection: sqlite3.Connection, generators: Iterable[Participant]) -> None:
    """Take what generators have said into the session's responses.

    Raises
    ------
    StudyError
        A generator has the name of a system whose responses come from the file.
    """
    made = [participant for participant in generators if participant.id.stage == "generate"]
    if not made:
        return
    sql = "SELECT DISTINCT system FROM responses WHERE present = 1 AND origin = 'file'"
    taken = {row[0] for row in connection.execute(sql)} & {
        participant.id.name for participant in made
    }
    if taken:
        raise StudyError(f"generators {sorted(taken)}: [responses] holds systems of these names")
    take_responses(connection, _generated(connection, made), "generated")


def _generated(connection: sqlite3.Connection, made: Iterable[Participant]) -> Iterator[Response]:
    for participant in made:
        expect(connection, "item", Comparisons())
        talks = isinstance(participant.rater, Converses)
        for item, _, _, _, replies, *_ in answered(connection, participant.id, 1):
            # A text before an error or a filter is not what the system would have said.
            if replies and replies[-1].finish_reason not in ("error", "content_filter"):
                task = _item(connection, item) if talks else None
                _, response = read_response(participant, replies, item, task)
                if response.text.strip() or response.turns:
                    yield Response(item, participant.id.name, response.text, response.turns)


def _item(connection: sqlite3.Connection, name: str) -> Item:
    sql = "SELECT id, body, reference, extra FROM items WHERE id = ?"
    row = connection.execute(sql, (name,)).fetchone()
    return item_of(row, turns_of(connection, name))


def iterate_tasks(
    connection: sqlite3.Connection,
    kind: TaskKind,
    comparisons: Comparisons,
    judged: JudgedUnits = WHOLE,
) -> Iterator[tuple[Names, Task]]:
    """Every task of that kind with what it is about, in a fixed order.

    Of conversations each unit that is `judged` is a task; its texts are what a rater is shown.
    """
    if kind == "item":
        for item in iterate_items(connection):
            for unit in units(item.turns, judged):
                yield (
                    Names(item.id, unit=unit.key),
                    at_unit(item, unit, judged.past, judged.longest),
                )
    elif kind == "rating":
        for rating in iterate_ratings(connection):
            for unit in units(rating.response.turns, judged):
                names = Names(rating.item.id, rating.response.system, unit=unit.key)
                yield names, at_unit(rating, unit, judged.past, judged.longest)
    else:
        pairs = pairs_of(connection, comparisons)
        for pair in iterate_comparisons(connection, pairs):
            for task in _shown(pair, comparisons):
                yield Names(task.item.id, task.first.system, task.second.system), task


def expect(
    connection: sqlite3.Connection,
    kind: TaskKind,
    comparisons: Comparisons,
    judged: JudgedUnits = WHOLE,
) -> None:
    """Fill the table `temp.expected` (position, item, first, second, unit) with those tasks."""
    # In the connection's own memory: many may read a session at once, each with tasks of its own.
    connection.execute("DROP TABLE IF EXISTS temp.expected")
    connection.execute(
        "CREATE TEMP TABLE expected (position INTEGER PRIMARY KEY, item TEXT, first TEXT,"
        " second TEXT, unit TEXT NOT NULL DEFAULT '')"
    )
    if judged.placed and kind != "comparison":
        sql = "INSERT INTO expected (item, first, second, unit) "
        query, values = unit_query(connection, judged, of_items=kind == "item")
        connection.execute(sql + query, values)
        return
    sql = "INSERT INTO expected (item, first, second) "
    # Within SQLite, where no text need be read; which of two is shown first only Python can say.
    if kind != "comparison":
        connection.execute(sql + (_EXPECTED_ITEMS if kind == "item" else _EXPECTED_RATINGS))
        return
    names = (names[:3] for names, _ in iterate_tasks(connection, kind, comparisons))
    connection.executemany(sql + "VALUES (?, ?, ?)", names)


def pairs_of(connection: sqlite3.Connection, comparisons: Comparisons) -> list[tuple[str, str]]:
    """The pairs of systems to compare, as declared: (system_a, system_b).

    Raises
    ------
    StudyError
        A pair or `against` names a system that has no responses.
    """
    present = systems(connection)
    named = {name for pair in comparisons.pairs for name in pair} | {comparisons.against} - {""}
    unknown = sorted(named - set(present))
    if unknown and present:
        raise StudyError(f"comparisons: no responses of {unknown} (systems: {present})")
    if comparisons.pairs:
        return list(comparisons.pairs)
    if comparisons.against:
        others = [system for system in present if system != comparisons.against]
        return [(system, comparisons.against) for system in others]
    return [(a, b) for i, a in enumerate(present) for b in present[i + 1 :]]


def _shown(pair: Comparison, comparisons: Comparisons) -> Sequence[Comparison]:
    """The pair in the order (or both) in which it is shown."""
    swapped = Comparison(pair.item, pair.second, pair.first)
    if comparisons.order == "both":
        return pair, swapped
    if comparisons.order == "fixed":
        return (pair,)
    # By a hash of the names and not drawn in turn: an item that is added must
    # not turn the others round.
    coin = f"{comparisons.seed}\0{pair.item.id}\0{pair.first.system}\0{pair.second.system}"
    digest = hashlib.blake2b(coin.encode("utf-8", "surrogatepass"), digest_size=1).digest()
    return (swapped if digest[0] & 1 else pair,)
