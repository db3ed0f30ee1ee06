"""From texts to vectors: unit rows, each distinct text once, the longest first, kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError, ModelError
from voirdire.protocols import CountsTokens, EmbedsInBatches, HasRevision
from voirdire_retrieval._texts import exact_key, is_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import Embedder


def unit_rows(vectors: Any, count: int, model: str) -> NDArray[np.float32]:
    """L2-normalise what a model returned: ``v / |v|``, one float32 row a text.

    Raises
    ------
    ModelError
        Not `count` rows of one length, a value that is not finite, or a row of zeros.

    Examples
    --------
    >>> unit_rows([[3.0, 4.0]], 1, "m")
    array([[0.6, 0.8]], dtype=float32)
    """
    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"embedder {model!r}: the vectors are ragged or not numbers", "malformed"
        ) from error
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise ModelError(
            f"embedder {model!r}: {count} texts went in, an array of shape {rows.shape} came back",
            "malformed",
        )
    # In 64 bits, so that cosines of equal texts are 1 and not a little above.
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    # A row of zeros has no direction: as a cosine of 0 it would look like an answer.
    odd = np.flatnonzero(~np.isfinite(lengths[:, 0]) | (lengths[:, 0] == 0))
    if odd.size:
        raise ModelError(
            f"embedder {model!r}: the vector of text {odd[0]} of its batch has length "
            f"{lengths[odd[0], 0]}; a finite length above 0 is needed",
            "malformed",
        )
    return np.ascontiguousarray(rows / lengths, dtype=np.float32)


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
        wanted, vectors = {exact_key(text): text for text in texts}, {}
        keys = list(wanted)
        with closing(self._connect()) as connection:
            for start in range(0, len(keys), _VARIABLES):
                part = keys[start : start + _VARIABLES]
                marks = ",".join("?" * len(part))
                query = f"SELECT text, vector FROM vectors WHERE model = ? AND text IN ({marks})"  # noqa: S608 - only question marks are put in
                for key, blob in connection.execute(query, [model, *part]):
                    vectors[wanted[key]] = np.frombuffer(blob, np.float32)
        return vectors

    def put(self, model: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep vectors, one row a text; what is there already stays."""
        rows = [
            (model, exact_key(text), row.tobytes())
            for text, row in zip(texts, np.asarray(vectors, np.float32), strict=True)
        ]
        with closing(self._connect()) as connection, connection:
            # The first to come stays: two processes embed the same text to the last bit
            # or not quite.
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    def _connect(self) -> sqlite3.Connection:
        connection = None
        try:
            connection = sqlite3.connect(self.file, timeout=60)
            # So that one process may read while another writes; two runs often share a
            # cache.
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.DatabaseError as error:
            if connection is not None:
                connection.close()
            raise InputError(
                f"{self.file} is not a usable cache of vectors ({error}); delete it or name "
                f"another folder"
            ) from error
        return connection


#: Batches between two savings: little is lost by an interruption, little time spent on saving.
_BATCHES = 8


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts, and what a reader must know about them.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n, dimension)
        Unit rows; NaN where the text is empty, for an empty text has no meaning to be near to.
    empty : int
        Texts that are null or blank; they were not sent to the model.
    cut : tuple of int, or None
        Rows whose texts are longer than the model reads; None where the embedder does not say how
        long that is.
    unseen : float
        Share of their tokens that the model did not see; NaN if there are none.
    cached : int
        Distinct texts whose vectors were kept from earlier.
    """

    vectors: NDArray[np.float32]
    empty: int = 0
    cut: tuple[int, ...] | None = None
    unseen: float = float("nan")
    cached: int = 0

    @property
    def truncated(self) -> int | None:
        """How many texts are cut; None where that is not known."""
        return None if self.cut is None else len(self.cut)

    def notes(self) -> list[str]:
        """One sentence for each thing that is odd."""
        sentences = []
        if self.empty:
            sentences.append(
                f"{self.empty} of {len(self.vectors)} texts are empty and have no vector"
            )
        if self.truncated:
            sentences.append(
                f"{self.truncated} of {len(self.vectors)} texts are longer than the model reads: "
                f"{self.unseen:.0%} of their text is not seen"
            )
        return sentences


def identity(embedder: Embedder) -> str:
    """What a model is recognised by: its revision where it has one, else its name."""
    return revision_of(embedder) or embedder.name


def revision_of(embedder: Embedder) -> str:
    """Which weights the model's name stands for; empty where it does not say."""
    return str(embedder.revision or "") if isinstance(embedder, HasRevision) else ""


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str | None],
    cache: VectorCache | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Embedded:
    """Embed texts: one unit row a text, in their order.

    Parameters
    ----------
    embedder : Embedder
        Anything with `name`, `dimension` and `embed`; `open_embedder` makes one.
    texts : sequence of str or None
        Equal texts are embedded once.
    cache : VectorCache, optional
        Vectors kept by model and text; filled while embedding, so that an interruption costs
        little.
    progress : callable, optional
        Called with (done, all) distinct texts.

    Raises
    ------
    ModelError
        The model failed, or returned something that is not one vector a text.
    """
    distinct = sorted({text for text in texts if text and not is_empty(text)}, key=_longest_first)
    vectors = cache.get(identity(embedder), distinct) if cache else {}
    cached = len(vectors)
    missing = [text for text in distinct if text not in vectors]
    step = _BATCHES * (embedder.batch_size if isinstance(embedder, EmbedsInBatches) else 64)
    for start in range(0, len(missing), step):
        part = missing[start : start + step]
        rows = unit_rows(embedder.embed(part), len(part), embedder.name)
        if cache:
            cache.put(identity(embedder), part, rows)
        vectors.update(zip(part, rows, strict=True))
        if progress:
            progress(len(vectors), len(distinct))
    cut, unseen = _cut(embedder, texts)
    empty = sum(is_empty(text) for text in texts)
    return Embedded(_stacked(embedder, texts, vectors), empty, cut, unseen, cached)


def _longest_first(text: str) -> tuple[int, str]:
    # Batches of like length waste no padding, and a device too small is found out at once.
    return -len(text), text


def _stacked(
    embedder: Embedder, texts: Sequence[str | None], vectors_of: dict[str, NDArray[np.float32]]
) -> NDArray[np.float32]:
    # Kept vectors may be of an older model under the same name, where it has no revision.
    sizes = {row.size for row in vectors_of.values()} or {embedder.dimension}
    if len(sizes) > 1:
        raise ModelError(
            f"embedder {embedder.name!r}: vectors of {' and '.join(map(str, sorted(sizes)))} "
            f"dimensions under one name; the model was changed, so use another cache folder",
            "malformed",
        )
    vectors = np.full((len(texts), sizes.pop()), np.nan, np.float32)
    for row, text in enumerate(texts):
        if text in vectors_of:
            vectors[row] = vectors_of[text]
    return vectors


def _cut(embedder: Embedder, texts: Sequence[str | None]) -> tuple[tuple[int, ...] | None, float]:
    limit = embedder.limit if isinstance(embedder, CountsTokens) else None
    if not isinstance(embedder, CountsTokens) or limit is None:
        return None, float("nan")
    # A token is at least one byte, so shorter texts need no counting (two are the model's marks).
    bytes_of = [len((text or "").encode("utf-8", "ignore")) for text in texts]
    rows = [row for row, size in enumerate(bytes_of) if size > limit - 2]
    tokens = embedder.tokens([texts[row] or "" for row in rows]) if rows else []
    long = {row: number for row, number in zip(rows, tokens, strict=True) if number > limit}
    return tuple(long), 1 - limit * len(long) / sum(long.values()) if long else float("nan")
