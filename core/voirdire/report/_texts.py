"""Texts of the responses where judge and reference differ most; shown only when asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from voirdire.report._pairs import pairs_frame

if TYPE_CHECKING:
    from voirdire.examining.examination import Examination
    from voirdire.study import Study

_SHOWN = 12
_LONGEST = 600
_LONGEST_WORD = 80


@dataclass(frozen=True, slots=True)
class Text:
    """One response as it is shown; `said` names the reply, `beside` is shown to compare it with."""

    title: str
    scores: str
    item: str
    reply: str
    said: str = "The judge's reply"
    beside: str = ""
    beside_said: str = ""


def disagreements(examination: Examination) -> tuple[Text, ...]:
    """The responses with the largest differences over attributes, at most a dozen."""
    if not examination.results:
        return ()
    gap = (pl.col("score") - pl.col("reference")).abs()
    worst = (
        pairs_frame(examination)
        .group_by("judge", "rater", "item", "system", maintain_order=True)
        .agg(gap.sum().alias("gap"), "attribute", "score", "reference")
        .sort("gap", "judge", "item", "system", descending=[True, False, False, False])
        .head(_SHOWN)
    )
    items, replies = _item_texts(examination), _reply_texts(examination)
    return tuple(_text(row, items, replies) for row in worst.iter_rows(named=True))


def cut(text: str | None) -> str:
    """The beginning of a text, very long words broken off; it is escaped where it is printed.

    >>> cut("x" * 10_000)[-1], len(cut("x" * 10_000)) < 100
    ('…', True)
    """
    words = (text or "").split(" ")
    short = " ".join(w if len(w) <= _LONGEST_WORD else f"{w[:_LONGEST_WORD]}…" for w in words)
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST].rstrip()}…"


def allowed(texts: tuple[Text, ...], study: Study) -> tuple[Text, ...]:
    """The texts, no longer than the study's `data.excerpt` where it sets one; none at 0."""
    if "excerpt" not in study.data.model_fields_set:
        return texts
    most = study.data.excerpt
    return tuple(
        replace(
            text,
            item=_shortened(text.item, most),
            reply=_shortened(text.reply, most),
            beside=_shortened(text.beside, most),
        )
        for text in texts
        if most
    )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _text(
    row: dict[str, object],
    items: dict[str, str],
    replies: dict[tuple[str, str | None, str], str],
) -> Text:
    item, system, judge = str(row["item"]), row["system"], str(row["judge"])
    shown = zip(row["attribute"], row["score"], row["reference"], strict=True)  # type: ignore[call-overload]
    return Text(
        title=cut(f"{judge} on {system} for item {item}" if system else f"{judge} on item {item}"),
        scores="; ".join(f"{name}: judge {s:.3g}, humans {r:.3g}" for name, s, r in shown),
        item=cut(items.get(item)),
        reply=cut(replies.get((item, None if system is None else str(system), str(row["rater"])))),
    )


def _item_texts(examination: Examination) -> dict[str, str]:
    if examination.items is None:
        return {}
    return dict(examination.items.select("item", "text").drop_nulls().iter_rows())


def _reply_texts(examination: Examination) -> dict[tuple[str, str | None, str], str]:
    """The first run's reply."""
    if examination.replies is None or examination.replies.is_empty():
        return {}
    rows = examination.replies.sort("run", descending=True).select(
        "item", "system", "rater", "reply"
    )
    return {(item, system, rater): reply for item, system, rater, reply in rows.iter_rows()}
