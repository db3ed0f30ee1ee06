"""A judge's means of systems beside the humans': order, and agreement."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._results import Estimate, Result
from voirdire.stats.response_panel import ResponsePanel
from voirdire.stats.sums import ClusterSums, Jackknifed, Root, jackknife, on_scale, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.sums import Scale

    Statistic = Callable[[Floats], Floats]


#: Noise is taken out of the moments until the coefficient reaches this, and no further.
CAP = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Means(Result):
    """Means of systems, with all data and without each cluster.

    Attributes
    ----------
    human, judge : (S,) float64
        Over the responses that both scored.
    human_out, judge_out : (G, S) float64
        Without each cluster; clusters that alone carry a system are left out here.
    weight : (G,) float64 or None
        How many clusters each row of these stands for; None: one each.
    met : (S,) int64
        Clusters in which judge and humans both scored the system.
    sums : SystemTable
        What the means are made of.
    """

    human: Floats
    judge: Floats
    human_out: Floats
    judge_out: Floats
    weight: Floats | None
    met: NDArray[np.int64]
    sums: SystemTable

    @classmethod
    def of(cls, panel: ResponsePanel, moved: Floats | None = None) -> Means:
        """The mean human and the mean run, by system; `moved` as in `SystemTable.of`."""
        reference = panel.mean_human
        # On the same responses: a judge that also scored others would have another mean for it.
        both = np.where(np.isnan(reference), np.nan, panel.mean_run)
        return cls.from_sums(SystemTable.of(panel, [reference, both], moved))

    @classmethod
    def from_sums(cls, sums: SystemTable) -> Means:
        """From the sums of the humans and of the judge."""
        means = sums.means()
        human, judge = means.means
        human_out, judge_out = means.out[:, 0], means.out[:, 1]
        # Without a cluster that alone carries a system there is no mean of it.
        kept = np.isfinite(means.out).all(axis=(1, 2))
        weight = None if means.weight is None else means.weight[kept]
        return cls(human, judge, human_out[kept], judge_out[kept], weight, means.met[1], sums)

    def jackknife(self, statistic: Callable[[Floats, Floats], Floats]) -> Jackknifed:
        """A function of the humans' and the judge's means, with its error over clusters."""
        whole, out = statistic(self.human, self.judge), statistic(self.human_out, self.judge_out)
        return jackknife(whole, out, weight=self.weight)

    @property
    def bias(self) -> Floats:
        """(S,) judge less human."""
        return self.judge - self.human

    @property
    def bias_out(self) -> Floats:
        """(G, S) the same without each cluster."""
        return self.judge_out - self.human_out

    def moments(self) -> MeanMoments:
        """Variances of human and judge, covariance, squared bias."""
        whole, out = moments(self.human, self.judge), moments(self.human_out, self.judge_out)
        return MeanMoments(whole, out, self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class MeanMoments(Result):
    """Moments of system means, with all data and without each cluster.

    Attributes
    ----------
    whole : (4,) float64
        Variances of human and judge, covariance, squared bias.
    out : (G, 4) float64
        Without each cluster.
    weight : (G,) float64 or None
        As in `Means`.
    """

    whole: Floats
    out: Floats
    weight: Floats | None

    def __str__(self) -> str:
        """The four moments."""
        return ", ".join(f"{value:.3f}" for value in self.whole)

    def jackknife(self, statistic: Statistic) -> Jackknifed:
        """A function of the moments, with its error over clusters."""
        return jackknife(statistic(self.whole), statistic(self.out), weight=self.weight)

    def unbiased(self, statistic: Statistic, scale: Scale | None = None) -> Jackknifed:
        """A coefficient of the moments freed of the noise of the means, on the scale `Root`.

        The moments are quadratic in the means, so the jackknife removes the noise exactly:
        ``m + (G - 1)(m - mean(m_g))``. The leave-one-out values are taken at that point. Above a
        coefficient of `CAP` the correction is cut back to where it reaches it. `scale` is another
        scale.
        """
        whole, out = self.whole, self.out
        units = len(out) if self.weight is None else round(float(self.weight.sum()))
        if units < 2:  # each cluster alone carries a system: nothing can be left out
            return Jackknifed(math.nan, math.nan, 0, scale or Root(0.0))
        shift = (units - 1) * (whole - weighted_mean(out, self.weight))
        # In twentieths, downwards: a full correction may take a variance below 0 or a coefficient
        # above 1.
        share = next(
            (
                step / 20
                for step in range(20, 0, -1)
                if _holds(statistic, whole + step / 20 * shift)
            ),
            0.0,
        )
        at = statistic(whole + share * shift)
        if scale is None:
            noise = float(at - statistic(whole)) / 2
            scale = Root(noise if noise > 0 else 0.0)
        # Each leave-one-out value at its own corrected point: units / (units - 1) times the shift,
        # as it lacks one cluster.
        parts = on_scale(statistic(out + share * shift * units / (units - 1)), scale)
        centre = weighted_mean(parts, self.weight)
        se = math.sqrt((units - 1) * float(weighted_mean((parts - centre) ** 2, self.weight)))
        return Jackknifed(float(on_scale(at, scale)), se, units - 1, scale)


def _holds(statistic: Statistic, m: Floats) -> bool:
    return bool(m[0] > 0 and m[1] > 0 and statistic(m) <= CAP)


@dataclass(frozen=True, slots=True, eq=False)
class SystemMeans:
    """Means by system of several raters, with all data and without each cluster.

    Attributes
    ----------
    means : (R, S) float64
    out : (G, R, S) float64
        Without each cluster; `weight` (G,) says for how many a row stands.
    met : (R, S) int64
        Clusters in which the rater scored the system.
    """

    means: Floats
    out: Floats
    weight: Floats | None
    met: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SystemTable(Result):
    """Scores of several raters summed by cluster and system.

    Attributes
    ----------
    sums : ClusterSums
        Columns: for each system and rater the sum of its scores and their number.
    systems : int
    """

    sums: ClusterSums
    systems: int

    @classmethod
    def of(
        cls, panel: ResponsePanel, scores: Sequence[Floats], moved: Floats | None = None
    ) -> SystemTable:
        """Of several (N,) scores of the panel's responses.

        `moved` (N, S) is what each response moves the first sum of each system by beside its own
        score (`severity.moved`).
        """
        columns = []
        for one in scores:
            there = ~np.isnan(one)
            columns += [np.where(there, one, 0.0), there * 1.0]
        sums = panel.by_cluster_and_system(np.stack(columns).T, moved=moved)
        return cls(sums, len(panel.systems))

    def __str__(self) -> str:
        """How much is summed."""
        return f"sums of {self.systems} systems in {len(self.sums)} clusters"

    @property
    def cells(self) -> Floats:
        """(G, S, R, 2) sums and numbers of scores."""
        return self.sums.table.reshape(len(self.sums.table), self.systems, -1, 2)

    def means(self) -> SystemMeans:
        """Means by system."""
        whole = self.sums.total.reshape(self.systems, -1, 2)
        out = self.sums.without.reshape(-1, *whole.shape)
        met = np.array([self.sums.met(place) for place in range(whole.size)]).reshape(whole.shape)
        with np.errstate(invalid="ignore", divide="ignore"):
            means, parts = whole[..., 0] / whole[..., 1], out[..., 0] / out[..., 1]
        return SystemMeans(means.T, parts.swapaxes(1, 2), self.sums.weight, met[..., 1].T)


def system_means(panel: ResponsePanel, scores: Sequence[Floats]) -> SystemMeans:
    """Means of each (N,) scores by system."""
    return SystemTable.of(panel, scores).means()


def moments(human: Floats, judge: Floats) -> Floats:
    """(..., 4) variance of humans' and judge's means, covariance, squared mean difference."""
    a, b = (part - part.mean(axis=-1, keepdims=True) for part in (human, judge))
    k = human.shape[-1] - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [(a * a).sum(-1) / k, (b * b).sum(-1) / k, (a * b).sum(-1) / k]
    return np.stack([*parts, (judge - human).mean(axis=-1) ** 2], axis=-1)


def moments_without_one(human: Floats, judge: Floats) -> Floats:
    """(S, 4) `moments` of these means (S,) without each system in turn, in closed form.

    >>> human, judge = np.array([1.0, 2, 4]), np.array([1.0, 3, 3])
    >>> np.allclose(moments_without_one(human, judge)[0], moments(human[1:], judge[1:]))
    True
    """
    count = len(human)
    a, b = (part - part.mean() for part in (human, judge))
    # Leaving one out moves the mean by that one's own distance, over the others.
    sides = ((a, a), (b, b), (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [((x * y).sum() - x * y * count / (count - 1)) / (count - 2) for x, y in sides]
    off = judge - human
    return np.stack([*parts, ((off.sum() - off) / (count - 1)) ** 2], axis=-1)


def correlation(m: Floats) -> Floats:
    """From moments (..., 4); 0 where a side has no variance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = m[..., 2] / np.sqrt(m[..., 0] * m[..., 1])
    # Means that are all one have no order to follow.
    return np.where((m[..., 0] > 1e-12) & (m[..., 1] > 1e-12), correlation, 0.0)


def agreement(m: Floats) -> Floats:
    """2 cov / (var + var + bias²) from moments (..., 4): ICC(A,1) of a judge that is fixed."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return 2 * m[..., 2] / (m[..., 0] + m[..., 1] + m[..., 3])


def unbiased_moments(
    judge: Any, humans: Any, systems: Any, *, items: Any = None, clusters: Any = None
) -> Floats:
    """Variances, covariance and squared bias of system means, freed of the noise of responses.

    Means of few noisy responses vary more than what they estimate. The moments are quadratic in
    the means, so the delete-one-cluster jackknife removes that noise exactly.

    Parameters
    ----------
    judge, humans : array-like, shape (n,) or (n, runs), (n, humans)
        Scores; NaN is missing.
    systems, items, clusters : array-like, shape (n,)
        What answered, what it answered, and what is left out at a time (default: items).

    Returns
    -------
    (4,) float64
        Variance of the humans' means, of the judge's, their covariance, squared mean difference.
        A variance may come out below 0: the means then vary no more than noise makes them. NaN
        with one system, and where each cluster alone carries a system.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> system = np.repeat(np.arange(20), 10)
    >>> human = rng.normal(0, 1, 200)
    >>> noise = human + rng.normal(0, 1, 200)
    >>> bool(abs(unbiased_moments(noise, human, system)[0]) < 0.05)
    True

    References
    ----------
    Miller (1974), Biometrika 61, 1-15.
    """
    panel = ResponsePanel.of(judge, humans, systems=systems, items=items, clusters=clusters)
    moments = Means.of(panel).moments()
    whole, out = moments.whole, moments.out
    units = len(out)
    if units < 2:
        return np.full(4, np.nan)
    # Quenouille's combination; of a quadratic form it is unbiased exactly.
    return np.asarray(units * whole - (units - 1) * out.mean(axis=0))


def system_order(
    judge: Any,
    humans: Any,
    systems: Any,
    *,
    items: Any = None,
    clusters: Any = None,
    level: float = 0.95,
) -> Estimate:
    """Correlation of the judge's means of systems with the humans', noise of responses removed.

    The systems are those at hand: what is resampled is clusters.

    Parameters
    ----------
    judge, humans : array-like, shape (n,) or (n, runs), (n, humans)
        Scores; NaN is missing.
    systems, items, clusters : array-like, shape (n,)
        What answered, what it answered, and what is left out at a time (default: items).
    level : float
        Nominal coverage of the t interval on the scale `Root`.

    Returns
    -------
    Estimate
        Reason too_few_items below 3 systems. `details`: se, df, clusters.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> human, judge = [1, 2, 3, 5, 2, 2, 4, 5] * 3, [1, 1, 3, 4, 1, 2, 4, 4] * 3
    >>> print(f"{system_order(judge, human, list('aabbccdd') * 3).value:.2f}")
    1.00

    References
    ----------
    Miller (1974), Biometrika 61, 1-15, for the jackknife.
    """
    panel = ResponsePanel.of(judge, humans, systems=systems, items=items, clusters=clusters)
    return _of_means("order of systems", panel, correlation, level)


def system_agreement(
    judge: Any,
    humans: Any,
    systems: Any,
    *,
    items: Any = None,
    clusters: Any = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of means of systems, 2 cov / (var + var + bias²), noise of responses removed.

    ICC(A,1) of system means with the judge as a fixed rater.

    Parameters
    ----------
    judge, humans, systems, items, clusters, level
        As in `system_order`.

    Returns
    -------
    Estimate
        Reason too_few_items below 3 systems. `details`: se, df, clusters.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> human, judge = [1, 2, 3, 5, 2, 2, 4, 5] * 3, [1, 1, 3, 4, 1, 2, 4, 4] * 3
    >>> print(f"{system_agreement(judge, human, list('aabbccdd') * 3).value:.2f}")
    0.96

    References
    ----------
    Lin (1989), Biometrics 45, 255-268, for the coefficient; Miller (1974), Biometrika 61, 1-15,
    for the jackknife.
    """
    panel = ResponsePanel.of(judge, humans, systems=systems, items=items, clusters=clusters)
    return _of_means("agreement of systems", panel, agreement, level)


def _of_means(name: str, panel: ResponsePanel, statistic: Statistic, level: float) -> Estimate:
    if len(panel.systems) < 3:
        return Estimate(name, math.nan, n=len(panel.systems), k=2, reason="too_few_items")
    jackknifed = Means.of(panel).moments().unbiased(statistic)
    return Estimate(
        name,
        float(jackknifed.value),
        (jackknifed.interval(level),),
        len(panel.systems),
        2,
        panel.left_out,
        details={"se": jackknifed.se, "df": jackknifed.df, "clusters": panel.n_clusters},
    )
