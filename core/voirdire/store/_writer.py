"""The one writer of a session: a thread that commits replies in small groups."""

from __future__ import annotations

import hashlib
import json
import math
import queue
import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from voirdire.errors import ModelError, SessionError
from voirdire.schema import Request, Usage
from voirdire.secrets import Hider, environment_keys, scrub
from voirdire.store._schema import PRAGMAS, content_hash, pack
from voirdire.store.records import (
    Attempt,
    Finish,
    Revival,
    calls_json,
    dumps,
    make_call,
    parts_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from voirdire.errors import Billed
    from voirdire.schema import Message, Reply
    from voirdire.store.records import Call, RaterId, Slot


Record = Attempt | Finish | Revival
#: Records of one commit at most.
GROUP = 1024
#: Seconds in which a group gathers, and seconds between two commits of fewer records than `FEW`: a
#: commit writes whole pages, so that few large ones take half the time of many small ones. What
#: waits is lost where the process is killed, and was paid for: so a reply that comes alone waits
#: for its own end only, and four of them for no fifth.
SETTLE, GATHER, FEW = 0.02, 0.1, 8

# A call that is on file becomes its slot's again. RETURNING gives the row in either case.
_CALL = """INSERT INTO calls (key, rater, task, run, step, messages, params, role, current)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (key) DO UPDATE SET current = 1 RETURNING id"""
# Of a slot one call is current (a unique index): the older prompt's makes way first.
_SUPERSEDE = """UPDATE calls SET current = 0 WHERE rater = ? AND task = ? AND run = ? AND step = ?
AND current = 1 AND key != ?"""
_ATTEMPT = f"""INSERT INTO attempts (call, at, text, finish, error, message, input, output, cached,
reasoning, written, latency, provider_id, model, params, extra, parts, ended, candidate, hash,
batch) VALUES ({", ".join("?" * 21)})"""  # noqa: S608
# The last reply, by the order of attempts: an earlier one was bad and asked again.
_FINISH = """UPDATE calls SET status = ?, final = (SELECT max(id) FROM attempts
WHERE call = calls.id AND finish IS NOT NULL) WHERE key = ?"""
_FINISH_AT = "UPDATE calls SET status = ?, final = ? WHERE id = ?"
_FAIL = "UPDATE calls SET status = ?, final = NULL WHERE key = ?"
_CUT = "UPDATE calls SET cut = 1 WHERE key = ?"
# Steps that an earlier prompt took beyond those of this one belong to no answer any more.
_TRIM = """UPDATE calls SET current = 0 WHERE current = 1 AND step >= ?
AND (rater, task, run) = (SELECT rater, task, run FROM calls WHERE key = ?)"""


#: json.dumps would make an encoder at every call.
_LIST = json.JSONEncoder()


class Writer:
    """Takes records from any thread, commits them, and says after each commit which they were.

    `committed` is called in the writer's own thread with the records of each commit, and with none
    when writing has failed. `given` counts the records handed over so far. A session that held no
    calls before is `fresh`: no earlier prompt has left steps in it.
    """

    def __init__(
        self, path: Path, committed: Callable[[Sequence[Record]], None], *, fresh: bool = False
    ) -> None:
        # Without a bound, so that `put` never blocks the loop's thread.
        self._queue: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
        self._hurried = threading.Event()
        #: Whether few records wait for more; and when the last commit was.
        self._patient, self._last = False, -math.inf
        self._fresh = fresh
        self._committed = committed
        self.given = 0
        self._failure: BaseException | None = None
        self._path = path
        # A daemon: a disk that hangs must not keep a process alive that has given up.
        self._thread = threading.Thread(target=self._work, name="voirdire-writer", daemon=True)
        self._thread.start()

    def put(self, record: Record) -> None:
        """Hand over a record; it counts as done when `committed` names it."""
        self.check()
        self.given += 1
        self._queue.put(record)
        # The writer holds the first of them.
        if self._patient and self._queue.qsize() >= FEW - 1:
            self.hurry()

    def hurry(self) -> None:
        """Commit what is there: somebody waits for it."""
        # Setting it takes a lock, and hundreds of tasks may ask for it between two commits.
        if not self._hurried.is_set():
            self._hurried.set()

    def check(self) -> None:
        """Raise if writing has failed (a full disk, a folder that was removed)."""
        if self._failure is not None:
            raise SessionError(
                f"{self._path}: cannot be written: {self._failure}; every reply before is kept, so "
                "go on with --resume once the cause is gone"
            )

    def close(self) -> None:
        """Write what waits, and end."""
        self._queue.put(None)
        self.hurry()
        self._thread.join()
        self.check()

    def _work(self) -> None:
        try:
            with closing(connect(self._path)) as connection:
                rows = RowWriter(connection, fresh=self._fresh)
                while group := self._group():
                    self._commit(connection, rows, group)
        except Exception as error:  # noqa: BLE001 - raised again in the runner's thread by check()
            # Then none is committed any more, and who waits must learn of it:
            # else the run would hang.
            self._failure = error
            self._committed([])

    def _commit(self, connection: sqlite3.Connection, rows: RowWriter, group: list[Record]) -> None:
        # One transaction a group: each ends in a sync of the disk, and writes whole pages.
        connection.execute("BEGIN")
        for record in group:
            rows.write(record)
        connection.execute("COMMIT")
        self._last = time.monotonic()
        # Behind COMMIT: who counts these as kept may rely on it.
        self._committed(group)

    def _group(self) -> list[Record]:
        """The records of the next commit; none when the writer is to end."""
        group: list[Record] = []
        record = self._queue.get()
        if record is not None:
            # Each wait ends early when somebody waits for the commit.
            hurried = self._hurried.wait(SETTLE)
            left = self._last + GATHER - time.monotonic()
            if not hurried and left > 0 and self._queue.qsize() < FEW - 1:
                self._patient = True
                self._hurried.wait(left)
                self._patient = False
            self._hurried.clear()
        while record is not None:
            group.append(record)
            if len(group) >= GROUP or self._queue.empty():
                return group
            record = self._queue.get()
        if group:
            self._queue.put(None)  # the end was met behind a group: meet it again after it
        return group


class RowWriter:
    """Writes records into one open transaction."""

    def __init__(self, connection: sqlite3.Connection, *, fresh: bool = False) -> None:
        self._connection, self._interned = connection, Interned(connection)
        self._fresh = fresh
        self._sent: dict[str, int] = {}
        #: By key, of calls that are answered and not finished yet: its row and its last reply's.
        self._answered: dict[bytes, tuple[int, int | None]] = {}
        self._hide = Hider(environment_keys().values())

    def write(self, record: Record) -> None:
        if isinstance(record, Attempt):
            self._attempt(record)
        elif isinstance(record, Revival):
            self.call(record.call)
        else:
            self._finish(record)

    def _attempt(self, attempt: Attempt) -> None:
        number = self.call(attempt.call)
        if attempt.reply:
            outcome = self._reply(attempt.reply)
        else:
            outcome = _fault(attempt.error, attempt.message, attempt.billed, attempt.latency)
        made = self._connection.execute(_ATTEMPT, (number, attempt.at, *outcome, None))
        if attempt.reply:
            self._answered[attempt.call.key] = number, made.lastrowid

    def answered(self, number: int, at: float, outcome: Reply | ModelError, batch: int) -> None:
        """What came of a call, by its row, in a batch."""
        if isinstance(outcome, ModelError):
            columns = _fault(outcome.kind, str(outcome), outcome.billed, 0.0)
        else:
            columns = self._reply(outcome)
        self._connection.execute(_ATTEMPT, (number, at, *columns, batch))

    def call(self, call: Call) -> int:
        """The row of a call, which is its slot's from now on."""
        slot, interned = call.slot, self._interned
        place = (interned.rater_id(slot.rater), interned.task(slot), slot.run, slot.step)
        messages = _LIST.encode([self._message(message) for message in call.request.messages])
        row = (call.key, *place, messages, interned.params(call.params), call.request.role)
        try:
            returned = self._connection.execute(_CALL, row)
        # Put right only where it fails: looking first would be one statement more for each call.
        except sqlite3.IntegrityError:  # another prompt has made the call of this slot
            self._connection.execute(_SUPERSEDE, (*place, call.key))
            returned = self._connection.execute(_CALL, row)
        return int(returned.fetchone()[0])

    def _message(self, message: Message) -> list[Any]:
        """Role and row of the text; behind them the row of its calls, where there are any."""
        row = [message.role, self._interned.text(message.content)]
        # Interned as a text: a conversation repeats the same calls at each of its steps.
        if calls := calls_json(message):
            row.append(self._interned.text(calls))
        return row

    def _reply(self, reply: Reply) -> tuple[Any, ...]:
        usage, text = reply.usage, self._hide(reply.text)
        sent = self._sent_with(reply.params) if reply.params else None
        # A reply is its text alone, nearly always.
        parts = self._hide(parts_json(reply.parts, reply.text)) if reply.parts else ""
        return (
            pack(text),
            reply.finish_reason,
            None,
            scrub(reply.error) if reply.error else None,
            usage.input,
            usage.output,
            usage.cached,
            usage.reasoning,
            usage.written,
            reply.latency,
            reply.provider_id,
            reply.model,
            sent,
            self._extra(reply),
            pack(parts) if parts else None,
            reply.ended_by or None,
            reply.candidate or None,
            content_hash(text, parts),
        )

    def _extra(self, reply: Reply) -> str | None:
        """Notes, log-probabilities, calls of tools and inner messages, where there are any."""
        extra: dict[str, Any] = {}
        if reply.notes:
            extra["notes"] = [
                [scrub(note.kind), scrub(note.about), scrub(note.detail)] for note in reply.notes
            ]
        if reply.option_logprobs:
            extra["option_logprobs"] = dict(reply.option_logprobs)
        if reply.tool_calls:
            extra["tool_calls"] = [
                [call.id, call.name, self._hide(call.arguments), call.signature]
                for call in reply.tool_calls
            ]
        if reply.thoughts:  # as they came, but for keys: a provider checks the signatures in them
            extra["thoughts"] = json.loads(self._hide(dumps(reply.thoughts)))
        if reply.inner:
            extra["inner"] = [
                [one.role, self._hide(one.content), self._hide(calls_json(one))]
                for one in reply.inner
            ]
        return dumps(extra) if extra else None

    def _sent_with(self, params: Mapping[str, Any]) -> int:
        """The row of the parameters sent; to write the same ones again, and to look for keys in
        them, would be slow. By their repr, since 0 and 0.0 are equal and are written otherwise.
        """
        key = repr(params)
        number = self._sent.get(key)
        if number is None:
            if len(self._sent) > AT_HAND:
                self._sent.clear()
            number = self._sent[key] = self._interned.params(scrub(dumps(dict(params))))
        return number

    def _finish(self, finish: Finish) -> None:
        for key in finish.keys:
            answered = self._answered.pop(key, None)
            if key in finish.failed or answered is None:  # an earlier run may have answered it
                sql = _FAIL if key in finish.failed else _FINISH
                self._connection.execute(sql, (finish.status, key))
            else:
                number, reply = answered
                self._connection.execute(_FINISH_AT, (finish.status, reply, number))
        if finish.cut:
            self._connection.execute(_CUT, (finish.keys[0],))
        # A session that is new has no older prompts: the statement would find nothing each time.
        if finish.keys and not self._fresh:
            self._connection.execute(_TRIM, (len(finish.keys), finish.keys[0]))
        # A task that asks nothing has a call without messages, or it would be open for ever.
        elif not finish.keys and finish.slot is not None:
            nothing = make_call(finish.slot, Request(()))
            self.call(nothing)
            self._connection.execute(_FAIL, (finish.status, nothing.key))
            self._connection.execute(_TRIM, (1, nothing.key))


def _fault(
    kind: str, message: str, billed: Usage | Billed | None, latency: float
) -> tuple[Any, ...]:
    """The columns of an attempt that brought no reply, from `text` to `hash`."""
    usage = billed or Usage()
    return (
        None,
        None,
        kind,
        scrub(message),
        usage.input,
        usage.output,
        usage.cached,
        usage.reasoning,
        getattr(usage, "written", None),
        latency,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
    )


def connect(path: Path) -> sqlite3.Connection:
    """A connection that writes: WAL, every commit on the disk, transactions by hand."""
    # Python's own transactions begin where they like: here each BEGIN is written out.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        for pragma in PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection


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

    def rater_id(self, rater_id: RaterId) -> int:
        """The row of a rater or generator."""
        return self._known.get(rater_id) or self._row(
            "raters",
            "stage, name, model, prompt",
            rater_id,
            (rater_id.stage, rater_id.name, rater_id.model, rater_id.prompt),
        )

    def task(self, slot: Slot) -> int:
        """The row of what is rated."""
        key = (slot.item, slot.first, slot.second, slot.unit)
        return self._known.get(key) or self._row("tasks", "item, first, second, unit", key, key)

    def _hashed(self, table: str, column: str, key: Any, stored: str | bytes) -> int:
        text = key if isinstance(key, str) else key[1]
        raw = text.encode("utf-8", "surrogatepass")
        # 16 bytes: two texts of 10^12 share one with a chance of 10^-15.
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        sql = f"INSERT INTO {table} (hash, {column}) VALUES (?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
        # Tried before it is looked for: most texts are new, such as each item's.
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
        # A dict keeps the order of insertion: its first half is the oldest.
        if len(self._known) >= AT_HAND:
            for old in list(self._known)[: AT_HAND // 2]:
                del self._known[old]
        self._known[key] = number
        return number
