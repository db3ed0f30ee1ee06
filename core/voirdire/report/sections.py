"""Sections as files: HTML, Markdown, LaTeX, CSV and JSON; no text can break out of its cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire import shown
from voirdire.errors import check_allowed
from voirdire.files import write_csv, write_text
from voirdire.report.records import plain
from voirdire.shown import foreign
from voirdire.tabular import Marked, Spread, Table, bounds, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from voirdire.report.figures.style import Drawing
    from voirdire.schema import Finding
    from voirdire.tabular import Section

FORMATS = ("html", "md", "tex", "csv", "json")
SCHEMA_VERSION = 1
_LATEX_HEAD = (
    "% Needs \\usepackage{booktabs,graphicx} and, for long tables, \\usepackage{longtable}.\n"
    "% A table wider than the line is shrunk to it, unless it is a long one.\n"
)
#: A table is as wide as it is, and shrunk only where it is wider than the line.
_FIT = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
#: Rows up to which a table stands on one page.
_LONG = 40
#: A page holds no more columns legibly; a wider table is printed in parts.
_WIDEST = 8


def json_text(record: Any) -> str:
    """Frozen results as JSON; what is undefined is null, so no bare NaN is ever written."""
    content = plain(record)
    if isinstance(content, dict):
        content = {"schema_version": SCHEMA_VERSION, **content}
    return shown.json_text(content)


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
    check_allowed("format", asked, FORMATS)
    drawings = _drawn(sections, name) if figures and asked else ()
    written: list[Path] = []
    for form in asked:
        path = folder / f"{name}.{form}"
        if form == "csv":
            written += _write_tables(sections, folder, name)
            continue
        match form:
            case "html":
                from voirdire.report._html import render_sections  # noqa: PLC0415 - loads jinja2

                content = render_sections(title, sections, findings, drawings)
            case "md":
                content = markdown_text(title, sections, findings)
            case "tex":
                content = latex_text(
                    {f"section_{at}": one for at, one in enumerate(sections, start=1)}
                )
            case _:
                content = json_text(
                    {"title": title, "sections": sections} if record is None else record
                )
        write_text(path, content.rstrip("\n") + "\n")
        written.append(path)
    return (*written, *(path for drawing in drawings for path in drawing.save(folder)))


def _drawn(sections: Sequence[Section], name: str) -> tuple[Drawing, ...]:
    if not any(section.figures for section in sections):
        return ()
    from voirdire.report.figures import draw_sections  # noqa: PLC0415 - loads matplotlib

    return tuple(replace(one, name=f"{name}_{one.name}") for one in draw_sections(sections))


def _write_tables(sections: Sequence[Section], folder: Path, name: str) -> list[Path]:
    import polars as pl  # noqa: PLC0415 - only where asked for

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
        values = [None if is_missing(cell) else cell for cell in cells]
        if column.kind == "interval":
            ends = [(None, None) if cell is None else bounds(cell) for cell in values]
            columns[f"{column.name}, low"] = [low for low, _ in ends]
            columns[f"{column.name}, high"] = [high for _, high in ends]
        elif any(isinstance(cell, Spread) for cell in values):
            spreads = [cell if isinstance(cell, Spread) else Spread(cell) for cell in values]
            columns[column.name] = [spread.value for spread in spreads]
            columns[f"{column.name}, SD"] = [spread.sd for spread in spreads]
        else:
            columns[column.name] = values
    return columns


def markdown_text(title: str, sections: Sequence[Section], findings: Sequence[Finding] = ()) -> str:
    """A page of Markdown: the title, each section with its tables, and the findings."""
    lines = [
        f"- **{finding.severity}**: {cell(finding.message)} {cell(finding.consequence)}"
        for finding in findings
    ]
    parts = [f"# {cell(title)}", *map(markdown, sections), *(["\n".join(lines)] if lines else [])]
    return "\n\n".join(parts)


def markdown(section: Section) -> str:
    """Heading, text and tables, as GitHub prints them."""
    tables = (_markdown_table(table) for table in section.tables if table.rows)
    return "\n\n".join((f"## {cell(section.title)}", cell(section.text), *tables))


def _markdown_table(table: Table) -> str:
    rules = ["---:" if column.numeric else "---" for column in table.columns]
    lines = [_line(map(cell, table.names)), _line(rules)]
    return "\n".join([*lines, *(_line(map(cell, row)) for row in table.written())])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def cell(text: str) -> str:
    """Text that Markdown prints as it stands, on one line."""
    return foreign(" ".join(text.split()), "md")


def latex_text(sections: Mapping[str, Section]) -> str:
    """A file of LaTeX: what it needs, and the tables of each section, labelled by its name."""
    return _LATEX_HEAD + "\n\n".join(latex(section, name) for name, section in sections.items())


def latex(section: Section, name: str) -> str:
    """Tables with the rules of booktabs, captions short, the text as a note below.

    Each is a `table` no wider than the line, or a `longtable` where it has more rows than a page;
    one with more than eight columns is printed in parts, which share their leading columns.
    """
    parts = [part for table in section.tables if table.rows for part in _parts(table)]
    if not parts:
        return f"\\paragraph{{{escape(section.title)}.}} {escape(section.text)}"
    blocks = []
    for at, table in enumerate(parts):
        title = section.title + (f", part {at + 1} of {len(parts)}" if len(parts) > 1 else "")
        label = name + (f"-{at + 1}" if at else "")
        blocks.append(_latex_table(table, title, label, section.text if not at else ""))
    return "\n\n".join(blocks)


def _latex_table(table: Table, title: str, label: str, note: str) -> str:
    align = "".join("r" if column.numeric else "l" for column in table.columns)
    caption = f"\\caption{{{escape(title)}}}\\label{{tab:{label}}}"
    head = _row(table.names)
    body = "\n".join(map(_row, table.written()))
    note_line = f"\\par\\smallskip\\footnotesize {escape(note)}" if note else ""
    if len(table.rows) > _LONG:
        return (
            f"\\begin{{longtable}}{{{align}}}\n{caption}\\\\\n\\toprule\n{head}\n\\midrule\n"
            f"\\endfirsthead\n\\toprule\n{head}\n\\midrule\n\\endhead\n{body}\n"
            f"\\bottomrule\n\\end{{longtable}}" + (f"\n{{{note_line}\\par}}" if note else "")
        )
    return (
        f"\\begin{{table}}\n\\centering\n\\small\n{caption}\n{_FIT}\n\\begin{{tabular}}{{{align}}}\n"
        f"\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}}}\n"
        + (f"{note_line}\n" if note else "")
        + "\\end{table}"
    )


def _parts(table: Table) -> Iterator[Table]:
    """The table, in parts of at most eight columns that begin with its leading names."""
    # Up to three leading names (judge, attribute, system) tell rows apart and open every part.
    keys = 0
    while keys < min(3, len(table.columns)) and not table.columns[keys].numeric:
        keys += 1
    rest = range(keys, len(table.columns))
    size = max(1, _WIDEST - keys) if len(table.columns) > _WIDEST else max(1, len(rest))
    for first in range(0, max(1, len(rest)), size):
        kept = (*range(keys), *rest[first : first + size])
        yield Table(_picked(table.columns, kept), tuple(_picked(row, kept) for row in table.rows))


def _picked(cells: Sequence[Any], kept: Iterable[int]) -> tuple[Any, ...]:
    return tuple(cells[at] for at in kept)


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it stands.

    >>> escape("50 % of o4_mini")
    '50 \\% of o4\\_mini'
    """
    return foreign(" ".join(text.split()), "tex")


def _row(cells: Iterable[str]) -> str:
    return " & ".join(_guard(escape(cell)) for cell in cells) + r" \\"


def _guard(cell: str) -> str:
    """A cell that begins with a bracket would be read as an argument of the row break."""
    return "{}" + cell if cell.startswith("[") else cell
