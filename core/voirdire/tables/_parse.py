"""Reply cells to scores: the parser, column by column."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from voirdire import parsing
from voirdire.tables._tables import STATUS, finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding, Flag, Scale

_SAMPLE = 300
_FLAGS = 12
_OWN_FINDING = ("off_scale", "between_levels")


@dataclass(frozen=True, slots=True)
class ParsedCells:
    """Series aligned with the cells: a score and its status by attribute, and each cell's status.

    Numbers off the scale stand in `scores` with status ``out_of_scale``.
    """

    scores: dict[str, pl.Series]
    statuses: dict[str, pl.Series]
    status: pl.Series
    flags: dict[str, int]


def parse_cells(
    texts: Sequence[str | None], attributes: Sequence[str], scale: Scale
) -> ParsedCells:
    """Every cell read for every attribute."""
    columns = parsing.parse_scores_column(texts, attributes, scale)
    scores = {
        name: _with_off_scale(columns.scores[name], columns.off_scale[name]) for name in attributes
    }
    statuses = {name: pl.Series(values, dtype=STATUS) for name, values in columns.statuses.items()}
    status = pl.Series(columns.status, dtype=STATUS)
    return ParsedCells(scores, statuses, status, _counted(columns.flags))


def _with_off_scale(scores: list[float | None], off: dict[int, float]) -> pl.Series:
    column = pl.Series(scores, dtype=pl.Float64)
    return column.scatter(list(off), list(off.values())) if off else column


def _counted(flags: Sequence[tuple[Flag, ...]]) -> dict[str, int]:
    """How often each remark was made, but for those that have a finding of their own."""
    counts = Counter(flag for each in flags if each for flag in each)
    return {str(flag): n for flag, n in counts.items() if flag.kind not in _OWN_FINDING}


def attributes_in(texts: Sequence[str | None]) -> tuple[str, ...]:
    """Keys with numbers in most of the first few hundred plain JSON replies, in their order.

    For files that come without a rubric.
    """
    seen: dict[str, int] = {}
    read = 0
    for text in [text for text in texts if text and text.strip()][:_SAMPLE]:
        found = _numbers(text)
        read += bool(found)
        for key in found:
            seen[key] = seen.get(key, 0) + 1
    return tuple(key for key, count in seen.items() if count * 2 > read)


def _numbers(text: str) -> list[str]:
    """Keys of the object in a reply that hold numbers; none where it is not plain JSON."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else {}
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    return [
        key.strip()
        for key, score in value.items()
        if isinstance(score, int | float) and not isinstance(score, bool)
    ]


def flag_findings(rater: str, flags: dict[str, int]) -> tuple[Finding, ...]:
    """What the parser remarked on, counted; it cost no score that is not missing anyway."""
    if not flags:
        return ()
    common = sorted(flags.items(), key=lambda pair: (-pair[1], pair[0]))
    note = finding(
        "reply_flags",
        "note",
        rater,
        [f"{flag} ({count:,})" for flag, count in common[:_FLAGS]],
        f"{plural(sum(flags.values()), 'remark')} of the parser on replies.",
        "Remarks cost no score by themselves; an ambiguous value is missing.",
        count=sum(flags.values()),
    )
    return (note,)
