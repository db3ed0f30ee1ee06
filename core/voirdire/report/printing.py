"""Tables, sections and findings on a terminal of any width."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table as Grid
from rich.text import Text

from voirdire.report.words import SEVERITIES, legible, plural
from voirdire.schema import SEVERITIES as WORST_FIRST
from voirdire.shown import terminal, visible
from voirdire.tabular import MISSING, Table, is_missing, number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from voirdire.schema import Finding
    from voirdire.tabular import Section, SectionFigure

#: Rows of a table that a terminal shows; files hold all.
MOST_ROWS = 16
#: Columns of a picture of intervals: a narrower window gets the table alone.
_NARROWEST, _WIDEST = 24, 64
#: Texts up to this width are never broken; longer ones are, at words, and keep that width.
_SHORT = 16
_INDENT = "  "
_BLANK = {"", MISSING}


def print_sections(
    title: str,
    sections: Iterable[Section],
    findings: Iterable[Finding] = (),
    console: Console | None = None,
) -> None:
    """Print a title, what each section says with its tables, and the findings, worst first.

    Parameters
    ----------
    title : str
    sections : iterable of Section
        Of long tables the first rows are printed.
    findings : iterable of Finding
    console : rich.console.Console, optional
        Standard output by default; it honours NO_COLOR, the window's width and pipes.
    """
    console = console or terminal()
    # Captured, since only the whole text can be translated for a terminal without Unicode.
    with console.capture() as captured:
        console.print(Text(visible(title), style="bold"))
        for section in sections:
            console.print()
            print_section(section, console)
        for finding in sorted(findings, key=lambda one: WORST_FIRST.index(one.severity)):
            sign, style, _ = SEVERITIES[finding.severity]
            line = Text(f"{sign} {finding.severity}: ", style=style)
            message = visible(f"{finding.message} {finding.consequence}".strip())
            console.print(line.append(message, style="none"))
    console.file.write(legible(captured.get(), console.encoding))


def print_section(
    section: Section, console: Console, *, with_text: bool = True, most: int | None = MOST_ROWS
) -> None:
    """Print the tables of a section, `most` rows of each, and, where `with_text`, its text."""
    console.print(Text(visible(section.title), style="bold"))
    for table in section.tables:
        print_fitted(console, Table(table.columns, table.rows[:most]))
        more = len(table.rows[most:]) if most is not None else 0
        if more:
            console.print(f"and {plural(more, 'more row')}: see the report", style="dim")
    for figure in section.figures:
        if figure.kind == "intervals" and section.leading:
            _print_intervals(figure, console, most)
    if with_text and section.text:
        console.print(Text(visible(section.text), style="dim"))


def _print_intervals(figure: SectionFigure, console: Console, most: int | None) -> None:
    """Draw each value as a point on its interval, a line each, all on one scale."""
    names = [visible(name) for name, _ in figure.series]
    margin = max(map(cell_len, names)) + 3
    width = min(console.width - margin - 8, _WIDEST)
    drawn = [end for at in range(len(names)) for ends in figure.ends(at) for end in ends]
    present = [end for end in drawn if not is_missing(end)]
    if width < _NARROWEST or not present:
        return
    low, high = min(present), max(present)
    step = (high - low or 1.0) / (width - 1)  # equal values would divide by zero
    shown = len(figure.labels) if most is None else max(most // len(names), 1)
    for place, label in enumerate(figure.labels[:shown]):
        console.print(Text(visible(label), style="bold"))
        for at, name in enumerate(names):
            value = figure.series[at][1][place]
            # `ljust` counts characters; wide letters take two cells.
            line = Text(f"  {name}".ljust(margin - cell_len(name) + len(name)))
            if is_missing(value):
                console.print(line.append(MISSING))
                continue
            columns = [round((x - low) / step) for x in (*figure.ends(at)[place], value)]
            line.append(_strip(*columns).ljust(width))
            console.print(line.append(number_text(value, 2).rjust(8)))
    scale = number_text(low, 2), number_text(high, 2)
    console.print(" " * margin + scale[0] + scale[1].rjust(width - len(scale[0])), style="dim")
    if len(figure.labels) > shown:
        console.print(f"and {len(figure.labels) - shown} more: see the report", style="dim")


def _strip(low: int, high: int, value: int) -> str:
    """A point on its interval, from its first column to its last.

    >>> _strip(2, 8, 5), _strip(3, 3, 3)
    ('  ├──●──┤', '   ●')
    """
    cells = [" "] * low + ["─"] * (high - low + 1)
    cells[low], cells[high] = "├", "┤"
    cells[value] = "●"
    return "".join(cells)


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
    # The first column heads the groups and stays, blank or not.
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
    # The smallest wishes first: as many columns as possible get all that they want.
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
        piece = part if at == len(parts) - 1 else f"{part},"
        if lines and cell_len(lines[-1]) + 1 + cell_len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines
