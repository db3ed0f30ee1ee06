"""Rows about turns of conversations: the unit in the item's id, the conversation as cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError, no_column
from voirdire.tables._ids import canonical_ids, plain_name
from voirdire.tables._names import find, plain_word
from voirdire.tables._tables import finding

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
        "turns_not_declared", "serious", raw.name, [found],
        f"Column {found!r} looks as if it numbered the turns of a conversation.",
        "Rows are taken as they are and no rows are one cluster: if turns are judged, declare the "
        f"column (turn = {found!r}, --turn {found}), so that intervals allow for turns of "
        "one conversation being alike.",
    )  # fmt: skip
    return raw if note in raw.findings else raw.noted(note)
