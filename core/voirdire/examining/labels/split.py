"""Train, dev and test: stratified, exact to rounding, and the same for any order of rows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import InputError, duplicate

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

    Items are put in order by stratum and, within it, by a hash of seed and id; every split takes
    its share of ever longer beginnings. So the sizes of the whole are the fractions rounded (2,530
    items: 1771, 379, 380), those of each stratum within one of its own. The assignment depends on
    all ids, their strata and the seed, and not on the order of rows.

    Parameters
    ----------
    ids : sequence of str
        All different.
    strata : sequence of str
        What is shared out in proportion, such as the dominant label; empty is a stratum too.
    fractions : three numbers that add up to 1
    seed : int
        Another seed gives another assignment.

    Returns
    -------
    (n,) array of str
        In the order given.

    Raises
    ------
    InputError
        Fractions that do not add up to 1, an id that occurs twice, or other lengths.

    Examples
    --------
    >>> ids, strata = [str(i) for i in range(20)], ["a"] * 10 + ["b"] * 10
    >>> split = stratified_split(ids, strata, (0.6, 0.2, 0.2))
    >>> [int((split[:10] == part).sum()) for part in SPLITS]
    [6, 2, 2]
    """
    if len(fractions) != 3 or min(fractions) < 0 or abs(sum(fractions) - 1) > _SLACK:
        raise InputError(f"fractions must be three numbers that add up to 1, got {list(fractions)}")
    names, groups = list(map(str, ids)), list(map(str, strata))
    if len(names) != len(groups):
        raise InputError(f"{len(names)} ids need as many strata, got {len(groups)}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise duplicate("item", twice, advice="its split would not be fixed")
    keys = [(group, _hash(seed, name)) for group, name in zip(groups, names, strict=True)]
    order = sorted(range(len(names)), key=keys.__getitem__)
    held = _taken(len(names), fractions[1] + fractions[2])
    rest = fractions[2] / (fractions[1] + fractions[2]) if fractions[1] + fractions[2] else 0.0
    parts = held.astype(np.int64)
    parts[held] += _taken(int(held.sum()), rest)
    out = np.empty(len(names), dtype=np.int64)
    out[order] = parts
    return np.array(SPLITS)[out]


def _hash(seed: int, item: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{item}".encode("utf-8", "surrogatepass")).digest()


def _taken(n: int, share: float) -> NDArray[np.bool_]:
    """Which places are taken so that the first n of them hold round(share n)."""
    ends = np.floor(np.arange(n + 1) * share + 0.5 + _SLACK)
    taken: NDArray[np.bool_] = np.diff(ends) > 0
    return taken
