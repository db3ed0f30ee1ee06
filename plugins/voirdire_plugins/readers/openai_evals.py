"""OpenAI's evals: the output items of a run, as JSON of its API or JSON lines of its page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    facts_of,
    listed,
    longest,
    objects,
    part,
    records_of,
    text_of,
    whole_of,
)
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "openai_evals"
#: Graders are called as they were named, and an id behind it.
_ID = re.compile(r"-[0-9a-f]{8}-[0-9a-f-]{27,}$")


def read(path: Path) -> Reading:
    """The results of each grader by datasource item, whose fields labels may be joined by."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(_records(path, rows)):
        fields = facts_of(one.get("datasource_item"))
        name = one.get("datasource_item_id")
        item = rows.item(
            place if name is None else name, longest(fields), {**fields, "id": one.get("id")}
        )
        rows.respond(item, _answer(one), part(one, "sample", "model"))
        if part(one, "sample", "error", "message"):
            rows.leave_out("the sample failed", place)
            continue
        found = objects(one.get("results"))
        if not found:
            rows.leave_out("the item has no result", place)
        for result in found:
            grader = _ID.sub("", str(result.get("name") or "grader"))
            score = result.get("score")
            judge(
                rows,
                place,
                item,
                rater=grader,
                person=False,
                attribute="score",
                score=score if score is not None else result.get("passed"),
                system=part(one, "sample", "model"),
            )
    return rows.reading()


def _answer(one: dict[str, Any]) -> str | None:
    said = [m.get("content") for m in objects(part(one, "sample", "output"))]
    texts = [text for text in said if isinstance(text, str)]
    return texts[-1] if texts else None


def _records(path: Path, rows: ReadingBuilder) -> Iterator[tuple[str, dict[str, Any]]]:
    text = text_of(path).lstrip()
    # A page of the API is one object, in one line or in many; a line each begins with an item.
    first = text.split("\n", 1)[0]
    if text.startswith("{") and '"datasource_item"' not in first.partition('"data"')[0]:
        yield from listed(facts_of(whole_of(path, rows)).get("data"), "record")
    else:
        yield from records_of(path)
