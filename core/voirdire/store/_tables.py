"""The derived tables of a session as Parquet files beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire._errors import SessionError
from voirdire.files import whole
from voirdire.store._findings import Flagged, write_reply_findings
from voirdire.store._frames import (
    RESPONSES,
    preferences_pages,
    raters_frame,
    ratings_pages,
    responses_pages,
)
from voirdire.store._parsed import PREFERENCES
from voirdire.store._session import usable
from voirdire.tables import RATINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from voirdire._registry import Plugins

#: Rows of a group in a Parquet file, which are held until it is full.
ROWS = 50_000
TABLES = ("ratings", "preferences", "responses", "raters")


def write_tables(folder: str | Path, plugins: Plugins | None = None) -> dict[str, int]:
    """Derive ratings, preferences, responses, raters and findings anew and write them as Parquet.

    Replies are parsed again, so a better parser or a mended rubric takes effect without asking any
    model. Tables are written page by page.

    Returns
    -------
    dict
        Table -> rows.

    Raises
    ------
    SessionError
        The session cannot be read, or its folder not written, as on a full disk.
    """
    folder = Path(folder)
    try:
        with usable(folder):
            return _written(folder, plugins)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SessionError(
            f"session {folder}: its tables cannot be written ({error}); every reply is kept, so "
            f"derive them later: voirdire session reparse {folder}"
        ) from error


def _written(folder: Path, plugins: Plugins | None) -> dict[str, int]:
    panel = raters_frame(folder, plugins)  # first: a study that cannot be used says so here
    with whole(folder / "raters.parquet") as draft:
        panel.write_parquet(draft)
    rows = {"raters": panel.height}
    flagged = Flagged()
    for name, schema, pages in (
        ("responses", RESPONSES, partial(responses_pages, folder, plugins)),
        ("ratings", RATINGS, partial(ratings_pages, folder, plugins, flagged.hear)),
        ("preferences", PREFERENCES, partial(preferences_pages, folder, plugins, flagged.hear)),
    ):
        rows[name] = _sink(folder / f"{name}.parquet", schema, pages)
    write_reply_findings(folder, flagged, plugins)
    return rows


def session_tables(folder: str | Path) -> dict[str, pl.DataFrame]:
    """The derived tables of a session as they lie in its folder, by name."""
    paths = {name: Path(folder) / f"{name}.parquet" for name in TABLES}
    return {name: pl.read_parquet(path) for name, path in paths.items() if path.is_file()}


def _sink(path: Path, schema: Any, pages: Callable[[], Iterator[pl.DataFrame]]) -> int:
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - imports what few need

    def source(columns: list[str] | None, *_: Any) -> Iterator[pl.DataFrame]:
        for page in pages():
            yield page if columns is None else page.select(columns)

    lazy = register_io_source(source, schema=schema)
    with whole(path) as draft:
        lazy.sink_parquet(draft, row_group_size=ROWS)
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())
