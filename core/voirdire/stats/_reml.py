"""Restricted likelihood of y = μ + subject + rater + error with any cells missing.

With θ = (σ²s / σ²e, σ²r / σ²e) the covariance is σ²e (I + θs Zs Zs' + θr Zr Zr'). The first part is
inverted subject by subject, the second by a k by k system, so that after one pass over the data an
evaluation costs k³ whatever the number of subjects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats


@dataclass(frozen=True, slots=True)
class Sums:
    """What the likelihood needs of the ratings, by the number m = 1..k of ratings of a subject.

    Attributes
    ----------
    n_ratings, squares : float
        Ratings N, and Σ y².
    raters, totals : (k,)
        Ratings and Σ y of each rater.
    subjects, subject_totals, subject_squares : (k,)
        Over subjects with m ratings: how many, Σ of their totals, Σ of the squared totals.
    shared : (k, k, k)
        Over subjects with m ratings: how many both raters rated.
    weighted : (k, k)
        Over subjects with m ratings: Σ of the totals of those that a rater rated.
    """

    n_ratings: float
    squares: float
    raters: Floats
    totals: Floats
    subjects: Floats
    subject_totals: Floats
    subject_squares: Floats
    shared: Floats
    weighted: Floats

    @classmethod
    def of(cls, Y: Floats) -> Sums:
        """One pass over (n, k) ratings with NaN."""
        known = (~np.isnan(Y)).astype(np.float64)
        y = np.where(known > 0, Y, 0.0)
        k = Y.shape[1]
        m, total = known.sum(axis=1), y.sum(axis=1)
        groups = [m == size for size in range(1, k + 1)]
        return cls(
            n_ratings=float(m.sum()),
            squares=float((y**2).sum()),
            raters=known.sum(axis=0),
            totals=y.sum(axis=0),
            subjects=np.array([group.sum() for group in groups], dtype=np.float64),
            subject_totals=np.array([total[group].sum() for group in groups]),
            subject_squares=np.array([(total[group] ** 2).sum() for group in groups]),
            shared=np.stack([known[group].T @ known[group] for group in groups]),
            weighted=np.stack([known[group].T @ total[group] for group in groups]),
        )


def deviance(sums: Sums, subject: Any, rater: Any) -> Any:
    """-2 log restricted likelihood at the variance ratios, σ²e profiled out, constants dropped.

    log|V| + log(1' V⁻¹ 1) + (N - 1) log(y' P y), Searle, Casella and McCulloch (1992), 6.6.
    Analytic, so that complex arguments give its derivatives.
    """
    log_det, one_one, ypy = _terms(sums, subject, rater)
    return log_det + np.log(one_one) + (sums.n_ratings - 1) * np.log(ypy)


def error_variance(sums: Sums, subject: float, rater: float) -> float:
    """The σ²e that belongs to the variance ratios: y' P y / (N - 1)."""
    return float(_terms(sums, subject, rater)[2] / (sums.n_ratings - 1))


def _terms(sums: Sums, subject: Any, rater: Any) -> tuple[Any, Any, Any]:
    """log|V|, 1' V⁻¹ 1 and y' P y, over σ²e."""
    sizes = np.arange(1, len(sums.raters) + 1)
    shrink = subject / (1 + sizes * subject)
    cross = np.diag(sums.raters) - np.tensordot(shrink, sums.shared, 1)
    to_y = sums.totals - shrink @ sums.weighted
    inner = np.eye(len(sizes)) + rater * cross
    sign, log_size = np.linalg.slogdet(inner)
    solved = np.linalg.solve(inner, to_y)
    log_det = sums.subjects @ np.log1p(sizes * subject) + log_size + np.log(sign)
    yy = sums.squares - shrink @ sums.subject_squares - rater * (to_y @ solved)
    # Summed without the cancellation that cross.sum(axis=1) has for a large subject variance.
    to_one = (1 / (1 + sizes * subject)) @ np.diagonal(sums.shared, axis1=1, axis2=2)
    one_one = np.linalg.solve(inner, to_one).sum()
    return log_det, one_one, yy - solved.sum() ** 2 / one_one


def additive_fit(sums: Sums) -> tuple[float, float, int, Floats]:
    """Fixed subjects and raters: SS within subjects, residual SS, its df, rater effects."""
    sizes = np.arange(1, len(sums.raters) + 1)
    cross = np.diag(sums.raters) - np.tensordot(1 / sizes, sums.shared, 1)
    to_y = sums.totals - (1 / sizes) @ sums.weighted
    within = sums.squares - float((1 / sizes) @ sums.subject_squares)
    inverse = np.linalg.pinv(cross, rcond=1e-10, hermitian=True)
    rank = int(np.linalg.matrix_rank(cross, tol=1e-10 * max(float(sums.raters.max()), 1.0)))
    effects = inverse @ to_y
    df = int(sums.n_ratings - sums.subjects.sum()) - rank
    return within, within - float(to_y @ effects), df, effects
