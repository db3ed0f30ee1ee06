"""Corrections of p values for the number of questions asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import numbers

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
