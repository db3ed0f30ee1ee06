"""Replies made of named lines, such as ``Mental Health Disorder: Yes``: what each line says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from voirdire.errors import InputError
from voirdire.parsing._names import FoundName, SpelledNames, names_in
from voirdire.parsing._parsed import missing
from voirdire.parsing._reasoning import drop_reasoning
from voirdire.parsing._settling import settled
from voirdire.parsing._source import nothing_there
from voirdire.parsing._stated import Statement
from voirdire.parsing._words import MARK, STRUCK, rank_of
from voirdire.parsing.yesno import said_yes
from voirdire.schema import Parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from voirdire.schema import FinishReason, Status

# A denial reaches over at most three words ("no sign of anxiety"); "not only" and "not otherwise
# specified" deny nothing.
_DENIED = re.compile(
    r"\b(?:no|not(?!\s+(?:only|just|merely|otherwise|elsewhere))|without|rather than|instead of"
    r"|absence of)\s+(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)

# "2. **Name of cue**: low mood": marks and a number before a field's name, and a colon behind it.
_OPENS = re.compile(
    rf"[ \t*_`>#-]{{0,6}}(?:\d{{1,2}}[.)][ \t]{{0,3}})?[*_`]{{0,3}}(?:(?:{MARK})[ \t]+)?",
    re.IGNORECASE,
)
_COLON = re.compile(r"[*_`\s]{0,4}[:：][*_`]{0,3}")
_LEAD = 60
_MOST = 500  # the last so many: no honest reply states more


def parse_fields(text: str | None, names: Sequence[str]) -> dict[str, str | None]:
    r"""The text behind each name, up to the next one; None where it is absent or empty.

    Names stand at the start of a line, in any case, bold or numbered, before a colon. A name that
    comes twice follows the rule of all statements: drafts never count, a final one does, and two
    texts that differ leave None.

    >>> parse_fields("**Cue**: Yes\n2. Name of cue: low mood", ["Cue", "Name of cue"])
    {'Cue': 'Yes', 'Name of cue': 'low mood'}
    """
    fields = SpelledNames.of(names)
    if len(fields.forms) < len(names):
        raise InputError(f"a field needs a name with letters or digits, got {list(names)}")
    by_name: dict[str, list[Statement]] = {name: [] for name in names}
    # Reasoning speaks of the same lines before they are answered.
    body = STRUCK.sub("", drop_reasoning(text or "").text)
    found = list(_headed(body, fields))[-_MOST:]
    ends = [*(opens for opens, _, _ in found[1:]), len(body)]
    for (_, field, begins), end in zip(found, ends, strict=False):
        stated = body[begins:end].strip()
        rank = rank_of(body, field.start, begins)
        one = Statement(field.name, stated, field.start, end, rank, closed=True)
        by_name[field.name].append(one)
    settles = {name: settled(lines, body, _text, cut=False) for name, lines in by_name.items()}
    return {name: each.value if each else None for name, each in settles.items()}


def _headed(body: str, fields: SpelledNames) -> Iterator[tuple[int, FoundName, int]]:
    """The names that begin a line: where the line opens, the name, and where its text begins."""
    free = 0
    for field in names_in(body, fields):
        colon = _COLON.match(body, field.end) if field.start >= free else None
        line = body[max(0, field.start - _LEAD) : field.start].rpartition("\n")[2]
        if colon and _OPENS.fullmatch(line):
            free = colon.end()
            yield field.start - len(line), field, free


def _text(stated: str) -> str | None:
    return stated or None


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
            not _DENIED.search(text[: match.start()])
            for pattern in expressions
            for match in re.finditer(pattern, text, re.IGNORECASE)
        )
        for label, expressions in patterns.items()
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
    lines = parse_fields(text, fields)
    answer, name = said_yes(lines[answer_line]), _name(lines[name_line], nameless)
    if answer is None:
        return missing(keys, "cut" if finish_reason == "length" else "not_yes_no")
    named = labels_named(name, patterns)
    if not answer and any(named.values()):
        return missing(keys, "contradiction")
    extra = {"named": name, "rationale": lines[reason_line] or ""}
    if answer and not name:
        # That something is there is an answer; which it is was left open.
        statuses: dict[str, Status] = {whole: "ok", **dict.fromkeys(patterns, "blank")}
        absent = dict.fromkeys(patterns, "absent")
        scores = {whole: 1.0, **dict.fromkeys(patterns)}
        return Parsed(scores, "blank", statuses, extra=extra, reasons=absent)
    given = {label: float(answer and one) for label, one in named.items()}
    return Parsed({whole: float(answer), **given}, "ok", extra=extra)


def _name(text: str | None, nameless: Collection[str]) -> str:
    first = (text or "").strip().strip("*_`").strip()
    return "" if first.casefold().rstrip(".") in nameless else first
