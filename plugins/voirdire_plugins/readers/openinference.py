"""OpenInference: spans a line each, as OpenTelemetry's SDK prints them, or pages of Phoenix."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from voirdire_plugins.readers.files import facts_of, part
from voirdire_plugins.readers.opentelemetry import lines_of, place_in, system_of
from voirdire_plugins.readers.spans import (
    SpanEvaluation,
    SpanTraces,
    judged_spans,
    runs_of_spans,
)
from voirdire_plugins.readers.steps import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from voirdire.schema import Rating
    from voirdire.tables import Reading, ReadingBuilder

NAME = "openinference"


def read(*paths: Path) -> Reading:
    """Annotations by run or step (item) and name (attribute); annotators are the raters."""
    return judged_spans(NAME, paths, collect)


def conversations(*paths: Path) -> Iterator[Rating]:
    """Each trace as a run with its steps, annotated or not."""
    return runs_of_spans(NAME, paths, collect)


def collect(paths: Sequence[Path], kept: SpanTraces, rows: ReadingBuilder) -> None:
    """Keep all spans and annotations of files."""
    for place, one in _records(paths, rows):
        if isinstance(part(one, "context"), dict) and "attributes" in one:
            _span(kept, rows, one, place)
        elif "annotator_kind" in facts_of(one) and "span_id" in one:
            said = facts_of(one.get("result"))
            who = one.get("user_id") or one.get("identifier")
            told = SpanEvaluation(
                text_of(one.get("name")),
                said.get("score"),
                said.get("label"),
                said.get("explanation"),
                text_of(who),
                text_of(one.get("annotator_kind")),
            )
            kept.evaluation("", _id(one["span_id"]), told, place=place)
        else:
            rows.skip("is neither a span nor an annotation of one", place)
    rows.note(
        "spans_read",
        f"{kept.spans:,} spans and {kept.evaluations:,} annotations of them were read.",
        "Spans without an annotation are steps that others are seen beside, and in no number.",
        serious=False,
    )


def _records(paths: Sequence[Path], rows: ReadingBuilder) -> Iterator[tuple[str, Any]]:
    """Records a line each, or pages of Phoenix's API with many of them."""
    pages = False
    values = ((place_in(p, place, paths), one) for p in paths for place, one in lines_of(p))
    for place, one in values:
        data = part(one, "data")
        if not isinstance(data, list):
            yield place, one
            continue
        pages = pages or part(one, "next_cursor") is not None
        for at, record in enumerate(data, 1):
            yield f"{place}, record {at}", record
    if pages:
        rows.note(
            "pages_unread",
            "A page of the API names a next one (next_cursor).",
            "If that page is not in the file too, what stands there is in no number.",
        )


def _span(kept: SpanTraces, rows: ReadingBuilder, one: dict[str, Any], place: str) -> None:
    context = facts_of(one["context"])
    trace, span = _id(context.get("trace_id")), _id(context.get("span_id"))
    if not trace or not span:
        rows.skip("a span has no trace_id or span_id in its context", place)
        return
    attributes = facts_of(one["attributes"])
    kind = one.get("span_kind")
    if isinstance(kind, str) and kind != "UNKNOWN":  # Phoenix takes it out of the attributes
        attributes = {"openinference.span.kind": kind, **attributes}
    system = system_of(facts_of(part(one, "resource", "attributes")))
    start = _moment(one.get("start_time"))
    kept.span(trace, span, _id(one.get("parent_id")), start, attributes, system=system, place=place)


def _id(value: Any) -> str:
    """An id without the 0x that the SDK prints before it."""
    return text_of(value).lower().removeprefix("0x")


def _moment(value: Any) -> int:
    """A time in microseconds; 0 where it is none, so that the order of the file counts."""
    try:
        return int(datetime.fromisoformat(text_of(value)).timestamp() * 1e6)
    except (ValueError, OverflowError, OSError):
        return 0
