"""The tables of a reply: which cell says something of which key, for every kind of value."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from voirdire.parsing._keys import key_forms, match_key
from voirdire.parsing._spelling import words_of
from voirdire.parsing._stated import Statement
from voirdire.parsing._words import DRAFT_MARKS, FINAL_MARKS, mark_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# At least two lines between bars; 200 at most, so that the search stays linear.
_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*\|[ \t]*(?:\n|\Z)){2,200}", re.MULTILINE)
_MAX_TABLES = 50
#: "|---|:--:|": the rule between the head of a table and its rows.
_RULE = " \t|:-"
_SCORES = key_forms(["score", "rating", "grade", *FINAL_MARKS, *DRAFT_MARKS])
#: A cell of more words explains, and holds no value.
_FEW = 3


def cells(
    text: str,
    name_of: Callable[[str], str | None],
    read: Callable[[str], object] | None = None,
) -> Iterator[Statement]:
    """What the tables of a text say of keys: in columns under them, or in rows beside them.

    `name_of` gives the key that a cell names. `read` gives the value of a cell, None where it holds
    none: by it the column of values is known where no head says which it is.
    """
    if "|" not in text:  # nearly always
        return
    for table in tables(text):
        for name, cell in _cells_of(table.group(), name_of, read):
            yield Statement(name, cell, *table.span(), closed=True, form="cell")


def tables(text: str) -> Iterator[re.Match[str]]:
    """The tables of a text, at most 50."""
    return islice(_TABLE.finditer(text), _MAX_TABLES) if text.count("|") >= 4 else iter(())


def rows_of(table: str) -> list[list[str]]:
    """The cells of each row but the rule below the head, without marks."""
    lines = [line for line in table.splitlines() if line.strip(_RULE)] or [""]
    return [[cell.strip(" \t*_`") for cell in line.split("|")[1:-1]] for line in lines]


def _cells_of(
    table: str, name_of: Callable[[str], str | None], read: Callable[[str], object] | None
) -> Iterator[tuple[str, str]]:
    head, *rows = rows_of(table)
    names = [name_of(cell) for cell in head]
    # A first row that holds values is no head: such a table has its keys in a column.
    if any(names) and not _holds_values(head, names, rows, name_of, read):
        for row in rows:
            for name, cell in zip(names, row, strict=False):
                if name is not None:
                    yield name, cell
        return
    columns = _columns_of_scores(head)
    if not columns and read is not None:
        rows = [head, *rows]  # such a table may have no head
        columns = _columns_of_values(rows, name_of, read)
    # Of two columns nobody can tell which is meant.
    for row in rows if len(columns) == 1 else ():
        name = next((name for cell in row if (name := name_of(cell))), None)
        if name is not None and columns[0] < len(row):
            yield name, row[columns[0]]


def _holds_values(
    head: Sequence[str],
    names: Sequence[str | None],
    rows: Sequence[Sequence[str]],
    name_of: Callable[[str], str | None],
    read: Callable[[str], object] | None,
) -> bool:
    """Whether the first row of a table is as those below it: ``| Anger | 1 |``."""
    if any(cell[:1].isdigit() for cell in head):
        return True
    if read is None or not names[0] or any(names[1:]):
        return False
    valued = any(read(cell) is not None for cell in head[1:])
    return valued or any(row and name_of(row[0]) for row in rows)


def _columns_of_values(
    rows: Sequence[Sequence[str]],
    name_of: Callable[[str], str | None],
    read: Callable[[str], object],
) -> list[int]:
    """Columns in which rows that name a key have values, beside short words that are none."""
    named = [row for row in rows if any(map(name_of, row))]
    width = min(map(len, named), default=0)
    told = [[read(row[at]) is not None for row in named] for at in range(width)]
    short = [
        at
        for at in range(width)
        if all(
            valued or (len(words_of(row[at]).forms) <= _FEW and not name_of(row[at]))
            for row, valued in zip(named, told[at], strict=True)
        )
    ]
    return [at for at in short if any(told[at])] or short


def unmarked(head: str) -> str:
    """A head without the mark before its noun: *score* of *Final score*."""
    first, _, noun = head.replace("_", " ").partition(" ")
    return noun.strip() if noun and mark_rank(first) != "said" else head


def _columns_of_scores(head: Sequence[str]) -> list[int]:
    """The columns of scores beside a column of names; a final one goes before, a draft is none."""
    ranks = {
        at: mark_rank(cell.partition(" ")[0])
        for at, cell in enumerate(head)
        if at and match_key(unmarked(cell), _SCORES)
    }
    final = [at for at, rank in ranks.items() if rank == "final"]
    return final or [at for at, rank in ranks.items() if rank != "draft"]
