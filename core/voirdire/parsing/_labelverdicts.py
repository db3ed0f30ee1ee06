"""Lists of verdicts: what a reply says of each label, one by one.

``Anger: yes``, ``Anger (1), Fear (0)``, a row of a table, ``<Anger>no</Anger>`` are one statement:
a label and whether it applies. A value that is neither a known yes nor a known no says nothing of
its label, which is missing then; a longer text behind a label explains it, and so names it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from voirdire.parsing._hearing import hedges
from voirdire.parsing._labelset import LabelSet, label_at
from voirdire.parsing._settling import settled
from voirdire.parsing._spelling import Phrases, spelled, words_of
from voirdire.parsing._statements import Statement, rows_of, tables
from voirdire.parsing._words import rank_of
from voirdire.parsing.yesno import said_yes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What may stand right before a label that begins an entry, marks aside: nothing, the sign or number
# of a list, or a separator.
_OPENS = re.compile(
    r"(?:^(?:\s*(?:[-–—]|\d{1,2}[.)]))?|[,;|/&>•·]|(?<=\s)[-–—]|\b(?:and|und|et|y|e|en|i|og|och|ve)\s)[\s*_`\"'“(\[#>]*$"
)
# What leads from a label to its verdict; `close` must follow the value then.
_SIGN = re.compile(
    r"[*_`\"'”’\s]{0,6}(?:(?P<colon>[:：=]|[-=]>|→)|(?P<dash>[–—]|-(?=\s))|(?P<open>[(\[（])|(?P<tag>>)"
    r"|(?P<asked>\?))[*_`\"'“‘\s]{0,6}"
    # "Anger 1" at the end of a line.
    r"|(?P<plain>[*_`]{0,3}[ \t]+(?=[01]\W*\Z))"
)
# Without any of these a line lists no verdicts.
_ANY_SIGN = re.compile(r"[:：=>→–—([（?]|-\s|[01]\W*\Z")
_VALUE_ENDS = {"open": (")", "]", "）"), "tag": ("</",)}
# Where a value without a closing sign ends: with its field.
_FIELD_ENDS = ("\n", "</", "|")
# Behind these may as well stand a remark or the number of a thing: only beside a *no* is it a list.
_REMARKS = frozenset({"open", "dash", "plain"})
#: A value of more words explains, and so does a shorter one that speaks of people: *he shouts*.
_FEW = 3
_PEOPLE = frozenset({"he", "she", "they", "his", "her", "their", "user", "speaker", "writer"})
_LONGEST, _MOST = 300, 500
#: In East Asia a round says yes and a cross no.
_EASTERN = dict.fromkeys("○◯〇", "yes") | dict.fromkeys("×✕", "no")
#: A number is a verdict where it is 0 or 1: any other is a confidence, a rank or a degree.
_NUMBER = re.compile(r"\W*\d[\d.,]*\s*%?\W*")
#: "[x] Anger", "☑ Anger", "[ ] Anger": ticked, or left empty or crossed.
BOX = re.compile(r"[\W_]{0,6}?(?:\[\s*(?P<tick>[xX✓✔]?)\s*\]|(?P<yes>[✅☑✓✔])|[❌☐✗✘✖])\s*")


# "Hard to say without context", "not sure whether this is anger".
_UNSURE = Phrases(
    *("unclear", "unsure", "uncertain", "maybe", "perhaps", "possibly"),
    *("not sure", "not clear", "not certain", "hard to", "difficult to", "impossible to"),
    *(f"{cannot} {tell}" for cannot in ("cannot", "can't") for tell in ("say", "tell", "judge")),
)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a list of verdicts says: labels that apply, that do not, and that are not known.

    `conflict`: one label has two verdicts.
    """

    yes: tuple[str, ...]
    no: tuple[str, ...]
    unknown: tuple[str, ...]
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class _VerdictEntry:
    """A label, the text that says whether it applies, and how they are joined."""

    label: str
    text: str
    at: int
    end: int
    sign: str


def verdicts_on(text: str, labels: LabelSet) -> Verdicts | None:
    """The verdicts that a text lists; None where it lists none."""
    cells = list(_cells(text, labels))
    entries = [*cells, *_entries(text, labels, cells)]
    entries = [each for each in entries if each.label not in (labels.none, labels.other)]
    if not entries:
        return None
    # T and F are true and false where all verdicts are one of them.
    if {each.text.upper() for each in entries} in ({"T", "F"}, {"F"}):
        entries = [replace(e, text="true" if e.text.upper() == "T" else "false") for e in entries]
    values = {id(each): verdict(each.text) for each in entries}
    told = {each.sign for each in entries if isinstance(values[id(each)], bool)}
    denied = any(values[id(each)] is False for each in entries)
    listed = [
        each
        for each in entries
        if values[id(each)] != "explained"
        and (each.sign not in _REMARKS or (each.sign in told and denied))
    ]
    if not listed or (len(listed) == 1 and values[id(listed[0])] is None and len(entries) > 1):
        return None
    # In a list of verdicts a label with an explanation is there: "Fear (no), Anger (he may hide)".
    signs = {each.sign for each in listed} | {"colon"}
    kept = [e for e in entries if e in listed or (e.sign in signs and values[id(e)] == "explained")]
    return _settled(kept, text)


def verdict(text: str) -> bool | str | None:
    """True, False, None where a short value is neither, or ``"explained"``."""
    text = text.strip()
    if (box := BOX.match(text)) and not any(map(str.isalnum, text[box.end() :])):
        return bool(box["tick"] or box["yes"])
    text = _EASTERN.get(text, text)
    if (answer := said_yes(text)) is not None:
        return answer
    if _NUMBER.fullmatch(text):
        return {"1": True, "0": False}.get(text.strip(" .*_`()[]"))
    forms = words_of(text).forms
    if forms == ("none",):
        return False
    if len(forms) <= _FEW and _PEOPLE.isdisjoint(forms):
        return None
    # "Hard to say for me": no explanation of a label that is there.
    return None if _UNSURE.among(forms) or hedges(text) else "explained"


def _settled(entries: Sequence[_VerdictEntry], text: str) -> Verdicts:
    yes, no, unknown, conflict = list[str](), list[str](), list[str](), False
    for label in dict.fromkeys(each.label for each in entries):
        stated = [
            Statement(label, e.text, e.at, e.end, rank_of(text, e.at, e.end), closed=True)
            for e in entries
            if e.label == label
        ]
        settles = settled(stated, text, _told, cut=False)
        value = settles.value if settles else None
        conflict |= bool(settles and settles.conflict)
        (yes if value == "yes" else no if value == "no" else unknown).append(label)
    return Verdicts(tuple(yes), tuple(no), tuple(unknown), conflict)


def _told(text: str) -> str:
    value = verdict(text)
    return "unknown" if value is None else "no" if value is False else "yes"


def _cells(text: str, labels: LabelSet) -> Iterator[_VerdictEntry]:
    """Verdicts in tables: labels in a column beside one of verdicts, or as the head of columns."""
    for table in tables(text):
        head, *rows = rows_of(table.group())
        named = [labels.forms.get(spelled(cell)) for cell in head]
        if _is_row(head, rows, labels):
            pairs = _column_of_verdicts([head, *rows], labels)
        elif any(named):  # each column is a label
            pairs = [(n, c) for row in rows[:1] for n, c in zip(named, row, strict=False) if n]
        else:
            pairs = _column_of_verdicts(rows, labels)
        for label, cell in pairs:
            yield _VerdictEntry(label, cell, table.start(), table.end(), "cell")


def _is_row(head: Sequence[str], rows: Sequence[Sequence[str]], labels: LabelSet) -> bool:
    """Whether the first row of a table is no head: ``| Anger | 1 |`` as the rows below it."""
    first, *others = head
    named = spelled(first) in labels.forms
    if not (named and others) or any(spelled(cell) in labels.forms for cell in others):
        return False
    below = any(row and spelled(row[0]) in labels.forms for row in rows)
    return below or any(isinstance(verdict(cell), bool) for cell in others)


def _column_of_verdicts(rows: list[list[str]], labels: LabelSet) -> list[tuple[str, str]]:
    """Label and cell of the one column beside the labels whose cells are short."""
    named = [
        (labels.forms[spelled(row[0])], row[1:])
        for row in rows
        if row and spelled(row[0]) in labels.forms
    ]
    width = min((len(cells) for _, cells in named), default=0)
    short = [
        at for at in range(width) if all(verdict(cells[at]) != "explained" for _, cells in named)
    ]
    told = [at for at in short if any(verdict(cells[at]) is not None for _, cells in named)]
    # Of two such columns nobody can tell which is meant.
    at = told[0] if len(told) == 1 else short[0] if len(short) == 1 else None
    return [] if at is None else [(label, cells[at]) for label, cells in named]


def _entries(
    text: str, labels: LabelSet, cells: Sequence[_VerdictEntry]
) -> Iterator[_VerdictEntry]:
    """Verdicts in lines and tags."""
    inside = [(each.at, each.end) for each in cells]
    begun = [
        each
        for each in _begun(text, labels)
        if not any(start <= each[1] < end for start, end in inside)
    ][-_MOST:]
    for (label, at, end, sign), following in zip(begun, [*begun, None][1:], strict=True):
        upto = min(following[1] if following else len(text), end + _LONGEST)
        ends = [text.find(each, end, upto) for each in _VALUE_ENDS.get(sign, _FIELD_ENDS)]
        stop = min((at for at in ends if at >= 0), default=None)
        if sign in _VALUE_ENDS and stop is None:
            continue
        value = text[end : upto if stop is None else stop].strip(" \t,;|&*_`•·\"'”-–—")
        named = labels.forms.get(spelled(value))
        # A label that says *none* may be spelled as *no*; "Anger: Fear" is no verdict on anger.
        if named is None or (named == labels.none and verdict(value) is False):
            yield _VerdictEntry(
                label, value, at, end + len(value), "colon" if sign == "tag" else sign
            )


def _begun(text: str, labels: LabelSet) -> Iterator[tuple[str, int, int, str]]:
    """Labels that a sign follows: label, where it begins, where its value begins, and the sign."""
    for line in re.finditer(r"[^\n]+", text):
        if not _ANY_SIGN.search(line.group()):
            continue
        words, begins = words_of(line.group()), line.start()
        at = 0
        while at < len(words.forms):
            named = label_at(labels, words, at) if words.forms[at] in labels.beginnings else None
            if named is None:
                at += 1
                continue
            start, end = begins + words.spans[at][0], begins + words.spans[at + named[1] - 1][1]
            at += named[1]
            sign = _SIGN.match(text, end, line.end())
            if sign is None:
                continue
            kind = sign.lastgroup or ""
            before = text[max(line.start(), start - 20) : start]
            if kind == "tag":
                opens = text[start - 1 : start] == "<"
            else:
                opens = kind == "colon" or _OPENS.search(before) is not None
            if opens:
                yield named[0], start, sign.end(), "colon" if kind == "asked" else kind
