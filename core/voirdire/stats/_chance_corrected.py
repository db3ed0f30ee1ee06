"""Gwet's family: agreement of count vectors against a chance that each coefficient defines.

All parts are kept as disagreement (one minus agreement), so that "no disagreement is possible" is
an exact zero and not a difference of rounded numbers.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats._patterns import collapse, of_counts, one_item_less, resampled_counts
from voirdire.stats._results import Estimate, Interval
from voirdire.stats._weights import disagreement
from voirdire.stats.intervals import (
    AskedIntervals,
    jackknife_interval,
    outside,
    percentile_interval,
    student_interval,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats._ratings import Ratings
    from voirdire.stats._weights import Weights


def coefficient(
    ratings: Ratings,
    kind: str,
    name: str,
    weights: Weights,
    asked: AskedIntervals,
    *,
    pooled: bool = False,
) -> Estimate:
    """Estimate, intervals and what was left out."""
    table = count_table(ratings, kind, weights, pooled=pooled)
    whole = estimate(table, name, asked)
    # An empty table has no pair either, but that there is no rating says more.
    reason = "no_data" if ratings.codes.size == 0 else whole.reason
    details = {**whole.details, "levels": ratings.levels}
    left_out = ratings.n - table.n
    return dataclasses.replace(
        whole, k=ratings.m, left_out=left_out, reason=reason, details=details
    )


def count_table(
    ratings: Ratings, kind: str, weights: Weights, *, pooled: bool = False
) -> CountTable:
    """Distinct count vectors of items that can be used, with weights between the levels."""
    q = len(ratings.levels)
    v = disagreement(weights, positions(ratings))
    # Gwet's shares of levels count items of a single rating too; pooled ratings are those in pairs.
    patterns = collapse(ratings.codes, q).keep(2 if pooled else 1)
    # A count vector does not know which rating came first, so a lopsided matrix counts by its mean.
    return CountTable(patterns.table(q), patterns.counts, (v + v.T) / 2, kind, pooled)


def positions(ratings: Ratings) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Where the levels stand: their values, or their places where they are words."""
    if ratings.levels.dtype.kind in "biuf":
        return ratings.levels.astype(np.float64)
    return np.arange(len(ratings.levels), dtype=np.float64)


#: Intervals that each of the coefficients has.
INTERVALS = ("t", "jackknife", "percentile")
FLEISS, AC, BRENNAN_PREDIGER = "fleiss", "ac", "brennan_prediger"


@dataclass(frozen=True, slots=True)
class CountTable:
    """Distinct count vectors with one rating or more.

    Attributes
    ----------
    ratings : (p, q) float64
        Ratings of each vector in each category.
    counts : (p,) int64
        Items that show the vector.
    disagreement : (q, q) float64
        Weights in [0, 1], zero on the diagonal, symmetric.
    kind : str
        Whose chance: `FLEISS`, `AC` or `BRENNAN_PREDIGER`.
    pooled : bool
        Whether an item counts by its ratings (pooled) or once (Gwet).
    """

    ratings: Floats
    counts: NDArray[np.int64]
    disagreement: Floats
    kind: str
    pooled: bool = False

    @property
    def sizes(self) -> Floats:
        """Ratings of each vector."""
        totals: Floats = self.ratings.sum(axis=1)
        return totals

    @property
    def n(self) -> int:
        """Items."""
        return int(self.counts.sum())

    def features(self) -> Floats:
        """Per vector: disagreement of its pairs, its weight in that, its shares, their weight."""
        size = self.sizes
        pairs = size * (size - 1)
        # The weights are 0 on the diagonal, so that no rating is paired with itself.
        clash = np.einsum("pc,ck,pk->p", self.ratings, self.disagreement, self.ratings)
        own = np.divide(clash, pairs, out=np.zeros_like(size), where=pairs > 0)
        pairable = (pairs > 0).astype(np.float64)
        if self.pooled:
            return np.column_stack([own * size, size * pairable, self.ratings, size])
        return np.column_stack([own, pairable, self.ratings / size[:, None], np.ones_like(size)])

    def disagreements(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Observed and expected disagreement and shares, for each row of summed features."""
        observed = np.full(len(sums), np.nan)
        np.divide(sums[:, 0], sums[:, 1], out=observed, where=sums[:, 1] > 0)
        shares = sums[:, 2:-1] / sums[:, -1:]
        return observed, self._expected(shares), shares

    def _expected(self, shares: Floats) -> Floats:
        v, q = self.disagreement, shares.shape[1]
        # Two ratings drawn from the shares of all ratings.
        if self.kind == FLEISS:
            expected: Floats = np.einsum("bc,ck,bk->b", shares, v, shares)
            return expected
        if self.kind == AC:
            # Gwet's factor T_w / (q (q - 1)); T_w sums the agreement weights 1 - v. One level alone
            # leaves nothing to disagree on.
            scale = (q * q - v.sum()) / (q * (q - 1)) if q > 1 else 1.0
            certain = 1.0 if q > 1 else 0.0
            return certain - scale * (shares * (1 - shares)).sum(axis=1)
        # Brennan and Prediger: every declared level is as likely as any other.
        return np.full(len(shares), v.sum() / (q * q))


def estimate(table: CountTable, name: str, asked: AskedIntervals) -> Estimate:
    """The coefficient with its non-null standard error and the intervals asked for."""
    reason = undefined(table)
    parts = point(table) if table.n else (math.nan, math.nan, np.full(table.ratings.shape[1], 0.0))
    observed, expected, shares = parts
    value = math.nan if reason else 1 - observed / expected
    se = math.nan if reason else standard_error(influence(table), table)
    intervals: list[Interval] = []
    for method in asked:
        if method == "t":
            intervals.append(student_interval(value, se, table.n - 1, asked.level))
        elif method == "jackknife":
            left = np.full(len(table.counts), math.nan) if reason else one_left_out(table)
            intervals.append(
                jackknife_interval(value, left, table.counts, asked.level, worst(table))
            )
        else:
            drawn = np.array([]) if reason else resampled(table, asked)
            intervals.append(percentile_interval(drawn, asked.level, table.n))
    details: dict[str, Any] = {
        "agreement": 1 - observed,
        "expected_agreement": 1 - expected,
        "se": se,
        "prevalence": shares,
        "pairable_items": int(table.counts[table.sizes > 1].sum()),
    }
    flags = outside(value)
    return Estimate(
        name, value, tuple(intervals), table.n, reason=reason, flags=flags, details=details
    )


def undefined(table: CountTable) -> str | None:
    """Why the coefficient is undefined; decided on counts."""
    # All on counts and never on a computed 0, which sums of shares may miss by a rounding.
    if not (table.counts[table.sizes > 1] > 0).any():
        return "no_pairable_item"
    if table.kind == FLEISS:
        used = table.ratings.any(axis=0)
        certain = not table.disagreement[np.ix_(used, used)].any()
        return "zero_expected_disagreement" if certain else None
    if table.ratings.shape[1] == 1:
        return "one_category_declared"
    return None if table.disagreement.any() else "zero_expected_disagreement"


def point(table: CountTable) -> tuple[float, float, Floats]:
    """Observed and expected disagreement, and the share of each category."""
    sums = table.counts.astype(np.float64) @ table.features()
    observed, expected, shares = table.disagreements(sums[None])
    return float(observed[0]), float(expected[0]), shares[0]


def influence(table: CountTable) -> Floats:
    """What each count vector adds to the coefficient, linearised, less the coefficient.

    Gwet (2014), chapter 5, for items that count once; the delta method for pooled ratings.
    """
    observed, expected, shares = point(table)
    value = 1 - observed / expected
    if table.pooled:
        return _pooled_influence(table, observed, expected, shares)
    features, n = table.features(), table.n
    own, pairable, mix = features[:, 0], features[:, 1] > 0, features[:, 2:-1]
    # Items of a single rating say something of the shares and nothing of agreement: hence n over
    # the items with pairs.
    n_pairable = table.counts[pairable].sum()
    direct = np.where(pairable, n / n_pairable * (expected - own) / expected, 0.0)
    return direct - _chance_influence(table, mix, shares) * (1 - value) / expected - value


def _chance_influence(table: CountTable, mix: Floats, shares: Floats) -> Floats:
    """Twice the deviation of each vector's own chance agreement from the overall one."""
    v, q = table.disagreement, len(shares)
    if table.kind == FLEISS:
        return 2 * (float(shares @ v @ shares) - mix @ (v @ shares))
    if table.kind == AC:
        scale = (q * q - v.sum()) / (q * (q - 1))
        return 2 * scale * (mix @ (1 - shares) - float(shares @ (1 - shares)))
    return np.zeros(len(mix))


def _pooled_influence(
    table: CountTable, observed: float, expected: float, shares: Floats
) -> Floats:
    features, n = table.features(), table.n
    weight = features[:, 1]
    scale = n / float(table.counts @ weight)
    # Observed and expected disagreement are both quotients of sums: the delta method of each.
    d_observed = scale * (features[:, 0] - weight * observed)
    d_shares = scale * (table.ratings - weight[:, None] * shares)
    d_expected = 2 * d_shares @ (table.disagreement @ shares)
    return -d_observed / expected + observed * d_expected / expected**2


def standard_error(parts: Floats, table: CountTable) -> float:
    """Root of the variance of a mean of linearised contributions."""
    n = table.n
    return math.sqrt(float(table.counts @ parts**2) / (n * (n - 1))) if n > 1 else math.nan


def worst(table: CountTable) -> float:
    """The fall of the coefficient from 1 if every two ratings of an item differed at most."""
    expected = point(table)[1] if table.n else math.nan
    return float(table.disagreement.max(initial=0.0)) / expected if expected else math.nan


def one_left_out(table: CountTable) -> Floats:
    """The coefficient without one item of each vector; NaN where it is undefined then."""
    return of_counts(partial(coefficients, table), table.features(), one_item_less(table.counts))


def resampled(table: CountTable, asked: AskedIntervals) -> Floats:
    """The coefficient of each bootstrap resample over items; NaN where undefined."""
    blocks = resampled_counts(table.counts, asked.n_resamples, asked.seed)
    return of_counts(partial(coefficients, table), table.features(), blocks)


def coefficients(table: CountTable, sums: Floats) -> Floats:
    """The coefficient for each row of summed features; NaN where undefined."""
    observed, expected, _ = table.disagreements(sums)
    # A resample in which one level is left has no expected disagreement, and no coefficient.
    ratio = np.full(len(sums), np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0)
    return 1 - ratio
