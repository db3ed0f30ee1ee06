"""Selectors from options alone, as a study names them: a pool's file, an embedder, a guard.

These are what `voirdire_register_selectors` registers: ``make(**options) -> ExampleSelector``.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire.protocols import Embedder
from voirdire_retrieval._cache import VectorCache
from voirdire_retrieval._files import read_pool
from voirdire_retrieval._guard import guard_against
from voirdire_retrieval._index import build_index
from voirdire_retrieval._open import open_embedder
from voirdire_retrieval._pool import labelled
from voirdire_retrieval._selectors import SELECTORS
from voirdire_retrieval._storage import refresh_index

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.schema import Item
    from voirdire_retrieval._index import Index
    from voirdire_retrieval._pool import Pool
    from voirdire_retrieval._selector import Selector


def open_selector(  # noqa: PLR0913 - one a key of the study
    name: str,
    *,
    pool: str,
    embedder: Any = "all-mpnet-base-v2",
    labels: Sequence[str] = (),
    id: str = "id",  # noqa: A002 - the column's name in every table of voirdire
    text: str = "text",
    group: str | None = None,
    index: str = "",
    cache: str = "",
    device: Any = "auto",
    batch_size: int | None = None,
    base_url: str = "",
    api_key_env: str = "",
    max_similarity: float | None = 0.98,
    test: Sequence[Item] = (),
    folder: str | Path = ".",
    **options: Any,
) -> Selector:
    """The selector of that name over a pool in a file.

    Parameters
    ----------
    name : str
        nearest, balanced, diverse, random or fixed.
    pool, labels, id, text, group
        The file of examples and its columns, as in `read_pool`; texts that lack one of the labels
        are left out. Items are of a group by the same
        name in their `extra`.
    embedder, device, batch_size, base_url, api_key_env
        As in `open_embedder`; or an `Embedder` itself.
    index, cache : str
        Folders that keep the index and vectors between runs; empty: kept in memory.
    max_similarity, test
        Of the guard: what may never be shown.
    folder : path
        Paths are relative to it.
    options
        Of the selector itself (``seed``, ``label``, ``weight``, ``ids``).

    Raises
    ------
    InputError
        A file, model or option that cannot be used.
    """
    at = Path(folder)
    endpoint = {"base_url": base_url, "api_key_env": api_key_env}
    model = _embedder(embedder, at, device, batch_size, endpoint)
    kept = VectorCache(at / cache) if cache else None
    examples = labelled(read_pool(at / pool, id=id, text=text, labels=labels, group=group))
    opened = _index(examples, model, at / index if index else None, device, kept)
    guard = guard_against(test, max_similarity=max_similarity, group_key=group or "group")
    try:
        return SELECTORS[name](opened, model, guard, cache=kept, **options)
    except TypeError as error:
        raise InputError(f"selector {name!r} does not take these options: {error}") from error


def _embedder(
    spec: Any, folder: Path, device: Any, batch_size: int | None, endpoint: Mapping[str, str]
) -> Embedder:
    if not isinstance(spec, str):
        return spec if isinstance(spec, Embedder) else open_embedder(spec, batch_size=batch_size)
    beside = folder / spec
    name = str(beside) if beside.is_dir() else spec
    return _shared(name, device, batch_size, **endpoint)


@lru_cache(maxsize=1)
def _shared(
    name: str, device: Any, batch_size: int | None, base_url: str, api_key_env: str
) -> Embedder:
    """One model for all raters of a panel: loading takes seconds, and as much memory each time."""
    return open_embedder(
        name,
        device=device,
        batch_size=batch_size,
        base_url=base_url,
        api_key_env=api_key_env,
    )


def _index(
    pool: Pool, embedder: Embedder, folder: Path | None, device: Any, cache: VectorCache | None
) -> Index:
    if folder is None:
        return build_index(pool, embedder, device=device, cache=cache)
    return refresh_index(folder, pool, embedder, device=device, cache=cache)[0]


nearest = partial(open_selector, "nearest")
balanced = partial(open_selector, "balanced")
diverse = partial(open_selector, "diverse")
random_examples = partial(open_selector, "random")
fixed = partial(open_selector, "fixed")
