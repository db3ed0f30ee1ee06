"""Several judges' scores as one, by weights that no label of the scored item shaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers, row_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voirdire.stats._arrays import Floats


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
        Of the ridge, on standardised judges.

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
    known, cluster = ~np.isnan(y), np.arange(len(y))
    if clusters is not None:
        cluster = np.unique(row_names(clusters, len(y), "clusters"), return_inverse=True)[1]
    dealt = np.unique(cluster[known])
    folds = min(folds, len(dealt))
    if folds < 2:
        raise StatisticsError(f"weights need two labelled items or clusters, got {len(dealt)}")
    design = np.stack([_standard(row) for row in scores], 1)
    fold_of = np.full(cluster.max() + 1, -1)
    fold_of[dealt] = np.arange(len(dealt)) % folds
    fold = np.where(known, fold_of[cluster], -1)
    every = np.stack([_ridge(design, y, known & (fold != k), penalty)
                      for k in range(folds)])  # fmt: skip
    own = every[np.maximum(fold, 0), np.arange(len(fold))]
    return np.asarray(np.where(known, own, every.mean(0)))


def _standard(row: Floats) -> Floats:
    """A judge with mean 0 and spread 1, its mean where it is missing."""
    known = ~np.isnan(row)
    if not known.any():
        return np.zeros_like(row)
    spread = row[known].std()
    return np.where(known, (row - row[known].mean()) / (spread if spread > 0 else 1.0), 0.0)


def _ridge(design: Floats, labels: Floats, rows: NDArray[np.bool_], penalty: float) -> Floats:
    """Predictions for all items of a ridge regression on some of them."""
    x, y = design[rows], labels[rows]
    centre, mean = x.mean(0), y.mean()
    inner = (x - centre).T @ (x - centre) + penalty * np.eye(design.shape[1])
    weights = np.linalg.solve(inner, (x - centre).T @ (y - mean))
    return np.asarray(mean + (design - centre) @ weights)
