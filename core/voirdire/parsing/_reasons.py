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
#: Kind of a flag -> what it says of a reply. Reasons why a value is missing are kinds as well.
FLAGS: Mapping[str, str] = {
    "reasoning": "a block of reasoning was left out",
    "other_text": "there is text beside the object",
    "stated_in_text": "the scores were read from running text",
    "conflicting": "another statement disagreed with the one that counts",
    "between_levels": "the value lies between two levels",
    "unknown_label": "an entry is outside the declared set",
    "contradiction": "*none* is given with another label",
    "other_dropped": "*other* gave way to a declared label",
    "too_many": "more were named than were asked for",
    "unknown_item": "an item was answered that was not asked",
    "total_differs": "the stated total is another than the sum",
    "names_not_letters": "options were chosen by their names",
    "weighted_levels": "the score is the mean of the levels, weighted by probability",
    "low_mass": "the levels had less than half of the probability",
    "no_logprobs": "no log-probabilities came, and the stated number stands",
    "other_token": "the log-probabilities are of another token than the score that is stated",
    "echoes_orders": "the reply speaks of orders in the text that it judges",
    "parser_raised": "the rater's own parser failed",
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
