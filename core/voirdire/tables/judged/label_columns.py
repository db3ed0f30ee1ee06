"""Which columns hold labels, and which of them the same ones."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, WordsDifferError, listed
from voirdire.kinds import Cells, labels_in
from voirdire.late import dataclass
from voirdire.tables._names import is_person, kind_of, measures, names_rater, plain_word
from voirdire.tables._numbers import fold, folded, inside, is_numeric, order_of, to_scores
from voirdire.tables.judged.cells import as_list, members
from voirdire.tables.judged.words import form_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Words of headers over labels, without case and signs.
HEADS = frozenset(
    (
        "label",
        "labels",
        "class",
        "category",
        "annotation",
        "intent",
        "choice",
        "verdict",
        "tag",
        "tags",
        "topic",
        "relation",
        "emotion",
        "sentiment",
        "stance",
    )
)


#: Heads over numbers that are codes of classes and never grades.
CODED = frozenset(("class", "category", "intent", "topic"))


#: Of fewer numbers the distances say nothing; whole ones are codes of two digits from here.
_FEWEST_CODES, _CODES_FROM = 4, 10


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


def in_its_words(
    raw: RawTable, names: Sequence[str], group: Sequence[LabelColumn]
) -> list[LabelColumn]:
    """Columns of one word alone, which those of the group say too: whoever always says the same."""
    known = {form_of(word) for column in group for word in column.words}
    sets = any(column.sets for column in group)
    made = []
    for name in names:
        cells = Cells.of(name, [raw.frame[name]])
        if len(cells.texts) == 1 and not measures(name) and form_of(cells.texts[0]) in known:
            words = Counter(dict(zip(cells.texts, cells.counts, strict=True)))
            made.append(LabelColumn(name, words, sets=sets))
    return made


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


# --- whole numbers that may be codes


def ask_about_codes(
    raw: RawTable,
    read: TableKeys,
    free: Sequence[str],
    rater: str | None,
    reference: Sequence[str] = (),
) -> None:
    """Raise where numbers may be codes of classes and no grades: whole ones under headers that
    speak of labels, and those of raters that no scale has, such as 1.1, 1.2, 2.1 and 2.2.
    """
    # Under the header `judge` numbers are that judge's scores, and no names of raters.
    scores = rater is not None and is_numeric(raw.frame[rater])
    if read.kind is not None or scores or (read.score is not None and rater is None):
        return
    # People's alone: a judge of shares says .2, .8, .85 and .9, and nothing between.
    uneven = [c for c in free if (c in reference or is_person(c)) and _are_uneven(raw.frame[c])]
    if uneven and not read.columns:
        levels = raw.frame[uneven[0]].cast(pl.String).drop_nulls().unique().sort().to_list()
        hold = "hold" if len(uneven) > 1 else "holds"
        raise QuestionError(
            f"{raw.name}: {listed(uneven)} {hold} {listed(levels)}, numbers at uneven distances; "
            f"are they codes of classes, or grades of which more is more?",
            "kind",
            ("label", "score"),
            'kind = "label"',
            likely=False,
        )
    every = [c for c in free if _are_codes(raw.frame[c])]
    coded = [c for c in every if _speaks_of_labels(c)]
    if not (len(coded) == 1 if rater is not None else len(coded) > 1):
        # Of a reference that stands in parts of headers two columns are of unlike systems.
        parts = bool(reference) and not set(reference) & set(raw.frame.columns)
        rated = rater is not None or read.columns or parts
        coded = [] if rated else _like_classes(raw, every)
    if coded:
        raise QuestionError(
            f"{raw.name}: {listed(coded)} holds whole numbers; are they classes, or grades of "
            f"which more is more?",
            "kind",
            ("label", "score"),
            'kind = "label"',
            likely=False,
        )


def _like_classes(raw: RawTable, coded: Sequence[str]) -> list[str]:
    """The columns of raters where two people's codes show no order, else none: 1 to 5 are grades
    until people who differ are as often four apart as one.
    """
    raters = [c for c in coded if names_rater(c) and not measures(c)]
    people = [c for c in raters if is_person(c)]
    looked = people if len(people) > 1 else raters
    if len(looked) < 2:
        return []
    from voirdire.tables.judged.codes import look_like_classes  # noqa: PLC0415 - for codes alone

    return raters if look_like_classes([raw.frame[c] for c in looked]) else []


def check_names_beside_codes(raw: RawTable, free: Sequence[str], rater: str) -> None:
    """Raise where one rater writes names under a header of labels, and another codes."""
    for column in free:
        if plain_word(column) not in HEADS or raw.frame[column].dtype != pl.String:
            continue
        cells = raw.frame.select(
            pl.col(rater).cast(pl.String).alias("rater"),
            pl.col(column).cast(pl.String).str.strip_chars().alias("cell"),
        ).filter(pl.col("cell") != "")
        coded = pl.col("cell").cast(pl.Float64, strict=False).is_not_null()
        said = cells.group_by("rater", maintain_order=True).agg(
            coded.all().alias("codes"),
            coded.any().alias("some"),
            pl.col("cell").unique(maintain_order=True).alias("words"),
        )
        names, codes = said.filter(~pl.col("some")), said.filter("codes")
        if names.height and codes.height:
            first, other = names.row(0, named=True), codes.row(0, named=True)
            raise WordsDifferError(
                f"{raw.name}: under {column!r} {other['rater']!r} says "
                f"{listed(sorted(other['words']), 6)}, and {first['rater']!r} says "
                f"{listed(first['words'], 6)}: which of them mean the same is not known. Write the "
                f"same words for both, or say --kind label and by --words which code is which "
                f"label's"
            )


def codes_as_names(raw: RawTable, read: TableKeys, free: Sequence[str]) -> RawTable:
    """The table with the name of each code, where somebody said which code is which label's."""
    names = {f"{code:g}": word for word, code in read.words.items() if isinstance(code, float)}
    if read.kind not in ("label", "label set") or not names:
        return raw
    made = {}
    for column in free:
        cells = raw.frame[column].cast(pl.String).str.strip_chars()
        codes = cells.str.replace(r"^(-?\d+)\.0+$", "$1")
        coded = codes.is_in(list(names)).fill_null(value=True)
        known = coded | folded(cells).is_in([fold(word) for word in names.values()])
        if coded.any() and known.all() and codes.n_unique() > 1:
            made[column] = codes.replace(names).alias(column)
    return replace(raw, frame=raw.frame.with_columns(made.values())) if made else raw


def check_one_beside_codes(
    raw: RawTable, found: Sequence[LabelColumn], free: Sequence[str]
) -> None:
    """Raise where one rater's column holds names, and another's codes, as many at most."""
    named = [c for c in found if c.name in free and kind_of(c.name) and not measures(c.name)]
    worded = [column for column in named if not is_numeric(raw.frame[column.name])]
    coded = [column for column in named if is_numeric(raw.frame[column.name])]
    if len(worded) != 1 or not coded:
        return
    words = [word for word, _ in worded[0].words.most_common()]
    raise not_the_same(raw.name, coded[0].name, sorted(coded[0].words), worded[0].name, words)


def not_the_same(
    where: str, name: str, own: Sequence[str], other: str, words: Sequence[str]
) -> WordsDifferError:
    return WordsDifferError(
        f"{where}: {name!r} says {listed(list(own), 6)}, and {other!r} says "
        f"{listed(list(words), 6)}: which of them mean the same is not known. Write the same words "
        f"in both, say --kind label and by --words which code is which label's, or leave {name!r} "
        f"out by --ignore"
    )


def _speaks_of_labels(column: str) -> bool:
    # Under *category* alone codes are classes; *category_gpt* may be anybody's grades.
    words = {"label", "labels"} | (CODED if plain_word(column) not in CODED else set())
    return not words.isdisjoint(re.split(r"[\W_]+", column.casefold()))


def _are_uneven(column: pl.Series) -> bool:
    """Whether a few numbers that recur leave most places of their own grid empty, as no scale does:
    their distances are whole multiples of the smallest, rounded as they are written or not.

    >>> codes, shares = [1.1, 1.2, 2.1, 2.2, 3.1], [0.0, 0.33, 0.67, 1.0]
    >>> _are_uneven(pl.Series(codes * 9)), _are_uneven(pl.Series(shares * 9))
    (True, False)
    """
    if not is_numeric(column):
        return False
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count():
        return False
    values = numbers.drop_nulls().unique().sort()
    few = _FEWEST_CODES <= len(values) <= MOST_LABELS and 5 * len(values) <= len(numbers)
    if not few:
        return False
    # Means of several raters are whole here and there, and on 0 to 100 people take what they like:
    # 1.1, 1.2 and 2.1 are told from these, and 11, 12 and 21.
    whole = values == values.floor()
    by_fives = values[0] < _CODES_FROM or bool((values % 5 == 0).all())
    if by_fives if bool(whole.all()) else bool(whole.any()) or values[-1] <= 1:
        return False
    steps = values.diff().drop_nulls()
    places = (float(values[-1]) - float(values[0])) / float(steps.min())  # type: ignore[arg-type]
    return bool(2 * len(values) < places + 1)


def _are_codes(column: pl.Series) -> bool:
    """Whether cells are codes of three labels or more: two of them are yes and no."""
    return may_be_codes(column) and column.drop_nulls().n_unique() > 2


def may_be_codes(column: pl.Series) -> bool:
    """Whether cells are 0..K-1 or 1..K."""
    if not is_numeric(column):
        return False
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() > column.null_count():
        return False  # words among them: somebody writes names, and somebody codes
    values = numbers.drop_nulls().unique().sort().to_list()
    first = values[0] if values else -1
    whole = [float(k) for k in range(int(first), int(first) + len(values))]
    return first in (0, 1) and values == whole and 2 <= len(values) <= MOST_LABELS


def is_indicator(column: pl.Series) -> bool:
    """Whether a column holds 0 and 1 alone."""
    if not is_numeric(column):
        return False
    values = column.cast(pl.Float64, strict=False).drop_nulls()
    return len(values) > 0 and set(values.unique()) <= {0.0, 1.0}
