"""Pairs of systems that humans hold apart and a judge puts the other way round.

A thousand systems are half a million pairs, each with errors of its own over the clusters. Sums of
squares and products settle nearly all of them, in blocks; what lies near a bound, and what is
shown, is computed by leaving out each cluster (`tests/reference/pairs.py` does so of all pairs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._results import Result
from voirdire.stats.sums import above_t, jackknife, quantile, weighted_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.system_means import Means

    Places = NDArray[np.intp]
    Mask = NDArray[np.bool_]

#: How surely one pair is tested; no is corrected for their number.
_SURE = 0.975
#: Systems whose pairs are looked at together, and pairs that are computed one by one at a time.
_BLOCK, _CHUNK = 128, 10_000
#: Squares that are that much smaller than their parts are lost by subtraction; what is nearer than
#: that to a bound is computed one by one, and so are ties.
_LOST, _NEAR, _TIED = 1e-6, 1e-7, 1e-9
#: Reversed pairs are shown before unclear ones, and these before clear ones.
_APART = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class TurnedPairs(Result):
    """What the pairs of systems say of a judge's order.

    Attributes
    ----------
    reversed, unclear : int
        Pairs that are shown to be reversed, and pairs that are not shown not to be.
    p : float
        Of the least clear pair: twice the smaller of its two, which may be above 1.
    ahead, behind : int
        The pair to show, the system that humans put ahead first: a reversed one, else an unclear
        one, else a clear one; among equals the one that the judge turns most.
    human, judge : float
        How far each holds that pair apart.
    df : float
        Degrees of freedom of all errors.
    """

    reversed: int
    unclear: int
    p: float
    ahead: int
    behind: int
    human: float
    judge: float
    df: float

    def __str__(self) -> str:
        """How many are reversed and unclear."""
        return f"{self.reversed} pairs reversed, {self.unclear} unclear"


@dataclass(frozen=True, slots=True, eq=False)
class _PairBlock:
    """How far humans and judge hold pairs apart, humans' first system ahead, and the errors."""

    human: Floats
    judge: Floats
    human_error: Floats
    judge_error: Floats

    @classmethod
    def of(
        cls, human: Floats, judge: Floats, human_error: Floats, judge_error: Floats
    ) -> tuple[_PairBlock, Floats]:
        """The same, whichever system is ahead, and -1 where that is the second."""
        flip = np.where(human < 0, -1.0, 1.0)
        return cls(human * flip, judge * flip, human_error, judge_error), flip

    def reversed(self, margin: float, far: float, slack: float = 0.0) -> Mask:
        """Shown to be reversed; a slack above 0 asks for less."""
        held_apart = self.human - far * self.human_error > margin - slack
        return held_apart & (self.judge + far * self.judge_error < slack)

    def clear(self, wide: float, near: float, slack: float = 0.0) -> Mask:
        """Shown not to be reversed: not that far apart, or the judge agrees; and the mirror."""
        human, judge = near * self.human_error, near * self.judge_error
        return ((self.human + human <= wide + slack) | (self.judge - judge >= -slack)) & (
            (self.human - human >= -wide - slack) | (self.judge + judge <= slack)
        )

    def steps(self, wide: float) -> Floats:
        """How many errors a pair is clear by, for the better of the two reasons."""
        near = (wide - self.human) / np.maximum(self.human_error, 1e-12)
        return np.maximum(near, self.judge / np.maximum(self.judge_error, 1e-12))


def turned_pairs(observed: Means, margin: float) -> TurnedPairs:
    """Pairs that humans hold apart by more than the margin, and the judge the other way.

    Whether a pair is clear is asked of pairs twice as far apart: one at the margin is neither shown
    to be reversed nor not.

    Parameters
    ----------
    observed : Means
        Means of two systems or more, with all data and without each cluster.
    margin : float
        On the scale of the scores, 0 or more.

    Returns
    -------
    TurnedPairs
        As of each pair by leaving out each cluster.

    Examples
    --------
    >>> from voirdire.stats.response_panel import ResponsePanel
    >>> from voirdire.stats.system_means import Means
    >>> scores = np.array([1.0, 2, 5, 4, 2, 1, 5, 5])
    >>> panel = ResponsePanel.of(6 - scores, scores, systems=[0, 0, 1, 1, 0, 0, 1, 1])
    >>> print(turned_pairs(Means.of(panel), 0.2))
    1 pairs reversed, 1 unclear

    References
    ----------
    The project's own (VERDICT.md, order of systems).
    """
    count, wide = len(observed.human), 2 * margin
    clusters = len(observed.human_out) if observed.weight is None else observed.weight.sum()
    df = round(float(clusters)) - 1
    # Any pair that is reversed is a no, so that no is corrected for the number of pairs; yes asks
    # it of all, and needs no correction.
    near, far = quantile(_SURE, df), quantile(1 - (1 - _SURE) / (count * (count - 1) / 2), df)
    sides = (
        _OneSide.of(observed.human, observed.human_out, observed.weight),
        _OneSide.of(observed.judge, observed.judge_out, observed.weight),
    )
    reversed_, unclear, slack = 0, 0, _NEAR * (1 + margin)
    unsettled: list[Places] = [np.empty(0, np.intp)]
    shown, least_clear = _Lowest(), _Lowest()
    for start in range(0, count, _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, count))
        pairs, lost = _block(*sides, rows)
        turned, most_turned = (pairs.reversed(margin, far, by) for by in (-slack, slack))
        unlike, clear = (pairs.clear(wide, near, by) for by in (-slack, slack))
        settled = ~lost & (turned == most_turned) & (unlike == clear)
        later = np.arange(count) > rows[:, None]
        places = rows[:, None] * count + np.arange(count)
        unsettled.append(places[later & ~settled])
        settled &= later
        reversed_ += int((settled & turned).sum())
        unclear += int((settled & ~clear).sum())
        shown.take(places[settled], (_rank(turned, clear) + pairs.judge)[settled])
        least_clear.take(places[settled], pairs.steps(wide)[settled])
    near_ones = np.concatenate(unsettled)
    places = np.unique(np.concatenate([near_ones, *shown.kept, *least_clear.kept]))
    pairs, flip = _one_by_one(observed, *np.divmod(places, count))
    turned, clear = pairs.reversed(margin, far), pairs.clear(wide, near)
    counted = np.isin(places, near_ones)
    k = int(np.argmin(_rank(turned, clear) + pairs.judge))
    ahead, behind = np.divmod(places[k], count)[:: 1 if flip[k] > 0 else -1]
    return TurnedPairs(
        reversed_ + int((counted & turned).sum()),
        unclear + int((counted & ~clear).sum()),
        # A pair is clear for either reason, and the two are tested: hence twice the smaller.
        float(2 * above_t(pairs.steps(wide).min(), df)),
        int(ahead),
        int(behind),
        float(pairs.human[k]),
        float(pairs.judge[k]),
        df,
    )


def _rank(turned: Mask, clear: Mask) -> Floats:
    return np.where(turned, -_APART, np.where(clear, _APART, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class _OneSide:
    """Means of systems on one side, and by how much each cluster moves them.

    `off` (G, S) is centred and scaled, so that its squares (S,) sum to squared errors.
    """

    at: Floats
    off: Floats
    square: Floats

    @classmethod
    def of(cls, whole: Floats, out: Floats, weight: Floats | None) -> _OneSide:
        """From means with all data and without each cluster."""
        share = np.ones(len(out)) if weight is None else weight
        units = round(float(share.sum()))
        off = out - whole
        centre = weighted_mean(off, weight)
        off = np.sqrt((units - 1) * share / share.sum())[:, None] * (off - centre)
        return cls(whole - (units - 1) * centre, off, (off**2).sum(axis=0))


def _block(human: _OneSide, judge: _OneSide, rows: Places) -> tuple[_PairBlock, Mask]:
    """These systems beside all, and where subtraction loses an error or a sign."""
    apart, errors, lost = [], [], np.zeros((len(rows), len(human.at)), np.bool_)
    for side in (human, judge):
        together = side.square[rows, None] + side.square
        square = together - 2 * (side.off[:, rows].T @ side.off)
        apart.append(side.at[rows, None] - side.at)
        errors.append(np.sqrt(np.maximum(square, 0.0)))
        lost |= ~(square > _LOST * together)
    # Which of two systems that humans rate alike is ahead, rounding says: that of one by one.
    lost |= np.abs(apart[0]) < _TIED
    return _PairBlock.of(*apart, *errors)[0], lost


def _one_by_one(observed: Means, a: Places, b: Places) -> tuple[_PairBlock, Floats]:
    """These pairs by leaving out each cluster, and -1 where humans put the second ahead."""
    found: list[list[Floats]] = [[], [], [], []]
    for start in range(0, len(a), _CHUNK):
        first, second = a[start : start + _CHUNK], b[start : start + _CHUNK]
        sides = ((observed.human, observed.human_out), (observed.judge, observed.judge_out))
        for side, (whole, out) in enumerate(sides):
            apart, without = (means[..., first] - means[..., second] for means in (whole, out))
            jackknifed = jackknife(apart, without, weight=observed.weight)
            found[side].append(np.asarray(jackknifed.at))
            found[side + 2].append(np.asarray(jackknifed.se))
    return _PairBlock.of(*(np.concatenate(parts) for parts in found))


class _Lowest:
    """Places of the lowest values so far, those included that rounding may have put higher."""

    def __init__(self) -> None:
        self.least, self.kept = np.inf, [np.empty(0, np.intp)]

    def take(self, places: Places, values: Floats) -> None:
        """Values of more places."""
        if not len(values):
            return
        least = float(values.min())
        if least < self.least - _rounding(self.least):
            self.kept.clear()
        self.least = min(self.least, least)
        near = values <= self.least + _rounding(self.least)
        self.kept.append(places[near][:_CHUNK])


def _rounding(value: float) -> float:
    return 1e-6 * max(abs(value), 1.0) if abs(value) < _APART / 2 else 1e-6
