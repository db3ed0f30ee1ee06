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
from voirdire.tables._names import find, is_usual, kind_of, measures, names_rater, plain_word
from voirdire.tables._numbers import are_texts, folded, is_numeric, is_ordered
from voirdire.tables._questions import found_alone
from voirdire.tables._tables import finding, plural
from voirdire.tables._values import is_score, is_small
from voirdire.tables._words import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import Source
    from voirdire.tables._files import RawTable

#: What else objects may be.
_OF_REPLIES = " Where the objects are what a judge replied, --layout replies reads them so."
#: So many columns are offered.
_MOST_CHOICES = 8
#: Of objects so many are looked into, and a text longer than a word is no judgement.
_FEW_ROWS, _WORD = 50, 30
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
        c
        for c in free
        if may_be_id(frame[c]) and not is_measured(frame[c]) and not may_be_scores(frame[c])
    ]
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
        "item",
        tuple(able),
        f"item = {json.dumps(able[0])}",
        likely=False,
    )


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
        c
        for c in frame.columns
        if is_score(raw, c)
        and is_small(raw, c)
        and not is_counter(frame[c])
        and (names_rater(c) or not (measures(c) or is_usual(c) or are_versions(frame[c])))
        and frame[c].n_unique() > 1
    ]
    levels = {c: set(frame[c].drop_nulls().cast(pl.String).unique()) for c in able}
    # Two raters use the same levels.
    able = [c for c in able if any(levels[c] <= levels[o] for o in able if o != c)] or able
    named = find("rater", frame.columns, None, raw.name)
    if len(able) < _FEWEST_ANSWERS or (named is not None and not is_numeric(frame[named])):
        able = _names_in(raw) or able
    # A model is no reference where anything else is.
    able.sort(key=lambda c: (kind_of(c) != "human", kind_of(c) == "judge", speaks_of_models(c)))
    if len(able) < _FEWEST_ANSWERS:
        return
    said = why.question if isinstance(why, QuestionError) else f"{found_alone(why)}."
    raise QuestionError(
        f"{said} Nobody said either whose judgements are the reference, by which columns are "
        f"understood; {listed(able[:_MOST_CHOICES])} may be people's."
        + (_OF_REPLIES if raw.nested else ""),
        "reference",
        tuple(map(quoted, able[:_MOST_CHOICES])),
        f"reference = {json.dumps(able[:1])}",
        likely=False,
    )


def _names_in(raw: RawTable) -> list[str]:
    """What may be raters where no columns are: names within objects, or in the cells of a column
    that tells the rows of an item apart; people first, and of cells the likeliest column.
    """
    inside: dict[str, None] = {}
    for column in raw.nested:
        for cell in raw.frame[column].drop_nulls().head(_FEW_ROWS):
            inside |= dict.fromkeys(_names_within(cell))
    if inside:
        return [*inside]
    frame = raw.frame
    texts = [c for c in frame.columns if frame[c].dtype == pl.String and not is_numeric(frame[c])]
    texts = [c for c in texts if not are_texts(frame[c]) and not frame[c].null_count()]
    held = {c: frame[c].unique(maintain_order=True).to_list() for c in texts}
    held = {c: names for c, names in held.items() if 1 < len(names) <= MOST_SYSTEMS}
    speaking = {
        c: names
        for c, names in held.items()
        if find("rater", [c], None, "") or any(kind_of(name) is not None for name in names)
    }
    return next(iter(speaking.values()), min(held.values(), key=len, default=[]))


def _names_within(cell: str) -> list[str]:
    """Names under which a number or a word stands in an object, and the words of its lists."""
    try:
        value = json.loads(cell)
    except (TypeError, ValueError):
        return []
    found: dict[str, None] = {}
    left = [value]
    while left:
        one = left.pop(0)
        if isinstance(one, dict):
            told = {k: v for k, v in one.items() if isinstance(v, int | float | str)}
            # A list of ratings says who by a word; else the names are those of what is said.
            names = [v for v in told.values() if isinstance(v, str) and kind_of(v) is not None]
            found |= dict.fromkeys(
                names or (k for k, v in told.items() if not measures(k) and len(str(v)) <= _WORD)
            )
            left += [v for v in one.values() if isinstance(v, dict | list)]
        elif isinstance(one, list):
            left += one
    return [*found]


def with_raters_in_rows(
    raw: RawTable, source: Source, named: Sequence[str]
) -> tuple[RawTable, Source]:
    """The layout of a table in which each rater who is named has one row, and the columns are
    items: there are more of these than rows, so that they are no attributes of one item.
    """
    frame = raw.frame
    if not named or set(named) & set(frame.columns) or frame.width <= frame.height + 1:
        return raw, source
    who = _who_filled_in(raw, named)
    if who is None or not set(named) <= set(frame[who].cast(pl.String).unique()):
        return raw, source
    rest = [c for c in frame.columns if c != who]
    scored = [c for c in rest if is_score(raw, c) and is_small(raw, c)]
    if len(scored) <= frame.height or 2 * len(scored) < len(rest):
        return raw, source
    note = finding(
        "raters_in_rows",
        "note",
        raw.name,
        [who],
        f"{who!r} names a rater in each row: the {len(scored)} columns of scores are items.",
        "Say --layout scores if they are attributes.",
    )
    return raw.noted(note), source.model_copy(update={"layout": "raters-by-items", "rater": who})


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
            "layout",
            ("raters-by-items",),
            'layout = "raters-by-items"',
            likely=False,
        )


def _in_words(cells: pl.Series) -> bool:
    """Whether a column holds words of a usual order."""
    if cells.dtype != pl.String or are_texts(cells):
        return False
    return any(map(is_ordered, folded(cells.unique()).drop_nulls().to_list()))


def _who_filled_in(raw: RawTable, named: Sequence[str]) -> str | None:
    """The column that names the person of each row of a form; None where the table is none."""
    frame = raw.frame
    answers = [
        c
        for c in frame.columns
        if not measures(c)
        and not is_counter(frame[c])
        and ((is_score(raw, c) and is_small(raw, c)) or _in_words(frame[c]))
    ]
    if len(answers) < _FEWEST_ANSWERS:
        return None
    for column in frame.columns:
        cells = frame[column]
        holds = cells.dtype == pl.String and bool(named) and set(named) <= set(cells.unique())
        called = plain_word(column) in WHO or find("rater", [column], None, raw.name)
        if (holds or called) and identifies(frame, column):
            return column
    return None
