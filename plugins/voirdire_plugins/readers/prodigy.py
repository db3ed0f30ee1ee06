"""Prodigy: the annotated examples of `prodigy db-out`, JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import facts_of, objects, records_of

if TYPE_CHECKING:
    from pathlib import Path

NAME = "prodigy"


def read(path: Path) -> Reading:
    """Labels of examples (items) by people, who are called as their annotator or session."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(records_of(path)):
        answer = one.get("answer")
        if answer not in ("accept", "reject"):
            rows.leave_out(f"the answer is {answer!r}", place)
            continue
        text = one.get("text")
        item = rows.item(
            one.get("_input_hash", place),
            text if isinstance(text, str) else None,
            facts_of(one.get("meta")),
        )
        who = one.get("_annotator_id") or one.get("_session_id") or "annotator"
        rows.rater(str(who), "human")
        _said(rows, one, item, str(who), place)
    return rows.reading()


def _said(rows: ReadingBuilder, one: dict[str, Any], item: str, who: str, place: str) -> None:
    """What was chosen among options; else whether the label that was shown is right."""
    if "spans" in one:
        rows.leave_out("its labels mark parts of a text, and none is of the whole", place)
    elif objects(one.get("options")):
        chosen = one.get("accept")
        if one["answer"] == "reject" or not isinstance(chosen, list):
            rows.leave_out("the options were rejected", place)
            return
        rows.label(item, who, "label", map(str, chosen))
    elif isinstance(one.get("label"), str):
        rows.rate(item, who, one["label"], one["answer"] == "accept")
    else:
        rows.leave_out("it shows neither a label nor options", place)
