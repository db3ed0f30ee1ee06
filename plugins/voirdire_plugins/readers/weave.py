"""Weave: the calls of an evaluation, exported as JSON, JSON lines or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.tables import Reading, ReadingBuilder
from voirdire_plugins.readers.files import (
    facts_of,
    longest,
    nested_of,
    objects,
    part,
    records_of,
    rows_of,
)
from voirdire_plugins.readers.sourced import judge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "weave"
#: Keys of what a scorer gives under which it says why.
_REASONS = ("reason", "reasoning", "rationale", "explanation", "comment")
#: The beginning of the kind of feedback that a person gives by a form.
_BY_HAND = "wandb.annotation."


def read(path: Path) -> Reading:
    """What scorers (raters) say of the predictions of a model (system) on an example (item)."""
    rows = ReadingBuilder(NAME, path.name)
    for place, one in rows.each(_records(path)):
        scores = facts_of(part(one, "output", "scores"))
        by_hand = objects(part(one, "summary", "weave", "feedback")) or objects(one.get("feedback"))
        if not scores and not by_hand:
            rows.leave_out("the call has no scores", place)
            continue
        example = part(one, "inputs", "example")
        if example is None:
            example = facts_of(one.get("inputs"))
        # An example is a reference to a row of the data set, or the row itself.
        name = example if isinstance(example, str) else part(example, "id")
        item = rows.item(
            name or longest(example) or one.get("id") or place,
            longest(example),
            {**facts_of(example), "call": one.get("id")},
        )
        system = _called(part(one, "inputs", "model"))
        answer = part(one, "output", "output")
        rows.respond(item, answer if isinstance(answer, str) else longest(answer), system)
        for scorer, said in scores.items():
            _score(rows, place, item, system, str(scorer), said)
        for feedback in by_hand:
            _by_hand(rows, place, item, system, feedback)
    return rows.reading()


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    if path.suffix == ".csv":
        return ((place, nested_of(row)) for place, row in rows_of(path))
    return records_of(path)


def _called(given: Any) -> str | None:
    """The name of an object out of its reference, ``weave:///team/project/object/NAME:digest``."""
    if not isinstance(given, str):
        return None
    return given.rpartition("/")[2].partition(":")[0] or None


def _score(
    rows: ReadingBuilder, place: str, item: str, system: str | None, scorer: str, said: Any
) -> None:
    """A number or truth value, or several under names of their own."""
    values = said if isinstance(said, dict) else {"": said}
    why = next((values[key] for key in _REASONS if isinstance(values.get(key), str)), None)
    for key, value in values.items():
        if key in _REASONS or value is None:
            continue
        # A text is a label only where it is one word of few; all else explains.
        judge(
            rows,
            place,
            item,
            rater=scorer,
            person=False,
            attribute=str(key) or "score",
            label=value,
            reason=why,
            system=system,
        )
        why = None


def _by_hand(
    rows: ReadingBuilder, place: str, item: str, system: str | None, one: dict[str, Any]
) -> None:
    kind = str(one.get("feedback_type") or "")
    if not kind.startswith(_BY_HAND):
        rows.leave_out(f"feedback of the type {kind or 'none'} is no judgement", place)
        return
    who = one.get("creator") or one.get("wb_user_id") or "annotator"
    judge(
        rows,
        place,
        item,
        rater=str(who),
        person=True,
        attribute=kind.removeprefix(_BY_HAND),
        label=part(one, "payload", "value"),
        system=system,
    )
