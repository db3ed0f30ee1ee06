"""How far a judge's scores lie from the reference: bias, MAE, MSE, RMSE, equivalence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from voirdire.errors import StatisticsError
from voirdire.late import dataclass
from voirdire.stats._arrays import Floats, row_names
from voirdire.stats._pairs import Pairs, mean_interval, pairs, standard_error
from voirdire.stats._results import Estimate, Interval, Result
from voirdire.stats.special import special


def bias(
    judge: Any,
    reference: Any,
    *,
    scale: tuple[float, float] | None = None,
    clusters: Any = None,
    level: float = 0.95,
) -> Estimate:
    """Mean signed difference, judge minus reference: above 0 the judge is lenient.

    ``bias = mean(judge - reference)``, with the t interval of a mean: -+ t(n - 1) sd / sqrt(n).

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    scale : (low, high), optional
        The declared ends of the scale; then ``details["normalised"]`` is ``|bias|`` / (high - low).
    clusters : array-like, shape (n,), optional
        What each pair belongs to (its item, when several systems answer one item). The interval
        then rests on the sums within clusters ("cluster_t") instead of on independent pairs ("t").
    level : float
        Nominal coverage.

    Returns
    -------
    Estimate
        Reason no_data without a complete pair; one pair has a value and an undefined interval.
        `details`: standard_error, df and, with `scale`, normalised.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite; a scale without width.

    Examples
    --------
    >>> from voirdire.stats import bias
    >>> print(bias([4, 5, 3, 4], [3, 5, 2, 4], scale=(1, 5)))
    bias = 0.500, 95% CI [-0.419, 1.419] (t), n = 4, k = 2

    References
    ----------
    Bland and Altman (1986), Lancet 327, 307-310. Clusters: Cochran (1977), eq. 9A.6.
    """
    paired = pairs(judge, reference)
    differences = paired.differences
    groups = None
    if clusters is not None:
        # Names are checked for all rows: one that is missing on a left-out pair is still an error.
        groups = row_names(clusters, len(paired.kept), "clusters")[paired.kept]
    error, df = standard_error(differences, groups)
    details: dict[str, Any] = {"standard_error": error, "df": df}
    if scale is not None:
        details["normalised"] = abs(_mean(differences)) / _width(scale)
    return _mean_estimate("bias", differences, paired, level, groups, details)


def normalised_bias(judge: Any, reference: Any, scale: tuple[float, float]) -> Estimate:
    """``|bias|`` over the declared scale's width: 0 no bias, 1 the whole scale.

    Parameters and errors are those of `bias`; there is no interval, since ``|bias|`` folds at 0.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    scale : (low, high)
        The declared ends of the scale.

    Returns
    -------
    Estimate
        ``|bias| / (high - low)``; no interval, since ``|bias|`` folds at 0. Reason no_data
        without a complete pair. `details`: bias.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite; a scale without width.

    Examples
    --------
    >>> from voirdire.stats import normalised_bias
    >>> normalised_bias([4, 5, 3, 4], [3, 5, 2, 4], (1, 5)).value
    0.125

    References
    ----------
    Bland and Altman (1986), Lancet 327, 307-310, for the bias itself.
    """
    estimate = bias(judge, reference, scale=scale)
    return Estimate(
        "normalised bias",
        estimate.details["normalised"],
        n=estimate.n,
        k=2,
        left_out=estimate.left_out,
        reason=estimate.reason,
        details={"bias": estimate.value},
    )


def mae(judge: Any, reference: Any, *, level: float = 0.95) -> Estimate:
    """Mean absolute difference, with a t interval; missing pairs as in `bias`.

    ``mean(|judge - reference|)``

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    level : float
        Nominal coverage of the t interval.

    Returns
    -------
    Estimate
        In units of the scale. Reason no_data without a complete pair.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import mae
    >>> mae([4, 5, 3, 4], [3, 5, 4, 4]).value
    0.5

    References
    ----------
    Willmott and Matsuura (2005), Climate Research 30, 79-82.
    """
    paired = pairs(judge, reference)
    return _mean_estimate("MAE", np.abs(paired.differences), paired, level)


def mse(judge: Any, reference: Any, *, level: float = 0.95) -> Estimate:
    """Mean squared difference, with a t interval; missing pairs as in `bias`.

    This is not the residual mean square of an analysis of variance (`ms_error` of `icc`), which
    some papers also print as "MSE" and which leaves the bias out.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    level : float
        Nominal coverage of the t interval.

    Returns
    -------
    Estimate
        ``mean((judge - reference)²)``. Reason no_data without a complete pair.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import mse
    >>> mse([4, 5, 3, 4], [2, 5, 4, 4]).value
    1.25

    References
    ----------
    Kobayashi and Salam (2000), Agronomy Journal 92, 345-352: bias² plus the variance of
    the differences.
    """
    paired = pairs(judge, reference)
    return _mean_estimate("MSE", paired.differences**2, paired, level)


def rmse(judge: Any, reference: Any) -> Estimate:
    """Square root of `mse`, in units of the scale.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.

    Returns
    -------
    Estimate
        ``sqrt(mean((judge - reference)²))``, without an interval. Reason no_data without a
        complete pair.

    Raises
    ------
    StatisticsError
        Arrays of unequal length, not numeric, infinite.

    Examples
    --------
    >>> from voirdire.stats import rmse
    >>> rmse([4, 5, 3, 4], [2, 5, 4, 5]).value
    1.224744871391589

    References
    ----------
    Willmott and Matsuura (2005), Climate Research 30, 79-82.
    """
    estimate = mse(judge, reference)
    return Estimate(
        "RMSE",
        math.sqrt(estimate.value),
        n=estimate.n,
        k=2,
        left_out=estimate.left_out,
        reason=estimate.reason,
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def _mean_estimate(
    name: str,
    values: Floats,
    pairs: Pairs,
    level: float,
    clusters: Any = None,
    details: dict[str, Any] | None = None,
) -> Estimate:
    return Estimate(
        name,
        _mean(values),
        (mean_interval(values, level, clusters),),
        n=pairs.n,
        k=2,
        left_out=pairs.left_out,
        reason=None if pairs.n else "no_data",
        details=details or {},
    )


def _width(scale: tuple[float, float]) -> float:
    low, high = scale
    if not high > low:
        raise StatisticsError(f"scale must be (low, high) with low < high, got {scale!r}")
    return float(high - low)


@dataclass(frozen=True, slots=True, eq=False)
class Equivalence(Result):
    """Two one-sided tests of a bias against a margin.

    Attributes
    ----------
    bias : Estimate
        Judge minus reference, with its interval at level 1 - 2 alpha.
    margin : float
        The largest ``|bias|`` that is called small.
    conclusion : {"equivalent", "different", "undecided", "undefined"}
        The whole interval inside the margin, outside it on one side, or neither.
    p : float
        The larger of the two one-sided p values; equivalent at alpha when p <= alpha.
    alpha : float
        Level of each one-sided test.
    """

    bias: Estimate
    margin: float
    conclusion: str
    p: float
    alpha: float

    def __str__(self) -> str:
        """One line."""
        return f"{self.conclusion} within -+{self.margin:g} (p = {self.p:.3g}); {self.bias}"


def equivalence(
    judge: Any,
    reference: Any,
    margin: float,
    *,
    alpha: float = 0.05,
    clusters: Any = None,
) -> Equivalence:
    """Two one-sided t tests (TOST): ``|bias|`` < margin, read off the 1 - 2 alpha interval.

    Parameters
    ----------
    judge, reference : array-like, shape (n,)
        Paired scores; a pair with NaN or None on either side is left out and counted.
    margin : float
        Above 0, in units of the scale (5 % of a 1..5 scale is 0.2).
    alpha : float
        0.05 reads the 90 % interval.
    clusters : array-like, shape (n,), optional
        As in `bias`.

    Returns
    -------
    Equivalence
        "undefined" with fewer than two pairs (or clusters).

    Raises
    ------
    StatisticsError
        A margin that is not positive, alpha outside (0, 0.5), unusable arrays.

    Examples
    --------
    >>> from voirdire.stats import equivalence
    >>> equivalence([3, 4, 5, 2, 3, 4], [3, 4, 5, 2, 4, 3], margin=0.6).conclusion
    'equivalent'
    >>> equivalence([3, 4, 5, 2, 3, 4], [3, 4, 5, 2, 4, 3], margin=0.2).conclusion
    'undecided'

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657-680. Lakens (2017), Soc. Psychol.
    Personal. Sci. 8, 355-362.
    """
    if not margin > 0 or not math.isfinite(margin):
        raise StatisticsError(f"margin must be a positive number, got {margin!r}")
    if not 0 < alpha < 0.5:
        raise StatisticsError(f"alpha must lie strictly between 0 and 0.5, got {alpha!r}")
    # Two tests at alpha hold where the 1 - 2 alpha interval lies inside: one computation, and both
    # agree to the last digit.
    estimate = bias(judge, reference, clusters=clusters, level=1 - 2 * alpha)
    conclusion = _conclusion(estimate.intervals[0], margin)
    return Equivalence(estimate, float(margin), conclusion, _larger_p(estimate, margin), alpha)


def _conclusion(interval: Interval, margin: float) -> str:
    if math.isnan(interval.low):
        return "undefined"
    if -margin < interval.low and interval.high < margin:
        return "equivalent"
    if interval.low >= margin or interval.high <= -margin:
        return "different"
    return "undecided"


def _larger_p(estimate: Estimate, margin: float) -> float:
    error = estimate.details["standard_error"]
    if math.isnan(error):
        return math.nan
    # No spread: the bias is known exactly, and lies inside or not.
    if error == 0:
        return 0.0 if abs(estimate.value) < margin else 1.0
    # The nearer end of the margin has the larger of the two p values.
    return float(special().stdtr(estimate.details["df"], (abs(estimate.value) - margin) / error))
