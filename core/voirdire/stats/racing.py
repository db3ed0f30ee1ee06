"""A race: judges that are shown to be worse than another are asked no further."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats.sums import quantile
from voirdire.stats.tuning import FEWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The chance at which one that is no worse is dropped in a heat. Many are beside the luckiest.
LEVEL = 0.01


def heats(units: int, clusters: Any = None, *, seed: int = 0) -> list[NDArray[np.bool_]]:
    """Which units have been judged after each heat: 20 clusters, twice as many, and so on to all.

    The order does not depend on what is left out: the same units come first in each fold.

    Examples
    --------
    >>> [int(heat.sum()) for heat in heats(100)]
    [20, 40, 80, 100]
    """
    names = np.arange(units) if clusters is None else row_names(clusters, units, "clusters")
    _, codes = np.unique(names, return_inverse=True)
    number = int(codes.max(initial=-1)) + 1
    # By the name, not by the number in this part of the units.
    place = np.argsort(np.argsort([_drawn(str(name), seed) for name in np.unique(names)]))
    made, size = [], FEWEST
    while size < number:
        made.append(place[codes] < size)
        size *= 2
    return [*made, np.ones(units, bool)]


def _drawn(name: str, seed: int) -> int:
    import hashlib  # noqa: PLC0415 - only here

    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8], "big")


def in_the_race(goodness: Any, *, clusters: Any = None, level: float = LEVEL) -> NDArray[np.bool_]:
    """(C,) which judges are not shown to be worse than the best so far, by a paired t test.

    The first, the judge as it was, always stays: gains are measured over it.

    Parameters
    ----------
    goodness : array-like, shape (C, n)
        How good each judge is on each unit so far; none missing.
    clusters : array-like, shape (n,), optional
        What each unit belongs to.
    level : float
        The one-sided chance of error of each test.

    Raises
    ------
    StatisticsError
        Not two dimensions, or missing values.

    Examples
    --------
    >>> chance = np.random.default_rng(0)
    >>> right = chance.random((4, 60)) < np.array([0.7, 0.8, 0.8, 0.2])[:, None]
    >>> in_the_race(right.astype(float)).tolist()
    [True, True, True, False]

    References
    ----------
    Maron and Moore (1997), Artificial Intelligence Review 11, 193-225, for races of models.
    """
    values = numbers(goodness, "goodness")
    if values.ndim != 2 or not np.isfinite(values).all():
        raise StatisticsError("goodness must have a row a judge and a column a unit, none missing")
    codes = np.arange(values.shape[1])
    if clusters is not None:
        codes = np.unique(row_names(clusters, len(codes), "clusters"), return_inverse=True)[1]
    ahead = values[int(values.sum(axis=1).argmax())] - values
    means = ahead.mean(axis=1)
    sums = np.zeros((len(values), int(codes.max(initial=-1)) + 1))
    np.add.at(sums.T, codes, (ahead - means[:, None]).T)
    units = sums.shape[1]
    if units < 2:
        return np.ones(len(values), bool)
    error = np.sqrt(units / (units - 1) * (sums**2).sum(axis=1)) / len(codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = ~(means / error > quantile(1 - level, units - 1))  # 0 / 0: as good everywhere
    kept[0] = True
    return np.asarray(kept)
