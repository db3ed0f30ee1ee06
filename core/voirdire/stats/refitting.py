"""The gain of a judge that is looked for anew in each fold, by the labels of the others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats.intervals import student_interval
from voirdire.stats.tuning import measured_gain

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def refitted_gain(
    new: Any, old: Any, fold: Any, *, clusters: Any = None, level: float = 0.95
) -> Estimate:
    r"""The gain of judges that were looked for anew without each fold, each measured in its own.

    The mean of new - old over units. What is found differs from fold to fold, and folds choose by
    one another's labels: the error is the larger of that of independent units (`measured_gain`)
    and of a jackknife over folds, and the interval takes Student's quantile with twice the degrees
    of freedom of the folds, 2 (K - 1). It is for the judge that all labels find; folds that see
    fewer labels find a little less.

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
        Method ``"refitted_t"``. Reason too_few_items with fewer than two units.

    Raises
    ------
    StatisticsError
        Missing values, arrays that do not match, a single fold.

    Examples
    --------
    >>> new, old = [1, 1, 0, 1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> print(refitted_gain(new, old, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]))
    gain = 0.400, 95% CI [-0.031, 0.831] (refitted_t), n = 10, k = 2

    References
    ----------
    Stone (1974), Journal of the Royal Statistical Society B 36, 111-147, for choice and assessment
    by folds; ``benchmarks/tune.py`` for how often the interval holds the truth.
    """
    plain = measured_gain(new, old, clusters=clusters, level=level)
    if plain.reason is not None:
        return plain
    gains = numbers(new, "new") - numbers(old, "old")
    places = np.unique(row_names(fold, len(gains), "fold"), return_inverse=True)[1]
    sizes = np.bincount(places)
    folds = len(sizes)
    if folds < 2:
        raise StatisticsError("there is one fold: nothing was found without it")
    # Without a fold the mean is that of the others; folds may differ by a unit.
    left = (gains.sum() - np.bincount(places, weights=gains)) / (len(gains) - sizes)
    jackknife = math.sqrt((folds - 1) / folds * float(((left - left.mean()) ** 2).sum()))
    error, df = max(plain.details["standard_error"], jackknife), 2 * (folds - 1)
    interval = student_interval(plain.value, error, df, level, "refitted_t")
    return replace(plain, intervals=(interval,), details={"standard_error": error, "df": df})
