"""The nearest of a few published examples, which have several texts, as shots of a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from voirdire.schema import Item
from voirdire_retrieval._guard import guard_against
from voirdire_retrieval._index import build_index
from voirdire_retrieval._open import open_embedder
from voirdire_retrieval._pool import make_pool
from voirdire_retrieval._selectors import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voirdire.protocols import Embedder
    from voirdire.tables import Example
    from voirdire_retrieval._selector import Selector


@dataclass(frozen=True, slots=True)
class NearestExamples:
    """The k nearest by all texts together; the guard keeps out the item and its likes."""

    pool: Mapping[str, Example]
    fields: tuple[str, ...]
    selector: Selector

    def select(self, item: Item, k: int) -> list[Mapping[str, Any]]:
        """At most k examples, as shots, the nearest first."""
        before = (str(item.extra.get(field, "")) for field in self.fields[:-1])
        whole = "\n".join((*before, item.text))
        rows = self.selector.select(Item(item.id, whole, item.extra), k)
        return [self.pool[str(row["id"])].shot for row in rows]


def nearest_examples(
    pool: Sequence[Example], embedder: Embedder | str, test: Sequence[Example] = ()
) -> NearestExamples:
    """A selector of the nearest examples of a pool, guarded against a test set.

    Parameters
    ----------
    pool : sequence of Example
        At least one; all have the same fields.
    embedder : Embedder or str
        An embedder or the name of one (see `open_embedder`).
    test : sequence of Example
        No example that has the text of one of these is ever shown.
    """
    model = open_embedder(embedder) if isinstance(embedder, str) else embedder
    rows = [(example.id, example.whole) for example in pool]
    table = pl.DataFrame(rows, schema={"id": pl.String, "text": pl.String}, orient="row")
    index = build_index(make_pool(table), model)
    guard = guard_against(Item(example.id, example.whole) for example in test)
    known = {example.id: example for example in pool}
    return NearestExamples(known, tuple(pool[0].texts), nearest(index, model, guard))
