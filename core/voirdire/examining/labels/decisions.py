"""From scores to decisions: thresholds chosen on validation data, and the F1 that they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Threshold = Literal["shared", "each", "fixed"]
MIDDLE = 0.5


def weighted_f1(truth: NDArray[np.int8], predicted: Floats) -> float:
    """F1 of each column, weighted by its support; NaN where no column has any.

    >>> weighted_f1(np.eye(2, dtype=np.int8), np.array([[1.0, 0.0], [1.0, 0.0]]))
    0.3333333333333333
    """
    support = truth.sum(axis=0, dtype=np.float64)
    named = np.nan_to_num(predicted)
    hits, whole = (truth * named).sum(axis=0), support + named.sum(axis=0)
    f1 = np.divide(2 * hits, whole, out=np.zeros_like(whole), where=whole > 0)
    return float(f1 @ support / support.sum()) if support.sum() else float("nan")


def decide(scores: Floats, task: str, thresholds: ArrayLike = MIDDLE) -> Floats:
    """0 or 1 a class: the highest score where classes exclude one another, else by threshold.

    Of equal scores the first class wins. A row with a missing score is missing.

    Parameters
    ----------
    scores : (items, classes) float64
    task : {"binary", "multi-class", "multi-label"}
        The first two: one class an item.
    thresholds : float or (classes,) array
        Of a multi-label task: a label is given from its threshold on.

    Examples
    --------
    >>> decide(np.array([[0.2, 0.3, 0.5], [np.nan, 0.1, 0.9]]), "multi-class").tolist()
    [[0.0, 0.0, 1.0], [nan, nan, nan]]
    """
    missing = np.asarray(np.isnan(scores).any(axis=1))
    known = np.where(missing[:, None], 0.0, scores)
    if task == "multi-label":
        chosen = (known >= thresholds).astype(np.float64)
    else:
        chosen = np.eye(scores.shape[1])[known.argmax(axis=1)]
    chosen[missing] = np.nan
    return chosen


def choose_thresholds(scores: Floats, truth: NDArray[np.int8], how: Threshold) -> Floats:
    """One threshold a label, chosen to maximise F1 on validation data.

    ``shared`` takes the same one for all labels, by weighted F1; ``each`` one a label, and the
    shared one for a label that no validation item has; ``fixed`` is 0.5. Candidates lie half way
    between neighbouring scores. Where several are equally good, the one nearest 0.5 is taken.
    Items with a missing score are left out.

    Parameters
    ----------
    scores, truth : (n, q) arrays

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.3, 0.25], [0.35, 0.1]])
    >>> truth = np.array([[0, 0], [1, 1], [1, 0]], dtype=np.int8)
    >>> choose_thresholds(scores, truth, "each").round(3).tolist()
    [0.2, 0.225]
    """
    q = truth.shape[1]
    known = ~np.isnan(scores).any(axis=1)
    scores, truth = scores[known], truth[known]
    if how == "fixed" or not truth.any():
        return np.full(q, MIDDLE)
    shared = np.full(q, _best(scores, truth))
    if how == "shared":
        return shared
    columns = [slice(c, c + 1) for c in range(q)]
    own = [_best(scores[:, c], truth[:, c]) if truth[:, c].any() else shared[0] for c in columns]
    return np.array(own)


def _best(scores: Floats, truth: NDArray[np.int8]) -> float:
    """The threshold for all columns given, by the sums of ever longer tops of sorted scores."""
    q = truth.shape[1]
    order = np.argsort(-scores, axis=None, kind="stable")
    column, value = order % q, scores.ravel()[order]
    support = truth.sum(axis=0, dtype=np.float64)
    total = np.zeros(len(order))
    for c in np.flatnonzero(support):
        mine = column == c
        hits = np.cumsum(mine * truth.ravel()[order])
        total += support[c] * 2 * hits / (support[c] + np.cumsum(mine))
    ends = np.append(value[1:] < value[:-1], True)  # equal scores fall together
    below = np.append(value[1:], 0.0)
    middle = (value + below) / 2
    best = total[ends].max()
    close = np.flatnonzero(ends & (total >= best * (1 - 1e-12)))
    return float(middle[close[np.abs(middle[close] - MIDDLE).argmin()]])
