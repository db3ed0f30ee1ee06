"""LangGraph: states of graphs with their messages, which are runs to be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import voirdire
from voirdire_plugins.readers.files import facts_of, objects, part
from voirdire_plugins.readers.opentelemetry import lines_of
from voirdire_plugins.readers.steps import Trajectory, steps_of_message, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from voirdire.schema import Rating
    from voirdire.tables import Reading


def read(*paths: Path) -> Reading:
    """A state holds no judgement: an error says what can be done with it."""
    path = paths[0]
    raise voirdire.TableError(
        f"{path.name}: states of LangGraph hold no judgement. Write their runs by `voirdire import "
        f"{path.name} --messages --out runs.jsonl` and have them judged, or examine the graph's "
        "spans with the evaluations of them (OpenInference, OpenTelemetry)"
    )


def conversations(*paths: Path) -> Iterator[Rating]:
    """Each state as a run with its steps; of a thread with several states the last one.

    Raises
    ------
    TableError
        A record has no messages.
    """
    last: dict[str, tuple[str, dict[str, Any]]] = {}
    values = ((p.name, place, one) for p in paths for place, one in lines_of(p))
    for at, (name, place, one) in enumerate(values, 1):
        record = facts_of(one)
        state = facts_of(record.get("values")) or record
        if not objects(state.get("messages")):
            raise voirdire.TableError(f"{name}, {place}: holds no messages of a state")
        thread = record.get("thread_id") or part(record, "config", "configurable", "thread_id")
        last[text_of(thread) or f"run {at}"] = place, state
    for name, (_, state) in last.items():
        run = Trajectory()
        for message in objects(state["messages"]):
            run.add(text_of(part(message, "data", "id")), (), steps_of_message(message))
        yield run.of(name, "graph")
