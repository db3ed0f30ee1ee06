"""Several judges as one, and whether that is worth its price."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, numbers, occurring, row_names
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.combining import MOST_LEVELS, member_scores
from voirdire.stats.intervals import student_interval
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import cluster_jackknife

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Items below which nothing is said of a gain.
_FEWEST = 10
_STILL = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class JuryWorth(Result):
    """A jury beside its members, all held against the humans on items that did not shape them.

    Attributes
    ----------
    members : int
        Members that scored anything.
    error_correlation : float
        Mean correlation of two members' errors: of being wrong (0 or 1) where scores are labels,
        of the difference from the humans else.
    votes : float
        Independent members that the jury is worth: the mean variance of the members' errors over
        that of their mean's. With `humans` the humans' noise is removed; NaN where that is not
        known, of which `votes_low` has more; else the reference is taken as right. NaN where errors
        cancel out.
    jury, single, mean : float
        Share of the humans' variance explained (squared correlation) by the jury, by the best
        member chosen on the other folds, and by the plain mean.
    over_single, over_mean : Estimate
        What the jury explains more; cluster jackknife. Which member is best is taken as chosen:
        where several are equally good, the interval of `over_single` is too short.
    agreement, single_agreement : float
        Share of items on which jury and best member say what the humans say; NaN for fine scales.
        No answer (a tied vote, an abstention) stays in the denominator; items whose humans lie
        halfway between two levels are left out.
    over_single_agreement : Estimate
        Their difference.
    chosen : tuple of int
        The best member as chosen for each fold.
    n, n_clusters : int
        Items with humans, jury and best member; clusters (items where none are declared).
    reason : str or None
        A key of `REASONS`.
    votes_low, votes_high : float
        Between which the votes lie, where the humans' noise is not known: with one human, and with
        several who share less than the members explain of them. NaN where `votes` are told, and
        where the errors cancel out.
    """

    members: int
    error_correlation: float
    votes: float
    jury: float
    single: float
    mean: float
    over_single: Estimate
    over_mean: Estimate
    agreement: float
    single_agreement: float
    over_single_agreement: Estimate
    chosen: tuple[int, ...]
    n: int
    n_clusters: int
    reason: str | None = None
    votes_low: float = math.nan
    votes_high: float = math.nan

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.members} members {self.worth_in_votes}; explains {self.jury:.3f}, the "
            f"best member {self.single:.3f}, the plain mean {self.mean:.3f}, n = {self.n}"
        )

    @property
    def worth_in_votes(self) -> str:
        """How many votes, between which, or that it cannot be told."""
        if math.isfinite(self.votes):
            return f"worth {self.votes:.2f} votes"
        if math.isfinite(self.votes_low):
            return f"worth {self.votes_low:.2f} to {self.votes_high:.2f} votes"
        return "whose votes cannot be told"


def jury_worth(
    members: Any,
    jury: Any,
    reference: Any,
    *,
    humans: Any = None,
    clusters: Any = None,
    folds: int = 5,
    level: float = 0.95,
) -> JuryWorth:
    """Whether a jury beats its best member, chosen on other items, and the plain mean.

    Parameters
    ----------
    members : array-like, shape (k, N)
        The members' scores; NaN where one abstained.
    jury : array-like, shape (N,)
        The jury's scores, such as `combine` gives.
    reference : array-like, shape (N,)
        The mean human score; NaN where nobody was asked.
    humans : array-like, shape (R, N), optional
        Each human's scores, of which the votes are computed; see `error_votes`.
    clusters : array-like, shape (N,), optional
        What is resampled, and stays in one fold; items by themselves by default.
    folds : int
    level : float
        Nominal coverage.

    Returns
    -------
    JuryWorth
        Reason too_few_raters with fewer than two members that scored, too_few_items with fewer
        than ten items that humans, jury and members scored.

    Raises
    ------
    StatisticsError
        Shapes that do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import combine, jury_worth
    >>> chance = np.random.default_rng(0)
    >>> truth = chance.normal(0, 1, 400)
    >>> members = [truth + chance.normal(0, 1, 400) for _ in range(4)]
    >>> worth = jury_worth(members, combine(members, "mean"), truth)
    >>> worth.jury > worth.single + 0.2, round(worth.votes, 1) > 3
    (True, True)

    References
    ----------
    Kish (1965), Survey Sampling, for the effective number; the comparison is ours.
    """
    scores, own = member_scores(members), numbers(jury, "jury")
    human = numbers(reference, "reference")
    if own.shape != human.shape or scores.shape[1] != len(human):
        raise StatisticsError(
            f"members, jury and reference differ in length: {scores.shape[1]}, {own.shape}, "
            f"{human.shape}"
        )
    names = np.arange(len(human))
    if clusters is not None:
        names = row_names(clusters, len(human), "clusters")
    alive = np.flatnonzero((~np.isnan(scores)).any(1))
    usable = ~np.isnan(human) & (~np.isnan(scores)).any(0)
    if len(alive) < 2 or (usable & ~np.isnan(own)).sum() < 2 * folds:
        reason = "too_few_raters" if len(alive) < 2 else "too_few_items"
        empty = Estimate("gain", math.nan, reason=reason)
        nan = math.nan
        return JuryWorth(
            len(alive), nan, nan, nan, nan, nan, empty, empty, nan, nan, empty, (),
            int((usable & ~np.isnan(own)).sum()), 0, reason,
        )  # fmt: skip
    worth = _worth(scores, alive, own, human, usable, names, folds, level)
    if humans is None:
        return worth
    votes, low, high = error_votes(scores[alive], humans)
    return replace(worth, votes=votes, votes_low=low, votes_high=high)


def error_votes(members: Any, humans: Any) -> tuple[float, float, float]:
    """How many independent members a jury is worth, or between which numbers.

    Members err about what the humans share. With C the covariances of the members, j those of each
    with a human and c that of two humans, errors have the covariances ``E = C - j - j' + c``, and
    votes are the mean of their variances over the variance of their mean: no rounding of a scale
    and no noise of a human counts for an error of the members.

    Parameters
    ----------
    members : array-like, shape (k, N)
        Scores on the humans' scale, NaN where missing; covariances are of what two share.
    humans : array-like, shape (R, N)
        Each human's scores.

    Returns
    -------
    (votes, low, high)
        With two humans or more the bounds are NaN. With one, c is not known: it lies between what
        all members together explain of the human and the human's variance, and votes between `low`
        and `high`, themselves NaN. So they are where several humans share nothing, or by chance
        less than the members explain of them. All are NaN where a variance is none: votes cannot be
        told.

    Examples
    --------
    >>> import numpy as np
    >>> chance = np.random.default_rng(0)
    >>> truth, common = chance.normal(0, 1, (2, 20_000))
    >>> members = truth + 0.5 * common + chance.normal(0, 0.5, (4, 20_000))
    >>> humans = truth + chance.normal(0, 1, (2, 20_000))
    >>> round(error_votes(members, humans)[0], 1)  # 0.5 / (0.25 + 0.25 / 4)
    1.6

    References
    ----------
    Kish (1965), Survey Sampling, for the effective number; errors in the measure of truth: Fuller
    (1987), Measurement Error Models, chapter 1.
    """
    scores, people = member_scores(members), member_scores(humans)
    beside = _covariances(scores, people)
    own = beside.mean(axis=1)
    errors = _covariances(scores, scores) - own[:, None] - own[None]
    between = _covariances(people, people)
    explained = float(own @ np.linalg.pinv(_covariances(scores, scores)) @ own)
    pairs = between[np.triu_indices(len(people), 1)]
    shared = float(pairs.mean()) if len(pairs) else math.nan
    # What is shared cannot be less than what is explained of it.
    if shared >= explained and math.isfinite(votes := _votes(errors + shared)):
        return votes, math.nan, math.nan
    most = max(float(np.diag(between).mean()), explained)
    low, high = (_votes(errors + shared) for shared in (most, explained))
    return (math.nan, low, high) if math.isfinite(high) else (math.nan, math.nan, math.nan)


def _votes(errors: Floats) -> float:
    """Mean variance over the variance of the mean; NaN where either is none."""
    mean, whole = float(np.diag(errors).mean()), float(errors.mean())
    return mean / whole if min(mean, whole) > _STILL else math.nan


def _covariances(a: Floats, b: Floats) -> Floats:
    """(k, m) covariances of rows, each pair on the columns that both have."""
    made = np.full((len(a), len(b)), math.nan)
    for x, first in enumerate(a):
        for y, second in enumerate(b):
            both = ~(np.isnan(first) | np.isnan(second))
            if both.sum() > 2:
                made[x, y] = np.cov(first[both], second[both])[0, 1]
    return made


@dataclass(frozen=True, slots=True, eq=False)
class ExplainedGain(Result):
    """Two raters beside each other, both held against the humans on the same items.

    Attributes
    ----------
    first, second : float
        Share of the humans' variance that each explains (squared correlation).
    gain : Estimate
        ``first - second``, with a cluster jackknife.
    n, n_clusters : int
        Items that both and the humans scored; clusters (items where none are declared).
    reason : str or None
        A key of `REASONS`.
    """

    first: float
    second: float
    gain: Estimate
    n: int
    n_clusters: int
    reason: str | None = None

    def __str__(self) -> str:
        """One line."""
        return f"explain {self.first:.3f} and {self.second:.3f}, n = {self.n}"


def explained_gain(
    first: Any, second: Any, reference: Any, *, clusters: Any = None, level: float = 0.95
) -> ExplainedGain:
    """How much more of the humans' variance one rater explains than another.

    Parameters
    ----------
    first, second : array-like, shape (N,)
        Scores; NaN where there is none.
    reference : array-like, shape (N,)
        The mean human score; NaN where nobody was asked.
    clusters : array-like, shape (N,), optional
        What is resampled; items by themselves by default.
    level : float
        Nominal coverage.

    Returns
    -------
    ExplainedGain
        Reason too_few_items with fewer than ten items that all three scored.

    Raises
    ------
    StatisticsError
        Shapes that do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import explained_gain
    >>> chance = np.random.default_rng(0)
    >>> truth = chance.normal(0, 1, 400)
    >>> near, far = (truth + chance.normal(0, noise, 400) for noise in (0.5, 2))
    >>> explained = explained_gain(near, far, truth)
    >>> round(explained.first, 1), round(explained.second, 1), explained.gain.interval().low > 0.4
    (0.8, 0.3, True)

    References
    ----------
    Cohen et al. (2003), Applied Multiple Regression, chapter 3, for shares of variance explained;
    the comparison is ours, with the jackknife of `jury_worth`.
    """
    x, z = numbers(first, "first"), numbers(second, "second")
    y = numbers(reference, "reference")
    if x.ndim != 1 or not x.shape == z.shape == y.shape:
        raise StatisticsError(f"scores and reference differ: {x.shape}, {z.shape}, {y.shape}")
    names = np.arange(len(y))
    if clusters is not None:
        names = row_names(clusters, len(y), "clusters")
    kept = ~(np.isnan(x) | np.isnan(z) | np.isnan(y))
    n = int(kept.sum())
    if n < _FEWEST:
        empty = Estimate("gain", math.nan, reason="too_few_items")
        return ExplainedGain(math.nan, math.nan, empty, n, 0, "too_few_items")
    unit = np.unique(names[kept], return_inverse=True)[1]
    columns = _columns((y[kept], x[kept], z[kept]), np.zeros(n, np.intp))
    shares = _explained(columns.sum(0))
    gain = _gain(columns, unit, 0, 1, level)
    return ExplainedGain(float(shares[0]), float(shares[1]), gain, n, int(unit.max()) + 1)


def _worth(
    scores: Floats,
    alive: NDArray[np.intp],
    own: Floats,
    human: Floats,
    usable: NDArray[np.bool_],
    names: NDArray[Any],
    folds: int,
    level: float,
) -> JuryWorth:
    unit = np.unique(names[usable], return_inverse=True)[1]
    y, x, mean = human[usable], own[usable], mean_present(scores)[usable]
    each = scores[:, usable]
    # Clusters, which are numbered in the order of their names, stay whole.
    fold = unit % folds
    # On the other folds: chosen on its own items, the best of several looks better than it is.
    chosen = tuple(_best(each, alive, y, fold != k) for k in range(folds))
    single = np.array([each[chosen[f], i] for i, f in enumerate(fold)])
    errors, k = _errors(each[alive], y), len(alive)
    correlation, votes = _error_correlation(errors), _votes(_covariances(errors, errors))
    # A tied vote is left out of a correlation, but is no answer where answers are counted:
    # items that split the members are the hard ones, and leaving them out would flatter the jury.
    right = [_right(x, y, each), _right(single, y, each)]
    agreement, of_single = (math.nan if one is None else float(np.nanmean(one)) for one in right)
    kept = ~np.isnan(single) & ~np.isnan(x)
    # All three on the same items, or a jury that answers the easy ones would win.
    columns = _columns(tuple(v[kept] for v in (y, x, single, mean)), fold[kept])
    explained = _explained(columns.sum(0))
    own_unit = np.unique(unit[kept], return_inverse=True)[1]
    return JuryWorth(
        k, correlation, votes, float(explained[0]), float(explained[1]), float(explained[2]),
        _gain(columns, own_unit, 0, 1, level), _gain(columns, own_unit, 0, 2, level), agreement,
        of_single, _agreement_gain(right, unit, level), chosen, int(kept.sum()),
        len(np.unique(own_unit)),
    )  # fmt: skip


def _columns(values: tuple[Floats, ...], fold: NDArray[np.intp]) -> Floats:
    """(n, 7) products of humans, jury, single and mean, each less its mean in the fold.

    Of humans and two raters (n, 5).
    """
    y, *others = (_within(v, fold) for v in values)
    return np.stack([y**2, *(c for v in others for c in (v * y, v**2))], 1)


def _explained(sums: Floats) -> Floats:
    """Squared correlations of jury, single and mean with the humans, from sums (..., 7)."""
    both, spread = sums[..., 1::2], sums[..., 2::2]
    with np.errstate(all="ignore"):
        # With its sign: a rater that runs against the humans explains nothing.
        shares = both * np.abs(both) / (spread * sums[..., :1])
    return np.where(spread > _STILL, np.maximum(shares, 0.0), 0.0)


def _gain(columns: Floats, unit: NDArray[np.intp], a: int, b: int, level: float) -> Estimate:
    jackknifed = cluster_jackknife(
        columns, unit, lambda sums: _explained(sums)[..., a] - _explained(sums)[..., b]
    )
    whole = _explained(columns.sum(0))
    return _estimate(
        float(whole[a] - whole[b]), float(jackknifed.se), jackknifed.df, level, len(columns)
    )


def _agreement_gain(right: list[Floats | None], unit: NDArray[np.intp], level: float) -> Estimate:
    first, second = right
    if first is None or second is None:
        return Estimate("gain", math.nan, reason="not_applicable")
    apart = first - second
    paired = ~np.isnan(apart)
    if paired.sum() < _FEWEST:
        return Estimate("gain", math.nan, reason="too_few_items")
    jackknifed = cluster_jackknife(
        np.stack([apart, np.ones(len(apart))], 1)[paired],
        np.unique(unit[paired], return_inverse=True)[1],
        lambda sums: sums[..., 0] / sums[..., 1],
    )
    return _estimate(
        float(apart[paired].mean()), float(jackknifed.se), jackknifed.df, level, int(paired.sum())
    )


def _estimate(value: float, se: float, df: float, level: float, n: int) -> Estimate:
    intervals: tuple[Interval, ...] = ()
    if math.isfinite(se) and df >= 1:
        intervals = (student_interval(value, se, df, level, "jackknife"),)
    return Estimate("gain", value, intervals, n=n, k=2)


def _best(each: Floats, alive: NDArray[np.intp], human: Floats, rows: NDArray[np.bool_]) -> int:
    """The member that explains most on some rows."""
    worth = []
    for member in alive:
        rated = rows & ~np.isnan(each[member])
        x, y = each[member][rated], human[rated]
        varies = len(x) > 2 and x.std() > _STILL and y.std() > _STILL
        # Below any correlation: who never varies is chosen last.
        worth.append(float(np.corrcoef(x, y)[0, 1]) if varies else -2.0)
    return int(alive[int(np.argmax(worth))])


def _within(values: Floats, fold: NDArray[np.intp]) -> Floats:
    """Less the mean of the fold: folds have different weights, whose levels say nothing."""
    mean = np.bincount(fold, weights=values) / np.maximum(np.bincount(fold), 1)
    return np.asarray(values - mean[fold])


def _errors(each: Floats, human: Floats) -> Floats:
    """(k, N) errors of members, the human being right; NaN where nobody says who is wrong."""
    # On labels an error is to be wrong. On fine scales nobody is ever right, and an error is a
    # distance.
    labels = len(occurring(each)) <= MOST_LEVELS
    if labels:
        levels = occurring(each)
        wrong = np.stack([_nearest(own, levels) != _nearest(human, levels) for own in each])
        between = _halfway(human, levels)  # nobody is wrong
        return np.where(np.isnan(each) | between, np.nan, wrong.astype(float))
    return each - human


def _error_correlation(errors: Floats) -> float:
    correlations = []
    for a in range(len(errors)):
        for b in range(a + 1, len(errors)):
            paired = ~np.isnan(errors[a]) & ~np.isnan(errors[b])
            x, y = errors[a][paired], errors[b][paired]
            if len(x) > 2 and x.std() > _STILL and y.std() > _STILL:
                correlations.append(np.corrcoef(x, y)[0, 1])
    return float(np.mean(correlations)) if correlations else math.nan


def _right(values: Floats, human: Floats, each: Floats) -> Floats | None:
    """Whether a score lies nearest to what the humans say, 1 or 0; None on fine scales.

    No score is 0. NaN where the humans lie halfway between two levels.
    """
    levels = occurring(each)
    if len(levels) > MOST_LEVELS:
        return None
    right = (_nearest(values, levels) == _nearest(human, levels)) & ~np.isnan(values)
    return np.where(_halfway(human, levels), np.nan, right.astype(np.float64))


def _halfway(human: Floats, levels: Floats) -> NDArray[np.bool_]:
    """Where the two nearest levels are equally near."""
    if len(levels) < 2:
        return np.zeros(len(human), np.bool_)
    near = np.sort(np.abs(human[:, None] - levels[None]), axis=1)
    return np.asarray(np.isclose(near[:, 0], near[:, 1]))


def _nearest(values: Floats, levels: Floats) -> NDArray[np.intp]:
    safe = np.where(np.isnan(values), levels[0], values)
    return np.asarray(np.abs(safe[:, None] - levels[None]).argmin(1))
