"""Replies to an open question: is anything there, what is it called, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.parsing._parsed import missing
from voirdire.parsing._source import nothing_there
from voirdire.parsing.fields import parse_fields
from voirdire.parsing.yesno import said_yes
from voirdire.schema import Parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from voirdire.schema import FinishReason, Status

# A denial reaches over at most three words ("no sign of anxiety"); "not only" and "not otherwise
# specified" deny nothing.
_DENIED = re.compile(
    r"\b(?:no|not(?!\s+(?:only|just|merely|otherwise|elsewhere))|without|rather than|instead of"
    r"|absence of)\s+(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)


def labels_named(text: str, patterns: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    r"""Which labels a text names without denying it.

    Parameters
    ----------
    text : str
        Such as the name that a reply gives to what it saw.
    patterns : mapping of str to sequence of str
        Label -> regular expressions, in any case, of what names it.

    Examples
    --------
    >>> names = {"grief": [r"\bgrie(?:f|ving)\b"], "anger": [r"\banger\b"]}
    >>> labels_named("Grieving, no sign of anger", names)
    {'grief': True, 'anger': False}
    """
    return {
        label: any(
            not _DENIED.search(text[: found.start()])
            for pattern in own
            for found in re.finditer(pattern, text, re.IGNORECASE)
        )
        for label, own in patterns.items()
    }


def parse_named(
    text: str | None,
    fields: Sequence[str],
    patterns: Mapping[str, Sequence[str]],
    *,
    whole: str = "any",
    nameless: Collection[str] = ("",),
    finish_reason: FinishReason = "stop",
) -> Parsed:
    r"""1, 0 or None for `whole` (is anything there) and for each label. Never raises.

    *No* makes all of them 0. *Yes* without a name leaves the labels missing; *no* beside the name
    of a label is a contradiction, and all are missing.

    Parameters
    ----------
    fields : sequence of three str
        The lines that hold the yes or no, the name, and the reason given.
    patterns : mapping of str to sequence of str
        As in `labels_named`.
    nameless : collection of str
        What stands where no name is given, in lower case.

    Examples
    --------
    >>> lines, names = ("Feeling", "Name", "Reason"), {"grief": [r"\bgrief\b"]}
    >>> parse_named("Feeling: Yes\nName: Grief\nReason: a loss", lines, names).scores
    {'any': 1.0, 'grief': 1.0}
    """
    keys = (whole, *patterns)
    if text is None or nothing_there(text, finish_reason):
        return missing(keys, nothing_there(text, finish_reason))
    answer_line, name_line, reason_line = fields
    said = parse_fields(text, fields)
    answer, name = said_yes(said[answer_line]), _name(said[name_line], nameless)
    if answer is None:
        return missing(keys, "cut" if finish_reason == "length" else "not_yes_no")
    named = labels_named(name, patterns)
    if not answer and any(named.values()):
        return missing(keys, "contradiction")
    extra = {"named": name, "rationale": said[reason_line] or ""}
    if answer and not name:
        statuses: dict[str, Status] = {whole: "ok", **dict.fromkeys(patterns, "blank")}
        absent = dict.fromkeys(patterns, "absent")
        scores = {whole: 1.0, **dict.fromkeys(patterns)}
        return Parsed(scores, "blank", statuses, extra=extra, reasons=absent)
    given = {label: float(answer and one) for label, one in named.items()}
    return Parsed({whole: float(answer), **given}, "ok", extra=extra)


def _name(text: str | None, nameless: Collection[str]) -> str:
    first = (text or "").strip().strip("*_`").strip()
    return "" if first.casefold().rstrip(".") in nameless else first
