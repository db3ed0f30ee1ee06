"""Which of two responses is preferred: the mean, wins and losses, and how far raters agree."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, numbers
from voirdire.stats._clusters import GroupedScores, comparisons, mean_error, resampled
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.agreement import joint_agreement
from voirdire.stats.intervals import (
    AskedIntervals,
    percentile_interval,
    student_interval,
    wilson_interval,
)
from voirdire.stats.krippendorff import krippendorff_alpha

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

#: An expected disagreement below this is rounding.
_STILL = 1e-12


def mean_preference(
    scores: ArrayLike,
    items: ArrayLike | None = None,
    *,
    scale: float = 2,
    ci: str | Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Mean preference for the first system of a pair, on -scale .. scale; 0 is no preference.

    ``sum(scores) / n`` over comparisons; with items, the standard error is that of the sums of
    residuals within items.

    Parameters
    ----------
    scores : array_like, shape (n comparisons,)
        Above 0 prefers system a, below 0 system b, whichever was shown first. NaN is missing.
    items : array_like, shape (n comparisons,), optional
        What comparisons share (the item, where several raters or runs compare the same
        responses). Without it each comparison stands for itself.
    scale : float
        The largest preference that a score can say.
    ci : {None, "t", "percentile"} or several of them
        t over items with a cluster-robust standard error, or bootstrap of whole items.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    Estimate
        ``n`` comparisons; details: ``se`` and the number of ``items``. NaN with ``no_data``. Where
        no item lies off the mean, ``se`` and the t interval are NaN: no spread was seen.

    Raises
    ------
    StatisticsError
        For a score off the scale, or other shapes.

    References
    ----------
    Zhang et al., Table 6. Cameron, A. C. and Miller, D. L. (2015). Journal of Human Resources 50,
    317-372, eq. 11 (standard error of clusters).

    Examples
    --------
    >>> print(mean_preference([2, 1, 0, -1, 1, 1], ci="t"))
    mean preference = 0.667, 95% CI [-0.417, 1.751] (t), n = 6, k = 2
    """
    asked = AskedIntervals.of(ci, ("t", "percentile"), level, n_resamples, seed)
    given = comparisons(scores, items, scale)
    value = float(given.scores.mean()) if given.n else math.nan
    se = mean_error(given, given.scores)
    intervals: list[Interval] = []
    for method in asked:
        if method == "t":
            intervals.append(student_interval(value, se, given.groups - 1, level))
        else:
            drawn = resampled(_sums(given, given.scores), _mean, n_resamples, seed)
            intervals.append(percentile_interval(drawn, level, given.groups))
    return Estimate(
        "mean preference",
        value,
        tuple(intervals),
        given.n,
        2,
        given.left_out,
        None if given.n else "no_data",
        details={"se": se, "items": given.groups},
    )


@dataclass(frozen=True, slots=True, eq=False)
class WinTieLoss(Result):
    """How often system a wins, ties and loses: counts, and shares with intervals."""

    wins: int
    ties: int
    losses: int
    win: Estimate
    tie: Estimate
    loss: Estimate

    def __str__(self) -> str:
        """Counts, then the three shares, a line each."""
        counts = f"{self.wins} wins, {self.ties} ties, {self.losses} losses"
        return f"{counts}\n{self.win}\n{self.tie}\n{self.loss}"


def win_tie_loss(
    scores: ArrayLike,
    items: ArrayLike | None = None,
    *,
    scale: float = 2,
    ci: str | Sequence[str] | None = "wilson",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> WinTieLoss:
    """Shares of comparisons that system a wins (score above 0), ties and loses.

    Each share is ``count / n``.

    Parameters
    ----------
    scores, items, scale, level, n_resamples, seed
        As for `mean_preference`.
    ci : {None, "wilson", "percentile"} or several of them
        ``"wilson"`` takes each comparison for independent; with several comparisons an item use
        ``"percentile"``, a bootstrap of whole items.

    Returns
    -------
    WinTieLoss
        Shares are NaN with ``no_data`` where there is no comparison.

    Raises
    ------
    StatisticsError
        For a score off the scale, or ``"wilson"`` where items are given and repeat.

    Examples
    --------
    >>> outcome = win_tie_loss([2, 1, 0, -1, 1, 1])
    >>> outcome.wins, outcome.ties, outcome.losses
    (4, 1, 1)
    >>> print(outcome.win)
    share of wins = 0.667, 95% CI [0.300, 0.903] (wilson), n = 6, k = 2

    References
    ----------
    Wilson (1927), JASA 22, 209-212.
    """
    asked = AskedIntervals.of(ci, ("wilson", "percentile"), level, n_resamples, seed)
    given = comparisons(scores, items, scale)
    # Comparisons of one item are no independent shares.
    if "wilson" in asked and given.groups < given.n:
        raise StatisticsError(
            f"the Wilson interval needs independent comparisons, got {given.n} on {given.groups} "
            "items; use ci='percentile'"
        )
    outcome = np.sign(given.scores)
    parts = [_share(given, outcome == sign, name, asked) for sign, name in _OUTCOMES]
    wins, ties, losses = (int((outcome == sign).sum()) for sign, _ in _OUTCOMES)
    return WinTieLoss(wins, ties, losses, *parts)


_OUTCOMES = ((1, "wins"), (0, "ties"), (-1, "losses"))


def _share(
    given: GroupedScores,
    which: NDArray[np.bool_],
    name: str,
    asked: AskedIntervals,
) -> Estimate:
    value = float(which.mean()) if given.n else math.nan
    intervals: list[Interval] = []
    for method in asked:
        if method == "wilson":
            intervals.append(wilson_interval(value, given.n, asked.level))
        else:
            drawn = resampled(
                _sums(given, which.astype(np.float64)), _mean, asked.n_resamples, asked.seed
            )
            intervals.append(percentile_interval(drawn, asked.level, given.groups))
    reason = None if given.n else "no_data"
    return Estimate(f"share of {name}", value, tuple(intervals), given.n, 2, given.left_out, reason)


def _sums(given: GroupedScores, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return given.sums(np.column_stack([values, np.ones(given.n)]))


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = sums[:, 0] / sums[:, 1]
    return mean


@dataclass(frozen=True, slots=True, eq=False)
class PreferenceAgreement(Result):
    """The share of comparisons with the same winner, and Krippendorff's alpha of the scores."""

    winner: Estimate
    alpha: Estimate

    def __str__(self) -> str:
        """Both, a line each."""
        return f"{self.winner}\n{self.alpha}"


def preference_agreement(
    first: ArrayLike,
    second: ArrayLike,
    items: ArrayLike | None = None,
    *,
    ci: str | Sequence[str] | None = "percentile",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> PreferenceAgreement:
    """Agreement of two raters on the comparisons that both made.

    ``winner`` is the share on which both prefer the same system or both say a tie; ``alpha`` is
    `krippendorff_alpha` of the scores with the interval metric, ``1 - D_o / D_e``.

    Parameters
    ----------
    first, second : array_like, shape (n comparisons,)
        Scores, above 0 for system a of each pair. NaN is missing.
    items : array_like, shape (n comparisons,), optional
        What comparisons share: several systems that answer one item are compared with the same
        other response, and are drawn together.
    ci : {None, "wilson", "percentile"} or several of them
        ``"percentile"`` is a bootstrap of whole items. ``"wilson"`` is for the share alone, and
        takes comparisons for independent.
    level, n_resamples, seed
        Nominal coverage, resamples, and the seed of ``numpy.random.default_rng``.

    Returns
    -------
    PreferenceAgreement
        ``n`` comparisons that both made; NaN with a reason as the statistics themselves.

    Raises
    ------
    StatisticsError
        For other shapes, or ``"wilson"`` where items are given and repeat.

    Examples
    --------
    >>> agreement = preference_agreement([2, 1, 0, -1], [1, 2, 0, 1], list("xxyy"), ci=None)
    >>> agreement.winner.value, round(agreement.alpha.value, 3)
    (0.75, 0.3)

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability, section D. Davison, A. C.
    and Hinkley, D. V. (1997), 3.8 (whole items drawn). Wilson (1927), JASA 22, 209-212.
    """
    asked = AskedIntervals.of(ci, ("wilson", "percentile"), level, n_resamples, seed)
    x, y = (numbers(side, "scores") for side in (first, second))
    if x.shape != y.shape:
        raise StatisticsError(
            f"two raters need scores of the same comparisons, got {x.shape} and {y.shape}"
        )
    # The sum is missing where either is: one check for both raters.
    given = comparisons(x + y, items, math.inf)
    if "wilson" in asked and given.groups < given.n:
        raise StatisticsError(
            f"the Wilson interval needs independent comparisons, got {given.n} on {given.groups} "
            "items; use ci='percentile'"
        )
    x, y = x[given.kept], y[given.kept]
    signs = np.sign(np.column_stack([x, y]))
    alone = "wilson" if "wilson" in asked else None
    winner = joint_agreement(signs, levels=[-1, 0, 1], ci=alone, level=level)
    alpha = krippendorff_alpha(np.column_stack([x, y]), "interval")
    wins, alphas = winner.intervals, alpha.intervals
    if "percentile" in asked:
        columns = [signs[:, 0] == signs[:, 1], (x - y) ** 2, x + y, x**2 + y**2, np.ones(given.n)]
        sums = given.sums(np.column_stack(columns).astype(np.float64))
        shares, values = (resampled(sums, f, n_resamples, seed) for f in (_quotients, _alpha))
        wins = (*wins, percentile_interval(shares, level, given.groups))
        alphas = (percentile_interval(values, level, given.groups),)
    left_out = given.left_out
    return PreferenceAgreement(
        dataclasses.replace(winner, statistic="same winner", intervals=wins, left_out=left_out),
        dataclasses.replace(alpha, intervals=alphas, left_out=left_out),
    )


def _quotients(sums: Floats) -> Floats:
    quotients: Floats = sums[:, 0] / sums[:, 4]
    return quotients


def _alpha(sums: Floats) -> Floats:
    """1 - D_o / D_e from sums over pairs; NaN where all scores are one."""
    _, gaps, total, squares, n = sums.T
    observed = gaps / n
    # 2 n scores of n pairs, drawn two at a time without replacement.
    expected = 2 * (2 * n * squares - total**2) / (2 * n * (2 * n - 1))
    out = np.full(len(sums), np.nan)
    np.divide(observed, expected, out=out, where=expected > _STILL)
    alpha: Floats = 1 - out
    return alpha
