"""Texts, parameters, seats and tasks stored once: from what they are to their row's number."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from voirdire.store._texts import pack

if TYPE_CHECKING:
    import sqlite3

    from voirdire.store._records import Seat, Slot

#: Numbers kept at hand; the oldest half goes when they are more.
AT_HAND = 4096


class Interned:
    """Row numbers of what is stored once, with the latest kept at hand."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[Any, int] = {}

    def text(self, text: str) -> int:
        """The row of a message's content."""
        return self._known.get(text) or self._hashed("texts", "body", text, pack(text))

    def params(self, text: str) -> int:
        """The row of a set of parameters, given as canonical JSON."""
        key = ("params", text)
        return self._known.get(key) or self._hashed("params", "json", key, text)

    def seat(self, seat: Seat) -> int:
        """The row of a rater or generator."""
        return self._known.get(seat) or self._row(
            "raters",
            "stage, name, model, prompt",
            seat,
            (seat.stage, seat.name, seat.model, seat.prompt),
        )

    def task(self, slot: Slot) -> int:
        """The row of what is rated."""
        key = (slot.item, slot.first, slot.second)
        return self._known.get(key) or self._row("tasks", "item, first, second", key, key)

    def _hashed(self, table: str, column: str, key: Any, stored: str | bytes) -> int:
        text = key if isinstance(key, str) else key[1]
        raw = text.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        sql = f"INSERT INTO {table} (hash, {column}) VALUES (?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
        made = self._connection.execute(sql, (digest, stored))
        if made.rowcount == 1:
            return self._keep(key, made.lastrowid or 0)
        sql = f"SELECT id FROM {table} WHERE hash = ?"  # noqa: S608
        return self._keep(key, self._connection.execute(sql, (digest,)).fetchone()[0])

    def _row(self, table: str, columns: str, key: Any, values: tuple[str, ...]) -> int:
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608
        made = self._connection.execute(sql, values)
        if made.rowcount == 1:
            return self._keep(key, made.lastrowid or 0)
        sql = f"SELECT id FROM {table} WHERE ({columns}) = ({marks})"  # noqa: S608
        return self._keep(key, self._connection.execute(sql, values).fetchone()[0])

    def _keep(self, key: Any, number: int) -> int:
        if len(self._known) >= AT_HAND:
            for old in list(self._known)[: AT_HAND // 2]:
                del self._known[old]
        self._known[key] = number
        return number
