"""What a selector returns: the examples, what was kept out, and why there are fewer."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voirdire_retrieval._guard import Reason


@dataclass(frozen=True, slots=True)
class Exclusion:
    """An example that would have been shown, and why it was not."""

    id: str
    reason: Reason
    similarity: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Examples for one item.

    Attributes
    ----------
    item : str
    examples : tuple of mapping
        `id`, `text`, the pool's labels and `similarity` (cosine to the item; NaN if unknown), in
        the selector's order: the nearest first.
    excluded : tuple of Exclusion
        What the guard kept out on the way.
    notes : tuple of str
        Why there are fewer than asked, and whether the item's text was cut.
    asked : int
        How many examples were asked for.
    cut : bool
        Whether the item's text is longer than the embedder reads.
    """

    item: str
    examples: tuple[Mapping[str, Any], ...]
    excluded: tuple[Exclusion, ...] = ()
    notes: tuple[str, ...] = ()
    asked: int = 0
    cut: bool = False

    @property
    def short(self) -> bool:
        """Whether there are fewer examples than asked for."""
        return len(self.examples) < self.asked


def shortage(pool: int, found: int, k: int, *, empty_text: bool) -> tuple[str, ...]:
    """Sentences that say why fewer than k were found, if so.

    >>> shortage(0, 0, 3, empty_text=False)
    ('empty pool',)
    >>> shortage(1, 0, 2, empty_text=False)
    ('no example left',)
    """
    if found >= k:
        return ()
    if not pool:
        return ("empty pool",)
    if empty_text:
        return ("the item's text is empty, so nothing is near to it",)
    return ("no example left",) if not found else (f"{found} of {k} examples: no more are left",)


def with_cut(selection: Selection, *, cut: bool) -> Selection:
    """The selection of an item whose text is longer than the embedder reads, or as it is."""
    if not cut:
        return selection
    said = "the item's text is longer than the embedder reads, so its end was not compared"
    return dataclasses.replace(selection, notes=(*selection.notes, said), cut=True)
