"""From ratings to a coefficient of Gwet's family."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats._chance_corrected import CountTable, estimate
from voirdire.stats._intervals import check_level, methods
from voirdire.stats._patterns import collapse
from voirdire.stats._weights import disagreement

if TYPE_CHECKING:
    from voirdire.stats._ratings import Ratings
    from voirdire.stats._results import Estimate
    from voirdire.stats._weights import Weights


def coefficient(
    ratings: Ratings,
    kind: str,
    name: str,
    weights: Weights,
    interval: dict[str, Any],
    *,
    pooled: bool = False,
) -> Estimate:
    """Estimate, intervals and what was left out."""
    asked = methods(interval["ci"], ("t", "jackknife", "percentile"))
    check_level(interval["level"], interval["n_resamples"])
    table = count_table(ratings, kind, weights, pooled=pooled)
    rest = {key: interval[key] for key in ("level", "n_resamples", "seed")}
    whole = estimate(table, name, asked, **rest)
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
    patterns = collapse(ratings.codes, q).keep(2 if pooled else 1)
    return CountTable(patterns.table(q), patterns.counts, (v + v.T) / 2, kind, pooled)


def positions(ratings: Ratings) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Where the levels stand: their values, or their places where they are words."""
    if ratings.levels.dtype.kind in "biuf":
        return ratings.levels.astype(np.float64)
    return np.arange(len(ratings.levels), dtype=np.float64)
