"""Cells of Markdown tables: keys as columns, or as rows beside a column of scores."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from voirdire.parsing._keys import key_forms, match_key
from voirdire.parsing._words import DRAFT_MARKS, FINAL_MARKS, mark_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# At least two lines between bars; 200 at most, so that the search stays linear.
_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*\|[ \t]*(?:\n|\Z)){2,200}", re.MULTILINE)
_MAX_TABLES = 50
# "|---|:--:|": the rule between the head of a table and its rows.
_RULE = re.compile(r"[\s|:-]*")
_SCORES = key_forms(["score", "rating", "grade", *FINAL_MARKS, *DRAFT_MARKS])
# "Final score": the mark before the noun is no part of it.
_MARKED = re.compile(rf"(?:{'|'.join((*FINAL_MARKS, *DRAFT_MARKS))})[\s_]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table says of a key, and where the table stands."""

    key: str
    text: str
    at: int
    end: int


def table_cells(text: str, keys: Sequence[str]) -> list[Cell]:
    """What the tables of a text state of the keys."""
    forms = key_forms(keys)
    return [
        Cell(name, cell, table.start(), table.end())
        for table in _tables(text)
        for name, cell in _stated(table.group(), forms)
    ]


def verdict_cells(text: str, words: Sequence[str], marks: Sequence[str]) -> list[Cell]:
    """The cell below a word of verdict, where a table has one row and begins with that word.

    A mark may stand before the word; where all columns are such words, each is a cell under its
    head: ``| Draft | Final score |``. Other tables with such a column are about several things.
    """
    forms, found = key_forms(words), []
    # "Final score", "draft_score": the mark before the word.
    before = re.compile(rf"(?:{'|'.join(marks)})[\s_]+", re.IGNORECASE)
    for table in _tables(text):
        head, *rows = _rows(table.group())
        if len(rows) != 1 or not head or not rows[0]:
            continue
        known = [match_key(before.sub("", cell, count=1), forms) is not None for cell in head]
        upto = len(head) if all(known) else 1 if known[0] else 0
        pairs = zip(head[:upto], rows[0], strict=False)
        found += [Cell(name, cell, table.start(), table.end()) for name, cell in pairs]
    return found


def _tables(text: str) -> Iterator[re.Match[str]]:
    return islice(_TABLE.finditer(text), _MAX_TABLES) if text.count("|") >= 4 else iter(())


def _rows(table: str) -> list[list[str]]:
    lines = [line for line in table.splitlines() if not _RULE.fullmatch(line)] or [""]
    return [[cell.strip(" \t*_`") for cell in line.split("|")[1:-1]] for line in lines]


def _stated(table: str, forms: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    head, *rows = _rows(table)
    names = [match_key(cell, forms) for cell in head]
    if any(names) and not any(cell[:1].isdigit() for cell in head):
        for row in rows:
            for name, cell in zip(names, row, strict=False):
                if name is not None:
                    yield name, cell
        return
    scores = _columns_of_scores(head)
    for row in rows:
        name = next((name for cell in row if (name := match_key(cell, forms))), None)
        if name is not None and len(scores) == 1 and scores[0] < len(row):
            yield name, row[scores[0]]


def _columns_of_scores(head: Sequence[str]) -> list[int]:
    """Where scores stand beside a column of names: under *Final* before *Score*, never *Draft*."""
    found = {
        at: mark_rank(cell.partition(" ")[0])
        for at, cell in enumerate(head)
        if at and match_key(_MARKED.sub("", cell, count=1), _SCORES)
    }
    final = [at for at, rank in found.items() if rank == "final"]
    return final or [at for at, rank in found.items() if rank != "draft"]
