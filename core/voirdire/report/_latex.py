"""tables.tex: every table with the rules of booktabs, ready to be included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.report._tables import Table, evidence_tables

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining.examination import Examination

_HEAD = (
    "% Needs \\usepackage{booktabs,graphicx} and, for long tables, \\usepackage{longtable}.\n"
    "% A table wider than the line is shrunk to it, unless it is a long one.\n"
)
_FIT = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
_LONG = 40
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


def write_latex(examination: Examination, folder: Path) -> list[Path]:
    """Write all tables into one file."""
    path = folder / "tables.tex"
    parts = [latex_table(table) for table in evidence_tables(examination)]
    path.write_text(_HEAD + "\n\n".join(parts) + "\n", encoding="utf-8")
    return [path]


def latex_table(table: Table) -> str:
    """A `table` no wider than the line, or a `longtable` where it has more rows than a page."""
    if not table.rows:
        return f"\\paragraph{{{escape(table.title)}.}} {escape(table.caption)}"
    align = "".join("r" if table.is_numeric(i) else "l" for i in range(len(table.columns)))
    caption = f"\\caption{{{escape(f'{table.title}. {table.caption}')}}}\\label{{tab:{table.name}}}"
    head = _row(table.columns)
    body = "\n".join(_row(row) for row in table.rows)
    if len(table.rows) > _LONG:
        return (
            f"\\begin{{longtable}}{{{align}}}\n{caption}\\\\\n\\toprule\n{head}\n\\midrule\n"
            f"\\endfirsthead\n\\toprule\n{head}\n\\midrule\n\\endhead\n{body}\n\\bottomrule\n\\end{{longtable}}"
        )
    return (
        f"\\begin{{table}}\n\\centering\n\\small\n{caption}\n{_FIT}\n\\begin{{tabular}}{{{align}}}\n"
        f"\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}}}\n\\end{{table}}"
    )


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it stands.

    >>> escape("50 % of o4_mini")
    '50 \\% of o4\\_mini'
    """
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.split()))


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(_guard(escape(cell)) for cell in cells) + r" \\"


def _guard(cell: str) -> str:
    """A cell that begins with a bracket would be read as an argument of the row break."""
    return "{}" + cell if cell.startswith("[") else cell
