"""Do printed tables agree? Scores over all classes from per-class rows and the share they imply."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """One printed row of a binary task, in per cent.

    `positive` and `control` are (precision, recall, F1) of each class; `overall` is (accuracy,
    weighted precision, weighted recall, weighted F1, macro-F1).
    """

    name: str
    positive: tuple[float, float, float]
    control: tuple[float, float, float]
    overall: tuple[float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A printed cell that does not follow from the per-class row, to rounding."""

    row: str
    cell: str
    printed: float
    derived: float


CELLS = ("accuracy", "precision", "recall", "f1", "macro_f1")
#: Half of the last printed digit.
HALF = 0.05


def implied_share(rows: Sequence[PrintedRow], rounding: float = HALF) -> float:
    """The share of positives with which most weighted cells fit their rows, to rounding.

    Each weighted cell is ``share * positive + (1 - share) * control``, and so confines the share to
    an interval; the middle of where most intervals overlap is returned (NaN if none is defined).

    Examples
    --------
    >>> row = PrintedRow("a", (60.0, 90.0, 72.0), (80.0, 40.0, 53.3), (65.0, 70.0, 65.0, 0, 0))
    >>> round(implied_share([row]), 2)
    0.5
    """
    bounds = [pair for row in rows for pair in _bounds(row, rounding)]
    if not bounds:
        return float("nan")
    edges = sorted({edge for pair in bounds for edge in pair})
    middles = [(a + b) / 2 for a, b in pairwise(edges)]
    fits = [sum(low <= share <= high for low, high in bounds) for share in middles]
    most = [share for share, n in zip(middles, fits, strict=True) if n == max(fits)]
    return (most[0] + most[-1]) / 2


def _bounds(row: PrintedRow, rounding: float) -> list[tuple[float, float]]:
    """The shares that accuracy, weighted precision and weighted F1 allow."""
    pairs = [
        (row.overall[0], row.positive[1], row.control[1]),
        (row.overall[1], row.positive[0], row.control[0]),
        (row.overall[3], row.positive[2], row.control[2]),
    ]
    found = []
    for whole, positive, control in pairs:
        gap = positive - control
        if abs(gap) > 4 * rounding:
            share, slack = (whole - control) / gap, 2 * rounding / abs(gap)
            found.append((share - slack, share + slack))
    return found


def derived(row: PrintedRow, share: float) -> dict[str, float]:
    """The overall cells that follow from a per-class row and the share of positives."""
    mixed = [
        share * one + (1 - share) * other
        for one, other in zip(row.positive, row.control, strict=True)
    ]
    macro = (row.positive[2] + row.control[2]) / 2
    return dict(zip(CELLS, (mixed[1], mixed[0], mixed[1], mixed[2], macro), strict=True))


def misfits(rows: Sequence[PrintedRow], share: float, rounding: float = HALF) -> tuple[Misfit, ...]:
    """Cells that differ from what follows by more than both roundings can explain."""
    return tuple(
        Misfit(row.name, cell, printed, value)
        for row in rows
        for (cell, value), printed in zip(derived(row, share).items(), row.overall, strict=True)
        if abs(printed - value) > 2 * rounding + 1e-9
    )
