"""Several judges' scores as one: by mean, vote, weights, or labels estimated with their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats._arrays import Floats, numbers, occurring, row_names
from voirdire.stats.response_panel import mean_present

if TYPE_CHECKING:
    from numpy.typing import NDArray

Combine = Literal["mean", "median", "vote", "fitted", "dawid_skene"]
COMBINE: tuple[Combine, ...] = ("mean", "median", "vote", "fitted", "dawid_skene")
#: Scores of more levels are no labels: nobody votes on them.
MOST_LEVELS = 11
#: Rounds of expectation and maximisation, should they not settle before.
_ROUNDS = 200


def combine(
    members: Any, how: Combine, *, reference: Any = None, clusters: Any = None, folds: int = 5
) -> Floats:
    """One score an item out of several judges' scores.

    Parameters
    ----------
    members : array-like, shape (k, N)
        NaN where a member abstained. A member that scored nothing changes nothing.
    how : {"mean", "median", "vote", "fitted", "dawid_skene"}
        ``"vote"`` takes the commonest score and leaves a tie undecided: the order of members never
        decides. ``"fitted"`` weighs members by ridge regression on the reference, cross-fitted, so
        that no item's label shapes its own score. ``"dawid_skene"`` estimates each member's
        confusions and the labels together.
    reference : array-like, shape (N,), optional
        The humans' scores, for ``"fitted"``; NaN where nobody was asked.
    clusters : array-like, shape (N,), optional
        Items of one cluster stay in one fold.
    folds : int

    Returns
    -------
    (N,) float64
        NaN where all members abstained, or a vote is tied.

    Raises
    ------
    StatisticsError
        Shapes that do not fit, an unknown way, no reference where one is needed, fine scales
        where labels are.

    Examples
    --------
    >>> from voirdire.stats import combine
    >>> combine([[1, 2, 5], [1, 4, None], [2, 3, 4]], "mean").tolist()
    [1.3333333333333333, 3.0, 4.5]
    >>> combine([[1, 0, 1], [1, 1, None], [0, 1, 0]], "vote").tolist()
    [1.0, 1.0, nan]

    References
    ----------
    Dawid and Skene (1979), Applied Statistics 28, 20-28.
    """
    if how not in COMBINE:
        raise not_one_of("way to combine", how, COMBINE, error=StatisticsError)
    scores = member_scores(members)
    present = ~np.isnan(scores)
    if how == "fitted":
        if reference is None:
            raise StatisticsError("fitted weights need the humans' scores as reference")
        # A member that never answered would be a constant column, whose weight is 0 all the same.
        alive = scores[present.any(1)]
        if not len(alive):
            return np.full(scores.shape[1], np.nan)
        combined = combined_judge(reference, alive, clusters=clusters, folds=folds)
        return np.where(present.any(0), combined, np.nan)
    if how == "mean":
        return mean_present(scores)
    if how == "median":
        out = np.full(scores.shape[1], np.nan)
        some = present.any(0)
        out[some] = np.nanmedian(scores[:, some], axis=0)
        return out
    levels = _levels_of(scores)
    return _vote(scores, levels) if how == "vote" else _dawid_skene(scores, levels)


def combined_judge(
    labels: Any, judges: Any, *, clusters: Any = None, folds: int = 5, penalty: float = 1.0
) -> Floats:
    """One score an item out of several judges', by ridge weights that no label of the item shaped.

    Labelled items (or clusters) are dealt into folds in their order; the score of an item in one
    fold uses weights fitted on the labels of the others, that of an unlabelled item the mean of all
    fits.

    Parameters
    ----------
    labels : array-like, shape (M,)
        NaN where nobody was asked.
    judges : array-like, shape (k, M)
        NaN where a judge gave none: its mean stands.
    clusters : array-like, shape (M,), optional
        Items of one cluster stay in one fold.
    folds : int
        At least 2.
    penalty : float
        The penalty of the ridge regression, on standardised judges.

    Returns
    -------
    (M,) float64

    Raises
    ------
    StatisticsError
        Shapes that do not fit, fewer than two labelled clusters, fewer than two folds.

    Examples
    --------
    >>> from voirdire.stats import combined_judge
    >>> labels = [1, 2, 3, 4, None, None]
    >>> scores = combined_judge(labels, [[1, 2, 3, 4, 1, 4], [2, 2, 3, 3, 2, 3]], folds=2)
    >>> bool(scores[4] < scores[5])
    True

    References
    ----------
    Cross-fitting: Zrnic and Candes (2024), Cross-prediction-powered inference, PNAS 121.
    """
    scores = np.atleast_2d(numbers(judges, "judges"))
    y = numbers(labels, "labels")
    if y.ndim != 1 or scores.shape[1] != len(y):
        raise StatisticsError(
            f"judges must have a column an item: {scores.shape[1]} columns, {len(y)} labels"
        )
    labelled, cluster = ~np.isnan(y), np.arange(len(y))
    if clusters is not None:
        cluster = np.unique(row_names(clusters, len(y), "clusters"), return_inverse=True)[1]
    dealt = np.unique(cluster[labelled])
    folds = min(folds, len(dealt))
    if folds < 2:
        raise StatisticsError(f"weights need two labelled items or clusters, got {len(dealt)}")
    design = np.stack([_standard(row) for row in scores], 1)
    fold_of = np.full(cluster.max() + 1, -1)
    # In the order of names, as calibration deals: no seed.
    fold_of[dealt] = np.arange(len(dealt)) % folds
    fold = np.where(labelled, fold_of[cluster], -1)
    every = np.stack([_ridge(design, y, labelled & (fold != k), penalty) for k in range(folds)])
    # An unlabelled item is in no fold: the place is a stand-in, which the next line does not use.
    own = every[np.maximum(fold, 0), np.arange(len(fold))]
    return np.asarray(np.where(labelled, own, every.mean(0)))


def member_scores(members: Any) -> Floats:
    """(k, N) scores, a row a member."""
    scores = numbers(members, "members")
    if scores.ndim != 2 or not len(scores):
        raise StatisticsError(f"members must have a row a judge, got shape {scores.shape}")
    return scores


def _levels_of(scores: Floats) -> Floats:
    levels = occurring(scores)
    if len(levels) > 10 * MOST_LEVELS:
        raise StatisticsError(
            f"a vote needs labels or levels, and there are {len(levels)} different scores: use "
            "mean or median"
        )
    return levels


def _vote(scores: Floats, levels: Floats) -> Floats:
    counts = np.stack([(scores == level).sum(0) for level in levels]) if len(levels) else None
    if counts is None:
        return np.full(scores.shape[1], np.nan)
    most = counts.max(0)
    # A tie stays open: to take the lower level would be a choice that no member made.
    alone = (counts == most).sum(0) == 1
    return np.where(alone & (most > 0), levels[counts.argmax(0)], np.nan)


def _dawid_skene(scores: Floats, levels: Floats) -> Floats:
    """Expectation and maximisation from the shares of votes; a thousandth of a label smooths."""
    if not len(levels):
        return np.full(scores.shape[1], np.nan)
    chosen = np.stack([scores == level for level in levels], 2).astype(float)  # (k, N, L)
    votes = chosen.sum(0)
    some = votes.sum(1) > 0
    with np.errstate(invalid="ignore"):
        belief = np.where(some[:, None], votes / votes.sum(1, keepdims=True), 1 / len(levels))
    for _ in range(_ROUNDS):
        # A label that nobody believes in keeps a logarithm.
        common = belief[some].mean(0) + 1e-12
        # What a member never did is rare, and not impossible: one slip would else rule a label out.
        confusion = np.einsum("nt,knl->ktl", belief, chosen) + 1e-3
        confusion /= confusion.sum(2, keepdims=True)
        # Products of many members' shares are too small for float64; their logarithms are not.
        logs = np.log(common)[None] + np.einsum("knl,ktl->nt", chosen, np.log(confusion))
        after = np.exp(logs - logs.max(1, keepdims=True))
        after /= after.sum(1, keepdims=True)
        if np.abs(after - belief)[some].max(initial=0.0) < 1e-9:
            belief = after
            break
        belief = after
    top = belief.max(1)
    # Two labels equally believed are a tied vote.
    alone = (np.abs(belief - top[:, None]) < 1e-9).sum(1) == 1
    return np.where(some & alone, levels[belief.argmax(1)], np.nan)


def _standard(row: Floats) -> Floats:
    """A judge with mean 0 and spread 1, its mean where it is missing."""
    present = ~np.isnan(row)
    if not present.any():
        return np.zeros_like(row)
    # Judges on 1..5 and on 0..100 are held back alike.
    spread = row[present].std()
    return np.where(present, (row - row[present].mean()) / (spread if spread > 0 else 1.0), 0.0)


def _ridge(design: Floats, labels: Floats, rows: NDArray[np.bool_], penalty: float) -> Floats:
    """Predictions for all items of a ridge regression on some of them."""
    x, y = design[rows], labels[rows]
    centre, mean = x.mean(0), y.mean()
    # The intercept is left out of the penalty: it says what the labels' level is, and no judge's
    # weight.
    inner = (x - centre).T @ (x - centre) + penalty * np.eye(design.shape[1])
    weights = np.linalg.solve(inner, (x - centre).T @ (y - mean))
    return np.asarray(mean + (design - centre) @ weights)
