"""What a rater is to be asked about: as tasks, or as their names alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from voirdire.errors import StudyError
from voirdire.schema import Comparison, Item, Rating
from voirdire.store import subjects

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from voirdire.store.raters import TaskKind
    from voirdire.study import Comparisons

Task = Rating | Comparison | Item
Names = tuple[str, str, str]
_ITEMS = "SELECT id, '', '' FROM items WHERE present = 1 ORDER BY position"
_RATINGS = """SELECT r.item, r.system, '' FROM responses r JOIN items i ON i.id = r.item
WHERE r.present = 1 AND i.present = 1 ORDER BY r.position"""


def iterate_tasks(
    connection: sqlite3.Connection, kind: TaskKind, comparisons: Comparisons
) -> Iterator[tuple[Names, Task]]:
    """Every task of that kind with its item, first and second system, in a fixed order."""
    if kind == "item":
        for item in subjects.iterate_items(connection):
            yield (item.id, "", ""), item
    elif kind == "rating":
        for rating in subjects.iterate_ratings(connection):
            yield (rating.item.id, rating.response.system, ""), rating
    else:
        pairs = pairs_of(connection, comparisons)
        for pair in subjects.iterate_comparisons(connection, pairs):
            for task in _shown(pair, comparisons):
                yield (task.item.id, task.first.system, task.second.system), task


def expect(connection: sqlite3.Connection, kind: TaskKind, comparisons: Comparisons) -> None:
    """Fill the temporary table `expected` (position, item, first, second) with those tasks."""
    connection.execute("DROP TABLE IF EXISTS temp.expected")
    connection.execute(
        "CREATE TEMP TABLE expected (position INTEGER PRIMARY KEY, item TEXT, first TEXT,"
        " second TEXT)"
    )
    sql = "INSERT INTO expected (item, first, second) "
    if kind != "comparison":
        connection.execute(sql + (_ITEMS if kind == "item" else _RATINGS))
        return
    names = (names for names, _ in iterate_tasks(connection, kind, comparisons))
    connection.executemany(sql + "VALUES (?, ?, ?)", names)


def pairs_of(connection: sqlite3.Connection, comparisons: Comparisons) -> list[tuple[str, str]]:
    """The pairs of systems to compare, as declared: (system_a, system_b).

    Raises
    ------
    StudyError
        A pair or `against` names a system that has no responses.
    """
    systems = subjects.systems(connection)
    named = {name for pair in comparisons.pairs for name in pair} | {comparisons.against} - {""}
    unknown = sorted(named - set(systems))
    if unknown and systems:
        raise StudyError(f"comparisons: no responses of {unknown} (systems: {systems})")
    if comparisons.pairs:
        return list(comparisons.pairs)
    if comparisons.against:
        others = [system for system in systems if system != comparisons.against]
        return [(system, comparisons.against) for system in others]
    return [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]


def _shown(pair: Comparison, comparisons: Comparisons) -> Sequence[Comparison]:
    """The pair in the order (or both) in which it is shown."""
    swapped = Comparison(pair.item, pair.second, pair.first)
    if comparisons.order == "both":
        return pair, swapped
    if comparisons.order == "fixed":
        return (pair,)
    coin = f"{comparisons.seed}\0{pair.item.id}\0{pair.first.system}\0{pair.second.system}"
    digest = hashlib.blake2b(coin.encode("utf-8", "surrogatepass"), digest_size=1).digest()
    return (swapped if digest[0] & 1 else pair,)
