"""A judge's bias system by system, beside what humans' own deviations reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.late import dataclass
from voirdire.stats._results import Estimate, Result
from voirdire.stats.response_panel import ResponsePanel
from voirdire.stats.sums import Jackknifed, quantile, weighted_mean
from voirdire.stats.system_means import Means, system_means

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voirdire.stats._arrays import Floats

    Statistic = Callable[[Floats], Floats]


#: Fewer degrees of freedom do not tell what is normal among humans.
FEWEST_DF = 8


@dataclass(frozen=True, slots=True, eq=False)
class SystemBias(Result):
    """How far a judge is off on each system, and how far humans are.

    Attributes
    ----------
    level : mapping of str to Estimate
        Bias of each system: judge less human.
    specific : mapping of str to Estimate
        Its bias less the mean bias of the other systems.
    allowance : float
        What a human's own deviations of this kind reach once in twenty panels; NaN with one human
        or fewer than 8 degrees of freedom.
    """

    level: dict[str, Estimate]
    specific: dict[str, Estimate]
    allowance: float

    def __str__(self) -> str:
        """A line a system."""
        return "\n".join(f"{system}: {estimate}" for system, estimate in self.specific.items())


def system_bias(
    judge: Any,
    humans: Any,
    systems: Any,
    *,
    items: Any = None,
    clusters: Any = None,
    level: float = 0.95,
) -> SystemBias:
    """Bias of a judge on each system, overall and less that on the others, beside a human's.

    Parameters
    ----------
    judge, humans, systems, items, clusters
        As in `system_order`.
    level : float
        Nominal coverage of the t interval, not adjusted for the number of systems.

    Returns
    -------
    SystemBias
        `allowance` is t(df) sqrt(s² (1 + 1/R) S / (S - 1)) at the level 0.05 / S, s² being the
        variance of human x system with the noise of responses removed.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> human, judge = [1, 2, 3, 5, 2, 2, 4, 5] * 3, [1, 1, 3, 4, 1, 2, 4, 5] * 3
    >>> bias = system_bias(judge, human, list("aabbccdd") * 3)
    >>> {name: round(part.value, 2) for name, part in bias.specific.items()}
    {'a': -0.17, 'b': -0.17, 'c': -0.17, 'd': 0.5}

    References
    ----------
    Miller (1974), Biometrika 61, 1-15, for the jackknife.
    """
    panel = ResponsePanel.of(judge, humans, systems=systems, items=items, clusters=clusters)
    means = Means.of(panel)
    count = len(panel.systems)
    off = means.jackknife(lambda human, judge: judge - human)
    own = means.jackknife(lambda human, judge: specific(judge - human))
    spread = human_by_system(panel, range(len(panel.humans)))
    factor = count / (count - 1) if count > 1 else 1.0
    return SystemBias(
        _named(panel, off, "bias of a system", level),
        _named(panel, own, "specific bias of a system", level),
        spread.reach(factor, count) if spread.df >= FEWEST_DF else math.nan,
    )


def _named(
    panel: ResponsePanel, jackknifed: Jackknifed, name: str, level: float
) -> dict[str, Estimate]:
    n = np.bincount(panel.system, minlength=len(panel.systems))
    return {
        str(system): Estimate(
            name,
            float(jackknifed.at[place]),
            (jackknifed[place].interval(level),),
            int(n[place]),
            2,
            details={"se": jackknifed[place].se, "df": jackknifed.df},
        )
        for place, system in enumerate(panel.systems)
    }


def specific(bias: Floats) -> Floats:
    """(..., S) each system's bias less the mean of the others'."""
    count = bias.shape[-1]
    # One system has no others to be held against.
    if count < 2:
        return np.full(bias.shape, np.nan)
    return count / (count - 1) * (bias - bias.mean(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True)
class HumanSpread:
    """How much humans differ from one another: on systems, and overall.

    Attributes
    ----------
    variance : float
        Of human x system, the noise of responses removed; NaN where it cannot be told.
    leniency : float
        Standard deviation between humans' means; NaN with one human.
    df : int
        (R - 1)(S - 1).
    raters : int
        R.
    """

    variance: float
    leniency: float
    df: int
    raters: int

    def reach(self, factor: float, many: int, once: float = 0.05) -> float:
        """What a human's own deviations reach once in 1 / `once` panels, over `many` of them."""
        # Bonferroni over `many`, two-sided. A human's own deviation is measured about a mean that
        # it is part of: hence 1 + 1/R.
        wide = quantile(1 - once / (2 * many), self.df)
        return wide * math.sqrt(self.variance * (1 + 1 / self.raters) * factor)

    @property
    def reach_of_leniency(self) -> float:
        """What one more human's own leniency reaches once in twenty panels; 0 with one human.

        The spread between few humans is hardly known: of three, t has two degrees of freedom.
        """
        if not self.leniency > 0:
            return 0.0
        return quantile(0.975, self.raters - 1) * self.leniency * math.sqrt(1 + 1 / self.raters)

    def allow(self, margin: float, factor: float, many: int, once: float = 0.05) -> float:
        """The margin, or `reach` where it is more and there are the degrees of freedom to tell."""
        if math.isnan(self.variance) or self.df < FEWEST_DF:
            return margin
        return max(margin, self.reach(factor, many, once))


def human_by_system(panel: ResponsePanel, humans: Sequence[int]) -> HumanSpread:
    """The spread between the humans given, about the mean of all that are present."""
    raters, count = len(humans), len(panel.systems)
    reference = panel.mean_human
    # Against the other humans on the same responses: which of them a human was given then says
    # nothing.
    off = [panel.humans[human] - reference for human in humans]
    if raters < 2:
        return HumanSpread(math.nan, math.nan, 0, raters)
    lenient = _leniency(panel, off)
    if count < 2:
        return HumanSpread(math.nan, lenient, 0, raters)
    means = system_means(panel, off)
    if np.isnan(means.means).any():
        return HumanSpread(math.nan, lenient, 0, raters)
    df = (raters - 1) * (count - 1)
    whole, out = _interaction(means.means, df), _interaction(means.out, df)
    # A cluster that alone carries a system cannot be left out.
    there = np.isfinite(out)
    weight = None if means.weight is None else means.weight[there]
    units = float(there.sum() if weight is None else weight.sum())
    mean = float(weighted_mean(out[there], weight)) if units else math.nan
    # The variance is quadratic in the means, so the jackknife takes the noise of responses out
    # exactly.
    variance = units * float(whole) - (units - 1) * mean
    return HumanSpread(max(variance, 0.0), lenient, df, raters)


def _interaction(means: Floats, df: int) -> Floats:
    """Variance of human x system from means (..., R, S)."""
    rest = means - means.mean(axis=-2, keepdims=True)
    # What is left is the interaction: neither a human's leniency nor a system's level.
    rest = rest - rest.mean(axis=-1, keepdims=True)
    variance: Floats = (rest**2).sum(axis=(-1, -2)) / df
    return variance


def _leniency(panel: ResponsePanel, off: Sequence[Floats]) -> float:
    """Standard deviation of the humans' means about the panel's, less its own noise."""
    leniencies = [_mean_and_noise(one, panel.weight) for one in off]
    means, noise = np.array([mean for mean, _ in leniencies]), [one for _, one in leniencies]
    return math.sqrt(max(float(means.var(ddof=1) - np.mean(noise)), 0.0))


def _mean_and_noise(off: Floats, weight: Floats | None) -> tuple[float, float]:
    """Mean and its variance, of what is there."""
    there = ~np.isnan(off)
    n = float(there.sum() if weight is None else weight[there].sum())
    if not n:
        return math.nan, math.nan
    own = None if weight is None else weight[there]
    mean = float(weighted_mean(off[there], own))
    return mean, float(weighted_mean((off[there] - mean) ** 2, own)) / n
