"""Many looks at one baseline: constant limits for all of them, and a slow chart for drifts."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers

#: What a look adds to the moving mean of the chart: small, so that a lasting shift adds up.
_WEIGHT = 0.2
#: Series of looks without a change, drawn once with a fixed seed, that the chart's limit rests on.
_SERIES, _SEED = 40_000, 20_261_129


def alpha_each_look(alpha: float, looks: int) -> float:
    """What each of some looks at one baseline may spend, so that all together spend alpha.

    Each look compares with the same baseline, whose noise is as large as a look's own: the looks'
    statistics correlate by one half. The constant level is that of the largest of so many normal
    statistics, found from ``P(max |Z| <= c) = E[(Phi(c r - F) - Phi(-c r - F))^looks]``, r the root
    of 2 and F the baseline's noise. It is the same at the first look and the last.

    Parameters
    ----------
    alpha : float
        The probability of any false alarm over all looks, in (0, 1).
    looks : int
        1 or more.

    Returns
    -------
    float
        Two-sided level of each look.

    Raises
    ------
    StatisticsError
        Alpha outside (0, 1), fewer looks than one.

    Examples
    --------
    >>> from voirdire.stats import alpha_each_look
    >>> round(alpha_each_look(0.05, 1), 4), round(alpha_each_look(0.05, 26), 4)
    (0.05, 0.0029)

    References
    ----------
    Dunnett (1955), J. Am. Stat. Assoc. 50, 1096-1121: many comparisons with one control.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import
    from scipy.special import ndtr, roots_hermitenorm  # noqa: PLC0415 - slow to import

    if not 0 < alpha < 1 or looks < 1:
        raise StatisticsError(f"alpha lies in (0, 1) and looks are 1 or more, got {alpha}, {looks}")
    nodes, weights = roots_hermitenorm(64)
    weights = weights / weights.sum()

    def above(c: float) -> float:
        """By how much any of the looks alarms too often at this limit."""
        inside = ndtr(c * math.sqrt(2) - nodes) - ndtr(-c * math.sqrt(2) - nodes)
        return float(1 - weights @ inside**looks) - alpha

    return float(2 * ndtr(-brentq(above, 0.01, 12.0)))


def drift_z(shifts: Any, errors: Any) -> float:
    """A lasting shift over looks at one baseline, in standard errors of its moving mean.

    ``E_k = (1 - w) E_{k-1} + w d_k`` with w = 0.2 (EWMA). Half of a shift's variance is the
    baseline's, which all looks share, and half the look's own.

    Parameters
    ----------
    shifts, errors : array-like, shape (k,)
        Each look's mean less the baseline's, and its standard error; NaN where a look has none.

    Returns
    -------
    float
        NaN with fewer than two looks, or where no look has an error.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric.

    Examples
    --------
    >>> from voirdire.stats import drift_z
    >>> round(drift_z([0.1] * 8, [0.05] * 8), 2), round(drift_z([0.1, -0.1], [0.05] * 2), 2)
    (2.63, -0.26)

    References
    ----------
    Roberts (1959), Technometrics 1, 239-250.
    """
    moved, error = numbers(shifts, "shifts"), numbers(errors, "errors")
    if moved.ndim != 1 or moved.shape != error.shape:
        raise StatisticsError(
            f"shifts and errors must be equally long, got shapes {moved.shape} and {error.shape}"
        )
    there = ~np.isnan(moved) & ~np.isnan(error)
    moved, error = moved[there], error[there]
    if len(moved) < 2 or not error.any():
        return math.nan
    scale = math.sqrt(float((error**2).mean()))
    return float((_moving(moved[None])[0, -1]) / (scale * _spread(len(moved))[-1]))


@lru_cache(maxsize=64)
def drift_limit(alpha: float, looks: int) -> float:
    """The largest `drift_z` that so many looks without a change exceed with probability alpha.

    From 40,000 series drawn with a fixed seed.

    Parameters
    ----------
    alpha : float
        In (0, 1).
    looks : int
        2 or more.

    Returns
    -------
    float

    Raises
    ------
    StatisticsError
        Alpha outside (0, 1), fewer looks than two.

    Examples
    --------
    >>> from voirdire.stats import drift_limit
    >>> 3.0 < drift_limit(0.01, 26) < 3.1
    True

    References
    ----------
    Roberts (1959), Technometrics 1, 239-250.
    """
    if not 0 < alpha < 1 or looks < 2:
        raise StatisticsError(f"alpha lies in (0, 1) and looks are 2 or more, got {alpha}, {looks}")
    chance = np.random.default_rng(_SEED)
    # In pieces: 1,000 looks of all series at once would take 300 MB.
    largest = [
        np.abs(_moving(_unchanged(chance, 4_000, looks)) / _spread(looks))[:, 1:].max(1)
        for _ in range(_SERIES // 4_000)
    ]
    return float(np.quantile(np.concatenate(largest), 1 - alpha))


def _unchanged(chance: np.random.Generator, series: int, looks: int) -> Any:
    """Shifts of looks where nothing changed, with standard errors of 1."""
    baseline = chance.normal(0, math.sqrt(0.5), (series, 1))
    return chance.normal(0, math.sqrt(0.5), (series, looks)) - baseline


def _moving(shifts: Any) -> Any:
    """(series, looks) exponentially weighted means of each look and those before it."""
    means = np.empty(shifts.shape)
    mean = np.zeros(len(shifts))
    for k in range(shifts.shape[1]):
        mean = (1 - _WEIGHT) * mean + _WEIGHT * shifts[:, k]
        means[:, k] = mean
    return means


def _spread(looks: int) -> Any:
    """(looks,) standard deviations of these means where a shift's standard error is 1."""
    left = (1 - _WEIGHT) ** np.arange(1, looks + 1)
    own = _WEIGHT / (2 - _WEIGHT) * (1 - left**2)
    return np.sqrt(0.5 * (1 - left) ** 2 + 0.5 * own)
