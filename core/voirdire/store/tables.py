"""The derived tables of a session as Parquet files beside it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import SessionError
from voirdire.files import whole
from voirdire.store.checksums import TABLES, keep_checksums, state_of
from voirdire.store.findings import Flagged, write_reply_findings
from voirdire.store.frames import (
    RESPONSES,
    SessionPanel,
    panel_of,
    preferences_pages,
    preferences_schema,
    raters_frame,
    ratings_pages,
    ratings_schema,
    responses_pages,
)
from voirdire.store.parsed import Changed, Page
from voirdire.store.session import (
    RATERS,
    SESSION_KEY,
    STATE_KEY,
    locked_session,
    read_session,
    session_id,
    session_mode,
    transaction,
    usable,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from voirdire._registry import Plugins

#: Rows of a group in a Parquet file, which are held until it is full.
ROWS = 50_000
#: What a task's replies say now.
# Every step of the task, as `Finish` does. One without a final reply has
# failed, whatever is parsed.
_NOTE = """UPDATE calls SET status = ? WHERE current = 1 AND final IS NOT NULL
AND rater = (SELECT id FROM raters WHERE (stage, name, model, prompt) = (?, ?, ?, ?))
AND task = (SELECT id FROM tasks WHERE (item, first, second, unit) = (?, ?, ?, ?)) AND run = ?"""


def reparse(folder: str | Path, plugins: Plugins | None = None) -> dict[str, int]:
    """Parse all kept replies again, write the tables anew, and note in the session what they say.

    Returns
    -------
    dict
        Table -> rows.

    Raises
    ------
    SessionError
        Another process works in the session, or it cannot be read or written.
    """
    panel = panel_of(folder, plugins)  # first: a study that cannot be used says so here
    with locked_session(folder) as connection:
        return write_tables(folder, panel=panel, connection=connection)


def write_tables(
    folder: str | Path,
    plugins: Plugins | None = None,
    *,
    panel: SessionPanel | None = None,
    connection: sqlite3.Connection | None = None,
) -> dict[str, int]:
    """Derive ratings, preferences, responses, raters and findings anew and write them as Parquet.

    Replies are parsed again, so a better parser or a corrected rubric takes effect without asking
    any model. Tables are written page by page.

    Parameters
    ----------
    folder : str or Path
        The session.
    panel : SessionPanel, optional
        Its panel, where it has been made already.
    connection : sqlite3.Connection, optional
        Of who holds the session's lock: there the statuses of replies that are read otherwise now
        are brought up to date, so that `session_status` and `replies_frame` agree with the tables.

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
            return _written(panel or panel_of(folder, plugins), connection)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SessionError(
            f"session {folder}: its tables cannot be written ({error}); every reply is kept, so "
            f"derive them later: voirdire session reparse {folder}"
        ) from error


def _written(panel: SessionPanel, connection: sqlite3.Connection | None) -> dict[str, int]:
    folder, raters = panel.folder, raters_frame(panel.folder, panel=panel)
    with whole(folder / RATERS, mode=session_mode(folder)) as draft:
        raters.write_parquet(draft, metadata=_origin_of(folder))
    rows = {"raters": raters.height}
    flagged, changed = Flagged(), list[Changed]()

    def hear(page: Page) -> None:
        flagged.hear(page)
        changed.extend(page.changed)

    for name, schema, pages in (
        ("responses", RESPONSES, partial(responses_pages, panel)),
        ("ratings", ratings_schema(panel), partial(ratings_pages, panel, hear)),
        ("preferences", preferences_schema(panel), partial(preferences_pages, panel, hear)),
    ):
        rows[name] = _sink(folder / f"{name}.parquet", schema, pages)
    write_reply_findings(panel, flagged)
    if connection is not None:
        with transaction(connection):
            # After the tables are whole: a kill in between makes the next
            # derivation note the same again.
            connection.executemany(_NOTE, ((c.status, *astuple(c.rater), *c[1:6]) for c in changed))
    # The database's own hash is kept when it is closed.
    keep_checksums(folder, TABLES)
    return rows


def _origin_of(folder: Path) -> dict[str, str]:
    """Of which session and of which state of it the tables are.

    Another session's database is not taken for theirs, and one that went on is seen to have.
    """
    with closing(read_session(folder)) as connection:
        name, state = session_id(connection), state_of(connection)
    return {STATE_KEY: state} if name is None else {SESSION_KEY: name, STATE_KEY: state}


def _sink(path: Path, schema: Any, pages: Callable[[], Iterator[pl.DataFrame]]) -> int:
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - imports what few need

    def source(columns: list[str] | None, *_: Any) -> Iterator[pl.DataFrame]:
        for page in pages():
            yield page if columns is None else page.select(columns)

    # polars pulls page after page and writes as it goes: a table need not fit into memory.
    lazy = register_io_source(source, schema=schema)
    with whole(path, mode=session_mode(path.parent)) as draft:
        lazy.sink_parquet(draft, row_group_size=ROWS)
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())
