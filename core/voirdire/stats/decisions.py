"""Decision studies: how many raters, runs or subjects are enough."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import check_level
from voirdire.stats._results import Result
from voirdire.stats.special import special

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.stats.generalizability import VarianceComponents

#: Beyond this many the limit is reached.
_MOST = 1 << 40


@dataclass(frozen=True, slots=True, eq=False)
class Decision(Result):
    """The smallest design that reaches a reliability.

    Attributes
    ----------
    target : float
        The reliability asked for.
    raters, runs : int or None
        None where no number of them reaches it.
    reliability : float
        What that design has.
    """

    target: float
    raters: int | None
    runs: int | None
    reliability: float

    def __str__(self) -> str:
        """One line."""
        if self.raters is None or self.runs is None:
            return f"reliability {self.target:g} is reached by no number of them"
        return (
            f"reliability {self.target:g} needs raters: {self.raters}, runs of each: {self.runs}; "
            f"they reach {self.reliability:.3f}"
        )


def raters_needed(
    components: VarianceComponents, target: float, *, runs: int = 1, agreement: bool = True
) -> Decision:
    """How many raters, with so many runs each, reach a reliability (a decision study).

    Parameters
    ----------
    components : VarianceComponents
    target : float
        In (0, 1).
    runs : int
        Runs of each rater.
    agreement : bool
        True: scores are read as they are (Φ). False: only their order counts (Eρ²).

    Returns
    -------
    Decision
        `raters` and `runs` are None where no number of raters is enough.

    Raises
    ------
    StatisticsError
        A target outside (0, 1).

    Examples
    --------
    >>> from voirdire.stats import raters_needed, VarianceComponents
    >>> nan = float("nan")
    >>> components = VarianceComponents("nested", 1.0, 0.2, 0.0, 0.4, nan, nan, 0.6, 100, 3, 2, 0)
    >>> raters_needed(components, 0.8).raters, raters_needed(components, 0.8, runs=3).raters
    (5, 4)

    References
    ----------
    Brennan (2001), Generalizability Theory, eqs. 4.17 to 4.22.
    """
    needed = _smallest(lambda n: components.reliability(n, runs, agreement=agreement), target)
    reached = (
        math.nan if needed is None else components.reliability(needed, runs, agreement=agreement)
    )
    return Decision(target, needed, runs if needed else None, reached)


def runs_needed(
    components: VarianceComponents | float,
    target: float,
    *,
    raters: int = 1,
    agreement: bool = True,
) -> Decision:
    """How many runs of each of so many raters reach a reliability.

    Runs average out only what differs between runs: where raters disagree about items, no number
    of runs may be enough, and `runs` is None.

    Parameters
    ----------
    components : VarianceComponents or float
        A number is the reliability of a single run of one rater, NaN where it is not known; the
        mean of n runs then has n r / (1 + (n - 1) r).
    target : float
        In (0, 1).
    raters : int
        Raters with so many runs each.
    agreement : bool
        As in `raters_needed`.

    Returns
    -------
    Decision
        `runs` and `raters` are None where no number of runs is enough.

    Raises
    ------
    StatisticsError
        A target outside (0, 1); several raters of whom only one reliability is given.

    Examples
    --------
    >>> from voirdire.stats import runs_needed, VarianceComponents
    >>> runs_needed(0.5, 0.8).runs
    4
    >>> nan = float("nan")
    >>> components = VarianceComponents("nested", 1.0, 0.0, 0.0, 0.1, nan, nan, 0.6, 100, 3, 2, 0)
    >>> runs_needed(components, 0.8).runs, runs_needed(components, 0.95).runs
    (4, None)

    References
    ----------
    Brennan (2001), Generalizability Theory, eqs. 4.17 to 4.22. Spearman (1910) and Brown (1910),
    British Journal of Psychology 3, 271-322, for the reliability of a mean.
    """
    if isinstance(components, float | int):
        if raters != 1:
            raise StatisticsError(
                f"a reliability is that of one rater in one run, got one of {raters}"
            )
        reliability = _of_means(float(components))
    else:
        reliability = partial(_of_runs, components, raters, agreement)
    needed = _smallest(reliability, target)
    reached = math.nan if needed is None else reliability(needed)
    return Decision(target, raters if needed else None, needed, reached)


def _of_runs(parts: VarianceComponents, raters: int, agreement: bool, runs: int) -> float:
    return parts.reliability(raters, runs, agreement=agreement)


def _of_means(single: float) -> Callable[[int], float]:
    """The reliability of a mean of n runs; NaN where a run has none."""
    return lambda n: n * single / (1 + (n - 1) * single) if single > 0 else math.nan


def _smallest(reliability: Callable[[int], float], target: float) -> int | None:
    """Reliability grows with n where every component is positive."""
    if not 0 < target < 1:
        raise StatisticsError(f"target must lie strictly between 0 and 1, got {target!r}")
    # Two raters of 0.5 reach 2 / 3, which no binary number is: a target of 2 / 3 is met.
    return smallest(lambda n: reliability(n) >= target - 1e-12, 1, _MOST)


#: No study has more subjects.
_MOST_SUBJECTS = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class SubjectsNeeded(Result):
    """The sample at which an interval clears a threshold, were the estimate to stay.

    Attributes
    ----------
    n : int or None
        None where the estimate lies on the threshold.
    side : {"above", "below", "neither"}
        Where the interval would lie.
    icc, threshold, level : float
    k : int
        Raters.
    """

    n: int | None
    side: str
    icc: float
    threshold: float
    level: float
    k: int

    def __str__(self) -> str:
        """One line."""
        about = f"the {100 * self.level:.6g}% interval of an ICC of {self.icc:.3f}"
        if self.n is None:
            return f"no number of subjects takes {about} off {self.threshold:g}"
        return f"n = {self.n}: {about} would lie {self.side} {self.threshold:g} (k = {self.k})"


def subjects_needed(
    icc: float, k: int, threshold: float = 0.75, *, level: float = 0.95
) -> SubjectsNeeded:
    """Smallest n at which the F interval of an observed ICC(C,1) lies wholly beyond a threshold.

    Holding the estimate, F = (1 + (k-1) r) / (1 - r) stays while the F quantiles shrink to 1 as n
    grows; so the bounds close in and a doubling search with bisection finds the first n.

    Parameters
    ----------
    icc : float
        The observed ICC(C,1), below 1.
    k : int
        Raters, at least 2.
    threshold : float
        In (-1 / (k-1), 1).
    level : float
        Level of the two-sided interval.

    Returns
    -------
    SubjectsNeeded
        It assumes that the estimate stays as it is: half of all repetitions find a lower one.

    Raises
    ------
    StatisticsError
        Values outside the ranges above.

    Examples
    --------
    >>> from voirdire.stats import subjects_needed
    >>> subjects_needed(0.90, k=2).n
    18
    >>> subjects_needed(0.60, k=2).side
    'below'

    References
    ----------
    McGraw and Wong (1996), table 7. Planning: Bonett (2002), Stat. Med. 21, 1331-1335.
    """
    check_level(level)
    _check(icc, k, threshold)
    # No error was seen: two subjects are as good as any number.
    if icc >= 1:
        return SubjectsNeeded(2, "above", icc, threshold, level, k)
    observed, bar = _ratio(icc, k), _ratio(threshold, k)
    # On the threshold the interval holds it, however narrow it becomes.
    if math.isclose(observed, bar, rel_tol=1e-12):
        return SubjectsNeeded(None, "neither", icc, threshold, level, k)
    above = observed > bar
    # The bound lies beyond once the quantile of F is below this quotient of variance ratios.
    needed = observed / bar if above else bar / observed
    least = smallest(lambda n: _quantile(n, k, level, above=above) <= needed, 2, _MOST_SUBJECTS)
    side = "neither" if least is None else "above" if above else "below"
    return SubjectsNeeded(least, side, icc, threshold, level, k)


def _check(icc: float, k: int, threshold: float) -> None:
    if k < 2:
        raise StatisticsError(f"k must be at least 2 raters, got {k!r}")
    floor = -1 / (k - 1)
    if not floor < icc <= 1:
        raise StatisticsError(f"an ICC(C,1) of {k} raters lies in ({floor:g}, 1], got {icc!r}")
    if not floor < threshold < 1:
        raise StatisticsError(f"threshold must lie in ({floor:g}, 1), got {threshold!r}")


def _ratio(icc: float, k: int) -> float:
    """MSR / MSE that belongs to an ICC(C,1)."""
    return (1 + (k - 1) * icc) / (1 - icc)


def _quantile(n: int, k: int, level: float, *, above: bool) -> float:
    rows, error = n - 1, (n - 1) * (k - 1)
    df = (rows, error) if above else (error, rows)
    return float(special().fdtri(*df, 0.5 + level / 2))


def smallest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest n of least..most at which a condition holds that, once true, stays true.

    None where it holds nowhere. Doubling, then bisection.

    >>> smallest(lambda n: n * n > 1000, 2, 100), smallest(lambda n: n > 100, 2, 100)
    (32, None)
    """
    low, high = least, min(least, most)
    while not enough(high):
        if high >= most:
            return None
        low, high = high + 1, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
