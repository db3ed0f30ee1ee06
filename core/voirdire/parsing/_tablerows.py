"""Scores in Markdown tables: the attributes as columns, or as rows beside a column of scores."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from voirdire.parsing._keys import key_forms, match_key
from voirdire.parsing._statements import Statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TABLE = re.compile(r"(?:^[ \t]*\|[^\n]*\|[ \t]*(?:\n|\Z)){2,200}", re.MULTILINE)
_MAX_TABLES = 50
_RULE = re.compile(r"[\s|:-]*")
_SCORES = key_forms(["score", "rating", "grade"])


def table_statements(text: str, keys: Sequence[str]) -> tuple[list[Statement], str]:
    """What the tables of a text state of the keys, and the text without those tables."""
    if text.count("|") < 6:
        return [], text
    forms, found, rest, at = key_forms(keys), list[Statement](), list[str](), 0
    for table in islice(_TABLE.finditer(text), _MAX_TABLES):
        said = list(_stated(table.group(), forms))
        if said:
            found += said
            rest.append(text[at : table.start()])
            at = table.end()
    return found, "".join([*rest, text[at:]])


def _stated(table: str, forms: Mapping[str, str]) -> Iterator[Statement]:
    lines = [line for line in table.splitlines() if not _RULE.fullmatch(line)]
    head, *rows = [[cell.strip(" \t*_`") for cell in line.split("|")[1:-1]] for line in lines]
    names = [match_key(cell, forms) for cell in head]
    if any(names) and not any(cell[:1].isdigit() for cell in head):
        for row in rows:
            for name, cell in zip(names, row, strict=False):
                if name is not None:
                    yield Statement(name, cell, closed=True)
        return
    scores = [at for at, cell in enumerate(head) if at and match_key(cell, _SCORES)]
    for row in rows:
        name = next((name for cell in row if (name := match_key(cell, forms))), None)
        if name is not None and len(scores) == 1 and scores[0] < len(row):
            yield Statement(name, row[scores[0]], closed=True)
