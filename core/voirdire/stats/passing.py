"""Pass and fail: bad responses that pass a line, pass rates corrected, the area under all lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import Floats, check_level, numbers
from voirdire.stats._pairs import pairs
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intervals import normal_quantile, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def tail_misses(judge: Any, reference: Any, at_or_below: float, *, level: float = 0.95) -> Estimate:
    """Share of bad responses that the judge scores above the line: the unsafe call passed.

    Of the pairs whose reference lies at or below `at_or_below`, the share whose judge's score lies
    above it.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    at_or_below : float
        The declared score up to which a response counts as bad.
    level : float
        Nominal coverage of the Wilson interval.

    Returns
    -------
    Estimate
        n counts the bad responses. `details`: misses, false_alarms (of the others, those that the
        judge puts at or below the line), n_others, false_alarm_rate. Reason no_data without a bad
        response: a judge that was never tested has no miss rate.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite; a line that is NaN.

    Examples
    --------
    >>> from voirdire.stats import tail_misses
    >>> misses = tail_misses([4, 2, 1, 5, 2], [1, 2, 2, 5, 4], at_or_below=2)
    >>> print(misses)
    tail misses = 0.333, 95% CI [0.061, 0.792] (wilson), n = 3, k = 2
    >>> misses.details["false_alarms"]
    1

    References
    ----------
    Wilson (1927), JASA 22, 209-212.
    """
    check_level(level)
    if math.isnan(at_or_below):
        raise StatisticsError("at_or_below must be a score, not NaN")
    paired = pairs(judge, reference)
    bad, called = paired.reference <= at_or_below, paired.judge <= at_or_below
    n, n_others = int(bad.sum()), int((~bad).sum())
    misses, alarms = int((bad & ~called).sum()), int((~bad & called).sum())
    return Estimate(
        "tail misses",
        misses / n if n else math.nan,
        (wilson_interval(misses / n if n else math.nan, n, level),),
        n,
        2,
        paired.left_out,
        None if n else "no_data",
        details={
            "at_or_below": float(at_or_below),
            "misses": misses,
            "false_alarms": alarms,
            "n_others": n_others,
            "false_alarm_rate": alarms / n_others if n_others else math.nan,
        },
    )


def rogan_gladen(
    judged_positive: int,
    judged: int,
    true_positive: int,
    positive: int,
    true_negative: int,
    negative: int,
    *,
    level: float = 0.95,
) -> Estimate:
    r"""A pass rate corrected by sensitivity and specificity that were measured elsewhere.

    :math:`(p + sp - 1) / (se + sp - 1)`. It assumes that the judge errs on these items as it did
    where sensitivity and specificity were measured; where labels of these items are at hand use
    `prediction_powered_mean`, which assumes nothing of the kind.

    Parameters
    ----------
    judged_positive, judged : int
        Items that the judge passes, of how many.
    true_positive, positive : int
        Labels that pass and that the judge passes, of how many that pass.
    true_negative, negative : int
        The same of labels that fail.
    level : float
        Nominal coverage of the delta-method interval, after adding one (or two for the pass rate)
        observation to each share (Lang and Reiczigel 2014).

    Returns
    -------
    Estimate
        In [0, 1] up to sampling error (it is not clipped; flag ``outside_range`` beyond it). Reason
        not_estimable where the judge does no better than chance (se + sp <= 1).

    Raises
    ------
    StatisticsError
        Counts that are negative or larger than their totals, or an empty total.

    Examples
    --------
    >>> from voirdire.stats import rogan_gladen
    >>> round(rogan_gladen(300, 1000, 90, 100, 80, 100).value, 3)
    0.143

    References
    ----------
    Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71-76; Lang and Reiczigel (2014), Prev. Vet.
    Med. 113, 13-22, for the interval.
    """
    for part, whole, what in (
        (judged_positive, judged, "judged"),
        (true_positive, positive, "positive"),
        (true_negative, negative, "negative"),
    ):
        if not 0 <= part <= whole or whole == 0:
            raise StatisticsError(f"{what}: {part} of {whole} is no share")
    p, se, sp = judged_positive / judged, true_positive / positive, true_negative / negative
    details = {"sensitivity": se, "specificity": sp, "judged": p}
    n = positive + negative
    # A judge no better than chance says nothing of the share, and the formula would divide by 0.
    if se + sp <= 1:
        return Estimate("corrected share", math.nan, n=n, reason="not_estimable", details=details)
    value = (p + sp - 1) / (se + sp - 1)
    low, high = _lang_reiczigel(
        (judged_positive, judged), (true_positive, positive), (true_negative, negative), level
    )
    flags = () if 0 <= value <= 1 else ("outside_range",)
    return Estimate(
        "corrected share",
        value,
        (Interval("lang_reiczigel", level, low, high),),
        n=n,
        k=2,
        flags=flags,
        details=details,
    )


def _lang_reiczigel(
    judged: tuple[int, int], positive: tuple[int, int], negative: tuple[int, int], level: float
) -> tuple[float, float]:
    """Bounds of Lang and Reiczigel's adjusted interval, equations 7 to 10."""
    z = normal_quantile(0.5 + level / 2)
    n, m_se, m_sp = judged[1], positive[1], negative[1]
    # One observation is added to each of both shares, z² to the pass rate: without them a judge
    # that never erred would claim an interval of no width.
    p = (judged[0] + z * z / 2) / (n + z * z)
    se, sp = (positive[0] + 1) / (m_se + 2), (negative[0] + 1) / (m_sp + 2)
    youden = se + sp - 1
    if youden <= 0:
        return math.nan, math.nan
    prevalence = (p + sp - 1) / youden
    centre = prevalence + 2 * z * z * (
        prevalence * se * (1 - se) / (m_se + 2) - (1 - prevalence) * sp * (1 - sp) / (m_sp + 2)
    )
    spread = (
        p * (1 - p) / (n + z * z)
        + se * (1 - se) / (m_se + 2) * prevalence**2
        + sp * (1 - sp) / (m_sp + 2) * (1 - prevalence) ** 2
    )
    half = z * math.sqrt(spread) / youden
    return max(centre - half, 0.0), min(centre + half, 1.0)


def roc_auc(
    truth: ArrayLike, scores: ArrayLike, *, labels: Sequence[Any] | None = None
) -> Estimate:
    """Area under the ROC curve, through scikit-learn.

    ``P(score of a positive > score of a negative) + P(equal) / 2``.

    The chance that an item which has the label scores above one which has not (ties count half).
    With several labels, the mean over those that some items have and some have not.

    Parameters
    ----------
    truth : array_like, shape (n items,) or (n items, q labels)
        0 or 1; NaN and masked entries are missing.
    scores : array_like, the same shape
        Any real scores; NaN is missing. A hard 0/1 label is a poor score: it hides the order.
    labels : sequence, optional
        Names of the columns.

    Returns
    -------
    Estimate
        ``n`` items with a truth and a score; details: ``labels`` (each label's area) and
        ``undefined`` (labels that all or no items have). NaN with
        ``zero_expected_disagreement`` where no label is left, or ``no_data``.

    Raises
    ------
    StatisticsError
        For shapes that differ, truths other than 0 and 1, or infinite scores.

    References
    ----------
    Hanley, J. A. and McNeil, B. J. (1982). Radiology 143, 29-36.

    Examples
    --------
    >>> print(roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    ROC-AUC = 0.750, n = 4, k = 1
    """
    true, given = _columns(truth, "truth"), _columns(scores, "scores")
    _check(true, given)
    q = true.shape[1]
    names = [str(label) for label in (range(q) if labels is None else labels)]
    if len(names) != q or len(set(names)) != q:
        raise StatisticsError(f"{q} columns need {q} different labels, got {names!r}")
    areas = [_area(true[:, c], given[:, c]) for c in range(q)]
    defined = [area for area in areas if not math.isnan(area)]
    n = int((~np.isnan(true) & ~np.isnan(given)).any(axis=1).sum())
    reason = None if defined else ("zero_expected_disagreement" if n else "no_data")
    return Estimate(
        "ROC-AUC",
        float(np.mean(defined)) if defined else math.nan,
        n=n,
        k=q,
        left_out=len(true) - n,
        reason=reason,
        details={
            "labels": dict(zip(names, areas, strict=True)),
            "undefined": [name for name, a in zip(names, areas, strict=True) if math.isnan(a)],
        },
    )


def _columns(values: ArrayLike, name: str) -> NDArray[np.float64]:
    given = numbers(values, name)
    if given.ndim not in {1, 2}:
        raise StatisticsError(f"{name} must be (items,) or (items, labels), got {given.shape}")
    return given[:, None] if given.ndim == 1 else given


def _check(true: NDArray[np.float64], given: NDArray[np.float64]) -> None:
    if true.shape != given.shape:
        raise StatisticsError(
            f"truth and scores must have one shape, got {true.shape} and {given.shape}"
        )
    if not (np.isnan(true) | (true == 0) | (true == 1)).all():
        raise StatisticsError("truth must be 0, 1 or missing")
    if np.isinf(given).any():
        raise StatisticsError("scores must be finite or missing (NaN)")


def _area(true: NDArray[np.float64], given: NDArray[np.float64]) -> float:
    """One label's area; NaN where all or no items have it."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - slow to import

    kept = ~np.isnan(true) & ~np.isnan(given)
    truth = true[kept]
    if not truth.size or truth.min() == truth.max():
        return math.nan
    return float(roc_auc_score(truth, given[kept]))


def areas_without(
    scores: Floats, passed: Floats, cluster: NDArray[np.intp], clusters: int
) -> tuple[float, Floats]:
    """The area, and the area without each cluster: pairs inside a cluster are taken out once.

    Parameters
    ----------
    scores : (n, runs) float64
        NaN where missing; every run is held against every human.
    passed : (n, humans) float64
        1 or 0; NaN where missing.
    cluster : (n,) intp
        0 .. `clusters` - 1.
    """
    n_runs, n_humans = scores.shape[1], passed.shape[1]
    score = np.repeat(scores, n_humans, axis=1).ravel()
    truth = np.tile(passed, (1, n_runs)).ravel()
    cluster = np.repeat(cluster, n_runs * n_humans)
    kept = ~np.isnan(score) & ~np.isnan(truth)
    rank = np.unique(score[kept], return_inverse=True)[1]
    good, cluster = truth[kept] == 1, cluster[kept]
    n_good, n_bad = (np.bincount(cluster[part], minlength=clusters) for part in (good, ~good))
    if not n_good.any() or not n_bad.any():
        return math.nan, np.array([])
    # By ranks, not pairs: ten thousand responses have 25 million pairs.
    below = _ties_halved(rank[good], rank[~good])
    above = good.sum() - _ties_halved(rank[~good], rank[good])
    # Inside its cluster a pair has a key that no other cluster's can be near.
    key = cluster * (rank.max() + 1) + rank
    inside = _ties_halved(key[good], key[~good]) - (np.cumsum(n_bad) - n_bad)[cluster[good]]
    taken = np.bincount(cluster[good], below - inside, clusters)
    taken += np.bincount(cluster[~good], above, clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = (below.sum() - taken) / (
            (good.sum() - n_good) * ((~good).sum() - n_bad).astype(np.float64)
        )
    return float(below.sum() / (good.sum() * (~good).sum())), out[np.isfinite(out)]


def _ties_halved(values: NDArray[np.intp], others: NDArray[np.intp]) -> Floats:
    """For each value, how many of the others lie below it, ties counting half."""
    ordered = np.sort(others)
    left = np.searchsorted(ordered, values, "left")
    return (left + np.searchsorted(ordered, values, "right")) / 2
