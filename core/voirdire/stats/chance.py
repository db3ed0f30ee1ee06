"""What weighted F1 scores by chance, what the best constant predictor scores, and kappa_F1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import numbers
from voirdire.stats._results import Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Support:
    """Items that have each class, of n items."""

    counts: NDArray[np.int64]
    n: int
    multilabel: bool

    @property
    def k(self) -> int:
        """Classes."""
        return len(self.counts)

    @property
    def total(self) -> int:
        """Labels over all items."""
        return int(self.counts.sum())

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of items that have each class."""
        return self.counts / self.n

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each class in a weighted mean."""
        return self.counts / self.total


def class_support(support: ArrayLike, n: int | None) -> Support:
    """Checked supports; without n every item has one label."""
    given = numbers(support, "support")
    if given.ndim != 1:
        raise StatisticsError(f"support must hold one number a class, got {support!r}")
    if not np.isfinite(given).all() or (given % 1 != 0).any() or (given < 0).any():
        raise StatisticsError(f"support must hold whole numbers of items, got {given.tolist()!r}")
    counts = given.astype(np.int64)
    if n is None:
        return Support(counts, int(counts.sum()), multilabel=False)
    if n != int(n):
        raise StatisticsError(f"n must be a whole number of items, got {n!r}")
    if n < int(counts.max(initial=0)):
        raise StatisticsError(f"n = {n} items cannot hold a support of {counts.max()}")
    return Support(counts, int(n), multilabel=True)


_DRAWS = ("permuted", "independent")


def random_f1(
    support: ArrayLike,
    n: int | None = None,
    *,
    draws: Literal["permuted", "independent"] = "permuted",
) -> Estimate:
    r"""Expected weighted F1 of a predictor that knows only how common each class is.

    Two predictors go by that name. One permutes the true labels among the items; with
    :math:`p_c` the share of items that have class c,

    .. math:: F_{random} = \sum_c p_c^2 \ \text{(one label an item)}, \quad
              F_{random} = \sum_c p_c^2 / \sum_c p_c \ \text{(multi-label)}

    The other draws each prediction anew, which costs a little, by how far the number M of items
    predicted as c strays:

    .. math:: F_{random} = \sum_c w_c \, 2 p_c \, E\left[\frac{M}{n_c + M}\right], \quad
              M \sim \mathrm{Bin}(N, p_c)

    with weights w in proportion to the supports :math:`n_c`. The gap is about
    :math:`(1 - \sum p^2) / 4N`. Both are exact, not limits. In multi-label data it makes no
    difference to the mean whether labels are drawn one by one or as sets.

    Parameters
    ----------
    support : array_like, shape (q classes,)
        Items that truly have each class.
    n : int, optional
        The number of items, where an item may have several labels or none. Without it every item
        has one label, and the supports add up to n (binary tasks: two classes).
    draws : {"permuted", "independent"}
        See above; the paper's closed form is ``"permuted"``, its simulation ``"independent"``.

    Returns
    -------
    Estimate
        ``n`` items, ``k`` classes; details hold ``draws``, ``multilabel`` and each class's ``f1``.
        NaN with ``no_data`` where no item has a class.

    Raises
    ------
    StatisticsError
        For supports that are not whole, negative, or larger than `n`.

    References
    ----------
    Sharma et al., sections 5.2 and J.1.

    Examples
    --------
    >>> print(random_f1([60, 30, 10]))
    random weighted F1 (permuted) = 0.460, n = 100, k = 3
    >>> round(random_f1([60, 30, 10], draws="independent").value, 4)
    0.4586
    >>> print(random_f1([30, 20], n=100))
    random weighted F1 (permuted) = 0.260, n = 100, k = 2
    """
    if draws not in _DRAWS:
        raise not_one_of("draws", draws, _DRAWS, error=StatisticsError)
    given = class_support(support, n)
    name = f"random weighted F1 ({draws})"
    if not given.total:
        return Estimate(name, math.nan, k=given.k, left_out=given.n, reason="no_data")
    if draws == "permuted":
        f1 = given.shares
    else:
        f1 = 2 * given.shares * np.array([_mean_ratio(given, c) for c in range(given.k)])
    details = {"draws": draws, "multilabel": given.multilabel, "f1": f1}
    return Estimate(name, float(given.weights @ f1), n=given.n, k=given.k, details=details)


def best_constant_f1(support: ArrayLike, n: int | None = None) -> Estimate:
    r"""Weighted F1 of the best predictor that says the same of every item.

    Naming class c everywhere gives :math:`F_c = 2 p_c / (1 + p_c)`. With one label an item the
    best names the most common class; with several it names every label that occurs. A classifier
    that does not beat it has learnt nothing, however far it lies above the random one.

    Parameters
    ----------
    support, n
        As for `random_f1`.

    Returns
    -------
    Estimate
        Details: ``named``, the places of the classes that it names, and each class's ``f1``.

    Raises
    ------
    StatisticsError
        For supports that are not whole, negative, or larger than `n`.

    References
    ----------
    Lipton, Elkan and Naryanaswamy (2014), ECML PKDD: F1 of predicting every item positive.

    Examples
    --------
    >>> print(best_constant_f1([60, 30, 10]))
    best constant weighted F1 = 0.450, n = 100, k = 3
    >>> best_constant_f1([30, 20, 0], n=100).details["named"]
    [0, 1]
    """
    given = class_support(support, n)
    name = "best constant weighted F1"
    if not given.total:
        return Estimate(name, math.nan, k=given.k, left_out=given.n, reason="no_data")
    f1 = 2 * given.shares / (1 + given.shares)
    if given.multilabel:
        # Naming a label is never dearer than not naming it: its F1 is above 0 and weighs by its
        # support.
        named = np.flatnonzero(given.counts).tolist()
    else:
        named = [int(np.argmax(given.counts))]
    value = float((given.weights * f1)[named].sum())
    details = {"named": named, "f1": f1, "multilabel": given.multilabel}
    return Estimate(name, value, n=given.n, k=given.k, details=details)


def kappa_f1(f1: Estimate | float, baseline: Estimate | float) -> Estimate:
    r"""How far an F1 stands between its chance baseline (0) and perfection (1).

    .. math:: \kappa_{F1} = \frac{F_1 - F_{baseline}}{1 - F_{baseline}}

    Results on data with other class shares become comparable by it, as far as they name the same
    baseline: against the best constant predictor the same F1 has another kappa.

    Parameters
    ----------
    f1 : Estimate or float
        The weighted F1 reached; intervals of an Estimate are carried over.
    baseline : Estimate or float
        From `random_f1`, `simulate_random_f1` or `best_constant_f1`; a bare number is named
        ``"given"``.

    Returns
    -------
    Estimate
        Details: ``baseline`` (its name), ``baseline_f1`` and ``f1``. NaN where either is; with
        ``zero_expected_disagreement`` where the baseline is perfect already.

    Raises
    ------
    StatisticsError
        For an F1 or a baseline outside [0, 1].

    References
    ----------
    Sharma et al., section 5.3, after Cohen, J. (1960).

    Examples
    --------
    >>> print(kappa_f1(0.548, random_f1([33, 33, 34], n=100)))
    kappa_F1 (random weighted F1 (permuted)) = 0.322, n = 100, k = 3
    >>> round(kappa_f1(0.548, 0.325).value, 4)
    0.3304
    """
    reached, chance = _part(f1, "f1"), _part(baseline, "baseline")
    floor = chance.value
    reason = reached.reason or chance.reason
    if reason is None and floor == 1:
        reason = "zero_expected_disagreement"
    # The baseline is taken as known, so bounds move as the value does; resampled ones are those of
    # `f1_above_chance`.
    scale = math.nan if reason else 1 / (1 - floor)
    intervals = tuple(
        replace(part, low=(part.low - floor) * scale, high=(part.high - floor) * scale)
        for part in reached.intervals
    )
    details = {"baseline": chance.statistic, "baseline_f1": floor, "f1": reached.value}
    return Estimate(
        f"kappa_F1 ({chance.statistic})",
        (reached.value - floor) * scale,
        intervals,
        n=reached.n or chance.n,
        k=chance.k,
        reason=reason,
        details=details,
    )


def _part(value: Estimate | float, name: str) -> Estimate:
    estimate = value if isinstance(value, Estimate) else Estimate("given", float(value))
    if math.isnan(estimate.value):
        return replace(estimate, reason=estimate.reason or "no_data")
    if not 0 <= estimate.value <= 1:
        raise StatisticsError(f"{name} must lie in [0, 1], got {estimate.value!r}")
    return estimate


def _mean_ratio(given: Support, c: int) -> float:
    """E[M / (n_c + M)] for M ~ Bin(N, p_c), by summing the distribution around its mode."""
    support = int(given.counts[c])
    if support == 0:
        return 0.0
    values, mass = binomial_mass(given.n, float(given.shares[c]))
    return float((mass * (values / (support + values))).sum())


def binomial_mass(n: int, p: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values and probabilities of Bin(n, p) within 12 standard deviations of the mode.

    Ratios of neighbours are summed as logarithms and normalised, so that nothing over- or
    underflows for large n; what is cut off is below 1e-30.
    """
    if p >= 1:
        return np.array([float(n)]), np.array([1.0])
    # Of a rare class the binomial is skewed, and twelve deviations alone would be too short.
    reach = int(12 * math.sqrt(n * p * (1 - p))) + 40
    values = np.arange(max(0, int(n * p) - reach), min(n, int(n * p) + reach) + 1, dtype=np.float64)
    steps = np.log((n - values[:-1]) / values[1:]) + math.log(p / (1 - p))
    # P(m + 1) / P(m) = (n - m) / (m + 1) * p / (1 - p): no factorial, and so no overflow.
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    mass = np.exp(logs - logs.max())
    return values, mass / mass.sum()
