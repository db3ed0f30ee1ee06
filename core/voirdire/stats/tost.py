"""Equivalence of means: is the bias small, rather than merely not significant?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voirdire.errors import StatisticsError
from voirdire.stats._results import Result
from voirdire.stats.differences import bias

if TYPE_CHECKING:
    from voirdire.stats._results import Estimate, Interval


@dataclass(frozen=True, slots=True, eq=False)
class Equivalence(Result):
    """Two one-sided tests of a bias against a margin.

    Attributes
    ----------
    bias : Estimate
        Judge minus reference, with its interval at level 1 - 2 alpha.
    margin : float
        The largest ``|bias|`` that is called small.
    conclusion : {"equivalent", "different", "undecided", "undefined"}
        The whole interval inside the margin, outside it on one side, or neither.
    p : float
        The larger of the two one-sided p values; equivalent at alpha when p <= alpha.
    alpha : float
        Level of each one-sided test.
    """

    bias: Estimate
    margin: float
    conclusion: str
    p: float
    alpha: float

    def __str__(self) -> str:
        """One line."""
        return f"{self.conclusion} within -+{self.margin:g} (p = {self.p:.3g}); {self.bias}"


def equivalence(
    judge: Any,
    reference: Any,
    margin: float,
    *,
    alpha: float = 0.05,
    clusters: Any = None,
) -> Equivalence:
    """Two one-sided t tests (TOST): ``|bias|`` < margin, read off the 1 - 2 alpha interval.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    margin : float
        Above 0, in units of the scale (5 % of a 1..5 scale is 0.2).
    alpha : float
        0.05 reads the 90 % interval.
    clusters : array-like, shape (n,), optional
        As in `bias`.

    Returns
    -------
    Equivalence
        "undefined" with fewer than two pairs (or clusters).

    Raises
    ------
    StatisticsError
        A margin that is not positive, alpha outside (0, 0.5), unusable arrays.

    Examples
    --------
    >>> from voirdire.stats import equivalence
    >>> equivalence([3, 4, 5, 2, 3, 4], [3, 4, 5, 2, 4, 3], margin=0.6).conclusion
    'equivalent'
    >>> equivalence([3, 4, 5, 2, 3, 4], [3, 4, 5, 2, 4, 3], margin=0.2).conclusion
    'undecided'

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657-680. Lakens (2017), Soc. Psychol.
    Personal. Sci. 8, 355-362.
    """
    if not margin > 0 or not math.isfinite(margin):
        raise StatisticsError(f"margin must be a positive number, got {margin!r}")
    if not 0 < alpha < 0.5:
        raise StatisticsError(f"alpha must lie strictly between 0 and 0.5, got {alpha!r}")
    estimate = bias(judge, reference, clusters=clusters, level=1 - 2 * alpha)
    conclusion = _conclusion(estimate.intervals[0], margin)
    return Equivalence(estimate, float(margin), conclusion, _larger_p(estimate, margin), alpha)


def _conclusion(interval: Interval, margin: float) -> str:
    if math.isnan(interval.low):
        return "undefined"
    if -margin < interval.low and interval.high < margin:
        return "equivalent"
    if interval.low >= margin or interval.high <= -margin:
        return "different"
    return "undecided"


def _larger_p(estimate: Estimate, margin: float) -> float:
    from scipy.special import stdtr  # noqa: PLC0415 - slow to import

    error = estimate.details["standard_error"]
    if math.isnan(error):
        return math.nan
    if error == 0:
        return 0.0 if abs(estimate.value) < margin else 1.0
    return float(stdtr(estimate.details["df"], (abs(estimate.value) - margin) / error))
