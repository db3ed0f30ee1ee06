"""The gain of one judge over another from labels of units on which they differ."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, check_level, numbers
from voirdire.stats._pairs import standard_error
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intervals import student_interval
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Labels of one stratum with which its spread is an estimate.
_FEW = 2
#: Labels of graded units below which the strata's spreads are none.
_FEW_GRADED = 20


def differing_gain(
    gains: Any,
    sizes: Any,
    units: int,
    *,
    strata: Any = None,
    ends: Any = None,
    level: float = 0.95,
) -> Estimate:
    r"""The gain of one judge over another from labels of units on which they differ.

    Where they agree neither gains, so that the gain over all `units` is

    .. math:: \sum_h \frac{D_h}{N} \bar g_h

    with :math:`D_h` units of stratum h that differ, of which some drawn at random have a label.
    Where all are of one stratum and each gain is 1 or -1 (yes or no: one of the two is right), the
    interval is Blaker's of the hypergeometric distribution: it holds `level` at least, and less
    more than that than one of equal tails. Else it is Student's, with the
    finite draw counted and Satterthwaite's degrees of freedom; a stratum whose labels are all alike
    takes half a pseudo-label at each of its ends.

    Parameters
    ----------
    gains : array-like, shape (m,)
        On each labelled unit, the new judge's agreement less the old one's.
    sizes : array-like, shape (H,)
        Units that differ, by stratum, labelled or not.
    units : int
        All units, also those on which both say the same.
    strata : array-like of int, shape (m,), optional
        Place in `sizes`; all 0 by default.
    ends : array-like, shape (H,), optional
        The largest size of a gain in each stratum; 1 by default.
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Methods ``"hypergeometric"`` and ``"stratified_t"``. Reason too_few_items where a stratum
        has fewer than two labels, and units that have none.

    Raises
    ------
    StatisticsError
        More labels than units, a stratum that is not there, a gain beyond its end.

    Examples
    --------
    >>> print(differing_gain([1] * 19 + [-1] * 6, [150], 1000))
    gain = 0.078, 95% CI [0.026, 0.116] (hypergeometric), n = 25, k = 2

    References
    ----------
    Blaker (2000), Canadian Journal of Statistics 28, 783-798, for the first;
    Cochran (1977), Sampling Techniques, 5.16, for the second.
    """
    values, counts = numbers(gains, "gains"), numbers(sizes, "sizes")
    check_level(level)
    place = np.zeros(len(values), np.intp) if strata is None else np.asarray(strata, np.intp)
    bound = np.ones(len(counts)) if ends is None else numbers(ends, "ends")
    labelled = _count_labels(values, counts, units, place, bound)
    whole = int(counts.sum())
    if not whole:
        return Estimate("gain", 0.0, (Interval("hypergeometric", level, 0.0, 0.0),), n=0, k=2)
    needed = np.minimum(np.where(counts > 0, _FEW, 0), counts)
    if (labelled < needed).any():
        return Estimate("gain", math.nan, n=len(values), k=2, reason="too_few_items")
    if len(counts) == 1 and np.isin(values, (-1.0, 1.0)).all():
        return _exact(int((values > 0).sum()), len(values), whole, units, level)
    return _stratified(values, place, labelled, counts, bound, units, level)


def allotted(sizes: Any, ends: Any, labels: int) -> NDArray[np.intp]:
    """How many of some labels each stratum gets: by its units times the size of their differences.

    At least two where it has as many (Neyman's allotment, the spread of a gain being in proportion
    to the difference), and never more than it has.

    Examples
    --------
    >>> allotted([100, 20, 1], [1, 2, 3], 40).tolist()
    [28, 11, 1]
    """
    counts, spread = np.asarray(sizes, np.intp), numbers(ends, "ends")
    given = np.minimum(counts, _FEW)
    # One at a time to where it is most wanted: exact, and there are few labels.
    for _ in range(max(min(labels, int(counts.sum())) - int(given.sum()), 0)):
        need = np.where(given < counts, counts * spread / np.maximum(given, 1), -1.0)
        given[int(need.argmax())] += 1
    return given


def labels_to_show(
    gain: float,
    differ: float,
    stock: int,
    *,
    spread: float = 1.0,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    r"""Labels of units that differ with which a gain of that size is shown with some power.

    Of a stock of D units that differ :math:`(1 + g / d) / 2` are won, with g the gain over all
    units and d how far the judges are apart on average (of yes and no the share on which they
    differ). The number is the smallest one from which on the exact interval of `differing_gain`
    lies above 0 with that power, summed over all outcomes.

    Graded units gain less than they differ by: of n labels allotted by the size of the difference
    the mean has the variance :math:`(d^2 r - g^2) / n`, r being the `spread`, with Cochran's
    correction for a stock of D. They are 20 at least, if there are as many: fewer say nothing of
    the spread in each stratum.

    Parameters
    ----------
    gain : float
        Over all units, above 0.
    differ : float
        0 to 1.
    stock : int
        Units that differ and have no label yet.
    spread : float
        Mean over units of squared gain over difference, divided by the mean difference; 1 where
        each unit gains or loses all that it differs by (yes and no).
    power, level : float
        How often it should show, and the level of the interval.

    Returns
    -------
    int
        0 where they differ on too few for such a gain, or all labels of the stock would not show
        it so often.

    Raises
    ------
    StatisticsError
        A gain of 0 or less.

    Examples
    --------
    >>> labels_to_show(0.03, 0.15, 3000), labels_to_show(0.03, 0.15, 300)
    (196, 126)
    >>> labels_to_show(0.03, 0.02, 300)
    0

    References
    ----------
    As `differing_gain`; Cochran (1977), 4.6, for a number of labels.
    """
    if gain <= 0:
        raise StatisticsError(f"a gain that is to be shown is above 0, got {gain}")
    if differ <= gain or stock < _FEW:
        return 0
    if spread < 1:
        return _graded_labels(gain, differ**2 * spread - gain**2, stock, power, level)
    wins = math.ceil(round(stock * (1 + gain / differ) / 2, 6))
    low, high = _FEW, stock
    while low < high:
        middle = (low + high) // 2
        if _power(wins, middle, stock, level) >= power:
            high = middle
        else:
            low = middle + 1
    return low if _power(wins, low, stock, level) >= power else 0


def _graded_labels(gain: float, variance: float, stock: int, power: float, level: float) -> int:
    """By Student's interval, whose strata have some half of its degrees of freedom."""
    labels = min(_FEW_GRADED, stock)
    while labels < stock:
        reach = quantile((1 + level) / 2, labels / 2) + quantile(power, math.inf)
        endless = reach**2 * variance / gain**2
        if labels >= endless / (1 + endless / stock):
            break
        labels += 1
    return labels


def _power(wins: int, labels: int, stock: int, level: float) -> float:
    """How often so many labels, or one or two more, show that more than half are won.

    The least of the three: each time that one more must be won it is shown a little less often.
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - slow to import

    drawn = np.arange(labels, min(labels + 2, stock) + 1)
    # The most that a draw would win of a stock of which no more than half are.
    half = hypergeom.isf((1 - level) / 2, stock, stock // 2, drawn)
    return float(hypergeom.sf(half, stock, wins, drawn).min())


def _count_labels(
    values: Floats, counts: Floats, units: int, place: NDArray[np.intp], bound: Floats
) -> NDArray[np.intp]:
    if values.ndim != 1 or place.shape != values.shape or bound.shape != counts.shape:
        raise StatisticsError("gains and strata, and sizes and ends, must be as long as each other")
    if not np.isfinite(values).all():
        raise StatisticsError("gains must be finite: leave out units without a label")
    if len(place) and not 0 <= place.min() <= place.max() < len(counts):
        raise StatisticsError(f"strata must be 0 to {len(counts) - 1}")
    labelled = np.bincount(place, minlength=len(counts))
    if (labelled > counts).any() or counts.sum() > units:
        raise StatisticsError(
            "there are more labels than units that differ, or more of these than units"
        )
    if (np.abs(values) > bound[place] + 1e-9).any():
        raise StatisticsError("a gain is larger than the end of its stratum")
    return np.asarray(labelled, np.intp)


def _exact(won: int, labelled: int, differ: int, units: int, level: float) -> Estimate:
    """By the numbers of units that the new judge may win: those that the draw does not refute."""
    from scipy.stats import hypergeom  # noqa: PLC0415 - slow to import

    most, tail = differ - (labelled - won), (1 - level) / 2

    def unlikely(number: int) -> bool:
        """Whether the draw refutes that the new judge wins so many units."""
        return _blaker(won, hypergeom(differ, number, labelled)) <= 1 - level

    # Blaker's numbers lie among those that neither tail refutes, and nearly all of these are his:
    # the tails rise and fall with the number, and his ends are a few steps inside of theirs.
    numbers_won = range(won, most + 1)
    first = bisect_left(
        numbers_won, 1, key=lambda at: int(hypergeom.sf(won - 1, differ, at, labelled) > tail)
    )
    last = bisect_left(
        numbers_won, 1, key=lambda at: int(hypergeom.cdf(won, differ, at, labelled) <= tail)
    )
    low = next(at for at in numbers_won[first:] if not unlikely(at))
    high = next(at for at in numbers_won[:last][::-1] if not unlikely(at))
    value = (2 * won / labelled - 1) * differ / units
    interval = Interval(
        "hypergeometric", level, (2 * low - differ) / units, (2 * high - differ) / units
    )
    return Estimate("gain", value, (interval,), n=labelled, k=2, details={"differ": differ})


def _blaker(won: int, drawn: Any) -> float:
    """The probability of the smaller tail at an outcome, and of what of the other is no likelier.

    `drawn` is a discrete distribution of SciPy.
    """
    low, high = float(drawn.cdf(won)), float(drawn.sf(won - 1))
    # A tail that is as likely but for rounding counts.
    reach = min(low * (1 + 1e-9), high * (1 + 1e-9), 1.0)
    if high > low:
        return low + float(drawn.sf(drawn.isf(reach)))
    other = int(drawn.ppf(reach))
    other -= drawn.cdf(other) > reach
    return high + float(drawn.cdf(other))


def _stratified(
    values: Floats,
    place: NDArray[np.intp],
    labelled: NDArray[np.intp],
    counts: Floats,
    bound: Floats,
    units: int,
    level: float,
) -> Estimate:
    value, parts, degrees = 0.0, [], []
    for h in np.flatnonzero(counts):
        own, m = values[place == h], int(labelled[h])
        weight = counts[h] / units
        value += weight * float(own.mean())
        if m == counts[h]:
            continue
        if np.ptp(own) == 0:
            padded = np.concatenate([own, [bound[h], -bound[h]]])
            weights = np.concatenate([np.ones(m), [0.5, 0.5]])
            centre = float(weights @ padded) / (m + 1)
            spread = float(weights @ (padded - centre) ** 2) / (m + 1)
        else:
            error, _ = standard_error(own)
            spread = m * error**2
        parts.append(weight**2 * (1 - m / counts[h]) * spread / m)
        degrees.append(m - 1)
    variance = math.fsum(parts)
    df = math.inf
    if variance > 0:
        df = variance**2 / math.fsum(v**2 / d for v, d in zip(parts, degrees, strict=True))
    interval = student_interval(value, math.sqrt(variance), df, level, "stratified_t")
    return Estimate(
        "gain",
        value,
        (interval,),
        n=len(values),
        k=2,
        details={"differ": int(counts.sum()), "standard_error": math.sqrt(variance), "df": df},
    )
