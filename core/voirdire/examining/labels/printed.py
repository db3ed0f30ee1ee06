"""Printed results: F1 beside its baseline, or beside the shares of the classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.errors import TableError
from voirdire.examining.labels.matrix import TASKS, Task, task_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from voirdire.tables import RawTable

_BASELINES = ("f1_random", "shares", "support")
#: Between groups of three digits: 2,530. A plain blank is none: names of classes end in digits.
_GAP = "[,'\u2019\u00a0\u2009\u202f]"
_FIGURE = re.compile(
    rf"(?<![\w.,])(?P<number>[-\u2212]?(?:(?:[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+|\d+)(?:\.\d*)?|\.\d+)"
    r"(?:[eE][-+]?\d+)?)(?!\w)\s*(?P<percent>%)?"
)
_NOTHING = ("", "N/A", "NA", "-", "\u2013", "\u2014")
_SLACK = 0.02


@dataclass(frozen=True, slots=True)
class Printed:
    """What a paper prints: F1, and the baseline or the shares (or supports) of the classes."""

    f1: float
    sd: float | None = None
    f1_random: float | None = None
    shares: tuple[float, ...] = ()
    n: int | None = None


def is_printed(frame: pl.DataFrame) -> bool:
    """Whether a table holds printed results."""
    return "f1" in frame.columns and any(name in frame.columns for name in _BASELINES)


def printed_results(raw: RawTable, path: Path) -> Iterator[tuple[str, str, Task, Printed]]:
    """Configuration, label set, task and what is printed, one a row.

    Columns: ``f1``; ``f1_random`` (as printed), or ``shares`` (of items, one a class, separated by
    semicolons) with ``n``, or ``support``; optionally ``f1_sd, configuration, labels, task``.
    """
    for index, row in enumerate(raw.frame.iter_rows(named=True)):
        yield _result(row, path, f"{path}, {raw.place(index)}")


def _result(row: dict[str, Any], path: Path, where: str) -> tuple[str, str, Task, Printed]:
    f1, spread = _with_spread(row, "f1", where)
    if f1 is None:
        raise TableError(f"{where}, column 'f1': is empty")
    task: Task = task_of(str(row.get("task") or TASKS[1]), where)
    shares, n = _classes(row, task, where)
    sd, chance = (_share(row, column, where) for column in ("f1_sd", "f1_random"))
    printed = Printed(f1, spread if sd is None else sd, chance, shares, n)
    if printed.f1_random is None and not shares:
        raise TableError(f"{where}: needs f1_random, shares or support to know what chance scores")
    name = str(row.get("configuration") or path.stem)
    return name, str(row.get("labels") or ""), task, printed


def _classes(row: dict[str, Any], task: Task, where: str) -> tuple[tuple[float, ...], int | None]:
    """Shares of the classes and the number of items, from `shares` and `n` or from `support`."""
    n = _whole(row, "n", where)
    support = _numbers(row.get("support"), "support", where)
    shares = _numbers(row.get("shares"), "shares", where)
    if support and (task != "multi-label" or n is not None):
        n = n or round(sum(support))
        if not n:
            raise TableError(f"{where}, column 'support': no class has an item")
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
        # Printed shares are rounded, and must add up to 1 for the closed form.
        shares = tuple(share / sum(shares) for share in shares)
    return shares, n


def _numbers(value: Any, column: str, where: str) -> tuple[float, ...]:
    """Numbers in a cell: ``0.6; 0.4``, ``Anger 60 %; Fear 40 %``, ``103 (4.1 %)`` or a list."""
    if value is None or value == "":
        return ()
    parts = value if isinstance(value, list | tuple) else str(value).split(";")
    return tuple(_counted(str(part).strip(), column, where) for part in parts)


def _counted(part: str, column: str, where: str) -> float:
    """The number at the end of a part: a count for `support`, else a share."""
    matches = list(_FIGURE.finditer(part))
    whole = [each for each in matches if not each["percent"]]
    wanted = (
        # A cell such as 103 (4.1 %) holds both: the count for support, the share for shares.
        whole if column == "support" else [each for each in matches if each["percent"]] or whole
    )
    if not wanted or part[matches[-1].end() :].strip(" )]"):
        what = "a count" if column == "support" else "a share, such as 0.6 or 60 %,"
        raise TableError(
            f"{where}, column {column!r}: must end in {what} for each class, got {part!r}"
        )
    number = _value(wanted[-1])
    if number < 0:
        raise TableError(f"{where}, column {column!r}: must be 0 or more, got {part!r}")
    return number


def _with_spread(row: dict[str, Any], column: str, where: str) -> tuple[float | None, float | None]:
    """A share, and the deviation printed behind it: ``0.838 ± 0.006``."""
    share, _, spread = str(row.get(column)).partition("±")
    if not spread:
        return _share(row, column, where), None
    parts = {column: share, f"{column} ±": spread}
    return _share(parts, column, where), _share(parts, f"{column} ±", where)


def _share(row: dict[str, Any], column: str, where: str) -> float | None:
    value = _number(row.get(column), column, where)
    if value is not None and not 0 <= value <= 1:
        raise TableError(
            f"{where}, column {column!r}: must lie in 0..1 or be a percentage with its sign, "
            f"got {row[column]!r}"
        )
    return value


def _whole(row: dict[str, Any], column: str, where: str) -> int | None:
    value = _number(row.get(column), column, where)
    if value is not None and (value < 1 or not value.is_integer()):
        raise TableError(
            f"{where}, column {column!r}: must be a whole number of items, got {value!r}"
        )
    return None if value is None else int(value)


def _number(value: Any, column: str, where: str) -> float | None:
    text = "" if value is None else str(value).strip()
    if text in _NOTHING:
        return None
    match = _FIGURE.fullmatch(text)
    if match is None:
        raise TableError(f"{where}, column {column!r}: not a number: {value!r}")
    return _value(match)


def _value(figure: re.Match[str]) -> float:
    digits = re.sub(_GAP, "", figure["number"]).replace("\u2212", "-")
    return float(digits) / (100 if figure["percent"] else 1)
