"""Probabilities held against what humans say: calibration, skill, and what may be released."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._results import Result
from voirdire.stats.effective import (
    design_effect,
    effective_labels,
    share_tails,
    tails_by_cluster,
)
from voirdire.stats.response_panel import mean_present
from voirdire.stats.sums import ClusterSums, Jackknifed, means_of, summed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

#: Probabilities are cut to this distance from 0 and 1 before their logits are taken.
CUT = 0.01
#: Newton's steps; the likelihood is concave, and six are many.
_STEPS = 25
#: A standard deviation of logits below this is none.
_FLAT = 1e-6
#: What is left of a row's own say once it is left out, at least.
_LEAST_LEFT = 0.3
#: Bins of the expected calibration error, and draws of what a calibrated judge would show.
_BINS, _DRAWS = 10, 200

Side = Literal["yes", "no", "both"]


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityPanel:
    """Probabilities of one judge beside what humans say, one row a run and response.

    Attributes
    ----------
    probability : (N,) float64
        In 0..1.
    yes : (N,) float64
        Share of the humans who say yes.
    humans : (N,) int64
        How many humans.
    cluster, system : (N,) intp
        What is left out at a time, and what answered.
    systems : (S,) array
        Names.
    n_clusters : int
        Clusters.
    """

    probability: Floats
    yes: Floats
    humans: NDArray[np.int64]
    cluster: NDArray[np.intp]
    system: NDArray[np.intp]
    systems: NDArray[Any]
    n_clusters: int

    @classmethod
    def of(
        cls, probability: Any, humans: Any, *, systems: Any = None, clusters: Any = None
    ) -> ProbabilityPanel:
        """Rows that the judge and at least one human gave.

        Parameters
        ----------
        probability : array-like, shape (N,) or (K runs, N)
            P(yes) in 0..1; NaN is missing.
        humans : array-like, shape (R, N)
            1 for yes, 0 for no; NaN is missing.
        systems, clusters : array-like, shape (N,), optional
            What answered; what is left out at a time (by default each response).

        Raises
        ------
        StatisticsError
            A probability outside 0..1, a human verdict that is neither 0 nor 1, other shapes.

        Examples
        --------
        >>> panel = ProbabilityPanel.of([0.9, 0.2], [[1, 0], [1, 1]])
        >>> panel.yes.tolist()
        [1.0, 0.5]
        """
        runs, truth = (
            np.atleast_2d(np.asarray(part, np.float64)) for part in (probability, humans)
        )
        n = runs.shape[1]
        if truth.shape[1] != n:
            raise StatisticsError(f"{n} probabilities, but {truth.shape[1]} rows of humans")
        known = runs[~np.isnan(runs)]
        if len(known) and not (known.min() >= 0 and known.max() <= 1):
            bad = known[(known < 0) | (known > 1)][0]
            raise StatisticsError(f"a probability must lie in 0..1, got {bad:g}")
        said = truth[~np.isnan(truth)]
        if not np.isin(said, (0, 1)).all():
            bad = said[~np.isin(said, (0, 1))][0]
            raise StatisticsError(f"a human says 1 (yes) or 0 (no), got {bad:g}")
        groups = np.arange(n) if clusters is None else np.asarray(clusters)
        given = np.zeros(n) if systems is None else np.asarray(systems)
        names, system = np.unique(given, return_inverse=True)
        kept = ~np.isnan(runs) & ~np.isnan(truth).all(axis=0)
        run, row = np.nonzero(kept)
        cluster = np.unique(groups[row], return_inverse=True)[1].astype(np.intp)
        return cls(
            runs[run, row],
            mean_present(truth)[row],
            (~np.isnan(truth)).sum(axis=0)[row],
            cluster,
            system[row].astype(np.intp),
            names,
            int(cluster.max(initial=-1)) + 1,
        )

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.probability)

    @property
    def logit(self) -> Floats:
        """(N,) log odds, of probabilities cut to .01 .. .99."""
        cut = np.clip(self.probability, CUT, 1 - CUT)
        odds: Floats = np.log(cut / (1 - cut))
        return odds

    def only(self, kept: NDArray[np.bool_]) -> ProbabilityPanel:
        """The rows kept alone."""
        cluster = np.unique(self.cluster[kept], return_inverse=True)[1].astype(np.intp)
        return replace(
            self,
            probability=self.probability[kept],
            yes=self.yes[kept],
            humans=self.humans[kept],
            cluster=cluster,
            system=self.system[kept],
            n_clusters=int(cluster.max(initial=-1)) + 1,
        )

    def sums(self, *columns: Floats) -> ClusterSums:
        """Columns (N,) by cluster."""
        table = summed(list(columns), self.cluster, self.n_clusters)
        return ClusterSums(np.arange(self.n_clusters), table)


def calibration_slope(panel: ProbabilityPanel) -> Jackknifed | None:
    """Slope of a logistic fit of what humans say on the logit of the probability: 1 is calibrated.

    Below 1 the judge is surer than it may be. Its error leaves out each cluster by one Newton step,
    from the residuals over one less their leverage (.3 at least); a plain Wald interval covers .90
    where it should .95. None for probabilities that do not vary.

    Source: Cox (1958), Biometrika 45, 562-565, for the slope; Pregibon (1981), Annals of Statistics
    9, 705-724, for the one-step estimate.
    """
    odds = panel.logit
    if panel.n < 3 or odds.std() < _FLAT:
        return None
    design = np.stack([np.ones(panel.n), odds], axis=1)
    weights = np.array([0.0, 1.0])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(design @ weights)))
        bend = chance * (1 - chance)
        information = design.T @ (design * bend[:, None]) + np.diag([0.0, 1e-9])
        step = np.linalg.lstsq(information, design.T @ (panel.yes - chance), rcond=None)[0]
        step = np.clip(step, [-2.0, -1.0], [2.0, 1.0])
        weights = weights + step
        if np.abs(step).max() < 1e-12:
            break
    chance = 1 / (1 + np.exp(-(design @ weights)))
    bend = chance * (1 - chance)
    information = design.T @ (design * bend[:, None]) + np.diag([0.0, 1e-9])
    leaned = design @ np.linalg.pinv(information)
    leverage = bend * (leaned * design).sum(axis=1)
    moved = leaned[:, 1] * (panel.yes - chance) / np.maximum(1 - leverage, _LEAST_LEFT)
    by_cluster = panel.sums(moved).table[:, 0]
    groups = panel.n_clusters
    error = math.sqrt(float((by_cluster**2).sum()) * (groups - 1) / groups)
    full = float(weights[1])
    return Jackknifed(full, error, groups - 1, full=full, out=full - by_cluster)


def calibration_in_the_large(panel: ProbabilityPanel) -> Jackknifed:
    """Mean of probability less what humans say."""
    return _mean(panel, panel.probability - panel.yes)


def _mean(panel: ProbabilityPanel, values: Floats) -> Jackknifed:
    return panel.sums(values, np.ones(panel.n)).jackknife(lambda sums: means_of(sums)[..., 0])


def large_contrast(panel: ProbabilityPanel, members: NDArray[np.bool_]) -> Jackknifed:
    """The same among the members less elsewhere."""
    off = panel.probability - panel.yes
    inside: Floats = members.astype(np.float64)
    table = panel.sums(off * inside, inside, off * (1 - inside), 1 - inside)

    def contrast(sums: Floats) -> Floats:
        """The mean within less the mean outside."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])

    return table.jackknife(contrast)


def skill(panel: ProbabilityPanel) -> Jackknifed:
    """One less the Brier score over that of the base rate: above 0 it beats knowing the share.

    Source: Brier (1950), Monthly Weather Review 78, 1-3; Murphy (1973), Journal of Applied
    Meteorology 12, 595-600.
    """

    # Of verdicts of 0 and 1 the mean square about P is y (1 - P)² + (1 - y) P².
    def squares(guess: Floats) -> Floats:
        """The Brier score of each unit."""
        square: Floats = panel.yes * (1 - guess) ** 2 + (1 - panel.yes) * guess**2
        return square

    base = np.full(panel.n, panel.yes.mean())
    beside = squares(base) * (panel.n / max(panel.n - 1, 1))

    def better(sums: Floats) -> Floats:
        """The share of the base rate's score that is saved."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(1 - sums[..., 0] / sums[..., 1])

    return panel.sums(squares(panel.probability), beside).jackknife(better)


@dataclass(frozen=True, slots=True, eq=False)
class Released(Result):
    """What humans say of the responses of which a judge is sure.

    Attributes
    ----------
    right : float
        Share of human verdicts that agree.
    error : float
        Its standard error, at least binomial at the threshold.
    claimed : float
        Mean of what the judge claims of them.
    count, share : int, float
        Responses released, and of all.
    as_good, as_bad : float
        How rarely verdicts come out as well as these were only the target of them right, and as
        badly; NaN without a target. Those of a cluster err together.
    """

    right: float
    error: float
    claimed: float
    count: int
    share: float
    as_good: float
    as_bad: float

    def __str__(self) -> str:
        """How many, how right, and what is claimed."""
        return f"{self.count} released, right in {self.right:.3f}, claimed {self.claimed:.3f}"


def released(
    panel: ProbabilityPanel, threshold: float, side: Side = "both", target: float | None = None
) -> Released:
    """Responses with P at least `threshold` (yes), at most one less it (no), or either.

    `target` is the share of them that is to be right.
    """
    up = panel.probability >= threshold if side != "no" else np.zeros(panel.n, np.bool_)
    down = panel.probability <= 1 - threshold if side != "yes" else np.zeros(panel.n, np.bool_)
    kept = up | down
    count = int(kept.sum())
    if not count:
        return Released(math.nan, math.nan, math.nan, 0, 0.0, math.nan, math.nan)
    hit = np.where(up, panel.yes, 1 - panel.yes)[kept]
    claimed = np.where(up, panel.probability, 1 - panel.probability)[kept]
    right = float(hit.mean())
    cluster = np.unique(panel.cluster[kept], return_inverse=True)[1]
    off = np.bincount(cluster, weights=hit - right)
    groups = len(off)
    spread = float((off**2).sum()) * groups / max(groups - 1, 1) / count
    each = float(panel.humans[kept].mean())
    least = threshold * (1 - threshold) / each
    good = bad = math.nan
    if target is not None and groups < count:
        good, bad = tails_by_cluster(hit, cluster, target)
    elif target is not None:
        # Over all responses, since few errors among those of which it is sure show no clusters.
        likelier = np.where(panel.probability >= 0.5, panel.yes, 1 - panel.yes)
        effect = design_effect(likelier, panel.cluster, 1 / each)
        # How many agree is binomial at the number of verdicts that are as good as independent.
        n = effective_labels(hit, cluster, effect, 1 / each)
        good, bad = share_tails(right * n, n, target)
    return Released(
        right,
        math.sqrt(max(spread, least) / count),
        float(claimed.mean()),
        count,
        count / panel.n,
        good,
        bad,
    )


def slope_within(panel: ProbabilityPanel, members: NDArray[np.bool_]) -> Jackknifed | None:
    """The slope in a subgroup; None where it does not vary there."""
    return calibration_slope(panel.only(members))


@dataclass(frozen=True, slots=True, eq=False)
class Homogeneity(Result):
    """Whether calibration in the large is the same in every system.

    Attributes
    ----------
    q : float
        Sum of squared deviations over squared errors.
    tau : float
        Standard deviation of the systems' own, noise removed.
    biases : (S,) float64
        Mean of probability less humans, by system; NaN where it has no error.
    df : int
        Systems less one.
    """

    q: float
    tau: float
    biases: Floats
    df: int

    def __str__(self) -> str:
        """Q and tau."""
        return f"Q = {self.q:.2f} (df {self.df}), tau = {self.tau:.3f}"


def homogeneity(panel: ProbabilityPanel) -> Homogeneity | None:
    """Cochran's Q over systems; None with one system that has an error.

    Source: Cochran (1954), Biometrics 10, 101-129.
    """
    biases = np.full(len(panel.systems), np.nan)
    errors = np.full(len(panel.systems), np.nan)
    for place in range(len(panel.systems)):
        here = panel.system == place
        if int(here.sum()) > 1:
            found = calibration_in_the_large(panel.only(here))
            biases[place], errors[place] = found.at, found.se
    known = np.isfinite(errors) & (errors > 0)
    if known.sum() < 2:
        return None
    b, weight = biases[known], errors[known] ** -2.0
    centre = float((weight * b).sum() / weight.sum())
    tau = math.sqrt(max(float(b.var(ddof=1) - (errors[known] ** 2).mean()), 0.0))
    return Homogeneity(float((weight * (b - centre) ** 2).sum()), tau, biases, int(known.sum()) - 1)


def tail_errors(panel: ProbabilityPanel, side: Side, threshold: float = 0.9) -> Jackknifed | None:
    """Sum of errors seen less twice those claimed, where the judge is surest of one side.

    None below 20 rows.
    """
    p, y = (
        (panel.probability, panel.yes) if side == "yes" else (1 - panel.probability, 1 - panel.yes)
    )
    kept = p >= threshold
    if kept.sum() < 20:
        return None
    excess = ((1 - y) - 2 * (1 - p))[kept]
    cluster = np.unique(panel.cluster[kept], return_inverse=True)[1]
    off = np.bincount(cluster, weights=excess)
    groups = len(off)
    return Jackknifed(float(excess.sum()), math.sqrt(groups) * float(off.std(ddof=1)), groups - 1)


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationError(Result):
    """The expected calibration error, and what a calibrated judge would show.

    Attributes
    ----------
    value : float
        Over ten bins of equal width, weighted by how many fall in each.
    calibrated, upper : float
        Mean and 95th percentile of the same for a calibrated judge with these probabilities.
    bins : tuple of (int, float, float)
        Of each bin that holds a row: how many, their mean probability, the humans' share of yes.
    """

    value: float
    calibrated: float
    upper: float
    bins: tuple[tuple[int, float, float], ...]

    def __str__(self) -> str:
        """Both."""
        return f"ECE {self.value:.3f}; a calibrated judge would show {self.calibrated:.3f}"


def calibration_error(panel: ProbabilityPanel, seed: int = 0) -> CalibrationError:
    """ECE over ten equal bins; it decides nothing, since it is never 0 for a calibrated judge.

    Source: Naeini, Cooper and Hauskrecht (2015), AAAI, 2901-2907; for its bias, Roelofs et al.
    (2022), AISTATS, 4036-4054.
    """
    bins = np.minimum((panel.probability * _BINS).astype(np.intp), _BINS - 1)
    size = np.bincount(bins, minlength=_BINS)
    claimed = np.bincount(bins, weights=panel.probability, minlength=_BINS)

    def error(yes: Floats) -> float:
        """The expected calibration error of one draw."""
        seen = np.bincount(bins, weights=yes, minlength=_BINS)
        return float(np.abs(claimed - seen).sum() / panel.n)

    rng = np.random.default_rng(seed)
    drawn = [
        error(rng.binomial(panel.humans, panel.probability) / panel.humans) for _ in range(_DRAWS)
    ]
    seen = np.bincount(bins, weights=panel.yes, minlength=_BINS)
    there = np.flatnonzero(size)
    return CalibrationError(
        error(panel.yes),
        float(np.mean(drawn)),
        float(np.quantile(drawn, 0.95)),
        tuple((int(size[k]), float(claimed[k] / size[k]), float(seen[k] / size[k])) for k in there),
    )
