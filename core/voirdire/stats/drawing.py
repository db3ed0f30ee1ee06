"""Whether some units can be a random part of all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, numbers


def drawn_at_random(drawn: Any, rest: Any) -> float:
    """How rarely a random draw without replacement has a mean as far from that of the rest.

    Under the hypothesis the drawn units are any `n` of all `N`, so that the spread is that of all
    values together. Of two values the count of the rarer one is hypergeometric, and p is exact;
    else the first three moments of the mean over all draws give it (Pearson's type III).

    Parameters
    ----------
    drawn, rest : array-like, shapes (n,) and (N - n,)
        Values of the drawn units and of the others, finite, none missing.

    Returns
    -------
    float
        Two-sided p, twice the smaller tail; 1 where all values are equal, or one side is empty.

    Raises
    ------
    StatisticsError
        Not numeric, not one-dimensional, infinite or missing values.

    Examples
    --------
    >>> from voirdire.stats import drawn_at_random
    >>> round(drawn_at_random([1] * 20, [1] * 75 + [0] * 5), 2)
    0.64
    >>> round(drawn_at_random([0] * 4 + [1] * 16, [1] * 79 + [0]), 4)
    0.0107

    References
    ----------
    Mielke and Berry (2007), Permutation Methods, section 2.3, for type III; Cochran (1977),
    Sampling Techniques, section 2.14, for the moments of a mean without replacement.
    """
    first, second = (_finite(values, name) for values, name in ((drawn, "drawn"), (rest, "rest")))
    every = np.concatenate([first, second])
    n, size = len(first), len(every)
    if n in (0, size) or np.ptp(every) == 0:
        return 1.0
    levels, counts = np.unique(every, return_counts=True)
    if len(levels) == 2:
        rarer = levels[int(np.argmin(counts))]
        return _hypergeometric(int((first == rarer).sum()), size, int(counts.min()), n)
    return _type_three(float(first.mean()), every, n)


def _hypergeometric(seen: int, size: int, rare: int, n: int) -> float:
    from scipy.stats import hypergeom  # noqa: PLC0415 - slow to import

    below = float(hypergeom.cdf(seen, size, rare, n))
    above = float(hypergeom.sf(seen - 1, size, rare, n))
    return min(1.0, 2 * min(below, above))


def _type_three(mean: float, every: Floats, n: int) -> float:
    from scipy.stats import pearson3  # noqa: PLC0415 - slow to import

    size, away = len(every), every - every.mean()
    variance = (size - n) / (n * (size - 1)) * float((away**2).mean())
    skew = 0.0
    if size > 2:
        third = (size - n) * (size - 2 * n) / (n**2 * (size - 1) * (size - 2))
        skew = third * float((away**3).mean()) / variance**1.5
    z = (mean - float(every.mean())) / math.sqrt(variance)
    return min(1.0, 2 * min(float(pearson3.sf(z, skew)), float(pearson3.cdf(z, skew))))


def _finite(values: Any, name: str) -> Floats:
    checked = numbers(values, name)
    if checked.ndim != 1 or not np.isfinite(checked).all():
        raise StatisticsError(f"{name} must be one-dimensional and finite, none missing")
    return checked
