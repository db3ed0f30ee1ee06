"""Area under the ROC curve, from scores and never from hard labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import numbers
from voirdire.stats._results import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


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
