"""LangSmith: runs with their feedback, or the feedback alone, as JSON, JSON lines or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    facts_of,
    longest,
    part,
    records_of,
    records_of_parquet,
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
        else:
            _run(rows, one, place)
    return rows.reading()


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open("rb") as file:
        whole = file.read(4) == b"PAR1"
    return records_of_parquet(path, (*_COLUMNS, *_OF_FEEDBACK)) if whole else records_of(path)


def _feedback(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    kind = str(part(one, "feedback_source", "type") or "api")
    person = kind == "app"
    who = part(one, "feedback_source", "user_id") if person else None
    rater = f"annotator {who}" if who else f"{NAME} {kind}"
    judge(
        rows, place, str(one.get("run_id")), rater=rater, person=person,
        attribute=str(one["key"]), score=one.get("score"), label=one.get("value"),
        reason=one.get("comment"),
    )  # fmt: skip


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
