"""Labels in objects and lists: names, names under keys, and labels with a verdict on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from voirdire.parsing._json import pairs_of
from voirdire.parsing._keys import ASIDES, MARKED_FINAL, plain_key, scalars
from voirdire.parsing._labellines import is_empty_slot, is_no_answer, read_line
from voirdire.parsing._labelverdicts import verdicts_on
from voirdire.parsing._spelling import spelled
from voirdire.parsing._vocabulary import rule
from voirdire.parsing._words import DRAFT_MARKS, FINAL_MARKS
from voirdire.parsing.yesno import said_yes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voirdire.parsing._labelset import LabelSet

#: Entries that say that there is no label, and entries that say nothing.
NONE = frozenset({"nolabel", "nolabels", "none", "noneoftheabove", "noneofthese"})
NO_ENTRY = NONE | {"", "na"}
#: Beside others these keys hold the answer, and a flag of these denies the label beside it.
_ANSWERS = (FINAL_MARKS, ("answer",), ("labels",))
# "initial_answer", "draftLabels": a key of what was not kept.
_FIRST_TRY = rule("first_try")
#: Keys of an object that hold the one answer: with two values it is none.
_KEYS = ("answer", "finalanswer", "label", "labels", "finallabel", "finallabels")
#: Keys of an object that names one label, and of the verdict on it.
_NAMES = frozenset(rule("label_keys"))
_TOLD = frozenset(rule("told_keys"))
_FLAGS = frozenset(rule("flag_keys"))
_MAX_DEPTH = 8


class SaidLabel(NamedTuple):
    """A label, or an entry outside the set, and whether it applies; None: neither yes nor no."""

    name: str
    says: bool | None = True


def said_in(tree: Any, labels: LabelSet, depth: int = 0) -> Iterator[SaidLabel | None]:
    """What a value says of labels, but for asides; None: of what it says nobody can be sure."""
    if isinstance(tree, str):
        yield from _in_text(tree, labels)
    elif isinstance(tree, list) and depth < _MAX_DEPTH:
        for item in tree:
            yield from said_in(item, labels, depth + 1)
    elif isinstance(tree, dict) and depth < _MAX_DEPTH:
        yield from _in_dict(pairs_of(tree), labels, depth)


def is_empty(tree: Any) -> bool:
    """An empty list of labels, alone or as all that an object holds beside its reasons."""
    if not isinstance(tree, dict):
        return bool(tree == [])
    empty = [value == [] for key, value in pairs_of(tree) if plain_key(key) not in ASIDES]
    return bool(empty) and all(empty)


def _in_text(text: str, labels: LabelSet) -> Iterator[SaidLabel]:
    if told := verdicts_on(text, labels):
        for says, names in ((True, told.yes), (False, told.no), (None, told.unknown)):
            yield from (SaidLabel(name, says) for name in names)
        return
    line = read_line(labels, text)
    asked = [] if text.rstrip().endswith("?") else [text]
    yield from map(SaidLabel, (*line.labels, *line.unknown) if line.kind != "prose" else asked)


def _in_dict(
    pairs: list[tuple[str, Any]], labels: LabelSet, depth: int
) -> Iterator[SaidLabel | None]:
    if any(plain_key(key) in _FLAGS and said_yes(value) is False for key, value in pairs):
        return
    if (one := _one_verdict(pairs, labels)) is not None:
        yield one
        return
    if any(len({str(v) for k, v in pairs if plain_key(k) == form}) > 1 for form in _KEYS):
        yield None  # one key with two values
    answers = [[p for p in pairs if _is_answer(plain_key(p[0]), keys)] for keys in _ANSWERS]
    for key, value in next(filter(None, answers), pairs):
        yield from _in_pair(key, value, labels, depth)


def _one_verdict(pairs: list[tuple[str, Any]], labels: LabelSet) -> SaidLabel | None:
    """What ``{"label": "Anger", "value": "no"}`` says of one label; None where it is no such."""
    named = [v for k, v in pairs if plain_key(k) in _NAMES and isinstance(v, str)]
    values = [v for k, v in pairs if plain_key(k) in _TOLD]
    label = labels.forms.get(spelled(named[0])) if len(named) == 1 else None
    if label is None or len(values) != 1:
        return None
    return SaidLabel(label, _truth(values[0]))


def _truth(value: Any) -> bool | None:
    return said_yes(scalars([value], keep_cut=False)[0].value)


def _is_answer(key: str, keys: tuple[str, ...]) -> bool:
    """Whether a key is one of these, or joined to one that marks it as final: *revisedlabel*."""
    return key in keys or (keys is FINAL_MARKS and MARKED_FINAL.fullmatch(key) is not None)


def _in_pair(key: str, value: Any, labels: LabelSet, depth: int) -> Iterator[SaidLabel | None]:
    label, plain = labels.forms.get(spelled(key)), plain_key(key)
    if label is not None:
        is_there = _truth(value)
        # "Anger": "perhaps" is neither: to leave it out would say no. Of null, and of an object
        # or a number, nobody can tell what kind of answer this is.
        sure = is_there is not None or isinstance(value, str)
        yield SaidLabel(label, is_there) if sure else None
    elif (
        plain in ASIDES
        or _is_first_try(plain)
        or is_no_answer(key)
        or (isinstance(value, str) and is_empty_slot(key, value))
    ):
        return
    elif isinstance(value, str | list | dict):
        yield from said_in(value, labels, depth + 1)


def _is_first_try(key: str) -> bool:
    """Whether a key holds what was not kept: *initial_answer*, *draftLabels*."""
    return any(
        key.startswith(mark) and key.removeprefix(mark).removesuffix("s") in _FIRST_TRY
        for mark in DRAFT_MARKS
    )
