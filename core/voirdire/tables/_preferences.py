"""Comparisons by their cells: two columns that share the names of systems, and who is better."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from voirdire.late import dataclass
from voirdire.tables._names import is_person
from voirdire.tables._numbers import fold, folded, is_numeric

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Words for the response in the first and in the second column, and for neither; folded.
FIRST = frozenset(
    ("a", "model a", "system a", "assistant a", "response a", "answer a", "left", "first", "1",
     "model 1", "system 1", "response 1", "output 1", "a>b", "a>>b", ">", ">>", "links", "gauche",
     "izquierda", "erste", "sinistra", "premier", "primero", "primera")
)  # fmt: skip
SECOND = frozenset(
    ("b", "model b", "system b", "assistant b", "response b", "answer b", "right", "second", "2",
     "model 2", "system 2", "response 2", "output 2", "b>a", "b>>a", "<", "<<", "rechts", "droite",
     "derecha", "zweite", "destra", "second", "segundo", "segunda")
)  # fmt: skip
TIE = frozenset(
    ("tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "tie (bothbad)",
     "both bad", "both good", "no preference", "unentschieden", "gleich", "égalité", "empate",
     "a=b", "a~b", "=", "≈", "pareggio", "remis", "gelijk")
)  # fmt: skip
#: Words for a comparison without an answer: two orders that disagree are no tie.
MISSING = frozenset(("error", "inconsistent", "n/a", "na", "none", "skip"))
#: A column of systems has at most so many names.
_MOST_SYSTEMS = 500
#: So many of the cells of a column must be words for a winner.
_WINNERS = 0.6


@dataclass(frozen=True, slots=True)
class ComparisonColumns:
    """The columns of a table of comparisons.

    Attributes
    ----------
    first, second : str
        The columns of the systems.
    winners : tuple of str
        Those that say which is better.
    """

    first: str
    second: str
    winners: tuple[str, ...]


def compared_in(frame: pl.DataFrame) -> ComparisonColumns | None:
    """The columns of the two systems and of the winners; None where the table compares nothing.

    Two systems share their names and are never the same one in a row, which tells them from two
    columns of labels; a third column names one of both in most rows, or a tie.

    Examples
    --------
    >>> rows = [("m", "n", "x"), ("n", "m", "y"), ("m", "n", "tie"), ("n", "m", "x")]
    >>> frame = pl.DataFrame(rows, schema=["x", "y", "best"], orient="row")
    >>> compared_in(frame)
    ComparisonColumns(first='x', second='y', winners=('best',))
    """
    # Numbers of two raters share their values too, and so do the labels of a person and of a judge
    # that never agree: neither are names of systems.
    texts = [
        c for c in frame.columns
        if frame[c].dtype == pl.String and not (is_person(c) or is_numeric(frame[c]))
    ]  # fmt: skip
    names = {c: set(frame[c].drop_nulls().unique().to_list()) for c in texts}
    able = [c for c in texts if 1 < len(names[c]) <= min(_MOST_SYSTEMS, max(2, frame.height / 2))]
    for first, second in combinations(able, 2):
        shared = names[first] & names[second]
        # Two systems compare with each other, and none with itself: raters' labels are often equal.
        if 2 * len(shared) < min(len(names[first]), len(names[second])):
            continue
        same = frame.select((pl.col(first) == pl.col(second)).mean()).item()
        if same is None or same > 0.01:
            continue
        words = words_of(first, second)
        winners = tuple(
            c for c in frame.columns
            if c not in (first, second) and _says_winner(frame, c, words, (first, second))
        )  # fmt: skip
        if winners:
            return ComparisonColumns(first, second, winners)
    return None


def words_of(first: str, second: str) -> dict[str, float | None]:
    """The words that are known for the first, the second, a tie and no answer."""
    words: dict[str, float | None] = dict.fromkeys(FIRST, 1.0)
    words |= dict.fromkeys(SECOND, -1.0) | dict.fromkeys(TIE, 0.0) | dict.fromkeys(MISSING)
    return words | {fold(first): 1.0, fold(second): -1.0}


def _says_winner(
    frame: pl.DataFrame, column: str, words: Mapping[str, float | None], systems: tuple[str, str]
) -> bool:
    cells = frame[column]
    if signed_grades(cells):
        return True
    if cells.dtype.is_float() or cells.dtype.is_temporal() or cells.null_count() == len(cells):
        return False
    text = folded(cells.cast(pl.String))
    distinct = text.drop_nulls().unique().to_list()
    if len(distinct) > _MOST_SYSTEMS:
        return False
    by_name = (text == folded(frame[systems[0]])) | (text == folded(frame[systems[1]]))
    both = {words.get(word) for word in distinct} >= {1.0, -1.0} or bool(by_name.any())
    known = text.is_in(list(words)) | by_name.fill_null(value=False)
    share = known.filter(text.is_not_null()).mean()
    return both and isinstance(share, float) and share >= _WINNERS


def signed_grades(cells: pl.Series) -> tuple[float, ...]:
    """The grades of a column of whole numbers on both sides of 0, at most 3 from it; none else.

    Examples
    --------
    >>> signed_grades(pl.Series([-2, 0, 2])), signed_grades(pl.Series([1, 2]))
    ((-2.0, 0.0, 2.0), ())
    """
    if not is_numeric(cells):
        return ()
    values = cells.cast(pl.Float64, strict=False).drop_nulls().unique().sort().to_list()
    whole = all(value == round(value) for value in values)
    both = bool(values) and -3 <= values[0] < 0 < values[-1] <= 3
    return tuple(values) if whole and both else ()


def strange_words(
    frame: pl.DataFrame, compared: ComparisonColumns, column: str, known: Mapping[str, object]
) -> dict[str, int]:
    """The words of a winner's column that say neither of both, no tie and no missing answer, and
    how often each stands there; `known` are words that somebody declared.
    """
    words = {**words_of(compared.first, compared.second), **{fold(w): v for w, v in known.items()}}
    sides = (compared.first, compared.second)
    systems = {fold(str(name)) for side in sides for name in frame[side].drop_nulls().unique()}
    counts = Counter(folded(frame[column].cast(pl.String)).drop_nulls().to_list())
    return {w: n for w, n in counts.items() if w and w not in words and w not in systems}
