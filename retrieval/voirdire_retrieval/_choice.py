"""In which order rows of the pool are offered, and which of those allowed are taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Protocol

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


class Choice(Protocol):
    """Takes k of the candidates that the guard let through."""

    def window(self, k: int) -> int:
        """How many candidates it looks at before it takes k."""
        ...

    def take(
        self, index: Index, rows: NDArray[np.int64], scores: NDArray[np.float32], k: int
    ) -> list[int]:
        """Places of those taken; fewer than k where the candidates do not suffice."""
        ...


@dataclass(frozen=True, slots=True)
class First:
    """What is offered first."""

    def window(self, k: int) -> int:
        return k

    def take(
        self,
        index: Index,  # noqa: ARG002 - the protocol's
        rows: NDArray[np.int64],
        scores: NDArray[np.float32],  # noqa: ARG002 - the protocol's
        k: int,
    ) -> list[int]:
        return list(range(min(k, len(rows))))


@dataclass(frozen=True, slots=True)
class Balanced:
    """Each class of a label as often as the others."""

    label: str
    classes: tuple[Any, ...]

    def window(self, k: int) -> int:
        return k

    def take(
        self,
        index: Index,
        rows: NDArray[np.int64],
        scores: NDArray[np.float32],  # noqa: ARG002 - the protocol's
        k: int,
    ) -> list[int]:
        return take_balanced(index.frame[self.label].gather(rows).to_list(), self.classes, k)


@dataclass(frozen=True, slots=True)
class Diverse:
    """Near to the item, unlike each other."""

    weight: float

    def window(self, k: int) -> int:
        return max(20, 4 * k)

    def take(
        self, index: Index, rows: NDArray[np.int64], scores: NDArray[np.float32], k: int
    ) -> list[int]:
        return take_diverse(scores, index.vectors(rows), k, self.weight) if rows.size else []


def take_balanced(labels: Sequence[Any], classes: Sequence[Any], k: int) -> list[int]:
    """Places of k candidates, each class as often as the others, as far as k divides.

    Every class gets ``k // len(classes)`` places; the remaining ones go, one a class at most, to
    whatever comes first. A class that runs out leaves its places free.

    >>> take_balanced(["no", "no", "no", "yes"], ["no", "yes"], 2)
    [0, 3]
    """
    if not classes:
        return []
    floor, extra = divmod(k, len(classes))
    taken: Counter[Any] = Counter()
    places = []
    for place, label in enumerate(labels):
        over = taken[label] >= floor
        if label not in classes or taken[label] > floor or (over and not extra):
            continue
        extra -= over
        taken[label] += 1
        places.append(place)
    return places


def take_diverse(
    to_item: NDArray[np.float32], vectors: NDArray[np.float32], k: int, weight: float
) -> list[int]:
    """Places of k candidates by maximal marginal relevance.

    ``weight * sim(item, c) - (1 - weight) * max sim(c, taken)``, taken greedily (Carbonell and
    Goldstein 1998); a weight of 1 is the nearest, less prefers candidates unlike each other.

    Parameters
    ----------
    to_item : ndarray, shape (n,)
        Cosines to the item, in [-1, 1].
    vectors : ndarray, shape (n, dimension)
        Unit rows.

    >>> rows = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> take_diverse(np.array([0.9, 0.9, 0.4], np.float32), rows, 2, 0.5)
    [0, 2]
    """
    free, taken = list(range(len(to_item))), list[int]()
    nearest_taken = np.zeros(len(to_item))
    while free and len(taken) < k:
        gain = weight * to_item[free] - (1 - weight) * nearest_taken[free]
        best = free.pop(int(np.argmax(gain)))
        to_best = vectors @ vectors[best]
        nearest_taken = np.maximum(nearest_taken, to_best) if taken else to_best
        taken.append(best)
    return taken
