"""Why a value is missing, finely, and the status that each reason comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from voirdire.schema import Status

#: Fine reason -> status. A reply without any answer gives its own status to every attribute.
REASONS: Mapping[str, Status] = {
    "absent": "blank",
    "null": "blank",
    "empty": "blank",
    "nan": "blank",
    "off_scale": "out_of_scale",
    "scale_mismatch": "unparsable",
    "ambiguous": "unparsable",
    "not_numeric": "unparsable",
    "no_score": "unparsable",
    "duplicate_key": "unparsable",
    "not_yes_no": "unparsable",
    "contradiction": "unparsable",
    "unknown_label": "unparsable",
    "no_choice": "unparsable",
    "too_many": "unparsable",
    "zero_based_keys": "unparsable",
    "not_ratable": "blank",
    "no_answer": "unparsable",
    "too_deep": "unparsable",
    "cut": "truncated",
    "reasoning_unclosed": "truncated",
    "refused": "refused",
    "filtered": "filtered",
    "failed": "failed",
    "blank": "blank",
}
_WORST_LAST: tuple[Status, ...] = (
    "ok",
    "repaired",
    "blank",
    "out_of_scale",
    "unparsable",
    "truncated",
    "refused",
    "filtered",
    "failed",
)


def worst_status(statuses: Iterable[Status], at_least: Status = "ok") -> Status:
    """The worst of several statuses; *ok* and *repaired* only where nothing is missing."""
    return max((at_least, *statuses), key=_WORST_LAST.index)
