"""By how much a judge that was chosen by labels is better: chosen and measured apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, check_level, numbers, row_names
from voirdire.stats._pairs import mean_interval, standard_error
from voirdire.stats._results import Estimate, Result
from voirdire.stats.intervals import student_interval
from voirdire.stats.sums import above_t, quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Folds, and how many times units are dealt into them anew.
FOLDS, SPLITS = 10, 20
#: Units (clusters) that folds need: two a fold.
FEWEST = 2 * FOLDS
#: Units on which two judges differ, below which their differences are no estimate of a spread.
FEW_DIFFER = 4


@dataclass(frozen=True, slots=True, eq=False)
class ChosenGain(Result):
    """The best of some judges by labels, and how much better than the first it is.

    Attributes
    ----------
    chosen : int
        Row of the judge that is best on all labels; 0 where none is better than the first.
    gain : Estimate
        Of choosing and measuring apart; its interval is for the true gain of the chosen judge.
        Reason too_few_items with fewer than 20 units (clusters).
    claimed : Estimate
        What the chosen judge gains on the very labels that chose it: too much.
    shares : (C,) float64
        How often each row was the choice without one fold.
    p_better : float
        Probability that the gain is above 0 (`outlook`).
    """

    chosen: int
    gain: Estimate
    claimed: Estimate
    shares: Floats
    p_better: float

    def __str__(self) -> str:
        """The gain, and what the labels that chose would claim."""
        return f"row {self.chosen}: {self.gain}; claimed {self.claimed.value:.3f}"


def chosen_gain(
    goodness: Any,
    *,
    clusters: Any = None,
    level: float = 0.95,
    seed: int = 0,
) -> ChosenGain:
    r"""Choose the best of some judges, and measure its gain over the first on other labels.

    Units are dealt into 10 folds. Each fold is measured by what is best on the other nine, and the
    gain is the mean over all units and 20 deals. Its error is not that of a mean of units: folds
    choose by one another's units. By nested cross-validation the mean squared error is the mean
    over folds of

    .. math:: (\hat g_{-k} - \bar g_k)^2 - s_k^2 / n_k

    with :math:`\bar g_k` the gain in fold k, and :math:`\hat g_{-k}` what the same procedure finds
    on the other folds alone; it is at least what independent units would have, and at most ten
    times that. Where the chosen judges differ from the first on fewer than four units, a
    pseudo-unit at each end of a gain is added, as in `measured_gain`. The interval takes Student's
    quantile with 18 degrees of freedom, twice those of ten folds: ``benchmarks/tune.py`` shows how
    often it then holds the truth.

    Parameters
    ----------
    goodness : array-like, shape (C, n)
        How good each judge is on each unit, more being better; the first row is the judge as it
        was. None may be missing: the caller says what a missing judgement scores. Of a rate that is
        no mean over units give `pseudo_values`.
    clusters : array-like, shape (n,), optional
        Units that belong together stay in one fold.
    level : float
        Nominal coverage.
    seed : int
        Of the deals.

    Returns
    -------
    ChosenGain

    Raises
    ------
    StatisticsError
        No row, missing or infinite values, clusters that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> chance = np.random.default_rng(1)
    >>> judges = chance.random((12, 100)) < [[0.75]] * 12
    >>> found = chosen_gain(judges.astype(float))
    >>> found.chosen, round(found.claimed.value, 2), round(found.gain.value, 3)
    (3, 0.09, -0.003)

    References
    ----------
    Bates, Hastie and Tibshirani (2024), Journal of the American Statistical Association 119,
    1434-1445, algorithm 1, without its correction of bias: folds of a tenth lose little.
    """
    values, codes = _checked(goodness, clusters)
    check_level(level)
    units = int(codes.max()) + 1
    gains = values - values[0]
    chosen = int(gains.sum(axis=1).argmax())
    claimed = Estimate(
        "gain on the same labels",
        float(gains[chosen].mean()),
        (mean_interval(gains[chosen], level, codes),),
        n=values.shape[1],
        k=2,
    )
    if units < FEWEST:
        lacking = Estimate("gain", math.nan, n=values.shape[1], k=2, reason="too_few_items")
        return ChosenGain(chosen, lacking, claimed, np.full(len(values), math.nan), math.nan)
    folded = _Folded.of(gains, codes, units, seed)
    error, df = math.sqrt(folded.squared_error), 2 * (FOLDS - 1)
    interval = student_interval(folded.gain, error, df, level, "nested_folds")
    gain = Estimate(
        "gain",
        folded.gain,
        (interval,),
        n=values.shape[1],
        k=2,
        details={"standard_error": error, "df": df, "units": units},
    )
    return ChosenGain(chosen, gain, claimed, folded.shares, outlook(gain)[0])


def outlook(gain: Estimate) -> tuple[float, float]:
    """How probable it is that a gain is above 0, and below which value it lies once in ten.

    Both are of the t distribution around the value that its interval is of: what a flat prior
    leaves. Of an interval with another quantile for each gain (`refitted_gain`) the second is that
    of an interval of 0.8.

    Returns
    -------
    float, float
        NaN where the gain is not known; of a gain without error 0 or 1, and the gain.

    Examples
    --------
    >>> new, old = [1.0] * 12 + [0.0] * 18, [1.0] * 8 + [0.0] * 20 + [1.0] * 2
    >>> [round(one, 3) for one in outlook(measured_gain(new, old))]
    [0.788, -0.041]
    """
    value, error = gain.value, gain.details.get("standard_error", math.nan)
    if math.isnan(value) or math.isnan(error):
        return math.nan, math.nan
    if error == 0:
        return float(value > 0), value
    df = gain.details["df"]
    tenth = gain.details.get("tenth", value + quantile(0.1, df) * error)
    return float(above_t(-value / error, df)), float(tenth)


def _checked(goodness: Any, clusters: Any) -> tuple[Floats, NDArray[np.intp]]:
    values = numbers(goodness, "goodness")
    if values.ndim != 2 or not values.size:
        raise StatisticsError(
            f"goodness must have a row a judge and a column a unit, got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise StatisticsError("goodness must be finite: say what a missing judgement scores")
    names = np.arange(values.shape[1])
    if clusters is not None:
        names = row_names(clusters, values.shape[1], "clusters")
    return values, np.unique(names, return_inverse=True)[1]


@dataclass(frozen=True, slots=True)
class _Folded:
    """The gain by folds, averaged over deals, and its mean squared error."""

    gain: float
    squared_error: float
    shares: Floats

    @classmethod
    def of(cls, gains: Floats, codes: NDArray[np.intp], units: int, seed: int) -> _Folded:
        """From (C, N) gains of candidates over the first, by cluster."""
        # Sums by cluster first: a fold is then a sum of clusters, and so are all choices.
        size = np.bincount(codes, minlength=units).astype(float)
        own = np.stack([np.bincount(codes, weights=row, minlength=units) for row in gains])
        fold = _deals(units, seed)
        member = (fold[:, :, None] == np.arange(FOLDS)).astype(float)  # (R, units, K)
        sums, squares, crossed = (part @ member for part in (own, own**2, own * size))  # (R, C, K)
        sizes, sizes_squared = size @ member, size**2 @ member  # (R, K)
        count = member.sum(axis=1)
        # The choice without folds k and l; on the diagonal without k alone.
        left = sums.sum(axis=2)[:, :, None, None] - sums[..., None] - sums[:, :, None, :]
        diagonal = np.arange(FOLDS)
        left[:, :, diagonal, diagonal] = sums.sum(axis=2)[:, :, None] - sums
        choice = left.argmax(axis=1)  # (R, K, K)
        measured = sums[np.arange(len(fold))[:, None, None], choice, diagonal]
        best = choice[:, diagonal, diagonal]  # (R, K)
        at = np.arange(len(fold))[:, None], best, diagonal
        outer = sums[at]
        n = float(size.sum())
        inner = measured.sum(axis=2) - measured[:, diagonal, diagonal]
        ahead = inner / (n - sizes) - outer / sizes
        within = _variance(squares[at], crossed[at], sizes_squared, outer / sizes, sizes, count)
        nested = (ahead**2 - within).mean(axis=1) * (FOLDS - 1) / FOLDS
        gain = outer.sum(axis=1, keepdims=True) / n
        plain = _variance(
            squares[at].sum(axis=1),
            crossed[at].sum(axis=1),
            float((size**2).sum()),
            gain[:, 0],
            n,
            units,
        )
        error = float(np.clip(nested.mean(), plain.mean(), FOLDS * plain.mean()))
        differing = float(((own != 0) @ member)[at].sum(axis=1).mean())
        if 0 < differing < FEW_DIFFER:
            error += _pseudo_units(float(gain.mean()), n, units)
        shares = np.bincount(best.ravel(), minlength=len(gains)) / best.size
        return cls(float(gain.mean()), max(error, 0.0), shares)


def _variance(
    squares: Floats, crossed: Floats, sizes_squared: Any, mean: Floats, size: Any, count: Any
) -> Floats:
    """Of a mean over units in clusters: squared sums of what each cluster is off by."""
    off = squares - 2 * mean * crossed + mean**2 * sizes_squared
    variance: Floats = off / size**2 * count / (count - 1)
    return variance


def _pseudo_units(value: float, size: float, units: int, width: float = 1.0) -> float:
    """What a pseudo-unit at each end of a gain adds to the variance of a mean over clusters."""
    return size / units * 2 * (width**2 + value**2) / size**2


def _deals(units: int, seed: int) -> NDArray[np.intp]:
    """(SPLITS, units): the fold of each unit, as even as can be."""
    chance = np.random.default_rng(seed)
    even = np.arange(units) % FOLDS
    return np.stack([chance.permutation(even) for _ in range(SPLITS)])


def pseudo_values(columns: Any, statistic: Callable[[Floats], Any]) -> Floats:
    r"""A statistic of sums as a mean over units: :math:`n \theta - (n - 1) \theta_{(-i)}`.

    Parameters
    ----------
    columns : array-like, shape (C, n, F)
        What each unit adds to the sums of each judge.
    statistic : callable
        (..., F) sums -> (...) values.

    Returns
    -------
    (C, n) float64
        Their mean over units is the statistic, its bias of order 1/n removed. Of a mean they are
        the units' own values.

    Raises
    ------
    StatisticsError
        Not three dimensions; a statistic that is undefined, or is so without some unit.

    Examples
    --------
    >>> hits = [[[1.0, 1], [0, 1], [1, 1], [1, 1]]]
    >>> pseudo_values(hits, lambda sums: sums[..., 0] / sums[..., 1]).tolist()
    [[1.0, 0.0, 1.0, 1.0]]

    References
    ----------
    Miller (1974), Biometrika 61, 1-15.
    """
    values = numbers(columns, "columns")
    if values.ndim != 3:
        raise StatisticsError(f"columns must have three dimensions, got shape {values.shape}")
    n, total = values.shape[1], values.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        whole, left = statistic(total), statistic(total - values)
    pseudo = np.asarray(n * whole - (n - 1) * left, dtype=np.float64)
    if not np.isfinite(pseudo).all():
        raise StatisticsError(
            "the statistic is undefined, or becomes so without one unit: more labels are needed"
        )
    # Round-off of n times a rate: a unit that adds nothing would else speak up.
    return np.round(pseudo, 12) + 0.0


def measured_gain(
    new: Any, old: Any, *, clusters: Any = None, width: float = 1.0, level: float = 0.95
) -> Estimate:
    """The gain of one judge over another, from units that chose neither.

    The mean of new - old. Where judges differ on fewer than four units their differences are no
    estimate of a spread, and a t interval claims too much: a pseudo-unit at each end of what a unit
    can gain enters the variance (not the value).

    Parameters
    ----------
    new, old : array-like, shape (n,)
        How good each judge is on each unit; none missing.
    clusters : array-like, shape (n,), optional
        What each unit belongs to.
    width : float
        The largest gain of a unit: 1 where goodness lies in [0, 1].
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Method ``"t"`` or ``"cluster_t"``. Reason too_few_items with fewer than two units.

    Raises
    ------
    StatisticsError
        Missing values, arrays that do not match.

    Examples
    --------
    >>> print(measured_gain([1, 1, 0, 1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 1, 1, 1, 1, 0, 1, 1]))
    gain = 0.200, 95% CI [-0.244, 0.644] (t), n = 10, k = 2

    References
    ----------
    Bonett and Price (2012), Journal of Educational and Behavioral Statistics 37, 479-488, for
    pseudo-units of paired rates.
    """
    values, codes = _checked([old, new], clusters)
    check_level(level)
    gains = values[1] - values[0]
    n, value = len(gains), float(gains.mean())
    error, df = standard_error(gains, codes)
    if math.isnan(error):
        return Estimate("gain", value, n=n, k=2, reason="too_few_items")
    units = int(df) + 1
    if np.count_nonzero(np.bincount(codes, weights=np.abs(gains))) < FEW_DIFFER:
        error = math.sqrt(error**2 + _pseudo_units(value, n, units, width))
    method = "t" if clusters is None else "cluster_t"
    interval = student_interval(value, error, df, level, method)
    return Estimate(
        "gain", value, (interval,), n=n, k=2, details={"standard_error": error, "df": df}
    )


def half_of(units: int, clusters: Any = None, *, seed: int = 0) -> NDArray[np.bool_]:
    """(units,) a random half by clusters: what an optimizer sees; the rest measures.

    Examples
    --------
    >>> int(half_of(7).sum())
    4
    """
    names = np.arange(units) if clusters is None else row_names(clusters, units, "clusters")
    codes = np.unique(names, return_inverse=True)[1]
    number = int(codes.max(initial=-1)) + 1
    drawn = np.random.default_rng(seed).permutation(number)[: -(-number // 2)]
    return np.isin(codes, drawn)
