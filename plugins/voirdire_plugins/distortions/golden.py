"""Human labels: a dominant distortion and, where there is one, a secondary one an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire import InputError
from voirdire.parsing import parse_labels
from voirdire_plugins.distortions.labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from voirdire.schema import Item

#: Columns of the items' file that hold them (`items.extra` in the study).
DOMINANT, SECONDARY = "dominant", "secondary"
ITEMS = pl.Schema(
    {
        "item": pl.String(),
        "text": pl.String(),
        "labels": pl.List(pl.String),
        "dominant": pl.String(),
    }
)


def golden_items(items: Iterable[Item]) -> pl.DataFrame:
    """Items with their human labels.

    Returns
    -------
    polars.DataFrame
        ``item, text, labels, dominant``; labels are null where the item has none.

    Raises
    ------
    InputError
        A label outside the set, a secondary label without a dominant one, or No Distortion beside
        a distortion.
    """
    rows = [{"item": item.id, "text": item.text, **_labels(item.id, item.extra)} for item in items]
    return pl.DataFrame(rows, schema=ITEMS)


def _labels(item: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    named = [
        _label(item, column, str(extra[column]))
        for column in (DOMINANT, SECONDARY)
        if str(extra.get(column) or "").strip()
    ]
    if not named:
        return {"labels": None, "dominant": None}
    if not str(extra.get(DOMINANT) or "").strip():
        raise InputError(
            f"item {item!r}: has a {SECONDARY} label ({named[0]}) and no {DOMINANT} one"
        )
    if LABELS.none in named and len(set(named)) > 1:
        raise InputError(
            f"item {item!r}: {LABELS.none} cannot stand beside another label, got "
            f"{' and '.join(named)}"
        )
    return {"labels": list(dict.fromkeys(named)), "dominant": named[0]}


def _label(item: str, column: str, text: str) -> str:
    found = parse_labels(text, LABELS)
    named = [label for label, rank in found.ranks.items() if rank == 1]
    if len(found.ranks) != 1 or found.extra["unknown"]:
        raise InputError(
            f"item {item!r}, column {column!r}: {text!r} is no single label of "
            f"{', '.join(LABELS.labels)}"
        )
    return named[0]
