"""`lookup`: rows of a declared table, by the value of one column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.errors import check_columns
from voirdire.tables import cell_text, read_raw
from voirdire.tools import AgentTool

if TYPE_CHECKING:
    from voirdire.study import Study

#: Rows of one result.
MOST = 10


def make(
    path: str,
    key: str,
    *,
    name: str = "lookup",
    description: str = "",
    columns: tuple[str, ...] = (),
    study: Study | None = None,
) -> AgentTool:
    """The tool (`tools = [{use = "lookup", path = "drugs.csv", key = "drug"}]`).

    Parameters
    ----------
    path : str
        A table in any format that voirdire reads, relative to the study.
    key : str
        The column whose value is looked for, whatever its capitals.
    columns : sequence of str
        What is shown of a row; all columns by default.
    name, description : str
        What the model reads of the tool.

    Raises
    ------
    TableError
        The file cannot be read, or lacks a column.
    """
    file = Path(study.folder if study is not None else ".") / path
    frame = read_raw(file).frame
    shown = tuple(columns) or tuple(frame.columns)
    check_columns(path, (key, *shown), frame.columns)
    # Once, by value: an agent may look up hundreds of times in a table of many rows.
    rows: dict[str, list[dict[str, str]]] = {}
    for row in frame.iter_rows(named=True):
        cells = {column: cell_text(row[column]) for column in shown}
        rows.setdefault(cell_text(row[key]).strip().casefold(), []).append(cells)

    def looked_up(value: str) -> str:
        matches = rows.get(value.strip().casefold(), [])
        if not matches:
            return f"There is no row whose {key} is {value!r}."
        more = f"\n(and {len(matches) - MOST} more rows)" if len(matches) > MOST else ""
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in matches[:MOST]) + more

    purpose = description or f"Rows of a table, by the value of its column {key}."
    schema = {
        "type": "object",
        "properties": {"value": {"type": "string", "description": f"the value of {key}"}},
        "required": ["value"],
    }
    return AgentTool(name, purpose, schema, looked_up, reads=path)
