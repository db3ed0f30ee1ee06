"""Which texts are shown; of labels, those that differ from the key, with the reply beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.labels import with_texts
from voirdire.report._comparison_texts import lost_comparisons
from voirdire.report._texts import Text, allowed, cut, disagreements

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination

_SHOWN = 12


def shown_texts(examination: Examination) -> tuple[Text, ...]:
    """Error cases of labels with one key, lost comparisons, or where judge and humans differ.

    None is longer than the study allows.
    """
    return allowed(_worst(examination), examination.study)


def _worst(examination: Examination) -> tuple[Text, ...]:
    if _compares(examination):
        return lost_comparisons(examination)
    if examination.label_errors is None:
        return disagreements(examination)
    errors = with_texts(examination.label_errors, examination.items, examination.replies)
    size = pl.col("missed").list.len() + pl.col("wrong").list.len()
    worst = errors.sort(size, descending=True, nulls_last=True, maintain_order=True)
    return tuple(_text(row) for row in worst.head(_SHOWN).iter_rows(named=True))


def texts_title(examination: Examination) -> str:
    """What the texts are."""
    if _compares(examination):
        return "Where a system loses most clearly"
    return "Where judge and humans differ most"


def _compares(examination: Examination) -> bool:
    return examination.preferences is not None and not examination.results


def _text(row: dict[str, Any]) -> Text:
    parts = {
        "expected": row["expected"],
        "given": row["given"],
        "missed": row["missed"],
        "wrongly named": row["wrong"],
    }
    said = "; ".join(
        f"{name}: {', '.join(labels) or 'none'}"
        for name, labels in parts.items()
        if labels is not None
    )
    run = f" in run {row['run']}" if row["run"] > 1 else ""
    return Text(
        title=cut(f"{row['rater']} on item {row['item']}{run}"),
        scores=said if row["given"] is not None else f"{said}; nothing given ({row['status']})",
        item=cut(row["text"]),
        reply=cut(row["reply"]),
    )
