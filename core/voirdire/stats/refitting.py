"""The gain of a judge that is looked for anew in each fold, by the labels of the others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats._results import Interval
from voirdire.stats.intervals import student_interval
from voirdire.stats.sums import quantile
from voirdire.stats.tuning import chosen_gain, measured_gain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats._results import Estimate


def folds_of(units: int, folds: int, clusters: Any = None, *, seed: int = 0) -> NDArray[np.intp]:
    """(units,) the fold of each, dealt evenly by clusters.

    Raises
    ------
    StatisticsError
        Fewer than two folds, or fewer clusters than folds.

    Examples
    --------
    >>> np.bincount(folds_of(7, 3)).tolist()
    [3, 2, 2]
    """
    names = np.arange(units) if clusters is None else row_names(clusters, units, "clusters")
    codes = np.unique(names, return_inverse=True)[1]
    number = int(codes.max(initial=-1)) + 1
    if not 2 <= folds <= number:
        raise StatisticsError(f"folds must be 2 to {number} (the clusters), got {folds}")
    dealt = np.random.default_rng(seed).permutation(np.arange(number) % folds)
    return np.asarray(dealt[codes], np.intp)


#: Errors from which on a true gain is large enough that what folds find may differ in it, and those
#: where it does in full.
_RISES, _FULL = 1.0, 2.5


def refitted_gain(
    new: Any, old: Any, fold: Any, *, clusters: Any = None, level: float = 0.95
) -> Estimate:
    r"""The gain of judges that were looked for anew without each fold, each measured in its own.

    The mean of new - old over units. What is found differs from fold to fold, and folds choose by
    one another's labels: the error is the larger of that of independent units (`measured_gain`)
    and of a jackknife over folds. It is for the judge that all labels find; folds that see fewer
    labels find a little less.

    How much what is found differs depends on what there is to find: where no candidate is any
    better, none of it is. So the interval holds each true gain :math:`\theta` that lies within
    :math:`q(\theta / s)` errors s of the value, and q rises from Student's quantile of independent
    units (up to one error) to that of as many degrees of freedom as there are folds (from two and a
    half on).

    Parameters
    ----------
    new, old : array-like, shape (n,)
        How good the judge that was found without its fold, and the judge as it was, is on each
        unit; none missing.
    fold : array-like of int, shape (n,)
        As `folds_of` deals them.
    clusters : array-like, shape (n,), optional
        What each unit belongs to; a cluster lies in one fold.
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Method ``"refitted_t"``; `details` holds ``standard_error``, the degrees of freedom ``df``
        of no gain, and ``tenth``, below which the gain lies once in ten. Reason too_few_items with
        fewer than two units.

    Raises
    ------
    StatisticsError
        Missing values, arrays that do not match, a single fold.

    Examples
    --------
    >>> new, old = [1, 1, 0, 1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> print(refitted_gain(new, old, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]))
    gain = 0.400, 95% CI [-0.023, 0.881] (refitted_t), n = 10, k = 2

    References
    ----------
    Stone (1974), Journal of the Royal Statistical Society B 36, 111-147, for choice and assessment
    by folds; ``benchmarks/tune.py`` for how often the interval holds the truth.
    """
    plain = measured_gain(new, old, clusters=clusters, level=level)
    if plain.reason is not None:
        return plain
    error, folds = _error_of_folds(plain, numbers(new, "new") - numbers(old, "old"), fold)
    df = plain.details["df"]
    low, high = _bounds(plain.value, error, df, folds, level)
    tenth, _ = _bounds(plain.value, error, df, folds, 0.8)
    details = {"standard_error": error, "df": df, "tenth": tenth}
    interval = Interval("refitted_t", level, low, high)
    return replace(plain, intervals=(interval,), details=details)


def _error_of_folds(plain: Estimate, gains: Floats, fold: Any) -> tuple[float, int]:
    """The larger error, of independent units or of a jackknife over folds, and their number."""
    places = np.unique(row_names(fold, len(gains), "fold"), return_inverse=True)[1]
    sizes = np.bincount(places)
    folds = len(sizes)
    if folds < 2:
        raise StatisticsError("there is one fold: nothing was found without it")
    # Without a fold the mean is that of the others; folds may differ by a unit.
    left = (gains.sum() - np.bincount(places, weights=gains)) / (len(gains) - sizes)
    jackknife = math.sqrt((folds - 1) / folds * float(((left - left.mean()) ** 2).sum()))
    return max(plain.details["standard_error"], jackknife), folds


def _bounds(value: float, error: float, df: float, folds: int, level: float) -> tuple[float, float]:
    """The gains that lie within q errors of the value, q rising with them as a broken line."""
    if error == 0:
        return value, value
    tail, at = (1 + level) / 2, value / error
    least = quantile(tail, df)
    most = max(quantile(tail, folds), least)
    slope = (most - least) / (_FULL - _RISES)
    low = at - least
    if low > _RISES:
        low = (at - least + slope * _RISES) / (1 + slope)
        low = at - most if low > _FULL else low
    high = at + least
    if high > _RISES:
        # A line that rises as fast as the gains themselves ends nowhere.
        high = (at + least - slope * _RISES) / (1 - slope) if slope < 1 else math.inf
        high = at + most if high > _FULL else high
    return low * error, high * error


def raced_gain(
    goodness: Any, winners: Any, fold: Any, *, clusters: Any = None, level: float = 0.95
) -> Estimate:
    """The gain of a race's winner, by the winners of races without each fold.

    As `refitted_gain`, but all races run among the same candidates and are won by a few of them.
    The error is the largest of that of independent units, of a jackknife over folds, and of nested
    cross-validation among those that won (`chosen_gain`), whose degrees of freedom the interval
    takes.

    Parameters
    ----------
    goodness : array-like, shape (C, n)
        How good the judge as it was (first) and each judge that won some race is on each unit.
    winners : array-like of int, shape (K,)
        The row that won without each fold.
    fold : array-like of int, shape (n,)
        Below K.
    clusters, level
        As in `refitted_gain`.

    Returns
    -------
    Estimate
        Method ``"raced_t"``. Reason too_few_items with fewer than 20 units (clusters).

    Examples
    --------
    >>> right = np.array([np.arange(40) % 2, np.arange(40) % 4 > 0])
    >>> fold = np.arange(40) % 5
    >>> print(raced_gain(right, [1, 1, 1, 1, 1], fold))
    gain = 0.250, 95% CI [0.104, 0.396] (raced_t), n = 40, k = 2

    References
    ----------
    As `chosen_gain`; ``benchmarks/tune.py`` for how often the interval holds the truth.
    """
    values, codes = numbers(goodness, "goodness"), np.asarray(fold, np.intp)
    new = values[np.asarray(winners, np.intp)[codes], np.arange(values.shape[1])]
    plain = measured_gain(new, values[0], clusters=clusters, level=level)
    nested = chosen_gain(values, clusters=clusters, level=level).gain
    if nested.reason is not None:
        return nested
    error, _ = _error_of_folds(plain, new - values[0], codes)
    error, df = max(error, nested.details["standard_error"]), nested.details["df"]
    interval = student_interval(plain.value, error, df, level, "raced_t")
    return replace(plain, intervals=(interval,), details={"standard_error": error, "df": df})
