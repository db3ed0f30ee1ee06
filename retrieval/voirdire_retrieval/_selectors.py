"""The selectors by name: nearest (the paper's), balanced, diverse, and two baselines.

Each is called with an index, its embedder and a guard; further options stand behind them.
`_from_files` makes the same from a study's options, which is what is registered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voirdire.errors import InputError
from voirdire_retrieval._choice import Balanced, Diverse
from voirdire_retrieval._guard import Guard
from voirdire_retrieval._propose import always, at_random
from voirdire_retrieval._selector import Selector
from voirdire_retrieval._texts import id_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from voirdire.protocols import Embedder
    from voirdire_retrieval._index import Index


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
        known = ", ".join(index.card.labels) or "none"
        raise InputError(f"the pool has no label {label!r} (it has {known})")
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
