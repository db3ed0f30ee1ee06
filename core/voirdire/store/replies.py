"""Replies read back in order, and as one frame."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from voirdire.schema import Reply
from voirdire.store._schema import unpack
from voirdire.store.records import REPLY_COLUMNS, message_of, model_in_role, parts_of, reply_of
from voirdire.store.session import read_session, usable
from voirdire.units import parted, unit_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from voirdire.schema import Message
    from voirdire.store.records import RaterId

PAGE = 20_000
# LEFT JOINs: a task without a rater's call, and a call without a final reply, are rows as well.
_FINAL = f"""SELECT e.position, e.item, e.first, e.second, c.run,
c.messages != '[]', c.status, c.role, e.unit, {REPLY_COLUMNS}, k.json FROM expected e
LEFT JOIN tasks t ON (t.item, t.first, t.second, t.unit) = (e.item, e.first, e.second, e.unit)
LEFT JOIN calls c ON c.rater = ? AND c.task = t.id AND c.current = 1 AND c.run <= ?
LEFT JOIN parsed k ON k.key = c.key AND c.step = 0
LEFT JOIN attempts a ON a.id = c.final ORDER BY e.position, c.run, c.step"""  # noqa: S608
# Notes and calls of tools are put into lines by SQLite: in Python each row would parse its JSON.
_ALL = r"""SELECT iif(t.unit = '', t.item, t.item || ' ' || t.unit), t.first, t.second,
r.stage, r.name, r.model, c.role, c.run, c.step,
c.status, c.current, a.id = c.final, a.at, a.text, a.finish, a.error, a.message, a.input,
a.output, a.cached, a.reasoning, a.written, a.latency, a.provider_id, a.model, p.json,
(SELECT group_concat(trim(json_extract(n.value, '$[0]') || ' ' || json_extract(n.value, '$[1]'))
|| ': ' || json_extract(n.value, '$[2]'), '; ') FROM json_each(a.extra, '$.notes') n),
(SELECT group_concat(replace(json_extract(k.value, '$[1]') || ' ' || json_extract(k.value, '$[2]'),
char(10), '\n'), char(10)) FROM json_each(a.extra, '$.tool_calls') k),
json_extract(a.extra, '$.inner'), a.parts, a.ended, a.candidate
FROM attempts a JOIN calls c ON c.id = a.call JOIN tasks t ON t.id = c.task
JOIN raters r ON r.id = c.rater LEFT JOIN params p ON p.id = a.params ORDER BY a.id"""
# A generator may bear the name of a rater, and is not meant here.
_SHOWN = """SELECT c.step, c.messages, a.extra FROM calls c JOIN tasks t ON t.id = c.task
LEFT JOIN attempts a ON a.id = c.final JOIN raters r ON r.id = c.rater
WHERE c.current = 1 AND r.stage != 'generate'
AND (r.name, t.item, t.unit, t.first, c.run) = (?, ?, ?, ?, ?) ORDER BY c.step"""
_TEXT = "SELECT body FROM texts WHERE id = ?"
REPLIES = {
    "item": pl.String, "first": pl.String, "second": pl.String, "stage": pl.String,
    "rater": pl.String, "model": pl.String, "role": pl.String, "run": pl.Int64, "step": pl.Int64,
    "status": pl.String, "current": pl.Int64, "final": pl.Int64, "at": pl.Float64,
    "text": pl.String, "finish_reason": pl.String, "error": pl.String, "message": pl.String,
    "input": pl.Int64, "output": pl.Int64, "cached": pl.Int64, "reasoning": pl.Int64,
    "written": pl.Int64, "latency": pl.Float64, "provider_id": pl.String, "answered_by": pl.String,
    "params": pl.String, "notes": pl.String, "calls": pl.String,
    "inner": pl.String, "parts": pl.String, "ended_by": pl.String, "candidate": pl.Int64,
}  # fmt: skip


class Answered(NamedTuple):
    """One task in one run with its final replies, in the order of its steps.

    `replies` is None where it was not asked, and empty where there was nothing to ask; `status` is
    what was read when it was finished, None where it is not. `roles` are those of the replies.
    `said` is what they said (`said.read_said`) where their texts were forgotten, else None. `unit`
    is the key of the turn that was asked about, empty for a whole.
    """

    item: str
    first: str
    second: str
    run: int
    replies: list[Reply] | None
    status: str | None = None
    roles: tuple[str, ...] = ()
    said: str | None = None
    unit: str = ""

    @property
    def name(self) -> str:
        """The unit as tables name it: the item, and behind it which turn."""
        return unit_of(self.unit).of(self.item)


def answered(connection: sqlite3.Connection, rater_id: RaterId, runs: int) -> Iterator[Answered]:
    """Every expected task in every run, with its final replies.

    The tasks are those of the temporary table `expected`, in its order. A call without a final
    reply gives one whose finish reason is ``"error"``.
    """
    number = rater_number(connection, rater_id)
    rows = connection.execute(_FINAL, (-1 if number is None else number, runs))
    # By the position and not by the names: rows come in its order, and a page is all that is held.
    for _, group in groupby(rows, key=itemgetter(0)):
        by_run: dict[int, list[Reply]] = {}
        roles: dict[int, list[str]] = {}
        statuses: dict[int, str | None] = {}
        said: dict[int, str] = {}
        for row in group:
            if row[4] is not None:
                replies = by_run.setdefault(row[4], [])
                statuses[row[4]] = row[6]
                if row[-1] is not None:
                    said[row[4]] = row[-1]
                if row[5]:
                    replies.append(_reply(row))
                    roles.setdefault(row[4], []).append(row[7])
        # Counted out: a run that was never asked has no row.
        for run in range(1, runs + 1):
            in_role = tuple(roles.get(run, ()))
            yield Answered(
                row[1],
                row[2],
                row[3],
                run,
                by_run.get(run),
                statuses.get(run),
                in_role,
                said.get(run),
                row[8],
            )


def _reply(row: Sequence[Any]) -> Reply:
    return Reply("", "error", error="no reply") if row[10] is None else reply_of(row[9:-1])


def rater_number(connection: sqlite3.Connection, rater_id: RaterId) -> int | None:
    """The row of a rater; None where it has not asked yet."""
    sql = "SELECT id FROM raters WHERE (stage, name, model, prompt) = (?, ?, ?, ?)"
    place = (rater_id.stage, rater_id.name, rater_id.model, rater_id.prompt)
    row = connection.execute(sql, place).fetchone()
    return None if row is None else int(row[0])


def replies_frame(folder: str | Path) -> pl.DataFrame:
    """Every attempt of a session as it came, one row each, in the order in which they came.

    Returns
    -------
    polars.DataFrame
        What was asked about (item, first, second), by whom (stage, rater, run, step), of which
        model, in which role (empty where its rater asks one model), and what came: text,
        finish_reason or error with its message, tokens (null: not said), latency in seconds,
        provider_id, answered_by (the model the provider named), the parameters sent, notes
        (such as a parameter that was dropped), calls of tools, a line each, and `inner`, the
        messages between question and answer as JSON (role, text, calls), where a chain gave them.
        `final` is 1 on the attempt that counts for its call, `current` is 0 where the prompt has
        changed since.
    """
    with usable(folder), closing(read_session(folder)) as connection:
        cursor = connection.execute(_ALL)
        pages = [pl.DataFrame(schema=REPLIES)]
        while rows := cursor.fetchmany(PAGE):
            pages.append(_page(rows))
        return pl.concat(pages)


class Shown(NamedTuple):
    """One message that a rater was sent: in which step, in which role, of which tool.

    Behind them stand the messages between question and answer, where a chain or graph gave them;
    their role begins with "then".
    """

    step: int
    role: str
    text: str
    tool: str = ""


def shown_messages(
    folder: str | Path, rater: str, item: str, system: str, run: int
) -> tuple[Shown, ...]:
    """What a rater was sent about one response (`system` empty: an item) in one run, in order.

    `item` may name a turn of it, as tables do.
    """
    with usable(folder), closing(read_session(folder)) as connection:
        calls = connection.execute(_SHOWN, (rater, item, "", system, run)).fetchall()
        if not calls:
            whole, unit = parted(item)
            calls = connection.execute(_SHOWN, (rater, whole, unit.key, system, run)).fetchall()

        return tuple(
            one
            for step, messages, extra in calls
            for one in (
                *(_shown(step, message) for message in messages_of(connection, messages)),
                *(
                    _shown(step, message_of(*parts), "then ")
                    for parts in json.loads(extra or "{}").get("inner", ())
                ),
            )
        )


def messages_of(connection: sqlite3.Connection, messages: str) -> list[Message]:
    """The messages of a call, as `calls.messages` names them."""

    def text(number: int) -> str:
        return readable(unpack(connection.execute(_TEXT, (number,)).fetchone()[0]))

    return [message_of(role, *map(text, numbers)) for role, *numbers in json.loads(messages)]


def _shown(step: int, message: Message, when: str = "") -> Shown:
    """A message with the calls that it makes as lines behind its text."""
    made = [f"calls {call.name} {call.arguments}" for call in message.calls]
    lines = "\n".join([*filter(None, [message.content]), *made])
    return Shown(step, when + message.role, readable(lines), message.name)


def _page(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    columns = dict(zip(REPLIES, map(list, zip(*rows, strict=True)), strict=True))
    columns["model"] = list(map(model_in_role, columns["model"], columns["role"]))
    texts = columns["text"]
    columns["text"] = [None if text is None else readable(unpack(text)) for text in texts]
    columns["parts"] = [
        _shown_parts(parts, text) if parts else None
        for parts, text in zip(columns["parts"], texts, strict=True)
    ]
    return pl.DataFrame(columns, schema=REPLIES)


def _shown_parts(parts: str | bytes, text: str | bytes | None) -> str:
    """All parts of a reply as a JSON list of objects; what is empty is left out."""
    shown = [
        {name: readable(value) for name, value in asdict(part).items() if value}
        for part in parts_of(unpack(parts), unpack(text))
    ]
    return json.dumps(shown, ensure_ascii=False)


def readable(text: str) -> str:
    """The text as valid Unicode: a lone surrogate becomes the replacement character."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Through UTF-16, where two halves that stand side by side become the sign that they are.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
