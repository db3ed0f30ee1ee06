"""Printed numbers that can be checked without the data: sums, averages, and means of whole scores.

A mean of n whole scores, printed to two digits, is one of n + 1 values a unit; one that is none of
them cannot be right (the GRIM test of Brown and Heathers, 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from voirdire.tabular import Section, Table, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Half of the last digit printed, and what arithmetic loses.
_HALF = 0.005 + 1e-9


@dataclass(frozen=True, slots=True)
class PrintedMean:
    """A mean of `n` whole scores as it is printed, to two digits."""

    where: str
    what: str
    value: float
    n: int

    @property
    def possible(self) -> bool:
        """Whether some whole sum of n whole scores has that mean.

        >>> PrintedMean("", "", 0.07, 15).possible, PrintedMean("", "", 0.21, 15).possible
        (True, False)
        """
        return abs(round(self.value * self.n) / self.n - self.value) <= _HALF


@dataclass(frozen=True, slots=True)
class PrintedAverage:
    """A printed average of values that are printed too."""

    where: str
    what: str
    value: float
    values: Sequence[float]

    @property
    def fits(self) -> bool:
        """Whether the values have that average, to two digits."""
        return abs(fmean(self.values) - self.value) <= _HALF


@dataclass(frozen=True, slots=True)
class PrintedSum:
    """Printed totals, and the parts that should add up to them."""

    where: str
    what: str
    totals: tuple[int, ...]
    sums: tuple[int, ...]

    @property
    def fits(self) -> bool:
        """Whether they add up."""
        return self.totals == self.sums


def averages_of(where: str, table: Mapping[str, Mapping[str, Any]]) -> list[PrintedAverage]:
    """The averages of a table: row -> ``means`` and their ``average``."""
    return [
        PrintedAverage(where, f"{name}, average", row["average"], row["means"])
        for name, row in table.items()
    ]


def sums_of(where: str, rows: Sequence[Sequence[int]], totals: Sequence[int]) -> list[PrintedSum]:
    """The sums of a table: those of each row (its total first), then those of all columns.

    >>> [one.fits for one in sums_of("Table 1", [[5, 2, 3], [4, 2, 1]], [9, 4, 4])]
    [True, False, False]
    """
    columns = list(map(sum, zip(*(parts for _, *parts in rows), strict=True)))
    return [
        *(
            PrintedSum(where, f"row {place}", (whole,), (sum(parts),))
            for place, (whole, *parts) in enumerate(rows, start=1)
        ),
        PrintedSum(where, "all", tuple(totals), (sum(columns), *columns)),
    ]


def means_of(
    where: str, table: Mapping[str, Sequence[Any]], sizes: Sequence[int], part: str, of: str = ""
) -> list[PrintedMean]:
    """The means of a table, part by part.

    Parameters
    ----------
    where : str
    table : mapping of str to sequence
        Row -> for each part its mean, or a list of means.
    sizes : sequence of int
        How many scores each part has.
    part, of : str
        What a part is called, and what each of several means of a part is.
    """
    return [
        PrintedMean(where, f"{name}, {part} {place}" + (f", {of} {at}" if of else ""), mean, n)
        for place, n in enumerate(sizes, start=1)
        for name, row in table.items()
        for at, mean in enumerate(row[place - 1] if of else [row[place - 1]], start=1)
    ]


def printed_checks(
    title: str,
    intro: str,
    averages: Iterable[PrintedAverage],
    sums: Iterable[PrintedSum],
    means: Iterable[PrintedMean],
) -> Section:
    """A section of what was checked: every average and sum, and those means that are impossible."""
    rows = [
        (
            one.where,
            one.what,
            f"{one.value:.2f}",
            f"{fmean(one.values):.4f} (mean of {len(one.values)})",
            _result(fits=one.fits),
        )
        for one in averages
    ]
    rows += [
        (
            one.where,
            one.what,
            _whole(one.totals),
            f"{_whole(one.sums)} (sum of parts)",
            _result(fits=one.fits),
        )
        for one in sums
    ]
    rows += [
        (one.where, one.what, f"{one.value:.2f}", f"no mean of {one.n} whole scores", "impossible")
        for one in means
        if not one.possible
    ]
    heads = ("Where", "What", "Printed", "Computed", "Result")
    return Section(title, intro, (Table(tuple(map(text, heads)), tuple(rows)),))


def _result(*, fits: bool) -> str:
    return "fits" if fits else "does not fit"


def _whole(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
