"""Errors where they matter: does the judge see the responses that the reference calls bad?"""

from __future__ import annotations

import math
from typing import Any

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import check_level
from voirdire.stats._pairs import pairs
from voirdire.stats._results import Estimate
from voirdire.stats.agreement import wilson_interval


def tail_misses(judge: Any, reference: Any, at_or_below: float, *, level: float = 0.95) -> Estimate:
    """Share of bad responses that the judge scores above the line: the unsafe call passed.

    Of the pairs whose reference lies at or below `at_or_below`, the share whose judge's score lies
    above it.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    at_or_below : float
        The declared score up to which a response counts as bad.
    level : float
        Nominal coverage of the Wilson interval.

    Returns
    -------
    Estimate
        n counts the bad responses. `details`: misses, false_alarms (of the others, those that the
        judge puts at or below the line), n_others, false_alarm_rate. Reason no_data without a bad
        response: a judge that was never tested has no miss rate.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite; a line that is NaN.

    Examples
    --------
    >>> from voirdire.stats import tail_misses
    >>> found = tail_misses([4, 2, 1, 5, 2], [1, 2, 2, 5, 4], at_or_below=2)
    >>> print(found)
    tail misses = 0.333, 95% CI [0.061, 0.792] (wilson), n = 3, k = 2
    >>> found.details["false_alarms"]
    1

    References
    ----------
    Wilson (1927), JASA 22, 209-212.
    """
    check_level(level)
    if math.isnan(at_or_below):
        raise StatisticsError("at_or_below must be a score, not NaN")
    paired = pairs(judge, reference)
    bad, called = paired.reference <= at_or_below, paired.judge <= at_or_below
    n, n_others = int(bad.sum()), int((~bad).sum())
    misses, alarms = int((bad & ~called).sum()), int((~bad & called).sum())
    return Estimate(
        "tail misses",
        misses / n if n else math.nan,
        (wilson_interval(misses / n if n else math.nan, n, level),),
        n,
        2,
        paired.left_out,
        None if n else "no_data",
        details={
            "at_or_below": float(at_or_below),
            "misses": misses,
            "false_alarms": alarms,
            "n_others": n_others,
            "false_alarm_rate": alarms / n_others if n_others else math.nan,
        },
    )
