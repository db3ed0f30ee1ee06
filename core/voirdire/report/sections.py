"""Sections to a terminal and to files, for every command that ends in tables and findings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.text import Text

from voirdire.files import write_text
from voirdire.report._fitted import print_fitted
from voirdire.report._outputs import check_formats
from voirdire.report._records import plain
from voirdire.report._words import SEVERITIES, legible, plural
from voirdire.schema import SEVERITIES as WORST_FIRST
from voirdire.shown import terminal, visible
from voirdire.tabular import MISSING, Marked, Spread, Table, bounds, is_missing, number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from voirdire.report.figures._style import Drawing
    from voirdire.schema import Finding
    from voirdire.tabular import Section, SectionFigure

FORMATS = ("html", "md", "tex", "csv", "json")
#: Rows of a table that a terminal shows; files hold all.
MOST_ROWS = 16
#: Columns of a picture of intervals: a narrower window gets the table alone.
_NARROWEST, _WIDEST = 24, 64
SCHEMA_VERSION = 1


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
    with console.capture() as captured:
        console.print(Text(visible(title), style="bold"))
        for section in sections:
            console.print()
            print_section(section, console)
        for finding in sorted(findings, key=lambda one: WORST_FIRST.index(one.severity)):
            sign, style, _ = SEVERITIES[finding.severity]
            line = Text(f"{sign} {finding.severity}: ", style=style)
            said = visible(f"{finding.message} {finding.consequence}".strip())
            console.print(line.append(said, style="none"))
    console.file.write(legible(captured.get(), console.encoding))


def print_section(
    section: Section, console: Console, *, said: bool = True, most: int | None = MOST_ROWS
) -> None:
    """Print the tables of a section, `most` rows of each, and, where `said`, its text."""
    console.print(Text(visible(section.title), style="bold"))
    for table in section.tables:
        print_fitted(console, Table(table.columns, table.rows[:most]))
        more = len(table.rows[most:]) if most is not None else 0
        if more:
            console.print(f"and {plural(more, 'more row')}: see the report", style="dim")
    for figure in section.figures:
        if figure.kind == "intervals" and section.leading:
            _print_intervals(figure, console, most)
    if said and section.text:
        console.print(Text(visible(section.text), style="dim"))


def _print_intervals(figure: SectionFigure, console: Console, most: int | None) -> None:
    """Draw each value as a point on its interval, a line each, all on one scale."""
    names = [visible(name) for name, _ in figure.series]
    margin = max(map(cell_len, names)) + 3
    width = min(console.width - margin - 8, _WIDEST)
    drawn = [end for at in range(len(names)) for ends in figure.ends(at) for end in ends]
    known = [end for end in drawn if not is_missing(end)]
    if width < _NARROWEST or not known:
        return
    low, high = min(known), max(known)
    step = (high - low or 1.0) / (width - 1)
    shown = len(figure.labels) if most is None else max(most // len(names), 1)
    for place, label in enumerate(figure.labels[:shown]):
        console.print(Text(visible(label), style="bold"))
        for at, name in enumerate(names):
            value = figure.series[at][1][place]
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


def json_text(record: Any) -> str:
    """Frozen results as JSON; what is undefined is null, so no bare NaN is ever written."""
    content = plain(record)
    if isinstance(content, dict):
        content = {"schema_version": SCHEMA_VERSION, **content}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def write_sections(
    title: str,
    sections: Sequence[Section],
    folder: str | Path,
    name: str,
    *,
    formats: Iterable[str] = FORMATS,
    record: Any = None,
    findings: Sequence[Finding] = (),
    figures: bool = True,
) -> tuple[Path, ...]:
    """Write sections as ``NAME.html``, ``NAME.md`` and so on into a folder, made where needed.

    Parameters
    ----------
    title : str
    sections : sequence of Section
    folder : path
    name : str
        What the files are called. Each table is a CSV file: ``NAME.csv``, ``NAME-2.csv`` ...
    formats : iterable of {"html", "md", "tex", "csv", "json"}
    record : object, optional
        What the JSON file holds, results and dataclasses made plain; the sections by default.
    findings : sequence of Finding
        Listed in HTML and Markdown.
    figures : bool
        Draw the sections' figures, inside the HTML and as files beside it.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    InputError
        An unknown format.
    """
    asked, folder = tuple(dict.fromkeys(formats)), Path(folder)
    check_formats(asked, FORMATS)
    drawings = _drawn(sections, name) if figures and asked else ()
    written: list[Path] = []
    for form in asked:
        path = folder / f"{name}.{form}"
        if form == "csv":
            written += _write_tables(sections, folder, name)
            continue
        match form:
            case "html":
                said = _html(title, sections, findings, drawings)
            case "md":
                said = markdown_text(title, sections, findings)
            case "tex":
                said = _latex(sections)
            case _:
                shown = {"title": title, "sections": sections} if record is None else record
                said = json_text(shown)
        write_text(path, said.rstrip("\n") + "\n")
        written.append(path)
    return (*written, *(path for drawing in drawings for path in drawing.save(folder)))


def _drawn(sections: Sequence[Section], name: str) -> tuple[Drawing, ...]:
    if not any(section.figures for section in sections):
        return ()
    from voirdire.report.figures._sections import draw_all  # noqa: PLC0415 - loads matplotlib

    return tuple(replace(one, name=f"{name}_{one.name}") for one in draw_all(sections))


def _write_tables(sections: Sequence[Section], folder: Path, name: str) -> list[Path]:
    import polars as pl  # noqa: PLC0415 - only where asked for

    from voirdire.files import write_csv  # noqa: PLC0415

    tables = [table for section in sections for table in section.tables if table.columns]
    paths = [folder / f"{name}{f'-{at}' if at > 1 else ''}.csv" for at in range(1, len(tables) + 1)]
    for path, table in zip(paths, tables, strict=True):
        write_csv(path, pl.DataFrame(flat_columns(table)))
    return paths


def flat_columns(table: Table) -> dict[str, list[Any]]:
    """Column name -> plain values; an interval is two columns, a number with its deviation too.

    >>> from voirdire.tabular import interval, text
    >>> flat_columns(Table((text("a"), interval("b")), (("x", (0.0, 1.0)), ("y", None))))
    {'a': ['x', 'y'], 'b, low': [0.0, None], 'b, high': [1.0, None]}
    """
    columns: dict[str, list[Any]] = {}
    for at, column in enumerate(table.columns):
        cells = [row[at].value if isinstance(row[at], Marked) else row[at] for row in table.rows]
        known = [None if is_missing(cell) else cell for cell in cells]
        if column.kind == "interval":
            ends = [(None, None) if cell is None else bounds(cell) for cell in known]
            columns[f"{column.name}, low"] = [low for low, _ in ends]
            columns[f"{column.name}, high"] = [high for _, high in ends]
        elif any(isinstance(cell, Spread) for cell in known):
            spreads = [cell if isinstance(cell, Spread) else Spread(cell) for cell in known]
            columns[column.name] = [spread.value for spread in spreads]
            columns[f"{column.name}, SD"] = [spread.sd for spread in spreads]
        else:
            columns[column.name] = known
    return columns


def markdown_text(title: str, sections: Sequence[Section], findings: Sequence[Finding] = ()) -> str:
    """A page of Markdown: the title, each section with its tables, and the findings."""
    from voirdire.report._markup import cell, markdown  # noqa: PLC0415 - only where asked for

    lines = [f"- **{finding.severity}**: {cell(finding.message)} {cell(finding.consequence)}"
             for finding in findings]  # fmt: skip
    parts = [f"# {cell(title)}", *map(markdown, sections), *(["\n".join(lines)] if lines else [])]
    return "\n\n".join(parts)


def _latex(sections: Sequence[Section]) -> str:
    from voirdire.report._markup import HEAD, latex  # noqa: PLC0415 - only where asked for

    tables = (latex(section, f"section_{at}") for at, section in enumerate(sections, start=1))
    return HEAD + "\n\n".join(tables)


def _html(
    title: str,
    sections: Sequence[Section],
    findings: Sequence[Finding],
    drawings: Sequence[Drawing],
) -> str:
    from voirdire.report._html import render_sections  # noqa: PLC0415 - loads jinja2

    return render_sections(title, sections, findings, drawings)
