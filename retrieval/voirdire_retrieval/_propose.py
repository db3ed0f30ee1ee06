"""In which order rows of the pool are offered: by nearness, at random, or always the same."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

import numpy as np

from voirdire_retrieval._index import Hits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.schema import Item
    from voirdire_retrieval._index import Index


class Proposal(Protocol):
    """Offers up to `count` rows of the pool to each item, the best first, with their cosines."""

    def __call__(
        self, index: Index, items: Sequence[Item], vectors: NDArray[np.float32], count: int
    ) -> Hits: ...


def by_nearness(
    index: Index,
    items: Sequence[Item],  # noqa: ARG001 - the protocol's
    vectors: NDArray[np.float32],
    count: int,
) -> Hits:
    """The nearest rows; of equally near ones the first of the pool.

    Which of two equal scores FAISS gives first hangs on device, batch and k: so those that agree to
    six digits, which rounding cannot tell apart, are put in the pool's order.
    """
    hits = index.search(vectors, max(count, 1))  # of an empty pool: no row
    order = np.lexsort((hits.rows, -np.round(hits.scores, 6)), axis=-1)
    return Hits(
        np.take_along_axis(hits.rows, order, axis=1),
        np.take_along_axis(hits.scores, order, axis=1),
    )


def at_random(seed: int) -> Proposal:
    """Rows drawn without replacement; the draw depends on the seed and the item alone.

    Rows are drawn by their place among the sorted ids, so the pool's order does not matter either.
    """

    def propose(
        index: Index, items: Sequence[Item], vectors: NDArray[np.float32], count: int
    ) -> Hits:
        by_id = index.frame["id"].arg_sort().to_numpy().astype(np.int64)
        drawn = [_draw(seed, item, index.card.count, count) for item in items]
        places = np.reshape(np.asarray(drawn, np.int64), (len(items), count))
        return _scored(index, vectors, by_id[places])

    return propose


def always(rows: Sequence[int]) -> Proposal:
    """The same rows for every item."""

    def propose(
        index: Index, items: Sequence[Item], vectors: NDArray[np.float32], count: int
    ) -> Hits:
        padded = np.full((len(items), max(count, len(rows))), -1, np.int64)
        padded[:, : len(rows)] = rows
        return _scored(index, vectors, padded[:, :count])

    return propose


def _draw(seed: int, item: Item, size: int, count: int) -> list[int]:
    """The first `count` distinct rows of a random sequence: a longer draw begins like a shorter."""
    name = blake2b(f"{item.id}\0{item.text}".encode("utf-8", "replace"), digest_size=8).digest()
    generator = np.random.default_rng([seed, int.from_bytes(name)])
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn.update(dict.fromkeys(generator.integers(size, size=2 * count).tolist()))
    return list(drawn)[:count]


def _scored(index: Index, vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> Hits:
    scores = np.full(rows.shape, np.nan, np.float32)
    for place, (vector, line) in enumerate(zip(vectors, rows, strict=True)):
        known = line[line >= 0]
        if known.size:
            scores[place, line >= 0] = index.vectors(known) @ vector
    return Hits(rows, scores)
