"""An index: a pool, its vectors in FAISS, and the card that says what they are."""

from __future__ import annotations

import dataclasses
import json
import warnings
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire.files import write_json
from voirdire.protocols import Noted
from voirdire_retrieval._embed import Embedded, embed_texts, revision_of
from voirdire_retrieval._faiss import (
    GPU_K,
    Device,
    Kind,
    Placed,
    make,
    place,
    read_back,
    search,
    search_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.protocols import Embedder
    from voirdire_retrieval._embed import VectorCache
    from voirdire_retrieval._pool import Pool

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Card:
    """What an index is.

    Attributes
    ----------
    model, revision : str
        Of the embedder; where both sides have a revision it decides, else the name.
    dimension, count : int
    normalised : bool
        Always true: scores are cosines.
    data : str
        Hash of ids, texts, groups and labels in their order.
    kind : str
        exact, ivf or hnsw, with its `parameters` and its `recall` against exact.
    labels : tuple of str
    left_out : mapping
        What did not get in: rows read, empty, duplicates, conflicts, truncated.
    files : mapping
        File name -> SHA-256; empty until saved.
    """

    model: str
    revision: str
    dimension: int
    count: int
    data: str
    kind: Kind
    parameters: Mapping[str, int] = field(default_factory=dict)
    recall: Mapping[str, float] | None = None
    labels: tuple[str, ...] = ()
    left_out: Mapping[str, int | None] = field(default_factory=dict)
    normalised: bool = True
    files: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    def differs(self, model: str, revision: str, data: str | None = None) -> str:
        """What does not match, in a sentence; empty where all does."""
        # A model may go by two names, a folder and the hub's; its revision is one.
        both = bool(self.revision and revision)
        if (self.revision != revision) if both else (self.model != model):
            asked = f"{model} [{revision}]" if revision else model
            mine = f"{self.model} [{self.revision}]" if self.revision else self.model
            return f"it was built with the model {mine}, and {asked} is asked for"
        if data is not None and data != self.data:
            return "ids, texts, labels or their order have changed since it was built"
        return ""


def data_hash(frame: pl.DataFrame) -> str:
    """Hash of a pool's columns in their order, and of its rows in theirs."""
    digest = sha256()
    for name in frame.columns:
        values = json.dumps([name, frame[name].to_list()], default=str)
        # The length before each column: else what ends one could begin the next.
        digest.update(f"{len(values)}:{values}".encode())
    return digest.hexdigest()


def write_card(card: Card, path: Path) -> None:
    """Write a card as JSON."""
    write_json(path, dataclasses.asdict(card))


def read_card(path: Path) -> Card:
    """Read a card.

    Raises
    ------
    InputError
        There is none, it is no card, or it is of another format.
    """
    try:
        card: Any = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path.parent} holds no index: there is no {path.name} in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path.parent} holds no readable index: {error}") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        stated = card.get("format") if isinstance(card, dict) else None
        raise InputError(f"{path}: format {stated!r} is not {FORMAT}, so build the index again")
    try:
        return Card(**{**card, "labels": tuple(card.get("labels", ()))})
    except TypeError as error:
        raise InputError(f"{path} is no card of an index: {error}") from error


@dataclass(frozen=True, slots=True)
class Hits:
    """Nearest rows of the pool, one line a query: -1 and NaN where there is none."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Index:
    """A searchable pool.

    Attributes
    ----------
    frame : pl.DataFrame
        The pool; row i belongs to vector i.
    card : Card
    notes : tuple of str
        What a reader must know: texts left out or cut, a device that was not there.
    """

    frame: pl.DataFrame
    card: Card
    cpu: Any
    placed: Placed
    notes: tuple[str, ...] = ()

    @property
    def device(self) -> str:
        """Where it is searched: cpu or cuda."""
        return self.placed.device

    def search(self, queries: NDArray[np.float32], k: int, model: str = "") -> Hits:
        """The k nearest by cosine.

        An approximate index may overlook a near one. It never gives fewer than there are: where it
        would, it searches all of them.

        Parameters
        ----------
        queries : ndarray of float32, shape (n, dimension)
            Unit rows; a row with NaN (an empty text) finds nothing.
        k : int
            1 or more; places beyond the pool are -1 with a score of NaN.
        model : str, optional
            What the queries were embedded with, for the message if they do not fit.

        Raises
        ------
        InputError
            k below 1, or vectors of another dimension.
        """
        if k < 1:
            raise InputError(f"k must be 1 or more, got {k}")
        self.check(queries, model)
        rows, scores = self._found(queries, k)
        # An approximate index stops after a few lists, and gives -1 where these held fewer
        # than k.
        lacking = np.flatnonzero((rows[:, : min(k, self.card.count)] < 0).any(axis=1))
        if lacking.size and self.card.kind != "exact":
            rows[lacking], scores[lacking] = search_all(self.cpu, queries[lacking], k)
        return Hits(rows, scores)

    def _found(
        self, queries: NDArray[np.float32], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        if self.device == "cuda" and min(k, self.card.count) <= GPU_K:
            try:
                return search(self.placed.index, queries, k)
            except RuntimeError as error:
                why = str(error).strip().splitlines()[-1]
                warnings.warn(f"the GPU failed ({why}): searching on the CPU", stacklevel=2)
        return search(self.cpu, queries, k)

    def check(self, queries: NDArray[np.float32], model: str = "") -> None:
        """Raise InputError, naming both sizes and models, where queries are of another size."""
        if queries.ndim != 2 or queries.shape[1] != self.card.dimension:
            raise InputError(
                f"the queries have {queries.shape[-1]} dimensions ({model or 'model not named'}), "
                f"the index {self.card.dimension} ({self.card.model}): embed both with one model"
            )

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The unit vectors of some rows of the pool."""
        return read_back(self.cpu, np.asarray(rows, np.int64))

    def on(self, device: Device) -> Index:
        """The same index on another device."""
        placed = place(self.cpu, device)
        notes = (*self.notes, placed.note) if placed.note else self.notes
        return dataclasses.replace(self, placed=placed, notes=notes)


def build_index(
    pool: Pool,
    embedder: Embedder,
    *,
    kind: Kind = "exact",
    parameters: Mapping[str, int] | None = None,
    device: Device = "auto",
    cache: VectorCache | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Index:
    """Embed a pool and index it.

    Parameters
    ----------
    pool : Pool
        Of `make_pool`.
    embedder : Embedder
        Of `open_embedder`, or anything with `name`, `dimension` and `embed`.
    kind : {"exact", "ivf", "hnsw"}
        The approximate kinds report their recall at 10 against exact on the card.
    parameters : mapping, optional
        ``nlist`` and ``nprobe``, or ``m``, ``ef_construction`` and ``ef_search``.
    device : {"auto", "cpu", "cuda"}
        Where it is searched; without a GPU a note says so and the CPU serves.
    cache, progress
        As in `embed_texts`.

    Raises
    ------
    InputError, MissingExtraError, ModelError
        An unknown kind or parameter; faiss is absent; the model failed.
    """
    embedded = embed_texts(embedder, pool.frame["text"].to_list(), cache, progress)
    cpu, used = make(embedded.vectors, kind, parameters or {})
    card = _card(pool, embedder, embedded, kind, used)
    if kind != "exact" and card.count > 1:
        recall = recall_against_exact(cpu, embedded.vectors)
        card = dataclasses.replace(card, recall=dataclasses.asdict(recall))
    notes = (
        *pool.notes(),
        *embedded.notes(),
        *(embedder.notes if isinstance(embedder, Noted) else ()),
    )
    # The CPU's index stays beside the GPU's: for reading vectors back, and where the GPU fails.
    return Index(pool.frame, card, cpu, place(cpu, "cpu"), notes).on(device)


def _card(
    pool: Pool, embedder: Embedder, embedded: Embedded, kind: Kind, used: Mapping[str, int]
) -> Card:
    return Card(
        model=embedder.name,
        revision=revision_of(embedder),
        dimension=int(embedded.vectors.shape[1]),
        count=pool.frame.height,
        data=data_hash(pool.frame),
        kind=kind,
        parameters=dict(used),
        labels=pool.labels,
        left_out={
            "rows": pool.rows,
            "empty": pool.empty,
            "duplicates": pool.duplicates,
            "conflicts": pool.conflicts,
            "unlabelled": pool.unlabelled,
            "truncated": embedded.truncated,
        },
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """Share of the k exact neighbours that were found, over some rows of the pool as queries."""

    value: float
    k: int
    queries: int


def recall_against_exact(
    index: Any, vectors: NDArray[np.float32], k: int = 10, queries: int = 1000, seed: int = 0
) -> Recall:
    """Recall at k: mean of ``|found & exact| / |exact|``; the row itself is left out of both.

    `vectors` are those of the index, two rows or more.
    """
    count = len(vectors)
    sample = np.random.default_rng(seed).choice(count, min(queries, count), replace=False)
    k = min(k, count - 1)
    exact, _ = make(vectors, "exact", {})
    # One more than k, for each row finds itself; it is left out in both.
    truth, approximate = (search(one, vectors[sample], k + 1)[0] for one in (exact, index))
    shares = [
        _share(true[true != row][:k], got[got != row][:k])
        for row, true, got in zip(sample, truth, approximate, strict=True)
    ]
    return Recall(float(np.mean(shares)), k, len(sample))


def _share(true: NDArray[np.int64], got: NDArray[np.int64]) -> float:
    return float(np.isin(true, got).mean())
