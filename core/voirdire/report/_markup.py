"""Sections as Markdown and as LaTeX; no text can break out of its cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.report._tables import evidence
from voirdire.shown import visible
from voirdire.tabular import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from voirdire.examining.examination import Examination
    from voirdire.tabular import Section

HEAD = (
    "% Needs \\usepackage{booktabs,graphicx} and, for long tables, \\usepackage{longtable}.\n"
    "% A table wider than the line is shrunk to it, unless it is a long one.\n"
)
_FIT = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
_LONG = 40
#: A page holds no more columns legibly; a wider table is printed in parts.
_WIDEST = 8
_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": r"$-$",
    "–": r"--",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "±": r"$\pm$",
}


def write_markdown(examination: Examination, folder: Path) -> list[Path]:
    """Write tables.md: all sections in one file."""
    path = folder / "tables.md"
    title = examination.study.title or examination.study.name
    parts = [f"# {cell(title)}", *map(markdown, evidence(examination).values())]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return [path]


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
    for sign in ("\\", "|", "<", "&", "*", "_", "~", "$", "`", "["):
        text = text.replace(sign, "\\" + sign)
    return visible(" ".join(text.split()))


def write_latex(examination: Examination, folder: Path) -> list[Path]:
    """Write tables.tex: all sections in one file."""
    path = folder / "tables.tex"
    parts = [latex(section, name) for name, section in evidence(examination).items()]
    path.write_text(HEAD + "\n\n".join(parts) + "\n", encoding="utf-8")
    return [path]


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
    said = f"\\par\\smallskip\\footnotesize {escape(note)}" if note else ""
    if len(table.rows) > _LONG:
        return (
            f"\\begin{{longtable}}{{{align}}}\n{caption}\\\\\n\\toprule\n{head}\n\\midrule\n"
            f"\\endfirsthead\n\\toprule\n{head}\n\\midrule\n\\endhead\n{body}\n"
            f"\\bottomrule\n\\end{{longtable}}" + (f"\n{{{said}\\par}}" if note else "")
        )
    return (
        f"\\begin{{table}}\n\\centering\n\\small\n{caption}\n{_FIT}\n\\begin{{tabular}}{{{align}}}\n"
        f"\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}}}\n"
        + (f"{said}\n" if note else "")
        + "\\end{table}"
    )


def _parts(table: Table) -> Iterator[Table]:
    """The table, in parts of at most eight columns that begin with its leading names."""
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
    return visible("".join(_SIGNS.get(sign, sign) for sign in " ".join(text.split())))


def _row(cells: Iterable[str]) -> str:
    return " & ".join(_guard(escape(said)) for said in cells) + r" \\"


def _guard(said: str) -> str:
    """A cell that begins with a bracket would be read as an argument of the row break."""
    return "{}" + said if said.startswith("[") else said
