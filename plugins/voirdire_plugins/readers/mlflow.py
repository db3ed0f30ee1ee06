"""MLflow: traces with their assessments, as JSON of `Trace.to_json` or a table of search_traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import facts_of, longest, objects, parsed, part, records_of
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from pathlib import Path

NAME = "mlflow"


def read(path: Path) -> Reading:
    """Assessments by trace (item) and name (attribute); an expectation is no judgement."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(records_of(path)):
        info = facts_of(one.get("info")) or one
        inputs = _json(
            part(info, "trace_metadata", "mlflow.traceInputs") or info.get("request"), place
        )
        outputs = _json(
            part(info, "trace_metadata", "mlflow.traceOutputs") or info.get("response"), place
        )
        trace = str(info.get("trace_id") or place)
        named = {**facts_of(inputs), "client_request_id": info.get("client_request_id")}
        item = rows.item(trace, longest(inputs), named)
        rows.respond(item, longest(outputs))
        found = objects(info.get("assessments"))
        if not found:
            rows.leave_out("the trace has no assessment", place)
        for assessment in found:
            _assess(rows, item, assessment, place)
    return rows.reading()


def _assess(rows: ReadingBuilder, item: str, one: dict[str, Any], place: str) -> None:
    name = str(one.get("assessment_name") or one.get("name"))
    # What somebody took back stays in the record, marked.
    if one.get("valid") is False:
        rows.leave_out(f"the assessment {name} was replaced", place)
        return
    if one.get("expectation") is not None:
        rows.leave_out(f"{name} is an expectation, and no judgement", place)
        return
    if part(one, "feedback", "error") is not None:
        rows.leave_out(f"the assessment {name} is an error", place)
        return
    kind = str(part(one, "source", "source_type") or "")
    person = kind == "HUMAN"
    who = part(one, "source", "source_id")
    rater = str(who) if who and who != "default" else f"{NAME} {kind.lower() or 'assessment'}"
    value = part(one, "feedback", "value")
    judge(
        rows,
        place,
        item,
        rater=rater,
        person=person,
        attribute=name,
        label=value,
        reason=one.get("rationale"),
        model=str(who) if who and kind == "LLM_JUDGE" else None,
    )


def _json(value: Any, place: str) -> Any:
    is_json = isinstance(value, str) and value[:1] in ("{", "[")
    return parsed(value, place) if is_json else value
