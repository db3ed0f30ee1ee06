"""Texts of the comparisons that a system lost most clearly, both responses side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.examining.preferences import OVERALL
from voirdire.report._texts import Text, cut

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination

_SHOWN = 12


def lost_comparisons(examination: Examination) -> tuple[Text, ...]:
    """The comparisons with the lowest overall score for the first system, at most a dozen.

    Shown where the responses' texts are at hand: in `Examination.replies` a response stands as what
    its system said of the item.
    """
    if examination.preferences is None or examination.replies is None:
        return ()
    settled = examination.preferences.settled.filter(pl.col("score").is_not_null())
    means = settled.group_by("item", "system_a", "system_b", "attribute", maintain_order=True).agg(
        pl.col("score").mean()
    )
    overall = pl.col("attribute").str.to_lowercase() == OVERALL.casefold()
    found = means.group_by("item", "system_a", "system_b", maintain_order=True).agg(
        pl.coalesce(pl.col("score").filter(overall).first(), pl.col("score").mean()).alias("all"),
        "attribute",
        "score",
    )
    lost = found.filter(pl.col("all") < 0).sort("all", maintain_order=True).head(_SHOWN)
    texts, items = _responses(examination), _items(examination)
    return tuple(_text(row, texts, items) for row in lost.iter_rows(named=True))


def _text(row: dict[str, Any], texts: dict[tuple[str, str], str], items: dict[str, str]) -> Text:
    item, a, b = row["item"], row["system_a"], row["system_b"]
    scores = zip(row["attribute"], row["score"], strict=True)
    return Text(
        title=cut(f"{a} against {b} on item {item}"),
        scores="; ".join(f"{name}: {score:+.3g}" for name, score in scores),
        item=cut(items.get(item)),
        reply=cut(texts.get((item, a))),
        said=cut(a),
        beside=cut(texts.get((item, b))),
        beside_said=cut(b),
    )


def _responses(examination: Examination) -> dict[tuple[str, str], str]:
    if examination.replies is None:
        return {}
    own = examination.replies.filter(pl.col("system") == pl.col("rater"))
    return {
        (item, system): text for item, system, text in own.select("item", "system", "reply").rows()
    }


def _items(examination: Examination) -> dict[str, str]:
    if examination.items is None:
        return {}
    return dict(examination.items.select("item", "text").drop_nulls().iter_rows())
