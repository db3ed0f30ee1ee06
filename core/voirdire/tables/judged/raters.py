"""Which of several columns of labels, or of winners, are raters': as with scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from voirdire.errors import QuestionError, TableError, listed
from voirdire.study import ReadOptions
from voirdire.tables._judging import speaks_of_models
from voirdire.tables._names import kind_of, measures, names_rater
from voirdire.tables._tables import finding, plural
from voirdire.tables._words import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from voirdire.schema import Finding
    from voirdire.study import TableKeys
    from voirdire.tables._files import RawTable


def raters_among(
    raw: RawTable, columns: Sequence[str], read: TableKeys, reference: Sequence[str]
) -> list[str]:
    """Those of columns that say the same kind of thing that are raters': whoever is named, people
    and judges by their names, else the only one beside the reference.

    Where none of the reference is a column, all are: who of them is a person is asked later.

    Raises
    ------
    QuestionError
        Several beside the reference may be judges, and no name says which.
    """
    named = judges_named(read)
    if not set(reference) & set(columns) or named:
        return [c for c in columns if not named or c in (*reference, *named)]
    people = [c for c in columns if c in reference or kind_of(c) == "human"]
    others = [c for c in columns if c not in people]
    others = [c for c in others if not measures(c)] or [c for c in others if names_rater(c)]
    called = [c for c in others if names_rater(c) or speaks_of_models(c)]
    if len(others) > 1 and not called and not read.assume:
        likely, every = ", ".join(map(quoted, others[:1])), ", ".join(map(quoted, others))
        raise QuestionError(
            f"{raw.name}: who judged is not said, and {plural(len(others), 'column')} may be a "
            f"judge's: {listed(others)}.",
            "judge",
            (every, likely),
            f"judge = {json.dumps(others)}",
        )
    return [c for c in columns if c in people or c in (called or others)]


def unread_note(raw: RawTable, columns: Sequence[str], kept: Sequence[str]) -> tuple[Finding, ...]:
    """A note on columns that say the same kind of thing and are no rater's."""
    left = [c for c in columns if c not in kept]
    if not left:
        return ()
    note = finding(
        "columns_unread",
        "note",
        raw.name,
        left,
        f"{plural(len(left), 'column')} with words of the raters not read: {listed(left)}.",
        "No name says that a rater speaks there; name it by --judge if one does.",
    )
    return (note,)


def judges_named(read: TableKeys) -> tuple[str, ...]:
    """The judges that somebody named; of a study the panel says who judges."""
    return read.judge if isinstance(read, ReadOptions) else ()


def of_judges(
    table: pl.DataFrame, people: Sequence[str], judges: Sequence[str], where: str
) -> pl.DataFrame:
    """The judgements of people and of the judges that are named, or of everybody.

    Raises
    ------
    TableError
        A named judge says nothing.
    """
    if not judges:
        return table
    there = table["rater"].unique(maintain_order=True).to_list()
    lost = [name for name in judges if name not in there]
    if lost:
        raise TableError(f"{where}: no judge {lost[0]!r} (raters: {listed(there)})")
    return table.filter(table["rater"].is_in([*people, *judges]))
