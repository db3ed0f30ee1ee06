"""Rows about turns of conversations: the unit in the item's id, the conversation as cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, no_column
from voirdire.tables._ids import canonical_ids, plain_name
from voirdire.tables._names import find, plain_word
from voirdire.tables._tables import finding
from voirdire.tables.turns import FAILED, FINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable

#: Headers that may number the turns of a conversation.
_HEADERS = frozenset(("turn", "turnid", "turnindex", "turnnumber", "turnno", "turnnr", "utterance"))


def with_turns(raw: RawTable, source: TableKeys) -> RawTable:
    """A table whose items are turns, where a column is declared that numbers them.

    Their conversation is the cluster, unless another column is declared. Where none is declared and
    one looks as if it numbered turns, rows stay as they are and a note says so.

    Raises
    ------
    TableError
        The column is not there, or holds something else than whole numbers from 1.
    """
    if raw.turned:
        return raw
    if source.unit == "first":
        return _firsts(raw, source)
    if source.turn is None:
        return _noted(raw, source)
    turn = plain_name(source.turn)
    if turn not in raw.frame.columns:
        raise no_column(raw.name, turn, raw.frame.columns)
    item = find("item", raw.frame.columns, source.item, raw.name)
    if item is None:
        raise TableError(
            f"{raw.name}: column {turn!r} numbers turns, and nothing says of which conversation: "
            "name the column of conversations by item (--item)"
        )
    talks, numbers = canonical_ids(raw.frame[item]), _numbers(raw, turn)
    frame = raw.frame.with_columns((talks + " turn " + numbers).alias(item)).drop(turn)
    if find("cluster", frame.columns, source.cluster, raw.name) is None:
        frame = frame.with_columns(talks.alias("cluster"))
    headers = {name: raw.headers.get(name, name) for name in frame.columns}
    return replace(raw, frame=frame, headers=headers, turned=turn)


#: Columns of these parts hold no first failures, also where they are numbers.
_NO_POSITIONS = ("system", "rater", "run", "attribute", "status", "cluster", "subgroup")
#: What says that a conversation never fails.
_NEVER = frozenset(("never", "none", "0", "0.0"))
#: Columns of positions may hold them as words of JSON or of spreadsheets: 3.0 is 3.
_PLACE = r"\s*(\d+)(?:\.0+)?\s*"


def _firsts(raw: RawTable, source: TableKeys) -> RawTable:
    """A row a turn in place of one a conversation: whether each rater says that it failed by it.

    A conversation that never fails is fine up to its end, where it is censored.
    """
    if source.turns is None:
        raise TableError(
            f"{raw.name}: scores are first turns that fail, and nothing says how many turns each "
            "conversation has: name the column of their number by turns (--turns)"
        )
    turns, columns = plain_name(source.turns), raw.frame.columns
    if turns not in columns:
        raise no_column(raw.name, turns, columns)
    item = find("item", columns, source.item, raw.name)
    if item is None:
        raise TableError(f"{raw.name}: name the column of conversations by item (--item)")
    lengths = _numbers(raw, turns).cast(pl.Int64)
    declared = (getattr(source, part) for part in _NO_POSITIONS)
    parts = {plain_name(name) for name in declared if name}
    parts |= set(filter(None, [find("run", columns, source.run, raw.name)]))
    known = {item, turns, *source.ignore, *parts}
    read = {c: _positions(raw, c, lengths) for c in columns if c not in known}
    said = {column: cells for column, cells in read.items() if cells is not None}
    if not said:
        raise TableError(
            f"{raw.name}: no column holds first turns that fail: numbers of turns, or 'never'"
        )
    talks = canonical_ids(raw.frame[item])
    wide = raw.frame.with_columns(talks.alias(item), turn=pl.int_ranges(1, lengths + 1), **said)
    if find("cluster", columns, source.cluster, raw.name) is None:
        wide = wide.with_columns(talks.alias("cluster"))
    lines = raw.numbers()
    wide = wide.with_columns(lines.alias(_LINE)).explode("turn")
    frame = wide.with_columns(
        pl.concat_str(pl.col(item), pl.lit(" turn "), pl.col("turn").cast(pl.String)).alias(item),
        *(
            pl.when(pl.col(c).is_null())
            .then(None)
            .when((pl.col(c) > 0) & (pl.col(c) <= pl.col("turn")))
            .then(pl.lit(FAILED))
            .otherwise(pl.lit(FINE))
            .alias(c)
            for c in said
        ),
    )
    kept = frame.drop("turn", turns, _LINE)
    headers = {name: raw.headers.get(name, name) for name in kept.columns}
    return replace(
        raw, frame=kept, headers=headers, lines=frame[_LINE], turned=turns, rows=kept.height
    )


#: Under what name a row keeps its line; no column of a file has it.
_LINE = "\0line"


def _positions(raw: RawTable, column: str, lengths: pl.Series) -> pl.Series | None:
    """First failures, 0 for never; None where the column holds anything else.

    Raises
    ------
    TableError
        All are turns, and one lies behind the end of its conversation.
    """
    cells = raw.frame[column].cast(pl.String).str.strip_chars()
    filled = cells.replace("", None)
    never = filled.str.to_lowercase().is_in(list(_NEVER))
    places = filled.str.extract(rf"^{_PLACE}$").cast(pl.Int64)
    places = pl.select(pl.when(never).then(0).otherwise(places)).to_series()
    if filled.null_count() == len(filled) or (filled.is_not_null() & places.is_null()).any():
        return None
    wrong = (places > lengths).fill_null(value=False)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        raise TableError(
            f"{raw.name}: {raw.place(at)}, column {column!r}: turn {places[at]} of a conversation "
            f"that has {lengths[at]}: a first failure is one of its turns, or 'never'"
        )
    return places


def turn_column(columns: Sequence[str]) -> str | None:
    """A column that looks as if it numbered the turns of a conversation.

    >>> turn_column(["id", "Turn", "judge"])
    'Turn'
    """
    return next((column for column in columns if plain_word(column) in _HEADERS), None)


def _numbers(raw: RawTable, column: str) -> pl.Series:
    """Positions of turns as text."""
    cells = raw.frame[column]
    numbers = cells.cast(pl.Float64, strict=False)
    wrong = numbers.is_null() | (numbers < 1) | (numbers != numbers.floor())
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        raise TableError(
            f"{raw.name}: {raw.place(at)}, column {column!r}: {cells[at]!r} is no turn: turns are "
            "whole numbers, and the first is 1"
        )
    return numbers.cast(pl.Int64).cast(pl.String)


def _noted(raw: RawTable, source: TableKeys) -> RawTable:
    """With a note on a column that may number turns, of rows that are taken one by one."""
    if source.cluster is not None:
        return raw
    found = turn_column([c for c in raw.frame.columns if c not in source.ignore])
    item = find("item", raw.frame.columns, source.item, raw.name)
    if found is None or item is None or not raw.frame[item].is_duplicated().any():
        return raw
    note = finding(
        "turns_not_declared",
        "serious",
        raw.name,
        [found],
        f"Column {found!r} looks as if it numbered the turns of a conversation.",
        "Rows are taken as they are and no rows are one cluster: if turns are judged, declare the "
        f"column (turn = {found!r}, --turn {found}), so that intervals allow for turns of "
        "one conversation being alike.",
    )
    return raw if note in raw.findings else raw.noted(note)
