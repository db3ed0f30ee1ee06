"""Answers put together as a `Parsed`: why a value is missing, and the status it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.parsing._source import object_keys, other_fields, storable
from voirdire.schema import Flag, Parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from voirdire.parsing._plain import Plain
    from voirdire.parsing._settling import Settled
    from voirdire.parsing._source import ReplySource
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
# *failed* last: what never came hides all else; *blank* first, for a reply that leaves
# out one key is not broken.
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


def answered(
    answers: Mapping[str, float | str],
    source: ReplySource,
    *,
    flags: Iterable[Flag] = (),
    extra: Mapping[str, Any] | None = None,
) -> Parsed:
    """A reply that answers: each key has a number, or the reason why it has none."""
    # Nobody knows what a reply that was cut would have said of a key that it does not name.
    reasons = {
        key: "cut" if source.cut and answer == "absent" else answer
        for key, answer in answers.items()
        if isinstance(answer, str)
    }
    statuses = {key: REASONS[reasons[key]] if key in reasons else source.status for key in answers}
    return Parsed(
        scores={key: None if isinstance(a, str) else a for key, a in answers.items()},
        status="truncated" if source.cut else worst_status(statuses.values(), source.status),
        statuses=statuses,
        flags=(*source.flags, *flags),
        extra={"fields": other_fields(source, answers), "keys": object_keys(source)}
        | dict(extra or {}),
        reasons=reasons,
    )


def one_answer(answers: Collection[float | str]) -> float | str:
    """The one answer that all values of a key give, or the reason why there is none."""
    distinct = set(answers)
    if not distinct:
        return "absent"
    return distinct.pop() if len(distinct) == 1 else "duplicate_key"


def answered_plainly(keys: Sequence[str], plain: Plain) -> Parsed:
    """A reply that is one object with scores and nothing odd about it; it may leave out keys."""
    fields = {storable(key): storable(plain.values[key]) for key in plain.shape.others}
    absent = {name: "absent" for _, name in plain.shape.absent}
    return Parsed(
        scores=dict(zip(keys, plain.scores, strict=True)),
        status="blank" if absent else "ok",
        statuses={key: "blank" if key in absent else "ok" for key in keys},
        extra={"fields": fields, "keys": plain.shape.shown},
        reasons=absent,
    )


def answered_from(
    stated: Mapping[str, Settled[float | str]],
    source: ReplySource,
    *,
    flags: Iterable[Flag] = (),
    extra: Mapping[str, Any] | None = None,
) -> Parsed:
    """`answered` from what was settled on each key; a value that is a text is a reason."""
    answers = {
        key: each.reason if each.value is None else each.value for key, each in stated.items()
    }
    conflicts = [Flag("conflicting", key) for key, each in stated.items() if each.conflict]
    return answered(answers, source, flags=(*flags, *conflicts), extra=extra)


def missing(
    keys: Iterable[str],
    reason: str,
    *,
    flags: Iterable[Flag] = (),
    extra: Mapping[str, Any] | None = None,
) -> Parsed:
    """A reply without an answer: every key is missing for the same reason."""
    reasons = dict.fromkeys(keys, reason)
    status = REASONS[reason]
    return Parsed(
        scores=dict.fromkeys(reasons),
        status=status,
        statuses=dict.fromkeys(reasons, status),
        flags=tuple(flags),
        extra=dict(extra or {}),
        reasons=reasons,
    )
