"""Selectors of few-shot examples: a proposal, a guard, a choice; and the five that have names.

Each named one is called with an index, its embedder and a guard; further options stand behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import InputError
from voirdire_retrieval._choice import (
    Balanced,
    Choice,
    Diverse,
    First,
    Proposal,
    always,
    at_random,
    by_nearness,
)
from voirdire_retrieval._embed import embed_texts, revision_of
from voirdire_retrieval._guard import (
    Exclusion,
    Guard,
    Selection,
    leak_findings,
    pool_lacks_class,
    pool_overlap,
    pool_unlabelled,
    shortage,
    with_cut,
)
from voirdire_retrieval._texts import id_key, is_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.protocols import Embedder
    from voirdire.schema import Finding, Item
    from voirdire_retrieval._embed import VectorCache
    from voirdire_retrieval._index import Index

#: Rows fetched beyond the window at first; where that is not enough, eight times as many.
_SPARE, _GROWTH = 16, 8
#: Candidates of all items together that are held at once.
_CELLS = 2_000_000


@dataclass(frozen=True)
class Selector:
    """Picks examples; an `ExampleSelector` of voirdire, and by `as_langchain` one of LangChain.

    Attributes
    ----------
    name : str
    index : Index
    embedder : Embedder
        The model of the index; another one is refused.
    guard : Guard
    propose : Proposal
        In which order rows are offered.
    choice : Choice
        Which of the allowed ones are taken.
    cache, progress
        As in `embed_texts`, for the items.
    """

    name: str
    index: Index
    embedder: Embedder
    guard: Guard = field(default_factory=Guard)
    propose: Proposal = by_nearness
    choice: Choice = field(default_factory=First)
    cache: VectorCache | None = None
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        why = self.index.card.differs(self.embedder.name, revision_of(self.embedder))
        if why:
            raise InputError(f"the index does not fit: {why}; build the index again")

    def select(self, item: Item, k: int = 2) -> list[Mapping[str, Any]]:
        """At most k examples for one item; `select_many` also says what was left out."""
        return list(self.select_many([item], k)[0].examples)

    def select_many(self, items: Sequence[Item], k: int = 2) -> list[Selection]:
        """One selection an item, in their order; all are embedded and searched together.

        Raises
        ------
        InputError
            k below 1, or vectors that do not fit the index.
        """
        if k < 1:
            raise InputError(f"k must be 1 or more, got {k}")
        texts = [item.text for item in items]
        embedded = embed_texts(self.embedder, texts, self.cache, self.progress)
        self.index.check(embedded.vectors, self.embedder.name)
        size, rows = self.index.card.count, Rows(self.index.frame)
        count = min(size, self.choice.window(k) + _SPARE)
        selections: dict[int, Selection] = {}
        while len(selections) < len(items):
            pending = [place for place in range(len(items)) if place not in selections]
            for place, offered, scores in self._offers(items, embedded.vectors, pending, count):
                screened = screen(items[place], offered, scores, self.guard, rows)
                last = count == size or bool((offered < 0).any())
                chosen = self._choose(items[place], screened, k, rows, last=last)
                selections.update({} if chosen is None else {place: chosen})
            count = min(size, count * _GROWTH)
        cut = set(embedded.cut or ())
        return [with_cut(selections[place], cut=place in cut) for place in range(len(items))]

    def _offers(
        self,
        items: Sequence[Item],
        vectors: NDArray[np.float32],
        pending: Sequence[int],
        count: int,
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float32]]]:
        """Each pending item's place, with rows and scores, a block of items at a time."""
        size = max(1, _CELLS // max(count, 1))
        for block in (pending[start : start + size] for start in range(0, len(pending), size)):
            part = [items[place] for place in block]
            hits = self.propose(self.index, part, vectors[block], count)
            yield from zip(block, hits.rows, hits.scores, strict=True)

    def findings(self, items: Iterable[Item], selections: Sequence[Selection]) -> list[Finding]:
        """What of the items lies in the pool, what it lacks, and what the guard kept out."""
        findings = [*pool_overlap(self.index, items), *pool_unlabelled(self.index)]
        return [*findings, *pool_lacks_class(self.index), *leak_findings(selections)]

    def _choose(
        self, item: Item, screened: Screened, k: int, rows: Rows, *, last: bool
    ) -> Selection | None:
        """The selection, or None where more candidates must be fetched first."""
        taken = self.choice.take(self.index, screened.rows, screened.scores, k)
        short = len(taken) < k
        # A choice that weighs candidates against one another (diverse, balanced) could take others
        # if it saw its whole window: until then a selection would depend on how many were fetched.
        if not last and (short or len(screened.rows) < self.choice.window(k)):
            return None
        # Only what was passed over on the way to the last example taken was kept out; where there
        # are too few, all that was offered was.
        seen = screened.offered if short else int(screened.places[taken].max()) + 1
        names = ("id", "text", *self.index.card.labels)
        examples = [
            {name: rows[int(screened.rows[one])][name] for name in names}
            | {"similarity": float(screened.scores[one])}
            for one in taken
        ]
        blank = is_empty(item.text) and not screened.offered
        notes = shortage(self.index.card.count, len(taken), k, empty_text=blank)
        return Selection(item.id, tuple(examples), screened.before(seen), notes, k)


class Rows:
    """Rows of a pool as mappings, each read once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame, self._read = frame, dict[int, dict[str, Any]]()

    def __getitem__(self, row: int) -> Mapping[str, Any]:
        found = self._read.get(row)
        if found is None:
            found = self._read[row] = self._frame.row(row, named=True)
        return found


@dataclass(frozen=True, slots=True)
class Screened:
    """Candidates in the order they were offered.

    Attributes
    ----------
    rows, scores : ndarray, shape (m,)
        Those allowed.
    places : ndarray, shape (m,)
        Where among all offered each of them stood.
    kept_out : tuple of (int, Exclusion)
        The others, with their places.
    offered : int
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]
    places: NDArray[np.int64]
    kept_out: tuple[tuple[int, Exclusion], ...]
    offered: int

    def before(self, place: int) -> tuple[Exclusion, ...]:
        """What was kept out before a place."""
        return tuple(one for where, one in self.kept_out if where < place)


def screen(
    item: Item,
    offered: NDArray[np.int64],
    scores: NDArray[np.float32],
    guard: Guard,
    rows: Rows,
) -> Screened:
    """Hold each offered row against the guard; -1 stands for no row."""
    there = offered >= 0
    offered, scores = offered[there], scores[there]
    check = guard.check(item)
    reasons = [check(rows[row], score) for row, score in zip(offered.tolist(), scores, strict=True)]
    free = np.flatnonzero([reason is None for reason in reasons])
    kept_out = tuple(
        (place, Exclusion(rows[int(offered[place])]["id"], reason, float(scores[place])))
        for place, reason in enumerate(reasons)
        if reason is not None
    )
    return Screened(offered[free], scores[free], free, kept_out, len(offered))


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
