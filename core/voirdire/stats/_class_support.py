"""How many items truly have each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Support:
    """Items that have each class, of n items."""

    counts: NDArray[np.int64]
    n: int
    multilabel: bool

    @property
    def k(self) -> int:
        """Classes."""
        return len(self.counts)

    @property
    def total(self) -> int:
        """Labels over all items."""
        return int(self.counts.sum())

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of items that have each class."""
        return self.counts / self.n

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each class in a weighted mean."""
        return self.counts / self.total


def class_support(support: ArrayLike, n: int | None) -> Support:
    """Checked supports; without n every item has one label."""
    given = numbers(support, "support")
    if given.ndim != 1:
        raise StatisticsError(f"support must hold one number a class, got {support!r}")
    if not np.isfinite(given).all() or (given % 1 != 0).any() or (given < 0).any():
        raise StatisticsError(f"support must hold whole numbers of items, got {given.tolist()!r}")
    counts = given.astype(np.int64)
    if n is None:
        return Support(counts, int(counts.sum()), multilabel=False)
    if n != int(n):
        raise StatisticsError(f"n must be a whole number of items, got {n!r}")
    if n < int(counts.max(initial=0)):
        raise StatisticsError(f"n = {n} items cannot hold a support of {counts.max()}")
    return Support(counts, int(n), multilabel=True)
