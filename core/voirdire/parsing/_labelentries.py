"""Entries of a line: the labels and words that stand between two separators."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from voirdire.parsing._hearing import denies, denies_any
from voirdire.parsing._names import name_at
from voirdire.parsing._spelling import Words, words_of
from voirdire.parsing._vocabulary import rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.parsing._labelset import LabelSet

# What parts entries: a comma, a slash, "as well as".
_BREAK = re.compile(r"[,;|/&+\n]|\band\b|\bor\b|\bvs\b|\bversus\b|\bas well as\b", re.IGNORECASE)
# "Anger or Fear", "Anger vs Fear": alternatives, of which none is chosen.
OR = frozenset({"or", "vs", "versus"})
_JOINS = OR | {"and"}
# In running text a one-word label behind these is a verb: "I fear", "I am labeling".
_SUBJECTS = frozenset(rule("subjects"))
_BEFORE, _BEHIND = ("non-", "anti-", "self-"), "-free"
NOT = frozenset(rule("not"))
# These deny in a sentence; in a list they may be part of an entry (*lack of empathy*).
DENYING = NOT | frozenset(rule("denying"))
# Words of a sentence: an entry of a list does not hold them.
_SENTENCE = NOT | frozenset(rule("of_sentence"))
# "Response A shows Anger, Response B shows Joy": labels of several texts are the labels of none.
_TEXTS = frozenset(rule("texts"))
# The stop stays with its clause: a look behind takes no sign away.
_CLAUSES = re.compile(r"(?<=[.;,!?])\s+|\n")
#: More words make a sentence of an entry, or of what follows a label in it.
_MAX_ENTRY, MAX_REMARK = 6, 3


@dataclass(slots=True)
class Entry:
    """What stands between two separators."""

    labels: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    start: int = 0
    end: int = 0
    bracketed: bool = False


def entries_of(labels: LabelSet, line: str) -> Iterator[Entry]:
    words = words_of(line)
    forms, spans = words.forms, words.spans
    entry, at = Entry(), 0
    while at < len(forms):
        start = spans[at][0]
        # Nearly always no sign parts words, but a blank.
        begun = entry.labels or entry.rest
        if begun and line[entry.end : start] != " " and _BREAK.search(line, entry.end, start):
            yield entry
            entry = Entry(start=start)
        # *and* parts two entries, unless a label begins with it.
        form = forms[at]
        named = name_at(labels, words, at) if form in labels.beginnings else None
        if form in _JOINS and not named:
            entry.end = entry.end or start
            if entry.labels or entry.rest:
                yield entry
            entry, at = Entry(start=spans[at][1], end=spans[at][1]), at + 1
            continue
        count = named[1] if named else 1
        if not (entry.labels or entry.rest):
            entry.start = start
        if named:
            # "Paranoia (Mind Reading)": the label explains another word, which is the entry.
            entry.bracketed |= bool(entry.rest) and "(" in line[entry.end : start]
            other = _is_other_word(words, at, count)
            entry.rest.append(form) if other else entry.labels.append(named[0])
        else:
            entry.rest.append(form)
        at += count
        entry.end = spans[at - 1][1]
    if entry.labels or entry.rest:
        yield entry


def _is_other_word(words: Words, at: int, count: int) -> bool:
    """Whether a label's word is a verb here (*I fear*), or part of another (*self-control*)."""
    line, start, end = words.text, words.spans[at][0], words.spans[at + count - 1][1]
    if line[max(0, start - 5) : start].casefold().endswith(_BEFORE):
        return True
    verb = count == 1 and at > 0 and words.forms[at - 1] in _SUBJECTS
    return verb or line[end : end + len(_BEHIND)].casefold() == _BEHIND


def begins_a_sentence(labels: LabelSet, line: str) -> bool:
    """Whether more words than an entry has stand before the first separator of a line."""
    separator = _BREAK.search(line)
    forms = words_of(line[: separator.start()] if separator else line).forms
    return len(forms) > _MAX_ENTRY + labels.longest and not denies_any(forms)


def is_entry(entry: Entry) -> bool:
    if entry.labels and not entry.bracketed:
        if is_denied(entry):
            return True
        return len(entry.rest) <= MAX_REMARK and (_SENTENCE | DENYING).isdisjoint(entry.rest)
    if any(map(denies, entry.rest)):
        return False
    return len(entry.rest) <= _MAX_ENTRY and _SENTENCE.isdisjoint(entry.rest)


def is_either(line: str, entries: Sequence[Entry]) -> bool:
    """Whether two labels are alternatives: *Anger or Fear*."""
    return any(
        one.labels and other.labels and not OR.isdisjoint(_between(line, one, other))
        for one, other in pairwise(entries)
    )


def _between(line: str, one: Entry, other: Entry) -> tuple[str, ...]:
    return words_of(line[one.end : other.start]).forms


def is_denied(entry: Entry) -> bool:
    """``not Anger`` as an entry names nothing."""
    if not (entry.labels and entry.rest):
        return False
    return set(entry.rest) <= {"not", "no"} or any(map(denies, entry.rest))


def is_unknown(labels: LabelSet, entry: Entry) -> bool:
    """An entry outside the set, such as ``Paranoia (Mind Reading)`` or ``care for others``."""
    if not entry.labels or entry.bracketed:
        return True
    return bool(entry.rest) and set(entry.labels) == {labels.other}


def text_of(line: str, entry: Entry) -> str:
    closing = ")" if line[entry.end : entry.end + 1] == ")" else ""
    return (line[entry.start : entry.end] + closing).strip()


def of_one_text(text: str) -> str:
    """The text without the clauses that speak of one of several responses."""
    if len(_spoken_of(text)) < 2:
        return text
    lines = (
        " ".join(each for each in _CLAUSES.split(line) if not _spoken_of(each))
        for line in text.splitlines()
    )
    return "\n".join(lines)


def _spoken_of(text: str) -> set[str]:
    """Which of several responses a text names: *Response A*, *text #2*."""
    words = words_of(text)
    if _TEXTS.isdisjoint(words.forms):
        return set()
    return {
        which
        for at, (noun, which) in enumerate(pairwise(words.forms))
        if noun in _TEXTS
        and (which in ("a", "b", "c", "d") or (len(which) == 1 and which.isdigit()))
        and text[words.spans[at][1] : words.spans[at + 1][0]].replace("#", "", 1).isspace()
    }
