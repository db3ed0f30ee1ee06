"""How far two raters agree on which of two responses is preferred."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire._errors import StatisticsError
from voirdire.stats._arrays import numbers
from voirdire.stats._clusters import comparisons, resampled
from voirdire.stats._intervals import check_level, methods, percentile_interval
from voirdire.stats._results import Estimate, Result
from voirdire.stats.agreement import joint_agreement
from voirdire.stats.krippendorff import krippendorff_alpha

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


#: An expected disagreement below this is rounding.
_STILL = 1e-12


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
    >>> found = preference_agreement([2, 1, 0, -1], [1, 2, 0, 1], list("xxyy"), ci=None)
    >>> found.winner.value, round(found.alpha.value, 3)
    (0.75, 0.3)

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability, section D. Davison, A. C.
    and Hinkley, D. V. (1997), 3.8 (whole items drawn). Wilson (1927), JASA 22, 209-212.
    """
    asked = methods(ci, ("wilson", "percentile"))
    check_level(level, n_resamples)
    x, y = (numbers(side, "scores") for side in (first, second))
    if x.shape != y.shape:
        raise StatisticsError(
            f"two raters need scores of the same comparisons, got {x.shape} and {y.shape}"
        )
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
        shares, values = (resampled(sums, f, n_resamples, seed) for f in (_share, _alpha))
        wins = (*wins, percentile_interval(shares, level, given.groups))
        alphas = (percentile_interval(values, level, given.groups),)
    left_out = given.left_out
    return PreferenceAgreement(
        dataclasses.replace(winner, statistic="same winner", intervals=wins, left_out=left_out),
        dataclasses.replace(alpha, intervals=alphas, left_out=left_out),
    )


def _share(sums: Floats) -> Floats:
    found: Floats = sums[:, 0] / sums[:, 4]
    return found


def _alpha(sums: Floats) -> Floats:
    """1 - D_o / D_e from sums over pairs; NaN where all scores are one."""
    _, gaps, total, squares, n = sums.T
    observed = gaps / n
    expected = 2 * (2 * n * squares - total**2) / (2 * n * (2 * n - 1))
    out = np.full(len(sums), np.nan)
    np.divide(observed, expected, out=out, where=expected > _STILL)
    found: Floats = 1 - out
    return found
