"""Langfuse: scores, exported from the table of scores or fetched from its public API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import csv_of, listed, part, records_of, whole_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "langfuse"
_KINDS = ("NUMERIC", "BOOLEAN", "CATEGORICAL")


def read(path: Path) -> Reading:
    """Scores by trace or observation (item) and name (attribute)."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(_scores(path, rows)):
        kind = one.get("dataType")
        if kind not in _KINDS:
            rows.leave_out(f"scores of the type {kind} are no ratings", place)
            continue
        about, trace = _subject(one)
        if not about:
            rows.leave_out("the score is of a session or experiment, and of no trace", place)
            continue
        item = rows.item(about, None, {"traceId": trace})
        _score(rows, item, one)
    return rows.reading()


def _scores(path: Path, rows: ReadingBuilder) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".csv":
        header, *lines = csv_of(path)
        for at, line in enumerate(lines, 2):
            yield f"row {at}", dict(zip(header, line, strict=False))
        return
    if path.suffix == ".json":
        whole = whole_of(path, rows)  # the API wraps its list in an object, and the export does not
        found = part(whole, "data") if isinstance(whole, dict) else whole
        yield from listed(found, "record")
        return
    yield from records_of(path)


def _subject(one: dict[str, Any]) -> tuple[str | None, str | None]:
    """What was scored, and its trace: an observation, or a whole trace."""
    subject = one.get("subject")
    if not isinstance(subject, dict):  # before version 3 of the API
        return one.get("observationId") or one.get("traceId"), one.get("traceId")
    ident = subject.get("id") if subject.get("kind") in ("trace", "observation") else None
    trace = ident if subject.get("kind") == "trace" else subject.get("traceId")
    return ident, trace


def _score(rows: ReadingBuilder, item: str, one: dict[str, Any]) -> None:
    name, rater = str(one.get("name") or "score"), _rater(rows, one)
    rows.explain(item, rater, name, one.get("comment"))
    # The number beside a category only stands for it: a category is a label.
    if one.get("dataType") == "CATEGORICAL":
        rows.label(item, rater, name, [str(one.get("stringValue") or one.get("value"))])
        return
    value = one.get("value")
    rows.rate(item, rater, name, None if value == "" else value)


def _rater(rows: ReadingBuilder, one: dict[str, Any]) -> str:
    """Who scored: people by their id; what an evaluator or the API sent by its source."""
    source = str(one.get("source") or "API")
    if source == "ANNOTATION":
        name = f"annotator {one.get('authorUserId') or ''}".strip()
        rows.rater(name, "human")
        return name
    name = f"{NAME} {source.lower()}"
    rows.rater(name)
    return name
