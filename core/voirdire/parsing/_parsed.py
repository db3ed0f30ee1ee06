"""Answers and reasons put together as a `Parsed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.parsing._reasons import REASONS, worst_status
from voirdire.parsing._source import object_keys, other_fields, storable
from voirdire.schema import Flag, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voirdire.parsing._plain import Plain
    from voirdire.parsing._source import Source
    from voirdire.parsing._statements import Settled
    from voirdire.schema import Status


def answered(
    answers: Mapping[str, float | str],
    source: Source,
    *,
    flags: Iterable[Flag] = (),
    extra: Mapping[str, Any] | None = None,
) -> Parsed:
    """A reply that answers: each key has a number, or the reason why it has none."""
    read: Status = "repaired" if source.reading.mended else "ok"
    reasons = {
        key: "cut" if source.cut and answer == "absent" else answer
        for key, answer in answers.items()
        if isinstance(answer, str)
    }
    statuses = {key: REASONS[reasons[key]] if key in reasons else read for key in answers}
    return Parsed(
        scores={key: None if isinstance(a, str) else a for key, a in answers.items()},
        status="truncated" if source.cut else worst_status(statuses.values(), read),
        statuses=statuses,
        flags=(*source.flags, *flags),
        extra={"fields": other_fields(source, answers), "keys": object_keys(source)}
        | dict(extra or {}),
        reasons=reasons,
    )


def answered_plainly(keys: Sequence[str], plain: Plain) -> Parsed:
    """A reply that is one object with a score for each key: nothing about it is odd."""
    fields = {storable(key): storable(plain.found[key]) for key in plain.shape.others}
    return Parsed(
        scores=dict(zip(keys, plain.scores, strict=True)),
        status="ok",
        statuses=dict.fromkeys(keys, "ok"),
        extra={"fields": fields, "keys": plain.shape.shown},
    )


def answered_from(
    stated: Mapping[str, Settled[float | str]],
    source: Source,
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
