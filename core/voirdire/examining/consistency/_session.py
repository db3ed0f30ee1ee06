"""What the replies of a session's annotators hold beside labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.store import iterate_parsed

if TYPE_CHECKING:
    from pathlib import Path


def label_replies(folder: str | Path) -> pl.DataFrame:
    """What the replies of a session's annotators hold beside labels.

    Returns
    -------
    polars.DataFrame
        ``rater, item, run, unknown`` (entries outside the set), ``flags``.
    """
    rows = [
        (said.rater, said.item, said.run, list(said.parsed.extra.get("unknown", ())),
         list(said.parsed.flags))
        for said in iterate_parsed(folder, "annotate")
    ]  # fmt: skip
    schema: dict[str, Any] = {
        "rater": pl.String, "item": pl.String, "run": pl.Int32,
        "unknown": pl.List(pl.String), "flags": pl.List(pl.String),
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
