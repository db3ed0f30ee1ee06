"""Intraclass correlation: the point estimates, and intervals that name their method."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from voirdire.errors import StatisticsError, not_one_of
from voirdire.stats import _icc_bootstrap
from voirdire.stats._anova import Decomposition, decompose, mean_squares
from voirdire.stats._arrays import (
    Floats,
    check_draws,
    check_level,
    complete_rows,
    floats,
    magnified,
    ratings_matrix,
)
from voirdire.stats._bootstrap import EXACT_LIMIT
from voirdire.stats._forms import FORMS, canonical, f_interval, value
from voirdire.stats._icc_bootstrap import BootstrapPlan, bootstrap_intervals, percentile_bounds
from voirdire.stats._results import Estimate, Interval
from voirdire.stats.intervals import outside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

CI_METHODS = ("f", "percentile", "exact", "bca", "exact_bca")
COMPAT = "badawi2025"
#: Values of resamples held at once: 64 MiB.
_VALUES_AT_ONCE = 1 << 23


def icc(
    Y: Any,
    form: str = "A,1",
    *,
    ci: str | Iterable[str] | None = "f",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    missing: str = "listwise",
    compat: str | None = None,
) -> Estimate:
    """Intraclass correlation of n subjects rated by k raters.

    With MSR, MSC, MSE the mean squares of rows (subjects), columns (raters) and error, and MSW
    that of raters and error together::

        ICC(1)   = (MSR - MSW) / (MSR + (k-1) MSW)               ICC(1,k) = (MSR - MSW) / MSR
        ICC(C,1) = (MSR - MSE) / (MSR + (k-1) MSE)               ICC(C,k) = (MSR - MSE) / MSR
        ICC(A,1) = (MSR - MSE) / (MSR + (k-1) MSE + k/n (MSC - MSE))
        ICC(A,k) = (MSR - MSE) / (MSR + (MSC - MSE) / n)

    C (consistency) asks whether raters rank and space subjects alike and forgives a constant
    shift; A (agreement) asks for the same numbers. The k forms speak about the mean of k raters.

    Parameters
    ----------
    Y : array-like, shape (n, k)
        Any numeric dtype. NaN or None is missing.
    form : str
        "1", "1,k", "C,1", "C,k", "A,1", "A,k", or Shrout and Fleiss' "ICC1", "ICC2", "ICC3",
        "ICC1k", "ICC2k", "ICC3k", "ICC(2,1)" and so on.
    ci : str, tuple of str or None
        "f" (F distribution; exact for normal data for the 1 and C forms), "percentile" and "bca"
        (`n_resamples` bootstrap resamples of subjects), "exact" and "exact_bca" (all resamples
        of at most 10 subjects, weighted: no seed, no Monte Carlo error). Under 20 subjects the
        bootstrap intervals cover too seldom and are flagged so.
    level : float
        Nominal coverage.
    n_resamples, seed : int
        For "percentile" and "bca". The same seed gives the same result on any machine.
    missing : {"listwise", "reml"}
        "listwise" uses complete rows only and counts the others in `left_out`. "reml" uses every
        rating, as `icc_reml` does; its interval is "profile", whatever `ci` names but None.
    compat : {None, "badawi2025"}
        "badawi2025" leaves bootstrap values outside [0, 1] out before reading percentiles, as
        the published study did; `n_dropped` of the interval counts them and
        ``details["shift_<method>"]`` holds what that moved the bounds by.

    Returns
    -------
    Estimate
        Negative values are reported as they are. `details` holds ms_rows, ms_raters, ms_error,
        ms_within, leave_one_out (lowest and highest value with one subject left out) and, with a
        bootstrap, mass_below_0 and mass_outside (share of the resamples below 0, outside [0, 1]).
        Resamples without variance have no value: they are left out and counted in `n_undefined`.
        Reasons: too_few_raters, too_few_items, zero_variance (between subjects); not_estimable
        where the denominator of ICC(A,k) cancels. That denominator can be negative as well: then
        the F interval would run through infinity, and is NaN. Flag: outside_range.

    Raises
    ------
    StatisticsError
        Unknown form, method, policy; infinite or non-numeric ratings; "exact" with n > 10.

    Examples
    --------
    Shrout and Fleiss (1979), table 2: four judges rate six targets.

    >>> from voirdire.stats import icc
    >>> Y = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> print(icc(Y, "A,1"))
    ICC(A,1) = 0.290, 95% CI [0.019, 0.761] (f), n = 6, k = 4
    >>> round(icc(Y, "ICC3").value, 2)
    0.71

    References
    ----------
    Shrout and Fleiss (1979), Psychol. Bull. 86, 420-428. McGraw and Wong (1996), Psychol. Methods
    1, 30-46, tables 4 and 7 (with the correction of 1996, 1, 390). Efron (1987), JASA 82, 171-185.
    """
    if missing == "reml":
        from voirdire.stats.reml import icc_reml  # noqa: PLC0415 - loads scipy.optimize

        return icc_reml(Y, form, ci=None if ci is None else "profile", level=level)
    if missing != "listwise":
        raise StatisticsError(f"missing must be 'listwise' or 'reml', got {missing!r}")
    options = {"ci": ci, "level": level, "n_resamples": n_resamples, "seed": seed}
    return icc_batch([Y], (form,), compat=compat, **options)[0][0]  # type: ignore[arg-type]


def icc_batch(
    Ys: Sequence[Any] | Floats,
    forms: Sequence[str] = ("C,1", "A,1"),
    *,
    ci: str | Iterable[str] | None = "f",
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    compat: str | None = None,
) -> tuple[tuple[Estimate, ...], ...]:
    """`icc` of P matrices and several forms at once, many times faster than in a loop.

    Matrices of one shape (after incomplete rows are left out) share one matrix of bootstrap
    counts, so each result equals that of `icc` with the same seed.

    Parameters
    ----------
    Ys : sequence of P arrays, each (n, k), or one array (P, n, k)
        The shapes may differ. NaN is missing; incomplete rows are left out.
    forms : sequence of str
        As in `icc`; the other parameters too.

    Returns
    -------
    tuple of tuples of Estimate
        One tuple a matrix, one estimate a form.

    Raises
    ------
    StatisticsError
        As `icc`.

    Examples
    --------
    >>> from voirdire.stats import icc_batch
    >>> shifted = [[1, 2], [2, 3], [3, 4], [4, 5]]
    >>> [round(estimate.value, 3) for estimate in icc_batch([shifted], ("C,1", "A,1"))[0]]
    [1.0, 0.769]

    References
    ----------
    McGraw and Wong (1996), table 4.
    """
    check_draws(n_resamples, seed)
    if not forms:
        raise StatisticsError(f"forms must name at least one of {', '.join(FORMS)}")
    plan = BootstrapPlan(
        forms=tuple(canonical(form) for form in forms),
        methods=_methods(ci),
        level=check_level(level),
        n_resamples=n_resamples,
        seed=seed,
        compat=_compat(compat),
    )
    results: dict[int, tuple[Estimate, ...]] = {}
    for members, stacked, left_out in _by_shape(Ys):
        width = _block(plan, stacked.shape[1])
        for start in range(0, len(members), width):
            some = slice(start, start + width)
            estimates = _estimates(stacked[some], left_out[some], plan)
            results.update(zip(members[some], estimates, strict=True))
    return tuple(results[at] for at in range(len(results)))


def icc_over_seeds(
    Ys: Sequence[Any] | Floats,
    form: str = "C,1",
    *,
    n_seeds: int = 100,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    compat: str | None = None,
) -> Floats:
    """Percentile bounds of ICC under many seeds, to see what the seed alone decides.

    Equal to the bounds of `icc_batch` with ``ci="percentile"``, seed after seed; what does not
    depend on the seed is computed once.

    Parameters
    ----------
    Ys, level, n_resamples, compat
        As in `icc_batch`.
    form : str
        As in `icc`.
    n_seeds : int
        Seeds tried: `seed`, `seed` + 1, and so on.
    seed : int
        The first seed.

    Returns
    -------
    (P, n_seeds, 2) float64
        Lower and upper bounds; NaN where the ICC is undefined.

    Raises
    ------
    StatisticsError
        As `icc_batch`.

    Examples
    --------
    >>> from voirdire.stats import icc_over_seeds
    >>> bounds = icc_over_seeds([[[1, 2], [2, 2], [3, 4], [4, 5]]], n_seeds=3, n_resamples=200)
    >>> bounds.shape, bool((bounds[:, :, 0] <= bounds[:, :, 1]).all())
    ((1, 3, 2), True)

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    """
    check_draws(n_resamples, seed)
    plan = BootstrapPlan(
        (canonical(form),), ("percentile",), check_level(level), n_resamples, seed, _compat(compat)
    )
    bounds = np.full((len(Ys), n_seeds, 2), np.nan)
    for members, stacked, _ in _by_shape(Ys):
        width = _block(plan, stacked.shape[1])
        for start in range(0, len(members), width):
            some = slice(start, start + width)
            bounds[list(members[some])] = _bounds_over_seeds(stacked[some], plan, n_seeds)
    return bounds


def _bounds_over_seeds(Y: Floats, plan: BootstrapPlan, n_seeds: int) -> Floats:
    """(P, n_seeds, 2) for matrices of one shape."""
    bounds = np.full((len(Y), n_seeds, 2), np.nan)
    if min(Y.shape[1:]) < 2:
        return bounds
    parts = decompose(magnified(Y)[0])
    points = value(plan.forms[0], mean_squares(parts), parts.n, parts.k)
    seeds = range(plan.seed, plan.seed + n_seeds)
    each = _icc_bootstrap.drawn_by_seed(parts, plan.forms, seeds, plan.n_resamples)
    for at, draws in enumerate(each):
        bounds[:, at] = percentile_bounds(draws, plan)
    # A sample without an ICC has no interval, though some of its resamples have one.
    bounds[np.isnan(points)] = np.nan
    return bounds


def _block(plan: BootstrapPlan, n: int) -> int:
    """Matrices whose resampled values are held in memory at once."""
    exact = any(method.startswith("exact") for method in plan.methods)
    exact = exact and 0 < n <= EXACT_LIMIT
    resamples = max(math.comb(2 * n - 1, n) if exact else 1, plan.n_resamples)
    return max(1, _VALUES_AT_ONCE // (len(plan.forms) * resamples))


def _by_shape(Ys: Sequence[Any] | Floats) -> Iterator[tuple[Sequence[int], Floats, list[int]]]:
    """Complete matrices of one shape together: their places, (P, n, k), rows left out of each."""
    if isinstance(Ys, np.ndarray) and Ys.ndim == 3 and len(Ys):
        # One block without gaps is the common case, and needs no sorting by shape.
        together = floats(Ys, "Ys", 3)
        if not np.isnan(together).any():
            yield range(len(Ys)), together, [0] * len(Ys)
            return
    matrices = [ratings_matrix(Y) for Y in Ys]
    complete = [complete_rows(Y) for Y in matrices]
    for shape in dict.fromkeys(Y.shape for Y in complete):
        members = [at for at, Y in enumerate(complete) if Y.shape == shape]
        left_out = [len(matrices[at]) - shape[0] for at in members]
        yield members, np.stack([complete[at] for at in members]), left_out


def _estimates(Y: Floats, left_out: list[int], plan: BootstrapPlan) -> list[tuple[Estimate, ...]]:
    _, n, k = Y.shape
    if n < 2 or k < 2:
        reason = "too_few_raters" if k < 2 else "too_few_items"
        return [_all_undefined(n, k, out, reason, plan) for out in left_out]
    # Ratings of 1e-170 have squares of 0. Coefficients do not see the factor; mean squares give it
    # back.
    Y, exponent = magnified(Y)
    parts = decompose(Y)
    squares = mean_squares(parts)
    unscaled = np.ldexp(squares, -2 * exponent)
    values = np.stack([value(form, squares, n, k) for form in plan.forms], axis=1)
    intervals, details = _all_intervals(parts, squares, values, plan)
    return [
        tuple(
            _estimate(
                form,
                float(values[p, f]),
                intervals[p * len(plan.forms) + f],
                {
                    **_square_details(unscaled[:, p], n),
                    **details[p * len(plan.forms) + f],
                },
                (n, k, left_out[p]),
            )
            for f, form in enumerate(plan.forms)
        )
        for p in range(len(Y))
    ]


def _all_intervals(
    parts: Decomposition, squares: Floats, values: Floats, plan: BootstrapPlan
) -> tuple[list[tuple[Interval, ...]], list[dict[str, Any]]]:
    intervals: dict[str, list[Interval]] = {}
    if "f" in plan.methods:
        bounds = [f_interval(form, squares, parts.n, parts.k, plan.level) for form in plan.forms]
        low, high = (np.stack([pair[side] for pair in bounds], axis=1).ravel() for side in (0, 1))
        intervals["f"] = [
            Interval("f", plan.level, float(a), float(b)) for a, b in zip(low, high, strict=True)
        ]
    # Once for BCa and for the extremes that every result shows.
    jackknife = _icc_bootstrap.jackknife(parts, plan.forms)
    details: list[dict[str, Any]] = [{"leave_one_out": pair} for pair in _extents(jackknife)]
    bootstrap_intervals(parts, values.ravel(), jackknife, plan, intervals, details)
    return [tuple(intervals[m][row] for m in plan.methods) for row in range(values.size)], details


def _extents(rows: Floats) -> list[tuple[float, float]]:
    """Lowest and highest defined value of each row."""
    unknown = np.isnan(rows)
    low = np.where(unknown, np.inf, rows).min(axis=1)
    high = np.where(unknown, -np.inf, rows).max(axis=1)
    low[unknown.all(axis=1)] = high[unknown.all(axis=1)] = math.nan
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _estimate(
    form: str,
    icc: float,
    intervals: tuple[Interval, ...],
    details: dict[str, Any],
    size: tuple[int, int, int],
) -> Estimate:
    undefined = math.isnan(icc)
    return Estimate(
        f"ICC({form})",
        icc,
        tuple(_undefined(i) for i in intervals) if undefined else intervals,
        *size,
        reason=_reason(details) if undefined else None,
        flags=(*outside(icc), *_lying(*size)),
        details={"form": form, **details},
    )


def _reason(details: Mapping[str, float]) -> str:
    """Without variance between subjects there is nothing to find; else noise cancelled it."""
    return "not_estimable" if details["ms_rows"] > 0 else "zero_variance"


def _undefined(interval: Interval) -> Interval:
    return Interval(interval.method, interval.level, math.nan, math.nan, interval.n_resamples)


def _all_undefined(
    n: int, k: int, left_out: int, reason: str, plan: BootstrapPlan
) -> tuple[Estimate, ...]:
    intervals = tuple(Interval(m, plan.level, math.nan, math.nan) for m in plan.methods)
    return tuple(
        Estimate(
            f"ICC({form})",
            math.nan,
            intervals,
            n,
            k,
            left_out,
            reason,
            _lying(n, k, left_out),
            {"form": form},
        )
        for form in plan.forms
    )


def _lying(n: int, k: int, left_out: int) -> tuple[str, ...]:
    """A flag where the matrix has fewer items than raters, which is rarely what was meant."""
    # Rows that were left out count: a tall table with gaps is not lying.
    return ("transposed",) if 0 < n + left_out < k else ()


def _square_details(squares: Floats, n: int) -> dict[str, float]:
    rows, raters, error = (float(square) for square in squares)
    # One-way models do not tell raters from error: their mean squares, weighted by degrees of
    # freedom.
    within = (raters + (n - 1) * error) / n
    return {"ms_rows": rows, "ms_raters": raters, "ms_error": error, "ms_within": within}


def _methods(ci: str | Iterable[str] | None) -> tuple[str, ...]:
    asked = () if ci is None else (ci,) if isinstance(ci, str) else tuple(ci)
    for method in asked:
        if method not in CI_METHODS:
            raise not_one_of("interval method", method, (*CI_METHODS, None), error=StatisticsError)
    return tuple(dict.fromkeys(asked))


def _compat(compat: str | None) -> str | None:
    if compat not in (None, COMPAT):
        raise StatisticsError(f"compat must be None or {COMPAT!r}, got {compat!r}")
    return compat
