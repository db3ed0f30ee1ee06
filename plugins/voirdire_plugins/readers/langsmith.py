"""LangSmith: runs with feedback, the feedback alone, or the table of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    facts_of,
    longest,
    nested_of,
    part,
    records_of,
    records_of_parquet,
    rows_of,
)
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "langsmith"
#: What is read of one; the bulk export holds objects as JSON texts.
_COLUMNS = ("id", "session_id", "reference_example_id", "inputs", "outputs", "feedback_stats")
_OF_FEEDBACK = ("run_id", "key", "score", "value", "comment", "feedback_source")


def read(path: Path) -> Reading:
    """Feedback by run (item) and key (attribute)."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(_records(path)):
        if "run_id" in one and "key" in one:
            _feedback(rows, one, place)
        elif "feedback" in one:
            _result(rows, one, place)
        else:
            _run(rows, one, place)
    return rows.reading()


def _result(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    """A row of the table of an experiment: its evaluators' feedback stands under their keys."""
    inputs, outputs = one.get("inputs"), one.get("outputs")
    item = rows.item(
        one.get("example_id") or one.get("id") or place,
        longest(inputs),
        {**facts_of(inputs), **facts_of(one.get("reference")), "run_id": one.get("id")},
    )
    rows.respond(item, longest(outputs))
    found = {key: value for key, value in facts_of(one["feedback"]).items() if value is not None}
    for key, value in found.items():
        judge(rows, place, item, rater=NAME, person=False, attribute=str(key), label=value)
    if not found:
        rows.leave_out("the row has no feedback", place)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as file:
        whole = file.read(4) == b"PAR1"
    if path.suffix == ".csv" or (whole and _is_experiment(path)):
        return ((place, nested_of(row, 1)) for place, row in rows_of(path))
    return records_of_parquet(path, (*_COLUMNS, *_OF_FEEDBACK)) if whole else records_of(path)


def _is_experiment(path: Path) -> bool:
    return any(name.startswith("feedback.") for name in pl.read_parquet_schema(path))


def _feedback(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    kind = str(part(one, "feedback_source", "type") or "api")
    person = kind == "app"
    who = part(one, "feedback_source", "user_id") if person else None
    rater = f"annotator {who}" if who else f"{NAME} {kind}"
    judge(
        rows,
        place,
        str(one.get("run_id")),
        rater=rater,
        person=person,
        attribute=str(one["key"]),
        score=one.get("score"),
        label=one.get("value"),
        reason=one.get("comment"),
    )


def _run(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    """A run holds the mean of each key: of one piece of feedback that is its score."""
    # In Parquet each run has the keys of all runs.
    stats = {k: v for k, v in facts_of(one.get("feedback_stats")).items() if v is not None}
    if not stats:
        rows.leave_out("the run has no feedback", place)
        return
    item = rows.item(
        # Runs of several systems on one example are answers to the same item.
        one.get("reference_example_id") or one.get("id") or place,
        longest(one.get("inputs")),
        {"run_id": one.get("id")},
    )
    system = one.get("session_id")
    answer = longest(one.get("outputs"))
    rows.respond(item, answer, str(system) if system else None)
    for key, stat in stats.items():
        score = part(stat, "avg")
        if part(stat, "n") == 1 and isinstance(score, int | float):
            rows.rate(item, NAME, str(key), score, system=str(system) if system else None)
        else:
            why = "are means of several ratings or labels: export the feedback"
            rows.leave_out(f"the statistics of {key} {why}", place)
