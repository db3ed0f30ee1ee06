"""The hashes of a session's files, kept beside them when it is closed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from voirdire.files import file_hash, mode_like, write_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

#: As ``sha256sum -c`` reads it: a line a file, of its hash, two blanks and its name.
CHECKSUMS = "session.sha256"
DATABASE = "session.sqlite"
#: The tables that are derived from the database.
TABLES = ("ratings.parquet", "preferences.parquet", "responses.parquet", "raters.parquet")
#: What tells one state of a database from a later one: replies come, and calls change places.
_STATE = """SELECT (SELECT count(*) || '-' || coalesce(max(id), 0) FROM attempts)
|| '-' || count(final) || '-' || total(current) || '-'
|| (SELECT count(*) FROM responses WHERE present = 1) FROM calls"""


def keep_checksums(folder: str | Path, names: Iterable[str] = (DATABASE, *TABLES)) -> None:
    """Note the hashes of these files as they are now; the lines of others stay."""
    folder = Path(folder)
    kept = read_checksums(folder)
    for name in names:
        if (folder / name).is_file():
            kept[name] = file_hash(folder / name)
        else:
            kept.pop(name, None)
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(kept.items()))
    # Where nothing can be written, such as on a full disk, there is worse to tell; a file whose
    # hash is out of date is looked at row by row.
    with suppress(OSError):
        write_text(folder / CHECKSUMS, lines, mode=mode_like(folder / DATABASE))


def read_checksums(folder: str | Path) -> dict[str, str]:
    """Name of a file -> its hash when it was written; nothing where an older version wrote it."""
    try:
        lines = (Path(folder) / CHECKSUMS).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.partition("  ") for line in lines)
    return {name: digest for digest, found, name in pairs if found}


def state_of(connection: sqlite3.Connection) -> str:
    """A word for how far a database is, which each reply changes."""
    return str(connection.execute(_STATE).fetchone()[0])
