"""Which labels a line of running text names, and whether the line is a list or a sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from voirdire.parsing._labelset import WORD, LabelSet, label_at, spelled, word_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BULLET = re.compile(r"\s*(?:[-*•>#–—]+\s*|\(?\d{1,2}[.):]\s*|\(?[A-Za-z][.)]\s+)+")
_CUE = re.compile(r"(?P<cue>[^:：\n]{1,80})[:：]\s*(?=\S)")
_FINAL = re.compile(r"\b(?:final|answer|output|conclusion)\b", re.IGNORECASE)
_BREAK = re.compile(r"[,;|/&+\n]|\band\b|\bor\b|\bas well as\b", re.IGNORECASE)
_DASH = re.compile(r"\s*[–—]\s|\s-\s")
_AFTER_LEAD = re.compile(r"\s*(?:[:：(–—.]|-\s|\b(?:because|since|as|is|was)\b)", re.IGNORECASE)
# "Anger, not Fear", "Anger rather than Fear": what stands behind is denied, what before is not.
_TURNED = re.compile(
    r"(?:[,(;–—]\s*(?:and\s+|but\s+)?not\b(?!\s+(?:only|just))|(?<!other\s)\b(?:rather\s+)?than\b|\b(?:instead\s+of|as\s+opposed\s+to)\b)"
    r".*",
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(r"\bnot\s+(?:only|just)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<=[.!?])\s+|;\s*|,?\s+\bbut\s+(?!also|not)", re.IGNORECASE)
_ECHO = re.compile(r"\?[\s\"*]++(?=[^\W\d_])")
_SETTLES = re.compile(
    r"\b(?:label|answer|category|class(?:ification)?|verdict)\s+(?:is|would\s+be|should\s+be)[:\s]+",
    re.IGNORECASE,
)
_CONFIDENCE = re.compile(r"\(\s*\d*\.?\d+\s*%?\s*\)|\s[-–—]\s*\d*\.?\d+\s*%|\b\d+\.\d+\b")
_FREE_OF = re.compile(r"\bfree\s+(?:of|from)\b", re.IGNORECASE)
_FURTHER = re.compile(
    r"(?<![^\W_])(?:second(?:ary)?|third|tertiary|others?|additional|further)(?![^\W_])",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\W*(?:reason(?:s|ing)?|explanation|rationale|justification|note)\W*", re.IGNORECASE
)
_BOX = re.compile(r"[\W_]{0,6}?(?:\[\s*(?P<tick>[xX✓✔]?)\s*\]|(?P<yes>[✅☑✓✔])|[❌☐✗✘])\s*")
_CROSSES = tuple("❌☐✗✘")
# In running text a one-word label behind these is a verb: "I fear", "I am labeling".
_SUBJECTS = frozenset({"i", "we", "you", "he", "she", "they", "am", "i'm", "i'd", "would", "will"})
_BEFORE, _BEHIND = ("non-", "anti-", "self-"), "-free"
_NOT = frozenset(
    ("not", "no", "never", "without", "neither", "nor", "nothing", "rather", "instead", "cannot"),
) | {
    *("isn't", "aren't", "doesn't", "don't", "wasn't", "can't", "unlikely", "absent", "excluded"),
}
# These deny in a sentence; in a list they may be part of an entry (*lack of empathy*).
_DENIES = _NOT | {"lacks", "lack", "lacking", "absence", "less", "hardly", "rules", "ruled"}
# Words of a sentence: an entry of a list does not hold them.
_SENTENCE = (
    _NOT
    | {"i", "you", "he", "she", "we", "they", "it", "this", "that", "there", "the", "my", "your"}
    | {"is", "are", "was", "were", "be", "has", "have", "had", "does", "do", "did", "seems"}
    | {"user", "text", "post", "appears", "please", "sorry", "here", "because", "which", "who"}
)
_STATES = frozenset({"is", "are", "was", "were", "there"})
_NO_ENTRY = frozenset({"na", "null", "nil", "unknown", "unclear", "yes", "no"})
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
    if (raw := _ticked(raw)) == "":
        return Line("prose")
    line = raw.replace("*", "").replace("`", "").replace('"', "").strip()
    line = _FREE_OF.sub("not", _CONFIDENCE.sub("", _behind_last(_ECHO, line)))
    bullet = _BULLET.match(raw)
    line = line[bullet.end() :] if (bullet := _BULLET.match(line)) else line
    marked = bullet is not None or _BULLET.match(raw) is not None
    if lead := _lead(labels, line):
        return Line("lead", (lead,), marked=marked)
    cue = _CUE.match(line)
    final = cue is not None and _FINAL.search(cue["cue"]) is not None
    body = line[cue.end() :] if cue else line
    if cue and (headed := _headed(labels, cue["cue"], body)):
        return replace(headed, final=final)
    body = _TURNED.sub("", body)
    if spelled(body) in _NO_ENTRY:
        return Line("prose")
    entries = list(_entries(labels, body))
    if entries and all(_is_entry(entry) for entry in entries):
        unknown = tuple(_text(body, each) for each in entries if _is_unknown(labels, each))
        known = [e for e in entries if not (_is_unknown(labels, e) or _is_denied(e))]
        named_all = tuple(label for each in known for label in each.labels)
        return Line("list", named_all, unknown, marked=marked or cue is not None, final=final)
    return Line("prose", tuple(_mentioned(labels, line)))


def _behind_last(pattern: re.Pattern[str], text: str) -> str:
    """What stands behind the last match, or all of the text."""
    ends = [found.end() for found in pattern.finditer(text)]
    return text[ends[-1] :] if ends else text


def _headed(labels: LabelSet, cue: str, body: str) -> Line | None:
    """What ``Anger: he shouts`` and ``Label: Anger because he shouts`` name."""
    if _ASIDE.fullmatch(cue) or is_empty_slot(cue, body):
        return Line("prose")
    named = labels.forms.get(spelled(cue))
    if named is None or named in (labels.none, labels.other):
        lead = _lead(labels, _TURNED.sub("", body))
        return Line("lead", (lead,), marked=True) if lead else None
    forms = [word_form(word.group()) for word in WORD.finditer(body[:60])][:4]
    unread = _is_taken_back(forms) or not any(form.isalpha() for form in forms)
    return Line("prose") if unread else Line("lead", (named,), marked=True)


def is_empty_slot(cue: str, body: str) -> bool:
    """``Secondary: None`` says that there is no second label, not that there is none at all."""
    return _FURTHER.search(cue) is not None and spelled(body[:40]) in ("none", *_NO_ENTRY)


def _is_taken_back(forms: Sequence[str]) -> bool:
    """Whether the words behind a label deny it: *absent*, *is not shown*, *there is no sign*."""
    first = forms[0] if forms else ""
    return first in _NOT or (first in _STATES and not _DENIES.isdisjoint(forms))


def _ticked(raw: str) -> str:
    """A line without its box; nothing where the box is empty or crossed."""
    box = _BOX.match(raw)
    if box is None:
        return "" if raw.rstrip().endswith(_CROSSES) else raw
    return f"- {raw[box.end() :]}" if box["tick"] or box["yes"] else ""


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
    forms = [word_form(word.group()) for word in words[count : count + 4]]
    if not _AFTER_LEAD.match(line, end) or _is_taken_back(forms):
        return None
    explains = len(words) - count > _MAX_REMARK or _DASH.match(line, end)
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
            other = _is_other_word(line, words, forms, at, count)
            entry.rest.append(forms[at]) if other else entry.labels.append(found[0])
        else:
            entry.rest.append(forms[at])
        at += count
        entry.end = words[at - 1].end()
    if entry.labels or entry.rest:
        yield entry


def _is_other_word(
    line: str, words: list[re.Match[str]], forms: list[str], at: int, count: int
) -> bool:
    """Whether a label's word is a verb here (*I fear*), or part of another (*self-control*)."""
    start, end = words[at].start(), words[at + count - 1].end()
    if line[max(0, start - 5) : start].casefold().endswith(_BEFORE):
        return True
    verb = count == 1 and at > 0 and forms[at - 1] in _SUBJECTS
    return verb or line[end : end + len(_BEHIND)].casefold() == _BEHIND


def _is_entry(entry: _Entry) -> bool:
    if entry.labels and not entry.bracketed:
        if _is_denied(entry):
            return True
        return len(entry.rest) <= _MAX_REMARK and (_SENTENCE | _DENIES).isdisjoint(entry.rest)
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
    for sentence in _CLAUSE.split(_behind_last(_SETTLES, _NOT_ONLY.sub("", line))):
        entries = list(_entries(labels, _TURNED.sub("", sentence)))
        if sentence.endswith("?"):
            continue
        if not all(_DENIES.isdisjoint(entry.rest) for entry in entries):
            continue
        for label in (label for entry in entries for label in entry.labels):
            ordinary = label in (labels.none, labels.other) and len(WORD.findall(label)) == 1
            if not ordinary and (label != labels.none or "none" not in sentence.casefold()):
                yield label
