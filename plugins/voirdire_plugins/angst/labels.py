"""The two labels, the four classes that follow, and names of disorders in free text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables import read_labelled
from voirdire_plugins.resources import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LABELS = ("depression", "anxiety")
CLASSES = ("control", "depression", "anxiety", "comorbid")

#: What names a label in free text.
PATTERNS: dict[str, list[str]] = resource("angst", "patterns")["names"]
# A denial reaches over at most three words ("no sign of anxiety"); "not only" and "not otherwise
# specified" deny nothing.
_DENIED = re.compile(
    r"\b(?:no|not(?!\s+(?:only|just|merely|otherwise|elsewhere))|without|rather than|instead of"
    r"|absence of)\s+(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)


def read_posts(source: str | Path, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Posts with both labels and their ``class``; see `voirdire.tables.read_labelled`."""
    posts = with_class(read_labelled(source, LABELS, columns))
    first = ("id", "text", *LABELS, "class")
    return posts.select(*first, pl.exclude(*first))


def with_class(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with a column ``class``: one of `CLASSES`, or null where a label is.

    >>> rows = pl.DataFrame({"depression": [0, 1, 0, 1, None], "anxiety": [0, 0, 1, 1, 1]})
    >>> with_class(rows)["class"].to_list()
    ['control', 'depression', 'anxiety', 'comorbid', None]
    """
    depressed, anxious = pl.col("depression") == 1, pl.col("anxiety") == 1
    known = pl.col("depression").is_not_null() & pl.col("anxiety").is_not_null()
    found = (
        pl.when(depressed & anxious).then(pl.lit("comorbid"))
        .when(depressed).then(pl.lit("depression"))
        .when(anxious).then(pl.lit("anxiety"))
        .otherwise(pl.lit("control"))
    )  # fmt: skip
    return frame.with_columns(pl.when(known).then(found).alias("class"))


def labels_named(text: str) -> dict[str, bool]:
    """Which labels a name of disorders mentions without denying it.

    >>> labels_named("Major Depressive Disorder; possibly GAD")
    {'depression': True, 'anxiety': True}
    >>> labels_named("Bipolar depression, no anxiety")
    {'depression': False, 'anxiety': False}
    >>> labels_named("Manic-depressive illness not otherwise specified with anxiety")
    {'depression': False, 'anxiety': True}
    >>> labels_named("Not only depression but anxiety")
    {'depression': True, 'anxiety': True}
    """
    return {
        label: any(
            not _DENIED.search(text[: found.start()])
            for pattern in patterns
            for found in re.finditer(pattern, text, re.IGNORECASE)
        )
        for label, patterns in PATTERNS.items()
    }
