"""How many of the true neighbours an approximate index finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire_retrieval._faiss import make, search

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Recall:
    """Share of the k exact neighbours that were found, over some rows of the pool as queries."""

    value: float
    k: int
    queries: int


def recall_against_exact(
    index: Any, vectors: NDArray[np.float32], k: int = 10, queries: int = 1000, seed: int = 0
) -> Recall:
    """Recall at k: mean of ``|found & exact| / |exact|``; the row itself is left out of both.

    `vectors` are those of the index, two rows or more.
    """
    count = len(vectors)
    sample = np.random.default_rng(seed).choice(count, min(queries, count), replace=False)
    k = min(k, count - 1)
    exact, _ = make(vectors, "exact", {})
    truth, found = (search(one, vectors[sample], k + 1)[0] for one in (exact, index))
    shares = [
        _share(true[true != row][:k], got[got != row][:k])
        for row, true, got in zip(sample, truth, found, strict=True)
    ]
    return Recall(float(np.mean(shares)), k, len(sample))


def _share(true: NDArray[np.int64], got: NDArray[np.int64]) -> float:
    return float(np.isin(true, got).mean())
