"""The card of a file: what its rows are, who judged, and why each column is read as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import listed
from voirdire.tables._layout import unread_columns
from voirdire.tables._tables import finding, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.schema import Finding
    from voirdire.tables._files import RawTable
    from voirdire.tables._layout import FilePlan
    from voirdire.tables._role import ColumnRole

#: More columns than these are counted and not listed.
_MOST_COLUMNS = 20


def card(
    raw: RawTable,
    how: FilePlan,
    ratings: pl.DataFrame,
    people: Sequence[str],
    roles: Sequence[ColumnRole],
    left_out: Sequence[str] = (),
) -> Finding:
    """What was read of a table, and what became of its rows and columns.

    The message is such as ``600 rows = 300 items (ticket) x 2 systems (release); judge: llm (1 to
    5); human: label (0 to 1, on 200)``; the places name each column with its role and the reason.
    `left_out` are raters whose ratings do not count: their columns play no part.
    """
    rows, items = raw.frame.height, ratings["item"].n_unique()
    systems = ratings["system"].drop_nulls().n_unique()
    each = f"{plural(items, 'item')} ({how.item})"
    # Where systems answered items of their own, the rows are no product of both.
    crossed = rows >= items * systems
    each += (
        f"{' x ' if crossed else ', '}{plural(systems, 'system')} ({how.system})" if systems else ""
    )
    raters = ratings["rater"].unique(maintain_order=True).to_list()
    judges = [name for name in raters if name not in people]
    own = [name for name in raters if name in people]
    parts = [f"{plural(rows, 'row')} = {each}"]
    spans = _spans(ratings, items * max(systems, 1) if crossed else rows)
    for word, names in (("judge", judges), ("human", own)):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            called = word if len(names) == 1 else f"{word}s"
            parts.append(f"{called}: {', '.join(spans[name] for name in names[:3])}{more}")
    shown: dict[str | None, Any] = dict.fromkeys(how.reasons, "reason, what a rater said")
    shown |= {how.context: "text, shown beside an item", how.response: "text, what was judged"}
    out = [c for c, of in how.values.items() if how.raters.get(c, of) in left_out]
    shown |= dict.fromkeys(out, "not used, its ratings are left out")
    known = [
        replace(one, role=shown[one.column], reason="") if one.column in shown else one
        for one in roles
    ]
    unread = [c for c in raw.frame.columns if c in (*unread_columns(raw, how), *out)]
    return said(raw, parts, known, unread)


def said(
    raw: RawTable, parts: Sequence[str], roles: Sequence[ColumnRole], unread: Sequence[str]
) -> Finding:
    """The card of a file of any kind: what its rows are, who judged, the role of each column with
    the reason, and what was not read.
    """
    told = [
        f"{one.column}: {one.role}{f', {one.reason}' if one.reason else ''}"
        for one in roles[:_MOST_COLUMNS]
    ]
    left = f"Not read: {listed(unread)}." if unread else "Every column plays a part."
    return finding(
        "reading",
        "note",
        raw.name,
        told,
        f"{'; '.join(parts)}.",
        left if roles else "Columns were found by their names.",
        count=raw.frame.height,
    )


def _spans(ratings: pl.DataFrame, units: int) -> dict[str, str]:
    """Each rater with the ends of its scores, and on how many units where not on all."""
    score = pl.col("score")
    found = ratings.group_by("rater").agg(
        low=score.min(), high=score.max(), count=score.count(), runs=pl.col("run").max()
    )
    # Of one run and attribute each row is a unit: only then need nothing be counted apart.
    alone = ratings["attribute"].n_unique() == 1 and found["runs"].max() == 1
    spans = {}
    for rater, low, high, count, _ in found.iter_rows():
        if not count:
            spans[rater] = f"{rater} (no scores)"
            continue
        on = f", on {count:,}" if alone and count < units else ""
        spans[rater] = f"{rater} ({low:g} to {high:g}{on})"
    return spans
