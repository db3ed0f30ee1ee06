"""Phoenix: annotations of spans, as JSON of its server or a table of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    csv_of,
    facts_of,
    listed,
    part,
    records_of,
    records_of_parquet,
    whole_of,
)
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "phoenix"
_COLUMNS = (
    "span_id", "context.span_id", "annotation_name", "name", "annotator_kind", "label", "score",
    "explanation", "identifier", "user_id", "result.label", "result.score", "result.explanation",
)  # fmt: skip


def read(path: Path) -> Reading:
    """Annotations by span (item) and name (attribute)."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(_records(path, rows)):
        item = rows.item(one.get("span_id") or one.get("context.span_id") or one.get("id"))
        kind = str(one.get("annotator_kind") or "").upper()
        who = one.get("user_id") or one.get("identifier")
        rater = str(who) if who else f"{NAME} {kind.lower() or 'annotation'}"
        judge(
            rows, place, item, rater=rater, person=kind == "HUMAN",
            attribute=str(one.get("annotation_name") or one.get("name")),
            score=_number(_said(one, "score")), label=_said(one, "label"),
            reason=_said(one, "explanation"),
        )  # fmt: skip
    return rows.reading()


def _said(one: dict[str, Any], key: str) -> Any:
    return next(
        (
            v
            for v in (part(one, "result", key), one.get(f"result.{key}"), one.get(key))
            if v not in (None, "")
        ),
        None,
    )


def _number(value: Any) -> Any:
    """A score of a CSV file is text."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return None


def _records(path: Path, rows: ReadingBuilder) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".csv":
        head, *body = csv_of(path)
        yield from (
            (f"row {at}", dict(zip(head, row, strict=False))) for at, row in enumerate(body, 2)
        )
        return
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"PAR1"):
        yield from records_of_parquet(path, _COLUMNS)
    elif start.lstrip().startswith(b'{"data"') or b'"data"' in start:
        yield from listed(facts_of(whole_of(path, rows)).get("data"), "record")
    else:
        yield from records_of(path)
