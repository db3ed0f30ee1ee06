"""Lists of verdicts: what a reply says of each label, one by one.

``Anger: yes``, ``Anger (1), Fear (0)``, a row of a table, ``<Anger>no</Anger>`` are one statement:
a label and whether it applies. A value that is neither a known yes nor a known no says nothing of
its label, which is missing then; a longer text behind a label explains it, and so names it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from voirdire.parsing._hearing import hedges
from voirdire.parsing._keys import ASIDES, plain_key
from voirdire.parsing._names import names_in
from voirdire.parsing._settling import Settled, is_taken_back_behind, settled
from voirdire.parsing._spelling import Phrases, spelled, words_of
from voirdire.parsing._stated import Statement
from voirdire.parsing._tables import cells
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import rank_of
from voirdire.parsing.yesno import said_yes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from voirdire.parsing._labelset import LabelSet

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
    # "Anger △", "Fear +": a mark that may say anything.
    r"|(?P<mark>[ \t]*(?=[△▲±~+−-][ \t]*(?:[,;|]|\Z)))"
)
_VALUE_ENDS = {"open": (")", "]", "）"), "tag": ("</",)}
# Where a value without a closing sign ends: with its field.
_FIELD_ENDS = ("\n", "</", "|")
# Behind these may as well stand a remark or the number of a thing: only beside a *no* is it a list.
_REMARKS = frozenset({"open", "dash", "plain"})
#: A value of more words explains, and so does a shorter one that speaks of people: *he shouts*.
_FEW = 3
_PEOPLE = frozenset(rule("people"))
_LONGEST, _MOST = 300, 500


# "Hard to say without context", "not sure whether this is anger".
_UNSURE = Phrases(*rule("unsure"))


class Verdicts(NamedTuple):
    """What a list of verdicts says: labels that apply, that do not, and that are not known.

    `conflict`: one label has two verdicts.
    """

    yes: tuple[str, ...]
    no: tuple[str, ...]
    unknown: tuple[str, ...]
    conflict: bool = False


def verdicts_on(text: str, labels: LabelSet) -> Verdicts | None:
    """The verdicts that a text lists; None where it lists none."""
    in_tables = list(cells(text, lambda cell: labels.forms.get(spelled(cell)), _said))
    entries = [*in_tables, *_entries(text, labels, in_tables)]
    entries = [each for each in entries if each.key not in (labels.none, labels.other)]
    if not entries:
        return None
    # T and F are true and false where all verdicts are one of them.
    if {each.text.upper() for each in entries} in ({"T", "F"}, {"F"}):
        entries = [e._replace(text="true" if e.text.upper() == "T" else "false") for e in entries]
    values = {id(each): verdict(each.text) for each in entries}
    told = {each.form for each in entries if isinstance(values[id(each)], bool)}
    denied = any(values[id(each)] is False for each in entries)
    listed = [
        each
        for each in entries
        if values[id(each)] != "explained"
        and (each.form not in _REMARKS or (each.form in told and denied))
    ]
    if not listed or (len(listed) == 1 and values[id(listed[0])] is None and len(entries) > 1):
        return None
    # In a list of verdicts a label with an explanation is there: "Fear (no), Anger (he may hide)".
    signs = {each.form for each in listed} | {"colon"}
    kept = [e for e in entries if e in listed or (e.form in signs and values[id(e)] == "explained")]
    return _settled(kept, text)


def headed_aside(text: str) -> bool:
    """Whether a text says by its head that it explains: *confidence: high*."""
    if ":" not in text and "：" not in text:  # nearly always
        return False
    head, _, rest = text.replace("：", ":").partition(":")
    if plain_key(head) not in ASIDES:
        return False
    # A number is a confidence in the label, which names none; "none" and a question take it back.
    plain = not (any(map(str.isdecimal, rest)) or "?" in rest or "？" in rest)
    return plain and said_yes(rest) is not False and words_of(rest).forms != ("none",)


def verdict(text: str) -> bool | str | None:
    """True, False, None where a short value is neither, or ``"explained"``."""
    text = text.strip()
    if headed_aside(text):
        return "explained"
    if (answer := said_yes(text)) is not None:
        return answer
    forms = words_of(text).forms
    # A number is a verdict where it is 0 or 1: any other is a confidence, a rank or a degree.
    if forms and all(map(str.isdecimal, forms)):
        return {"1": True, "0": False}.get(text.strip(" .*_`()[]"))
    if forms == ("none",):
        return False
    if len(forms) <= _FEW and _PEOPLE.isdisjoint(forms):
        return None
    # "Hard to say for me": no explanation of a label that is there.
    return None if _UNSURE.among(forms) or hedges(text) else "explained"


def _settled(entries: Sequence[Statement], text: str) -> Verdicts:
    yes, no, unknown, conflict = list[str](), list[str](), list[str](), False
    by_label: dict[str, list[Statement]] = {}
    for each in entries:
        ranked = each._replace(rank=rank_of(text, each.at, each.end))
        by_label.setdefault(each.key, []).append(ranked)
    # Nearly always one verdict a label, and nothing behind the first that takes any back.
    plain = not is_taken_back_behind(text, min(each.value_at for each in entries))
    for label, stated in by_label.items():
        if plain and len(stated) == 1 and stated[0].rank != "draft":
            settles = Settled(_told(stated[0].text))
        else:
            settles = settled(stated, text, _told, cut=False) or Settled(None)
        value = settles.value
        conflict |= settles.conflict
        (yes if value == "yes" else no if value == "no" else unknown).append(label)
    return Verdicts(tuple(yes), tuple(no), tuple(unknown), conflict)


def _told(text: str) -> str:
    value = verdict(text)
    return "unknown" if value is None else "no" if value is False else "yes"


def _said(text: str) -> bool | None:
    """The verdict of a cell; what explains, or is neither yes nor no, is none."""
    value = verdict(text)
    return value if isinstance(value, bool) else None


def _entries(text: str, labels: LabelSet, in_tables: Sequence[Statement]) -> Iterator[Statement]:
    """Verdicts in lines and tags."""
    inside = [(each.at, each.end) for each in in_tables]
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
            form = "colon" if sign == "tag" else sign
            yield Statement(label, value, at, end + len(value), closed=True, form=form)


def _begun(text: str, labels: LabelSet) -> Iterator[tuple[str, int, int, str]]:
    """Labels that a sign follows: label, where it begins, where its value begins, and the sign."""
    free = 0
    for label, start, end in names_in(text, labels):
        if start < free:
            continue
        free, ends = end, text.find("\n", end)
        sign = _SIGN.match(text, end, ends if ends >= 0 else len(text))
        if sign is None:
            continue
        kind = sign.lastgroup or ""
        if kind == "tag":
            opens = text[start - 1 : start] == "<"
        else:
            before = text[max(0, start - 20) : start].rpartition("\n")[2]
            opens = kind == "colon" or _OPENS.search(before) is not None
        if opens:
            yield label, start, sign.end(), "colon" if kind == "asked" else kind
