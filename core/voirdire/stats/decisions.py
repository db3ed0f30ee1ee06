"""Decision studies: how many raters or runs make scores reliable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire._errors import StatisticsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from voirdire.stats.generalizability import VarianceComponents

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Decision:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain types; an undefined reliability becomes None."""
        known = None if math.isnan(self.reliability) else self.reliability
        return {
            "target": self.target,
            "raters": self.raters,
            "runs": self.runs,
            "reliability": known,
        }


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
    """
    found = _smallest(lambda n: components.reliability(n, runs, agreement=agreement), target)
    reached = (
        math.nan if found is None else components.reliability(found, runs, agreement=agreement)
    )
    return Decision(target, found, runs if found else None, reached)


def runs_needed(
    components: VarianceComponents, target: float, *, raters: int = 1, agreement: bool = True
) -> Decision:
    """How many runs of each of so many raters reach a reliability.

    Runs average out only what differs between runs: where raters disagree about items, no number
    of runs may be enough, and `runs` is None. Parameters and errors are those of `raters_needed`.

    Examples
    --------
    >>> from voirdire.stats import runs_needed, VarianceComponents
    >>> nan = float("nan")
    >>> found = VarianceComponents("nested", 1.0, 0.0, 0.0, 0.1, nan, nan, 0.6, 100, 3, 2, 0)
    >>> runs_needed(found, 0.8).runs, runs_needed(found, 0.95).runs
    (4, None)
    """
    found = _smallest(lambda n: components.reliability(raters, n, agreement=agreement), target)
    reached = (
        math.nan if found is None else components.reliability(raters, found, agreement=agreement)
    )
    return Decision(target, raters if found else None, found, reached)


def _smallest(reliability: Callable[[int], float], target: float) -> int | None:
    """Reliability grows with n where every component is positive: doubling, then bisection."""
    if not 0 < target < 1:
        raise StatisticsError(f"target must lie strictly between 0 and 1, not {target!r}")
    high = 1
    while not reliability(high) >= target - 1e-12:
        high *= 2
        if high > _MOST:
            return None
    low = high // 2 + 1
    while low < high:
        middle = (low + high) // 2
        if reliability(middle) >= target - 1e-12:
            high = middle
        else:
            low = middle + 1
    return high
