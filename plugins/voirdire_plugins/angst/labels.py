"""The two labels, and the four classes that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from voirdire.tables import read_labelled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LABELS = ("depression", "anxiety")
CLASSES = ("control", "depression", "anxiety", "comorbid")


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
    # Two bits number the four classes; a null in either stays a null in the sum.
    place = (pl.col("depression") == 1).cast(int) + 2 * (pl.col("anxiety") == 1).cast(int)
    names = dict(enumerate(CLASSES))
    return frame.with_columns(place.replace_strict(names, return_dtype=pl.String).alias("class"))
