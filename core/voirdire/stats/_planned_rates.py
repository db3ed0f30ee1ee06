"""How many labels a corrected pass rate needs: the width that strata would give, from a pilot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voirdire.stats._powered import Columns, counted, with_stand_ins
from voirdire.stats._stratified import (
    PRIOR,
    design_effect,
    posterior_points,
    rate_variance,
    strata_of,
)
from voirdire.stats.decisions import smallest
from voirdire.stats.sums import quantile

if TYPE_CHECKING:
    from typing import Any

    from voirdire.stats._arrays import Floats

#: Rates that the pilot leaves possible, and samples of labels for each, of a planned width.
_POSSIBLE, _SEED = 400, 1


@dataclass(frozen=True, slots=True)
class RatePlan:
    """A pilot on a scale of 0 to 1: what the judge says, and how labels pass within it.

    Attributes
    ----------
    shares : (S,) float64
        Of the judged rows, by stratum.
    passed, failed : (S,) float64
        Labels and pseudo-labels of the pilot.
    effect : float
        By how much clusters widen the variance; 1 without them.
    judged : float
        Rows that will have a judge score.
    clusters : int
        Labelled clusters of the pilot; 0 where rows are their own clusters.
    each : float
        Labels in each of them.
    """

    shares: Floats
    passed: Floats
    failed: Floats
    effect: float
    judged: float
    clusters: int = 0
    each: float = 1.0

    @classmethod
    def of(cls, y: Floats, f: Floats, group: Any, judged: float, *, clustered: bool) -> RatePlan:
        """From labels on 0 to 1 (NaN where there is none), the judge's scores and cluster codes."""
        known, scored = ~np.isnan(y), ~np.isnan(f)
        strata = strata_of(f, scored, int(known.sum()))
        k = int(strata.max(initial=0)) + 1
        passed, failed = (
            np.asarray(np.bincount(strata[known], weights=part, minlength=k), dtype=np.float64)
            + PRIOR / max(k, 2)
            for part in (y[known], 1 - y[known])
        )
        effect = 1.0
        if clustered:
            rows = np.arange(len(y))
            columns = Columns(
                y,
                with_stand_ins(f, scored),
                scored,
                counted(group),
                rows,
                np.zeros(len(y), np.intp),
                1,
                None,
                (0.0, 1.0),
                clustered=True,
            )
            effect = design_effect(columns)
        shares = np.bincount(strata, minlength=k) / len(strata)
        units = len(np.unique(group[known])) if clustered else 0
        each = float(known.sum()) / max(units, 1) if clustered else 1.0
        return cls(shares, passed, failed, effect, judged, units, each)

    @property
    def alone(self) -> RatePlan:
        """The same were there no judge: one stratum."""
        one = np.ones(1)
        passed, failed = (np.full(1, float(part.sum())) for part in (self.passed, self.failed))
        return RatePlan(one, passed, failed, self.effect, math.inf, self.clusters, self.each)

    def half_width(self, labels: float, level: float) -> float:
        """Half of the interval that so many labels give, if they come as the pilot's rates say."""
        rates = self.passed / (self.passed + self.failed)
        # Clusters make labels count as fewer.
        n = self._shared(labels / self.effect)
        prior = PRIOR / max(len(rates), 2)
        points = posterior_points(n * rates + prior, n * (1 - rates) + prior, self.shares)
        low, high = np.quantile(points, [0.5 - level / 2, 0.5 + level / 2])
        seen = (n * rates + prior) / (n + 2 * prior)
        variance = float(self._within(seen, n, prior) + self._between(rates))
        half = float(high - low) / 2 * math.sqrt(variance / float(points.var()))
        if not self.clusters:
            return half
        # As the interval does: the variance of few clusters is itself uncertain.
        share = 0.5 + level / 2
        return half * quantile(share, self._fewer(labels)) / quantile(share, math.inf)

    def widths(self, labels: float, level: float) -> Floats:
        """(D,) half widths that so many labels may give: the pilot's rates are uncertain, and the
        labels drawn are so as well.
        """
        chance = np.random.default_rng(_SEED)
        rates = chance.beta(self.passed, self.failed, (_POSSIBLE, len(self.shares)))
        # How many labels fall into each stratum is chance as well.
        n = chance.multinomial(round(labels / self.effect), self.shares, _POSSIBLE)
        prior = PRIOR / max(len(self.shares), 2)
        of_seen = (chance.binomial(n, rates) + prior) / (n + 2 * prior)
        spread = np.sqrt(self._within(of_seen, n, prior) + self._between(of_seen))
        expected = self.passed / (self.passed + self.failed)
        even = self._shared(labels / self.effect)
        plain = math.sqrt(float(self._within(expected, even, prior) + self._between(expected)))
        found = np.asarray(spread / plain * self.half_width(labels, level))
        if self.clusters and self.each > 1:
            # How alike the labels of a cluster are is uncertain too: of the pilot's clusters, and
            # of those to come. What single labels add to that is counted above.
            more = self.each / (self.each - 1)
            for df, sign in ((self.clusters - 1, -0.5), (self._fewer(labels), 0.5)):
                found = found * (chance.chisquare(df * more, _POSSIBLE) / (df * more)) ** sign
        return found

    def labels(self, half_width: float, level: float, share: float | None = None) -> float:
        """The fewest labels that reach it; of `share` of the rates that the pilot leaves possible.

        Infinite where no number does.
        """

        def enough(n: int) -> bool:
            if share is None:
                return self.half_width(n, level) <= half_width
            return float(np.quantile(self.widths(n, level), share)) <= half_width

        least = smallest(enough, 4, 1 << 24)
        return math.inf if least is None else float(least)

    def _fewer(self, labels: float) -> float:
        """Clusters of so many labels, less one."""
        return max(labels / self.each - 1, 1.0)

    def _shared(self, labels: float) -> Floats:
        return np.asarray(labels * self.shares)

    def _within(self, rates: Floats, labels: Any, prior: float) -> Floats:
        """Variance of the labels' part, from so many labels in each stratum."""
        return np.asarray((self.shares**2 * rate_variance(rates, labels, 2 * prior)).sum(-1))

    def _between(self, rates: Floats) -> Floats | float:
        """What the judge's own shares leave to chance, over all judged rows."""
        if math.isinf(self.judged):
            return 0.0
        mean = (self.shares * rates).sum(-1, keepdims=True)
        parts = (self.shares * (rates - mean) ** 2).sum(-1) * self.effect / (self.judged + 1)
        return parts if rates.ndim > 1 else float(parts)
