"""What one column would say stands in several, or the other way round: as columns of raters.

A winner marked by a 1 in one of three columns is one column of winners. A list that names a label
twice is no set: each of its places is what one person said.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import TableError
from voirdire.tables._names import holds_labels, kind_of
from voirdire.tables._numbers import is_numeric
from voirdire.tables._preferences import place_of
from voirdire.tables._tables import finding
from voirdire.tables.judged.cells import as_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable

#: The word for each place in a column of winners.
_WORDS = {1.0: "model_a", -1.0: "model_b", 0.0: "tie"}
#: Of the lists of a column so many name some label twice where they are votes.
_TWICE = 0.02


def with_marked_winners(raw: RawTable) -> RawTable:
    """The table with one column of winners in place of one of 0 and 1 for each of both and a tie.

    So it is where their headers begin alike and end in a word for a place each (`winner_model_a`,
    `winner_model_b`, `winner_tie`), and every row marks one of them.
    """
    bits = [c for c in raw.frame.columns if _is_bit(raw.frame[c])]
    if len(bits) < 2:
        return raw
    groups: dict[str, dict[float, str]] = {}
    for column in bits:
        parts = [part for part in re.split(r"[_\s.-]+", column) if part]
        for size in range(1, len(parts)):
            place = place_of("_".join(parts[size:]))
            if place in _WORDS:
                groups.setdefault("_".join(parts[:size]), {})[place] = column
                break
    for head, columns in groups.items():
        marks = [pl.col(c).cast(pl.Float64, strict=False) for c in columns.values()]
        once = raw.frame.select((pl.sum_horizontal(marks) == 1).all()).item()
        if not {1.0, -1.0} <= set(columns) or not once or head in raw.frame.columns:
            continue
        word = pl.coalesce(
            pl.when(mark == 1).then(pl.lit(_WORDS[place]))
            for place, mark in zip(columns, marks, strict=True)
        )
        names = list(columns.values())
        raw = _with_columns(
            raw, {names[0]: [raw.frame.select(word.alias(head)).to_series()]}, names
        )
    return raw


def with_votes_apart(raw: RawTable) -> RawTable:
    """The table with a column for each person of a list that names labels more than once.

    Raises
    ------
    TableError
        Such a list is a judge's: its places may be runs.
    """
    for column in raw.frame.columns:
        cells = raw.frame[column]
        if cells.dtype != pl.String or not cells.str.starts_with("[").any():
            continue
        lists = [None if text is None else as_list(text) for text in cells.to_list()]
        given = [one for one in lists if one]
        twice = sum(len(set(one)) < len(one) for one in given)
        if twice <= _TWICE * len(given) or all(map(_is_number, (w for one in given for w in one))):
            continue
        if kind_of(column) == "judge":
            raise TableError(
                f"{raw.name}: {column!r} holds lists that name a label twice, such as "
                f"{next(one for one in given if len(set(one)) < len(one))}: no set of labels. "
                f"Where they are runs, write a row for each with a column run"
            )
        if not (kind_of(column) == "human" or holds_labels(column)):
            continue
        size = max(map(len, given))
        name = column.rstrip("s") if kind_of(column.rstrip("s")) == "human" else "human"
        apart = [
            pl.Series(
                f"{name} {k + 1}",
                [one[k] if one and k < len(one) else None for one in lists],
                pl.String,
            )
            for k in range(size)
        ]
        note = finding(
            "votes_apart",
            "note",
            raw.name,
            [column],
            f"{column!r} holds lists that name a label twice: {size} people's labels, each place "
            "of a list one person's.",
            "Where places are not always the same persons', what is said of one of them is not.",
        )
        raw = _with_columns(raw, {column: apart}, [column], note)
    return raw


def _with_columns(
    raw: RawTable,
    made: dict[str, list[pl.Series]],
    gone: Sequence[str],
    *notes: Finding,
) -> RawTable:
    """The table with columns in the place of others."""
    columns: list[pl.Series] = []
    for old in raw.frame:
        columns += made.get(old.name, [] if old.name in gone else [old])
    frame = pl.DataFrame(columns)
    heads = {c: raw.headers.get(c, c) for c in frame.columns}
    return replace(
        raw,
        frame=frame,
        headers=heads,
        nested=raw.nested - set(gone),
        findings=(*raw.findings, *notes),
    )


def _is_bit(column: pl.Series) -> bool:
    if not is_numeric(column) or column.null_count():
        return False
    values = column.cast(pl.Float64, strict=False)
    return not values.null_count() and set(values.unique()) <= {0.0, 1.0}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
