"""Several files with the same columns: what each stands for; and what a tool calls its raters."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.errors import QuestionError, listed
from voirdire.tables._files import RawTable
from voirdire.tables._names import is_human
from voirdire.tables._questions import found_alone
from voirdire.tables._rated import has_duplicates
from voirdire.tables._tables import plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from voirdire.errors import TableError
    from voirdire.study import TableKeys
    from voirdire.tables._looked import Looked

#: What stands for the names of files where a part is asked for by that name.
FILE = "file"


def names_files(read: TableKeys) -> bool:
    """Whether some part of the ratings is said to be the name of the file."""
    return FILE in (read.system, read.attribute, read.run, read.rater)


def with_file_name(raw: RawTable, path: Path, read: TableKeys) -> RawTable:
    """The table with a column of the file's name, where that is asked for and no column has it."""
    if not names_files(read) or FILE in raw.frame.columns:
        return raw
    frame = raw.frame.with_columns(pl.lit(path.stem).alias(FILE))
    return replace(raw, frame=frame, headers={**raw.headers, FILE: FILE})


def ask_what_files_are(looked: Sequence[Looked]) -> None:
    """Raise where files with the same columns rate the same items by the same raters.

    Raises
    ------
    QuestionError
        Each may hold a system's answers, an attribute, or a run.
    """
    tables = [each.raw for each in looked if isinstance(each.raw, RawTable)]
    if len(tables) < max(2, len(looked)) or any(each.source.key for each in looked):
        return
    same = {tuple(table.frame.columns) for table in tables}
    if len(same) > 1 or any(has_duplicates(each.ratings) for each in looked):
        return
    both = pl.concat([each.ratings for each in looked], how="diagonal_relaxed")
    if not has_duplicates(both):
        return
    count = both.height - both.unique(["item", "system", "rater", "run", "attribute"]).height
    names = [each.name for each in looked]
    raise QuestionError(
        f"{listed(names)} have the same columns, and the same raters rate the same items in them "
        f"({plural(count, 'rating')} twice): does each file hold the answers of a system, what was "
        f"said of an attribute, or a run? Their names stand for it.",
        "system",
        (FILE, f"--attribute {FILE}", f"--run {FILE}"),
        f'system = "{FILE}"',
        likely=False,
    )


def ask_whose_files(why: TableError, files: Sequence[Path], named: Sequence[str]) -> None:
    """Raise where files with the same columns could not be read, and nobody named a reference: each
    may be one rater's, who is called as it.

    Raises
    ------
    QuestionError
        With what was not understood.
    """
    if named or len(files) < 2 or isinstance(why, QuestionError):
        return
    stems = sorted((path.stem for path in files), key=lambda name: not is_human(name))
    raise QuestionError(
        f"{found_alone(why)}. Is each file one rater's, who is called as it? Then whose "
        f"judgements are the reference?",
        "reference",
        tuple(stems),
        f"reference = {json.dumps(stems[:1])}",
        likely=False,
    )


def as_called(raters: pl.DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Raters as a tool's file calls them: ``3`` is its ``annotator 3``, and ``human`` all people.

    Parameters
    ----------
    raters : DataFrame
        ``rater`` and ``kind``, as a reader has them.

    Examples
    --------
    >>> raters = pl.DataFrame({"rater": ["annotator 3", "llm"], "kind": ["human", "judge"]})
    >>> as_called(raters, ["3"]), as_called(raters, ["human"]), as_called(raters, ["llm"])
    (('annotator 3',), ('annotator 3',), ('llm',))
    """
    there = raters["rater"].to_list()
    people = raters.filter(pl.col("kind") == "human")["rater"].to_list()
    called: list[str] = []
    for name in names:
        ends = [one for one in there if one.casefold().endswith(f" {name.casefold()}")]
        meant = [name] if name in there else ends[:1] if len(ends) == 1 else []
        called += meant or (people if people and is_human(name) else [name])
    return tuple(dict.fromkeys(called))
