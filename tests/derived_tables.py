"""The derived tables of a session as they lie in its folder."""

from __future__ import annotations

from pathlib import Path

import polars as pl


def session_tables(folder):
    """Ratings, preferences, responses and raters by name, those that are there."""
    names = ("ratings", "preferences", "responses", "raters")
    paths = {name: Path(folder) / f"{name}.parquet" for name in names}
    return {name: pl.read_parquet(path) for name, path in paths.items() if path.is_file()}
