"""How many more subjects would settle on which side of a threshold an ICC lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import check_level
from voirdire.stats._results import Result
from voirdire.stats._search import smallest

_MOST = 10_000_000


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
    if icc >= 1:
        return SubjectsNeeded(2, "above", icc, threshold, level, k)
    observed, bar = _ratio(icc, k), _ratio(threshold, k)
    if math.isclose(observed, bar, rel_tol=1e-12):
        return SubjectsNeeded(None, "neither", icc, threshold, level, k)
    above = observed > bar
    needed = observed / bar if above else bar / observed
    least = smallest(lambda n: _quantile(n, k, level, above=above) <= needed, 2, _MOST)
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
    from scipy.special import fdtri  # noqa: PLC0415 - slow to import

    rows, error = n - 1, (n - 1) * (k - 1)
    df = (rows, error) if above else (error, rows)
    return float(fdtri(*df, 0.5 + level / 2))
