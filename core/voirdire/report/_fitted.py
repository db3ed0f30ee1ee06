"""Tables that fit a terminal: headers broken first, then groups, then a row over several lines."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text

from voirdire.shown import visible
from voirdire.tabular import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from voirdire.tabular import Table

#: Texts up to this width are never broken; longer ones are, at words, and keep that width.
_SHORT = 16
_INDENT = "  "
_BLANK = {"", MISSING}


def print_fitted(console: Console, table: Table) -> None:
    """Print a table as wide as the window allows, no number of it cut.

    Where it does not fit, blank columns are left out and headers and long texts broken at words;
    then rows stand under their first cell; at last each of those rows is a list. Control characters
    are written out.
    """
    columns = [visible(name) for name in table.names]
    rows = [[*map(visible, row)] for row in table.written()]
    right = [column.numeric for column in table.columns]
    widths = _natural(columns, rows)
    if _sum(widths) <= console.width:
        _print_table(console, columns, rows, widths, right)
        return
    kept = [at for at in range(len(columns)) if not at or {row[at] for row in rows} - _BLANK]
    columns, right = [columns[at] for at in kept], [right[at] for at in kept]
    rows = [[row[at] for at in kept] for row in rows]
    if (narrow := _widths(columns, rows, console.width)) is not None:
        _print_table(console, columns, rows, narrow, right)
        return
    narrow = _widths(columns[1:], [row[1:] for row in rows], console.width - len(_INDENT))
    if narrow is not None:
        _print_groups(console, columns, rows, narrow, right)
    else:
        _print_lists(console, columns, rows)


def _natural(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of each column where nothing is broken."""
    return [
        max([cell_len(name), *(cell_len(row[at]) for row in rows)])
        for at, name in enumerate(columns)
    ]


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + max(len(widths) - 1, 0)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """A width for each column that breaks no word and no number; None where they do not fit."""
    most = _natural(columns, rows)
    widths = [
        max([_longest_word(name), *(_least(row[at]) for row in rows)])
        for at, name in enumerate(columns)
    ]
    spare = room - _sum(widths)
    if spare < 0:
        return None
    for wish, at in sorted((most[at] - widths[at], at) for at in range(len(columns))):
        given = min(wish, spare)
        widths[at] += given
        spare -= given
    return widths


def _least(cell: str) -> int:
    return min(cell_len(cell), max(_SHORT, _longest_word(cell)))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _print_table(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    right: Sequence[bool],
    *,
    indent: int = 0,
    header: bool = True,
) -> None:
    table = Grid(
        box=None,
        header_style="bold",
        show_header=header,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    if indent:
        table.add_column("", width=indent - 1)
    for name, width, numeric in zip(columns, widths, right, strict=True):
        table.add_column(Text(name), width=width, justify="right" if numeric else "left")
    blank = [""] * bool(indent)
    for row in rows:
        table.add_row(*blank, *(Text(cell) for cell in row))
    console.print(table)


def _print_groups(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    right: Sequence[bool],
) -> None:
    """The first cell as a heading of the rows that share it."""
    inner = len(_INDENT)
    _print_table(console, columns[1:], (), widths, right[1:], indent=inner)
    for name, group in groupby(rows, key=lambda row: row[0]):
        console.print(Text(name, style="bold"))
        rest = [row[1:] for row in group]
        _print_table(console, columns[1:], rest, widths, right[1:], indent=inner, header=False)


def _print_lists(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first cell as a heading of the rows that share it, each row with the names of cells."""
    for name, group in groupby(rows, key=lambda row: row[0]):
        console.print(Text(name, style="bold"))
        for row in group:
            pairs = [f"{n}: {cell}" for n, cell in zip(columns[1:], row[1:], strict=True) if cell]
            for at, line in enumerate(_filled(pairs, console.width - 2 * len(_INDENT))):
                console.print(Text(_INDENT * (1 if at == 0 else 2) + line))


def _filled(parts: Sequence[str], width: int) -> list[str]:
    """Parts joined by commas into lines, none broken that could stand in a line of its own."""
    lines: list[str] = []
    for at, part in enumerate(parts):
        said = part if at == len(parts) - 1 else f"{part},"
        if lines and cell_len(lines[-1]) + 1 + cell_len(said) <= width:
            lines[-1] += f" {said}"
        else:
            lines.append(said)
    return lines
