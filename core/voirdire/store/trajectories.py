"""What raters of several steps did in a session, as trajectories that others may judge."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from voirdire.schema import Item, Rating, Response, Turn
from voirdire.store._schema import unpack
from voirdire.store.replies import messages_of, readable
from voirdire.store.session import read_session, usable
from voirdire.units import CALL, RESULT, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from voirdire.schema import Message

# The last step of each task was sent all that came before it. By names: numbers of tasks are in the
# order in which they were answered.
_LAST = """SELECT r.name, t.item, t.unit, t.first, t.second, c.run, c.messages, a.text
FROM calls c JOIN tasks t ON t.id = c.task JOIN raters r ON r.id = c.rater
JOIN attempts a ON a.id = c.final
WHERE c.current = 1 AND c.step > 0 AND r.stage != 'generate' AND c.step = (
    SELECT max(d.step) FROM calls d
    WHERE d.current = 1 AND d.final IS NOT NULL
    AND (d.rater, d.task, d.run) = (c.rater, c.task, c.run))
ORDER BY t.item, t.first, t.second, t.unit, r.name, c.run"""


def iterate_trajectories(folder: str | Path) -> Iterator[Rating]:
    """What each rater did about each task that took it several steps; the rater is the system.

    Of a rater that asks in several roles it is what its last step was sent, and its answer.

    Raises
    ------
    InputError
        The folder is no session, or cannot be read.
    """
    with usable(folder), closing(read_session(folder)) as connection:
        rows = connection.execute(_LAST).fetchall()
        for rater, item, unit, first, second, run, sent, text in rows:
            turns = [
                turn for one in messages_of(connection, sent) for turn in turns_of_message(one)
            ]
            answer = "" if text is None else readable(unpack(text))
            turns += [Turn("assistant", answer)] if answer else []
            named = [unit_of(unit).of(item), first, second, f"run {run}" if run > 1 else ""]
            name = ", ".join(filter(None, named))
            yield Rating(Item(name), Response(name, rater, "", tuple(turns)))


def turns_of_message(message: Message) -> Iterator[Turn]:
    """A message that a model was sent as the steps that it holds.

    >>> from voirdire.schema import Message, ToolCall
    >>> said = Message("assistant", "I look.", (ToolCall("c1", "lookup", '{"value": 1}'),))
    >>> [(turn.role, turn.content) for turn in turns_of_message(said)]
    [('assistant', 'I look.'), ('tool call', '{"value": 1}')]
    """
    if message.content:
        role = RESULT if message.role == "tool" else message.role
        yield Turn(role, readable(message.content), message.name)
    for call in message.calls:
        yield Turn(CALL, readable(call.arguments), call.name)
