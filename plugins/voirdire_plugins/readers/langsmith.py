"""LangSmith: runs with their feedback, or the feedback alone, as JSON or JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import has, longest, part, records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "langsmith"


class Reader:
    """Runs or feedback of LangSmith."""

    name = NAME
    about = "LangSmith: runs (client.list_runs) or feedback (client.list_feedback) as JSON"

    def sniff(self, path: Path, head: bytes) -> float:
        """By the keys of a run or of feedback."""
        runs = has(head, '"feedback_stats"', '"run_type"')
        feedback = has(head, '"feedback_source"', '"run_id"', '"key"', '"score"')
        return 0.9 * ((runs or feedback) and path.suffix in (".json", ".jsonl"))

    def read(self, path: Path) -> Reading:
        """Feedback by run (item) and key (attribute)."""
        rows = ReadingBuilder(NAME, path.name)
        for place, one in records_of(path):
            if "run_id" in one and "key" in one:
                _feedback(rows, one, place)
            else:
                _run(rows, one, place)
        return rows.reading()


def _feedback(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    score, value = one.get("score"), one.get("value")
    kind = str(part(one, "feedback_source", "type") or "api")
    person = kind == "app"
    who = part(one, "feedback_source", "user_id") if person else None
    rater = f"annotator {who}" if who else f"{NAME} {kind}"
    rows.rater(rater, "human" if person else "judge")
    item = str(one.get("run_id"))
    if isinstance(score, bool | int | float):
        rows.rate(item, rater, str(one["key"]), score)
    elif isinstance(value, str):
        rows.label(item, rater, str(one["key"]), [value])
    else:
        rows.leave_out("the feedback has neither a score nor a value", place)


def _run(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    """A run holds the mean of each key: of one piece of feedback that is its score."""
    stats = one.get("feedback_stats")
    if not isinstance(stats, dict) or not stats:
        rows.leave_out("the run has no feedback", place)
        return
    item = rows.item(
        one.get("reference_example_id") or one.get("id") or place,
        longest(one.get("inputs")),
        {"run_id": one.get("id")},
    )
    system = one.get("session_id")
    for key, stat in stats.items():
        score = part(stat, "avg")
        if part(stat, "n") == 1 and isinstance(score, int | float):
            rows.rate(item, NAME, str(key), score, system=str(system) if system else None)
        else:
            why = "are means of several ratings or labels: export the feedback"
            rows.leave_out(f"the statistics of {key} {why}", place)
