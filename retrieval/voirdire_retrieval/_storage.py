"""An index on disk: a FAISS file, the pool as Parquet, the card as JSON. Nothing is pickled."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.errors import InputError
from voirdire.files import file_hash
from voirdire_retrieval._embed import revision_of
from voirdire_retrieval._faiss import Device, load_faiss, place
from voirdire_retrieval._index import Card, Index, build_index, data_hash, read_card, write_card

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voirdire.protocols import Embedder
    from voirdire_retrieval._embed import VectorCache
    from voirdire_retrieval._faiss import Kind
    from voirdire_retrieval._pool import Pool

VECTORS, POOL, CARD = "index.faiss", "pool.parquet", "card.json"


def save_index(index: Index, folder: str | Path) -> Index:
    """Write an index into a folder, over the one that is there; returns it with its full card."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # The card goes first and comes back last: a half-written folder is no index.
    (folder / CARD).unlink(missing_ok=True)
    load_faiss().write_index(index.cpu, str(folder / VECTORS))
    index.frame.write_parquet(folder / POOL)
    files = {name: file_hash(folder / name) for name in (VECTORS, POOL)}
    card = dataclasses.replace(index.card, files=files)
    write_card(card, folder / CARD)
    return dataclasses.replace(index, card=card)


def load_index(
    folder: str | Path, embedder: Embedder | None = None, device: Device = "auto"
) -> Index:
    """Read an index; one that does not match its card, or the model, is refused.

    Raises
    ------
    InputError
        No index, a file that was changed or cut, or another model than `embedder`.
    """
    folder = Path(folder)
    card = read_card(folder / CARD)
    why = card.differs(embedder.name, revision_of(embedder)) if embedder else ""
    if why:
        raise InputError(f"{folder}: {why}; build the index again")
    for name in (VECTORS, POOL):
        _check_file(folder / name, card)
    cpu, frame = _read(folder)
    # Hashes tell a changed file; this tells files of two builds under one card.
    if (cpu.ntotal, cpu.d, frame.height) != (card.count, card.dimension, card.count) or (
        data_hash(frame) != card.data
    ):
        raise InputError(
            f"{folder}: the card says {card.count} vectors of {card.dimension} dimensions, the "
            f"files hold {cpu.ntotal} of {cpu.d} and {frame.height} rows; build the index again"
        )
    return Index(frame, card, cpu, place(cpu, "cpu")).on(device)


def refresh_index(
    folder: str | Path,
    pool: Pool,
    embedder: Embedder,
    *,
    kind: Kind = "exact",
    parameters: Mapping[str, int] | None = None,
    device: Device = "auto",
    cache: VectorCache | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Index, str]:
    """The index in a folder if it is of this model and this pool; else built again, saying why.

    Returns
    -------
    tuple of Index and str
        The reason for building is empty where the saved index was used.
    """
    folder = Path(folder)
    why = _stale(folder, pool, embedder, kind, parameters or {})
    if not why:
        try:
            return load_index(folder, embedder, device), ""
        except InputError as error:
            why = str(error)
    index = build_index(
        pool,
        embedder,
        kind=kind,
        parameters=parameters,
        device=device,
        cache=cache,
        progress=progress,
    )
    return save_index(index, folder), why


def _stale(
    folder: Path, pool: Pool, embedder: Embedder, kind: Kind, parameters: Mapping[str, int]
) -> str:
    if not (folder / CARD).is_file():
        return "there is no index yet"
    try:
        card = read_card(folder / CARD)
    except InputError as error:
        return str(error)
    # Parameters that were not given may have been chosen by the size of the pool.
    if card.kind != kind or not parameters.items() <= card.parameters.items():
        return f"it is of kind {card.kind} with {dict(card.parameters)}"
    return card.differs(embedder.name, revision_of(embedder), data_hash(pool.frame))


def _check_file(path: Path, card: Card) -> None:
    if not path.is_file():
        raise InputError(f"{path} is missing; build the index again")
    if file_hash(path) != card.files.get(path.name):
        raise InputError(f"{path} is not the file that its card describes; build the index again")


def _read(folder: Path) -> tuple[Any, pl.DataFrame]:
    try:
        return load_faiss().read_index(str(folder / VECTORS)), pl.read_parquet(folder / POOL)
    except (RuntimeError, OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{folder} cannot be read: {error}; build the index again") from error
