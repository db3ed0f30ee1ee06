"""Judgements of people and models side by side, each with its source: what these readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voirdire.tables import ReadingBuilder


def judge(  # noqa: PLR0913 - what a record says of one judgement
    rows: ReadingBuilder,
    place: str,
    item: str,
    *,
    rater: str,
    person: bool,
    attribute: str,
    score: Any = None,
    label: Any = None,
    reason: Any = None,
    model: str | None = None,
    system: str | None = None,
) -> None:
    """Add a judgement: its number, else its label, whatever kind the record holds."""
    rows.rater(rater, "human" if person else "judge", model)
    rows.explain(item, rater, attribute, reason, system=system)
    if isinstance(score, bool | int | float):
        rows.rate(item, rater, attribute, score, system=system)
    elif isinstance(label, bool | int | float):
        rows.rate(item, rater, attribute, label, system=system)
    elif isinstance(label, str) and label.strip():
        rows.label(item, rater, attribute, [label], system=system)
    elif isinstance(label, list) and label and all(isinstance(one, str) for one in label):
        rows.label(item, rater, attribute, label, system=system)
    else:
        rows.leave_out("the judgement has neither a score nor a label", place)
