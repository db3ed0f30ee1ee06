"""How far a rater is and what it has used, by what the store holds."""

from __future__ import annotations

import json
import operator
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from voirdire.store._schema import unpack
from voirdire.store.records import model_in_role
from voirdire.store.replies import rater_number
from voirdire.store.session import read_session
from voirdire.store.tasks import expect

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from voirdire.schema import Usage
    from voirdire.store.raters import Participant
    from voirdire.store.records import RaterId
    from voirdire.study import Comparisons, Prices

# Step 0 stands for its task: its status is that of the whole. Of a task that failed the last fault
# of any of its steps says why. CROSS JOIN, in SQLite, is an order: newer versions would read the
# calls first and look through all that is expected for each.
_FINISHED = """SELECT c.status, CASE WHEN c.status = 'failed' THEN (
    SELECT a.error FROM calls o JOIN attempts a ON a.call = o.id
    WHERE (o.rater, o.task, o.run, o.current) = (c.rater, c.task, c.run, 1) AND o.final IS NULL
    ORDER BY a.id DESC LIMIT 1) END, count(*)
FROM expected e
CROSS JOIN tasks t ON (t.item, t.first, t.second, t.unit) = (e.item, e.first, e.second, e.unit)
CROSS JOIN calls c ON c.rater = ? AND c.task = t.id AND c.current = 1 AND c.step = 0
WHERE c.run <= ? AND c.status IS NOT NULL GROUP BY 1, 2"""
# A reply with one count missing is blind and enters no sum: half of it would look like a cheap
# reply. `total` gives 0 and not NULL where there is nothing.
_SUMS = """count(*), total(a.finish IS NOT NULL AND (a.input IS NULL OR a.output IS NULL)),
total(CASE WHEN a.output IS NOT NULL THEN a.input END),
total(CASE WHEN a.input IS NOT NULL THEN a.output END),
total(CASE WHEN a.output IS NOT NULL THEN min(a.cached, a.input) END),
total(CASE WHEN a.output IS NOT NULL THEN min(a.written, a.input) END),
total(CASE WHEN a.batch IS NOT NULL AND a.output IS NOT NULL THEN a.input END),
total(CASE WHEN a.batch IS NOT NULL AND a.input IS NOT NULL THEN a.output END),
total(CASE WHEN a.batch IS NOT NULL AND a.output IS NOT NULL THEN min(a.cached, a.input) END),
total(CASE WHEN a.batch IS NOT NULL AND a.output IS NOT NULL THEN min(a.written, a.input) END)
FROM attempts a JOIN calls c ON c.id = a.call JOIN raters r ON r.id = c.rater"""
_SPENT = f"SELECT c.role, {_SUMS} WHERE (r.stage, r.name, r.model) = (?, ?, ?) GROUP BY c.role"
_SPENT_BY_NAME = f"SELECT c.role, {_SUMS} WHERE (r.stage, r.name) = (?, ?) GROUP BY c.role"
_BEGUN = """SELECT count(*) FROM calls c JOIN raters r ON r.id = c.rater
WHERE (r.stage, r.name) = (?, ?) AND c.current = 1 AND c.step = 0"""
_FILED = """SELECT c.status, CASE WHEN c.status = 'failed' THEN (
    SELECT a.error FROM calls o JOIN attempts a ON a.call = o.id
    WHERE (o.rater, o.task, o.run, o.current) = (c.rater, c.task, c.run, 1) AND o.final IS NULL
    ORDER BY a.id DESC LIMIT 1) END, count(*)
FROM calls c JOIN raters r ON r.id = c.rater
WHERE (r.stage, r.name) = (?, ?) AND c.current = 1 AND c.step = 0 AND c.status IS NOT NULL
GROUP BY 1, 2"""
# In the order of their last attempts, so that the last model of a name is the one it has now.
_BY_RATER = f"""SELECT r.name, r.model, c.role, {_SUMS}
WHERE r.stage != 'generate' GROUP BY r.name, r.model, c.role ORDER BY max(a.id)"""
_BY_MODEL = f"SELECT r.model, c.role, {_SUMS} GROUP BY r.model, c.role"
_KEPT = """SELECT r.stage, r.name, count(*) FROM calls c JOIN raters r ON r.id = c.rater
WHERE c.current = 1 AND c.step = 0 AND c.final IS NOT NULL GROUP BY 1, 2"""
# DISTINCT, since a task of several runs joins to several calls; what is through is taken off.
_OPEN = """SELECT e.item, count(DISTINCT e.position) * ? - total({0}) FROM expected e
LEFT JOIN tasks t ON (t.item, t.first, t.second, t.unit) = (e.item, e.first, e.second, e.unit)
LEFT JOIN calls c ON c.rater = ? AND c.task = t.id AND c.current = 1 AND c.step = 0 AND c.run <= ?
GROUP BY e.item ORDER BY min(e.position)"""
_LAST = """SELECT c.rater FROM attempts a JOIN calls c ON c.id = a.call
JOIN raters r ON r.id = c.rater WHERE (r.stage, r.name) = (?, ?) ORDER BY a.id DESC LIMIT 1"""
# Tasks whose current reply is another prompt's or model's of the same name, unless this one has a
# reply of its own there, as after an edit that was undone.
_OTHER = """SELECT count(DISTINCT c.task || ' ' || c.run) FROM expected e
CROSS JOIN tasks t ON (t.item, t.first, t.second, t.unit) = (e.item, e.first, e.second, e.unit)
CROSS JOIN raters r ON (r.stage, r.name) = (?, ?) AND r.id != ?
CROSS JOIN calls c ON c.rater = r.id AND c.task = t.id AND c.current = 1 AND c.step = 0
AND c.final IS NOT NULL AND c.run <= ?
WHERE (c.task, c.run) NOT IN (
    SELECT n.task, n.run FROM calls n WHERE n.rater = ? AND n.step = 0 AND n.final IS NOT NULL)"""
_BLIND = """SELECT c.messages, a.text FROM attempts a JOIN calls c ON c.id = a.call
JOIN raters r ON r.id = c.rater
WHERE (r.model, c.role) = (?, ?) AND a.finish IS NOT NULL
AND (a.input IS NULL OR a.output IS NULL)"""
_ASKED = "SELECT DISTINCT r.model, c.role FROM calls c JOIN raters r ON r.id = c.rater"


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """Tasks of one rater: how many, the finished by status, those asked in vain by fault."""

    tasks: int
    statuses: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Spent:
    """What all attempts of one rater (or model) used, edited prompts included.

    `blind` counts replies whose tokens the provider did not say; they are in no sum. The last four
    are the part of the tokens that came in batches, which have a price of their own.
    """

    calls: int = 0
    blind: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    batch_input: int = 0
    batch_output: int = 0
    batch_cached: int = 0
    batch_written: int = 0

    def __add__(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(*map(operator.add, _fields(self), _fields(other)))

    def with_call(self, usage: Usage | None) -> Spent:
        """These and one call more, with the tokens that it used, if any."""
        calls, blind, given, out, cached, written, *batches = _fields(self)
        if usage is not None:
            if usage.input is None or usage.output is None:
                blind += 1
            else:
                given, out = given + usage.input, out + usage.output
                cached += min(usage.cached or 0, usage.input)
                written += min(usage.written or 0, usage.input)
        return Spent(calls + 1, blind, given, out, cached, written, *batches)

    def cost(self, prices: Prices) -> float:
        """What the tokens cost, those of batches at their share of the price."""
        whole = prices.cost(self.input, self.output, self.cached, self.written)
        batched = prices.cost(
            self.batch_input, self.batch_output, self.batch_cached, self.batch_written
        )
        # The sums hold all tokens: the discount on those of batches is taken off.
        return whole - (1 - prices.batch) * batched


#: `astuple` would look into each number for more; this is asked at every call of a run.
_fields = operator.attrgetter(*(one.name for one in fields(Spent)))


def count_finished(
    connection: sqlite3.Connection, participant: Participant, comparisons: Comparisons
) -> TaskCounts:
    """How far a participant is with what is expected of it."""
    expect(connection, participant.task, comparisons, participant.judged)
    tasks = connection.execute("SELECT count(*) FROM expected").fetchone()[0] * participant.runs
    counts = TaskCounts(tasks)
    number = rater_number(connection, participant.id)
    for status, fault, count in connection.execute(_FINISHED, (number or -1, participant.runs)):
        if status == "failed":
            counts.faults[fault or "unknown"] += count
        else:
            counts.statuses[status] += count
    return counts


def count_on_file(
    connection: sqlite3.Connection, stage: str, name: str
) -> tuple[TaskCounts, dict[str, Spent]]:
    """What is on file of a rater that cannot be made here: its tasks are those that were begun."""
    counts = TaskCounts(connection.execute(_BEGUN, (stage, name)).fetchone()[0])
    for status, fault, count in connection.execute(_FILED, (stage, name)):
        if status == "failed":
            counts.faults[fault or "unknown"] += count
        else:
            counts.statuses[status] += count
    rows = connection.execute(_SPENT_BY_NAME, (stage, name))
    return counts, {role: Spent(*map(int, each)) for role, *each in rows}


def open_items(
    connection: sqlite3.Connection,
    participant: Participant,
    comparisons: Comparisons,
    *,
    failed: bool,
) -> dict[str, int]:
    """Item -> tasks about it that are not settled, in order; `failed` ones count as open or not."""
    expect(connection, participant.task, comparisons, participant.judged)
    number = rater_number(connection, participant.id) or -1
    through = "c.status IS NOT NULL AND (c.status != 'failed' OR ?)"
    rows = connection.execute(
        _OPEN.format(through), (participant.runs, not failed, number, participant.runs)
    )
    return {item: count for item, count in rows if count > 0}


@dataclass(frozen=True, slots=True)
class Replies:
    """Finished tasks by stage and name of their rater, as they stood at one moment.

    `of` looks before a study's texts are taken in, since an edited text sets its replies aside.
    """

    counts: dict[tuple[str, str], int]

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> Replies:
        """Those of a session as it is."""
        return cls({(stage, name): n for stage, name, n in connection.execute(_KEPT)})

    def unfit(
        self,
        connection: sqlite3.Connection,
        participants: Iterable[Participant],
        comparisons: Comparisons,
    ) -> dict[str, int]:
        """Rater -> tasks that were finished and would be asked again, of those who are to ask."""
        now = Replies.of(connection).counts
        unfit_by_rater = {}
        for participant in participants:
            place = participant.id.stage, participant.id.name
            texts = self.counts.get(place, 0) - now.get(place, 0)
            unfit = max(texts, 0) + _by_another(connection, participant, comparisons)
            if unfit:
                unfit_by_rater[participant.id.name] = unfit
        return unfit_by_rater


def _by_another(
    connection: sqlite3.Connection, participant: Participant, comparisons: Comparisons
) -> int:
    """Tasks finished under another model or prompt of the same name, and not under this one.

    Where this one has asked last, someone has agreed to asking again before.
    """
    place = participant.id.stage, participant.id.name
    number = rater_number(connection, participant.id) or -1
    last = connection.execute(_LAST, place).fetchone()
    # Where it has asked last, somebody has agreed to asking again: the question is not put twice.
    if last is None or last[0] == number:
        return 0
    expect(connection, participant.task, comparisons, participant.judged)
    return int(connection.execute(_OTHER, (*place, number, participant.runs, number)).fetchone()[0])


def spent_by_model(connection: sqlite3.Connection) -> list[tuple[str, Spent]]:
    """Attempts and tokens of each model (with its options), whoever asked it."""
    return list(_by_model(connection.execute(_BY_MODEL)).items())


def _by_model(rows: Iterable[tuple[Any, ...]]) -> dict[str, Spent]:
    """Rows of a rater's models, a role and counts, added up by the model that has the role."""
    spent: dict[str, Spent] = {}
    for identity, role, *counts in rows:
        model = model_in_role(identity, role)
        spent[model] = spent.get(model, Spent()) + Spent(*map(int, counts))
    return spent


def spent_by_rater(folder: str | Path) -> dict[str, dict[str, Spent]]:
    """What each rater of a session used, under the models that it asked last.

    Returns
    -------
    dict
        Rater -> each of its models, with its options -> what all attempts used.
    """
    with closing(read_session(folder)) as connection:
        rows = connection.execute(_BY_RATER).fetchall()
    last = {name: identity for name, identity, *_ in rows}
    return {
        name: _by_model(row[1:] for row in rows if row[:2] == (name, identity))
        for name, identity in last.items()
    }


def has_steps(folder: str | Path) -> bool:
    """Whether any rater of a session has taken more than one step."""
    sql = "SELECT 1 FROM calls WHERE step > 0 AND current = 1 LIMIT 1"
    with closing(read_session(folder)) as connection:
        return connection.execute(sql).fetchone() is not None


def blind_characters(connection: sqlite3.Connection, model: str) -> Iterator[tuple[int, int]]:
    """Characters asked and answered of each reply of a model that came without its tokens."""
    sql = "SELECT body FROM texts WHERE id = ?"

    # Few texts, such as a system prompt, stand in all calls: each is unpacked once.
    @cache
    def length(number: int) -> int:
        return len(unpack(connection.execute(sql, (number,)).fetchone()[0]))

    for place in connection.execute(_ASKED).fetchall():
        if model_in_role(*place) == model:
            for messages, text in connection.execute(_BLIND, place):
                asked = sum(length(row) for _, *rows in json.loads(messages) for row in rows)
                yield asked, len(unpack(text))


def count_spent(connection: sqlite3.Connection, rater_id: RaterId) -> dict[str, Spent]:
    """Attempts and tokens of a rater with its models, by the role in which they were asked."""
    rows = connection.execute(_SPENT, (rater_id.stage, rater_id.name, rater_id.model))
    return {role: Spent(*map(int, counts)) for role, *counts in rows}
