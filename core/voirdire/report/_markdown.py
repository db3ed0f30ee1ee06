"""tables.md: every table as GitHub prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.report._tables import Table, evidence_tables

if TYPE_CHECKING:
    from pathlib import Path

    from voirdire.examining.examination import Examination


def write_markdown(examination: Examination, folder: Path) -> list[Path]:
    """Write all tables into one file."""
    path = folder / "tables.md"
    title = examination.study.title or examination.study.name
    parts = [f"# {_cell(title)}", *(markdown_table(t) for t in evidence_tables(examination))]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return [path]


def markdown_table(table: Table) -> str:
    """Heading, caption and table; cells are escaped, so no text can break out of its cell."""
    said = f"## {_cell(table.title)}\n\n{_cell(table.caption)}"
    if not table.rows:
        return said
    rules = ["---:" if table.is_numeric(i) else "---" for i in range(len(table.columns))]
    lines = [_line([_cell(name) for name in table.columns]), _line(rules)]
    lines += [_line([_cell(cell) for cell in row]) for row in table.rows]
    return f"{said}\n\n" + "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    for sign in ("\\", "|", "<", "&", "*", "_", "~", "$", "`", "["):
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())
