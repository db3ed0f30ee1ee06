"""Batches of a session: calls handed to a provider in one piece, kept from intent to result.

A batch is written down before it is submitted, with every call in it, so that a process that dies
in between leaves a trace: whoever goes on knows what may have been submitted, and asks nothing
again before that is decided.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.store._writer import RowWriter
from voirdire.store.records import request_of
from voirdire.store.session import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from voirdire.errors import ModelError
    from voirdire.schema import Reply, Request
    from voirdire.store.records import Call

# Intended ones too: whether they were submitted is not known.
_OPEN = """SELECT id, name, model, at, provider_id, status, lines, detail FROM batches
WHERE status IN ('intended', 'submitted') ORDER BY id"""
_ALL = "SELECT id, name, model, at, provider_id, status, lines, detail FROM batches ORDER BY id"
_INTENT = """INSERT INTO batches (name, model, at, status, lines) VALUES (?, ?, ?, 'intended', ?)
RETURNING id"""
# In the order of their rows, which is that in which they were submitted.
_LINES = """SELECT l.key, p.json FROM batch_lines l JOIN calls c ON c.key = l.key
JOIN params p ON p.id = c.params WHERE l.batch = ? ORDER BY c.id"""
# A void batch never came to its provider, so that its lines were not tried.
_TRIED = """SELECT 1 FROM batch_lines l JOIN batches b ON b.id = l.batch
WHERE l.key = ? AND b.status != 'void'"""
# Lines that have an attempt of this batch came before a kill, and are not kept twice.
_ANSWERED = """SELECT c.key, c.id, EXISTS (
    SELECT 1 FROM attempts a WHERE a.call = c.id AND a.batch = l.batch)
FROM batch_lines l JOIN calls c ON c.key = l.key WHERE l.batch = ?"""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch as the session knows it.

    Attributes
    ----------
    name : str
        Under which it is submitted; its last part marks its lines.
    model : str
        The model with its options.
    at : float
        When it was written down, before it was submitted.
    provider_id : str
        The provider's id; empty until that is known.
    status : str
        ``intended``, ``submitted``, ``ended`` (its results are kept) or ``void`` (it never came to
        the provider, or is to be asked again).
    """

    id: int
    name: str
    model: str
    at: float
    provider_id: str
    status: str
    lines: int
    detail: str = ""

    def line(self, key: bytes) -> str:
        """What a call is named by in this batch: no other batch has a line of that name."""
        # A call may be asked again in another batch: its key alone would name two lines.
        return f"{key.hex()}-{self.name.rpartition('-')[2]}"


def intend(connection: sqlite3.Connection, model: str, calls: Sequence[Call]) -> Batch:
    """Write down that these calls are about to be submitted, on the disk when this returns."""
    # By chance: two machines may share an account with their provider.
    name, now = f"voirdire-{secrets.token_hex(6)}", time.time()
    writer = RowWriter(connection)
    with transaction(connection):
        number = connection.execute(_INTENT, (name, model, now, len(calls))).fetchone()[0]
        for call in calls:
            writer.call(call)
        lines = ((number, call.key) for call in calls)
        connection.executemany("INSERT INTO batch_lines VALUES (?, ?)", lines)
    return Batch(number, name, model, now, "", "intended", len(calls))


def set_status(
    connection: sqlite3.Connection, batch: Batch, status: str, *, number: str = "", detail: str = ""
) -> None:
    """Note what became of a batch."""
    sql = """UPDATE batches SET status = ?, provider_id = coalesce(?, provider_id), detail = ?
             WHERE id = ?"""
    with transaction(connection):
        connection.execute(sql, (status, number or None, detail or None, batch.id))


def open_batches(connection: sqlite3.Connection) -> list[Batch]:
    """Those whose results are not kept yet."""
    return [_batch(row) for row in connection.execute(_OPEN)]


def all_batches(connection: sqlite3.Connection) -> list[Batch]:
    """Every batch of the session, in the order in which they were made."""
    return [_batch(row) for row in connection.execute(_ALL)]


def _batch(row: Sequence[Any]) -> Batch:
    number, name, model, at, provider_id, status, lines, detail = row
    return Batch(number, name, model, at, provider_id or "", status, lines, detail or "")


def was_tried(connection: sqlite3.Connection, key: bytes) -> bool:
    """Whether a call has been a line of a batch: what came to nothing there is asked live."""
    return connection.execute(_TRIED, (key,)).fetchone() is not None


def lines_of(connection: sqlite3.Connection, batch: Batch) -> dict[str, Request]:
    """The lines of a batch by their names, in order, each with its parameters and no messages."""
    return {
        batch.line(key): request_of((), params)
        for key, params in connection.execute(_LINES, (batch.id,))
    }


def keep_results(
    connection: sqlite3.Connection,
    batch: Batch,
    outcomes: Iterable[tuple[str, Reply | ModelError]],
    detail: str,
) -> int:
    """Keep what came of a batch's lines, each once, and mark it as ended; how many came.

    A line that comes twice was asked once; one that does not come has no attempt, and is open.
    """
    writer, kept, now = RowWriter(connection), 0, time.time()
    with transaction(connection):
        rows = connection.execute(_ANSWERED, (batch.id,)).fetchall()
        calls = {batch.line(key): number for key, number, there in rows if not there}
        for line, outcome in outcomes:
            number = calls.pop(line, None)
            if number is not None:
                writer.answered(number, now, outcome, batch.id)
                kept += 1
        set_status(connection, batch, "ended", detail=detail)
    return kept
