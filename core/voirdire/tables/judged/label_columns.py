"""Which columns hold labels, and which of them the same ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from voirdire.kinds import Cells, labels_in
from voirdire.late import dataclass
from voirdire.tables._names import plain_word
from voirdire.tables._numbers import fold, inside, is_numeric, order_of, to_scores
from voirdire.tables.judged.cells import as_list, members
from voirdire.tables.judged.words import form_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Words of headers over labels, without case and signs.
HEADS = frozenset(
    ("label", "labels", "class", "category", "annotation", "intent", "choice", "verdict", "tag",
     "tags", "topic", "relation", "emotion", "sentiment", "stance")
)  # fmt: skip


#: Heads over numbers that are codes of classes and never grades.
CODED = frozenset(("class", "category", "intent", "topic"))


#: The share of cells that must hold several labels, in one column at least, before it is one of
#: sets; and of a column's cells that must be words of the others.
SEVERAL, SHARED = 0.02, 0.5


MOST_LABELS = 60


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column that holds labels: its words by spelling, and the label set of each cell."""

    name: str
    words: Counter[str]
    sets: bool


def _holds_labels(raw: RawTable, name: str, read: TableKeys) -> LabelColumn | None:
    cells = Cells.of(name, [raw.frame[name]])
    if not cells.texts:
        return None
    declared = read.kind is not None
    comma = raw.decimal_comma
    numbers = is_numeric(raw.frame[name], decimal_comma=comma)
    # Yes and no alone are numbers; beside *unsure* they are words like it.
    numbers = numbers and not to_scores(raw.frame[name], decimal_comma=comma).bad.any()
    # 3,5 is no pair of labels where a comma marks decimals.
    if read.kind != "label" and _several(cells) and (declared or not numbers):
        parts: Counter[str] = Counter()
        for text, count in zip(cells.texts, cells.counts, strict=True):
            for part in members(text):
                parts[part] += count
        return LabelColumn(name, parts, sets=True)
    words = Counter(dict(zip(cells.texts, cells.counts, strict=True)))
    if numbers:
        coded = declared or plain_word(name) in CODED
        return LabelColumn(name, words, sets=False) if coded and len(words) <= MOST_LABELS else None
    if not labels_in(cells):
        return None
    if not declared and (_are_grades(cells) or _are_declared_numbers(cells, read)):
        return None
    return LabelColumn(name, words, sets=read.kind == "label set")


def _are_grades(cells: Cells) -> bool:
    """Whether the words are numbers in disguise: yes and no, pass and fail, a usual order."""
    texts = pl.Series(cells.name, list(cells.texts))
    if not to_scores(texts).bad.any():
        return True
    words = {cells.name: pl.Series([fold(text) for text in cells.texts])}
    order = order_of(words)
    return bool(order and inside(words[cells.name], order))


def _are_declared_numbers(cells: Cells, read: TableKeys) -> bool:
    """Whether somebody said which number a word among the cells stands for."""
    numbers = {fold(word) for word, value in read.words.items() if isinstance(value, float)}
    return any(fold(text) in numbers for text in cells.texts)


def _several(cells: Cells) -> bool:
    """Whether cells hold several labels: parts that recur, and fewer of them than whole cells."""
    parts: Counter[str] = Counter()
    many = 0
    for text, count in zip(cells.texts, cells.counts, strict=True):
        own = members(text)
        many += count if len(own) > 1 else 0
        for part in own:
            parts[part] += count
    lists = sum(n for t, n in zip(cells.texts, cells.counts, strict=True) if as_list(t) is not None)
    if lists > 0.9 * cells.total:
        return 0 < len(parts) <= MOST_LABELS
    recurring = all(count > 1 for count in parts.values()) and 1 < len(parts) <= MOST_LABELS
    short = all(len(part) <= 40 for part in parts)
    alone = sum(1 for text in cells.texts if len(members(text)) == 1)
    return many > SEVERAL * cells.total and recurring and short and alone > 0


def label_columns(raw: RawTable, read: TableKeys, names: Sequence[str]) -> list[LabelColumn]:
    """Those of several columns that hold labels."""
    return [column for name in names if (column := _holds_labels(raw, name, read)) is not None]


def groups_of(found: Sequence[LabelColumn]) -> list[list[LabelColumn]]:
    """Columns that share their words, in the order of the table."""
    groups: list[list[LabelColumn]] = []
    for column in found:
        for group in groups:
            if any(alike(column, other) for other in group):
                group.append(column)
                break
        else:
            groups.append([column])
    return groups


def alike(one: LabelColumn, other: LabelColumn) -> bool:
    """Whether half of the cells of either are words of the other, by spelling."""
    if one.sets != other.sets and not (one.sets or other.sets):
        return False
    known = {form_of(word) for word in other.words}, {form_of(word) for word in one.words}
    for column, words in zip((one, other), known, strict=True):
        inside_ = sum(n for word, n in column.words.items() if form_of(word) in words)
        if inside_ >= SHARED * column.words.total():
            return True
    return False
