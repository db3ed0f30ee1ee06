"""Argilla: records of a dataset as JSON (`dataset.records.to_json`), of version 2 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import facts_of, objects, part, records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "argilla"


def read(path: Path) -> Reading:
    """Questions (attributes) of records (items), by user (a person) or agent (a model)."""
    rows, open_ = ReadingBuilder(NAME, path.name), 0
    for place, record in rows.each(records_of(path)):
        fields, metadata = facts_of(record.get("fields")), facts_of(record.get("metadata"))
        named = record.get("id") or record.get("external_id") or record.get("_server_id")
        item = rows.shown(named or place, facts_of(fields), metadata)
        _responses(rows, item, record.get("responses"), place)
        _suggestions(rows, item, record.get("suggestions"))
        open_ += record.get("status") == "pending" and bool(record.get("responses"))
    if open_:
        message = f"{open_} records with responses are pending. Argilla exports drafts as answers."
        rows.note("drafts_unknown", message, "Filter by status before you export.")
    return rows.reading()


def _responses(rows: ReadingBuilder, item: str, given: Any, place: str) -> None:
    if isinstance(given, dict):  # version 2: by question
        for question, answers in given.items():
            for answer in objects(answers):
                who = str(answer.get("user_id") or "user")
                _answer(rows, item, who, question, answer.get("value"), "human")
        return
    for answer in objects(given):  # version 1: by user
        status = answer.get("status", "submitted")
        if status != "submitted":
            rows.leave_out(f"the response is {status}", place)
            continue
        who = str(answer.get("user_id") or "user")
        for question, value in facts_of(answer.get("values")).items():
            _answer(rows, item, who, question, part(value, "value"), "human")


def _suggestions(rows: ReadingBuilder, item: str, given: Any) -> None:
    if isinstance(given, dict):
        given = [{"question_name": k, **one} for k, one in given.items() if isinstance(one, dict)]
    for one in objects(given):
        agent = str(one.get("agent") or "suggestion")
        name = str(one.get("question_name"))
        _answer(rows, item, agent, name, one.get("value"), "judge")


def _answer(
    rows: ReadingBuilder, item: str, rater: str, question: str, value: Any, kind: str
) -> None:
    """A rating, a label, labels; a text or spans are no ratings."""
    if isinstance(value, bool | int | float):
        rows.rater(rater, kind)
        rows.rate(item, rater, question, value)
    elif isinstance(value, str) and len(value) <= _LONGEST:
        rows.rater(rater, kind)
        rows.label(item, rater, question, [value])
    elif isinstance(value, list) and all(isinstance(one, str) for one in value):
        rows.rater(rater, kind)
        rows.label(item, rater, question, value)
    else:
        what = "a text" if isinstance(value, str) else "a ranking, spans or nothing"
        rows.leave_out(f"the answer to {question} is {what}, which is no rating", f"record {item}")


#: A longer answer is a text that somebody wrote, and no label.
_LONGEST = 60
