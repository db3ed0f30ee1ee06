"""Does a judge follow single responses as a human does? Correlation within systems, and worth."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.stats._results import Estimate, Interval
from voirdire.stats.response_panel import ResponsePanel, centred, mean_present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats
    from voirdire.stats.sums import ClusterSums, Jackknifed

#: Rounds of removing system and item effects; crossed effects converge in two or three.
ROUNDS = 3


def within_correlation(
    judge: Any,
    humans: Any,
    *,
    systems: Any = None,
    items: Any = None,
    clusters: Any = None,
    nominal: bool = False,
    level: float = 0.95,
) -> Estimate:
    """Correlation of one run with the mean human, system and item effects removed.

    A judge that answers each system's mean, or only the prompt, has 0 here.

    Parameters
    ----------
    judge : array-like, shape (n,) or (n, runs)
        Scores; NaN is missing. Of several runs, products are averaged: the value is one run's.
    humans : array-like, shape (n,) or (n, humans)
        Scores.
    systems, items : array-like, shape (n,), optional
        What answered, and what it answered. Item effects are removed where an item is answered by
        about two systems or more.
    clusters : array-like, shape (n,), optional
        What is left out at a time; by default items.
    nominal : bool
        Whether scores are codes of labels: then vectors of 0 and 1 are correlated.
    level : float
        Nominal coverage of the t interval on Fisher's z.

    Returns
    -------
    Estimate
        Reason zero_variance for a judge whose scores do not vary within a system.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> human, judge = [1, 2, 3, 4, 2, 3], [2, 2, 4, 5, 1, 3]
    >>> print(f"{within_correlation(judge, human).value:.2f}")
    0.78

    References
    ----------
    Snijders and Bosker (2012), Multilevel Analysis, section 3.6, for correlation within groups;
    errors by leaving out clusters: Miller (1974), Biometrika 61, 1-15.
    """
    panel = ResponsePanel.of(
        judge, humans, systems=systems, items=items, clusters=clusters, nominal=nominal
    )
    table = reading_sums(panel)
    if not table.total[2] > _NONE:
        return _undefined("within-system correlation", panel, "zero_variance")
    jackknifed = table.jackknife(ratio, "fisher")
    return _estimate("within-system correlation", jackknifed, panel, level)


def human_reliability(
    humans: Any,
    *,
    systems: Any = None,
    items: Any = None,
    clusters: Any = None,
    nominal: bool = False,
    level: float = 0.95,
) -> Estimate:
    """Reliability of one human on single responses of a system: c / v.

    c is the covariance between two humans and v the variance of one, both pooled within systems
    and averaged over the pairs present.

    Parameters
    ----------
    humans : array-like, shape (n, humans)
        Scores of at least two humans, NaN where missing; what two of them share is what counts.
    systems, items : array-like, shape (n,), optional
        What answered, and what it answered; system effects are removed.
    clusters : array-like, shape (n,), optional
        What is left out at a time; by default items.
    nominal : bool
        Whether scores are codes of labels: then vectors of 0 and 1 take their place.
    level : float
        Nominal coverage of the t interval.

    Returns
    -------
    Estimate
        Reason too_few_raters where no response has two humans. `details`: se and df on
        Fisher's z, clusters.

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> humans = [[1, 2], [2, 2], [4, 5], [5, 4], [3, 3], [1, 1]]
    >>> print(f"{human_reliability(humans).value:.2f}")
    0.87

    References
    ----------
    Spearman (1904), American Journal of Psychology 15, 72-101, for reliability and attenuation;
    errors by leaving out clusters: Miller (1974), Biometrika 61, 1-15.
    """
    panel = ResponsePanel.of(
        humans, humans, systems=systems, items=items, clusters=clusters, nominal=nominal
    )
    table = item_table(panel)
    if not table.met(0):
        return _undefined("human reliability", panel, "too_few_raters")
    jackknifed = table.jackknife(reliability, "fisher")
    return _estimate("human reliability", jackknifed, panel, level)


def item_reliability(
    judge: Any,
    humans: Any,
    *,
    times: float = 2.0,
    systems: Any = None,
    items: Any = None,
    clusters: Any = None,
    nominal: bool = False,
    level: float = 0.95,
) -> Estimate:
    """How much closer to the humans' shared score one run is than a human with more error.

    ``j / sqrt(u c) - sqrt(c / (c + times (v - c)))``: the correlation of the judge with what
    humans share, less that of a human whose error variance is `times` as large. Above 0, `times`
    judges replace one human. c, v, j, u are the covariance between two humans, the variance of
    one, the covariance of judge and human, and the variance of the judge, within systems.

    Parameters
    ----------
    judge : array-like, shape (n,) or (n, runs)
        Scores; NaN is missing. Of several runs, products are averaged: the value is one run's.
    times : float
        The error variance that is allowed, in multiples of a human's.
    humans, systems, items, clusters, nominal, level
        As in `human_reliability`.

    Returns
    -------
    Estimate
        Reason too_few_raters where no response has two humans. `details`: ``reliability`` (c / v),
        ``worth``, ``slope`` (j / c: points of the judge for one shared point of the humans).

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> humans = [[1, 2], [2, 2], [4, 5], [5, 4], [3, 3], [1, 1], [4, 3], [2, 3]]
    >>> reliability = item_reliability([1, 2, 4, 4, 2, 3, 4, 2], humans)
    >>> print(f"{reliability.value:.2f}, worth {reliability.details['worth']:.1f} humans")
    -0.09, worth 0.3 humans

    References
    ----------
    Spearman (1904), American Journal of Psychology 15, 72-101, for reliability and attenuation;
    errors by leaving out clusters: Miller (1974), Biometrika 61, 1-15.
    """
    panel = ResponsePanel.of(
        judge, humans, systems=systems, items=items, clusters=clusters, nominal=nominal
    )
    table = item_table(panel, beside=True)
    if not table.met(0):
        return _undefined("item reliability", panel, "too_few_raters")
    total = table.total
    jackknifed = table.jackknife(lambda sums: beyond(sums, times))
    c, v, j, _ = (float(part) for part in moments(total))
    made = _estimate("item reliability", jackknifed, panel, level)
    details = {**made.details, "reliability": c / v, "worth": worth_of(total), "slope": j / c}
    return dataclasses.replace(made, details=details)


def worth(
    judge: Any,
    humans: Any,
    *,
    systems: Any = None,
    items: Any = None,
    clusters: Any = None,
    nominal: bool = False,
    level: float = 0.95,
) -> Estimate:
    """How many humans one run of the judge is worth on single responses.

    ``[rho² / (1 - rho²)] / [q / (1 - q)]`` with rho the correlation of one run with what the
    humans share and q the reliability of one human: the number of humans whose mean would follow
    the shared score as well (Spearman 1910; Brown 1910). Below 0 where rho is.

    Parameters
    ----------
    judge : array-like, shape (n,) or (n, runs)
        Scores; NaN is missing. Of several runs, products are averaged: the value is one run's.
    humans, systems, items, clusters, nominal, level
        As in `human_reliability`.

    Returns
    -------
    Estimate
        Reason too_few_raters where no response has two humans. The interval is that of rho, with q
        as it is. `details`: ``reliability`` (q), ``following`` (rho).

    Raises
    ------
    StatisticsError
        Arrays that do not match or are not numbers.

    Examples
    --------
    >>> humans = [[1, 2], [2, 2], [4, 5], [5, 4], [3, 3], [1, 1], [4, 3], [2, 3]]
    >>> print(f"{worth([1, 2, 5, 3, 2, 1, 4, 4], humans).value:.2f}")
    0.48

    References
    ----------
    Spearman (1910), British Journal of Psychology 3, 271-295; Brown (1910), ibid. 296-322.
    """
    panel = ResponsePanel.of(
        judge, humans, systems=systems, items=items, clusters=clusters, nominal=nominal
    )
    table = item_table(panel, beside=True)
    if not table.met(0):
        return _undefined("worth", panel, "too_few_raters")
    total, q = table.total, float(reliability(table.total))
    shared = table.jackknife(following, "fisher")
    bounds = shared.interval(level)
    low, high = (_worth(rho, q) for rho in (bounds.low, bounds.high))
    return Estimate(
        "worth",
        worth_of(total),
        (Interval("cluster_jackknife", level, low, high),),
        panel.n,
        len(panel.humans),
        panel.left_out,
        details={"reliability": q, "following": float(following(total))},
    )


#: Sums of squares below this are none.
_NONE = 1e-9


def reading_sums(panel: ResponsePanel) -> ClusterSums:
    """Sums by cluster of `reading_columns`, and the usable responses of each as a fourth column.

    Clusters without one are left out.
    """
    if panel.counted is not None and panel.crossed:
        # Effects of items need the responses themselves, which only a second pass over the parts
        # has.
        return panel.counted.crossed_reading(panel)
    return _usable(panel, *reading_columns(panel))


def _usable(panel: ResponsePanel, columns: Floats, kept: NDArray[np.bool_]) -> ClusterSums:
    """Columns by cluster, and how many are kept as the last one; clusters without one left out."""
    with_size = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    return panel.by_cluster(with_size, kept, where=columns.shape[1])


def reading_by_system(panel: ResponsePanel) -> list[tuple[Jackknifed, int] | None]:
    """The correlation of `reading_sums` among the responses of each system, and their number.

    None where people do not vary within the system: there is nothing to read. A judge that does not
    vary there correlates 0.
    """
    columns, kept = reading_columns(panel)
    with_size = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    found: list[tuple[Jackknifed, int] | None] = []
    for place in range(len(panel.systems)):
        here = kept & (panel.system == place)
        table = panel.by_cluster(with_size, here, where=3)
        varies = len(table) > 1 and table.total[1] > _NONE
        found.append((table.jackknife(ratio, "fisher"), panel.size(here)) if varies else None)
    return found


def reading_columns(panel: ResponsePanel) -> tuple[Floats, NDArray[np.bool_]]:
    """(N, 3): products of one run and the mean human, squares of each; (N,) which are usable."""
    human = less_effects(panel, mean_vectors(panel))
    runs = [less_effects(panel, panel.vectors(run)) for run in panel.judge]
    n = np.sum([~np.isnan(run[:, 0]) for run in runs], axis=0)
    with np.errstate(invalid="ignore"):
        # Products of the mean of runs are the mean of products; squares are averaged, or several
        # runs would look like one steady one.
        one = np.nansum(runs, axis=0) / np.maximum(n, 1)[:, None]
        square = np.nansum([(run**2).sum(axis=1) for run in runs], axis=0) / np.maximum(n, 1)
    kept = (n > 0) & ~np.isnan(human[:, 0])
    columns = np.stack([(human * one).sum(axis=1), (human**2).sum(axis=1), square], axis=1)
    return columns, np.asarray(kept)


def mean_vectors(panel: ResponsePanel) -> Floats:
    """(N, D) mean of the humans' vectors."""
    if panel.categories is None:
        return panel.mean_human[:, None]
    vectors = panel.vectors(panel.humans)
    return np.stack(
        [mean_present(vectors[:, :, place]) for place in range(vectors.shape[2])], axis=1
    )


def less_effects(panel: ResponsePanel, vectors: Floats) -> Floats:
    """Vectors less the effects of systems and, where items are crossed with them, of items."""
    n_systems = len(panel.systems)
    rest = panel.centred(vectors, unbiased=False, least=2)
    if panel.crossed:
        n_items = int(panel.item.max()) + 1
        for _ in range(ROUNDS):
            # Unbalanced tables need several rounds: each mean is taken of what the other left.
            rest = centred(rest, panel.item, n_items, unbiased=False, least=2)
            rest = centred(rest, panel.system, n_systems, unbiased=False, least=2)
    return rest


def ratio(sums: Floats) -> Floats:
    """A correlation from sums (..., 3): products, and squares of each side."""
    # A constant side has products of 0 as well: 0 and no NaN.
    return sums[..., 0] / np.sqrt(np.maximum(sums[..., 1] * sums[..., 2], 1e-300))


def item_columns(panel: ResponsePanel, least: int = 5) -> Floats:
    """(N, 8) columns, one row a response, for what the judge and the humans share.

    Pairs of humans and their products; humans and their squares; human-judge pairs and their
    products; the judge (1 where it scored beside a human) and its squares. Scores are centred in
    human x system cells of at least `least`. Pairs are never enumerated:
    ((sum h)² - sum h²) / 2.
    """
    humans = [panel.centred(panel.vectors(human), least=least) for human in panel.humans]
    runs = [panel.centred(panel.vectors(run), least=least) for run in panel.judge]
    total, n, square = _present_sums(humans)
    run, n_runs, run_square = _present_sums(runs)
    there = n_runs > 0
    one = run / np.maximum(n_runs, 1)[:, None]
    beside = there & (n > 0)
    return np.stack(
        [
            # Pairs of humans, and Σ over pairs of their products: ((Σh)² - Σh²) / 2.
            n * (n - 1) / 2,
            ((total**2).sum(axis=1) - square) / 2,
            n,
            square,
            n * there,
            (one * total).sum(axis=1),
            beside * 1.0,
            np.where(beside, run_square / np.maximum(n_runs, 1), 0.0),
        ],
        axis=1,
    )


def _present_sums(vectors: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
    """Sum over raters, how many are present, and the sum of squares."""
    stacked = np.stack(vectors)
    present = ~np.isnan(stacked[:, :, 0])
    values = np.where(present[:, :, None], stacked, 0.0)
    return values.sum(axis=0), present.sum(axis=0) * 1.0, (values**2).sum(axis=(0, 2))


def item_table(panel: ResponsePanel, *, beside: bool = False) -> ClusterSums:
    """Sums by cluster of `item_columns`; `beside` keeps clusters where the judge has a human."""
    return panel.by_cluster(item_columns(panel), where=6 if beside else None)


def moments(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """c, v, j, u from sums (..., 8)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        c, v, j, u = (sums[..., k + 1] / sums[..., k] for k in (0, 2, 4, 6))
    return c, v, j, u


def reliability(sums: Floats) -> Floats:
    """One human's: c / v."""
    c, v, _, _ = moments(sums)
    return c / np.maximum(v, 1e-300)


def slope(sums: Floats) -> Floats:
    """Points of the judge for one point of what the humans share: j / c."""
    c, _, j, _ = moments(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(j / c)


def following(sums: Floats) -> Floats:
    """Correlation of one run with what the humans share: j / sqrt(u c); 0 for a constant judge."""
    c, v, j, u = moments(sums)
    # Humans who share nothing leave nothing to follow; the floor keeps the root real.
    shared = np.maximum(c, 1e-9 * v)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(u > 1e-12, j / np.sqrt(np.maximum(u, 1e-300) * shared), 0.0)


def beyond(sums: Floats, times: float) -> Floats:
    """`following` less that of a human with `times` the error variance."""
    c, v, _, _ = moments(sums)
    shared = np.maximum(c, 1e-9 * v)
    with np.errstate(invalid="ignore", divide="ignore"):
        return following(sums) - np.sqrt(shared / (shared + times * np.maximum(v - shared, 0)))


def worth_of(sums: Floats) -> float:
    """Humans that one run is worth, from sums (8,)."""
    c, v, j, u = (float(part) for part in moments(sums))
    if not c > 0:
        return math.nan
    # With its sign, so that a judge that runs against the humans is worth less than none.
    square = j * abs(j) / u / c if u > 1e-12 else 0.0
    return square / max(1 - square, 1e-9) / (c / max(v - c, 1e-9))


def _worth(rho: float, q: float) -> float:
    # A bound of 1 is worth infinitely many humans.
    square = min(rho * abs(rho), 1 - 1e-9)
    return square / (1 - square) * (1 - q) / q


def follows_others(panel: ResponsePanel, human: int) -> Jackknifed | None:
    """Correlation of one human with the mean of the others within systems.

    None below 30 shared responses.
    """
    return each_follows_others(panel, [human])[0]


def each_follows_others(panel: ResponsePanel, humans: Sequence[int]) -> list[Jackknifed | None]:
    """`follows_others` of each of these humans; what all of them need is computed once."""
    # Each human about its own mean of the system: leniency is no disagreement here.
    cells = np.stack([panel.centred(panel.vectors(scores)) for scores in panel.humans])
    present = ~np.isnan(cells[..., 0])
    filled = np.where(present[..., None], cells, 0.0)
    return [_follows_others(panel, cells[k], present, filled, k) for k in humans]


def _follows_others(
    panel: ResponsePanel, own: Floats, present: NDArray[np.bool_], filled: Floats, human: int
) -> Jackknifed | None:
    others = np.arange(len(present)) != human
    n = present[others].sum(axis=0)
    mean = filled[others].sum(axis=0) / np.maximum(n, 1)[:, None]
    kept = (n > 0) & ~np.isnan(own[:, 0])
    # Fewer responses do not tell a careless human from an unlucky one.
    if panel.size(kept) < 30:
        return None
    columns = np.stack(
        [(own * mean).sum(axis=1), (own**2).sum(axis=1), (mean**2).sum(axis=1)], axis=1
    )
    return _usable(panel, columns, kept).jackknife(ratio, "fisher")


def _undefined(name: str, panel: ResponsePanel, reason: str) -> Estimate:
    return Estimate(
        name, math.nan, n=panel.n, k=len(panel.humans), left_out=panel.left_out, reason=reason
    )


def _estimate(name: str, jackknifed: Jackknifed, panel: ResponsePanel, level: float) -> Estimate:
    return Estimate(
        name,
        float(jackknifed.value),
        (jackknifed.interval(level),),
        panel.n,
        len(panel.humans),
        panel.left_out,
        details={"se": jackknifed.se, "df": jackknifed.df, "clusters": panel.n_clusters},
    )
