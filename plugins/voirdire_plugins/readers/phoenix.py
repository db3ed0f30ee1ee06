"""Phoenix: annotations of spans, as JSON of its server or a table of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    facts_of,
    listed,
    longest,
    nested_of,
    part,
    records_of,
    rows_of,
    whole_of,
)
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "phoenix"


def read(path: Path) -> Reading:
    """Annotations by span (item) and name (attribute)."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(_records(path, rows)):
        if any(name.startswith("eval.") for name in one):
            _span(rows, one, place)
            continue
        item = rows.item(one.get("span_id") or one.get("context.span_id") or one.get("id"))
        kind = str(one.get("annotator_kind") or "").upper()
        who = one.get("user_id") or one.get("identifier")
        rater = str(who) if who else f"{NAME} {kind.lower() or 'annotation'}"
        judge(
            rows,
            place,
            item,
            rater=rater,
            person=kind == "HUMAN",
            attribute=str(one.get("annotation_name") or one.get("name")),
            score=_said(one, "score"),
            label=_said(one, "label"),
            reason=_said(one, "explanation"),
        )
    return rows.reading()


def _span(rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    """A span with the evaluations that were logged of it; who gave them it does not say."""
    whole = nested_of(one)
    fields = part(whole, "attributes", "input", "value")
    item = rows.item(
        one.get("context.span_id") or one.get("span_id") or place,
        fields if isinstance(fields, str) else longest(fields),
        {"trace_id": one.get("context.trace_id"), "name": one.get("name")},
    )
    rows.respond(item, part(whole, "attributes", "output", "value"))
    found = facts_of(whole.get("eval"))
    for name, said in found.items():
        judge(
            rows,
            place,
            item,
            rater=f"{NAME} evaluation",
            person=False,
            attribute=str(name),
            score=part(said, "score"),
            label=part(said, "label"),
            reason=part(said, "explanation"),
        )
    if not found:
        rows.leave_out("the span has no evaluation", place)


def _said(one: dict[str, Any], key: str) -> Any:
    return next(
        (
            v
            for v in (part(one, "result", key), one.get(f"result.{key}"), one.get(key))
            if v not in (None, "")
        ),
        None,
    )


def _records(path: Path, rows: ReadingBuilder) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".csv":
        yield from rows_of(path)
        return
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"PAR1"):
        yield from rows_of(path)
    elif start.lstrip().startswith(b'{"data"') or b'"data"' in start:
        yield from listed(facts_of(whole_of(path, rows)).get("data"), "record")
    else:
        yield from records_of(path)
