"""The selectors by name, each with its rule: nearest, balanced, diverse, and two baselines.

Each is called with an index, its embedder and a guard; further options stand behind them. What a
study names is opened by `_ready`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire_retrieval._guard import Guard
from voirdire_retrieval._index import Hits
from voirdire_retrieval._selector import Selector
from voirdire_retrieval._texts import id_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from voirdire.protocols import Embedder
    from voirdire.schema import Item
    from voirdire_retrieval._index import Index
    from voirdire_retrieval._selector import Proposal


def nearest(
    index: Index, embedder: Embedder, guard: Guard | None = None, **common: Any
) -> Selector:
    """The k nearest by cosine, whatever their labels (Hengle et al. 2024, A.3, with k = 2).

    `common` are `cache` and `progress` of `Selector`, here as in the other selectors.
    """
    return Selector("nearest", index, embedder, guard or Guard(), **common)


def balanced(
    index: Index,
    embedder: Embedder,
    guard: Guard | None = None,
    *,
    label: str,
    classes: Sequence[Any] | None = None,
    **common: Any,
) -> Selector:
    """The nearest of each class of a label, as many of one as of another.

    `classes` are declared, or else all that occur in the pool; rows without a label never serve.

    Raises
    ------
    InputError
        The pool has no such label, or a class does not occur.
    """
    if label not in index.card.labels:
        there = ", ".join(index.card.labels) or "none"
        raise InputError(f"the pool has no label {label!r} (it has {there})")
    occur = index.frame[label].drop_nulls().unique().sort().to_list()
    absent = [one for one in classes or () if one not in occur]
    if absent:
        raise InputError(f"label {label!r}: class {absent[0]!r} does not occur (of {occur})")
    choice = Balanced(label, tuple(classes or occur))
    return Selector("balanced", index, embedder, guard or Guard(), choice=choice, **common)


def diverse(
    index: Index,
    embedder: Embedder,
    guard: Guard | None = None,
    *,
    weight: float = 0.5,
    **common: Any,
) -> Selector:
    """Near to the item and unlike each other, by maximal marginal relevance.

    `weight` in 0..1 is nearness's; 1 gives the nearest. The choice is made among the 4 k (at least
    20) nearest.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"weight must lie in 0..1, got {weight}")
    choice = Diverse(weight)
    return Selector("diverse", index, embedder, guard or Guard(), choice=choice, **common)


def random_examples(
    index: Index, embedder: Embedder, guard: Guard | None = None, *, seed: int = 0, **common: Any
) -> Selector:
    """Baseline: k drawn at random for each item; the same seed and item give the same examples."""
    if seed < 0:
        raise InputError(f"seed must be 0 or more, got {seed}")
    return Selector("random", index, embedder, guard or Guard(), at_random(seed), **common)


def fixed(
    index: Index,
    embedder: Embedder,
    guard: Guard | None = None,
    *,
    ids: Sequence[str | int],
    **common: Any,
) -> Selector:
    """Baseline: the first k of `ids` for every item, without those that the guard keeps out.

    One kept out is replaced by the next of `ids`, where there are more than k, and by nothing else.

    Raises
    ------
    InputError
        No id is given, or one is not in the pool.
    """
    if not ids or isinstance(ids, str):
        raise InputError(f"fixed examples need a list of one or more ids, got {ids!r}")
    where = {
        id_key(one): row
        for row, (first, also) in enumerate(index.frame.select("id", "also").iter_rows())
        for one in (first, *also)
    }
    absent = [one for one in ids if id_key(str(one)) not in where]
    if absent:
        raise InputError(f"the pool has no example {absent[0]!r}")
    rows = always(list(dict.fromkeys(where[id_key(str(one))] for one in ids)))
    return Selector("fixed", index, embedder, guard or Guard(), rows, **common)


#: Name -> selector.
SELECTORS: Mapping[str, Callable[..., Selector]] = {
    "nearest": nearest,
    "balanced": balanced,
    "diverse": diverse,
    "random": random_examples,
    "fixed": fixed,
}


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
    # By the item and not by its place: a study with further items draws the same for the old
    # ones.
    name = blake2b(f"{item.id}\0{item.text}".encode("utf-8", "replace"), digest_size=8).digest()
    generator = np.random.default_rng([seed, int.from_bytes(name)])
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        # Drawn in order until there are enough distinct ones, so that asking for more
        # changes none.
        drawn.update(dict.fromkeys(generator.integers(size, size=2 * count).tolist()))
    return list(drawn)[:count]


def _scored(index: Index, vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> Hits:
    scores = np.full(rows.shape, np.nan, np.float32)
    for place, (vector, line) in enumerate(zip(vectors, rows, strict=True)):
        rows_there = line[line >= 0]
        if rows_there.size:
            scores[place, line >= 0] = index.vectors(rows_there) @ vector
    return Hits(rows, scores)


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
        # Wide enough that unlike ones are among them, near enough that all are of use.
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
        # Up to the floor every class, then one more a class until the places that are over
        # are given.
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
        # The first is compared with none, so it starts the maximum: cosines may be below 0.
        nearest_taken = np.maximum(nearest_taken, to_best) if taken else to_best
        taken.append(best)
    return taken
