"""ICC from incomplete ratings: variance components by restricted maximum likelihood.

The model is y = μ + subject + rater + error with any cells missing. With θ = (σ²s / σ²e,
σ²r / σ²e) the covariance is σ²e (I + θs Zs Zs' + θr Zr Zr'). The first part is inverted subject by
subject, the second by a k by k system, so that after one pass over the data an evaluation costs k³
whatever the number of subjects.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.stats._arrays import check_level, magnified, ratings_matrix
from voirdire.stats._forms import canonical
from voirdire.stats._results import Estimate, Interval

if TYPE_CHECKING:
    from voirdire.stats._arrays import Floats

#: A sum of squares below this part of the whole is round-off.
_ZERO = 1e-12
#: A share of 1 is an infinite ratio of variances.
_TOP = 1 - 1e-10
#: Of the complex step: no two near numbers are subtracted, so that it may be as small as that.
_STEP = 1e-20
_STARTS = ((0.5, 0.1), (0.1, 0.5), (0.9, 0.5))


def icc_reml(
    Y: Any, form: str = "A,1", *, ci: str | None = "profile", level: float = 0.95
) -> Estimate:
    """ICC from every rating there is, complete rows or not.

    The model is y = μ + subject + rater + error, all random and normal (subject + error for the
    one-way forms), fitted by restricted maximum likelihood. With σ²s, σ²r, σ²e its components::

        ICC(C,1) = σ²s / (σ²s + σ²e)    ICC(A,1) = σ²s / (σ²s + σ²r + σ²e)

    and the k forms divide σ²r and σ²e by the number of raters k. On complete data this equals the
    ANOVA estimate wherever that has no negative component; where it has one, REML puts that
    component at its edge, zero, and the flag "boundary" says so.

    Parameters
    ----------
    Y : array-like, shape (n, k)
        NaN or None is missing, and may depend on what was observed (missing at random).
    form : str
        As in `icc`.
    ci : {"profile", None}
        Profile restricted likelihood: the values that a χ² test at `level` does not reject.
        It stays within [0, 1].
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        n counts subjects with a rating. `details`: var_subjects, var_raters, var_error,
        n_ratings. Reasons: too_few_raters, too_few_items, no_pairable_item, zero_variance,
        not_estimable (no rating is left to tell error from subjects and raters).

    Raises
    ------
    StatisticsError
        An unknown form or interval, an unusable array.

    Examples
    --------
    >>> from voirdire.stats import icc_reml
    >>> Y = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8],
    ...      [7, 1, 2, None], [10, 5, None, 9], [6, 2, 4, 7]]
    >>> print(icc_reml(Y, "A,1"))
    ICC(A,1) = 0.317, 95% CI [0.043, 0.769] (profile), n = 6, k = 4

    References
    ----------
    Patterson and Thompson (1971), Biometrika 58, 545-554. Searle, Casella and McCulloch (1992),
    Variance Components, 6.6. McGraw and Wong (1996), table 4.
    """
    ratings, kind = ratings_matrix(Y), canonical(form)
    if ci not in (None, "profile"):
        raise StatisticsError(f"ci must be 'profile' or None for missing='reml', got {ci!r}")
    check_level(level)
    rated = ~np.isnan(ratings).all(axis=1)
    kept, exponent = magnified(ratings[rated])
    size = (len(kept), ratings.shape[1], int((~rated).sum()))
    estimate = _of_rated(kept, kind, size, level, ci)
    unscaled = {
        name: math.ldexp(value, -2 * exponent) if name.startswith("var_") else value
        for name, value in estimate.details.items()
    }
    return dataclasses.replace(estimate, details=unscaled)


def _of_rated(
    kept: Floats, kind: str, size: tuple[int, int, int], level: float, ci: str | None
) -> Estimate:
    """The estimate from subjects with one rating or more."""
    reason = _unusable(kept)
    if reason is None:
        # The mean is estimated in the model; without it sums of squares keep their digits.
        sums = Sums.of(kept - np.nanmean(kept))
        within, residual, df, effects = additive_fit(sums)
        scale = sums.squares * _ZERO
        # Each subject's ratings agree: there is nothing for a likelihood to weigh.
        if within <= scale:
            return _without_error(kept, np.zeros(size[1]), kind, size, level, ci)
        if kind[0] == "1":
            return _fitted(sums, kind, size, level, ci)
        if df > 0 and residual > scale:
            return _fitted(sums, kind, size, level, ci)
        if df > 0:
            return _without_error(kept, effects, kind, size, level, ci)
        reason = "not_estimable"
    return Estimate(f"ICC({kind})", math.nan, _empty(ci, level), *size, reason)


def _unusable(Y: Floats) -> str | None:
    if Y.shape[1] < 2:
        return "too_few_raters"
    if len(Y) < 2:
        return "too_few_items"
    if not ((~np.isnan(Y)).sum(axis=1) > 1).any():
        return "no_pairable_item"
    spread = float(np.nanmax(Y) - np.nanmin(Y))
    return "zero_variance" if spread <= _ZERO * float(np.nanmax(np.abs(Y))) else None


def _fitted(
    sums: Sums, kind: str, size: tuple[int, int, int], level: float, ci: str | None
) -> Estimate:
    shares = VarianceShares(sums, kind[0])
    at = best(shares)
    subject, rater = (float(ratio) for ratio in shares.ratios(at))
    error = error_variance(sums, subject, rater)
    components = (subject * error, rater * error, error)
    intervals: tuple[Interval, ...] = ()
    if ci is not None:
        low, high = (_averaged(b, kind, size[1]) for b in profile_interval(shares, at, level))
        intervals = (Interval("profile", level, low, high),)
    edge = at[0] == 0 or (kind[0] != "1" and at[1] == 0)
    flags = ("boundary",) if edge else ()
    return _estimate(kind, components, size, intervals, flags, sums.n_ratings)


def _without_error(
    Y: Floats,
    effects: Floats,
    kind: str,
    size: tuple[int, int, int],
    level: float,
    ci: str | None,
) -> Estimate:
    """Subjects plus raters explain every rating: their variances are those of the effects."""
    zero = _ZERO * float(np.nanmax(np.abs(Y)))
    subjects = np.nanmean(Y - effects, axis=1)
    components = (_variance(subjects, zero), _variance(effects, zero), 0.0)
    n_ratings = float((~np.isnan(Y)).sum())
    return _estimate(kind, components, size, _empty(ci, level), (), n_ratings)


def _variance(values: Floats, zero: float) -> float:
    """Their variance; exactly 0 where they differ by round-off only."""
    return float(values.var(ddof=1)) if float(np.ptp(values)) > zero else 0.0


def _estimate(
    kind: str,
    components: tuple[float, float, float],
    size: tuple[int, int, int],
    intervals: tuple[Interval, ...],
    flags: tuple[str, ...],
    n_ratings: float,
) -> Estimate:
    subjects, raters, error = components
    noise = error + (raters if kind[0] == "A" else 0.0)
    total = subjects + noise
    single = subjects / total if total > 0 else math.nan
    details = {
        "var_subjects": subjects,
        "var_raters": raters if kind[0] != "1" else math.nan,
        "var_error": error,
        "n_ratings": int(n_ratings),
    }
    value = _averaged(single, kind, size[1])
    reason = None if total > 0 else "zero_variance"
    return Estimate(f"ICC({kind})", value, intervals, *size, reason, flags, details)


def _averaged(single: float, kind: str, k: int) -> float:
    """The reliability of the mean of k raters (Spearman and Brown) for the k forms."""
    return k * single / (1 + (k - 1) * single) if kind.endswith("k") else single


def _empty(ci: str | None, level: float) -> tuple[Interval, ...]:
    return () if ci is None else (Interval(ci, level, math.nan, math.nan),)


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """How a pair (share, other) in [0, 1)² says what the two variance ratios are.

    "C": share = σ²s / (σ²s + σ²e), other = σ²r / (σ²r + σ²e). "A": share = σ²s / (σ²s + σ²r + σ²e).
    "1": share as in C, no rater variance.
    """

    sums: Sums
    kind: str

    def ratios(self, share: Floats) -> tuple[Floats, Floats]:
        """σ²s / σ²e and σ²r / σ²e."""
        main, other = share
        if self.kind == "1":
            return main / (1 - main), 0 * main
        spread = 1 - other if self.kind == "A" else 1
        return main / ((1 - main) * spread), other / (1 - other)

    def deviance(self, share: Floats) -> float:
        """-2 log restricted likelihood."""
        return float(deviance(self.sums, *self.ratios(share)))

    def gradient(self, share: Floats) -> Floats:
        """Exact first derivatives, by a complex step (Squire and Trapp 1998)."""
        steps = np.eye(2) * 1j * _STEP
        return np.array([deviance(self.sums, *self.ratios(share + s)).imag for s in steps]) / _STEP


def best(shares: VarianceShares) -> Floats:
    """The pair of the highest restricted likelihood; 0 where a variance is at its edge."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    other_top = 0.0 if shares.kind == "1" else _TOP
    bounds = ((0.0, _TOP), (0.0, other_top))
    fits = [
        minimize(
            shares.deviance,
            np.minimum(start, [1, other_top]),
            jac=shares.gradient,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-9, "gtol": 1e-6},
        )
        for start in _STARTS
    ]
    # Of few raters the likelihood may have more than one top: three starts, and the best is kept.
    return _polished(shares, min(fits, key=lambda one: float(one.fun)).x)


def _polished(shares: VarianceShares, share: Floats) -> Floats:
    """Newton's steps on the derivatives, since the value alone is flat to half its digits."""
    # A share at its edge has no derivative to follow.
    free = (share > 1e-9) & (share < 0.999999)
    for _ in range(8):
        gradient = shares.gradient(share)
        hessian = np.array([_slope(shares, share, axis) for axis in range(2)])[np.ix_(free, free)]
        if not free.any() or not np.isfinite(hessian).all() or np.linalg.det(hessian) == 0:
            break
        step = np.zeros(2)
        step[free] = np.linalg.solve(hessian, gradient[free])
        # A Newton step out of bounds means that the top is flat there: L-BFGS's point stands.
        if not ((share - step)[free] > 0).all() or not ((share - step)[free] < 1).all():
            break
        share = share - step
        if np.abs(step).max() < 1e-14:
            break
    return np.where(share > 1e-9, share, 0.0)


def _slope(shares: VarianceShares, share: Floats, axis: int) -> Floats:
    # Within the bounds on both sides.
    width = 1e-6 * min(share[axis], 1 - share[axis])
    if width == 0:
        return np.zeros(2)
    step = np.eye(2)[axis] * width
    return (shares.gradient(share + step) - shares.gradient(share - step)) / (2 * width)


def profile_interval(shares: VarianceShares, at: Floats, level: float) -> tuple[float, float]:
    """Shares whose profiled deviance lies within the χ² quantile of the best one."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import
    from scipy.special import chdtri  # noqa: PLC0415

    limit = shares.deviance(at) + float(chdtri(1, 1 - level))

    def beyond(share: float) -> float:
        """By how much a share lies outside: 0 at the ends of the interval."""
        return _profiled(shares, share) - limit

    low = 0.0 if beyond(0.0) <= 0 else float(brentq(beyond, 0.0, at[0], xtol=1e-10))
    high = 1.0 if beyond(_TOP) <= 0 else float(brentq(beyond, at[0], _TOP, xtol=1e-10))
    return low, high


def _profiled(shares: VarianceShares, share: float) -> float:
    """The deviance at a share, best over the other."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to import

    def at(other: float) -> float:
        """The deviance with the other share given."""
        return shares.deviance(np.array([share, other]))

    if shares.kind == "1":
        return at(0.0)
    # A bounded search never tries its ends, and no rater variance is a common best.
    inside = minimize_scalar(at, bounds=(0.0, _TOP), method="bounded", options={"xatol": 1e-9})
    return min(float(inside.fun), at(0.0), math.inf)


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
        present = (~np.isnan(Y)).astype(np.float64)
        y = np.where(present > 0, Y, 0.0)
        k = Y.shape[1]
        m, total = present.sum(axis=1), y.sum(axis=1)
        # Subjects with as many ratings shrink alike: k sums stand for any number of them.
        groups = [m == size for size in range(1, k + 1)]
        return cls(
            n_ratings=float(m.sum()),
            squares=float((y**2).sum()),
            raters=present.sum(axis=0),
            totals=y.sum(axis=0),
            subjects=np.array([group.sum() for group in groups], dtype=np.float64),
            subject_totals=np.array([total[group].sum() for group in groups]),
            subject_squares=np.array([(total[group] ** 2).sum() for group in groups]),
            shared=np.stack([present[group].T @ present[group] for group in groups]),
            weighted=np.stack([present[group].T @ total[group] for group in groups]),
        )


def deviance(sums: Sums, subject: Any, rater: Any) -> Any:
    """-2 log restricted likelihood at the variance ratios, σ²e profiled out, constants dropped.

    log|V| + log(1' V⁻¹ 1) + (N - 1) log(y' P y), Searle, Casella and McCulloch (1992), 6.6.
    Analytic, so that complex arguments give its derivatives.
    """
    log_det, one_one, ypy = _terms(sums, subject, rater)
    # Of complex arguments too: no absolute value and no comparison, or the derivative is lost.
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
    # slogdet of a complex matrix gives its phase as sign, whose logarithm is the imaginary part.
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
    # Raters who share no subject leave effects open; the pseudo-inverse takes the smallest.
    inverse = np.linalg.pinv(cross, rcond=1e-10, hermitian=True)
    rank = int(np.linalg.matrix_rank(cross, tol=1e-10 * max(float(sums.raters.max()), 1.0)))
    effects = inverse @ to_y
    df = int(sums.n_ratings - sums.subjects.sum()) - rank
    return within, within - float(to_y @ effects), df, effects
