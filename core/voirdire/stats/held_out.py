"""Pass and fail: a judge's sensitivity and specificity beside those of a held-out human."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._results import Estimate, Result
from voirdire.stats.response_panel import ResponsePanel, mean_present
from voirdire.stats.sums import ClusterSums, Jackknifed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voirdire.stats._arrays import Floats

#: Human verdicts of one kind by one human before its own rate counts.
_OWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class BesideHuman(Result):
    """A rate of the judge less that of a held-out human.

    Attributes
    ----------
    difference : Estimate
        P(judge passes given another human passes) less P(human passes given another does), or the
        same of failing.
    judge, human : float
        The two rates.
    between : float
        Standard deviation of the rate between humans, its own noise removed.
    n : float
        Human verdicts of that kind that they rest on.
    """

    difference: Estimate
    judge: float
    human: float
    between: float
    n: float

    def __str__(self) -> str:
        """Judge and human, and the difference."""
        return f"judge {self.judge:.3f}, held-out human {self.human:.3f}; {self.difference}"


def rates_beside_human(
    judge: Any,
    humans: Any,
    gate: float,
    *,
    items: Any = None,
    clusters: Any = None,
    level: float = 0.95,
) -> dict[str, BesideHuman]:
    """Sensitivity and specificity of a judge less those of a held-out human.

    Parameters
    ----------
    judge : array-like, shape (n,) or (n, runs)
        Scores; NaN is missing. Of several runs, the share that pass counts.
    humans : array-like, shape (n, humans)
        At least two.
    gate : float
        Scores at or above it pass.
    items, clusters : array-like, shape (n,), optional
        What is left out at a time (default: items, then responses).
    level : float
        Nominal coverage.

    Returns
    -------
    mapping
        ``"sensitivity"`` and ``"specificity"``; NaN with too_few_raters where no response has two
        humans of whom one passes (fails) it.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> humans = [[4, 5], [2, 3], [5, 4], [3, 4], [1, 2], [4, 4]]
    >>> rates = rates_beside_human([4, 2, 5, 4, 2, 3], humans, gate=4)
    >>> round(rates["sensitivity"].judge, 2), round(rates["sensitivity"].human, 2)
    (0.71, 0.86)

    References
    ----------
    The project's own, after the held-out human of Calderon, Reichart and Dror (2025); errors by
    leaving out clusters: Miller (1974), Biometrika 61, 1-15.
    """
    panel = ResponsePanel.of(judge, humans, items=items, clusters=clusters).passing(gate)
    kinds = (("sensitivity", True), ("specificity", False))
    return {name: _beside(name, panel, level, passes=passes) for name, passes in kinds}


def _beside(name: str, panel: ResponsePanel, level: float, *, passes: bool) -> BesideHuman:
    rates = Rates.of(panel, range(len(panel.humans)), passes=passes)
    if rates.n == 0:
        lacking = Estimate(name, math.nan, n=panel.n, k=2, reason="too_few_raters")
        return BesideHuman(lacking, math.nan, math.nan, math.nan, 0)
    off = rates.difference()
    made = Estimate(name, off.value, (off.interval(level),), panel.n, len(panel.humans))
    return BesideHuman(made, rates.judge, rates.human, rates.between, rates.n)


@dataclass(frozen=True, slots=True, eq=False)
class Rates(Result):
    """Sums by human and by cluster: what passes (fails), and what of it judge and human pass.

    Attributes
    ----------
    own : (R, 3) float64
        Judge's hits, the human's own hits, and the share of the other humans with that verdict.
    table : ClusterSums
        The same three summed over the humans, of clusters with such a verdict.
    """

    own: Floats
    table: ClusterSums

    @classmethod
    def of(cls, panel: ResponsePanel, humans: Sequence[int], *, passes: bool) -> Rates:
        """From a panel of 0 and 1 and the humans that count."""
        columns = beside_columns(panel, humans, passes=passes)
        own = np.stack([panel.by_cluster(one).total for one in columns])
        return cls(own, panel.by_cluster(columns.sum(axis=0), where=2))

    @property
    def n(self) -> float:
        """Verdicts of the other humans behind the rates."""
        return float(self.own[:, 2].sum())

    @property
    def judge(self) -> float:
        """The judge's rate."""
        return float(self.own[:, 0].sum() / self.n)

    @property
    def human(self) -> float:
        """A held-out human's rate."""
        return float(self.own[:, 1].sum() / self.n)

    @property
    def between(self) -> float:
        """Standard deviation of the humans' own rates, less its noise."""
        kept = self.own[:, 2] >= _OWN
        rates = self.own[kept, 1] / self.own[kept, 2]
        if len(rates) < 2:
            return 0.0
        # Binomial noise of each rate: humans who are alike differ by it.
        noise = float(np.mean(rates * (1 - rates) / self.own[kept, 2]))
        return math.sqrt(max(float(rates.var(ddof=1)) - noise, 0.0))

    def difference(self) -> Jackknifed:
        """Judge's rate less the human's."""
        return self.table.jackknife(_difference)


def beside_columns(panel: ResponsePanel, humans: Sequence[int], *, passes: bool) -> Floats:
    """(R, N, 3) of `Rates`, a row a response; 0 where one of the three sides is missing."""
    judge = mean_present(panel.judge)
    there = ~np.isnan(panel.humans)
    passed = np.where(there, panel.humans, 0.0)
    n, total = (part[list(humans)].sum(axis=0) for part in (there, passed))
    parts = []
    for human in humans:
        # The truth of a response is the share of the others who pass it, so that judge and human
        # are held against the same people.
        others = n - there[human]
        share = np.divide(
            total - passed[human], others, out=np.full(n.shape, np.nan), where=others > 0
        )
        own = panel.humans[human]
        kept = ~np.isnan(share) & ~np.isnan(own) & ~np.isnan(judge)
        # Failing is passing with the sides turned: one way for both rates.
        sides = (judge, own, share) if passes else (1 - judge, 1 - own, 1 - share)
        columns = np.stack([sides[0] * sides[2], sides[1] * sides[2], sides[2]], axis=1)
        parts.append(np.where(kept[:, None], columns, 0.0))
    return np.stack(parts)


def _difference(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        difference: Floats = (sums[..., 0] - sums[..., 1]) / sums[..., 2]
    return difference


def rate_against(panel: ResponsePanel, human: int, *, passes: bool) -> tuple[Jackknifed, int]:
    """P(judge passes given this human passes), or of failing, and the responses behind it."""
    columns = against_columns(panel, human, passes=passes)
    table = panel.by_cluster(columns, where=1)
    if not len(table):
        return Jackknifed(math.nan, math.nan, 0), 0
    return table.jackknife(_share), panel.size(np.asarray(columns[:, 1] > 0))


def against_columns(panel: ResponsePanel, human: int, *, passes: bool) -> Floats:
    """(N, 2): whether the judge says what this human says, and where the human passes (fails)."""
    judge = mean_present(panel.judge)
    kept = (panel.humans[human] == (1.0 if passes else 0.0)) & ~np.isnan(judge)
    hit = judge if passes else 1 - judge
    return np.stack([np.where(kept, hit, 0.0), kept * 1.0], axis=1)


def _share(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])
