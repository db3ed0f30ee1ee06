"""Where a file's header stands: below titles, in one row or in two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire.errors import listed
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding

#: How many rows are searched for the header.
HEAD = 50


@dataclass(frozen=True, slots=True)
class Header:
    """The columns' names, and the rows `top` to before `below` in which they stand."""

    names: list[str]
    top: int
    below: int
    findings: tuple[Finding, ...]


def find_header(file: str, written: Sequence[Sequence[str]]) -> Header | None:
    """The first row with more than one cell filled, and the one below it where both name columns.

    A second row belongs to the header where a name above stands over several columns (repeated,
    or once before blanks, as merged cells are) that only the row below tells apart.

    Parameters
    ----------
    written : sequence of sequences of str
        The first rows, equally long, "" where a cell is blank.

    Examples
    --------
    >>> rows = [["item", "human", ""], ["", "Calm", "Warm"], ["1", "4", "5"]]
    >>> header = find_header("ratings.csv", rows)
    >>> header.names, header.below
    (['item', 'human_Calm', 'human_Warm'], 2)
    """
    rows = [[cell.strip() for cell in row] for row in written]
    filled = [index for index, row in enumerate(rows) if any(row)]
    if not filled:
        return None
    top = next((index for index in filled if sum(map(bool, rows[index])) > 1), filled[0])
    notes = above_header(file, [rows[index] for index in filled if index < top])
    after = [index for index in filled if index > top]
    names = _joined(rows[top], [rows[index] for index in after]) if after else []
    if not names:
        return Header(list(written[top]), top, top + 1, notes)
    below = after[0] + 1
    if not names[0] and len(after) > 1 and not any(rows[after[1]][1:]):
        names[0], below = rows[after[1]][0], after[1] + 1  # pandas: the name of its index
    return Header(names, top, below, (*notes, _two_rows(file, names)))


def _joined(upper: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Names from two rows, or none where the second row is one of data."""
    lower, body = rows[0], rows[1:]
    spread, label = [], ""
    for above, name in zip(upper, lower, strict=True):
        label = above or (label if name else "")
        spread.append(label)
    under = [at for at, name in enumerate(lower) if name and spread[at]]
    group = [at for at in under if sum(spread[other] == spread[at] for other in under) > 1]
    scored = any(_is_number(row[at]) for row in body for at in group)
    if not scored or any(map(_is_number, lower)):
        return []
    joined = [f"{spread[at]}_{lower[at]}" for at in group]
    if len(set(joined)) < len(joined):
        return []
    found = [above or name for above, name in zip(upper, lower, strict=True)]
    for at, name in zip(group, joined, strict=True):
        found[at] = name
    return found


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def above_header(file: str, rows: Sequence[Sequence[str]]) -> tuple[Finding, ...]:
    """A note on rows above the header, each with the cells that hold something."""
    if not rows:
        return ()
    texts = [text for row in rows for text in row if text]
    note = finding(
        "rows_above_header",
        "note",
        file,
        texts,
        f"{plural(len(rows), 'row')} with one cell above the header: {listed(texts)}.",
        "Taken for a title and left out.",
    )
    return (note,)


def _two_rows(file: str, names: list[str]) -> Finding:
    return finding(
        "header_joined",
        "note",
        file,
        names,
        f"The header has two rows, which were joined: {listed([name for name in names if name])}.",
        "Each column is called by what stands above it and by its own name.",
        count=1,
    )
