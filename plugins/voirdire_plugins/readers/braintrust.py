"""Braintrust: events of an experiment (JSON lines or its API), or what `Eval` returns (as_json)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    facts_of,
    json_of,
    listed,
    longest,
    part,
    records_of,
    text_of,
    whole_of,
)
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "braintrust"


def read(path: Path) -> Reading:
    """Scores (attributes) of test cases (items); several experiments are systems."""
    rows = ReadingBuilder(NAME, path.name)
    records = list(_records(path, rows))
    experiments = {part(one, "experiment_id") for _, one in records} - {None}
    for place, one in rows.each(records):
        scores = {k: v for k, v in facts_of(one.get("scores")).items() if v is not None}
        if not scores:
            why = part(one, "span_attributes", "type") or "record"
            rows.leave_out(f"the {why} has no scores", place)
            continue
        fields = one.get("input")
        asked = fields if isinstance(fields, str) else longest(fields)
        # Of several experiments the same case is one item: its row of the data set, else its input.
        same = one.get("dataset_record_id") or part(one, "origin", "id")
        alone = len(experiments) < 2
        item = rows.item(
            same or (one.get("id") or place if alone else asked or place),
            asked,
            {**facts_of(fields), **facts_of(one.get("metadata"))},
        )
        system = None if alone else str(one.get("experiment_id"))
        output = one.get("output")
        rows.respond(item, output if isinstance(output, str) else longest(output), system)
        for name, score in scores.items():
            judge(
                rows,
                place,
                item,
                rater=NAME,
                person=False,
                attribute=str(name),
                score=score,
                system=system,
            )
    return rows.reading()


def _records(path: Path, rows: ReadingBuilder) -> Iterator[tuple[str, Any]]:
    text = text_of(path).lstrip()
    first = text.split("\n", 1)[0]
    if text.startswith("{") and '"scores"' not in first.partition('"results"')[0]:
        whole = whole_of(path, rows) if '"cursor"' in text else json_of(path)
        yield from listed(part(whole, "results") or part(whole, "events"), "record")
    else:
        yield from records_of(path)
