"""What is asked where no column names what was judged: a form, or one of several columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, TableError, listed
from voirdire.tables._judging import speaks_of_models
from voirdire.tables._keys import (
    MOST_SYSTEMS,
    WHO,
    are_versions,
    distinct_numbers,
    identifies,
    is_counter,
    is_measured,
    may_be_id,
    may_be_scores,
)
from voirdire.tables._names import find, is_usual, kind_of, measures, plain_word
from voirdire.tables._numbers import are_texts, folded, is_ordered
from voirdire.tables._tables import plural
from voirdire.tables._values import is_score, is_small
from voirdire.tables._words import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.tables._files import RawTable

#: So many columns are offered.
_MOST_CHOICES = 8
#: A form asks about several things.
_FEWEST_ANSWERS = 2


def ask_for_items(raw: RawTable, free: Sequence[str], named: Sequence[str]) -> None:
    """Raise where the rows may be raters and the columns items, or where a column may be items.

    `free` are columns that play no other part, `named` the raters that are known.

    Raises
    ------
    QuestionError
        Nobody said which.
    """
    ask_about_a_form(raw, named)
    frame = raw.frame
    able = [
        c for c in free
        if may_be_id(frame[c]) and not is_measured(frame[c]) and not may_be_scores(frame[c])
    ]  # fmt: skip
    few = [c for c in frame.columns if not may_be_scores(frame[c]) and not measures(c)]
    few = [c for c in few if 1 < frame[c].n_unique() <= MOST_SYSTEMS and not frame[c].null_count()]
    # Without what tells its rows apart a column of items is of no use.
    able = [c for c in able if any(identifies(frame, c, (o,)) for o in few if o != c)]
    # A name before a number, and most values first: each of them names more things.
    able.sort(key=lambda c: (distinct_numbers(frame[c]) is not None, -frame[c].n_unique()))
    if not able:
        return
    able = able[:_MOST_CHOICES]
    spans = [
        f"{c!r} ({plural(frame[c].n_unique(), 'value')}, such as {frame[c][0]!r})" for c in able
    ]
    raise QuestionError(
        f"{raw.name}: no column of item ids was found by its name, and none tells the rows apart. "
        f"Which of {', '.join(spans)} names what was judged?",
        "item", tuple(able), f"item = {json.dumps(able[0])}", likely=False,
    )  # fmt: skip


def ask_for_reference(raw: RawTable, why: TableError) -> None:
    """Raise where nobody named a reference, a table was not understood, and columns, or the names
    in one, may be raters: with one of them named its numbers say what the other columns are.

    Raises
    ------
    QuestionError
        With what was not understood, and the candidates; whoever is called a person comes first.
    """
    frame = raw.frame
    able = [
        c for c in frame.columns
        if is_score(raw, c) and is_small(raw, c) and not is_counter(frame[c])
        and not (measures(c) or is_usual(c) or are_versions(frame[c])) and frame[c].n_unique() > 1
    ]  # fmt: skip
    levels = {c: set(frame[c].drop_nulls().cast(pl.String).unique()) for c in able}
    # Two raters use the same levels.
    able = [c for c in able if any(levels[c] <= levels[o] for o in able if o != c)] or able
    # A model is no reference where anything else is.
    able.sort(key=lambda c: (kind_of(c) != "human", kind_of(c) == "judge", speaks_of_models(c)))
    if len(able) < _FEWEST_ANSWERS:
        return
    said = why.question if isinstance(why, QuestionError) else f"{str(why).partition('; ')[0]}."
    raise QuestionError(
        f"{said} Nobody said either whose judgements are the reference, by which columns are "
        f"understood; {listed(able[:_MOST_CHOICES])} may be people's.",
        "reference", tuple(map(quoted, able[:_MOST_CHOICES])),
        f"reference = {json.dumps(able[:1])}", likely=False,
    )  # fmt: skip


def ask_about_a_form(raw: RawTable, named: Sequence[str]) -> None:
    """Raise where a column names the person of each row, and others hold what each of them rated.

    Raises
    ------
    QuestionError
        Nobody said that the rows are raters.
    """
    who = _who_filled_in(raw, named)
    if who is not None:
        raise QuestionError(
            f"{raw.name}: {who!r} names who filled in each row; is each row a rater, and each of "
            f"the columns of scores an item?",
            "layout", ("raters-by-items",), 'layout = "raters-by-items"', likely=False,
        )  # fmt: skip


def _in_words(cells: pl.Series) -> bool:
    """Whether a column holds words of a usual order."""
    if cells.dtype != pl.String or are_texts(cells):
        return False
    return any(map(is_ordered, folded(cells.unique()).drop_nulls().to_list()))


def _who_filled_in(raw: RawTable, named: Sequence[str]) -> str | None:
    """The column that names the person of each row of a form; None where the table is none."""
    frame = raw.frame
    answers = [
        c for c in frame.columns
        if not measures(c) and not is_counter(frame[c])
        and ((is_score(raw, c) and is_small(raw, c)) or _in_words(frame[c]))
    ]  # fmt: skip
    if len(answers) < _FEWEST_ANSWERS:
        return None
    for column in frame.columns:
        cells = frame[column]
        holds = cells.dtype == pl.String and bool(named) and set(named) <= set(cells.unique())
        called = plain_word(column) in WHO or find("rater", [column], None, raw.name)
        if (holds or called) and identifies(frame, column):
            return column
    return None
