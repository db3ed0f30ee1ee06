"""Printed results: F1 beside its baseline, or beside the shares of the classes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from voirdire._errors import TableError
from voirdire.examining.comparing._cells import TASKS, Cell, Printed, Task, task_of

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from voirdire.tables import RawTable

_BASELINES = ("f1_random", "shares", "support")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?\s*%?")
_SLACK = 0.02


def is_printed(frame: pl.DataFrame) -> bool:
    """Whether a table holds printed results."""
    return "f1" in frame.columns and any(name in frame.columns for name in _BASELINES)


def printed_cells(raw: RawTable, path: Path) -> list[Cell]:
    """One cell a row.

    Columns: ``f1``; ``f1_random`` (as printed), or ``shares`` (of items, one a class, separated by
    semicolons) with ``n``, or ``support``; optionally ``f1_sd, configuration, labels, task``.
    """
    return [
        _cell(row, path, f"{path}, {raw.place(index)}")
        for index, row in enumerate(raw.frame.iter_rows(named=True))
    ]


def _cell(row: dict[str, Any], path: Path, where: str) -> Cell:
    f1 = _share(row, "f1", where)
    if f1 is None:
        raise TableError(f"{where}, column 'f1': is empty")
    task: Task = task_of(str(row.get("task") or TASKS[1]), where)
    shares, n = _classes(row, task, where)
    known = Printed(f1, _share(row, "f1_sd", where), _share(row, "f1_random", where), shares, n)
    if known.f1_random is None and not shares:
        raise TableError(f"{where}: needs f1_random, shares or support to know what chance scores")
    name = str(row.get("configuration") or path.stem)
    return Cell(path.name, name, str(row.get("labels") or ""), task, known)


def _classes(row: dict[str, Any], task: Task, where: str) -> tuple[tuple[float, ...], int | None]:
    """Shares of the classes and the number of items, from `shares` and `n` or from `support`."""
    n = _whole(row, "n", where)
    support = _numbers(row.get("support"), "support", where)
    shares = _numbers(row.get("shares"), "shares", where)
    if support and (task != "multi-label" or n is not None):
        n = n or round(sum(support))
        shares = tuple(count / n for count in support)
    elif support:
        raise TableError(f"{where}: support of a multi-label task needs n, the number of items")
    if any(share > 1 for share in shares):
        raise TableError(f"{where}: a share lies above 1: {max(shares)!r}")
    if shares and task != "multi-label":
        if abs(sum(shares) - 1) > _SLACK:
            raise TableError(
                f"{where}: shares of a {task} task must add up to 1, got {sum(shares):g}"
            )
        shares = tuple(share / sum(shares) for share in shares)
    return shares, n


def _numbers(value: Any, column: str, where: str) -> tuple[float, ...]:
    """Numbers in a cell: ``0.6; 0.4``, ``Anger 60 %; Fear 40 %`` or a list."""
    if value is None or value == "":
        return ()
    if isinstance(value, list | tuple):
        return tuple(float(part) for part in value)
    found = []
    for part in str(value).split(";"):
        match = list(_NUMBER.finditer(part))
        if not match:
            raise TableError(f"{where}, column {column!r}: no number in {part.strip()!r}")
        text = match[-1][0]
        found.append(float(text.rstrip("% ")) / (100 if text.endswith("%") else 1))
    return tuple(found)


def _share(row: dict[str, Any], column: str, where: str) -> float | None:
    value = _number(row.get(column), column, where)
    if value is not None and not 0 <= value <= 1:
        raise TableError(f"{where}, column {column!r}: must lie in 0..1, got {value!r}")
    return value


def _whole(row: dict[str, Any], column: str, where: str) -> int | None:
    value = _number(row.get(column), column, where)
    if value is not None and (value < 1 or value != int(value)):
        raise TableError(
            f"{where}, column {column!r}: must be a whole number of items, got {value!r}"
        )
    return None if value is None else int(value)


def _number(value: Any, column: str, where: str) -> float | None:
    if value is None or str(value).strip() in ("", "N/A", "NA", "-"):
        return None
    try:
        number = float(str(value))
    except ValueError:
        raise TableError(f"{where}, column {column!r}: not a number: {value!r}") from None
    if not math.isfinite(number):
        raise TableError(f"{where}, column {column!r}: not a number: {value!r}")
    return number
