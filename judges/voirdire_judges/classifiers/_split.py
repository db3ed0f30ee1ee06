"""Train, dev and test: stratified, exact to rounding, and the same for any order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SPLITS = ("train", "dev", "test")
_SLACK = 1e-9


def stratified_split(
    ids: Sequence[str],
    strata: Sequence[str],
    fractions: Sequence[float] = (0.70, 0.15, 0.15),
    seed: int = 0,
) -> NDArray[np.str_]:
    """One of train, dev and test an item, each stratum shared out in proportion.

    Items are put in order by stratum, at random within, and every split takes its share of ever
    longer beginnings, so that sizes are within one of the fractions, in each stratum nearly so.
    The assignment depends on all ids, their strata and the seed, not on the order of rows.

    Examples
    --------
    >>> ids, strata = [str(i) for i in range(20)], ["a"] * 10 + ["b"] * 10
    >>> split = stratified_split(ids, strata, (0.6, 0.2, 0.2))
    >>> [int((split[:10] == part).sum()) for part in SPLITS]
    [6, 2, 2]
    """
    names = np.asarray(ids, dtype=np.str_)
    by_id = np.argsort(names, kind="stable")
    shuffled = by_id[np.random.default_rng(seed).permutation(len(names))]
    order = shuffled[np.argsort(np.asarray(strata, dtype=np.str_)[shuffled], kind="stable")]
    held = _taken(len(names), fractions[1] + fractions[2])
    rest = fractions[2] / (fractions[1] + fractions[2]) if fractions[1] + fractions[2] else 0.0
    parts = held.astype(np.int64)
    parts[held] += _taken(int(held.sum()), rest)
    out = np.empty(len(names), dtype=np.int64)
    out[order] = parts
    return np.array(SPLITS)[out]


def _taken(n: int, share: float) -> NDArray[np.bool_]:
    """Which places are taken so that the first n of them hold round(share n)."""
    ends = np.floor(np.arange(n + 1) * share + 0.5 + _SLACK)
    taken: NDArray[np.bool_] = np.diff(ends) > 0
    return taken
