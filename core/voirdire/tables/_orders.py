"""The usual orders of words that people rate in, and which of them a column is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import polars as pl

from voirdire.parsing.numbers import MISSING_WORDS
from voirdire.tables._numbers import FATES, are_texts, is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: The usual orders of words of agreement, quality, frequency and degree, the lowest first.
ORDERS = (
    ("strongly disagree", "disagree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "somewhat disagree", "neutral", "somewhat agree", "agree",
     "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good"),
    ("very poor", "poor", "fair", "good", "excellent"),
    ("poor", "fair", "good", "excellent"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "neutral", "good", "very good"),
    ("bad", "ok", "good"),
    ("bad", "mediocre", "good"),
    ("strongly disagree", "somewhat disagree", "neutral", "somewhat agree", "strongly agree"),
    ("strongly disagree", "somewhat disagree", "neither agree nor disagree", "somewhat agree",
     "strongly agree"),
    ("strongly disagree", "disagree", "somewhat disagree", "neither agree nor disagree",
     "somewhat agree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "undecided", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "slightly disagree", "neutral", "slightly agree", "agree",
     "strongly agree"),
    ("completely disagree", "disagree", "neutral", "agree", "completely agree"),
    ("disagree", "neutral", "agree"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("not helpful", "somewhat helpful", "helpful", "very helpful"),
    ("never", "seldom", "sometimes", "often", "always"),
    ("none", "partial", "full"),
    ("incorrect", "partially correct", "correct"),
    ("sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"),
    ("stimme gar nicht zu", "stimme nicht zu", "neutral", "stimme zu", "stimme voll zu"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("never", "sometimes", "about half the time", "most of the time", "always"),
    ("not at all", "slightly", "moderately", "very", "extremely"),
    ("not at all", "a little", "somewhat", "very much"),
    ("not at all", "slightly", "somewhat", "moderately", "very", "extremely"),
    ("not at all", "a little bit", "somewhat", "quite a bit", "very much"),
    ("none at all", "a little", "a moderate amount", "a lot", "a great deal"),
    ("none", "mild", "moderate", "severe"),
    ("very low", "low", "medium", "high", "very high"),
    ("low", "medium", "high"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("extremely dissatisfied", "somewhat dissatisfied", "neither satisfied nor dissatisfied",
     "somewhat satisfied", "extremely satisfied"),
    ("extremely unlikely", "somewhat unlikely", "neither likely nor unlikely", "somewhat likely",
     "extremely likely"),
    ("terrible", "poor", "average", "good", "excellent"),
    ("much worse", "somewhat worse", "about the same", "somewhat better", "much better"),
)  # fmt: skip
#: Words of degree, behind which surveys write what is rated: ``very helpful``.
_DEGREES = frozenset(
    ("not at all", "slightly", "somewhat", "moderately", "quite", "very", "extremely", "a little",
     "very much")
)  # fmt: skip
#: A word of degree and the rest; the longest of them first, as ``very`` begins ``very much``.
_DEGREE = rf"^(?:{'|'.join(sorted(_DEGREES, key=len, reverse=True))}) (.+)$"
#: Where more follows words of degree than this, they are sentences.
_MOST_NOUNS = 8
_Texts = TypeVar("_Texts", pl.Series, pl.Expr)


def fold(word: str) -> str:
    """A word as it is compared: in lower case, with single blanks."""
    return str(folded(pl.Series([word]))[0])


def folded(column: _Texts) -> _Texts:
    """Texts as they are compared."""
    return column.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s_]+", " ")


def spoken(text: pl.Series) -> pl.Series:
    """What a column says but for missing scores."""
    said = text.drop_nulls()
    return said.filter(~said.is_in([*MISSING_WORDS, *FATES]))


def inside(text: pl.Series, order: Sequence[str]) -> list[str]:
    """What a column says in an order's words; nothing where it mostly says something else."""
    said = spoken(text)
    inside = said.filter(said.is_in(list(order)))
    return inside.to_list() if 2 * len(inside) > len(said) else []


def order_of(texts: Mapping[str, pl.Series]) -> tuple[str, ...]:
    """The usual order that most words of one or more columns are of, the shortest of several."""
    best: tuple[str, ...] = ()
    most = 0
    for order in sorted([*ORDERS, *_with_noun(texts.values())], key=len):
        held = {c: held_in for c, text in texts.items() if (held_in := inside(text, order))}
        count, words = sum(map(len, held.values())), set().union(*held.values())
        # Two words, such as low and high, may be of another order where others stand beside them.
        alone = count == sum(len(spoken(texts[c])) for c in held)
        if count > most and len(words) > (1 if alone else 2) and not words <= {"good", "bad"}:
            best, most = order, count
    return best


def _with_noun(texts: Iterable[pl.Series]) -> list[tuple[str, ...]]:
    """The orders of degree with what is rated behind each word: ``very helpful``."""
    nouns = {noun for text in texts for noun in text.str.extract(_DEGREE, 1).drop_nulls().unique()}
    if len(nouns) > _MOST_NOUNS:
        return []
    return [
        tuple(f"{degree} {noun}" for degree in order)
        for noun in sorted(nouns) for order in ORDERS if set(order) <= _DEGREES
    ]  # fmt: skip


def says_scores(cells: pl.Series, *, comma: bool = False) -> bool:
    """Whether a column's cells are numbers, or the words of a usual order."""
    if is_numeric(cells, decimal_comma=comma):
        return True
    if cells.dtype != pl.String or are_texts(cells):
        return False
    return bool(order_of({cells.name: folded(cells)}))
