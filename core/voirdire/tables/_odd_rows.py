"""Rows that a spreadsheet adds or changes: sums below the items, dates where ids stood."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from voirdire._errors import listed
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    import polars as pl

    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable

_SUMMARIES = frozenset(
    (
        "total", "totals", "grand total", "subtotal", "sum", "mean", "means", "average",
        "averages", "avg", "median", "sd", "std", "stdev", "std dev", "st dev",
        "standard deviation", "variance", "summe", "gesamt", "mittelwert", "durchschnitt",
        "moyenne", "somme", "media", "promedio", "suma",
    )
)  # fmt: skip
#: Summaries beside one of those, and maybe names of items elsewhere.
_BESIDE = frozenset(("min", "max", "minimum", "maximum", "count", "n"))
_DATE = (
    r"(?i)^\d{4}-\d\d-\d\d(?: 00:00:00(?:\.0+)?)?$"
    r"|^\d{1,2}-(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:-\d{2,4})?$"
    r"|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-\d{1,4}$"
)


def without_summaries(
    raw: RawTable, frame: pl.DataFrame
) -> tuple[pl.DataFrame, tuple[Finding, ...]]:
    """The records without those at the end whose id is a word such as ``Total`` or ``Mean``."""
    ids = frame["item"]
    last = list(takewhile(_may_sum, (ids[at] for at in range(len(ids) - 1, -1, -1))))[::-1]
    kept = frame.head(frame.height - len(last))
    apart = not kept["item"].is_in(last).any()
    if not any(_fold(name) in _SUMMARIES for name in last) or not kept.height or not apart:
        return frame, ()
    rows = frame["row"].tail(len(last))
    note = finding(
        "summary_rows",
        "serious",
        raw.name,
        [f"{raw.unit} {row}" for row in rows],
        f"{plural(len(last), 'row')} at the end called {listed(last)}.",
        "Taken for a summary of the rows above and left out; if these are items, rename them.",
    )
    return kept, (note,)


def _may_sum(name: str) -> bool:
    return _fold(name) in _SUMMARIES | _BESIDE


def _fold(name: str) -> str:
    return " ".join(name.casefold().replace(".", " ").replace(":", " ").split())


def date_ids(raw: RawTable, column: str, ids: pl.Series) -> tuple[Finding, ...]:
    """A finding on ids that are dates; among other ids they were hardly meant to be."""
    distinct = ids.drop_nulls().unique(maintain_order=True)
    dates = distinct.filter(distinct.str.contains(_DATE))
    if not len(dates):
        return ()
    note = finding(
        "date_ids",
        "note" if len(dates) == len(distinct) else "serious",
        raw.name,
        dates.to_list(),
        f"{plural(len(dates), 'id is a date', 'ids are dates')} in column {column!r}.",
        "Spreadsheets make dates of ids such as 1-2; such ids match no other file's.",
        count=len(dates),
    )
    return (note,)
