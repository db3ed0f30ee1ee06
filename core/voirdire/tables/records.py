"""Records: rows of texts whose columns all have a value, some of them out of a declared set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voirdire.errors import TableError, duplicate, not_one_of
from voirdire.tables.questions import cell_text, read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def read_records(
    path: str | Path,
    columns: Sequence[str],
    allowed: Mapping[str, Sequence[str]],
    *,
    what: str = "row",
    names: Mapping[str, str] | None = None,
) -> list[dict[str, str]]:
    """The rows of a file (JSON, JSONL, CSV, Parquet or a workbook) as texts.

    Parameters
    ----------
    path : path
        One row a record.
    columns : sequence of str
        The columns that every record has, ``id`` among them.
    allowed : mapping of str to sequence of str
        Column -> its values, in the spelling that is kept; the file's may differ in case.
    what : str
        What a record is called in errors.
    names : mapping of str to str, optional
        Our name -> the file's column, where it is called otherwise.

    Raises
    ------
    TableError
        A column is absent; a cell is empty; an id occurs twice; a value is none of those allowed.
        The message names the row.
    """
    theirs = {name: (names or {}).get(name, name) for name in columns}
    found: dict[str, dict[str, str]] = {}
    for place, row in read_rows(path, list(theirs.values())):
        where = f"{path}, {place}"
        record = {name: cell_text(row[column]) for name, column in theirs.items()}
        for name, text in record.items():
            if not text:
                raise TableError(f"{where}: {name} is empty")
        for name, values in allowed.items():
            known = {value.casefold(): value for value in values}
            if record[name].casefold() not in known:
                raise not_one_of(name, record[name], values, where, TableError)
            record[name] = known[record[name].casefold()]
        if record["id"] in found:
            raise duplicate(what, record["id"], where, error=TableError)
        found[record["id"]] = record
    return list(found.values())
