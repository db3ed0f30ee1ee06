"""Corrections of p values for the number of questions asked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import numbers
from voirdire.stats.special import special

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats

METHODS = ("holm", "bh", "by", "none")


def adjust_p(p: Any, method: str = "holm") -> Floats:
    """Adjusted p values of one family.

    With m p values in rising order, Holm takes the running maximum of ``(m - i + 1) p_(i)``,
    Benjamini-Hochberg the running minimum from above of ``m p_(i) / i``, and Benjamini-Yekutieli
    that times ``1 + 1/2 + ... + 1/m``.

    Parameters
    ----------
    p : array-like, shape (m,)
        p values in [0, 1]. NaN (a test that could not be made) stays NaN and does not count as a
        member of the family.
    method : {"holm", "bh", "by", "none"}
        Holm controls the family-wise error under any dependence; Benjamini-Hochberg the false
        discovery rate under positive dependence, Benjamini-Yekutieli under any.

    Returns
    -------
    (m,) array
        In the order given; a hypothesis is rejected at alpha where it is at most alpha.

    Raises
    ------
    StatisticsError
        An unknown method, a p value outside [0, 1].

    Examples
    --------
    >>> from voirdire.stats import adjust_p
    >>> adjust_p([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70. Benjamini and Hochberg (1995), JRSS B 57, 289-300.
    Benjamini and Yekutieli (2001), Ann. Stat. 29, 1165-1188.
    """
    if method not in METHODS:
        raise not_one_of("correction", method, METHODS, error=StatisticsError)
    values = numbers(p, "p").copy()
    if values.ndim != 1:
        raise StatisticsError(f"p must have one dimension, got shape {values.shape}")
    present = ~np.isnan(values)
    if ((values[present] < 0) | (values[present] > 1)).any():
        raise StatisticsError("p values must lie in [0, 1]")
    if method == "holm":
        values[present] = _holm(values[present])
    elif method != "none" and present.any():
        from scipy.stats import false_discovery_control  # noqa: PLC0415 - slow to import

        values[present] = false_discovery_control(values[present], method=method)
    return values


def _holm(p: Floats) -> Floats:
    order = np.argsort(p, kind="stable")
    # A hypothesis is not rejected before one with a smaller p value.
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def interval_of_best(at: Any, se: Any, df: Any, *, level: float = 0.95) -> tuple[int, float, float]:
    """Which of several estimates is the largest, and an interval that allows for its being picked.

    The largest of m estimates was helped by chance. Its lower end takes the error of all m at once
    (Bonferroni), whichever is picked. The upper end needs no such care, since the best in truth was
    seen no larger; it takes the largest of the errors.

    Parameters
    ----------
    at, se, df : array-like, shape (m,)
        Estimates on a scale on which they are nearly normal, their standard errors and degrees of
        freedom. They may hang together in any way. An estimate without an error is left out.
    level : float
        In (0, 1).

    Returns
    -------
    (int, float, float)
        The place of the largest, and both ends; ``(-1, nan, nan)`` where none has an error.

    Raises
    ------
    StatisticsError
        Lists of several lengths, or a level outside (0, 1).

    Examples
    --------
    >>> from voirdire.stats import interval_of_best
    >>> best, low, high = interval_of_best([0.2, 0.5, 0.4], [0.1, 0.1, 0.1], [60, 60, 60])
    >>> best, round(low, 2), round(high, 2)
    (1, 0.25, 0.7)

    References
    ----------
    Benjamini, Hechtlinger and Stark (2019), arXiv:1906.00505: the largest needs care on one side.
    """
    values, errors, degrees = (np.asarray(one, dtype=np.float64) for one in (at, se, df))
    if not values.shape == errors.shape == degrees.shape or values.ndim != 1:
        raise StatisticsError(
            f"estimates, errors and degrees of freedom are lists of one length, got shapes "
            f"{values.shape}, {errors.shape} and {degrees.shape}"
        )
    if not 0 < level < 1:
        raise StatisticsError(f"level must lie between 0 and 1, got {level}")
    tried = np.isfinite(values) & (errors >= 0) & (degrees > 0)
    if not tried.any():
        return -1, math.nan, math.nan
    best = int(np.argmax(np.where(tried, values, -np.inf)))
    beyond = (1 - level) / 2
    alone = special().stdtrit(degrees[tried], 1 - beyond)
    together = float(special().stdtrit(degrees[best], 1 - beyond / tried.sum()))
    low = values[best] - together * errors[best]
    return best, float(low), float(values[best] + (alone * errors[tried]).max())
