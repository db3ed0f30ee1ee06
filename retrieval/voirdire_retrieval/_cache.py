"""Vectors kept between runs, by model and text, in one SQLite file of a folder of the user's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError
from voirdire_retrieval._texts import exact_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FILE = "vectors.sqlite"
_CREATE = """
    CREATE TABLE IF NOT EXISTS vectors (
        model TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, text)
    ) WITHOUT ROWID
"""
_VARIABLES = 500  # every build of SQLite takes as many in one statement


class VectorCache:
    """Vectors by model (name and revision) and exact text; texts themselves are not stored.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     cache = VectorCache(folder)
    ...     cache.put("m", ["a"], np.ones((1, 2), np.float32))
    ...     sorted(cache.get("m", ["a", "b"])), sorted(cache.get("other", ["a"]))
    (['a'], [])
    """

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.file = folder / FILE
        folder.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as connection, connection:
            connection.execute(_CREATE)

    def get(self, model: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are there, by text."""
        wanted, found = {exact_key(text): text for text in texts}, {}
        keys = list(wanted)
        with closing(self._connect()) as connection:
            for start in range(0, len(keys), _VARIABLES):
                part = keys[start : start + _VARIABLES]
                marks = ",".join("?" * len(part))
                query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"  # noqa: S608 - only question marks are put in
                for key, blob in connection.execute(query, [model, *part]):
                    found[wanted[key]] = np.frombuffer(blob, np.float32)
        return found

    def put(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep vectors, one row a text; what is there already stays."""
        rows = [
            (model, exact_key(text), row.tobytes())
            for text, row in zip(texts, np.asarray(vectors, np.float32), strict=True)
        ]
        with closing(self._connect()) as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    def _connect(self) -> sqlite3.Connection:
        connection = None
        try:
            connection = sqlite3.connect(self.file, timeout=60)
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.DatabaseError as error:
            if connection is not None:
                connection.close()
            raise InputError(
                f"{self.file} is not a usable cache of vectors ({error}); delete it or name "
                f"another folder"
            ) from error
        return connection
