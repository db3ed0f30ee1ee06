"""Agreement on where something fails first: the turn of a conversation, the step of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import check_level
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: What is compared of two positions, and how it is called.
_MEASURES = ("exact", "within_one", "ever")


@dataclass(frozen=True, slots=True, eq=False)
class FirstFailureAgreement(Result):
    """How a judge agrees with people on first failures, beside people with one another.

    Attributes
    ----------
    judge, people, difference : mapping of str to Estimate
        Each of ``exact`` (the same position, or never in both), ``within_one`` (at most one
        position apart) and ``ever`` (whether it fails at all). A judge's is the share of its pairs
        with people, people's that of pairs of people; `difference` is the judge's less theirs on
        units that two people and the judge answered.
    n : int
        Units on which the judge and a person answered.
    """

    judge: Mapping[str, Estimate]
    people: Mapping[str, Estimate]
    difference: Mapping[str, Estimate]
    n: int

    def __str__(self) -> str:
        """A line a measure: the judge with people, beside people with one another."""
        lines = (f"{self.judge[name]}; people: {self.people[name]}" for name in _MEASURES)
        return "\n".join(lines)


def first_failure_agreement(
    judge: Any, people: Any, lengths: Any, *, clusters: Any = None, level: float = 0.95
) -> FirstFailureAgreement:
    """Agreement on the first position that fails.

    A conversation without a failure is censored where it ends: that it never fails says that it
    does not by its last position. So *never* stands one behind the last position, which is how
    ``within_one`` counts it.

    Parameters
    ----------
    judge : array-like, shape (n,)
        First failing position from 1, 0 where it never fails, NaN where missing.
    people : array-like, shape (R, n)
        Those of R people.
    lengths : array-like, shape (n,)
        Positions in each unit, from 1.
    clusters : array-like, shape (n,), optional
        What is left out at a time; each unit by default.
    level : float
        Nominal coverage of the jackknife intervals (Student's t with clusters - 1).

    Returns
    -------
    FirstFailureAgreement
        Reasons: no_data, too_few_raters (nobody pairs with another).

    Raises
    ------
    StatisticsError
        Shapes that do not fit, a position beyond its unit's length or below 0.

    References
    ----------
    Shares of pairs that agree are ours; intervals by the jackknife over clusters: Efron and
    Tibshirani 1993, An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> found = first_failure_agreement([2, 0, 4], [[2, 0, 3], [2, 5, 3]], [6, 6, 6])
    >>> round(found.judge["exact"].value, 3), round(found.people["exact"].value, 3)
    (0.5, 0.667)
    """
    check_level(level)
    own, theirs, ends = _checked(judge, people, lengths)
    groups = np.arange(own.size) if clusters is None else np.asarray(clusters)
    if groups.shape != own.shape:
        raise StatisticsError(f"clusters have shape {groups.shape}, and positions {own.shape}")
    code = np.unique(groups, return_inverse=True)[1]
    found: dict[str, dict[str, Estimate]] = {"judge": {}, "people": {}, "difference": {}}
    pairs = [(a, b) for a in range(len(theirs)) for b in range(a + 1, len(theirs))]
    for name in _MEASURES:
        mine = [_agree(own, each, ends, name) for each in theirs]
        among = [_agree(theirs[a], theirs[b], ends, name) for a, b in pairs]
        with_people, between = _sums(mine, own.size), _sums(among, own.size)
        # On the same units, so that hard ones count for both.
        both = (with_people[1] > 0) & (between[1] > 0)
        shared = [np.where(both, part, 0.0) for part in (*with_people, *between)]
        made = {
            "judge": (*with_people, *_nothing(own.size)),
            "people": (*between, *_nothing(own.size)),
            "difference": tuple(shared),
        }
        for who, sums in made.items():
            found[who][name] = _ratio(f"{who}, {name}", sums, code, len(theirs), level)
    n = int((~np.isnan(own) & ~np.isnan(theirs).all(axis=0)).sum()) if len(theirs) else 0
    return FirstFailureAgreement(found["judge"], found["people"], found["difference"], n)


def _checked(judge: Any, people: Any, lengths: Any) -> tuple[Floats, Floats, Floats]:
    own = np.asarray(judge, np.float64)
    theirs = np.atleast_2d(np.asarray(people, np.float64))
    ends = np.asarray(lengths, np.float64)
    if own.ndim != 1 or theirs.shape[1:] != own.shape or ends.shape != own.shape:
        raise StatisticsError(
            f"first failures: judge {own.shape}, people {theirs.shape} and lengths {ends.shape} "
            "must be (n,), (R, n) and (n,)"
        )
    for who, values in (("judge", own[None]), ("people", theirs)):
        wrong = (values < 0) | (values > ends) | (values != np.floor(values))
        wrong &= ~np.isnan(values)
        if wrong.any():
            row, at = np.argwhere(wrong)[0]
            raise StatisticsError(
                f"first failures: {who} say position {values[row, at]:g} of unit {at}, which has "
                f"{ends[at]:g}: positions are whole numbers from 1, and 0 is never"
            )
    return own, theirs, ends


def _agree(a: Floats, b: Floats, ends: Floats, measure: str) -> Floats:
    """(n,) 1 where two agree, 0 where not, NaN where one is missing."""
    missing = np.isnan(a) | np.isnan(b)
    if measure == "ever":
        same = (a == 0) == (b == 0)
    else:
        places = (np.where(one == 0, ends + 1, one) for one in (a, b))
        apart = np.abs(np.subtract(*places))
        same = apart <= (1 if measure == "within_one" else 0)
    return np.where(missing, np.nan, same.astype(np.float64))


def _nothing(n: int) -> tuple[Floats, Floats]:
    return np.zeros(n), np.zeros(n)


def _sums(agree: list[Floats], n: int) -> tuple[Floats, Floats]:
    """(n,) mean agreement of a unit's pairs, and 1 where it has any: each unit counts once."""
    if not agree:
        return np.zeros(n), np.zeros(n)
    table = np.stack(agree)
    pairs = (~np.isnan(table)).sum(axis=0)
    mean = np.nansum(table, axis=0) / np.maximum(pairs, 1)
    return mean, (pairs > 0).astype(np.float64)


def _ratio(
    name: str, sums: tuple[Floats, ...], code: NDArray[np.int64], k: int, level: float
) -> Estimate:
    """The first ratio of sums less the second, where there is one, with a jackknife interval."""
    groups = int(code.max()) + 1 if code.size else 0
    by = np.stack([np.bincount(code, part, minlength=groups) for part in sums])
    used = by[1] > 0
    by = by[:, used]
    clusters, n = int(used.sum()), int(sums[1].sum())
    empty = Interval("jackknife", level, math.nan, math.nan)
    if not clusters:
        return Estimate(name, math.nan, (empty,), 0, k, reason="no_data")
    total = by.sum(axis=1)
    value = float(_of(total[:, None])[0])
    if clusters < 2:
        return Estimate(name, value, (empty,), n, k, reason="too_few_items")
    out = _of(total[:, None] - by)
    error = math.sqrt((clusters - 1) / clusters * float(((out - out.mean()) ** 2).sum()))
    half = quantile(0.5 + level / 2, clusters - 1) * error
    flags = ("unreliable_interval",) if clusters < 20 else ()
    interval = Interval("jackknife", level, value - half, value + half, flags=flags)
    return Estimate(name, value, (interval,), n, k, details={"clusters": clusters})


def _of(sums: Floats) -> Floats:
    """(m,) ratios of (4, m) sums."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = sums[0] / sums[1]
        second = np.where(sums[3] > 0, sums[2] / np.where(sums[3] > 0, sums[3], 1.0), 0.0)
    return np.asarray(first - second)


def failed_by(positions: Any, lengths: Any) -> Floats:
    r"""Share of conversations that have failed by each position, some of which end before it.

    The product-limit estimate: of those that have not failed yet and go on, the share that fails at
    each position.

    Parameters
    ----------
    positions : array-like, shape (n,)
        First failing position from 1, 0 where it never fails, NaN where missing.
    lengths : array-like, shape (n,)
        Positions in each conversation.

    Returns
    -------
    (T,) array
        For positions 1 to the longest; NaN from where nobody is left.

    Raises
    ------
    StatisticsError
        Shapes that do not fit, a position beyond its length or below 0.

    References
    ----------
    Kaplan and Meier 1958, J. Am. Stat. Assoc. 53, 457-481.

    Examples
    --------
    >>> failed_by([1, 2, 0, 0], [2, 2, 2, 1]).tolist()
    [0.25, 0.625]
    """
    own, _, ends = _checked(positions, np.empty((0, np.size(positions))), lengths)
    longest = int(ends.max()) if ends.size else 0
    there = ~np.isnan(own)
    own, ends = own[there], ends[there]
    left = np.where(own == 0, ends, own)
    shares, survived = np.full(longest, np.nan), 1.0
    for at in range(1, longest + 1):
        risk = int((left >= at).sum())
        if not risk:
            break
        survived *= 1 - int((own == at).sum()) / risk
        shares[at - 1] = 1 - survived
    return shares
