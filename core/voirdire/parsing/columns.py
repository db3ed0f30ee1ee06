"""Many rubric replies at once, as plain columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.parsing._plain import ENDS, plain_reader
from voirdire.parsing.scores import parse_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import FinishReason, Flag, Parsed, Scale, Status


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """Parsed replies by column; every list has one entry a reply, in the order given.

    Attributes
    ----------
    scores : dict of str to list of float or None
        One column an attribute.
    statuses : dict of str to list of Status
        One column an attribute: why a score is missing.
    status : list of Status
        The worst of a reply's statuses, as in `parse_scores`.
    flags : list of tuple of Flag
        Observations on a reply.
    off_scale : dict of str to dict of int to float
        Attribute -> index of the reply -> the number off the scale, for the policy *keep*.
    reasons : dict of str to dict of int to str
        Attribute -> index of the reply -> the fine reason (keys of `REASONS`).
    """

    scores: dict[str, list[float | None]]
    statuses: dict[str, list[Status]]
    status: list[Status]
    flags: list[tuple[Flag, ...]]
    off_scale: dict[str, dict[int, float]] = field(default_factory=dict)
    reasons: dict[str, dict[int, str]] = field(default_factory=dict)


def parse_scores_column(
    texts: Sequence[str | None],
    attributes: Sequence[str],
    scale: Scale,
    *,
    finish_reasons: Sequence[FinishReason] | None = None,
    words: Mapping[str, float] | None = None,
) -> ScoreColumns:
    """`parse_scores` over many replies, with the same results at the speed of the JSON decoder.

    A reply that is one plain or fenced object, each of whose scores is a number on the scale, is
    read directly; every other one goes through `parse_scores`.

    Raises
    ------
    InputError
        If `finish_reasons` does not have one entry a reply.

    Examples
    --------
    >>> from voirdire.schema import Scale
    >>> columns = parse_scores_column(['{"Empathy": 4}', None], ["Empathy"], Scale())
    >>> columns.scores, columns.status
    ({'Empathy': [4.0, None]}, ['ok', 'blank'])
    """
    n = len(texts)
    if finish_reasons is not None and len(finish_reasons) != n:
        raise InputError(f"finish_reasons has {len(finish_reasons)} entries for {n} replies")
    # As if all were well: only the few rows that need care are written over.
    columns = ScoreColumns(
        scores={name: [] for name in attributes},
        statuses={name: ["ok"] * n for name in attributes},
        status=["ok"] * n,
        flags=[()] * n,
        off_scale={name: {} for name in attributes},
        reasons={name: {} for name in attributes},
    )
    for row in _fill_plain(columns, texts, attributes, scale, finish_reasons):
        finish = finish_reasons[row] if finish_reasons is not None else "stop"
        parsed = parse_scores(texts[row], attributes, scale, finish_reason=finish, words=words)
        _place(columns, row, parsed)
    return columns


def _fill_plain(
    columns: ScoreColumns,
    texts: Sequence[str | None],
    attributes: Sequence[str],
    scale: Scale,
    finish_reasons: Sequence[FinishReason] | None,
) -> list[int]:
    """Append every reply that needs no care, nulls for the others; returns the others' rows."""
    plain = plain_reader(tuple(attributes), scale)
    careful: list[int] = []
    empty: list[float | None] = [None] * len(attributes)
    rows = []
    for row, text in enumerate(texts):
        ended = finish_reasons is None or finish_reasons[row] in ENDS
        fields = plain.read(text) if text is not None and ended else None
        if fields is None:
            careful.append(row)
        elif fields.shape.absent:
            columns.status[row] = "blank"
            for _, name in fields.shape.absent:
                columns.statuses[name][row] = "blank"
                columns.reasons[name][row] = "absent"
        rows.append(empty if fields is None else fields.scores)
    if rows:
        # Turned round once, in C, in place of a loop over the attributes for each reply.
        columns.scores.update(zip(attributes, map(list, zip(*rows, strict=True)), strict=True))
    return careful


def _place(columns: ScoreColumns, row: int, parsed: Parsed) -> None:
    columns.status[row] = parsed.status
    columns.flags[row] = parsed.flags
    for name, score in parsed.scores.items():
        columns.scores[name][row] = score
        columns.statuses[name][row] = parsed.statuses[name]
    for name, reason in parsed.reasons.items():
        columns.reasons[name][row] = reason
    for name, number in parsed.extra.get("off_scale", {}).items():
        columns.off_scale[name][row] = number
