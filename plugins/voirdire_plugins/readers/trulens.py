"""TruLens: the table of `session.get_records_and_feedback()` as CSV, JSON or Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import voirdire
from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import rows_of
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from pathlib import Path

NAME = "trulens"
#: What follows the name of a feedback in the columns beside it.
_BESIDE = ("_calls", " feedback cost in USD", " direction")


def read(path: Path) -> Reading:
    """Feedback (attributes) of records; an app and its version are a system, where several."""
    rows = ReadingBuilder(NAME, path.name)
    records = list(rows_of(path))
    columns = dict.fromkeys(name for _, one in records for name in one)
    feedback = [n for n in columns if any(f"{n}{end}" in columns for end in _BESIDE)]
    if not feedback:
        raise voirdire.TableError(
            f"{path.name}: this table of TruLens has no column of feedback (columns: "
            f"{', '.join(columns)}); take session.get_records_and_feedback() after it has run"
        )
    apps = {_app(one) for _, one in records}
    for place, one in rows.each(records):
        asked, said = one.get("input"), one.get("output")
        text = asked if isinstance(asked, str) else None
        system = _app(one) if len(apps) > 1 else None
        # Of several apps the records of one input are of one item.
        item = rows.item(
            (text if system else None) or one.get("record_id") or place,
            text,
            {"record_id": one.get("record_id")},
        )
        rows.respond(item, said, system)
        there = {name: one[name] for name in feedback if one.get(name) not in (None, "")}
        for name, score in there.items():
            judge(
                rows,
                place,
                item,
                rater=NAME,
                person=False,
                attribute=name,
                score=score,
                system=system,
            )
        if not there:
            rows.leave_out("the record has no feedback", place)
    return rows.reading()


def _app(one: dict[str, object]) -> str:
    named = [one.get(key) for key in ("app_name", "app_version")]
    parts = [str(part) for part in named if part not in (None, "")]
    return " ".join(parts) or str(one.get("app_id"))
