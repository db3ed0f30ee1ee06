"""Deliberate-practice exercises of level III, from the user's own file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voirdire import TableError
from voirdire.errors import duplicate
from voirdire.tables import cell_text, read_rows
from voirdire_plugins.cbt_bench.criteria import CRITERIA, DIFFICULTIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COLUMNS = ("id", "category", "difficulty", "statement", "reference")


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a client says, and a therapist's reference response."""

    id: str
    category: str
    difficulty: str
    statement: str
    reference: str


def read_exercises(
    path: str | Path,
    criteria: Mapping[str, Sequence[str]] = CRITERIA,
    columns: Mapping[str, str] | None = None,
) -> tuple[Exercise, ...]:
    """The exercises of a file (JSON, JSONL, CSV or a workbook).

    Parameters
    ----------
    path : path
        One row an exercise.
    criteria : mapping of str to sequence of str
        Category -> what its responses are compared on; by default those of Table 13.
    columns : mapping of str to str, optional
        Name of `COLUMNS` -> the file's column, where it is called otherwise.

    Raises
    ------
    TableError
        A column is absent; a cell is empty; an id that occurs twice; a category without criteria; a
        difficulty other than beginner, intermediate and advanced. The message names the row.
    """
    names = {name: (columns or {}).get(name, name) for name in COLUMNS}
    found: dict[str, Exercise] = {}
    for place, row in read_rows(path, list(names.values())):
        cells = {name: cell_text(row[column]) for name, column in names.items()}
        exercise = _exercise(cells, criteria, f"{path}, {place}")
        if exercise.id in found:
            raise duplicate("exercise", exercise.id, f"{path}, {place}", error=TableError)
        found[exercise.id] = exercise
    return tuple(found.values())


def exercise_counts(exercises: Sequence[Exercise]) -> tuple[tuple[str, int, int, int, int], ...]:
    """Rows of Table 12: category, all, beginner, intermediate, advanced."""
    counts = Counter((e.category, e.difficulty) for e in exercises)
    categories = dict.fromkeys(e.category for e in exercises)
    rows = []
    for category in categories:
        parts = [counts[category, level] for level in DIFFICULTIES]
        rows.append((category, sum(parts), *parts))
    return tuple(rows)  # type: ignore[arg-type]


def _exercise(
    cells: Mapping[str, str], criteria: Mapping[str, Sequence[str]], where: str
) -> Exercise:
    empty = [name for name, text in cells.items() if not text]
    if empty:
        raise TableError(f"{where}: {empty[0]} is empty")
    category = next((c for c in criteria if c.casefold() == cells["category"].casefold()), None)
    if category is None or not criteria[category]:
        raise TableError(
            f"{where}: category {cells['category']!r} has no criteria "
            f"(categories: {'; '.join(criteria)})"
        )
    level = cells["difficulty"].casefold()
    if level not in DIFFICULTIES:
        raise TableError(
            f"{where}: difficulty {cells['difficulty']!r} is none of {', '.join(DIFFICULTIES)}"
        )
    return Exercise(**{**cells, "category": category, "difficulty": level})
