"""Rows of a user's file, each with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire._errors import check_columns
from voirdire.tables import read_raw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def read_rows(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a JSON, JSONL, CSV, Parquet file or workbook; nested values come as JSON text.

    Raises
    ------
    TableError
        The file cannot be read, or lacks one of `columns`.
    """
    raw = read_raw(Path(path))
    check_columns(path, columns, raw.frame.columns)
    for index, row in enumerate(raw.frame.iter_rows(named=True)):
        yield raw.place(index), row


def decoded(value: Any) -> Any:
    """A nested value out of its JSON text; anything else as it is.

    >>> decoded('["a", "b"]'), decoded("plain"), decoded(None)
    (['a', 'b'], 'plain', None)
    """
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def as_text(value: Any) -> str:
    """A cell as text: numbers without a needless point, nothing for what is missing.

    >>> as_text(2.0), as_text(" a "), as_text(0), as_text(None)
    ('2', 'a', '0', '')
    """
    if isinstance(value, float):
        return format(value, ".10g")
    return "" if value is None else str(value).strip()
