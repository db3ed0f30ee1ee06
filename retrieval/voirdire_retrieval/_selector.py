"""A selector of few-shot examples: it offers rows of the pool, guards them, and takes some."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from voirdire.errors import InputError
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
from voirdire_retrieval._index import Hits
from voirdire_retrieval._texts import is_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from voirdire.protocols import Embedder
    from voirdire.schema import Finding, Item
    from voirdire_retrieval._embed import VectorCache
    from voirdire_retrieval._index import Index


class Proposal(Protocol):
    """Offers up to `count` rows of the pool to each item, the best first, with their cosines."""

    def __call__(
        self, index: Index, items: Sequence[Item], vectors: NDArray[np.float32], count: int
    ) -> Hits: ...


class Chooser(Protocol):
    """Takes k of the candidates that the guard let through."""

    def window(self, k: int) -> int:
        """How many candidates it looks at before it takes k."""
        ...

    def take(
        self, index: Index, rows: NDArray[np.int64], scores: NDArray[np.float32], k: int
    ) -> list[int]:
        """Places of those taken; fewer than k where the candidates do not suffice."""
        ...


def by_nearness(
    index: Index,
    items: Sequence[Item],  # noqa: ARG001 - the protocol's
    vectors: NDArray[np.float32],
    count: int,
) -> Hits:
    """The nearest rows; of equally near ones the first of the pool.

    Which of two equal scores FAISS gives first depends on device, batch and k. So those that agree
    to six digits, which rounding cannot tell apart, are put in the pool's order.
    """
    hits = index.search(vectors, max(count, 1))  # of an empty pool: no row
    order = np.lexsort((hits.rows, -np.round(hits.scores, 6)), axis=-1)
    return Hits(
        np.take_along_axis(hits.rows, order, axis=1),
        np.take_along_axis(hits.scores, order, axis=1),
    )


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
    choice : Chooser
        Which of the allowed ones are taken.
    cache, progress
        As in `embed_texts`, for the items.
    """

    name: str
    index: Index
    embedder: Embedder
    guard: Guard = field(default_factory=Guard)
    propose: Proposal = by_nearness
    choice: Chooser = field(default_factory=First)
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
        size, rows = self.index.card.count, PoolRows(self.index.frame)
        count = min(size, self.choice.window(k) + _SPARE)
        selections: dict[int, Selection] = {}
        # A guard may keep out all that was fetched, of an author with many posts for one:
        # then more is fetched for those items alone.
        while len(selections) < len(items):
            pending = [place for place in range(len(items)) if place not in selections]
            for place, offered, scores in self._offers(items, embedded.vectors, pending, count):
                screened = screen(items[place], offered, scores, self.guard, rows)
                last = count == size or bool((offered < 0).any())
                chosen = self._choose(items[place], screened, k, rows, last=last)
                selections.update({} if chosen is None else {place: chosen})
            # By eight and not by one: a search costs about the same for either.
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
        self, item: Item, screened: Screened, k: int, rows: PoolRows, *, last: bool
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


class PoolRows:
    """Rows of a pool as mappings, each read once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame, self._read = frame, dict[int, dict[str, Any]]()

    def __getitem__(self, row: int) -> Mapping[str, Any]:
        read = self._read.get(row)
        if read is None:
            read = self._read[row] = self._frame.row(row, named=True)
        return read


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
    rows: PoolRows,
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
