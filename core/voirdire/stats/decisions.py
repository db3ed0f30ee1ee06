"""Decision studies: how many raters or runs make scores reliable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from voirdire.errors import StatisticsError
from voirdire.stats._results import Result
from voirdire.stats._search import smallest

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
    >>> found = VarianceComponents("nested", 1.0, 0.2, 0.0, 0.4, nan, nan, 0.6, 100, 3, 2, 0)
    >>> raters_needed(found, 0.8).raters, raters_needed(found, 0.8, runs=3).raters
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
    >>> found = VarianceComponents("nested", 1.0, 0.0, 0.0, 0.1, nan, nan, 0.6, 100, 3, 2, 0)
    >>> runs_needed(found, 0.8).runs, runs_needed(found, 0.95).runs
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
    return smallest(lambda n: reliability(n) >= target - 1e-12, 1, _MOST)
