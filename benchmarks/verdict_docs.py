"""Put the tables of `verdict.py`, `verdict_hidden.py` and others into docs/verdict.md.

    python benchmarks/verdict_docs.py [FOLDER]      # where their results lie

A table of the page is replaced by the one of the results whose first line it has. Of the judges one
by one the page shows those of `SHOWN`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from _help import help_asked

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "verdict.md"
RESULTS = ROOT / "benchmarks" / "results"
#: Judges of the first table of hidden faults that the page shows.
SHOWN = (
    "blind in 3 of 10", "inverts 2 of 10", "passes the worst", "blind in one",
    "question alone in 2 of 10", "question and system", "swaps two systems", "worst of one system",
    "half of the worst tenth", "right where it is easy", "rounded panel mean",
    "**all that must not**",
)  # fmt: skip


def blocks(text: str) -> list[list[str]]:
    """Runs of lines that are of a table, and of those that are not."""
    found: list[list[str]] = []
    for line in text.split("\n"):
        if not found or line.startswith("|") != found[-1][-1].startswith("|"):
            found.append([])
        found[-1].append(line)
    return found


def tables(text: str) -> dict[str, list[str]]:
    """The tables of a text by their first line."""
    return {block[0]: block for block in blocks(text) if block[0].startswith("|")}


def chosen(table: list[str]) -> list[str]:
    """The rows of the judges that the page shows, where it has a row a judge."""
    names = [cell.strip() for cell in table[0].split("|")[1:-1]]
    if names[:2] != ["systems x items", "judge"]:
        return table
    return [*table[:2], *(row for row in table[2:] if row.split("|")[2].strip() in SHOWN)]


def main(folder: Path) -> int:
    """How many tables of the page were replaced."""
    made = {}
    for name in ("verdict.md", "verdict_hidden.md", "verdict_limits.md", "verdict_others.md"):
        made |= tables((folder / name).read_text(encoding="utf-8"))
    found = blocks(PAGE.read_text(encoding="utf-8"))
    done = 0
    for place, block in enumerate(found):
        if block[0] in made:
            found[place] = chosen(made[block[0]])
            done += 1
    PAGE.write_text("\n".join("\n".join(block) for block in found), encoding="utf-8")
    return done


if __name__ == "__main__":
    help_asked(__doc__)
    print(main(Path(sys.argv[1]) if sys.argv[1:] else RESULTS), "tables")
