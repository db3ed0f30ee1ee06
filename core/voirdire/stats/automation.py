"""Which single verdicts may go out without a human, at a stated agreement and risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names
from voirdire.stats._results import Result
from voirdire.stats.effective import (
    design_effect,
    lower_share,
    lower_share_by_cluster,
    share_tails,
    shown_if_right,
    tails_by_cluster,
)
from voirdire.stats.special import special

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats

#: Shares tried, smallest first: each holds the ones before it.
_STEPS = 50
#: Probability that the first share tested passes, were agreement two thirds of the way to perfect.
_POWER = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class AutomatedShare(Result):
    """The largest share of verdicts that may go out without a human.

    Attributes
    ----------
    share : float
        Of all items, those at least as confident as `threshold`; 0 where no share passes.
    threshold : float
        The least confidence; NaN where no share passes.
    agreement, low : float
        Agreement with the labels among these, and its one-sided lower bound at 1 - `risk`.
    target, risk : float
        What was asked: agreement of at least `target`, missed in at most `risk` of samples.
    n, n_automated : int
        Labels used, and those of them within the share.
    reason : str or None
        ``"too_few_items"`` where there are too few labels to test any share.
    """

    share: float
    threshold: float
    agreement: float
    low: float
    target: float
    risk: float
    n: int
    n_automated: int
    reason: str | None = None

    def __str__(self) -> str:
        """One line."""
        return (
            f"share that needs no human = {self.share:.3f} at agreement {self.target:g}, risk "
            f"{self.risk:g}, n = {self.n}"
        )


def automated_share(
    agrees: Any,
    confidence: Any,
    everywhere: Any,
    *,
    target: float,
    risk: float = 0.1,
    clusters: Any = None,
) -> AutomatedShare:
    """The largest share of the most confident verdicts whose agreement is shown to be high enough.

    Fixed-sequence testing over nested shares, from the most confident on: each share is tested by
    the exact binomial at level `risk`, and the first that fails ends the sequence, so that the risk
    of missing the target holds for all of them together. The sequence starts at the smallest share
    with so many labels that agreement two thirds of the way from target to 1 would be shown in four
    of five samples: tests on fewer would end it by bad luck. Where it starts depends on the number
    of labels alone, never on what they say.

    Parameters
    ----------
    agrees : array-like, shape (n,)
        1 where verdict and label agree, 0 where they do not; labels drawn at random, none of which
        was used to fit the confidence.
    confidence : array-like, shape (n,)
        How sure the judge is of each of these verdicts.
    everywhere : array-like, shape (M,)
        Confidence of all verdicts, labelled or not: what the share is a share of.
    target : float
        Agreement asked for, in (0, 1).
    risk : float
        In (0, 1): how often a sample of labels may miss the target.
    clusters : array-like, shape (n,), optional
        What each labelled verdict belongs to (a dialogue). Verdicts of one cluster err together,
        so that clusters are tested in place of labels. A share is passed over until its clusters
        could show the target, too.

    Returns
    -------
    AutomatedShare

    Raises
    ------
    StatisticsError
        Arrays that do not fit, values of `agrees` that are not 0 or 1, a missing confidence, a
        target or risk outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats import automated_share
    >>> confidence = np.linspace(0, 1, 200)
    >>> agrees = confidence > 0.4
    >>> round(automated_share(agrees, confidence, confidence, target=0.9).share, 2)
    0.62

    References
    ----------
    Jung, Brahman and Choi (2025), Trust or Escalate, ICLR, section 3. Clopper and Pearson (1934),
    Biometrika 26, 404-413. Clusters: Gaffke (2005), Mathematical Methods of Statistics 14, 451-467,
    which is Clopper and Pearson's bound where each cluster is a single label.
    """
    right, sure, every = _checked(agrees, confidence, everywhere, target, risk)
    groups = None if clusters is None else _numbered(clusters, len(right))
    if len(right) == 0:
        return _none(target, risk, 0, "too_few_items")
    # Nested: everyone at least as confident as a quantile of all verdicts.
    levels = np.quantile(every, 1 - np.arange(1, _STEPS + 1) / _STEPS, method="lower")
    # The last share is all verdicts, whatever the quantile of a sample says.
    levels[-1] = -math.inf
    nested = sure >= levels[:, None]
    last, low, reason = certified(
        np.where(nested, right, np.nan), right, target=target, risk=risk, clusters=groups
    )
    if last < 0:
        return _none(target, risk, len(right), reason)
    level, within = levels[last], nested[last]
    return AutomatedShare(
        float((every >= level).mean()),
        float(level),
        float(right[within].mean()),
        low,
        target,
        risk,
        len(right),
        int(within.sum()),
    )


def certified(
    agrees: Any, overall: Any, *, target: float, risk: float, clusters: Any = None
) -> tuple[int, float, str | None]:
    """The last of some policies, in an order fixed beforehand, that is shown to agree often enough.

    Fixed-sequence testing: the first that fails ends it, so that `risk` holds for all together.
    Policies with too few labels to be tested fairly are passed over before the first test.

    Parameters
    ----------
    agrees : array-like, shape (P, n)
        1 where what a policy says of a labelled unit agrees, 0 where not, NaN where it is silent.
    overall : array-like, shape (n,)
        Agreement of all of these units, by which it is seen how far clusters err together.
    target, risk, clusters
        As in `automated_share`.

    Returns
    -------
    (int, float, str or None)
        The policy (-1: none), the lower bound of its agreement, and ``"too_few_items"`` where none
        could be tested.

    Examples
    --------
    >>> import numpy as np
    >>> from voirdire.stats.automation import certified
    >>> right = (np.arange(200) < 185) * 1.0
    >>> strict = np.where(np.arange(200) < 100, right, np.nan)
    >>> certified([strict, right], right, target=0.9, risk=0.1)[0]
    0

    References
    ----------
    As `automated_share`.
    """
    every, policies = numbers(overall, "overall"), numbers(agrees, "agrees")
    groups = None if clusters is None else _numbered(clusters, len(every))
    effect = 1.0 if groups is None else design_effect(every, groups)
    fewest = math.ceil(_fewest(target, risk) * effect)
    last, bound, tested = -1, math.nan, False
    for place, said in enumerate(policies):
        within = ~np.isnan(said)
        # Too few labels to be tested fairly, or the same ones as before.
        if int(within.sum()) < fewest or (
            last >= 0 and np.array_equal(said, policies[last], equal_nan=True)
        ):
            continue
        own = None if groups is None else groups[within]
        if own is not None and not shown_if_right(own, (2 + target) / 3, target, risk):
            continue
        tested = True
        if _as_good(said[within], own, target) > risk:
            break
        last = place
    if last >= 0:
        within = ~np.isnan(policies[last])
        right = policies[last][within]
        bound = (
            lower_share(float(right.sum()), float(len(right)), risk)
            if groups is None
            else lower_share_by_cluster(right, groups[within], risk)
        )
    return last, bound, None if tested else "too_few_items"


def _as_good(right: Floats, groups: NDArray[np.intp] | None, target: float) -> float:
    """How rarely labels come out as well as these were only the target of them right."""
    if groups is None:
        return share_tails(float(right.sum()), float(len(right)), target)[0]
    return tails_by_cluster(right, groups, target)[0]


def _fewest(target: float, risk: float) -> int:
    """Labels with which agreement two thirds of the way to perfect is likely to be shown."""
    # Fewer labels pass at no count: even if all agree, target^n is above the risk. log(0.01) /
    # log(0.1) may lie a rounding above 2.
    n = math.ceil(math.log(risk) / math.log(target) - 1e-9)
    while True:
        # The fewest agreeing labels whose upper tail at the target is rare enough.
        wanted = int(np.searchsorted(-special().bdtrc(np.arange(n) - 0.0, n, target), -risk)) + 1
        if special().bdtrc(wanted - 1, n, (2 + target) / 3) >= _POWER:
            return n
        n += 1


def _none(target: float, risk: float, n: int, reason: str | None) -> AutomatedShare:
    return AutomatedShare(0.0, math.nan, math.nan, math.nan, target, risk, n, 0, reason)


def _numbered(clusters: Any, n: int) -> NDArray[np.intp]:
    names = row_names(clusters, n, "clusters")
    return np.asarray(np.unique(names, return_inverse=True)[1], np.intp)


def _checked(
    agrees: Any, confidence: Any, everywhere: Any, target: float, risk: float
) -> tuple[Floats, Floats, Floats]:
    right, sure = numbers(agrees, "agrees"), numbers(confidence, "confidence")
    every = numbers(everywhere, "everywhere")
    if right.ndim != 1 or right.shape != sure.shape:
        raise StatisticsError(
            f"agrees and confidence must be equally long, got shapes {right.shape} and {sure.shape}"
        )
    if not np.isin(right, (0.0, 1.0)).all():
        raise StatisticsError("agrees must hold 0 and 1 only, none missing")
    if np.isnan(sure).any() or np.isnan(every).any() or every.ndim != 1 or len(every) == 0:
        raise StatisticsError("each verdict needs a confidence; leave out what has none")
    for name, value in (("target", target), ("risk", risk)):
        if not 0 < value < 1:
            raise StatisticsError(f"{name} must lie between 0 and 1, got {value!r}")
    return right, sure, every
