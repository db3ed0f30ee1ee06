"""Who of two was shown first: by a column, as somebody declared it, or not known."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, check_columns, listed
from voirdire.late import pattern
from voirdire.tables._names import names_rater, plain_word
from voirdire.tables._numbers import fold, is_numeric
from voirdire.tables._preferences import place_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: What `first` says where it names no column.
_DECLARED = ("a", "b", "drawn", "unknown")
#: Headers that speak of an order or a place, in several languages. Over words the cells alone
#: decide; over 1 and 2, which may count anything, such a header is needed.
_ORDER = pattern(
    r"first|order|posit|shown|display|primer|prim[oa]|erst|premi|reihenfolge|ordre|orden|ordine",
    re.IGNORECASE,
)
#: A column of systems has at most so many names.
_MOST_SYSTEMS = 500


def shown_first(read: TableKeys) -> pl.Expr:
    """Who was shown first in every row, as somebody declared it."""
    told = read.first in ("a", "b")
    return pl.col(f"system_{read.first}") if told else pl.lit(None, pl.String)


def order_column(
    raw: RawTable, read: TableKeys, sides: tuple[str, str], named: Sequence[str] = ()
) -> str | None:
    """The column that says who was shown first: the one that is declared; else `shown_first`; else
    the only one whose header speaks of an order and whose cells name a system or a place.

    `named` are raters, who say who is better.

    Raises
    ------
    TableError
        The declared one is not there.
    """
    columns = raw.frame.columns
    if read.first is not None:
        if read.first not in _DECLARED:
            check_columns(raw.name, (read.first,), columns)
        return None if read.first in _DECLARED else read.first
    called = next((c for c in columns if plain_word(c) == "shownfirst"), None)
    free = [c for c in columns if c not in (*sides, *named, *read.ignore)]
    able = [c for c in free if speaks_of_order(c) and may_say_order(raw.frame, c, sides)]
    return called or (able[0] if len(able) == 1 else None)


def first_in(
    raw: RawTable, frame: pl.DataFrame, column: str | None, sides: tuple[str, str]
) -> pl.Series | pl.Expr:
    """The system that was shown first in each row, by the column that says it; null without one.

    Its cells name the system, or the column in which it stands (``A``, ``left``, ``system_a``).

    Raises
    ------
    QuestionError
        The column says something else.
    """
    if column is None:
        return pl.lit(None, pl.String)
    cells = frame[column].cast(pl.String).str.strip_chars()
    distinct = [cell for cell in cells.drop_nulls().unique().to_list() if cell]
    one, other = (frame[side].cast(pl.String) for side in sides)
    names = {*one.drop_nulls().unique(), *other.drop_nulls().unique()}
    words = words_of(*sides)
    places = {cell: words.get(fold(cell)) or place_of(cell) for cell in distinct}
    strange = [cell for cell in distinct if cell not in names and not places[cell]]
    if strange:
        raise QuestionError(
            f"{raw.name}: {column!r} says {listed(strange, 4)}, which names neither {sides[0]!r} "
            f"nor {sides[1]!r}; who was shown first?",
            "first",
            ("unknown", "drawn", "a", "b"),
            'first = "unknown"',
            likely=False,
        )
    ahead = pl.Series([places.get(cell) if cell else None for cell in cells], dtype=pl.Float64)
    table = pl.DataFrame({"cell": cells, "ahead": ahead, "one": one, "other": other})
    return table.select(
        pl.when(pl.col("cell").is_in(list(names)))
        .then("cell")
        .when(pl.col("ahead") > 0)
        .then("one")
        .when(pl.col("ahead") < 0)
        .then("other")
    ).to_series()


def ask_about_order(
    raw: RawTable,
    frame: pl.DataFrame,
    read: TableKeys,
    sides: tuple[str, str],
    used: tuple[str | None, ...],
) -> None:
    """Raise where a column that holds nobody's judgements may say who was shown first.

    Where none may, nothing is asked: whatever rests on it is then not tested, and says so. The
    first of `used` columns is the one that is known to say it, if one is.

    Raises
    ------
    QuestionError
        There is such a column.
    """
    if read.first is not None or read.assume or used[0] is not None:
        return
    free = [c for c in raw.frame.columns if c not in (*used, *read.ignore)]
    able = [c for c in free if may_say_order(frame, c, sides)]
    if able:
        raise QuestionError(
            f"{raw.name}: does {able[0]!r} say which of {sides[0]!r} and {sides[1]!r} was shown "
            f"first? A judge may lean to it: drawn says that the order was drawn each time and not "
            f"recorded, unknown that nobody knows.",
            "first",
            (*able, "unknown", "drawn", "a", "b"),
            f"first = {json.dumps(able[0])}",
        )


def may_say_order(frame: pl.DataFrame, column: str, sides: tuple[str, str]) -> bool:
    """Whether each cell names one of two systems, or one of two places, and none a tie."""
    cells = frame[column]
    if names_rater(column) or not (cells.dtype == pl.String or cells.dtype.is_integer()):
        return False
    if cells.null_count() or (is_numeric(cells) and not speaks_of_order(column)):
        return False
    text = cells.cast(pl.String).str.strip_chars()
    distinct = text.unique()
    if not 1 < len(distinct) <= _MOST_SYSTEMS:
        return False
    one, other = ((text == frame[side].cast(pl.String)).fill_null(value=False) for side in sides)
    if (one | other).all():
        return bool(one.any() and other.any())
    words = words_of(*sides)
    places = {words.get(fold(cell)) or place_of(cell) for cell in distinct}
    return places == {1.0, -1.0}


def speaks_of_order(header: str) -> bool:
    """Whether a header speaks of an order or of a place.

    >>> speaks_of_order("display_order"), speaks_of_order("human_choice")
    (True, False)
    """
    return _ORDER.search(header) is not None
