"""Which labels a line of running text names, and whether the line is a list or a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voirdire.parsing._labelset import WORD, LabelSet, label_at, spelled, word_form

if TYPE_CHECKING:
    from collections.abc import Iterator

_BULLET = re.compile(r"\s*(?:[-*•>#–—]+\s*|\(?\d{1,2}[.):]\s*|\(?[A-Za-z][.)]\s+)+")
_CUE = re.compile(r"(?P<cue>[^:：\n]{1,80})[:：]\s*(?=\S)")
_FINAL = re.compile(r"\b(?:final|answer|output|conclusion)\b", re.IGNORECASE)
_BREAK = re.compile(r"[,;|/&+\n]|\band\b|\bor\b|\bas well as\b", re.IGNORECASE)
_AFTER_LEAD = re.compile(r"\s*(?:[:：(–—.]|-\s|\b(?:because|since|as|is|was)\b)", re.IGNORECASE)
_NOT = frozenset(
    ("not", "no", "never", "without", "neither", "nor", "nothing", "rather", "instead", "cannot"),
) | {"isn't", "aren't", "doesn't", "don't", "wasn't", "can't", "unlikely", "absent", "excluded"}
# Words of a sentence: an entry of a list does not hold them.
_SENTENCE = (
    _NOT
    | {"i", "you", "he", "she", "we", "they", "it", "this", "that", "there", "the", "my", "your"}
    | {"is", "are", "was", "were", "be", "has", "have", "had", "does", "do", "did", "seems"}
    | {"user", "text", "post", "appears", "please", "sorry", "here", "because", "which", "who"}
)
_NO_ENTRY = frozenset({"na", "null", "nil", "unknown", "unclear"})
_MAX_ENTRY, _MAX_REMARK = 6, 3


@dataclass(frozen=True, slots=True)
class Line:
    """Labels named by a line, unknown entries, and what kind of line it is.

    `kind`: ``"list"``, ``"lead"`` (a label, then an explanation) or ``"prose"``.
    """

    kind: str
    labels: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    marked: bool = False
    final: bool = False


@dataclass(slots=True)
class _Entry:
    """What stands between two separators."""

    labels: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    start: int = 0
    end: int = 0
    bracketed: bool = False


def read_line(labels: LabelSet, raw: str) -> Line:
    """The labels of one line."""
    line = raw.replace("*", "").replace("`", "").replace('"', "").strip()
    bullet = _BULLET.match(raw)
    line = line[bullet.end() :] if (bullet := _BULLET.match(line)) else line
    marked = bullet is not None or _BULLET.match(raw) is not None
    if lead := _lead(labels, line):
        return Line("lead", (lead,), marked=marked)
    cue = _CUE.match(line)
    final = cue is not None and _FINAL.search(cue["cue"]) is not None
    body = line[cue.end() :] if cue else line
    if cue and (lead := _lead(labels, body)):
        return Line("lead", (lead,), marked=True, final=final)
    if spelled(body) in _NO_ENTRY:
        return Line("prose")
    entries = list(_entries(labels, body))
    if entries and all(_is_entry(entry) for entry in entries):
        unknown = tuple(_text(body, each) for each in entries if _is_unknown(labels, each))
        known = [e for e in entries if not (_is_unknown(labels, e) or _is_denied(e))]
        named = tuple(label for each in known for label in each.labels)
        return Line("list", named, unknown, marked=marked or cue is not None, final=final)
    return Line("prose", tuple(_mentioned(labels, line)))


def _lead(labels: LabelSet, line: str) -> str | None:
    """A label at the start, followed by an explanation longer than a remark."""
    words = list(WORD.finditer(line[:400]))
    found = (
        label_at(labels, line, words, [word_form(w.group()) for w in words], 0) if words else None
    )
    if found is None or words[0].start() > 2:
        return None
    label, count = found
    end = words[count - 1].end()
    explains = len(words) - count > _MAX_REMARK and _AFTER_LEAD.match(line, end)
    return label if explains else None


def _entries(labels: LabelSet, line: str) -> Iterator[_Entry]:
    words = list(WORD.finditer(line))
    forms = [word_form(word.group()) for word in words]
    entry, at = _Entry(), 0
    while at < len(words):
        start = words[at].start()
        if (entry.labels or entry.rest) and _BREAK.search(line, entry.end, start):
            yield entry
            entry = _Entry(start=start)
        if _BREAK.fullmatch(words[at].group()) and not label_at(labels, line, words, forms, at):
            entry.end = entry.end or start
            if entry.labels or entry.rest:
                yield entry
            entry, at = _Entry(start=words[at].end(), end=words[at].end()), at + 1
            continue
        found = label_at(labels, line, words, forms, at)
        count = found[1] if found else 1
        if not (entry.labels or entry.rest):
            entry.start = start
        if found:
            entry.bracketed |= bool(entry.rest) and "(" in line[entry.end : start]
            entry.labels.append(found[0])
        else:
            entry.rest.append(forms[at])
        at += count
        entry.end = words[at - 1].end()
    if entry.labels or entry.rest:
        yield entry


def _is_entry(entry: _Entry) -> bool:
    if entry.labels and not entry.bracketed:
        if _is_denied(entry):
            return True
        return len(entry.rest) <= _MAX_REMARK and _SENTENCE.isdisjoint(entry.rest)
    return len(entry.rest) <= _MAX_ENTRY and _SENTENCE.isdisjoint(entry.rest)


def _is_denied(entry: _Entry) -> bool:
    """``not Anger`` as an entry names nothing."""
    return bool(entry.labels) and bool(entry.rest) and set(entry.rest) <= {"not", "no"}


def _is_unknown(labels: LabelSet, entry: _Entry) -> bool:
    """An entry outside the set, such as ``Paranoia (Mind Reading)`` or ``care for others``."""
    if not entry.labels or entry.bracketed:
        return True
    return bool(entry.rest) and set(entry.labels) == {labels.other}


def _text(line: str, entry: _Entry) -> str:
    closing = ")" if line[entry.end : entry.end + 1] == ")" else ""
    return (line[entry.start : entry.end] + closing).strip()


def _mentioned(labels: LabelSet, line: str) -> Iterator[str]:
    """Labels that a sentence names without denying anything.

    Ordinary words that happen to be labels (*others*, *none*) count only in lists.
    """
    for sentence in re.split(r"(?<=[.!?])\s+", line):
        entries = list(_entries(labels, sentence))
        if not all(_NOT.isdisjoint(entry.rest) for entry in entries):
            continue
        for label in (label for entry in entries for label in entry.labels):
            ordinary = label in (labels.none, labels.other) and len(WORD.findall(label)) == 1
            if not ordinary and (label != labels.none or "none" not in sentence.casefold()):
                yield label
